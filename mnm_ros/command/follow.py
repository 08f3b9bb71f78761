# SPDX-License-Identifier: Apache-2.0

"""
Keep another program up to date about the closed edges of an exported graph.

``follow`` listens to the explorer. A receiver informs the program: nav2's route server here, a
fleet adapter of Open-RMF in ``follow_fleet.py``.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from typing import Any, Protocol, TYPE_CHECKING

from mnm_ros.core.errors import NoAnswerError
from mnm_ros.core.knowledge.knowledge import Transition
from mnm_ros.export.closures import Closures, may_close
from mnm_ros.export.route_graphs import edge_ids, RouteGraph

if TYPE_CHECKING:
    from mnm_ros.subscriptions import Listener

_LOOK = 0.5      # s, between two checks
_ANSWER = 5.0    # s, after which a request is sent again


class Receiver(Protocol):
    """
    A program that avoids closed edges.

    :ivar called: what it calls an edge.
    """

    called: str

    def numbers(self, edge: Transition) -> tuple[int, ...]:
        """Return the numbers by which it knows an edge; none if it knows none."""

    def tell(self, closed: Collection[Transition]) -> None:
        """Report to the program which edges are closed, unless it knows."""


def check(package: str, installed: str) -> None:
    """Raise NoAnswerError if a package with messages cannot be imported."""
    if find_spec(package) is None:
        raise NoAnswerError(f'--follow: {package} cannot be imported, expected an installed '
                            f'{installed}')


def follow(listener: Listener, graph: RouteGraph, receiver: Receiver,
           closed: Collection[Transition] = ()) -> None:
    """
    Keep a receiver up to date until Ctrl-C, also a receiver that starts later.

    :param closed: edges that are closed until the explorer says otherwise.
    """
    closures = Closures(may_close(graph), closed)
    while True:
        heard = listener.listen(_LOOK)
        known = heard.known if graph.given is None else graph.nodes
        for what, edges in zip(('closed', 'open again'), closures.update(
                known, heard.counts, heard.closed)):
            if edges:
                print(f'{what}: {_named(graph, receiver, edges)}', flush=True)
        if known:
            receiver.tell(closures.closed)


def _named(graph: RouteGraph, receiver: Receiver, edges: Collection[Transition]) -> str:
    said = graph.learnt.description
    return ', '.join(f'{said.label(edge.state)} {said.action_name(edge.action, edge.state)} '
                     f'({_numbered(receiver, edge)})' for edge in edges)


def _numbered(receiver: Receiver, edge: Transition) -> str:
    numbers = ' and '.join(map(str, receiver.numbers(edge)))
    return f'{receiver.called} {numbers}' if numbers else f'no {receiver.called}'


class RouteServer:
    """
    nav2's route server, whose plugin ``DynamicEdgesScorer`` offers the service that this calls.

    :param service: the name of the service.
    """

    called = 'edge'

    def __init__(self, listener: Listener, graph: RouteGraph, service: str) -> None:
        from nav2_msgs.srv import DynamicEdges
        self._listener = listener
        self._client: Any = listener.client(DynamicEdges, service)
        self._ids = edge_ids(graph, may_close(graph))
        self._opened = {self._ids[edge] for edge in graph.edges}    # unless they are closed
        self._told: set[int] | None = None    # closed edges that it knows; None if unknown

    def numbers(self, edge: Transition) -> tuple[int, ...]:
        """Return the id of an edge."""
        return (self._ids[edge],)

    def tell(self, closed: Collection[Transition]) -> None:
        """Report to the server of each edge whether it is closed, if any of them has changed."""
        # Of several edges with one id the server closes all or none.
        ids = {self._ids[edge] for edge in closed} - {
            number for edge, number in self._ids.items() if edge not in closed}
        self._opened |= ids
        if not self._client.service_is_ready():
            self._told = None
        elif self._told != ids:
            answer = self._listener.ask(self._client, self._client.srv_type.Request(
                closed_edges=sorted(ids), opened_edges=sorted(self._opened - ids)), _ANSWER)
            self._told = ids if answer and answer.success else None
