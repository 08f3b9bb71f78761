"""Poses in the plane, from messages and into them."""

from __future__ import annotations

import math

from geometry_msgs.msg import Pose as PoseMessage

from mnm_ros.driving.grid import Pose


def set_pose(message: PoseMessage, x: float, y: float, yaw: float) -> None:
    """Write a pose, m and rad, into a message."""
    message.position.x, message.position.y = x, y
    message.orientation.z, message.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)


def planar(message: PoseMessage) -> Pose | None:
    """Return the pose in the plane, None if it is none."""
    q = message.orientation
    if not 0 < math.hypot(q.x, q.y, q.z, q.w) < math.inf:
        return None
    yaw = math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))
    pose = Pose(message.position.x, message.position.y, yaw)
    return pose if all(map(math.isfinite, pose)) else None
