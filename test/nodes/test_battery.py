# SPDX-License-Identifier: Apache-2.0

"""Battery and hours: the explorer rests at home, and goals are taken meanwhile where allowed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
import json
from math import nan
from operator import itemgetter
import re

from faulty_robot import learns
from mnm_ros import messages
from navigating import Operator
from node_processes import NodeProcess, PAUSE, Peer, ScriptedRobot
import pytest
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool

SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
LOW = 'battery 19%, below 20%; goes on at 80%'


class Owner:
    """Publishes a battery, and hears what the explorer says."""

    def __init__(self, peer: Peer, robot: str = '') -> None:
        self.peer = peer
        self.status = peer.listen(String, 'status')
        self.phase = peer.listen(String, 'phase')
        self.rest = peer.listen(String, f'{robot}rest')
        self.charge = 0.9
        self._publisher = peer.node.create_publisher(
            BatteryState, f'{robot}battery', SENSOR_DATA)
        peer.node.create_timer(0.05, self._publish)

    def _publish(self) -> None:
        self._publisher.publish(BatteryState(percentage=self.charge))

    def says(self, status: str) -> None:
        self.peer.wait_for(lambda: self.status[-1].data == status, status)

    def rests(self, reason: str) -> None:
        self.says(f'paused: {reason}')
        self.peer.wait_for(lambda: self.phase[-1].data == 'paused', 'the phase')
        self.peer.wait_for(lambda: self.rest[-1].data == reason, 'the topic rest')

    def explores(self) -> None:
        self.peer.wait_for(lambda: self.phase and '/' in self.phase[-1].data, 'exploration')
        self.peer.wait_for(lambda: self.rest[-1].data == '', 'no rest')

    def explore(self, wanted: bool) -> SetBool.Response:
        return self.peer.call(SetBool, 'explore', SetBool.Request(data=wanted))


@pytest.fixture
def owner(peer: Peer) -> Owner:
    return Owner(peer)


def test_it_rests_at_home_because_of_battery_and_hours(
        explorer: Callable[..., NodeProcess], owner: Owner, robot: ScriptedRobot) -> None:
    process = explorer(battery_low=20.0)
    owner.explores()
    owner.charge = 0.199
    owner.rests(LOW)
    steps = len(robot.executed)
    assert robot.executed[-1][1:] == (-1, 0)
    for percent in (20, 35, 50):    # which is no event
        owner.charge = percent / 100
        owner.rests(f'battery {percent}%, was below 20%; goes on at 80%')
    assert not owner.explore(True).success    # it rests all the same
    owner.charge = nan
    owner.peer.wait_for(lambda: 'percentage is nan' in process.output, 'a warning')
    owner.peer.spin(0.3)
    assert process.output.count('percentage is nan') == 1 and len(robot.executed) == steps
    assert owner.explore(False).success
    owner.peer.wait_for(
        lambda: owner.status[-1].data.startswith('paused by service explore'), 'a pause')
    owner.charge = 0.85
    owner.peer.spin(0.3)
    assert len(robot.executed) == steps    # the battery does not end this pause
    assert owner.explore(True).success
    owner.explores()
    now = datetime.now()
    hours = '-'.join(f'{now + timedelta(hours=hour):%H:%M}' for hour in (2, 4))
    with owner.peer.setter('explorer') as give:
        refused = give('explore_between', '22-06')
        assert not refused.successful and 'such as 22:00-06:00' in refused.reason
        assert give('explore_between', hours).successful
        owner.rests(f'outside of {hours}; goes on at {hours[:5]}')
        assert robot.executed[-1][1:] == (-1, 0)
        assert give('explore_between', '').successful
    owner.explores()
    told: list[tuple[str, str]] = []    # and who asked for it
    owner.peer.node.create_subscription(String, 'events', lambda message: told.append(
        itemgetter('kind', 'text')(json.loads(message.data))), messages.EVENTS)
    wanted = [('rest', f'paused: {LOW}'), ('rest', 'exploring'),
              ('pause', 'paused by service explore'),
              ('rest', f'paused: outside of {hours}; goes on at {hours[:5]}')]
    owner.peer.wait_for(lambda: {*wanted} <= {*told}, wanted)
    assert [text for kind, text in told if kind == 'rest' and text.startswith(
        'paused: battery')] == [f'paused: {LOW}']
    assert 'percentage 0.9 is read as a fraction, assumed from the messages' in process.output
    assert process.stop() == 0, process.output


def test_a_goal_while_it_rests(
        start: Callable, knowing: Callable[..., NodeProcess], owner: Owner,
        scenario: str) -> None:
    """It is not disturbed when the battery is charged, and the robot goes to the dock after it."""
    start('cmp_sim', scenario=scenario)
    process = knowing(battery_low=20.0)
    learns(owner.peer)
    navigator, operator = start('navigator', dwell=0.0), Operator(owner.peer)
    operator.wait_for_navigator()
    owner.charge = 0.199
    owner.rests(LOW)
    states = owner.peer.listen(Int64MultiArray, 'state', messages.STEP)
    assert operator.go(2).startswith('reached 2')
    owner.peer.wait_for(lambda: states[-1].data[1] == 0, 'the way home')
    owner.rests(LOW)
    with owner.peer.setter('cmp_sim') as give:
        assert give('latency', 0.5).successful
        operator.send(1)
        owner.says('paused: the robot is on the way to the goal state 1')
        owner.charge = 0.9
        assert operator.result().startswith('reached 1')
        assert give('latency', PAUSE).successful
    owner.explores()
    owner.charge = 0.199
    owner.rests(LOW)
    assert owner.peer.set_parameter('navigator', 'goals_at_rest', False).successful
    refused = f'refused 2: the robot rests: {LOW}'
    owner.peer.wait_for(lambda: operator.go(2) == refused, 'a refusal')
    for node in (navigator, process):
        assert node.stop() == 0, node.output


def test_each_robot_of_a_fleet_has_a_battery(start: Callable, peer: Peer, scenario: str) -> None:
    robots = [Owner(peer, 'r1/'), Owner(peer, 'r2/')]
    for name in ('/r1', '/r2'):
        start('cmp_sim', name, scenario=scenario)
    process = start('explorer', robots=['r1', 'r2'], battery_low=20.0)
    robots[0].explores()
    robots[0].charge = 0.199
    peer.wait_for(lambda: f'r1: paused: {LOW}' in process.output, 'that r1 rests')
    robots[1].explores()
    robots[1].charge = 0.199
    for robot in robots:
        robot.rests(LOW)
    robots[0].charge = 0.9
    robots[0].explores()
    peer.wait_for(lambda: 'r1: exploring' in process.output.rpartition('r1: paused')[2],
                  'that r1 goes on')
    assert robots[1].rest[-1].data == LOW
    for robot in ('r1', 'r2'):
        assert re.search(f'{robot}: sent home to rest.*, by battery: {LOW}', process.output)
    assert process.stop() == 0, process.output


def test_levels_the_wrong_way_round_are_refused(explorer: Callable[..., NodeProcess]) -> None:
    process = explorer(battery_low=50.0, battery_ok=40.0)
    assert process.wait() != 0 and "'battery_ok' is 40.0, expected at least" in process.output


def test_the_simulated_battery(start: Callable, peer: Peer) -> None:
    start('diff_drive_sim', world='one_room', battery_idle=0.01, battery_charge=0.0,
          real_time_factor=50.0)    # it lasts longer than any test
    said = peer.listen(BatteryState, 'battery', 10)
    peer.wait_for(lambda: len(said) > 5, 'the battery')
    for before, after in zip(said, said[1:]):
        seconds = after.header.stamp.sec - before.header.stamp.sec
        assert before.percentage - after.percentage == pytest.approx(1e-4 * seconds, abs=1e-6)
