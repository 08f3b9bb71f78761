# SPDX-License-Identifier: Apache-2.0

"""Where home is: as a person says, or in the middle of the largest area that is free."""

from __future__ import annotations

import math
from typing import NamedTuple

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.rooms import depth_of, is_free
import numpy as np
from numpy.typing import NDArray

HALF_PIXEL = 0.5    # between a wall and the middle of the pixel next to it
CORNER = 0.71       # pixels from the middle of a pixel to its corner
FARTHEST_HOME = 1.0
"""How far home may be moved to a free position in m: a pose set by hand is as near."""

_CLOSER = 1e-6


class Home(NamedTuple):
    """
    A home, and why it is there.

    :ivar said: a sentence for people.
    """

    pose: Pose
    said: str


def home_on(map_: Map, wished: Pose | None, radius: float,
            farthest: float = FARTHEST_HOME) -> Home:
    """
    Return the home that was asked for, or the nearest place that is free; or else the best one.

    :param map_: with keep-outs as what is not free.
    :param radius: how far around home everything has to be free in m.
    :param farthest: how far from the wish home may be in m.
    :raises InvalidValueError: if nothing is free, or nothing near enough.
    """
    free_at_all = is_free(map_)
    if not free_at_all.any():
        raise InvalidValueError(
            'no pixel of the map is free, expected one for home: another free_thresh, negate or '
            'mode of its file')
    depth = depth_of(free_at_all)
    least = radius / map_.resolution + CORNER
    free = depth > least
    if not free.any():
        raise InvalidValueError(
            f'no place of the map has {radius:g} m around it free, expected one for home: a '
            'smaller --robot-radius or --clearance, or another map')
    if wished is None:
        pose, room = _widest(map_, free, depth)
        return Home(pose, f'home: {pose.x:g}, {pose.y:g}, the point with most room ({room:.2f} m '
                    'to the nearest wall); --home X Y [DEG] sets another one')
    there = map_.pixels([wished[:2]])[0]
    if _depth_at(depth, there) > least:
        return Home(wished, f'home: {wished.x:g}, {wished.y:g}')
    rows, columns = np.nonzero(free)
    nearest = int(np.argmin(np.hypot(columns + 0.5 - there[0], rows + 0.5 - there[1])))
    pose = _at(map_, rows[nearest], columns[nearest])._replace(yaw=wished.yaw)
    away = math.dist(pose[:2], wished[:2])
    if away > farthest:
        raise InvalidValueError(
            f'argument --home: {wished.x:g}, {wished.y:g} is not free; the nearest place that has '
            f'{radius:g} m around it free is {pose.x:g}, {pose.y:g}, {away:.2f} m away, expected '
            f'one at most {farthest:g} m away')
    return Home(pose, f'home: {pose.x:g}, {pose.y:g}, the nearest place to {wished.x:g}, '
                f'{wished.y:g} that has {radius:g} m around it free ({away:.2f} m away)')


def _widest(map_: Map, free: NDArray[np.bool_], depth: NDArray[np.float64]) -> tuple[Pose, float]:
    """Return the place with most room in the largest area, and how much that is in m."""
    from scipy import ndimage
    labels, _ = ndimage.label(free)
    areas = np.bincount(labels.ravel())
    areas[0] = 0
    within = np.where(labels == np.argmax(areas), depth, 0.0)
    row, column = np.unravel_index(np.argmax(within), within.shape)
    return _at(map_, row, column), float(within[row, column] - HALF_PIXEL) * map_.resolution


def _at(map_: Map, row: np.intp, column: np.intp) -> Pose:
    (x, y), = map_.points([(column + 0.5, row + 0.5)]).round(3).tolist()
    return Pose(x, y, 0.0)


def _depth_at(depth: NDArray[np.float64], pixel: NDArray[np.float64]) -> float:
    """Return the depth between the middles of pixels; a rounded coordinate is as good as exact."""
    from scipy import ndimage
    found = ndimage.map_coordinates(depth, (pixel[::-1] - 0.5)[:, np.newaxis], order=1,
                                    mode='constant')
    return float(found[0]) + _CLOSER
