# SPDX-License-Identifier: Apache-2.0

"""Which edges of an exported route graph are closed, as an exploration goes on."""

from __future__ import annotations

from collections.abc import Collection

from mnm_ros.export.learnt import Transition
from mnm_ros.export.route_graphs import edge_ids, RouteGraph
from mnm_ros.view.heard import Counts

CHANCE = 0.01
"""With which a way that still works may have failed as often as one that is called closed."""


class Closures:
    """
    The closed edges of a graph.

    An edge is closed while one of its ends is not known, or while its action, since the last
    change that was noticed, has failed so often that chance is no explanation. It is open again
    once both ends are known and the action has led along it. As long as neither is seen it stays
    what it was.

    :ivar edges: by their ids.
    :ivar closed: ids.
    """

    def __init__(self, graph: RouteGraph) -> None:
        self.edges = {number: edge for edge, number in edge_ids(graph).items()}
        self.closed: set[int] = set()

    def look(self, known: Collection[int], counts: Counts) -> tuple[list[int], list[int]]:
        """
        Return the edges that are closed now and those that are open again, since the last look.

        :param known: all known states; there is nothing to be seen without one.
        :param counts: since the last change that was noticed.
        """
        if not known:
            return [], []
        now = {number: _closed(edge, known, counts) for number, edge in self.edges.items()}
        closed = [number for number in now if now[number] is True and number not in self.closed]
        opened = [number for number in now if now[number] is False and number in self.closed]
        self.closed = self.closed.union(closed).difference(opened)
        return closed, opened


def _closed(edge: Transition, known: Collection[int], counts: Counts) -> bool | None:
    """Return whether an edge is closed; None if that cannot be told."""
    if not {edge.state, edge.following} <= {*known}:
        return True
    ends = counts.get(edge.state, {}).get(edge.action, {})
    if ends.get(edge.following):
        return False
    return True if (1 - edge.probability) ** sum(ends.values()) < CHANCE else None
