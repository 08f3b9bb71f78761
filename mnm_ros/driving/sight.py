# SPDX-License-Identifier: Apache-2.0

"""
The obstacles that a laser scanner sees or a map shows, and what bumpers say.

How far a robot may drive before contact, and how it keeps from what is beside its way.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

from mnm_ros.driving.occupancy import Map, Point, Points
from mnm_ros.driving.pose import Pose, Transform
import numpy as np
from numpy.typing import ArrayLike, NDArray

BUMP_TYPES = ('std_msgs/Bool', 'irobot_create_msgs/HazardDetectionVector',
              'kobuki_ros_interfaces/BumperEvent')
"""The messages of bumpers."""

NO_REVERSE = (BUMP_TYPES[1],)
"""The bumpers of bases that stand still after some decimetres backwards."""

BACKED_UP = ('BACKUP_LIMIT (HazardDetection type 0): the base reverses no further until it has '
             'driven forwards')
"""Why the base of an iRobot stands still, for people."""

_FEWEST = 2     # points that are something; a single one may be noise
_EDGE = 0.6     # of the radius; obstacles farther aside may be passed
_BESIDE = 0.1   # m, that a robot keeps from the walls of a map beside its way, if it can
_NEAR = 2.0     # m of the way, on which it does
_OWN = 0.9      # of the radius, within which a scanner sees the robot itself


def seen_points(ranges: ArrayLike, first: float, step: float, within: tuple[float, float],
                mount: Transform) -> Points:
    """
    Return the points that a scan shows, in the frame of the robot.

    :param ranges: in m; those that are not ``within`` are none.
    :param first, step: the angle of the first one, and from one to the next, in rad.
    :param mount: of the scanner on the robot, which may hang upside down.
    """
    far = np.asarray(ranges, np.float64)
    valid, = np.nonzero((far >= within[0]) & (far <= within[1]))    # false for NaN
    angles, far = first + step * valid, far[valid]
    right, up = (mount.then(Transform(x=x, y=1.0 - x)) for x in (1.0, 0.0))
    return mount[:2] + np.outer(far * np.cos(angles), np.subtract(right[:2], mount[:2])) + (
        np.outer(far * np.sin(angles), np.subtract(up[:2], mount[:2])))


def touches(message: Any) -> bool:
    """Return whether a std_msgs/Bool is contact."""
    return bool(message.data)


def presses(message: Any) -> bool:
    """Return whether a kobuki_ros_interfaces/BumperEvent is contact."""
    return bool(message.state == message.PRESSED)


def hazards(message: Any) -> bool:
    """Return whether an irobot_create_msgs/HazardDetectionVector has what ends a way."""
    return any(each.type in (each.BUMP, each.CLIFF, each.STALL, each.WHEEL_DROP)
               for each in message.detections)


def backed_up(message: Any) -> bool:
    """Return whether an irobot_create_msgs/HazardDetectionVector has the backup limit."""
    return any(each.type == each.BACKUP_LIMIT for each in message.detections)


class Sight:
    """
    The last scan, as points in the frame of the poses.

    :param radius: of the robot in m.
    :param margin: in m, that it keeps from what stands in its way.
    """

    def __init__(self, radius: float, margin: float) -> None:
        self._radius = radius
        self._margin = margin
        self._points: Points = np.empty((0, 2))

    def look(self, points: Points, pose: Pose) -> None:
        """Take the points of a scan in the frame of the robot, and its pose at that time."""
        points = points[np.hypot(*points.T) > _OWN * self._radius]
        cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
        self._points = pose[:2] + points @ np.array([[cos, sin], [-sin, cos]])

    def room(self, way: Sequence[Point]) -> float:
        """
        Return how far the robot may drive along straight ways, one after the other, in m.

        It ends a margin before contact, and is infinite if nothing is in the way. What it leaves
        behind, or passes beside, is not.
        """
        before, nearest = 0.0, np.full(len(self._points), math.inf)
        for start, end in zip(way, way[1:]):
            length = math.dist(start, end)
            if length:
                nearest = np.minimum(nearest, before + self._contact(start, end, length))
            before += length
        if len(nearest) < _FEWEST:
            return math.inf
        return float(np.partition(nearest, _FEWEST - 1)[_FEWEST - 1]) - self._margin

    def aside(self, start: Point, end: Point) -> float:
        """Return ``aside`` of what was seen."""
        return aside(self._points, start, end, self._radius, self._margin)

    def _contact(self, start: Point, end: Point, length: float) -> NDArray[np.float64]:
        """Return after which part of a way in m each point is touched; infinite for never."""
        direction = np.subtract(end, start) / length
        seen = self._points - start
        along = seen @ direction
        beside = seen @ (-direction[1], direction[0])
        room = self._radius**2 - beside**2
        touched = along - np.sqrt(np.maximum(room, 0.0))
        in_the_way = (room > 0) & (along > 0) & (touched <= length)
        return np.where(in_the_way, touched, math.inf)


class MapSight:
    """
    The walls of a map beside the way of a robot that sees nothing.

    :param radius: of the robot in m.
    """

    def __init__(self, map_: Map, radius: float) -> None:
        self._map = map_
        self._radius = radius

    def aside(self, start: Point, end: Point) -> float:
        """Return ``aside`` of the walls on the next metres of a way."""
        length = math.dist(start, end)
        if length > _NEAR:
            end = (start[0] + (end[0] - start[0]) * _NEAR / length,
                   start[1] + (end[1] - start[1]) * _NEAR / length)
        walls = self._map.corners(start, min(length, _NEAR) + self._radius + _BESIDE)
        return aside(walls, start, end, self._radius, _BESIDE)


def aside(points: Points, start: Point, end: Point, radius: float, margin: float) -> float:
    """
    Return how far to the left of a straight way the middle of its free strip is, in m.

    Only within the margin, by which a pose may be wrong: it does not lead round an obstacle.
    """
    length = math.dist(start, end)
    if not length:
        return 0.0
    direction = np.subtract(end, start) / length
    seen = points - start
    along = seen @ direction
    beside = seen @ (-direction[1], direction[0])
    far, reach = np.abs(beside), radius + margin
    near = (along > -radius / 2) & (along < length) & (far < reach) & (far > _EDGE * radius)
    left, right = (
        float(np.clip(np.min(far[near & side], initial=reach) - radius, -margin, margin))
        for side in (beside > 0, beside < 0))
    return (left - right) / 2
