# SPDX-License-Identifier: Apache-2.0

"""However long it takes to work out what is shown, the robot is driven and the heart beats."""

from __future__ import annotations

from collections.abc import Callable
import signal
import time

from mnm_ros import messages
from node_processes import Peer, ScriptedRobot, soon
from slow_view import SECONDS
from std_msgs.msg import Header, String
from tiers import thorough

BEATS = 4


@thorough('nodes/test_live_topics.py::'
          'test_an_activity_that_takes_long_holds_nothing_up_and_the_last_one_is_told_again')
def test_a_viewer_holds_nothing_up(
        start: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """Issue: no heartbeat for 4 s, and a robot that stood still, while somebody looked on."""
    beats: list[float] = []
    peer.node.create_subscription(
        Header, 'heartbeat', lambda _: beats.append(time.monotonic()), messages.HEARTBEATS)
    process = start('slow_view', actions=['east', 'west'])
    peer.wait_for(lambda: len(beats) > 1 and len(robot.executed) > 5, 'the first steps')
    begun, first = len(robot.executed), len(beats)
    shown = [peer.listen(String, topic) for topic in ('activity', 'trust')]
    peer.wait_for(lambda: len(beats) > first + BEATS, f'{BEATS} beats')
    late = max(after - before for before, after in zip(beats[first - 1:], beats[first:]))
    assert soon(late, 0.7 * SECONDS)
    assert len(robot.executed) > begun + 3
    peer.wait_for(lambda: all(shown), 'all that is shown', 60.0)
    assert process.stop(signal.SIGTERM, 5.0) == 0
