# SPDX-License-Identifier: Apache-2.0

"""An explorer that commands nothing, beside a node that drives."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
import random
import time

from mnm_ros import messages
from mnm_ros.core.progress.activity import Activity
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from node_processes import Peer, read_counts, ScriptedRobot
from rclpy.node import Node
from std_msgs.msg import Header, Int64MultiArray, String
from tiers import strength


class Driver:
    """Follows the advice most of the time, one step after the other."""

    def __init__(self, peer: Peer) -> None:
        self.advice: tuple[int, int] | None = None
        self.followed = self.steps = 0
        self._seq = time.time_ns()
        self._random = random.Random(0)
        self._actions = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
        peer.node.create_subscription(Int64MultiArray, 'state', self._on_state, messages.STEP)
        peer.node.create_subscription(Int64MultiArray, 'advice', self._on_advice, messages.LATCHED)
        peer.wait_for(lambda: self.advice and self._actions.get_subscription_count() == 2,
                      'the explorer and the robot')
        self._answered: int | None = None
        self._send(-1)
        peer.node.create_timer(1.0, self._send_again)

    def _on_advice(self, message: Int64MultiArray) -> None:
        self.advice = tuple(message.data)
        self._go_on()

    def _on_state(self, message: Int64MultiArray) -> None:
        if message.data[0] == self._seq:
            self._answered = self._seq
            self._go_on()

    def _go_on(self) -> None:
        """Once the robot has answered and the advice is about that answer."""
        if self.advice and self.advice[0] == self._seq == self._answered:
            follow = self._random.random() < 0.97
            self.followed += follow
            self._send(self.advice[1] if follow else self._random.choice((-1, 0, 1)))

    def _send(self, action: int) -> None:
        self._seq += 1
        self._answered = None
        self.steps += 1
        self._order = Int64MultiArray(data=array('q', (self._seq, action)))
        self._actions.publish(self._order)
        self._stuck = False

    def _send_again(self) -> None:
        """Give a command again that somebody has not heard, as they had not found each other."""
        if self._stuck:
            self._actions.publish(self._order)
        self._stuck = True


def test_advice(start: Callable, explorer: Callable, peer: Peer, scenario: str,
                tmp_path: Path) -> None:
    simulator = start('cmp_sim', scenario=scenario, record=str(tmp_path / 'simulator'))
    radius = strength(1.5, 4.0)
    process = explorer(advisory=True, delta=strength(0.5, 0.1), radius=radius,
                       record=str(tmp_path / 'explorer'))
    policies = peer.listen(Int64MultiArray, 'policies')
    driver = Driver(peer)
    peer.wait_for(lambda: policies, 'a hypothesis')
    assert judge(
        load(scenario).settings[0].cmp, messages.PolicySet.from_msg(policies[-1]), radius, 1.0).ok
    assert {info.node_name for info in peer.node.get_publishers_info_by_topic('action')} == {
        'peer'}
    assert process.stop() == 0 and simulator.stop() == 0
    learnt, played = read_counts(tmp_path / 'explorer'), read_counts(tmp_path / 'simulator')
    assert sum(number for row in learnt.values() for following in row.values()
               for number in following.values()) > 0.8 * driver.followed > 0
    assert all(number <= played[state][action][after]
               for state, row in learnt.items() for action, following in row.items()
               for after, number in following.items())


def test_not_with_a_service_for_reset(explorer: Callable) -> None:
    process = explorer(advisory=True, reset_mode='service')
    assert process.wait() == 1
    assert "parameter 'advisory' is True with 'reset_mode' 'service', expected" in process.output


def test_an_advisor_learns_nothing_of_a_bag_that_is_played_back(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    activity, status = peer.listen(String, 'activity'), peer.listen(String, 'status')
    beats = peer.listen(Header, 'heartbeat', messages.HEARTBEATS)
    explorer(advisory=True)
    peer.wait_for(lambda: activity, 'the explorer')
    player = Node('rosbag2_player', context=peer.context)
    actions, states = (player.create_publisher(Int64MultiArray, topic, messages.STEP)
                       for topic in ('action', 'state'))
    peer.wait_for(lambda: status and 'rosbag2_player plays a bag' in status[-1].data, 'it said')
    peer.wait_for(states.get_subscription_count, 'the subscription')
    for seq in range(10**9, 10**9 + 60):
        actions.publish(messages.encode_step(seq, -1 if seq == 10**9 else seq % 2))
        states.publish(messages.encode_step(seq, seq % 2))
        peer.spin(0.005)
    heard = len(beats)
    peer.wait_for(lambda: len(beats) > heard + 4, 'the time in which the activity would be told')
    found = Activity.from_json(activity[-1].data)
    assert found.work == found.step == 0
