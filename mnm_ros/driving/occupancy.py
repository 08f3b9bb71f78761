# SPDX-License-Identifier: Apache-2.0

"""Occupancy maps: whether a robot that drives straight on is free, or drives at a wall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
import math
from typing import Any

from mnm_ros.driving.pose import Pose
import numpy as np
from numpy.typing import ArrayLike, NDArray

OCCUPIED = 50    # of 100; a known pixel of a map is free if its value is less

Point = tuple[float, float]

Points = NDArray[np.float64]
"""One point a row."""

_AT_ONCE = 2**17    # pixels that are examined together, which bounds what that needs of memory
_BLOCK = 2**20      # the same, of what is examined row by row

_NEARER = 1 - 1e-9    # what is less than this part of a distance is nearer, not only rounded


@dataclass(frozen=True)
class Map:
    """
    An occupancy map: ``height`` rows of ``width`` pixels 0 .. 100, or -1 for unknown.

    :ivar resolution: the side of a pixel in m.
    :ivar origin: the pose of the lower left corner, where the values begin.
    """

    resolution: float
    width: int
    height: int
    origin: Pose
    values: Sequence[int] | NDArray[np.int8]

    def is_free(self, starts: ArrayLike, ends: ArrayLike, radius: float) -> NDArray[np.bool_]:
        """
        Whether all that a robot passes on straight ways is on the map and known to be free.

        :param starts, ends: of the ways in m, shape (ways, 2).
        :param radius: of the robot in m; with 0 the lines themselves are examined.
        :return: shape (ways,).
        """
        first, last, reach = self.pixels(starts), self.pixels(ends), radius / self.resolution
        low, high = _box(first, last, reach)
        free: NDArray[np.bool_] = np.all((low >= 0) & (high < (self.width, self.height)), axis=1)
        on_map, = np.nonzero(free)
        columns, rows = (high - low)[on_map].max(axis=0, initial=0).astype(np.int64) + 1
        offsets = np.stack(np.divmod(np.arange(columns * rows), rows), axis=1)
        size = max(1, _AT_ONCE // len(offsets))
        for ways in (on_map[at:at + size] for at in range(0, len(on_map), size)):
            pixels = low[ways, np.newaxis].astype(np.int64) + offsets
            passed = (pixels <= high[ways, np.newaxis]).all(axis=2)
            pixels = np.minimum(pixels, (self.width - 1, self.height - 1))
            near, which = np.nonzero(passed & self._closed[pixels[..., 1], pixels[..., 0]])
            way = ways[near]
            free[way[_apart(pixels[near, which], first[way], last[way]) <= reach]] = False
        return free

    def leads_to_a_wall(self, start: Point, end: Point, radius: float) -> bool:
        """
        Whether a straight way comes nearer to what is occupied than the robot is and may be.

        Anything goes where nothing is known. A robot that touches a wall may leave it.

        :param start, end: x and y in m.
        :param radius: how near a robot may come in m.
        """
        first, last = self.pixels([start]), self.pixels([end])
        reach = radius / self.resolution
        low, high = (np.clip(corner[0], 0, (self.width, self.height)).astype(np.int64)
                     for corner in _box(first, last, reach))
        walls = self.pixel_rows[low[1]:high[1] + 1, low[0]:high[0] + 1] >= OCCUPIED
        pixels = np.argwhere(walls)[:, ::-1] + low
        if not len(pixels):
            return False
        nearest = float(_apart(pixels, first, last).min())
        before = float(_apart(pixels, first, first).min())
        return nearest <= 0 or nearest < min(reach, before) * _NEARER

    def way_in(self, start: Point, ends: Sequence[Point], radius: float) -> int | None:
        """
        Return the index of the point to which a robot outside of all cells or places drives.

        It is the first one to which the straight way is known to be free, and in no keep-out. If
        there is none, it is the first one on the way to which no wall is touched. Otherwise it is
        the first one on the way to which no wall is driven through; None if there is none.
        """
        free = self.is_free([start] * len(ends), ends, radius) if len(ends) else np.zeros(0)
        if free.any():
            return int(np.argmax(free))
        return next((index for reach in (radius, 0.0) for index, end in enumerate(ends)
                     if not self.leads_to_a_wall(start, end, reach)), None)

    def corners(self, place: Point, reach: float) -> Points:
        """Return the corners in m of the occupied pixels in a square of twice the reach in m."""
        centre, pixels = self.pixels([place])[0], reach / self.resolution
        low, high = (np.clip(np.floor(centre + side), 0, (self.width, self.height)).astype(
            np.int64) for side in (-pixels, pixels + 1))
        walls = self.pixel_rows[low[1]:high[1], low[0]:high[0]] >= OCCUPIED
        found = np.argwhere(walls)[:, ::-1] + low
        return self.points(np.concatenate([found + corner for corner in product((0, 1), (0, 1))]))

    @cached_property
    def pixel_rows(self) -> NDArray[np.int8]:
        """Return the values, shape (height, width), the lowest row first."""
        return np.asarray(self.values, np.int8).reshape(self.height, self.width)

    @cached_property
    def _closed(self) -> NDArray[np.bool_]:
        """Whether each pixel is not known to be free."""
        return (self.pixel_rows < 0) | (self.pixel_rows >= OCCUPIED)

    def pixels(self, points: ArrayLike) -> Points:
        """Return points on the map: columns and rows from its corner, shape (points, 2)."""
        right, up = (np.asarray(points, np.float64) - self.origin[:2]).T / self.resolution
        cos, sin = math.cos(self.origin.yaw), math.sin(self.origin.yaw)
        return np.stack([cos * right + sin * up, cos * up - sin * right], axis=1)

    def points(self, pixels: ArrayLike) -> Points:
        """Return where columns and rows from the corner of the map are in m."""
        right, up = np.asarray(pixels, np.float64).T * self.resolution
        cos, sin = math.cos(self.origin.yaw), math.sin(self.origin.yaw)
        return np.stack([self.origin.x + (cos * right - sin * up),
                         self.origin.y + (sin * right + cos * up)], axis=1)


def blocks(height: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield the first row of each block of a large table, and the one after its last."""
    rows = max(1, _BLOCK // max(width, 1))
    yield from ((first, min(first + rows, height)) for first in range(0, height, rows))


def _box(starts: Points, ends: Points, reach: float) -> tuple[Points, Points]:
    """Return the first and the last pixel of what straight ways pass, in columns and rows."""
    return (np.floor(np.minimum(starts, ends) - reach), np.floor(np.maximum(starts, ends) + reach))


def _apart(pixels: NDArray[Any], starts: Points, ends: Points) -> NDArray[np.float64]:
    """
    Return how far pixels are from straight lines; 0 where they touch.

    :param pixels: the lower left corners of squares with the side 1.
    """
    apart = np.minimum(_beside(pixels, starts), _beside(pixels, ends))
    way = ends - starts
    squared = np.maximum((way**2).sum(axis=1), 1e-300)
    sides = []
    for corner in product((0, 1), (0, 1)):
        to_corner = pixels + corner - starts
        part = np.clip((to_corner * way).sum(axis=1) / squared, 0, 1)
        apart = np.minimum(apart, np.hypot(*(to_corner - part[:, np.newaxis] * way).T))
        sides.append(to_corner[:, 0] * way[:, 1] - to_corner[:, 1] * way[:, 0])
    crossing = (np.min(sides, axis=0) < 0) & (np.max(sides, axis=0) > 0) & (
        (np.minimum(starts, ends) < pixels + 1) & (np.maximum(starts, ends) > pixels)).all(axis=1)
    return np.where(crossing, 0.0, apart)


def _beside(pixels: NDArray[Any], points: Points) -> NDArray[np.float64]:
    """Return how far points are outside of squares with the side 1."""
    beside = np.maximum(np.maximum(pixels - points, points - pixels - 1), 0.0)
    return np.asarray(np.hypot(beside[:, 0], beside[:, 1]))
