# SPDX-License-Identifier: Apache-2.0

"""
Divides what is free into basins: a watershed of the distance from the walls.

The distance is flooded from its peaks downwards. Where two basins meet, they stay apart if the
place is narrow relative to the lower peak of both, and become one otherwise. SciPy is imported
where it is needed, because nodes that may have no plan import this room.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mnm_ros.plan.rooms import Labels
import numpy as np
from numpy.typing import NDArray

NARROW = 0.8
"""An opening divides rooms if it is at most this part as wide as the narrower one of both."""

NARROW_DOOR = 0.85
"""The same of an opening that is no wider than a door."""

_STEPS = 2    # levels of the flood for each pixel of distance
_AROUND = np.ones((3, 3), np.bool_)


class _Basins:
    """Basins that may become one; each has its peak."""

    def __init__(self) -> None:
        self.peaks = [0.0]
        self._into = [0]

    def add(self, count: int, peak: float) -> range:
        first = len(self.peaks)
        self.peaks += [peak] * count
        self._into += range(first, first + count)
        return range(first, first + count)

    def root(self, basin: int) -> int:
        while self._into[basin] != basin:
            self._into[basin] = self._into[self._into[basin]]
            basin = self._into[basin]
        return basin

    def meet(self, one: int, other: int, saddle: float, door: float) -> None:
        """Let two basins that meet at a height become one unless that is narrow."""
        one, other = sorted((self.root(one), self.root(other)), key=lambda each: self.peaks[each])
        part = NARROW_DOOR if 2 * saddle <= door else NARROW
        if one != other and saddle > part * self.peaks[one]:
            self._into[one] = other

    def roots(self) -> Labels:
        return np.array([self.root(basin) for basin in range(len(self.peaks))], np.int32)


def flooded(depth: NDArray[np.float64], door: float) -> Labels:
    """
    Return the number of the basin of each pixel, 0 where nothing is free.

    :param depth: the distance of each pixel from the walls in pixels.
    :param door: the width of a door in pixels.
    """
    wide = depth.shape[1] + 2
    around = np.array([row * wide + column for row in (-1, 0, 1) for column in (-1, 0, 1)
                       if row or column], np.int32)
    levels = np.pad(np.floor(depth * _STEPS).astype(np.int16), 1)
    labels, basins = _summits(levels), _Basins()
    highest = int(levels.max())
    basins.add(int(labels.max()), highest / _STEPS)
    levels = levels.ravel()
    order = np.flatnonzero((levels > 0) & (levels < highest)).astype(np.int32)
    order = order[np.argsort(-levels[order], kind='stable')]
    ends = np.flatnonzero(np.diff(levels[order])) + 1
    places = np.full(len(levels), -1, np.int32)    # of the pixels of one level in their list
    for pixels in np.split(order, ends) if len(order) else ():
        height = float(levels[pixels[0]]) / _STEPS
        pending = _reached(labels, pixels, around)
        if len(pending):
            count, parts = _parts(places, pending, around)
            labels[pending] = np.array(basins.add(count, height), np.int32)[parts]
        own, beside = labels[pixels], labels[pixels[:, np.newaxis] + around]
        at, which = np.nonzero((beside > 0) & (beside != own[:, np.newaxis]))
        pairs = np.unique(np.stack([own[at], beside[at, which]], axis=1), axis=0)
        for one, other in pairs.tolist():
            basins.meet(one, other, height, door)
    return basins.roots()[labels].reshape(-1, wide)[1:-1, 1:-1]


def _summits(levels: NDArray[np.int16]) -> Labels:
    """Return labels, without rows and columns, of what is highest, which may be most of a map."""
    from scipy import ndimage
    return np.asarray(ndimage.label(levels == levels.max(), _AROUND)[0], np.int32).ravel() if (
        levels.any()) else np.zeros(levels.size, np.int32)


def _reached(labels: Labels, pixels: NDArray[np.int32], around: NDArray[np.int32],
             ) -> NDArray[np.int32]:
    """Spread labels over pixels step by step; return the pixels that none has reached."""
    while len(pixels):
        found = labels[pixels[:, np.newaxis] + around].max(axis=1)
        reached = found > 0
        if not reached.any():
            break
        labels[pixels[reached]] = found[reached]
        pixels = pixels[~reached]
    return pixels


def _parts(places: NDArray[np.int32], pixels: NDArray[np.int32], around: NDArray[np.int32],
           ) -> tuple[int, NDArray[np.int32]]:
    """Return how many connected parts pixels have, and the part of each."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    places[pixels] = np.arange(len(pixels))
    beside = places[pixels[:, np.newaxis] + around]
    places[pixels] = -1
    start, which = np.nonzero(beside >= 0)
    graph = coo_matrix((np.ones(len(start), np.int8), (start, beside[start, which])),
                       (len(pixels), len(pixels)))
    count, parts = connected_components(graph, directed=False)
    return count, parts


class Border(NamedTuple):
    """Pixels, rows and columns, where two basins touch."""

    pixels: NDArray[np.int64]
    basins: tuple[int, int]


def merged(basins: Labels, depth: NDArray[np.float64], smallest: float, least: float) -> Labels:
    """
    Return basins without those that are no rooms, each added to where its widest opening leads.

    :param smallest: pixels of a room.
    :param least: the depth that the middle of a room has.
    """
    areas = np.bincount(basins.ravel()).astype(np.float64)
    peaks = np.zeros(len(areas))
    np.maximum.at(peaks, basins.ravel(), depth.ravel())
    saddles: dict[int, dict[int, float]] = {}
    for border, (one, other) in borders(basins, parts=False):
        saddle = float(depth[tuple(border.T)].max())
        for this, neighbour in ((one, other), (other, one)):
            saddles.setdefault(this, {})[neighbour] = saddle
    into = np.arange(len(areas), dtype=np.int32)
    small = sorted((label for label in saddles if areas[label] < smallest or peaks[label] < least),
                   key=lambda label: areas[label])
    for label in small:
        ends = saddles[label]
        if not ends or areas[label] >= smallest and peaks[label] >= least:
            continue    # it is alone, or what was added has made a room of it
        del saddles[label]
        other = max(ends, key=lambda each: (ends[each], areas[each]))
        into[into == label] = other
        areas[other], peaks[other] = areas[other] + areas[label], max(peaks[other], peaks[label])
        for neighbour, saddle in ends.items():
            del saddles[neighbour][label]
            if neighbour != other:
                for this, end in ((neighbour, other), (other, neighbour)):
                    saddles[this][end] = max(saddle, saddles[this].get(end, 0.0))
    return into[basins]


def borders(basins: Labels, parts: bool = True) -> Iterator[Border]:
    """Yield each border between two basins, each connected part of it alone if ``parts``."""
    from scipy import ndimage
    found = []    # rows of the numbers of two basins, and of a place between them
    for axis in (0, 1):
        here, there = (basins[:-1], basins[1:]) if axis == 0 else (basins[:, :-1], basins[:, 1:])
        at = np.argwhere((here != there) & (here > 0) & (there > 0))
        both = np.stack([here[tuple(at.T)], there[tuple(at.T)]], axis=1)
        found.append(np.hstack([np.sort(both, axis=1), at]))
    pairs, which = np.unique(np.vstack(found)[:, :2], axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind='stable')
    places = np.vstack(found)[order, 2:]
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(pairs)))
    for (first, second), of_pair in zip(pairs.tolist(), np.split(places, ends[:-1])):
        if not parts:
            yield Border(of_pair, (first, second))
            continue
        low = of_pair.min(axis=0)
        drawn = np.zeros(of_pair.max(axis=0) - low + 1, np.bool_)
        drawn[tuple((of_pair - low).T)] = True
        labels, count = ndimage.label(drawn, _AROUND)
        for part in range(1, count + 1):
            yield Border(np.argwhere(labels == part) + low, (first, second))
