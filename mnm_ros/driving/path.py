# SPDX-License-Identifier: Apache-2.0

"""Ways of several straight parts: corners rounded where there is room, and how far one is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import math
from typing import NamedTuple

from mnm_ros.driving.occupancy import Point
from mnm_ros.driving.pose import wrapped

_ARC = 4           # straight parts of a rounded corner
_SLIGHT = 0.3      # rad; a smaller turn needs no arc
_CUT = 1 / 8       # of an arc's radius, by which a robot that aims as far ahead cuts it
_SHARPEST = 2.5    # rad, that are rounded; half a turn is 3.14

IsFree = Callable[[Sequence[Point]], bool]
"""Whether a way may be driven."""


class SmoothPart(NamedTuple):
    """
    The first part of a way, up to where it has to stop.

    :ivar points: of it, with arcs in place of corners.
    :ivar last: the index of the last point of the way that is on it.
    :ivar room: m before and after the corner that is rounded most sharply.
    """

    points: list[Point]
    last: int
    room: float


def smooth_part(points: Sequence[Point], rooms: Sequence[float], is_free: IsFree) -> SmoothPart:
    """
    Return the first part of a way that can be driven without a stop.

    At a corner that cannot be rounded it ends.

    :param points: the beginning, the corners and the end, in m.
    :param rooms: m before and after a corner, between which it may be rounded, the best first.
    """
    part, least = [points[0]], rooms[0]
    for number in range(1, len(points) - 1):
        before, corner, after = points[number - 1:number + 2]
        found = next(((arc, room) for room in rooms if (
            arc := free_arc(before, corner, after, room, is_free))), None)
        if found is None:
            return SmoothPart([*part, corner], number, least)
        part += found[0]
        least = min(least, found[1])
    return SmoothPart([*part, points[-1]], len(points) - 1, least)


def free_arc(before: Point, corner: Point, after: Point, room: float,
             is_free: IsFree) -> list[Point]:
    """Return ``rounded`` if it may be driven, even by one who cuts it; no points if not."""
    arc, cut = rounded(before, corner, after, room), rounded(before, corner, after, room, _CUT)
    if arc is None or cut is None or len(arc) > 1 and not (is_free(arc) and is_free(cut)):
        return []
    return arc


def rounded(before: Point, corner: Point, after: Point, room: float,
            cut: float = 0.0) -> list[Point] | None:
    """
    Return an arc of a circle in place of a corner, which a slight one is already.

    :param cut: the part of the radius by which it is nearer to the centre.
    :return: None if the corner is too sharp.
    """
    room = min(room, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
    course = math.atan2(corner[1] - before[1], corner[0] - before[0])
    turn = wrapped(math.atan2(after[1] - corner[1], after[0] - corner[0]) - course)
    if abs(turn) < _SLIGHT or not room:
        return [corner]
    if abs(turn) > _SHARPEST:
        return None
    radius = room / math.tan(abs(turn) / 2)
    along, up = math.cos(course), math.sin(course)
    arc = []
    for part in range(_ARC + 1):
        angle = abs(turn) * part / _ARC
        ahead = (1 - cut) * radius * math.sin(angle) - room
        beside = math.copysign(radius * (1 - (1 - cut) * math.cos(angle)), turn)
        arc.append((corner[0] + ahead * along - beside * up,
                    corner[1] + ahead * up + beside * along))
    return arc


class Path:
    """
    How far a robot is on a way; it may be beside it, but does not go back.

    The robot aims at the end of the straight part that it is on, or some way ahead round a corner,
    as pure pursuit does (Coulter 1992, *Implementation of the pure pursuit path tracking
    algorithm*): a jump of the localisation turns a robot that aims far ahead the least.

    :param points: of the way in m.
    :param ahead: how far to aim ahead in m, at least.
    :ivar driven: the m of it that are driven.
    """

    def __init__(self, points: Sequence[Point], ahead: float) -> None:
        self.driven = 0.0
        self._ahead = ahead
        self._points = points
        self._at = [0.0]    # how far each point is
        for start, end in zip(points, points[1:]):
            self._at.append(self._at[-1] + math.dist(start, end))

    @property
    def left(self) -> float:
        """Return the m that are left."""
        return self._at[-1] - self.driven

    @property
    def aim(self) -> Point:
        """Return the point of the way to drive to."""
        return self._point(self._aim)

    @property
    def turns(self) -> bool:
        """Whether it aims round a corner."""
        return self._aim > self._straight

    @property
    def is_last(self) -> bool:
        """Whether it aims at the end."""
        return self._aim >= self._at[-1]

    @property
    def _straight(self) -> float:
        """Return where the straight part ends that the robot is on."""
        return next((at for at in self._at if at > self.driven), self._at[-1])

    @property
    def _aim(self) -> float:
        return max(self.driven + self._ahead, self._straight)

    def lap(self, place: Point) -> None:
        """Record where the robot is: at the nearest point that is not far ahead."""
        near = [self.driven, *self._parts(self.driven, self.driven + self._ahead, place)]
        self.driven = min(near, key=lambda at: math.dist(place, self._point(at)))

    def ahead(self, length: float) -> list[Point]:
        """Return the points from the aim on, over a length in m."""
        begin = self._aim
        return [self.aim, *(point for point, at in zip(self._points, self._at)
                            if begin < at <= begin + length),
                self._point(begin + length)]

    def _parts(self, begin: float, end: float, place: Point) -> Iterator[float]:
        """Yield, of each straight part between two lengths, where it is nearest to a place."""
        for number, (start, stop) in enumerate(zip(self._at, self._at[1:])):
            if stop >= begin and start <= end and stop > start:
                (x, y), there = self._points[number], self._points[number + 1]
                along = ((place[0] - x) * (there[0] - x) + (place[1] - y) * (there[1] - y)) / (
                    stop - start)
                yield min(max(start + along, start, begin), stop, end)

    def _point(self, at: float) -> Point:
        for number, (start, stop) in enumerate(zip(self._at, self._at[1:])):
            if at < stop:
                part = (at - start) / (stop - start)
                (x, y), there = self._points[number], self._points[number + 1]
                return x + part * (there[0] - x), y + part * (there[1] - y)
        return self._points[-1]
