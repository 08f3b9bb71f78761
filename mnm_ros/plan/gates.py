# SPDX-License-Identifier: Apache-2.0

"""
Finds gates: short pieces of wall that stand out on one side or on both, with an opening between.

An opening may be wider than the room behind it is deep, as between a living room and a dining
room, so that the distance from the walls has no peak there. It is found along the rows and columns
of a map: where what is free is clearly shorter than at a small distance on both sides.
"""

from __future__ import annotations

import math

from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.plan.rooms import Line
import numpy as np
from numpy.typing import NDArray

_SHORTER = 0.85    # a gate is at most this part as wide as the narrower one of both sides,
_STUBS = 0.5       # and shorter by so many m
_WIDEST = 8.0      # m
_LEAST = 0.5       # m
_APART = 0.25      # m beside a gate, within which both of its walls are
_BESIDE = 0.75     # m from a gate, where both sides are examined
_THICK = 1.0       # m along which gates are one


def gates(map_: Map, free: NDArray[np.bool_]) -> list[Line]:
    """
    Return a line across each gate, along a row or a column of the map.

    :param free: where nothing stands, furniture aside; openings that are known are not free.
    """
    found: list[Line] = []
    for turned in (False, True):
        for ends in _gates(free.T if turned else free, map_.resolution):
            start, end = map_.points([each[::-1] if turned else each for each in ends]).round(
                3).tolist()
            found.append(((start[0], start[1]), (end[0], end[1])))
    return found


def _gates(free: NDArray[np.bool_], resolution: float) -> list[tuple[Point, Point]]:
    """Return the columns and rows of both ends of each gate that leads along the rows."""
    from scipy import ndimage
    apart, beside = (math.ceil(each / resolution) for each in (_APART, _BESIDE))
    narrow, passed = (ndimage.minimum_filter1d(free, 2 * each + 1, axis=1)
                      for each in (apart, beside))
    columns, firsts, lasts = _runs(narrow)
    lengths = lasts - firsts
    whole = np.zeros(free.shape, np.int32)    # of each pixel the length of its run
    whole.T[narrow.T] = np.repeat(lengths, lengths)
    middles = (firsts + lasts) // 2
    possible = ((lengths * resolution >= _LEAST) & (lengths * resolution <= _WIDEST)
                & (columns >= beside) & (columns < free.shape[1] - beside))
    possible[possible] = passed[middles[possible], columns[possible]]
    columns, firsts, lasts, lengths, middles = (each[possible] for each in (
        columns, firsts, lasts, lengths, middles))
    sides = np.minimum(whole[middles, columns - beside], whole[middles, columns + beside])
    shorter = (lengths <= _SHORTER * sides) & ((sides - lengths) * resolution >= _STUBS)
    found = []
    for number in np.flatnonzero(shorter).tolist():
        column, first, last = int(columns[number]), int(firsts[number]), int(lasts[number])
        start, end = _end(free, column, first - 1, apart, 1), _end(free, column, last, apart, 0)
        found.append((math.dist(start, end), first, last, start, end))
    kept: list[tuple[Point, Point]] = []
    tiles: dict[int, list[tuple[int, int, float]]] = {}    # rows and the column of those kept
    for _, first, last, start, end in sorted(found):    # along a wall's thickness the shortest
        tile = int(start[0] * resolution // _THICK)
        if not any(abs(start[0] - column) * resolution <= _THICK and first < after and begin < last
                   for each in (tile - 1, tile, tile + 1)
                   for begin, after, column in tiles.get(each, ())):
            kept.append((start, end))
            tiles.setdefault(tile, []).append((first, last, start[0]))
    return kept


def _end(free: NDArray[np.bool_], column: int, row: int, apart: int, side: int) -> Point:
    """Return the column and row of the wall where a gate ends, near a column."""
    if not 0 <= row < len(free):
        return column + 0.5, float(row + side)
    near = np.arange(max(column - apart, 0), min(column + apart + 1, free.shape[1]))
    walls = near[~free[row, near]]
    return float(walls[np.argmin(np.abs(walls - column))]) + 0.5, float(row + side)


def _runs(free: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64],
                                             NDArray[np.int64]]:
    """Return the columns, first rows and rows after the last of what is free without a break."""
    edges = np.diff(np.pad(free.T.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    columns, firsts = np.nonzero(edges == 1)
    _, lasts = np.nonzero(edges == -1)
    return columns, firsts, lasts
