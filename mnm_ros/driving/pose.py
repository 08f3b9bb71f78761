# SPDX-License-Identifier: Apache-2.0

"""Poses in the plane, and where that of a mobile robot can come from. Imports no ROS."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import NamedTuple

TRANSFORMS = 'tf2_msgs/TFMessage'

POSE_SOURCES: Mapping[str, str] = {
    'odom': 'nav_msgs/Odometry',
    'amcl_pose': 'geometry_msgs/PoseWithCovarianceStamped',
    'pose': 'geometry_msgs/PoseWithCovarianceStamped',    # of slam_toolbox
    'tf2': TRANSFORMS,
}
"""The topic of each source and its type; ``tf2`` is on the topics ``tf`` and ``tf_static``."""


class Pose(NamedTuple):
    """The place of a robot: x, y in m; yaw in [-pi, pi] rad, counter-clockwise from x."""

    x: float
    y: float
    yaw: float

    def moved(self, distance: float, turn: float) -> Pose:
        """Return the pose after an arc: ``distance`` in m, on which the yaw grows by ``turn``."""
        half = turn / 2
        chord = distance * (math.sin(half) / half if half else 1.0)
        return Pose(
            self.x + chord * math.cos(self.yaw + half),
            self.y + chord * math.sin(self.yaw + half), wrapped(self.yaw + turn))


def wrapped(angle: float) -> float:
    """Return the same angle in rad, in [-pi, pi]."""
    return math.remainder(angle, math.tau)
