# SPDX-License-Identifier: Apache-2.0

"""The simulated robot as a process of its own, driven over topics."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from pathlib import Path
import signal
import time

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, Twist, TwistStamped
from mnm_ros.core.errors import ParameterError
from mnm_ros.nodes import diff_drive_sim
from mnm_ros.parameters import NODES
from mnm_ros.simulation import physics
from mnm_ros.simulation.world import load
from nav_msgs.msg import OccupancyGrid, Odometry
from node_processes import Peer, soon
import pytest
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
from tiers import strength, thorough
from visualization_msgs.msg import MarkerArray

TICK = 50_000_000    # ns


def nanoseconds(stamp: object) -> int:
    return stamp.sec * 10**9 + stamp.nanosec


class Driver:
    """Answers each pose with the present command, and keeps what it has heard."""

    def __init__(self, peer: Peer, stamped: bool = False, pose: str = 'amcl_pose') -> None:
        kind = {'amcl_pose': PoseWithCovarianceStamped, 'odom': Odometry}[pose]
        self.command: tuple[float, float] | None = (0.0, 0.0)
        self.poses: list[object] = []
        self.peer = peer
        self._stamped = stamped
        self._publisher = peer.node.create_publisher(
            TwistStamped if stamped else Twist, 'cmd_vel', 10)
        peer.node.create_subscription(kind, pose, self._on_pose, 10)
        self.wait(lambda: self.poses and self._publisher.get_subscription_count(), 'poses')

    @property
    def x(self) -> float:
        return self.poses[-1].pose.pose.position.x

    def send(self, speed: float, turn_rate: float = 0.0) -> None:
        twist = Twist()
        twist.linear.x, twist.angular.z = speed, turn_rate
        self._publisher.publish(TwistStamped(twist=twist) if self._stamped else twist)

    def wait(self, condition: Callable[[], object], what: str) -> object:
        return self.peer.wait_for(condition, what)

    def _on_pose(self, message: object) -> None:
        self.poses.append(message)
        if self.command is not None:
            self.send(*self.command)


def sim(start: Callable, **parameters: object) -> object:
    return start('diff_drive_sim', **{
        'world': 'two_room_flat', 'real_time_factor': 0.0, **parameters})


def test_to_the_far_room_and_not_back(start: Callable, peer: Peer) -> None:
    sim(start, pose_noise=0.001)
    bump, doors, truth = (peer.listen(kind, topic, qos) for kind, topic, qos in (
        (Bool, 'bump', 10), (String, 'doors', 10), (PoseStamped, 'true_pose', 10)))
    late = peer.listen(String, 'doors')
    driver = Driver(peer)
    assert driver.x == pytest.approx(1.25, abs=0.003 + 1e-9)
    driver.command = (0.4, 0.0)
    driver.wait(lambda: driver.x > 2.5, 'the far room')
    peer.wait_for(lambda: [message.data for message in late] == ['D open'], 'the door')
    assert peer.call(Trigger, 'change').message == 'setting 1 is in force: D closed'
    driver.command = (-0.4, 0.0)
    driver.wait(lambda: bump and bump[-1].data, 'a bump at the door')
    driver.wait(lambda: doors and doors[-1].data == 'D closed', 'what is said of the door')
    driver.wait(lambda: truth[-1].pose.position.x < 2.1501, 'contact')
    assert truth[-1].pose.position.x == pytest.approx(2.15, abs=1e-5)
    driver.command = (0.4, 0.0)
    driver.wait(lambda: not bump[-1].data, 'the end of the bump')
    assert abs(nanoseconds(truth[-1].header.stamp)
               - nanoseconds(driver.poses[-1].header.stamp)) <= 20 * TICK


def test_a_door_waits_for_the_robot(start: Callable, peer: Peer) -> None:
    sim(start)
    doors = peer.listen(String, 'doors')
    driver = Driver(peer)
    driver.command = (0.2, 0.0)
    driver.wait(lambda: driver.x > 1.6, 'the door')
    driver.command = (0.0, 0.0)
    assert peer.call(Trigger, 'change').message == (
        'setting 1 is in force: D closed; D as soon as the robot has left it')
    driver.command = (-0.05, 0.0)
    driver.wait(lambda: driver.x < 1.5, 'half of it in the door')
    driver.command = (0.0, 0.0)
    heard = len(driver.poses)
    driver.wait(lambda: len(driver.poses) > heard + 40, 'a while')
    assert driver.x > 1.5 - 0.15 and doors[-1].data != 'D closed'
    driver.command = (-0.2, 0.0)
    driver.wait(lambda: doors[-1].data == 'D closed', 'the door')


@pytest.mark.parametrize('pose', ['amcl_pose', pytest.param('odom', marks=thorough(
    'nodes/test_diff_drive_sim.py::test_lockstep'))])
def test_lockstep(start: Callable, peer: Peer, pose: str) -> None:
    """One tick per command; without commands time creeps on."""
    process = sim(start)
    clock = peer.listen(Clock, '/clock', 10)
    driver = Driver(peer, pose=pose)
    peer.wait_for(lambda: clock, 'the clock')
    first = len(driver.poses)
    driver.wait(lambda: len(driver.poses) > first + strength(200, 500),
                'ticks, faster than by waiting')
    stamps = [nanoseconds(message.header.stamp) for message in driver.poses]
    times = [nanoseconds(message.clock) for message in clock]
    for seen in (stamps, times):
        gaps = [b - a for a, b in zip(seen, seen[1:])]
        assert min(gaps) == TICK and not any(gap % TICK for gap in gaps)
    assert abs(times[-1] - stamps[-1]) <= 5 * TICK
    driver.command = None
    peer.spin(0.3)
    waiting, begun = len(driver.poses), time.monotonic()
    driver.wait(lambda: len(driver.poses) >= waiting + 10, 'time to go on by itself')
    assert time.monotonic() - begun > 8 * 0.05
    assert process.stop() == 0


@pytest.mark.parametrize('factor', [20.0, pytest.param(5.0, marks=thorough(
    'nodes/test_diff_drive_sim.py::test_simulated_time_is_as_fast_as_asked_for'))])
def test_simulated_time_is_as_fast_as_asked_for(start: Callable, peer: Peer,
                                                factor: float) -> None:
    """Never faster; a busy machine may be slower."""
    sim(start, real_time_factor=factor)
    clock = peer.listen(Clock, '/clock', 10)
    peer.wait_for(lambda: len(clock) > 20, 'the clock, and the end of what has queued up')
    begun, first = time.monotonic(), nanoseconds(clock[-1].clock)
    peer.wait_for(lambda: nanoseconds(clock[-1].clock) - first > factor * 1e9, 'a second')
    rate = (nanoseconds(clock[-1].clock) - first) / 1e9 / (time.monotonic() - begun)
    assert rate < 1.2 * factor and soon(factor / rate, 5.0)
    times = [nanoseconds(message.clock) for message in clock]
    assert all(a < b for a, b in zip(times, times[1:]))


def test_stamped_commands_and_commands_that_are_no_numbers(start: Callable, peer: Peer) -> None:
    process = sim(start, stamped=True)
    driver = Driver(peer, stamped=True, pose='odom')
    driver.command = (0.2, 0.0)
    driver.wait(lambda: driver.x > 0.1, 'motion')
    assert driver.poses[-1].twist.twist.linear.x == pytest.approx(0.2)
    driver.command = (nan, 0.0)
    driver.wait(lambda: 'cmd_vel ignored: linear.x is nan' in process.output, 'the warning')
    driver.wait(lambda: driver.poses[-1].twist.twist.linear.x == 0, 'rest')


def test_what_late_joiners_are_told(start: Callable, peer: Peer) -> None:
    sim(start, publish_clock=False)
    Driver(peer)
    grid, bump, doors, pictures = (peer.listen(kind, topic) for kind, topic in (
        (OccupancyGrid, 'map'), (Bool, 'bump'), (String, 'doors'),
        (MarkerArray, 'world_markers')))
    peer.wait_for(lambda: grid and bump and doors and pictures, 'all that is latched')
    world, told = load('two_room_flat'), grid[0]
    assert (told.info.resolution, told.info.width, told.info.height) == (
        world.cell_size, *world.size)
    assert told.header.frame_id == 'map' and len(told.data) == world.size[0] * world.size[1]
    assert {(index % world.size[0], index // world.size[0])
            for index, value in enumerate(told.data) if value == 100} == world.walls
    assert set(told.data) == {0, 100}, 'doors are free'
    assert not bump[0].data and doors[0].data == 'D open'
    shown = {marker.ns: marker for marker in pictures[-1].markers}
    assert len(shown['walls'].points) == len(world.walls)
    assert len(shown['open doors'].points) == 1 and not shown['closed doors'].points
    assert shown['robot'].pose.position.x == pytest.approx(1.25)
    assert peer.node.count_publishers('/clock') == 0


def test_a_covariance_and_frames(start: Callable, peer: Peer) -> None:
    sim(start, pose_noise=0.02, heading_noise=0.03)
    odom = peer.listen(Odometry, 'odom', 10)
    driver = Driver(peer)
    fix = driver.poses[-1]
    assert fix.header.frame_id == 'map'
    assert fix.pose.covariance[[0, 7, 35]] == pytest.approx([0.0004, 0.0004, 0.0009])
    driver.wait(lambda: odom, 'odometry')
    assert (odom[-1].header.frame_id, odom[-1].child_frame_id) == ('odom', 'base_link')
    assert odom[-1].pose.pose.position.x == 0 and odom[-1].pose.pose.orientation.w == 1


@pytest.mark.parametrize(('factor', 'number'), [(0.0, signal.SIGINT), pytest.param(
    100.0, signal.SIGTERM, marks=thorough('nodes/test_diff_drive_sim.py::test_ends'))])
def test_ends(start: Callable, peer: Peer, factor: float, number: int) -> None:
    process = sim(start, real_time_factor=factor)
    Driver(peer)
    assert process.stop(number, limit=5.0) == 0
    assert ' ticks, ' in process.output and 'Traceback' not in process.output


@pytest.mark.parametrize(('parameters', 'reason'), [
    ({'world': ''}, "parameter 'world': no world is called '', expected a path or one of"),
    ({'world': '{tmp_path}/bad.yaml'}, "bad.yaml:2: found 2 cells 'S', expected exactly 1"),
    ({'robot_radius': 0.3}, "parameter 'robot_radius': a radius of 0.3 m does not fit"),
    ({'real_time_factor': -1.0}, "parameter 'real_time_factor' is -1.0, expected a double"),
    *(pytest.param(*case, marks=thorough('nodes/test_diff_drive_sim.py::test_refused'))
      for case in (
        ({'world': 'flat'}, "parameter 'world': no world is called 'flat'"),
        ({'slip': 1.5}, "parameter 'slip' is 1.5, expected a double, such as 4.0, in [0, 1]"),
        ({'tick': 0.0}, "parameter 'tick' is 0.0, expected a double, such as 4.0, in [0.001, "))),
])
def test_refused(start: Callable, tmp_path: Path, parameters: dict[str, object],
                 reason: str) -> None:
    (tmp_path / 'bad.yaml').write_text('cell_size: 1\nrows: [SS]\n')
    process = sim(start, **{
        name: value.format(tmp_path=tmp_path) if isinstance(value, str) else value
        for name, value in parameters.items()})
    assert process.wait() == 1
    assert reason in process.output and 'Traceback' not in process.output


def test_physics_without_mujoco(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physics, 'mujoco', None)
    given = {spec.name: spec.default for spec in NODES['diff_drive_sim']}
    with pytest.raises(ParameterError, match="'physics' is True: .* needs the package mujoco"):
        diff_drive_sim._robot(peer.node, {**given, 'world': 'one_room', 'physics': True})


def test_physics(start: Callable, peer: Peer) -> None:
    """It drives into the wall, where it is held and tells that it touches."""
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    process = sim(start, physics=True, world='furnished_flat', robot_radius=0.17, tick=0.1)
    driver, bumps = Driver(peer), peer.listen(Bool, 'bump')
    maps = peer.listen(OccupancyGrid, 'map')
    driver.command = 0.3, 0.0
    peer.wait_for(lambda: bumps[-1].data, 'the leg of the table')
    heard = len(driver.poses)    # before which others may be on their way
    peer.wait_for(lambda: len(driver.poses) > heard + 20, 'what it comes to')
    assert driver.poses[-1].pose.pose.position.x == pytest.approx(2.86, abs=0.03)
    world = load('furnished_flat')
    assert maps[0].data.count(100) == len(world.walls - world.legs)
    assert process.stop() == 0, process.output
