# SPDX-License-Identifier: Apache-2.0

"""
Where to draw states that have no place in the world: near those that they are linked to.

A picture is watched while it grows, so no state that has been shown ever jumps. A new state gets
a free place beside one that it is linked to. Then all states are moved a little to where their
distances in the picture come closer to their distances in links: the layout of least stress
(Gansner, Koren & North 2004, "Graph drawing by stress majorization"), approached by damped steps.
The same updates give the same picture. Nothing here knows of ROS, robots or the algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

NEAREST = 0.3
"""Two states are never closer than this; those that are linked are about 1 from each other."""
STRIDE = 0.1
"""How far an update moves a state that has been there before, at most."""
RELAXED = 200
"""States that are moved. Once there are more, all stay where they are, as an update has to stay
quick; further states still get their places near those that they are linked to."""

_GIVE_WAY = 1.1 * NEAREST    # so that what passes another is not held up by it
_ROUNDS = 6            # of relaxation in an update
_FIRST_ROUNDS = 40     # in the first one, when nothing has been shown yet
_STILL = 0.002         # movements below this one are not worth another round
_LATTICE = 0.5         # between the places of states that are never moved
_RING = np.exp(2j * np.pi * np.arange(16) / 16)    # directions in which a place is searched for

_Places = NDArray[np.complex128]
_Floats = NDArray[np.float64]


class Layout:
    """
    Places in the plane for the states of a graph that grows.

    :param relaxed: states that are moved; the time of an update grows with its square.
    """

    def __init__(self, relaxed: int = RELAXED) -> None:
        self._relaxed = relaxed
        self._index: dict[int, int] = {}    # of each state that has a place, from 0 on
        self._places = np.zeros(0, complex)    # of those that are moved
        self._parked: list[complex] = []       # of those that came later
        self._hops = np.zeros((0, 0))    # links between states that are moved; inf if apart
        self._neighbours: dict[int, dict[int, None]] = {}
        self._settled = True
        self._taken: set[tuple[int, int]] | None = None    # of the lattice, once nothing moves
        self._free: dict[int, Iterator[tuple[int, int]]] = {}    # of the lattice, by anchor

    def place(self, state: int) -> tuple[float, float] | None:
        """Return the place of a state; None if no update has named it."""
        index = self._index.get(state)
        if index is None:
            return None
        place = self._at(index)
        return float(place.real), float(place.imag)

    def update(self, states: Iterable[int], links: Iterable[tuple[int, int]]) -> None:
        """
        Give each state a place, and move those that have one a little.

        :param states: that need a place; others keep theirs.
        :param links: pairs of states, in any order; those without a place are no hindrance.
        """
        for one, other in self._new(links):
            self._link(one, other)
        first, before = not self._index, len(self._index)
        for state in self._in_order(states):
            self._add(state)
        if self._taken is None and not self._settled:
            self._relax(before, _FIRST_ROUNDS if first else _ROUNDS)

    def _at(self, index: int) -> complex:
        moved = len(self._places)
        return self._parked[index - moved] if index >= moved else complex(self._places[index])

    def _new(self, links: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for one, other in links:
            if one != other and other not in self._neighbours.get(one, ()):
                yield one, other

    def _link(self, one: int, other: int) -> None:
        self._neighbours.setdefault(one, {})[other] = None
        self._neighbours.setdefault(other, {})[one] = None
        first, second = self._index.get(one), self._index.get(other)
        if self._taken is None and first is not None and second is not None:
            hops = self._hops
            through = hops[:, first, None] + 1 + hops[None, second]
            self._hops = np.minimum(hops, np.minimum(through, through.T))
            self._settled = False

    def _in_order(self, states: Iterable[int]) -> Iterator[int]:
        """Yield the states without a place, each after one that it is linked to if possible."""
        waiting = {state: None for state in states if state not in self._index}
        linked = [state for state in waiting if any(
            other in self._index for other in self._neighbours.get(state, ()))]
        while waiting:
            queue = linked or list(islice(waiting, 1))
            linked = []
            for state in queue:
                if state in waiting:
                    del waiting[state]
                    yield state
                    linked += [other for other in self._neighbours.get(state, ())
                               if other in waiting]

    def _add(self, state: int) -> None:
        placed = [self._index[other] for other in self._neighbours.get(state, ())
                  if other in self._index]
        if self._taken is None and len(self._index) >= self._relaxed:
            self._freeze()
        if self._taken is None:
            self._join(placed)
        else:
            self._parked.append(self._lot(placed[0] if placed else 0))
        self._index[state] = len(self._index)

    def _join(self, placed: list[int]) -> None:
        """Give a place to a state that is going to be moved with the others."""
        number = len(self._places)
        hops = np.full(number, np.inf)
        for other in placed:
            hops = np.minimum(hops, self._hops[other] + 1)
        wanted = _finite(hops)
        place = self._best_place([self._places[other] for other in placed], wanted)
        grown = np.zeros((number + 1, number + 1))
        grown[:number, :number] = np.minimum(self._hops, hops[:, None] + hops[None])
        grown[number, :number] = grown[:number, number] = hops
        self._hops, self._settled = grown, False
        self._places = np.append(self._places, place)

    def _best_place(self, anchors: list[complex], wanted: _Floats) -> complex:
        """Return the free place of least stress around some of the anchors."""
        if not len(self._places):
            return 0j
        if not anchors:    # beside the picture
            return complex(self._places.real.max() + wanted.max(), 0)
        around = np.concatenate([[sum(anchors) / len(anchors)],
                                 *(anchor + _RING for anchor in anchors[:3])])
        radius = 1.0
        while True:
            distances = np.abs(around[:, None] - self._places[None])
            stress = (np.square(distances / wanted - 1)).sum(axis=1)
            stress[distances.min(axis=1) < NEAREST] = np.inf
            best = int(stress.argmin())
            if np.isfinite(stress[best]):
                return complex(around[best])
            radius += NEAREST
            around = anchors[0] + radius * _RING

    def _relax(self, shown: int, rounds: int) -> None:
        """Move all states towards less stress; the first ``shown`` by a stride at most."""
        hops = _finite(self._hops)
        np.fill_diagonal(hops, 1.0)
        weights = np.square(1 / hops)
        np.fill_diagonal(weights, 0.0)
        totals = np.maximum(weights.sum(axis=1), 1e-9)
        before, places = self._places, self._places
        for _ in range(rounds):
            apart = places[:, None] - places[None]
            lengths = np.maximum(np.abs(apart), 1e-9)
            # Half a step: whole ones at the same time could overshoot.
            moves = (weights * apart * (hops / lengths - 1)).sum(axis=1) / totals / 2
            places = _pushed(places + moves)
            if np.abs(moves).max() < _STILL:
                break
        moves = places - before
        lengths = np.abs(moves[:shown])
        moves[:shown] *= np.minimum(1, STRIDE / np.maximum(lengths, 1e-9))
        self._places = _apart(before, moves)
        self._settled = bool(np.abs(self._places - before).max() < _STILL)

    def _freeze(self) -> None:
        """Move nothing from now on, and take what is occupied off the lattice."""
        self._hops = np.zeros((0, 0))
        self._taken = set()
        reach = range(-1, 3)
        for place in self._places:
            x, y = int(place.real // _LATTICE), int(place.imag // _LATTICE)
            self._taken.update(
                (x + dx, y + dy) for dx in reach for dy in reach
                if abs(_lattice(x + dx, y + dy) - place) < NEAREST)

    def _lot(self, anchor: int) -> complex:
        """Return the free place of the lattice that is nearest to a state, about."""
        assert self._taken is not None
        if anchor not in self._free:
            place = self._at(anchor)
            x, y = round(place.real / _LATTICE), round(place.imag / _LATTICE)
            self._free[anchor] = ((x + dx, y + dy) for dx, dy in _spiral())
        cell = next(cell for cell in self._free[anchor] if cell not in self._taken)
        self._taken.add(cell)
        return _lattice(*cell)


def _finite(hops: _Floats) -> _Floats:
    """Return the distances, with something more than the longest where there is no way."""
    found = hops[np.isfinite(hops)]
    longest = found.max() if len(found) else 0.0
    return np.where(np.isfinite(hops), hops, longest + 2)


def _pushed(places: _Places) -> _Places:
    """Return the places after each two that are too close were moved apart."""
    apart = places[:, None] - places[None]
    lengths = np.maximum(np.abs(apart), 1e-9)
    np.fill_diagonal(lengths, np.inf)
    pushes: _Floats = np.maximum(_GIVE_WAY / lengths - 1, 0) / 2
    return places + (pushes * apart).sum(axis=1)


def _apart(before: _Places, moves: _Places) -> _Places:
    """Return the places after the moves; what would come too close to another stays."""
    moves = moves.copy()
    while True:
        places = before + moves
        distances = np.abs(places[:, None] - places[None])
        np.fill_diagonal(distances, np.inf)
        close = (distances.min(axis=1, initial=np.inf) < NEAREST) & (moves != 0)
        if not close.any():
            return places
        moves[close] = 0


def _lattice(x: int, y: int) -> complex:
    return complex(x * _LATTICE, y * _LATTICE)


def _spiral() -> Iterator[tuple[int, int]]:
    """All cells of a square grid, from the origin outwards."""
    x = y = 0
    dx, dy, length = 1, 0, 1
    while True:
        for _ in range(2):
            for _ in range(length):
                yield x, y
                x, y = x + dx, y + dy
            dx, dy = -dy, dx
        length += 1
