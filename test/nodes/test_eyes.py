# SPDX-License-Identifier: Apache-2.0

"""``grid_driver`` with a scanner, and with bumpers of several makes."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from importlib.util import find_spec
import json
import math
from pathlib import Path
from types import SimpleNamespace

from driven_robot import DrivenRobot, EAST, HOME, WEST
from driver_here import driving_here
from hurried import passing_time
from mnm_ros import messages
from mnm_ros.driving.drive import limits_of
from mnm_ros.driving.sight import BACKED_UP, hazards, NO_REVERSE, presses, touches
from mnm_ros.nodes.mobile import eyes
from mnm_ros.nodes.mobile.driver_setup import suit_base
from mnm_ros.nodes.mobile.eyes import hear_bumps
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.simulation.diff_drive import driver_parameters
from mnm_ros.simulation.world import load
from node_processes import NodeProcess, Peer
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Bool, Int64MultiArray, String
from tiers import strength

Drive = Callable[..., DrivenRobot]

drive = pytest.fixture(driving_here)
put_forward = pytest.fixture(passing_time)

CLOSED = {'name': 'flat', 'cell_size': 0.5, 'settings': [{'D': 'closed'}],
          'rows': ['#####', '#DS.#', '#####']}
KINDS = {'BACKUP_LIMIT': 0, 'BUMP': 1, 'CLIFF': 2, 'STALL': 3, 'WHEEL_DROP': 4,
         'OBJECT_PROXIMITY': 5}
SEES = {'use_scan': True, 'robot_radius': 0.15}


def test_a_closed_door_is_not_touched(start: Callable, peer: Peer, tmp_path: Path) -> None:
    """The map shows it open; the robot stops before it, and drives back to its cell."""
    path = tmp_path / 'flat.yaml'
    path.write_text(json.dumps(CLOSED))
    start('diff_drive_sim', world=str(path), real_time_factor=0.0, publish_clock=False,
          tick=strength(0.1, 0.05), scan_noise=0.01, pose_noise=0.01)
    driver = start('grid_driver', **{**driver_parameters(load(str(path))), **SEES})
    bumps = peer.listen(Bool, 'bump')
    outcomes = peer.listen(String, 'outcome')
    states = peer.listen(Int64MultiArray, 'state', messages.STEP)
    actions = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: bumps and actions.get_subscription_count(), 'simulator and driver')
    for seq, (action, outcome) in enumerate((
            (WEST, 'west: obstructed, in state 7'), (EAST, 'east: reached, in state 8'),
            (WEST, 'west: reached, in state 7'), (WEST, 'west: obstructed, in state 7'))):
        actions.publish(Int64MultiArray(data=array('q', (seq, action))))
        peer.wait_for(lambda seq=seq: len(states) > seq and len(outcomes) > seq, outcome)
        assert outcomes[seq].data == outcome
    assert not any(message.data for message in bumps) and driver.running


def scan(peer: Peer, ranges: float) -> Callable[[], None]:
    """Return what publishes a scan with the same range all around."""
    publisher = peer.node.create_publisher(LaserScan, 'scan', qos_profile_sensor_data)
    message = LaserScan(angle_increment=0.1, range_max=9.0, ranges=[ranges] * 63)
    return lambda: publisher.publish(message)


def test_it_drives_only_while_it_sees(
        drive: Drive, put_forward: Callable[[float], None]) -> None:
    robot = drive(**SEES, cell_size=2e3, origin_x=-1e3, origin_y=-1e3, columns=3, rows=1,
                  move_timeout=1e6, pose_timeout=3.0)
    robot.platform.pause = 0.02    # while it waits
    seq = robot.send(EAST)
    robot.peer.wait_for(
        lambda: 'waiting for a scan on /scan' in robot.process.output, 'that it waits')
    assert not robot.answers(seq)
    timer = robot.peer.node.create_timer(0.05, scan(robot.peer, 5.0))
    robot.peer.wait_for(lambda: robot.platform.speed > 0.3, 'that it drives')
    robot.peer.node.destroy_timer(timer)
    robot.peer.wait_for(lambda: put_forward(0.1) or robot.platform.speed == 0, 'that it stands')
    robot.peer.wait_for(lambda: robot.states, 'the report')
    assert [list(state.data) for state in robot.states] == [[-1, 0]]
    assert 'no scan on /scan' in robot.process.output


def test_by_its_mount(drive: Drive) -> None:
    """A scanner that is mounted backwards sees the wall in the west where the robot has it."""
    robot = drive(**SEES, scan_yaw=math.pi)
    publisher = robot.peer.node.create_publisher(LaserScan, 'scan', qos_profile_sensor_data)
    message = LaserScan(angle_min=-0.3, angle_increment=0.02, range_max=9.0, ranges=[0.35] * 31)
    robot.peer.node.create_timer(0.05, lambda: publisher.publish(message))
    assert robot.act(EAST) == (HOME + 1, f'east: reached, in state {HOME + 1}')


def test_messages_of_bumpers() -> None:
    assert touches(Bool(data=True)) and not touches(Bool())
    assert presses(SimpleNamespace(state=1, PRESSED=1)) and not presses(
        SimpleNamespace(state=0, PRESSED=1))
    for kind, number in KINDS.items():
        found = hazards(SimpleNamespace(detections=[SimpleNamespace(type=number, **KINDS)]))
        assert found is (kind not in ('BACKUP_LIMIT', 'OBJECT_PROXIMITY'))
    assert not hazards(SimpleNamespace(detections=[]))


def test_a_base_at_its_backup_limit_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eyes, 'import_module', lambda name: SimpleNamespace(
        HazardDetectionVector=None))
    heard: list[Callable[[object], None]] = []
    logged: list[str] = []
    node = SimpleNamespace(
        create_subscription=lambda kind, topic, hear, qos: heard.append(hear),
        get_logger=lambda: SimpleNamespace(warning=logged.append))
    bumps: list[bool] = []
    warned: list[str] = []
    hear_bumps(node, NO_REVERSE[0], lambda: bumps.append(True), warned.append)
    for kinds in ('BACKUP_LIMIT',), ('BUMP', 'BACKUP_LIMIT'), (), ('BACKUP_LIMIT',):
        heard[0](SimpleNamespace(detections=[
            SimpleNamespace(type=KINDS[kind], **KINDS) for kind in kinds]))
    assert len(bumps) == 1 and warned == logged == 2 * [BACKED_UP]
    assert BACKED_UP.startswith('BACKUP_LIMIT (HazardDetection type 0)')


@pytest.mark.parametrize(('given', 'reverse'), [
    ({}, True), ({'bump_type': NO_REVERSE[0]}, False),
    ({'bump_type': NO_REVERSE[0], 'reverse': True}, True), ({'reverse': False}, False)])
def test_the_base_of_an_irobot_turns_before_it_retreats_unless_told_otherwise(
        peer: Peer, given: dict[str, object], reverse: bool) -> None:
    node = Node('driver', context=peer.context, parameter_overrides=[
        Parameter(name, value=value) for name, value in given.items()])
    parameters = Parameters(node, NODES['grid_driver'])
    suit_base(parameters)
    assert parameters['reverse'] is limits_of(parameters).reverse is reverse
    node.destroy_node()


@pytest.mark.skipif(find_spec('irobot_create_msgs') is not None, reason='it is installed')
def test_a_bumper_without_its_messages(start: Callable[..., NodeProcess]) -> None:
    driver = start('grid_driver', bump_type='irobot_create_msgs/HazardDetectionVector')
    assert driver.wait() == 1
    assert ("'bump_type' is 'irobot_create_msgs/HazardDetectionVector', which needs the package "
            'irobot_create_msgs') in driver.output
