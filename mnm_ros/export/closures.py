# SPDX-License-Identifier: Apache-2.0

"""
Decide which edges of a route graph are closed, and which are open again.

An exported file and the programs that ``mnm_ros export --follow`` keeps up to date use it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mnm_ros.core.knowledge.knowledge import Counts, Knowledge, Transition
from mnm_ros.core.model.counts import Pair
from mnm_ros.export.route_graphs import RouteGraph

CHANCE = 0.01
"""With which an edge that still works may have failed as often as one that is called closed."""

_LEAST = 0.25    # probability of an edge that has never arrived: one of four executions


def may_close(graph: RouteGraph) -> tuple[Transition, ...]:
    """Return the edges that may close; of a graph from a file also those that never arrived."""
    if graph.given is None:
        return graph.edges
    arrived = {(edge.state, edge.action): edge for edge in graph.edges}
    return tuple(
        arrived.get((edge.start, action), Transition(edge.start, action, edge.end, 0, _LEAST))
        for edge, action in graph.given.actions_of.items())


class Closures:
    """
    The closed edges of a graph.

    An edge is closed while one of its ends is not known. An edge is also closed if a noticed
    change has closed it, or if its action has failed so often since the last change that chance
    is no explanation. The edge is open again once both ends are known and the action has led along
    it. As long as neither is seen, the edge stays what it was.

    :ivar edges: all that may close.
    :ivar closed: those that are closed.
    """

    def __init__(self, edges: Iterable[Transition], closed: Iterable[Transition] = ()) -> None:
        self.edges = tuple(edges)
        self.closed = {*closed}

    @classmethod
    def now(cls, graph: RouteGraph) -> Closures:
        """Return the closures of a graph by what was learnt up to now."""
        found = cls(may_close(graph))
        known: Knowledge = graph.learnt.knowledge
        found.update(known.known if graph.given is None else graph.nodes, known.counts,
                     known.closed)
        return found

    def update(self, known: Collection[int], counts: Counts, closed: Collection[Pair],
               ) -> tuple[list[Transition], list[Transition]]:
        """
        Return the edges that have closed and those that have opened since the last update.

        :param known: all known states, of a graph from a file all nodes; nothing changes without
            one.
        :param counts: since the last change that was noticed.
        :param closed: pairs that a noticed change has closed.
        """
        if not known:
            return [], []
        states = {*known}
        now = {edge: _closed(edge, states, counts, closed) for edge in self.edges}
        shut = [edge for edge in now if now[edge] is True and edge not in self.closed]
        opened = [edge for edge in now if now[edge] is False and edge in self.closed]
        self.closed = self.closed.union(shut).difference(opened)
        return shut, opened


def _closed(edge: Transition, known: set[int], counts: Counts,
            closed: Collection[Pair]) -> bool | None:
    """Return whether an edge is closed; None if nothing says so or the opposite."""
    if not {edge.state, edge.following} <= known:
        return True
    ends = counts.get(edge.state, {}).get(edge.action, {})
    if ends.get(edge.following):
        return False
    if (edge.state, edge.action) in closed:
        return True
    return True if (1 - edge.probability) ** sum(ends.values()) < CHANCE else None
