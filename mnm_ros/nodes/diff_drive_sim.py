# SPDX-License-Identifier: Apache-2.0

"""A simulated differential-drive robot in a small world, with a time of its own."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from importlib import import_module
import math
import sys
import time
from typing import Any

from geometry_msgs.msg import (
    Point,
    PoseStamped,
    PoseWithCovarianceStamped,
    Quaternion,
    Twist,
    TwistStamped,
    Vector3,
)
from mnm_ros import messages
from mnm_ros.core.errors import FileError, MissingPackageError, ParameterError
from mnm_ros.files import user_path
from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.common.callbacks import answering, every
from mnm_ros.nodes.common.request_topic import RequestTopic
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.mobile.planned import plan_of
from mnm_ros.nodes.mobile.poses import Broadcaster, check_frames, set_pose
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.places.graph_file import read_graph
from mnm_ros.simulation.diff_drive import Battery, body_of, DiffDrive, Lockstep, occupancy
from mnm_ros.simulation.graph_world import GraphWorld
from mnm_ros.simulation.map_world import MapWorld
from mnm_ros.simulation.plan_world import PlanWorld
from mnm_ros.simulation.world import Cell, load, World
from nav_msgs.msg import OccupancyGrid, Odometry
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage
from std_msgs.msg import Bool, ColorRGBA, Int64, String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

_BATTERY_PERIOD = 1.0      # s of simulated time between two messages
_MARKER_PERIOD = 0.1       # s, at least between two messages
_LONGEST_TICK = 3600.0     # s, between two ticks, at most
_RAYS = 360
_HEIGHT = 0.4              # m, of walls and closed doors
_COLOURS = {
    'walls': (0.45, 0.45, 0.5), 'open doors': (0.2, 0.7, 0.3), 'closed doors': (0.8, 0.25, 0.2),
    'robot': (0.2, 0.4, 0.9), 'heading': (1.0, 1.0, 1.0)}


class DiffDriveSim(Node):
    """Drives as ``cmd_vel`` says and publishes poses, at each tick of simulated time."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('diff_drive_sim', **node_arguments)
        given = Parameters(self, NODES['diff_drive_sim'])
        check_frames(given, 'map_frame', 'odom_frame', 'base_frame')
        self._map_frame: str = given['map_frame']
        self._robot = _robot(self, given)
        self._tick_ns = round(given['tick'] * 1e9)
        self._make_publishers(given)
        self._published: tuple[object, object] = (None, None)    # bump and doors
        self._drawn: object = None
        factor = given['real_time_factor']
        self._lockstep = None if factor else Lockstep(time.monotonic())
        period = min(given['tick'] / factor, _LONGEST_TICK) if factor else _LONGEST_TICK
        self._timer = every(period, self, self._on_time)
        every(_MARKER_PERIOD, self, self._draw)
        self._stamped = given['stamped']
        self.create_subscription(
            TwistStamped if self._stamped else Twist, 'cmd_vel', self._on_command, 10)
        self._requests = RequestTopic(self)
        self.create_service(Trigger, 'change', answering(self._on_change, Allowance(), 'change'))
        self._publish_changes()
        self._draw()
        self._schedule()

    @property
    def robot(self) -> DiffDrive:
        """Return the robot as it really is."""
        return self._robot

    def close(self) -> None:
        """Log how long the simulation was."""
        self.get_logger().info(
            f'{self._robot.ticks} ticks, {self._robot.ticks * self._tick_ns / 1e9:g} s')

    def _make_publishers(self, given: Parameters) -> None:
        self._clock_message = ClockMessage()
        self._odom = Odometry(child_frame_id=given['base_frame'])
        self._located = PoseWithCovarianceStamped()
        self._truth = PoseStamped()
        for message, frame in (
                (self._odom, given['odom_frame']), (self._located, self._map_frame),
                (self._truth, self._map_frame)):
            message.header.frame_id = frame
        set_covariance(self._located.pose.covariance, given['pose_noise'], given['heading_noise'])
        for part in (self._odom.pose, self._odom.twist):
            set_covariance(part.covariance, given['odom_noise'], given['odom_noise'])
        self._clock_publisher = self.create_publisher(
            ClockMessage, '/clock', 10) if given['publish_clock'] else None
        self._odom_publisher = self.create_publisher(Odometry, 'odom', 10)
        self._pose_publisher = self.create_publisher(PoseWithCovarianceStamped, 'amcl_pose', 10)
        self._truth_publisher = self.create_publisher(PoseStamped, 'true_pose', 10)
        self._bump_publisher = self.create_publisher(Bool, 'bump', messages.LATCHED)
        self._doors_publisher = self.create_publisher(String, 'doors', messages.LATCHED)
        self._setting_publisher = self.create_publisher(Int64, 'true_setting', messages.LATCHED)
        self._setting_publisher.publish(Int64(data=self._robot.setting))
        self._marker_publisher = self.create_publisher(
            MarkerArray, 'world_markers', messages.LATCHED)
        self._map_publisher = self.create_publisher(OccupancyGrid, 'map', messages.LATCHED)
        self._map_publisher.publish(occupancy_grid(self._robot.world, self._map_frame))
        self._scan_type = import_module('sensor_msgs.msg').LaserScan
        self._scan_publisher = self.create_publisher(self._scan_type, 'scan', 10)
        self._scan_frame: str = given['base_frame']
        self._ticks_per_scan = max(1, round(given['scan_period'] / given['tick']))
        self._scanner = self._robot.scanner(
            _RAYS, given['scan_range'], given['scan_noise'], given['seed'])
        self._ticks_per_battery = max(1, round(_BATTERY_PERIOD * 1e9 / self._tick_ns))
        if self._robot.battery:
            self._battery_type = import_module('sensor_msgs.msg').BatteryState
            self._battery_publisher = self.create_publisher(self._battery_type, 'battery', 10)
        self._transforms = None if given['broadcast'] == 'none' else Broadcaster(
            self, self._map_frame if given['broadcast'] == 'map' else '',
            given['odom_frame'], given['base_frame'])

    def _on_command(self, message: Twist | TwistStamped) -> None:
        twist = message.twist if isinstance(message, TwistStamped) else message
        speed, turn_rate = twist.linear.x, twist.angular.z
        if not (math.isfinite(speed) and math.isfinite(turn_rate)):
            self.get_logger().warning(
                f'cmd_vel ignored: linear.x is {speed} and angular.z is {turn_rate}, expected '
                'finite numbers', throttle_duration_sec=5.0)
            return
        self._robot.command(speed, turn_rate)
        if self._lockstep:
            now = time.monotonic()
            self._lockstep.commanded(now)
            if self._lockstep.due <= now:
                self._tick()
            self._schedule()

    def _on_time(self) -> None:
        self._tick()
        self._schedule()

    def _schedule(self) -> None:
        if self._lockstep:
            wait = self._lockstep.due - time.monotonic()
            self._timer.timer_period_ns = max(1000, int(wait * 1e9))
            self._timer.reset()

    def _tick(self) -> None:
        self._robot.tick()
        self._publish_changes()
        self._publish_time_and_poses()
        self._publish_battery()
        self._publish_scan()
        if self._lockstep:
            self._lockstep.ticked(time.monotonic())

    def _publish_time_and_poses(self) -> None:
        """Publish what changes with every tick, where there are subscribers."""
        robot, clock = self._robot, self._clock_message.clock
        clock.sec, clock.nanosec = divmod(robot.ticks * self._tick_ns, 10**9)
        if self._clock_publisher and self._clock_publisher.get_subscription_count():
            self._clock_publisher.publish(self._clock_message)
        if self._truth_publisher.get_subscription_count():
            self._truth.header.stamp = clock
            set_pose(self._truth.pose, *robot.pose)
            self._truth_publisher.publish(self._truth)
        if self._odom_publisher.get_subscription_count():
            self._odom.header.stamp = clock
            set_pose(self._odom.pose.pose, *robot.odometry)
            twist = self._odom.twist.twist
            twist.linear.x, twist.angular.z = robot.speed, robot.turn_rate
            self._odom_publisher.publish(self._odom)
        located = self._pose_publisher.get_subscription_count() > 0
        transforms = self._transforms if self._transforms and self._transforms.wanted else None
        # Both report one localisation, with one noise.
        pose = robot.localised() if located or transforms and transforms.corrects else robot.pose
        if located:
            self._located.header.stamp = clock
            set_pose(self._located.pose.pose, *pose)
            self._pose_publisher.publish(self._located)
        if transforms:
            transforms.publish(clock, robot.odometry, pose)

    def _publish_battery(self) -> None:
        battery = self._robot.battery
        if battery and self._robot.ticks % self._ticks_per_battery == 0:
            message = self._battery_type(percentage=battery.charge, present=True)
            message.header.stamp = self._clock_message.clock
            self._battery_publisher.publish(message)

    def _publish_scan(self) -> None:
        robot, publisher = self._robot, self._scan_publisher
        if robot.ticks % self._ticks_per_scan or not publisher.get_subscription_count():
            return
        message = self._scan_type(
            angle_max=(_RAYS - 1) * math.tau / _RAYS, angle_increment=math.tau / _RAYS,
            range_max=self._scanner.farthest,
            ranges=self._scanner.scan(robot.pose, robot.closed).astype(np.float32))
        message.header.frame_id = self._scan_frame
        message.header.stamp = self._clock_message.clock
        publisher.publish(message)

    def _publish_changes(self) -> None:
        """Publish bump and doors if they have changed."""
        robot, (bumped, doors) = self._robot, self._published
        if robot.bumped is not bumped:
            self._bump_publisher.publish(Bool(data=robot.bumped))
        if robot.doors != doors:
            self._doors_publisher.publish(String(data=robot.world.described(robot.doors)))
            doors = dict(robot.doors)
        self._published = robot.bumped, doors

    def _draw(self) -> None:
        shown = self._robot.pose, self._published[1]
        if shown != self._drawn:
            self._drawn = shown
            self._marker_publisher.publish(markers(self._robot, self._map_frame))

    def _on_change(self, _: Trigger.Request) -> tuple[bool, str]:
        robot = self._robot
        before, changed = robot.world.settings[robot.setting], robot.change()
        setting = robot.world.settings[robot.setting]
        waiting = [door for door in setting if robot.doors[door] != setting[door]]
        moved = {door: is_open for door, is_open in setting.items() if is_open != before[door]}
        said = robot.world.described(moved) or 'all is as before'
        text = f'setting {robot.setting} is in force: {said}' if changed else (
            'the world has no other setting')
        if waiting:
            text += f'; {", ".join(waiting)} as soon as the robot has left it'
        self._setting_publisher.publish(Int64(data=robot.setting))
        self._publish_changes()
        return self._requests.called('change', 'change', (changed, text))


def set_covariance(covariance: NDArray[np.float64], position: float, angle: float) -> None:
    """
    Write two standard deviations, m and rad, into the 6x6 covariance of a pose or twist.

    Noise below 1 mm or mrad is published as that: many readers take a zero for unknown.
    """
    covariance[0] = covariance[7] = max(position, 1e-3) ** 2
    covariance[35] = max(angle, 1e-3) ** 2


def occupancy_grid(world: World, frame: str) -> OccupancyGrid:
    """
    Return the map, one cell for each of the world's.

    Doors are free, open or not, and so are legs of tables, which are too thin for it.
    """
    message = OccupancyGrid()
    map_ = (world.map if isinstance(world, MapWorld)
            else occupancy(world, world.walls - world.legs))
    message.header.frame_id = frame
    message.info.resolution = map_.resolution
    message.info.width, message.info.height = map_.width, map_.height
    set_pose(message.info.origin, *map_.origin)
    message.data = array('b', map_.pixel_rows.tobytes())
    return message


def markers(robot: DiffDrive, frame: str) -> MarkerArray:
    """Return walls, open and closed doors, and the robot where it really is."""
    world, radius = robot.world, robot.body.radius
    moved = Marker(ns='robot', type=Marker.CYLINDER, scale=Vector3(
        x=2 * radius, y=2 * radius, z=radius))
    heading = Marker(ns='heading', type=Marker.ARROW, scale=Vector3(
        x=radius, y=radius / 3, z=radius / 3))
    for marker, height in ((moved, radius / 2), (heading, radius)):
        set_pose(marker.pose, *robot.pose)
        marker.pose.position.z = height
    still = [
        _cells('walls', world, world.walls, _HEIGHT),
        *(_cells(name, world, (
            cell for door, is_open in robot.doors.items() if is_open is wanted
            for cell in world.doors[door]), height)
          for name, wanted, height in (
              ('open doors', True, 0.02), ('closed doors', False, _HEIGHT)))]
    for marker in still:
        marker.pose.orientation = Quaternion(w=1.0)
    for marker in (*still, moved, heading):
        marker.header.frame_id = frame
        red, green, blue = _COLOURS[marker.ns]
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=0.9)
    return MarkerArray(markers=[*still, moved, heading])


def _cells(name: str, world: World, cells: Iterable[Cell], height: float) -> Marker:
    points = [Point(x=x, y=y, z=height / 2) for x, y in map(world.centre, sorted(cells))]
    return Marker(
        ns=name, type=Marker.CUBE_LIST, points=points,
        action=Marker.ADD if points else Marker.DELETE,    # RViz warns of empty lists
        scale=Vector3(x=world.cell_size, y=world.cell_size, z=height))


def _robot(node: Node, given: Parameters) -> DiffDrive:
    """Make the robot; ParameterError without such a world or MuJoCo, or if it is too small."""
    for name, other in (('graph', given['plan']), ('map', not given['graph'])):
        if given[name] and other:
            raise ParameterError(f"parameter '{name}' is {given[name]!r}, expected '' " + (
                'with plan' if given['graph'] else 'without graph'))
    plan, name = plan_of(node, given), 'graph' if given['graph'] else 'world'
    try:
        if plan is not None:
            world: World = PlanWorld.of(plan)
        elif given['graph']:
            world = GraphWorld.of(read_graph(user_path(given['graph'])), user_path(
                given['map']) if given['map'] else None)
        else:
            world = load(given['world'])
    except FileError as error:
        raise ParameterError(f"parameter '{name}': {error}") from None
    robot = DiffDrive
    if given['physics']:
        from mnm_ros.simulation.physics import PhysicalDrive as robot
    try:
        return robot(world, body_of(given), given['seed'], _battery(given))
    except MissingPackageError as error:
        raise ParameterError(f"parameter 'physics' is True: {error}") from None
    except ValueError as error:
        raise ParameterError(f"parameter 'robot_radius': {error}") from None


def _battery(given: Parameters) -> Battery | None:
    """Return the battery; None if it lasts for ever."""
    idle, drive, dock = (
        given[f'battery_{name}'] / 100 for name in ('idle', 'drive', 'charge'))
    return Battery(idle, drive, dock) if idle or drive else None


def main(args: list[str] | None = None) -> int:
    """Run the node ``diff_drive_sim``."""
    return run('diff_drive_sim', DiffDriveSim, args)


if __name__ == '__main__':
    sys.exit(main())
