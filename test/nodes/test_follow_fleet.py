# SPDX-License-Identifier: Apache-2.0

"""
``mnm_ros export --format rmf --follow`` closes and opens the lanes of a fleet of Open-RMF.

All but the refusal needs the messages ``rmf_fleet_msgs``. ``Adapter`` does as the fleet adapter
``full_control`` of ``rmf_fleet_adapter`` and its ``FleetUpdateHandle``, in open-rmf/rmf_ros2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mnm_ros import messages
from mnm_ros.command import follow, follow_fleet
from mnm_ros.command.follow_fleet import FleetAdapter
from mnm_ros.command.knowledge import export
from mnm_ros.core.knowledge.knowledge import Knowledge, nested, Transition
from mnm_ros.export.closures import may_close
from mnm_ros.export.contents import ExportContents
from mnm_ros.export.lane_requests import FleetLanes
from mnm_ros.places.graph_file import read_graph
from mnm_ros.places.rmf_lanes import requested, REQUESTS
from node_processes import Peer
import pytest

with_messages = pytest.mark.skipif(
    find_spec('rmf_fleet_msgs') is None, reason='rmf_fleet_msgs is not installed')

FLEET = 'tinyRobot'
LOOK = 0.2    # s, between two looks
GRAPH = """
levels:
  L1:
    vertices: [[0, 0, {name: dock}], [5, 0, {name: hall}], [9, 0, {name: lab}]]
    lanes: [[0, 1, {}], [1, 0, {}], [1, 2, {}], [2, 1, {}]]
"""


class Adapter:
    """
    A fleet adapter.

    :param states: whether it publishes ``lane_states``, which the oldest do not.
    :ivar closed: its lanes that are closed.
    """

    def __init__(self, fleet: str = FLEET, states: bool = True) -> None:
        from rmf_fleet_msgs.msg import ClosedLanes, LaneRequest, LaneStates
        self.peer, self.fleet, self.closed = Peer(name=f'{fleet}_adapter'), fleet, set[int]()
        self.requests: list[Any] = []
        node = self.peer.node
        self._closed_lanes = node.create_publisher(ClosedLanes, 'closed_lanes', messages.LATCHED)
        self._lane_states = node.create_publisher(
            LaneStates, 'lane_states', messages.LATCHED) if states else None
        node.create_subscription(
            LaneRequest, 'lane_closure_requests', self._hear, messages.STEP)
        self._publish_states()

    def _hear(self, request: Any) -> None:
        if request.fleet_name != self.fleet or not request.fleet_name:
            return
        self.requests.append(([*request.open_lanes], [*request.close_lanes]))
        before = {*self.closed}
        self.closed = self.closed - {*request.open_lanes} | {*request.close_lanes}
        self._closed_lanes.publish(self._message(self._closed_lanes))
        if self.closed != before:
            self._publish_states()

    def _publish_states(self) -> None:
        if self._lane_states is not None:
            self._lane_states.publish(self._message(self._lane_states))

    def _message(self, publisher: Any) -> Any:
        return publisher.msg_type(fleet_name=self.fleet, closed_lanes=sorted(self.closed))

    def end(self) -> None:
        self.peer.node.destroy_node()


class Listener:
    """Stands in for that of the command: each look hears the messages of all peers."""

    def __init__(self, looks: Iterable[Any] = ()) -> None:
        self.peer = Peer(name='console')
        self._looks = iter(looks)

    def publisher(self, kind: Any, topic: str, qos: Any) -> Any:
        return self.peer.node.create_publisher(kind, topic, qos)

    def hear(self, kind: Any, topic: str, qos: Any, take: Callable[[Any], object]) -> None:
        self.peer.node.create_subscription(kind, topic, take, qos)

    def listen(self, seconds: float) -> Any:
        self.peer.spin(LOOK / 2)
        try:
            return next(self._looks)
        except StopIteration:
            raise KeyboardInterrupt from None


class Scene:
    """A receiver with the edges of the graph, and fleet adapters."""

    def __init__(self, path: Path, own: Sequence[int] = ()) -> None:
        self.output = path / 'closed.yaml'
        graph = path / 'office.yaml'
        graph.write_text(GRAPH)
        given = read_graph(graph)
        learnt = ExportContents('a test', Knowledge(9, 0, counts=nested([
            (edge.start, action, edge.end, 9) for edge, action in given.actions_of.items()])),
            given.describe(0))
        self.lanes = FleetLanes.of(learnt, given, FLEET)
        self.listener = Listener()
        self.receiver = FleetAdapter(self.listener, self.lanes, REQUESTS, self.output, own)
        self.adapters: list[Adapter] = []

    def edges(self, *lanes: int) -> list[Transition]:
        return [edge for edge in may_close(self.lanes.graph)
                if {*self.lanes.numbers(edge)} <= {*lanes}]

    def look(self, *closed: int) -> None:
        """Spin all nodes, and tell the receiver which lanes have closed edges."""
        for peer in (self.listener.peer, *(adapter.peer for adapter in self.adapters)):
            peer.spin(LOOK / 2)
        self.listener.peer.spin(LOOK / 2)
        self.receiver.tell(self.edges(*closed))

    def wait_until(self, condition: Callable[[], object], what: str, *closed: int) -> None:
        self.listener.peer.wait_for(lambda: self.look(*closed) or condition(), what)

    def start(self, **options: Any) -> Adapter:
        self.adapters.append(Adapter(**options))
        return self.adapters[-1]

    def ask(self, adapter: Adapter, opened: Sequence[int], closed: Sequence[int]) -> None:
        """Let somebody else open and close lanes, as ``close_lanes`` does."""
        from rmf_fleet_msgs.msg import LaneRequest
        other = Peer(name='close_lanes')
        publisher = other.node.create_publisher(
            LaneRequest, 'lane_closure_requests', messages.LATCHED_BY_MANY)
        heard = len(adapter.requests)

        def ask() -> bool:
            if publisher.get_subscription_count():
                publisher.publish(LaneRequest(
                    fleet_name=adapter.fleet, open_lanes=opened, close_lanes=closed))
            adapter.peer.spin(LOOK)
            return len(adapter.requests) > heard
        other.wait_for(ask, 'the request of somebody else')


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@with_messages
def test_lanes_close_and_open_with_their_edges_and_a_late_adapter_is_told_all(
        scene: Scene) -> None:
    scene.look(2, 3)    # nobody is there
    for options in ({'fleet': 'other'}, {}):
        adapter = scene.start(**options)
    scene.wait_until(lambda: adapter.closed == {2, 3}, 'closed lanes', 2, 3)
    assert not scene.adapters[0].closed
    scene.wait_until(lambda: adapter.closed == {3}, 'an open lane', 3)
    scene.wait_until(lambda: scene.receiver.own == {3}, 'the answer', 3)
    assert requested(scene.output, FLEET) == {3}
    requests = len(adapter.requests)
    for _ in range(5):
        scene.look(3)
    assert len(adapter.requests) == requests    # nothing is repeated once it is confirmed
    scene.adapters.remove(adapter)
    adapter.end()
    scene.wait_until(lambda: scene.receiver._adapters == 1, 'that an adapter is gone', 3)
    again = scene.start()
    scene.wait_until(lambda: again.closed == {3}, 'the same of an adapter that restarted', 3)


@with_messages
def test_a_lane_that_somebody_else_has_closed_is_not_opened(scene: Scene) -> None:
    adapter = scene.start()
    scene.ask(adapter, [], [1])
    scene.wait_until(lambda: adapter.closed == {1, 2}, 'closed lanes', 1, 2)
    assert scene.receiver.own == {2} and requested(scene.output, FLEET) == {2}
    scene.wait_until(lambda: adapter.closed == {1}, 'an open lane')
    scene.wait_until(lambda: not scene.receiver.own, 'the answer')
    assert all(1 not in opened for opened, _ in adapter.requests)


@with_messages
def test_a_lane_that_somebody_else_opens_stays_open_until_its_edge_closes_again(
        scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    adapter = scene.start()
    scene.wait_until(lambda: adapter.closed == {2}, 'a closed lane', 2)
    scene.wait_until(lambda: scene.receiver._confirmed == {2}, 'the answer', 2)
    scene.ask(adapter, [2], [])
    scene.wait_until(lambda: not scene.receiver.own, 'that it is noticed', 2)
    for _ in range(3):
        scene.look(2)
    assert not adapter.closed and capsys.readouterr().out == 'opened by somebody else: lane 2\n'
    scene.look()
    scene.wait_until(lambda: adapter.closed == {2}, 'a lane closed again', 2)


@with_messages
def test_an_adapter_that_is_silent_before_a_request_is_asked_after_a_while(
        scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_fleet, '_SILENT', 2 * LOOK)
    adapter = scene.start(states=False)
    scene.wait_until(lambda: adapter.closed == {0}, 'a closed lane', 0)
    scene.wait_until(lambda: scene.receiver._confirmed == {0}, 'the answer', 0)
    scene.wait_until(lambda: not adapter.closed, 'an open lane')


@with_messages
def test_lanes_of_the_run_before_are_opened_too(tmp_path: Path) -> None:
    scene = Scene(tmp_path, own=[2, 3])
    adapter = scene.start()
    scene.ask(adapter, [], [1, 2, 3])
    scene.wait_until(lambda: adapter.closed == {1, 3}, 'an open lane', 3)
    assert scene.receiver.own - {2} == {3}


@with_messages
def test_a_fleet_that_nobody_drives_is_named(
        scene: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
        ) -> None:
    for name in ('_SILENT', '_UNHEARD'):
        monkeypatch.setattr(follow_fleet, name, 2 * LOOK)
    scene.start(fleet='deliveryRobot')
    heard = ''

    def complains() -> bool:
        nonlocal heard
        heard += capsys.readouterr().out
        return bool(heard)
    scene.wait_until(complains, 'a complaint', 2)
    assert heard == (
        'no fleet adapter of tinyRobot confirms the request, expected one on /closed_lanes or '
        '/lane_states; found those of deliveryRobot\n')
    for _ in range(5):
        scene.look(2)
    assert not capsys.readouterr().out


@with_messages
def test_what_the_explorer_says_closes_and_opens_lanes(
        scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    """From hall to lab: closed by a change, and open once the robot has arrived."""
    adapter = scene.start()
    counts = scene.lanes.graph.learnt.knowledge.counts

    def looks() -> Any:
        for nexts, wanted in (({1: 3}, {2}), ({1: 3, 2: 1}, set[int]())):
            heard = SimpleNamespace(
                known=(), counts={**counts, 1: {**counts[1], 1: nexts}}, closed=((1, 1),))
            yield heard
            while adapter.closed != wanted:
                adapter.peer.spin(LOOK / 2)
                yield heard
    listener = Listener(looks())
    receiver = FleetAdapter(listener, scene.lanes, REQUESTS, scene.output)
    with pytest.raises(KeyboardInterrupt):
        follow.follow(listener, scene.lanes.graph, receiver)
    assert capsys.readouterr().out.splitlines() == [
        'closed: hall (1) to lab (lane 2)', 'open again: hall (1) to lab (lane 2)']


def test_without_the_messages_it_is_refused(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
        ) -> None:
    (tmp_path / 'office.yaml').write_text(GRAPH)
    monkeypatch.setattr(follow, 'find_spec', lambda name: None)
    assert export(['--format', 'rmf', '--graph', str(tmp_path / 'office.yaml'), '--fleet', FLEET,
                   '--output', str(tmp_path / 'x'), '--follow'], 'mnm_ros export') == 1
    assert capsys.readouterr().err == (
        'mnm_ros export: --follow: rmf_fleet_msgs cannot be imported, expected an installed '
        'Open-RMF\n')
