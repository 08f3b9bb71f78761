# SPDX-License-Identifier: Apache-2.0

"""
Tell nav2's route server which edges of an exported graph are closed, as exploration goes on.

Its plugin ``DynamicEdgesScorer`` offers the service that this calls.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from typing import Any, TYPE_CHECKING

from mnm_ros.core.errors import NoAnswerError
from mnm_ros.core.knowledge.knowledge import Counts, Transition
from mnm_ros.export.route_graphs import edge_ids, RouteGraph

if TYPE_CHECKING:
    from mnm_ros.subscriptions import Listener

_LOOK = 0.5      # s, between two looks
_ANSWER = 5.0    # s, after which a request is sent again
CHANCE = 0.01
"""With which a way that still works may have failed as often as one that is called closed."""


def check() -> None:
    """Raise NoAnswerError if nav2 is not installed."""
    if find_spec('nav2_msgs') is None:
        raise NoAnswerError('--follow: nav2_msgs cannot be imported, expected an installed nav2')


def follow(listener: Listener, graph: RouteGraph, service: str) -> None:
    """Keep a route server up to date until Ctrl-C; one that comes later hears of all, too."""
    from nav2_msgs.srv import DynamicEdges
    closures, client = Closures(graph), listener.client(DynamicEdges, service)
    told: set[int] | None = None    # what the server knows; None if that may be anything
    while True:
        heard = listener.listen(_LOOK)
        known = heard.known if graph.given is None else graph.nodes
        for what, numbers in zip(('closed', 'open again'), closures.look(known, heard.counts)):
            if numbers:
                print(f'{what}: {_named(closures, graph, numbers)}', flush=True)
        if not client.service_is_ready():
            told = None
        elif known and told != closures.closed:
            told = _tell(listener, client, closures)


def _tell(listener: Listener, client: Any, closures: Closures) -> set[int] | None:
    """Say of each edge what it is; return what was taken, None without an answer."""
    closed = {*closures.closed}
    answer = listener.ask(client, client.srv_type.Request(
        closed_edges=sorted(closed), opened_edges=sorted({*closures.edges} - closed)), _ANSWER)
    return closed if answer and answer.success else None


def _named(closures: Closures, graph: RouteGraph, numbers: Collection[int]) -> str:
    said = graph.learnt.description
    found = [(number, closures.edges[number]) for number in numbers]
    return ', '.join(f'{said.label(edge.state)} {said.action_name(edge.action, edge.state)} '
                     f'(edge {number})' for number, edge in found)


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

        :param known: all known states, of a given graph all nodes; there is nothing to be seen
            without one.
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
