# SPDX-License-Identifier: Apache-2.0

"""
Simulates a robot that drives along the edges of a route graph; the console and ``cmp_sim`` use it.

Each drive succeeds with probability ``SUCCESS``, and otherwise leads back to where it began.
"""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from mnm_ros.core.model.counts import Pair
from mnm_ros.places.graph_file import load_graph
from mnm_ros.places.place_graph import Edge, PlaceGraph
from mnm_ros.simulation.cmp import Outcomes, TableCmp

SUCCESS = 0.96
"""How likely a drive along an open edge arrives."""

MARGIN = 1.15
"""By how much ``L`` exceeds the number of edges to the farthest place, as drives may fail."""

STEPS_PER_EDGE = 25
"""After how many steps for each edge one of them closes; the first hypothesis takes 4 to 10."""


class RouteWorld:
    """
    A route graph as a changing world.

    :ivar graph: as it was read.
    :ivar home: where the robot starts, and RESET leads to.
    :ivar open, closed: the CMP before and after the change; ``closed`` is None if each edge is the
        only way to some place.
    """

    def __init__(self, path: Path) -> None:
        self.graph = load_graph(path)
        self.home = self.graph.home
        self.open = self._cmp(frozenset())
        closing = _closing(self.graph, self.home)
        self.closed = self._cmp(closing) if closing else None

    @property
    def radius(self) -> float:
        """Return the ``L`` within which every place is that can be reached from home."""
        return MARGIN * self.graph.depth(self.home)

    @property
    def until(self) -> int:
        """Return after how many steps the edge closes."""
        return STEPS_PER_EDGE * len(self.graph.edges)

    def _cmp(self, closed: Set[tuple[int, int]]) -> TableCmp:
        """Return the CMP in which the edges between some places are closed."""
        outcomes: dict[Pair, Outcomes] = {
            (place, action): ((edge.end, SUCCESS), (place, 1 - SUCCESS))
            for place in self.graph.places
            for action, edge in enumerate(self.graph.outgoing(place))
            if (edge.start, edge.end) not in closed}
        return TableCmp(self.home, self.graph.actions, outcomes)


def _closing(graph: PlaceGraph, home: int) -> Set[tuple[int, int]]:
    """
    Return the edges of the busiest passage that has a way round, in both directions.

    The busiest one is on the shortest ways from home to the most places.
    """
    ways = _ways(graph, home, frozenset())
    through: dict[tuple[int, int], int] = {}
    for place in ways:
        while place != home:
            edge = ways[place]
            passage = edge.start, edge.end
            through[passage] = through.get(passage, 0) + 1
            place = edge.start
    for start, end in sorted(through, key=lambda each: (-through[each], each)):
        closed = frozenset({(start, end), (end, start)})
        if _ways(graph, home, closed).keys() == ways.keys():
            return closed
    return frozenset()


def _ways(graph: PlaceGraph, home: int, closed: Set[tuple[int, int]]) -> dict[int, Edge]:
    """Return by place the last edge of a shortest way from home; home itself has its first."""
    found: dict[int, Edge] = {home: graph.outgoing(home)[0]}
    waiting = [home]
    for place in waiting:
        for edge in graph.outgoing(place):
            if edge.end not in found and (edge.start, edge.end) not in closed:
                found[edge.end] = edge
                waiting.append(edge.end)
    return found
