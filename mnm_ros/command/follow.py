# SPDX-License-Identifier: Apache-2.0

"""
Tell nav2's route server which edges of an exported graph are closed, as exploration goes on.

Its plugin ``DynamicEdgesScorer`` offers the service that this calls.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from typing import Any, TYPE_CHECKING

from mnm_ros.console.arguments import NoAnswer
from mnm_ros.export.closures import Closures
from mnm_ros.export.route_graphs import RouteGraph

if TYPE_CHECKING:
    from mnm_ros.subscriptions import Listener

_LOOK = 0.5      # s, between two looks
_ANSWER = 5.0    # s, after which a request is sent again


def check() -> None:
    """Raise NoAnswer if nav2 is not installed."""
    if find_spec('nav2_msgs') is None:
        raise NoAnswer('--follow: nav2_msgs cannot be imported, expected an installed nav2')


def follow(listener: Listener, graph: RouteGraph, service: str) -> None:
    """Keep a route server up to date until Ctrl-C; one that comes later hears of all, too."""
    from nav2_msgs.srv import DynamicEdges
    closures, client = Closures(graph), listener.client(DynamicEdges, service)
    told: set[int] | None = None    # what the server knows; None if that may be anything
    while True:
        heard = listener.listen(_LOOK)
        for what, numbers in zip(('closed', 'open again'),
                                 closures.look(heard.known, heard.counts)):
            if numbers:
                print(f'{what}: {_named(closures, graph, numbers)}', flush=True)
        if not client.service_is_ready():
            told = None
        elif heard.known and told != closures.closed:
            told = _tell(listener, client, closures)


def _tell(listener: Listener, client: Any, closures: Closures) -> set[int] | None:
    """Say of each edge what it is; return what was taken, None without an answer."""
    closed = {*closures.closed}
    answer = client.call_async(client.srv_type.Request(
        closed_edges=sorted(closed), opened_edges=sorted({*closures.edges} - closed)))
    for _ in range(round(_ANSWER / _LOOK)):
        if answer.done():
            break
        listener.listen(_LOOK)
    return closed if answer.done() and answer.result().success else None


def _named(closures: Closures, graph: RouteGraph, numbers: Collection[int]) -> str:
    said = graph.learnt.description
    return ', '.join(f'{said.label(edge.state)} {said.action_name(edge.action)} (edge {number})'
                     for number in numbers for edge in (closures.edges[number],))
