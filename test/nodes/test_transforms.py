# SPDX-License-Identifier: Apache-2.0

"""Transforms on ``tf``: of the simulated robot, and as the pose of a robot that is driven."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import math
from types import SimpleNamespace
from typing import Any

from driven_robot import DrivenRobot, EAST, FAST, HOME, NORTH, over_limit, RESET
from geometry_msgs.msg import PoseStamped, TransformStamped
from mnm_ros import messages
from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.driving.pose import Pose, Transform
from mnm_ros.nodes.common import heard_frames
from mnm_ros.nodes.mobile import poses
from mnm_ros.nodes.mobile.poses import planar
from mnm_ros.simulation.diff_drive import driver_parameters
from mnm_ros.simulation.world import load
from nav_msgs.msg import OccupancyGrid, Odometry
from node_processes import NodeProcess, Peer
import pytest
from std_msgs.msg import String
from test_diff_drive_sim import Driver, nanoseconds, sim
from unicycle import Unicycle
from visualization_msgs.msg import MarkerArray

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

needs_tf2 = pytest.mark.skipif(TFMessage is None, reason='tf2_msgs is not installed')
without_tf2 = pytest.mark.skipif(TFMessage is not None, reason='tf2_msgs is installed')
Start = Callable[..., NodeProcess]


def transform_of(message: TransformStamped) -> Transform:
    place, turn = message.transform.translation, message.transform.rotation
    return Transform(place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w)


def links(message: Any) -> dict[tuple[str, str], Transform]:
    return {(each.header.frame_id, each.child_frame_id): transform_of(each)
            for each in message.transforms}


def message_of(parent: str, frame: str, transform: Transform, time: float) -> TransformStamped:
    message = TransformStamped(child_frame_id=frame)
    message.header.frame_id = parent
    message.header.stamp.sec, message.header.stamp.nanosec = int(time), int(time % 1 * 1e9)
    place, turn = message.transform.translation, message.transform.rotation
    place.x, place.y, place.z = transform[:3]
    turn.x, turn.y, turn.z, turn.w = transform[3:]
    return message


class Localised(Unicycle):
    """
    A perfect robot whose pose is on ``tf``: corrected odometry, and a base above the wheels.

    lost: the localisation has stopped.
    """

    def __init__(self, peer: Peer) -> None:
        self.lost = False
        super().__init__(peer, 'tf', kind=TFMessage)
        self._correction = Transform.planar(Pose(4.0, -2.0, 2.5))
        self._static = peer.node.create_publisher(TFMessage, 'tf_static', messages.LATCHED)
        self._static.publish(TFMessage(transforms=[message_of(
            'footprint', 'base_link', Transform(z=0.3), 0.0)]))

    def _publish(self) -> None:
        by_wheels = self._correction.inverse.then(
            Transform.planar(Pose(self.x, self.y, self.yaw)))
        self._poses.publish(TFMessage(transforms=[
            message_of('odom', 'footprint', by_wheels, self.time)]))
        if not self.lost and self.poses % 4 == 0:    # it is slower, and valid for a while
            self._poses.publish(TFMessage(transforms=[
                message_of('map', 'odom', self._correction, self.time + 0.5)]))
        self.poses += 1


@pytest.fixture
def localised(start: Start, peer: Peer) -> DrivenRobot:
    platform = Localised(peer)
    return DrivenRobot(peer, start('grid_driver', pose_source='tf2', **FAST), platform)


@needs_tf2
def test_a_round_and_home_by_transforms(localised: DrivenRobot) -> None:
    robot = localised
    for action, cell in ((EAST, 61), (NORTH, 72), (RESET, HOME)):
        assert robot.act(action)[0] == cell and 'reached' in robot.outcomes[-1]
    assert math.hypot(robot.platform.x, robot.platform.y) < 0.1
    assert over_limit(robot.platform.commands) == []
    assert 'Traceback' not in robot.process.output


def test_transforms_that_have_waited_are_one_pose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answered one by one, they would change the velocity many times at once."""
    waiting = deque(SimpleNamespace(transforms=[message_of(
        'map', 'base_link', Transform(x=0.1 * i), 1000.0 + i)]) for i in range(1, 10))
    heard: dict[str, Callable[[Any], None]] = {}

    def subscribe(kind: Any, name: str, callback: Callable[[Any], None], qos: Any) -> Any:
        heard[name] = callback
        return SimpleNamespace(topic_name=f'/{name}', handle=SimpleNamespace(
            take_message=lambda *_: (waiting.popleft(), None) if waiting else None))

    for module in (poses, heard_frames):
        monkeypatch.setattr(module, 'TFMessage', SimpleNamespace)
    taken: list[Any] = []
    poses.PoseTransforms(
        SimpleNamespace(create_subscription=subscribe), 'map', 'base_link', 1.0,
        lambda message, _: taken.append(message))
    heard['tf'](waiting.popleft())
    assert [message.header.stamp.sec for message in taken] == [1009]
    assert taken[0].pose.pose.position.x == pytest.approx(0.9)


@needs_tf2
def test_a_localisation_that_stops_while_the_wheels_still_count(
        start: Start, peer: Peer) -> None:
    platform = Localised(peer)
    robot = DrivenRobot(peer, start('grid_driver', pose_source='tf2', **{
        **FAST, 'blocked_after': 1000.0, 'move_timeout': 1000.0, 'pose_timeout': 1.0}), platform)
    seq = robot.send(EAST)
    robot.wait_until_driving()
    platform.stuck = platform.lost = True    # so that it does not arrive before it is noticed
    peer.wait_for(lambda: robot.outcomes, 'the outcome')
    assert 'pose lost' in robot.outcomes[-1] and not robot.answers(seq)
    peer.wait_for(lambda: platform.commands[-1][1:] == (0, 0), 'rest')
    peer.wait_for(lambda: 'one of the transforms on the way has not' in robot.process.output,
                  'the warning')
    platform.lost = False
    peer.wait_for(lambda: robot.answers(seq) == [HOME], 'the answer')


@needs_tf2
def test_no_pose_without_the_whole_way(start: Start, peer: Peer) -> None:
    node = start('grid_driver', pose_source='tf2', map_frame='floor', **FAST)
    platform = Localised(peer)
    robot = DrivenRobot(peer, node, platform)
    seq = robot.send(EAST)
    peer.wait_for(lambda: "waiting for a pose on /tf from 'floor' to 'base_link'" in node.output,
                  'the warning')
    assert not platform.commands
    platform._static.publish(TFMessage(transforms=[
        message_of('footprint', 'base_link', Transform(), 0.0),
        message_of('floor', 'map', Transform(), 0.0)]))
    peer.wait_for(lambda: robot.answers(seq) == [HOME + 1], 'the answer')


@needs_tf2
def test_the_simulated_robot_broadcasts_where_it_is(start: Start, peer: Peer) -> None:
    sim(start, pose_noise=0.02, heading_noise=0.05, odom_noise=0.2, slip=0.1)
    heard = peer.listen(TFMessage, '/tf', messages.TRANSFORMS)
    odometry = peer.listen(Odometry, 'odom', 100)
    driver = Driver(peer)
    driver.command = (0.2, 0.3)
    driver.wait(lambda: driver.x > 1.6, 'motion')
    by_stamp = {nanoseconds(message.transforms[0].header.stamp): message for message in heard}
    wheels = {nanoseconds(message.header.stamp): message for message in odometry}
    both = [message for message in driver.poses
            if nanoseconds(message.header.stamp) in by_stamp.keys() & wheels.keys()]
    assert len(both) > 10
    for message in both:
        stamp = nanoseconds(message.header.stamp)
        found = links(by_stamp[stamp])
        assert found.keys() == {('map', 'odom'), ('odom', 'base_link')}
        base = found['odom', 'base_link']
        assert base == pytest.approx(Transform.planar(planar(wheels[stamp].pose.pose)))
        located = found['map', 'odom'].then(base)
        pose = planar(message.pose.pose)
        assert located[:2] == pytest.approx(pose[:2])
        assert 2 * math.atan2(located.qz, located.qw) % math.tau == pytest.approx(
            pose.yaw % math.tau)


@needs_tf2
def test_the_simulated_robot_is_driven_by_its_transforms(start: Start, peer: Peer) -> None:
    world = load('one_room')
    start('diff_drive_sim', world='one_room', real_time_factor=0.0, publish_clock=False,
          pose_noise=0.01, odom_noise=0.1, slip=0.02)
    driver = start('grid_driver', **{**driver_parameters(world), 'pose_source': 'tf2'})
    outcomes = peer.listen(String, 'outcome', 10)
    start('explorer', actions=list(MOVES['compass']), step_timeout=60.0)
    peer.wait_for(lambda: sum('reached' in message.data for message in outcomes) > 50,
                  'moves')
    assert 'Traceback' not in driver.output and 'no pose' not in driver.output


@needs_tf2
@pytest.mark.parametrize('broadcast', ['odom', 'none'])
def test_a_localisation_of_ones_own(start: Start, peer: Peer, broadcast: str) -> None:
    sim(start, broadcast=broadcast, odom_frame='wheels', base_frame='disc')
    heard = peer.listen(TFMessage, '/tf', messages.TRANSFORMS)
    driver = Driver(peer)
    driver.wait(lambda: len(driver.poses) > 20, 'poses')
    if broadcast == 'none':
        assert not peer.node.count_publishers('/tf')
        return
    driver.wait(lambda: heard, 'transforms')
    assert {key for message in heard for key in links(message)} == {('wheels', 'disc')}


@needs_tf2
def test_each_robot_of_several_has_transforms_of_its_own(start: Start, peer: Peer) -> None:
    start('diff_drive_sim', namespace='/robot_1', world='one_room')
    start('grid_driver', namespace='/robot_1', pose_source='tf2', **FAST)
    peer.wait_for(lambda: peer.node.count_publishers('/robot_1/tf')
                  and peer.node.count_subscribers('/robot_1/tf'), 'the topic')
    assert not peer.node.count_publishers('/tf')


def test_frames_by_name(start: Start, peer: Peer) -> None:
    sim(start, map_frame='floor', odom_frame='wheels', base_frame='disc')
    odometry = peer.listen(Odometry, 'odom', 10)
    truth = peer.listen(PoseStamped, 'true_pose', 10)
    markers = peer.listen(MarkerArray, 'world_markers')
    grid = peer.listen(OccupancyGrid, 'map')
    driver = Driver(peer)
    driver.wait(lambda: odometry and truth and markers and grid, 'all of them')
    assert (odometry[-1].header.frame_id, odometry[-1].child_frame_id) == ('wheels', 'disc')
    assert {message.header.frame_id for message in (
        driver.poses[-1], truth[-1], grid[-1], *markers[-1].markers)} == {'floor'}


@pytest.mark.parametrize(('parameters', 'reason'), [
    ({'odom_frame': 'map'}, "'odom_frame' is 'map', expected another frame than that of 'map_fr"),
    ({'base_frame': '/disc'}, "'base_frame' is '/disc', expected the name of a frame, without")])
def test_frames_that_are_none(start: Start, parameters: dict[str, str], reason: str) -> None:
    node = sim(start, **parameters)
    assert node.wait() == 1 and reason in node.output and 'Traceback' not in node.output


@without_tf2
def test_the_simulated_robot_goes_without(start: Start, peer: Peer) -> None:
    node = sim(start)
    Driver(peer)
    assert node.output.count('no transforms are broadcast: the package tf2_msgs') == 1
    assert node.stop() == 0 and 'Traceback' not in node.output


@without_tf2
def test_a_driver_that_depends_on_them_does_not(start: Start) -> None:
    node = start('grid_driver', pose_source='tf2')
    assert node.wait() == 1
    assert "'pose_source' is 'tf2', which needs the package tf2_msgs" in node.output
    assert 'Traceback' not in node.output
