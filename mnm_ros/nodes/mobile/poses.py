# SPDX-License-Identifier: Apache-2.0

"""Poses in the plane, from messages and into them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
import math
from typing import NamedTuple, Union

from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseWithCovarianceStamped
from mnm_ros import messages
from mnm_ros.driving.grid import FARTHEST
from mnm_ros.driving.pose import Pose, POSE_SOURCES
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

# Best effort matches every publisher. A pose that has waited behind a newer one is worthless.
_POSE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_SHORTEST = 1e-3    # length of a quaternion; what is shorter, or longer than 1000, is no rotation

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
    q = message.orientation
    if not _SHORTEST < math.hypot(q.x, q.y, q.z, q.w) < 1 / _SHORTEST:
        return None
    yaw = math.atan2(2 * (q.w * q.z + q.x * q.y),    # of any length
                     q.w * q.w + q.x * q.x - q.y * q.y - q.z * q.z)
    pose = Pose(message.position.x, message.position.y, yaw)
    return pose if all(abs(value) <= FARTHEST for value in pose) else None


class PoseTopic:
    """
    The topic on which a robot publishes its pose.

    :param node: subscribes to it.
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

    def _on_pose(self, message: Located) -> None:
        self._received = True
        self._take(message)

    def _on_latched(self, message: Located) -> None:
        if not self._received:
            self._on_pose(message)
