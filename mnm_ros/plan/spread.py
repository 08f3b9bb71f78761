# SPDX-License-Identifier: Apache-2.0

"""
Spreads places over the pixels where a robot may be, at about equal distances along free ways.

Each pixel belongs to the nearest place, by steps from pixel to pixel; the areas of two places that
touch are joined by a way. Pixels are numbered row by row on a map with a margin of one pixel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

REACH = 0.75
"""A pixel that is farther from all places than this part of the spacing gets a place."""

_LEAST = 0.02     # of the square of the spacing: a smaller area that is farther gets no place
_ROUNDS = 20      # in which what is left is examined
_ROOM = 0.5       # of the spacing, from a wall: more room is not better
_CENTRED = 1e-3   # of a pixel of room, for a pixel nearer to the centre of its tile
_FAR = np.iinfo(np.int32).max

Pixels = NDArray[np.int64]


@dataclass(frozen=True)
class Border:
    """
    Where the areas of two places touch.

    :ivar places: the numbers of both, the smaller one first, shape (borders, 2).
    :ivar widest: the pixel on each border with most room, and so the best place between both.
    """

    places: NDArray[np.int64]
    widest: Pixels


class Spread:
    """Places among pixels, and the place that each pixel belongs to."""

    def __init__(self, room: NDArray[np.float64], within: NDArray[np.bool_]) -> None:
        """
        Begin without places.

        :param room: how far each pixel is from a wall in pixels.
        :param within: which pixels may have places and belong to one.
        """
        self.shape = room.shape[0] + 2, room.shape[1] + 2
        self.places: list[int] = []    # the pixel of each
        self._room = np.pad(room, 1).ravel()
        self._within = np.pad(within, 1).ravel()
        self._steps = np.where(self._within, _FAR, -1).astype(np.int32)    # to the nearest place
        self._owner = np.full(self._within.size, -1, np.int32)
        self._claims = np.zeros(self._within.size, np.int32)
        wide = self.shape[1]
        self._beside = np.array([-wide, -1, 1, wide])
        self._around = np.array([-wide - 1, -wide, -wide + 1, -1, 1, wide - 1, wide, wide + 1])

    def pixel(self, row: int, column: int) -> int:
        """Return the number of a pixel of the map without its margin."""
        return (row + 1) * self.shape[1] + column + 1

    def centres(self, pixels: Sequence[int] | Pixels) -> NDArray[np.float64]:
        """Return columns and rows of the middles of pixels on the map, shape (pixels, 2)."""
        rows, columns = np.divmod(np.asarray(pixels), self.shape[1])
        return np.stack([columns - 0.5, rows - 0.5], axis=1)

    def add(self, pixels: Sequence[int] | Pixels) -> None:
        """Add places, and give them the pixels to which they are nearer than the others are."""
        front = np.asarray(pixels, np.int64)
        self._steps[front] = 0
        self._owner[front] = np.arange(len(self.places), len(self.places) + len(front))
        self.places += front.tolist()
        step = 0
        while len(front):
            step += 1    # steps to four and to eight sides in turn are nearly as long as straight
            sides = self._beside if step % 2 else self._around
            after = (front[:, np.newaxis] + sides).ravel()
            nearer = step < self._steps[after]
            after, owner = after[nearer], np.repeat(self._owner[front], len(sides))[nearer]
            self._claims[after] = np.arange(len(after))    # of several the last one
            once = self._claims[after] == np.arange(len(after))
            front = after[once]
            self._steps[front] = step
            self._owner[front] = owner[once]

    def fill(self, spacing: float, centre: int) -> None:
        """
        Add places until no area is far from all of them.

        :param spacing: the distance of neighbours in pixels.
        :param centre: the pixel that is in the middle of a tile, of which each has one place if
            nothing is in the way.
        """
        from scipy import ndimage
        least = max(1.0, _LEAST * spacing ** 2)
        for _ in range(_ROUNDS):
            far = (self._steps > REACH * spacing).reshape(self.shape)
            labels, _ = ndimage.label(far)
            small = np.bincount(labels.ravel()) < least
            small[0] = True
            pixels = np.flatnonzero(~small[labels])
            if not len(pixels):
                return
            for one in self._best(pixels, spacing, centre):
                one = one[self._steps[one] > REACH * spacing]
                self.add(one)

    def _best(self, pixels: Pixels, spacing: float, centre: int) -> Iterator[Pixels]:
        """
        Yield the best pixels of tiles, each time of tiles that do not touch.

        The best one has most room, and of such ones is the nearest to the centre of its tile.
        """
        at = np.stack(np.divmod(pixels, self.shape[1]), axis=1) - np.array(
            divmod(centre, self.shape[1])) + 0.5 * spacing
        tiles = np.floor(at / spacing).astype(np.int64)
        off = np.abs(at - (tiles + 0.5) * spacing).max(axis=1)
        score = np.minimum(self._room[pixels], _ROOM * spacing) - _CENTRED * off
        tiles -= tiles.min(axis=0)
        number = tiles[:, 0] * (tiles[:, 1].max() + 1) + tiles[:, 1]
        order = np.lexsort((-score, number))
        first = order[np.flatnonzero(np.diff(number[order], prepend=-1))]
        for row, column in ((0, 0), (1, 1), (0, 1), (1, 0)):
            yield pixels[first[(tiles[first] % 2 == (row, column)).all(axis=1)]]

    def borders(self) -> Border:
        """Return where areas touch."""
        wide = self.shape[1]
        owner = self._owner
        found: list[NDArray[np.int64]] = []
        for side in (1, wide):
            here = np.flatnonzero((owner[:-side] >= 0) & (owner[side:] >= 0)
                                  & (owner[:-side] != owner[side:]))
            there = here + side
            both = np.sort(np.stack([owner[here], owner[there]], axis=1), axis=1)
            better = np.where(self._room[here] >= self._room[there], here, there)
            found.append(np.column_stack([both, better]))
        rows = np.vstack(found)
        order = np.lexsort((-self._room[rows[:, 2]], rows[:, 1], rows[:, 0]))
        rows = rows[order]
        new = np.ones(len(rows), np.bool_)
        new[1:] = (rows[1:, :2] != rows[:-1, :2]).any(axis=1)
        return Border(rows[new, :2], rows[new, 2])
