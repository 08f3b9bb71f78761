# SPDX-License-Identifier: Apache-2.0

"""The obstacles that a robot perceives: scans ahead of contact, and bumpers of several makes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from importlib import import_module
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.driving.pose import Pose, Transform
from mnm_ros.driving.sight import (
    BACKED_UP,
    backed_up,
    BUMP_TYPES,
    hazards,
    presses,
    seen_points,
    Sight,
    touches,
)
from mnm_ros.nodes.mobile.poses import StampedPose
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

_SENSOR = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_POSES = 40    # that are kept, for a scan that is older than the last of them

MountOf = Callable[[str], 'Transform | None']
"""From a frame to where it is on the robot, if that is known."""


class Eyes:
    """
    The topic ``scan``, seen from where the robot was at that time.

    :param mount: of the scanner on the robot, where ``mount_of`` does not know its frame.
    :param timeout: s after which a scan is no scan any more.
    """

    def __init__(self, node: Node, sight: Sight, mount: Pose, mount_of: MountOf,
                 timeout: float) -> None:
        self._sight = sight
        self._mount = Transform.planar(mount)
        self._mount_of = mount_of
        self._timeout = timeout
        self._poses: deque[StampedPose] = deque(maxlen=_POSES)
        self._received = 0.0
        self.room, self.aside = sight.room, sight.aside
        kind = import_module('sensor_msgs.msg').LaserScan    # without eyes it is not needed
        self.name: str = node.create_subscription(
            kind, 'scan', self._on_scan, _SENSOR).topic_name

    @property
    def fresh(self) -> bool:
        """Whether there was a scan a short while ago."""
        return bool(self._received) and time.monotonic() <= self._received + self._timeout

    def locate(self, pose: StampedPose) -> None:
        """Record where the robot is."""
        self._poses.append(pose)

    def _on_scan(self, message: Any) -> None:
        if not self._poses:
            return
        stamp = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        # The last one of those that are equally near, as a scan without a stamp is of now.
        seen_from = min(reversed(self._poses), key=lambda pose: abs(pose.time - stamp)) if (
            stamp) else self._poses[-1]
        mount = self._mount_of(message.header.frame_id) or self._mount
        self._sight.look(seen_points(
            message.ranges, message.angle_min, message.angle_increment,
            (message.range_min, message.range_max), mount), seen_from.pose)
        self._received = time.monotonic()


_BUMPERS: Mapping[str, tuple[Callable[[Any], bool], QoSProfile]] = dict(zip(BUMP_TYPES, (
    (touches, messages.STEP), (hazards, _SENSOR), (presses, _SENSOR))))


def hear_bumps(node: Node, kind: str, bumped: Callable[[], None],
               warn: Callable[[str], None]) -> None:
    """
    Call ``bumped`` at each contact that is published on the topic ``bump``.

    :param warn: called with each hazard that keeps the robot where it is, once.
    :raises ParameterError: if the package of that type is not installed.
    """
    package, _, name = kind.partition('/')
    try:
        of_kind = getattr(import_module(f'{package}.msg'), name)
    except ImportError:
        raise ParameterError(
            f"parameter 'bump_type' is '{kind}', which needs the package {package}; expected that "
            'it is installed, or std_msgs/Bool') from None
    means, profile = _BUMPERS[kind]
    limited = False

    def hear(message: Any) -> None:
        nonlocal limited
        if means(message):
            bumped()
        before, limited = limited, means is hazards and backed_up(message)
        if limited and not before:
            node.get_logger().warning(BACKED_UP)
            warn(BACKED_UP)
    node.create_subscription(of_kind, 'bump', hear, profile)
