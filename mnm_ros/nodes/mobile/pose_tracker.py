# SPDX-License-Identifier: Apache-2.0

"""Where a mobile robot is, by its poses, and for how long that can be relied on."""

from __future__ import annotations

import math
import time
from typing import NamedTuple, Protocol

from mnm_ros.driving.continuity import Continuity, PoseReach
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.nodes.mobile.poses import Located, pose_of, StampedPose
from mnm_ros.parameters import Parameters
from rclpy.node import Node


class Whereabouts(Protocol):
    """
    Where a robot is by its poses.

    :ivar cell: of a grid, or the place of a route graph, that it is in; None outside of all.
    :ivar heading: of the four of a grid; 0 where there are none.
    """

    cell: int | None
    heading: int

    @property
    def state(self) -> int:
        """Return the state of the last pose."""

    def update(self, pose: Pose) -> int:
        """Take a pose; return its state."""


class Terrain(NamedTuple):
    """
    The values that follow from the states of a driver.

    :ivar place: where the robot is.
    :ivar home: the state that RESET leads to.
    :ivar size: of the area of a state in m.
    :ivar frame: in which the states are; '' for that of the poses.
    """

    place: Whereabouts
    home: int
    size: float
    frame: str = ''


class PendingAnswer:
    """An answer that waits until a pose says where the robot is."""

    def __init__(self) -> None:
        self._problem: str | None = None    # None while there is no answer
        self._due = -math.inf

    @property
    def waits(self) -> bool:
        """Whether there is one."""
        return self._problem is not None

    def hold(self, problem: str, until: float = -math.inf) -> None:
        """
        Let an answer wait, instead of another one.

        :param problem: that it says; empty for none.
        :param until: the time until which it waits at least.
        """
        self._problem, self._due = problem, until

    def is_due(self, now: float) -> bool:
        """Return whether to answer as soon as it is known where the robot is."""
        return self.waits and now >= self._due

    def drop(self) -> str:
        """Return the problem of the answer, which does not wait any more; empty for none."""
        problem, self._problem = self._problem, None
        return problem or ''


class PoseTracker:
    """
    Keeps the last pose of the robot that is believed, and the state that follows from all those.

    :param node: whose clock dates poses without a stamp.
    :param reach: how far a pose may be from the one before.
    :ivar last: the last believed pose; None before the first one.
    :ivar place: where the robot is by all believed poses.
    :ivar home_state: the state that RESET leads to.
    :ivar reached_home: the pose in which the last way home has led there; None if the robot has
        been moved since.
    """

    def __init__(
            self, node: Node, given: Parameters, terrain: Terrain, reach: PoseReach) -> None:
        self._node = node
        self._given = given
        self.last: StampedPose | None = None
        self.place = terrain.place
        self.home_state = terrain.home
        self.reached_home: Pose | None = None
        self._continuity = Continuity(reach, given['pose_timeout'] or math.inf)
        self._doubted: StampedPose | None = None    # the last pose that was not believed
        self._received_at = 0.0    # when the last pose came, by the clock of the node

    @property
    def fresh(self) -> bool:
        """Whether it is known where the robot is."""
        return self.last is not None and self._continuity.fresh(time.monotonic())

    @property
    def doubt(self) -> str:
        """Why it is not known where the robot is although poses come; '' if it is."""
        return self._continuity.doubt

    @property
    def loss(self) -> str:
        """Return what has been missing for ``pose_timeout``; '' if nothing is."""
        now = time.monotonic()
        if self.last is None or not self._continuity.lost(now):
            return ''
        return 'advance of the stamps of poses' if self._continuity.creeping(now) else 'pose'

    @property
    def at_rest_at_home(self) -> bool:
        """Whether the last way home has led there, and it was not moved or turned since."""
        if not self.reached_home or not self.last or not self.fresh:
            return False
        pose, given = self.last.pose, self._given
        return (self.place.state == self.home_state
                and math.dist(pose[:2], self.reached_home[:2]) <= given['tolerance']
                and abs(wrapped(pose.yaw - self.reached_home.yaw)) <= given['heading_tolerance'])

    def begin(self) -> None:
        """Begin a new command."""
        self.reached_home = None
        self._continuity.begin()

    def take(self, message: Located, received: float | None = None) -> StampedPose | None:
        """
        Return the pose of a message; None if it is invalid or does not say where the robot is.

        :param received: how old its oldest part is, by ``time.monotonic``; None for now.
        """
        pose = pose_of(self._node, message)
        if pose is None:
            return None
        stamp = message.header.stamp
        found = StampedPose(
            stamp.sec + stamp.nanosec * 1e-9 or self._now, pose, message.header.frame_id)
        if self._continuity.take(
                found.time, pose, time.monotonic() if received is None else received):
            return self._believe(found)
        self._doubted = found
        if not self.doubt:
            self._node.get_logger().warning(
                'pose ignored: its stamp is not later than that of the last one',
                throttle_duration_sec=5.0)
        return None

    def settle(self) -> StampedPose | None:
        """Return a pose that was doubted if the robot is silent since, as one at rest may be."""
        if self._doubted is not None and self._continuity.settle(time.monotonic()):
            return self._believe(self._doubted)
        return None

    def _believe(self, pose: StampedPose) -> StampedPose:
        self.last, self._doubted, self._received_at = pose, None, self._now
        self.place.update(pose.pose)
        return pose

    def as_of_now(self, pose: StampedPose) -> StampedPose:
        """Return the last pose with the time that it is now."""
        return pose._replace(time=pose.time + self._now - self._received_at)

    @property
    def _now(self) -> float:
        """Return the time by the clock of the node in s."""
        return self._node.get_clock().now().nanoseconds * 1e-9
