# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Where a mobile robot is, by its poses, and for how long that can be relied on."""

from __future__ import annotations

import math
import time

from mnm_ros.driving.grid import Place
from mnm_ros.geometry import Pose, wrapped
from mnm_ros.nodes.mobile.driver_setup import grid_of, home_of
from mnm_ros.nodes.mobile.poses import Located, planar, StampedPose
from mnm_ros.parameters import Parameters
from rclpy.node import Node


class PoseTracker:
    """
    Keeps the last pose of the robot, and the state that follows from all poses.

    :param node: whose clock dates poses without a stamp.
    :param given: the parameters of ``grid_driver``.
    :ivar last: the last pose; None before the first one.
    :ivar place: the cell and the heading of the robot.
    :ivar home_state: the state of the home pose.
    :ivar reached_home: the pose in which the last way home has led there; None if the robot has
        been moved since.
    :ivar timeout: s, after which a pose no longer says where the robot is.
    """

    def __init__(self, node: Node, given: Parameters) -> None:
        self._node = node
        self._given = given
        self.last: StampedPose | None = None
        self.place = Place(grid_of(given), given['hysteresis'])
        self.home_state = grid_of(given).state_at(home_of(given))
        self.reached_home: Pose | None = None
        self.timeout: float = given['pose_timeout'] or math.inf
        self._received = -math.inf    # when the last pose came, by the steady clock,
        self._received_at = 0.0       # and by the clock of the node, which may be simulated

    @property
    def fresh(self) -> bool:
        """Whether it is known where the robot is."""
        return self.last is not None and time.monotonic() <= self._received + self.timeout

    @property
    def at_rest_at_home(self) -> bool:
        """Whether the last way home has led there, and nobody has moved or turned it since."""
        if not self.reached_home or not self.last or not self.fresh:
            return False
        pose, given = self.last.pose, self._given
        return (self.place.state == self.home_state
                and math.dist(pose[:2], self.reached_home[:2]) <= given['tolerance']
                and abs(wrapped(pose.yaw - self.reached_home.yaw)) <= given['heading_tolerance'])

    def take(self, message: Located, received: float | None = None) -> StampedPose | None:
        """
        Return the pose of a message; None, with a warning, if it is invalid or not new.

        :param received: how old its oldest part is, by ``time.monotonic``; None for now.
        """
        pose = planar(message.pose.pose)
        if pose is None:
            self._node.get_logger().warning(
                'pose ignored: expected finite numbers and a quaternion that is not zero',
                throttle_duration_sec=5.0)
            return None
        stamp = message.header.stamp
        now = stamp.sec + stamp.nanosec * 1e-9 or self._now
        if self.last and now == self.last.time:
            self._node.get_logger().warning(
                'pose ignored: its stamp is that of the last one', throttle_duration_sec=5.0)
            return None
        self.last = StampedPose(now, pose, message.header.frame_id)
        self._received = time.monotonic() if received is None else received
        self._received_at = self._now
        self.place.update(pose)
        return self.last

    def as_of_now(self, pose: StampedPose) -> StampedPose:
        """Return the last pose with the time that it is now."""
        return pose._replace(time=pose.time + self._now - self._received_at)

    @property
    def _now(self) -> float:
        """The time by the clock of the node in s."""
        return self._node.get_clock().now().nanoseconds * 1e-9
