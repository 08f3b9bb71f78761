# SPDX-License-Identifier: Apache-2.0

"""
Simulates a robot that drives along the edges of a route graph; the console and ``cmp_sim`` use it.

Each drive succeeds with probability ``SUCCESS``, and otherwise leads back to where it began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from functools import cached_property
from typing import NamedTuple

from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import radius_for_all
from mnm_ros.places.place_graph import Edge, PlaceGraph
from mnm_ros.simulation.cmp import Outcomes, TableCmp

SUCCESS = 0.96
"""How likely a drive along an open edge arrives."""

STEPS_PER_EDGE = 25
"""After how many steps for each edge one of them closes; the first hypothesis takes 2 to 5."""

LEAST_STEPS = 5000
"""Before that none closes, so that the first hypothesis of a small graph can be judged."""

_TRIED, _PASSED = 300, 500_000
"""So many passages, the busiest, are tried to close; of large graphs fewer, but ten.

Each of these searches passes all edges, and all of them pass ``_PASSED`` at most.
"""


class RouteWorld:
    """
    A route graph as a changing world.

    :param closing: by default the first of ``closable``.
    :ivar graph: with one place at each position.
    :ivar home: where the robot starts, and RESET leads to.
    :ivar closing: the passage that closes, in both directions; empty if none has a way round.
    :ivar open, closed: the CMP before and after the change; ``closed`` is None if no passage has a
        way round that is short enough.
    """

    def __init__(self, graph: PlaceGraph, closing: Set[tuple[int, int]] | None = None) -> None:
        self.graph = graph = graph.merged
        self.home = graph.home
        self.open = self._cmp(frozenset())
        self.closing = next(self.closable(), frozenset()) if closing is None else closing
        self.closed = self._cmp(self.closing) if self.closing else None

    @cached_property
    def radius(self) -> float:
        """
        Return the ``L`` within which every place is that can be reached from home.

        :raises FileError: if no edge leads away from there, or one leads too far.
        """
        try:
            return radius_for_all(self.graph.declaration, self.home)
        except InvalidValueError as error:
            raise FileError(f'{self.graph.path}: {error}') from None

    @property
    def until(self) -> int:
        """Return after how many steps the edge closes."""
        return max(LEAST_STEPS, STEPS_PER_EDGE * len(self.graph.edges))

    def closable(self) -> Iterator[frozenset[tuple[int, int]]]:
        """
        Yield the passages without which every place is still within L, both directions of each.

        Doors come first, and of several the busiest, which is on the shortest ways from home to
        the most places.
        """
        ways = _ways(self.graph, self.home)
        through: Counter[tuple[int, int]] = Counter()
        behind = dict.fromkeys(ways, 1)    # places to which the way leads through each, itself too
        for place in reversed([*ways]):
            edge = ways[place].edge
            if edge is not None:
                through[edge.start, place] = behind[place]
                behind[edge.start] += behind[place]
        doors = {(edge.start, edge.end) for edge in self.graph.edges if edge.door}
        tried = max(10, min(_TRIED, _PASSED // len(self.graph.edges)))
        for start, end in sorted(through, key=lambda each: (
                each not in doors, -through[each], each))[:tried]:
            closed = frozenset({(start, end), (end, start)})
            left = _ways(self.graph, self.home, closed)
            if left.keys() == ways.keys() and (
                    max(way.steps for way in left.values()) / SUCCESS <= self.radius):
                yield closed

    def _cmp(self, closed: Set[tuple[int, int]]) -> TableCmp:
        """Return the CMP in which the edges between some places are closed."""
        outcomes: dict[Pair, Outcomes] = {
            (place, action): ((edge.end, SUCCESS), (place, 1 - SUCCESS))
            for place in self.graph.places
            for action, edge in enumerate(self.graph.outgoing(place))
            if (edge.start, edge.end) not in closed}
        return TableCmp(self.home, self.graph.actions, outcomes)


def passage(here: str, there: str) -> str:
    """Return how people call the passage between two places."""
    return f'passage {here} - {there}'


class _Way(NamedTuple):
    """The last edge of a way from home, and how many edges it has."""

    edge: Edge | None
    steps: int


def _ways(graph: PlaceGraph, home: int, closed: Set[tuple[int, int]] = frozenset(),
          ) -> dict[int, _Way]:
    """Return by place a shortest way from home, the nearest place first."""
    found = {home: _Way(None, 0)}
    waiting = [home]
    for place in waiting:
        for edge in graph.outgoing(place):
            if edge.end not in found and (edge.start, edge.end) not in closed:
                found[edge.end] = _Way(edge, found[place].steps + 1)
                waiting.append(edge.end)
    return found
