# SPDX-License-Identifier: Apache-2.0

"""
Specks of a map: what a laser has seen where nothing is, or not seen although all around is.

A plan has a map of its own, without specks. By a place graph, robots drive on the map of
``without_unknown_specks``.
SciPy is imported where it is needed, because nodes that may have no map import this module.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from mnm_ros.driving.occupancy import Map, OCCUPIED, Point
from mnm_ros.plan.request import UNKNOWN_SPECK
import numpy as np

_AROUND = np.ones((3, 3), np.bool_)    # corners touch, too


class Speck(NamedTuple):
    """
    What was taken for free.

    :ivar occupied: whether a part of it was occupied; otherwise it was unknown.
    :ivar area: in m^2.
    """

    place: Point
    occupied: bool
    area: float


def without_unknown_specks(map_: Map) -> tuple[Map, list[Speck]]:
    """
    Return the map on which edges are drawn, simulated and driven, and the specks that are free.

    An occupied pixel may be the leg of a table, and stays.
    """
    return without_specks(map_, UNKNOWN_SPECK, 0.0)


def without_specks(map_: Map, unknown: float, occupied: float) -> tuple[Map, list[Speck]]:
    """
    Return a map in which specks within what is free are free, and these specks.

    What touches a wall, or the border of the map, is none.

    :param unknown: up to which area in m^2 an unknown part is a speck; 0 for none.
    :param occupied: the same for an occupied part.
    """
    from scipy import ndimage
    rows = map_.pixel_rows
    taken = rows >= OCCUPIED
    labels, count = ndimage.label(taken | (rows < 0), _AROUND)
    pixel = map_.resolution ** 2
    numbers = np.arange(1, count + 1)
    parts = [np.bincount(labels[part], minlength=count + 1)[1:] * pixel
             for part in (taken, rows < 0)]
    at_border = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    most = 1 + 1e-9    # areas are sums of rounded numbers
    small = (parts[0] <= occupied * most) & (parts[1] <= unknown * most)
    small &= ~np.isin(numbers, at_border)
    found = numbers[small]
    if not len(found):
        return map_, []
    centres = map_.points(np.array(ndimage.center_of_mass(labels > 0, labels, found))[:, ::-1]
                          + 0.5).round(3).tolist()
    specks = [Speck((x, y), bool(parts[0][number - 1]), float(
        parts[0][number - 1] + parts[1][number - 1])) for (x, y), number in zip(centres, found)]
    cleaned = np.where(np.isin(np.arange(count + 1), found)[labels], 0, rows).astype(np.int8)
    return replace(map_, values=cleaned.ravel()), specks
