# SPDX-License-Identifier: Apache-2.0

"""Poses in the plane, from messages and into them, and as transforms on ``tf``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
import math
import time
from typing import NamedTuple, Union

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseWithCovarianceStamped, TransformStamped
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.driving.grid import FARTHEST
from mnm_ros.driving.pose import Pose, POSE_SOURCES, Transform
from mnm_ros.nodes.common.heard_frames import HeardFrames, TFMessage, TOPIC
from mnm_ros.parameters import Parameters
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

# Best effort matches every publisher. A pose that has waited behind a newer one is worthless.
_POSE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

Located = Union[Odometry, PoseWithCovarianceStamped]


class StampedPose(NamedTuple):
    """Where the robot was when, in s by the stamps of the poses, and in which frame."""

    time: float
    pose: Pose
    frame: str


def set_pose(message: PoseMessage, x: float, y: float, yaw: float) -> None:
    """Write a pose, m and rad, into a message."""
    message.position.x, message.position.y = x, y
    message.orientation.z, message.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)


def planar(message: PoseMessage) -> Pose | None:
    """Return the pose in the plane; None if its position is no place, or it has no rotation."""
    if (yaw := messages.yaw_of(message.orientation)) is None:
        return None
    pose = Pose(message.position.x, message.position.y, yaw)
    return pose if all(abs(value) <= FARTHEST for value in pose) else None


def pose_of(node: Node, message: Located) -> Pose | None:
    """Return the pose of a message in the plane; None, and a warning, if it is none."""
    pose = planar(message.pose.pose)
    if pose is None:
        node.get_logger().warning(
            f'pose ignored: expected coordinates within {FARTHEST:g} m and a quaternion that is '
            'not zero', throttle_duration_sec=5.0)
    return pose


class PoseTopic:
    """
    The topic on which a robot publishes its pose.

    :param source: the topic, one of those in POSE_SOURCES.
    :param take: called with each message.
    """

    def __init__(self, node: Node, source: str, take: Callable[[Located], None]) -> None:
        self._node = node
        package, _, kind = POSE_SOURCES[source].partition('/')
        self._kind = getattr(import_module(f'{package}.msg'), kind)
        self._take = take
        self._received = self._asked = False
        self.name: str = node.create_subscription(
            self._kind, source, self._on_pose, _POSE).topic_name

    def ask_for_latched(self) -> None:
        """
        Ask for a latched pose unless one has come; to be called now and then.

        AMCL publishes nothing while the robot is at rest.
        """
        if not self._received and not self._asked and any(
                found.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
                for found in self._node.get_publishers_info_by_topic(self.name)):
            self._asked = True
            self._node.create_subscription(
                self._kind, self.name, self._on_latched, messages.LATCHED)

    def mount_of(self, frame: str) -> Transform | None:
        """Return None: it is not known where a frame is on the robot."""
        return None

    def _on_pose(self, message: Located) -> None:
        self._received = True
        self._take(message)

    def _on_latched(self, message: Located) -> None:
        if not self._received:
            self._on_pose(message)


def check_frames(given: Parameters, *names: str) -> None:
    """Raise ParameterError unless the frames that parameters name are distinct."""
    seen: dict[str, str] = {}
    for name in names:
        frame: str = given[name]
        if not frame or frame.startswith('/'):
            raise ParameterError(f"parameter '{name}' is {frame!r}, expected the name of a frame, "
                                 'without a slash before it')
        if frame in seen:
            raise ParameterError(f"parameter '{name}' is {frame!r}, expected another frame than "
                                 f"that of '{seen[frame]}'")
        seen[frame] = name


class Broadcaster:
    """
    Broadcasts where a robot is: by its wheels, and as a localisation corrects that.

    Without the package tf2_msgs it says so, and broadcasts nothing.

    :param map_frame: '' if the correction is left to others.
    :param odom_frame: in which the wheels count.
    :param base_frame: of the robot.
    """

    def __init__(self, node: Node, map_frame: str, odom_frame: str, base_frame: str) -> None:
        self.corrects = bool(map_frame)
        self._by_wheels, self._correction = TransformStamped(), TransformStamped()
        self._by_wheels.header.frame_id, self._by_wheels.child_frame_id = odom_frame, base_frame
        self._correction.header.frame_id, self._correction.child_frame_id = map_frame, odom_frame
        self._publisher = None
        if TFMessage is None:
            node.get_logger().info(
                'no transforms are broadcast: the package tf2_msgs is not installed')
        else:
            self._publisher = node.create_publisher(TFMessage, TOPIC, messages.TRANSFORMS)

    @property
    def wanted(self) -> bool:
        """Whether any node listens."""
        return self._publisher is not None and self._publisher.get_subscription_count() > 0

    def publish(self, stamp: Time, odometry: Pose, located: Pose) -> None:
        """Broadcast the pose by the wheels, and the correction that leads to ``located``."""
        if self._publisher is None:
            return
        by_wheels = Transform.planar(odometry)
        _set(self._by_wheels, stamp, by_wheels)
        transforms = [self._by_wheels]
        if self.corrects:
            _set(self._correction, stamp, Transform.planar(located).then(by_wheels.inverse))
            transforms.append(self._correction)
        self._publisher.publish(TFMessage(transforms=transforms))


class PoseTransforms:
    """
    The pose of a robot by the transforms from one frame to another.

    :param map_frame: in which the pose is.
    :param base_frame: of the robot.
    :param timeout: s, after which a link that may change has to be heard again.
    :param take: called with each pose, and the time by ``time.monotonic`` when the link was heard
        that has been silent for longest.
    :raises ParameterError: if the package tf2_msgs is not installed.
    """

    def __init__(self, node: Node, map_frame: str, base_frame: str, timeout: float,
                 take: Callable[[PoseWithCovarianceStamped, float], None]) -> None:
        if TFMessage is None:
            raise ParameterError(
                "parameter 'pose_source' is 'tf2', which needs the package tf2_msgs; expected "
                'that it is installed, or the topic of a pose')
        self._node = node
        self._map_frame, self._base_frame = map_frame, base_frame
        self._timeout = timeout
        self._take = take
        self._last: int | None = None    # the stamp of the last pose
        self._frames = HeardFrames(node, lambda: self._look(time.monotonic()))
        self.name = f"{self._frames.topic} from '{map_frame}' to '{base_frame}'"

    def ask_for_latched(self) -> None:
        """Do nothing: what never changes is latched anyway."""

    def mount_of(self, frame: str) -> Transform | None:
        """Return where a frame is on the robot; None if that was not heard."""
        found = self._frames.find(frame, self._base_frame)
        return found and found.transform

    def _look(self, now: float) -> None:
        """Pass a pose on if there is a new one, and no link has been silent for too long."""
        found = self._frames.find(self._base_frame, self._map_frame)
        if found is None or found.stamp is not None and found.stamp == self._last:
            return
        if now > found.heard + self._timeout:
            self._node.get_logger().warning(
                f'no pose on {self.name}: one of the transforms on the way has not been '
                f'broadcast for {self._timeout:g} s', throttle_duration_sec=5.0)
            return
        self._last = found.stamp
        message = PoseWithCovarianceStamped()
        message.header.frame_id = self._map_frame
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(found.stamp or 0, 10**9)
        pose, transform = message.pose.pose, found.transform
        pose.position.x, pose.position.y, pose.position.z = transform[:3]
        turn = pose.orientation
        turn.x, turn.y, turn.z, turn.w = transform[3:]
        self._take(message, min(found.heard, now))


def _set(message: TransformStamped, stamp: Time, transform: Transform) -> None:
    message.header.stamp = stamp
    place, turn = message.transform.translation, message.transform.rotation
    place.x, place.y, place.z = transform[:3]
    turn.x, turn.y, turn.z, turn.w = transform[3:]
