# SPDX-License-Identifier: Apache-2.0

"""However much comes on the topic ``improve``, exploring goes on, and no file fills."""

from __future__ import annotations

from collections.abc import Callable
import time

from mnm_ros import messages
from mnm_ros.core.progress.events import Event
from mnm_ros.core.task.allowance import AT_ONCE, EACH_SECOND
from node_processes import Peer, ScriptedRobot
from std_msgs.msg import Int64MultiArray, String


def test_a_flood_of_states_neither_stops_exploring_nor_fills_the_events(
        explorer: Callable[..., object], peer: Peer, robot: ScriptedRobot) -> None:
    explorer()
    events = peer.listen(String, 'events', messages.EVENTS)
    improve = peer.node.create_publisher(Int64MultiArray, 'improve', messages.STEP)
    peer.wait_for(lambda: improve.get_subscription_count() and len(robot.executed) > 10, 'steps')
    begun = time.monotonic()

    def told(text: str) -> list[str]:
        return [event.text for message in events if text in (
            event := Event.from_json(message.data)).text and event.what == 'improve']

    def refused() -> list[str]:
        return [message.data for message in events if 'calls a second come by improve' in (
            message.data)]

    improve.publish(Int64MultiArray(data=[*range(100, 100_100)]))
    peer.wait_for(lambda: told('99,999 more are refused'), 'a short answer')
    while not refused():
        for number in range(200):
            improve.publish(Int64MultiArray(data=[number + 100]))
        peer.spin(0.05)
        assert time.monotonic() < begun + 60
    executed = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > executed + 10, 'that it explores')
    assert len(refused()) == 1
    assert max(map(len, told(''))) < 500
    assert len(told('')) <= AT_ONCE + EACH_SECOND * (time.monotonic() - begun) + 2
