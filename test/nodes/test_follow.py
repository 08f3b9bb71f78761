# SPDX-License-Identifier: Apache-2.0

"""
``mnm_ros export --follow`` tells nav2's route server of closed edges.

All but the refusal needs the type of its service, ``nav2_msgs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
import time
from types import SimpleNamespace
from typing import Any

from mnm_ros.command import follow
from mnm_ros.command.knowledge import export, ROUTE_SERVER
from mnm_ros.core.knowledge.knowledge import Knowledge
from mnm_ros.core.model.policy import Policy
from mnm_ros.export.contents import ExportContents
from mnm_ros.export.route_graphs import RouteGraph
from mnm_ros.robot_description import RobotDescription
from node_processes import DEADLINE, Peer
import pytest

KNOWN = (0, 1, 2)
GRAPH = RouteGraph.of(ExportContents('a test', Knowledge(    # 0 - 1 - 2, from west to east
    9, 0, KNOWN, policies={2: Policy(2, 6, KNOWN, ((0, 0, -1),))},
    counts={0: {0: {1: 9}}, 1: {0: {2: 9}}}), RobotDescription(
        ('east',), positions={0: (0.0, 0.0), 1: (1.0, 0.0), 2: (2.0, 0.0)})))
FIRST, SECOND = 65535, 65534    # the ids of its edges


class Explorer:
    """What is heard of one, a look after the other, and a server that is not there at first."""

    def __init__(self, looks: Sequence[tuple[Sequence[int], Any]]) -> None:
        self.requests: list[tuple[list[int], list[int]]] = []
        self._looks = [
            SimpleNamespace(known=known, counts=counts, closed=()) for known, counts in looks]
        self._shown = 0
        self._peer, self._server = Peer(), Peer(name='route_server')
        self._end = time.monotonic() + DEADLINE

    def ask(self, client: Any, request: Any, timeout: float) -> Any:
        answer = client.call_async(request)
        self._peer.wait_for(
            lambda: self._server.spin(0.01) or answer.done(), 'the answer', timeout)
        return answer.result()

    def client(self, kind: Any, name: str) -> Any:
        self._kind, self._served = kind, False
        return self._peer.node.create_client(kind, name)

    def listen(self, seconds: float) -> Any:
        """Say the next thing once the server has heard of the last one."""
        self._peer.spin(0.01)
        self._server.spin(0.01)
        assert time.monotonic() < self._end, self.requests
        if len(self.requests) == self._shown:
            if self._shown == len(self._looks):
                raise KeyboardInterrupt
            self._shown += 1
        elif not self._served:
            self._server.node.create_service(self._kind, ROUTE_SERVER, self._answer)
            self._served = True
        return self._looks[self._shown - 1]

    def _answer(self, request: Any, response: Any) -> Any:
        self.requests.append(([*request.closed_edges], [*request.opened_edges]))
        response.success = True
        return response


@pytest.mark.skipif(find_spec('nav2_msgs') is None, reason='nav2_msgs is not installed')
def test_a_server_hears_of_each_change(capsys: pytest.CaptureFixture) -> None:
    explorer = Explorer([
        ((0, 1), {}), ((0, 1), {0: {0: {0: 1}}}), (KNOWN, GRAPH.learnt.knowledge.counts)])
    with pytest.raises(KeyboardInterrupt):
        follow.follow(explorer, GRAPH, follow.RouteServer(explorer, GRAPH, ROUTE_SERVER))
    assert explorer.requests == [
        ([SECOND], [FIRST]), ([SECOND, FIRST], []), ([], [SECOND, FIRST])]
    assert capsys.readouterr().out.splitlines() == [
        'closed: 1 east (edge 65534)', 'closed: 0 east (edge 65535)',
        'open again: 0 east (edge 65535), 1 east (edge 65534)']


def test_it_is_refused_where_it_means_nothing(
        capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = ['--format', 'rmf', '--graph', 'g.yaml', '--fleet', 'f']
    for words in (['--format', 'rmf', '--output', 'x'], ['--format', 'nav2-route'], fleet,
                  ['--format', 'nav2-route', '--output', 'x', '--from', 'y'],
                  [*fleet, '--output', 'x', '--from', 'y']):
        with pytest.raises(SystemExit):
            export([*words, '--follow'], 'mnm_ros export')
        assert 'expected --format nav2-route and --output' in capsys.readouterr().err
    monkeypatch.setattr(follow, 'find_spec', lambda name: None)
    assert export(['--format', 'nav2-route', '--output', 'x', '--follow'], 'mnm_ros export') == 1
    assert 'nav2_msgs cannot be imported' in capsys.readouterr().err
