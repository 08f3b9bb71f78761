# SPDX-License-Identifier: Apache-2.0

"""Where the states of a picture are, and how large: by the robot side, or by a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
import math
import time
from typing import NamedTuple

from mnm_ros.robot_description import Point, RobotDescription, spacing, UNDESCRIBED
from mnm_ros.view.heard import Heard
from mnm_ros.view.layout import Layout
import numpy as np

_ROUND = 0.36      # radius of a state, where neighbours are 1 from each other
_FREE = (0.14, 0.25)    # least and largest radius in a layout, which has states 0.3 apart at least
_RELAXED = 600     # states of a layout that are moved: more than the explorer has time for
_REST = 20         # times as long as a layout has taken, before the next one
_ROWS = 256        # of distances at a time: all at once, many states take gigabytes
_BESIDE = 1.2      # between states without a place below a picture of others


class Disc(NamedTuple):
    """Where a state is drawn, in lengths of the picture, y downwards, and its radius."""

    x: float
    y: float
    radius: float


class Places:
    """
    Keeps the place of each state; those that have been shown do not jump.

    :param clock: returns the time in s; a layout is made as often as takes little of it.
    :ivar unit: metres in a length of the picture.
    :ivar placed: whether the places are those of the world.
    :ivar latest: the place of each state that has one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_layout = -math.inf
        self.unit = 1.0
        self.placed = False
        self._description = UNDESCRIBED
        self._met: dict[int, Point] = {}
        self.latest: dict[int, Disc] = {}
        self._layout = Layout(_RELAXED)
        self._without: dict[int, int] = {}
        self._corner = (0.0, 0.0)

    def update(self, heard: Heard, shown: Iterable[int]) -> Mapping[int, Disc]:
        """Return the place of each state shown, and of each that has a place in the world."""
        description = heard.description
        if description is not self._description:
            self._follow(description)
        if not self.placed:
            return self._laid_out(heard, shown)
        for state in shown:
            if state not in self.latest:
                index = self._without.setdefault(state, len(self._without))
                self.latest[state] = Disc(
                    self._corner[0] + _BESIDE * index, self._corner[1] + _BESIDE, _ROUND)
        return self.latest

    def point(self, x: float, y: float) -> Point:
        """Return a point of the world, in m, in lengths of the picture."""
        return x / self.unit, -y / self.unit

    def _follow(self, description: RobotDescription) -> None:
        before, self._description = self._description, description
        positions = description.positions
        # A state that has become a wall stays where it was, as long as the world is the same.
        self._met = {**(self._met if description.of_the_world_of(before) else {}), **positions}
        self.placed = bool(positions)
        if not self.placed:
            self.unit = 1.0
            return
        self.unit = spacing(positions.values())
        self.latest = dict(_spread(self._met, self.unit))
        self._without = {}
        points = [self.point(x, y) for wall in description.walls
                  for x, y in (wall[:2], wall[2:])]
        points += [place[:2] for place in self.latest.values()]
        self._corner = (min(x for x, _ in points) + 0.5, max(y for _, y in points))

    def _laid_out(self, heard: Heard, shown: Iterable[int]) -> Mapping[int, Disc]:
        began = self._clock()
        if began < self._next_layout:
            return self.latest
        # A state may be told of before the transitions that led there are. It waits for them: put
        # anywhere, it would have a long way to its place.
        pairs = [(state, after) for state in heard.counts
                 for _, after, _ in heard.successors(state)]
        linked = {heard.home, *chain.from_iterable(pairs)}
        shown = [state for state in shown if state in linked or state in self.latest]
        self._layout.update(shown, pairs)
        places = {state: place for state in shown if (place := self._layout.place(state))}
        self.latest = {
            state: Disc(x, -y, radius)
            for (state, (x, y)), radius in zip(places.items(), _radii([*places.values()]))}
        now = self._clock()
        self._next_layout = now + _REST * (now - began)
        return self.latest


def _radii(points: Sequence[Point]) -> list[float]:
    """Return how large each state is drawn, so that it does not reach its nearest neighbour."""
    places = np.array([complex(*point) for point in points])
    nearest = np.full(len(places), np.inf)
    for begin in range(0, len(places), _ROWS):
        distances = np.abs(places[begin:begin + _ROWS, None] - places[None])
        own = np.arange(len(distances))
        distances[own, begin + own] = np.inf
        nearest[begin:begin + _ROWS] = distances.min(axis=1)
    return [float(radius) for radius in np.clip(0.45 * nearest, *_FREE)]


def _spread(positions: Mapping[int, Point], unit: float) -> Iterable[tuple[int, Disc]]:
    """Yield a place for each state; those at one and the same point stand around it."""
    together: dict[Point, list[int]] = {}
    for state, point in positions.items():
        together.setdefault(point, []).append(state)
    for (x, y), states in together.items():
        count = len(states)
        radius = _ROUND if count == 1 else min(0.17, 0.8 / count)
        for index, state in enumerate(states):
            # Counter-clockwise from the right, as headings are counted.
            turn = math.tau * index / count
            away = 0.0 if count == 1 else 0.3
            yield state, Disc(x / unit + away * math.cos(turn), -y / unit - away * math.sin(turn),
                               radius)
