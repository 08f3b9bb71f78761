# SPDX-License-Identifier: Apache-2.0

"""However long it takes to work out what is shown, the robot is driven and the heart beats."""

from __future__ import annotations

from collections.abc import Callable
import signal
import time
from types import SimpleNamespace

from mnm_ros import messages
from mnm_ros.nodes.exploring.output.live_topics import TrustTopics
from mnm_ros.robot_description import UNDESCRIBED
from node_processes import Peer, ScriptedRobot, soon
import pytest
from slow_view import SECONDS
from std_msgs.msg import Header, String
from tiers import thorough

BEATS = 4


def test_trust_that_takes_long_to_work_out_holds_nothing_up(
        monkeypatch: pytest.MonkeyPatch) -> None:
    publisher = SimpleNamespace(get_subscription_count=lambda: 1)
    topics = TrustTopics(SimpleNamespace(create_publisher=lambda *_: publisher), 2, 'en')
    monkeypatch.setattr(topics, '_look', lambda *_: time.sleep(30.0))
    begun = time.monotonic()
    topics.news(SimpleNamespace(steps=5), {}, UNDESCRIBED, False, 0.0)
    topics.collect()
    assert not topics._lookout.collect()    # it is being worked out
    topics.close()
    assert soon(time.monotonic() - begun, 5.0)


@thorough('nodes/test_slow_view.py::test_trust_that_takes_long_to_work_out_holds_nothing_up '
          'nodes/test_live_topics.py::'
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
