# SPDX-License-Identifier: Apache-2.0

"""
``mnm_ros export --format rmf --graph FILE`` writes which lanes of a fleet are closed.

``fields`` reads the file as ``ros2 topic pub`` reads a ``rmf_fleet_msgs/msg/LaneRequest``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mnm_ros.command.knowledge import export
from mnm_ros.core.errors import ExportError
from mnm_ros.core.knowledge.knowledge import Knowledge, nested
from mnm_ros.core.progress.events import Event, PairChange
from mnm_ros.export.closures import may_close
from mnm_ros.export.contents import ExportContents
from mnm_ros.export.lane_requests import FleetLanes
from mnm_ros.places.graph_file import read_graph
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.places.rmf_lanes import requested
from mnm_ros.view.telemetry import Telemetry
import pytest
import yaml

GRAPH = """
levels:
  L1:
    vertices: [[0, 0, {name: dock, is_charger: true}], [5, 0, {name: hall}], [9, 0, {lift: A}]]
    lanes: [[0, 1, {}], [1, 0, {}], [1, 2, {door_name: glass}], [2, 1, {}]]
  L2:
    vertices: [[9, 0, {lift: A}], [9, 7, {name: roof}]]
    lanes: [[0, 1, {}], [1, 0, {}]]
"""
PLACES = range(5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / 'office.yaml'
    path.write_text(GRAPH)
    return path


def learnt_of(graph: PlaceGraph, closed: tuple[tuple[int, int], ...] = ()) -> ExportContents:
    """Return that 1 to 2 has failed twice and 4 to 3 for 20 times; others have arrived."""
    failures = {(1, 2): 2, (4, 3): 20}
    counts = nested([
        (edge.start, action, edge.start, failures[edge.start, edge.end])
        if (edge.start, edge.end) in failures else (edge.start, action, edge.end, 30)
        for edge, action in graph.actions_of.items()])
    return ExportContents('a test', Knowledge(99, 0, counts=counts, closed=closed),
                          graph.describe(0))


def fields(text: bytes) -> dict[str, Any]:
    found = yaml.safe_load(text)
    assert [*found] == ['fleet_name', 'open_lanes', 'close_lanes']
    assert type(found['fleet_name']) is str
    for name in ('open_lanes', 'close_lanes'):
        assert all(type(lane) is int and 0 <= lane < 2**64 for lane in found[name])
    return found


def written(learnt: ExportContents, graph: PlaceGraph, fleet: str = 'tinyRobot') -> bytes:
    return FleetLanes.of(learnt, graph, fleet).request


def test_closed_lanes_are_those_that_a_change_has_closed_and_that_fail_too_often(
        path: Path) -> None:
    graph = read_graph(path)
    assert fields(written(learnt_of(graph), graph))['close_lanes'] == [5]
    text = written(learnt_of(graph, closed=((1, 1),)), graph, '1')
    assert fields(text) == {'fleet_name': '1', 'open_lanes': [], 'close_lanes': [2, 5]}
    assert text.decode().splitlines() == [
        '# Closed lanes of office.yaml: a rmf_fleet_msgs/msg/LaneRequest for '
        '/lane_closure_requests', "fleet_name: '1'", 'open_lanes: []', 'close_lanes:',
        '- 2    # L1: hall (1) to A L1, arrived 0 of 2 times',
        '- 5    # L2: roof (4) to A L2, arrived 0 of 20 times']
    assert not FleetLanes.of(learnt_of(graph), graph, 'tinyRobot').warnings


def test_of_a_running_explorer_the_last_change_of_a_pair_counts() -> None:
    shut, opened = PairChange(1, 1, {2: 30}, {1: 5}), PairChange(1, 1, {1: 5}, {2: 3})
    others = PairChange(0, 0, {1: 30}, {2: 5}), PairChange(3, 0, {3: 9}, {3: 1, 4: 1})
    events = [Event(9, '', 'change', change) for change in (*others, opened, shut)]
    hint = Event(9, '', 'hint', PairChange(2, 0, {1: 30}, {2: 5}))
    assert Telemetry(events=(*events, hint)).knowledge.closed == ((1, 1),)
    assert Telemetry(events=(*events, Event(10, '', 'change', opened))).knowledge.closed == ()


def test_without_closed_lanes_the_request_is_empty(path: Path) -> None:
    graph = read_graph(path)
    counts = nested([(edge.start, action, edge.end, 3)
                     for edge, action in graph.actions_of.items()])
    learnt = learnt_of(graph)
    text = written(replace(learnt, knowledge=replace(learnt.knowledge, counts=counts)), graph)
    assert fields(text)['close_lanes'] == []


def test_an_edge_without_a_numbered_lane_is_named(path: Path) -> None:
    path.write_text(GRAPH.replace('[0, 1, {}], [1, 0, {}]]', '[0, 1, {is_bidirectional: true}]]'))
    graph = read_graph(path)
    assert fields(written(learnt_of(graph), graph))['close_lanes'] == []
    assert FleetLanes.of(learnt_of(graph), graph, 'tinyRobot').warnings == [
        f'{path}: closed, but without a lane whose number is known: L2 0 back; expected a '
        'navigation graph with two lanes instead of is_bidirectional, and with one lift at most']


def test_lanes_of_a_lift_are_closed_like_others(path: Path) -> None:
    graph = read_graph(path)
    lanes = FleetLanes.of(learnt_of(graph), graph, 'tinyRobot')
    lift = [edge for edge in may_close(lanes.graph) if (edge.state, edge.following) == (2, 3)]
    assert lanes.numbers(*lift) == (6,)
    assert lanes.within([6, 1]) == [
        edge for edge in may_close(lanes.graph) if lanes.numbers(edge) in ((1,), (6,))]
    assert 'L1: A L1 (2) to A L2' in lanes.text(lift)


def test_a_bad_fleet_or_graph_is_refused(path: Path, tmp_path: Path) -> None:
    graph = read_graph(path)
    learnt = learnt_of(graph)
    for fleet in ('', ' a', 'a\n'):
        with pytest.raises(ExportError, match=r'^--fleet is .*, expected the name of a fleet'):
            written(learnt, graph, fleet)
    with pytest.raises(ExportError, match='expected the graph that was explored'):
        path.write_text(GRAPH.replace('[1, 2, {door_name: glass}]', '[0, 2, {}]'))
        written(learnt, read_graph(path))
    flat = tmp_path / 'flat.tmap2.yaml'
    flat.write_text("""
nodes:
- node: {name: a, pose: {position: {x: 1, y: 2}}, edges: [{edge_id: ab, node: b}]}
- node: {name: b, pose: {position: {x: 3, y: 2}}, edges: [{edge_id: ba, node: a}]}
""")
    other = read_graph(flat)
    learnt = ExportContents('a test', Knowledge(counts=nested([(1, 0, 2, 3)])), other.describe(1))
    with pytest.raises(ExportError, match=r'tmap2.yaml has no lanes, expected a navigation gra'):
        written(learnt, other)


def test_a_request_is_read_again_of_the_same_fleet_alone(path: Path, tmp_path: Path) -> None:
    graph = read_graph(path)
    file = tmp_path / 'closed.yaml'
    assert requested(file, 'tinyRobot') == set()
    file.write_bytes(written(learnt_of(graph, closed=((1, 1),)), graph))
    assert requested(file, 'tinyRobot') == {2, 5} and requested(file, 'deliveryRobot') == set()
    for text in ('[', 'fleet_name: tinyRobot\nclose_lanes: [-1]', 'levels: {}', ''):
        file.write_text(text)
        assert requested(file, 'tinyRobot') == set()


def test_the_command_writes_it(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                               capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr('mnm_ros.command.source.find', lambda *_: learnt_of(read_graph(path)))
    words = ['--format', 'rmf', '--graph', str(path), '--output', str(tmp_path / 'closed.yaml')]
    assert export([*words, '--fleet', 'tinyRobot'], 'mnm_ros export') == 0
    assert fields((tmp_path / 'closed.yaml').read_bytes())['close_lanes'] == [5]
    assert export([*words, '--fleet', ''], 'mnm_ros export') == 1
    assert '--fleet is' in capsys.readouterr().err
    for more, error in (
            ([], 'argument --fleet: expected with --format rmf and --graph'),
            (['--fleet', 'f', '--level', 'L2'], '--level: expected --format rmf without --graph')):
        with pytest.raises(SystemExit):
            export([*words, *more], 'mnm_ros export')
        assert error in capsys.readouterr().err
