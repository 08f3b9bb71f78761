# SPDX-License-Identifier: Apache-2.0

"""Poses in the plane, the topics of a robot's pose, and frames with transforms between them."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import NamedTuple

_MOST = 10_000    # frames; no robot has as many, but any node may send names

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

    def ahead(self, point: tuple[float, float]) -> float:
        """Return how far ahead a point lies, in m; below 0 behind the robot."""
        x, y = point
        return (x - self.x) * math.cos(self.yaw) + (y - self.y) * math.sin(self.yaw)

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


class Transform(NamedTuple):
    """The place and the rotation of a frame in another one: m, and a unit quaternion."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    qx: float = 0.0
    qy: float = 0.0
    qz: float = 0.0
    qw: float = 1.0

    @classmethod
    def of(cls, *numbers: float) -> Transform | None:
        """
        Return the transform of numbers as above, whatever length the quaternion has.

        None if they are not finite, or the quaternion is zero.
        """
        length = math.hypot(*numbers[3:])
        if not (all(map(math.isfinite, numbers)) and 0 < length < math.inf):
            return None
        return cls(*numbers[:3], *(part / length for part in numbers[3:]))

    @classmethod
    def planar(cls, pose: Pose) -> Transform:
        """Return the transform to a frame that has this pose."""
        return cls(pose.x, pose.y, qz=math.sin(pose.yaw / 2), qw=math.cos(pose.yaw / 2))

    @property
    def inverse(self) -> Transform:
        """Return the transform the other way."""
        back = Transform(0.0, 0.0, 0.0, -self.qx, -self.qy, -self.qz, self.qw)
        x, y, z = back._rotated(-self.x, -self.y, -self.z)
        return back._replace(x=x, y=y, z=z)

    def then(self, other: Transform) -> Transform:
        """Return the transform to a frame that has the transform ``other`` in this one."""
        x, y, z = self._rotated(other.x, other.y, other.z)
        ax, ay, az, aw = self[3:]
        bx, by, bz, bw = other[3:]
        return Transform(
            self.x + x, self.y + y, self.z + z,
            aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz)

    def _rotated(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Return a vector of the frame in the directions of the other one."""
        qx, qy, qz, qw = self[3:]
        tx, ty, tz = 2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)
        return (x + qw * tx + qy * tz - qz * ty, y + qw * ty + qz * tx - qx * tz,
                z + qw * tz + qx * ty - qy * tx)


class FrameLink(NamedTuple):
    """
    The last transform of a frame.

    :ivar parent: the frame that the transform is in.
    :ivar stamp: ns; None for one that never changes.
    :ivar heard: when, in s.
    """

    parent: str
    transform: Transform
    stamp: int | None
    heard: float


class FrameTransform(NamedTuple):
    """
    Where a frame is in another one.

    :ivar stamp: that of the first link from the frame on that may change, in ns; None if there is
        no such link.
    :ivar heard: when that link was last heard whose last word is the longest ago, in s.
    """

    transform: Transform
    stamp: int | None
    heard: float


class Frames:
    """
    The last transform of each frame, and what follows from them.

    Every link counts as it was last heard. tf2 goes back to the latest time that all links share,
    and so a slow localisation would delay the pose by which a robot is driven.
    """

    def __init__(self) -> None:
        self._links: dict[str, FrameLink] = {}

    def hear(self, frame: str, link: FrameLink) -> None:
        """Take the transform of a frame in its parent."""
        if frame in self._links or len(self._links) < _MOST:
            self._links[frame] = link

    def find(self, frame: str, reference: str) -> FrameTransform | None:
        """Return where ``frame`` is in ``reference``; None if they are not connected."""
        up, down = self._path(frame), self._path(reference)
        common = next((name for name in up if name in down), None)
        if common is None:
            return None
        links = [self._links[name] for name in up[:up.index(common)]]
        other = [self._links[name] for name in down[:down.index(common)]]
        moving = [link for link in (*links, *other) if link.stamp is not None]
        return FrameTransform(
            _product(other).inverse.then(_product(links)),
            moving[0].stamp if moving else None,
            min((link.heard for link in moving), default=math.inf))

    def _path(self, frame: str) -> list[str]:
        """Return a frame, its parent, and so on, up to the root."""
        path = {frame: None}    # ordered
        while (link := self._links.get(frame)) and link.parent not in path:
            frame = link.parent
            path[frame] = None
        return [*path]


def _product(links: list[FrameLink]) -> Transform:
    """Return the transform along links from a frame to its ancestor, as seen from there."""
    product = Transform()
    for link in links:
        product = link.transform.then(product)
    return product
