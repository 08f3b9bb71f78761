# SPDX-License-Identifier: Apache-2.0

"""Where the pose of a mobile robot can come from, by name. Imports no ROS."""

from __future__ import annotations

from collections.abc import Mapping

TRANSFORMS = 'tf2_msgs/TFMessage'

POSE_SOURCES: Mapping[str, str] = {
    'odom': 'nav_msgs/Odometry',
    'amcl_pose': 'geometry_msgs/PoseWithCovarianceStamped',
    'pose': 'geometry_msgs/PoseWithCovarianceStamped',    # of slam_toolbox
    'tf2': TRANSFORMS,
}
"""The topic of each source and its type; ``tf2`` is on the topics ``tf`` and ``tf_static``."""
