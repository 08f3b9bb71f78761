# SPDX-License-Identifier: Apache-2.0

"""
Graphs of places, read as their programs do.

``load_graph`` has the rules of nav2's ``GeoJsonGraphFileLoader`` and of the plugins that score
edges, ``parse_graph`` those of the function of this name in ``rmf_fleet_adapter``. Whether there
are routes is asked in ``test_routes.py``.
"""

from __future__ import annotations

from dataclasses import replace
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from late import late
from mnm_ros.command.knowledge import export
from mnm_ros.core.errors import ExportError
from mnm_ros.core.knowledge.knowledge import Knowledge, nested
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.export.closures import Closures, may_close
from mnm_ros.export.contents import ExportContents
from mnm_ros.export.formats import FORMATS
from mnm_ros.export.route_graphs import edge_ids, RouteGraph, warnings
from mnm_ros.places.geojson import read_geojson
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.robot_description import RobotDescription
import pytest
import yaml

stats = late('scipy.stats')

EAST, WEST, NORTH, SOUTH = range(4)
RESET = -1
KNOWN = (0, 1, 2, 3)
# 0 - 1 - 2; 3 is north of 1, in some tests without a place.
FLAT = ExportContents('a test', Knowledge(
    100, 0, KNOWN, policies={target: Policy(target, 6, KNOWN, (row,)) for target, row in (
        (0, (EAST, WEST, WEST, RESET)), (1, (EAST, WEST, WEST, RESET)),
        (2, (EAST, EAST, WEST, RESET)), (3, (EAST, NORTH, RESET, EAST)))},
    counts=nested([(0, EAST, 1, 30), (0, EAST, 0, 10), (1, EAST, 2, 3), (1, EAST, 1, 5),
                   (1, EAST, 0, 2), (1, WEST, 0, 9), (1, NORTH, 3, 4), (2, WEST, 1, 7),
                   (3, EAST, 3, 1), (0, RESET, 0, 5)]),
    limit=8.0, trust={1: PolicyTrust(Trust.PROVEN, 1.25, 8.0, 7, 'a test', expected_seconds=5.0)}),
    RobotDescription(
        ('east', 'west', 'north', 'south'), frame='map', names={1: 'door', 2: 'door'},
        positions={0: (0.0, 0.0), 1: (1, 0.5), 2: (2.0, 0.0), 3: (1.0, 1.5), 4: (9.0, 9.0)}))


def with_known(**fields: Any) -> ExportContents:
    """Return the flat with something else known."""
    return replace(FLAT, knowledge=replace(FLAT.knowledge, **fields))


def load_graph(text: bytes) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return nodes and edges by their ids as nav2 has them; an error is what it ends on."""
    nodes: dict[int, Any] = {}
    edges: dict[int, Any] = {}
    features = json.loads(text)['features']
    for feature in features:
        kind, found = feature['geometry']['type'], feature['properties']
        if kind == 'Point':
            x, y = (real(value) for value in feature['geometry']['coordinates'])
            nodes[carried(found['id'])] = SimpleNamespace(
                place=(x, y), frame=text_of(found.get('frame', 'map')), **metadata(found))
    for feature in features:
        kind, found = feature['geometry']['type'], feature['properties']
        if kind in ('MultiLineString', 'LineString'):
            start, end = carried(found['startid']), carried(found['endid'])
            assert start in nodes and end in nodes and carried(found['id']) not in {
                *edges, *nodes}
            assert found['overridable'] is True    # else a closed edge would be taken
            cost = scored(found['cost'])
            assert cost > 0    # else there is no route if nothing else scores it
            edges[found['id']] = SimpleNamespace(
                ways=(start, end), cost=cost, line=feature['geometry']['coordinates'],
                **metadata(found))
    assert nodes and edges
    return nodes, edges


def metadata(properties: dict[str, Any]) -> dict[str, Any]:
    found = properties['metadata']
    assert isinstance(found, dict)
    assert all(isinstance(value, (str, float)) for value in found.values())
    return found


def carried(number: Any) -> int:
    """Return an id as services carry it."""
    assert type(number) is int and 0 <= number < 2**16
    return number


def real(number: Any) -> float:
    assert type(number) in (int, float)
    return float(number)


def scored(number: Any) -> float:
    """Return a figure that a plugin takes for a float: one with a point."""
    assert type(number) is float
    return number


def text_of(text: Any) -> str:
    assert isinstance(text, str)
    return text


def test_nav2_reads_nodes_and_edges() -> None:
    nodes, edges = load_graph(FORMATS['nav2-route'].write(FLAT))
    assert {node: found.place for node, found in nodes.items()} == {
        0: (0.0, 0.0), 1: (1.0, 0.5), 2: (2.0, 0.0), 3: (1.0, 1.5)}
    assert {found.frame for found in nodes.values()} == {'map'}
    assert {found.ways: (found.action, getattr(found, 'class')) for found in edges.values()} == {
        (0, 1): ('east', 'policy'), (1, 2): ('east', 'policy'), (1, 3): ('north', 'policy'),
        (1, 0): ('west', 'tested'), (2, 1): ('west', 'tested')}
    there = next(found for found in edges.values() if found.ways == (0, 1))
    assert there.line == [[[0.0, 0.0], [1, 0.5]]]
    bounds = [scored(there.least_probability), scored(there.most_probability)]
    exact = stats.binomtest(30, 40).proportion_ci(0.95)    # after Clopper and Pearson
    assert bounds == pytest.approx([exact.low, exact.high], abs=1e-6)
    assert there.probability == scored(0.75) and there.cost == pytest.approx(4 / 3, abs=1e-6)
    assert scored(there.expected_steps) == there.cost
    assert scored(there.expected_seconds) == pytest.approx(4 / 3 * 4.0, abs=1e-5)
    assert (nodes[1].name, nodes[1].trust, scored(nodes[1].at_most_steps)) == (
        'door', 'proven', 8.0)
    assert not hasattr(nodes[2], 'at_most_steps') and nodes[0].expected_steps == 0.0


@pytest.mark.parametrize(('there', 'times', 'enough'), [
    (2, 2, False), (3, 3, True), (8, 16, False), (9, 16, True), (0, 0, False)])
def test_what_no_policy_plays_is_an_edge_once_it_is_tested(
        there: int, times: int, enough: bool) -> None:
    """South leads from 3 to 1, where no policy comes; 4 executions are enough by the bound."""
    counts = {**FLAT.knowledge.counts, 3: {SOUTH: {
        state: count for state, count in ((1, there), (3, times - there)) if count}}}
    _, edges = load_graph(FORMATS['nav2-route'].write(with_known(counts=counts)))
    assert ((3, 1) in {found.ways for found in edges.values()}) == enough


def test_an_edge_that_a_policy_plays_is_preferred() -> None:
    """North leads from 0 to 1, too, and more often."""
    counts = {**FLAT.knowledge.counts, 0: {**FLAT.knowledge.counts[0], NORTH: {1: 99}}}
    _, edges = load_graph(FORMATS['nav2-route'].write(with_known(counts=counts)))
    assert {each.ways: each.action for each in edges.values()}[0, 1] == 'east'


def test_the_best_of_several_actions_is_taken_and_a_policy_by_steps_followed() -> None:
    """The first step goes north, which leads to 1 as well, but not as often."""
    rows = ((NORTH, EAST, RESET, RESET), (EAST, WEST, RESET, RESET), *[(EAST,) * 4] * 4)
    counts = {**FLAT.knowledge.counts, 0: {**FLAT.knowledge.counts[0], NORTH: {1: 1, 0: 9}}}
    graph = FORMATS['nav2-route'].write(with_known(counts=counts, policies={
        **FLAT.knowledge.policies, 2: Policy(2, 6, KNOWN, rows)}))
    _, edges = load_graph(graph)
    found = {each.ways: each.action for each in edges.values()}
    assert found[0, 1] == 'east' and found[1, 0] == 'west'


def test_an_edge_has_the_same_id_whenever_it_is_written() -> None:
    """Whatever else is known then."""
    now = edge_ids(RouteGraph.of(FLAT))
    before = edge_ids(RouteGraph.of(with_known(known=KNOWN[:2], policies={
        state: FLAT.knowledge.policies[state] for state in KNOWN[:2]})))
    assert {edge.following for edge in before} == {0, 1} and before.items() < now.items()
    assert sorted(now.values()) == [
        65535 - 8 - WEST, 65535 - 4 - NORTH, 65535 - 4 - WEST, 65535 - 4 - EAST, 65535 - EAST]


def test_edges_are_closed_by_what_is_lost_or_fails_and_open_again_by_what_arrives() -> None:
    """East in 0 arrived 30 of 40 times; 0.25 ** 4 is the first below 0.01."""
    edges = may_close(RouteGraph.of(FLAT))
    closures, counts = Closures(edges), FLAT.knowledge.counts
    there = {edge.following: edge for edge in edges if edge.action != WEST}
    back = {edge.state: edge for edge in edges if edge.action == WEST}
    assert closures.update(KNOWN, counts, ()) == ([], [])
    assert closures.update((), {}, ()) == ([], [])    # nothing is known at all: no news
    assert closures.update((0, 1, 3), {}, ()) == ([there[2], back[2]], [])
    assert closures.update((0, 1, 3), {0: {EAST: {0: 3}}}, ()) == ([], [])
    assert closures.update(KNOWN, {0: {EAST: {0: 4}}}, ()) == ([there[1]], [])
    assert closures.closed == {there[1], there[2], back[2]}
    assert closures.update(KNOWN, {0: {EAST: {0: 9, 1: 1}}}, ()) == ([], [there[1]])
    assert closures.update(KNOWN, counts, ()) == ([], [there[2], back[2]])
    assert not closures.closed
    assert closures.update(KNOWN, {0: {EAST: {0: 1}}}, [(0, EAST)]) == ([there[1]], [])
    assert closures.update(KNOWN, {0: {EAST: {0: 1, 1: 1}}}, [(0, EAST)]) == ([], [there[1]])


def test_edges_of_a_given_graph_are_closed_before_they_have_arrived(
        explored: tuple[ExportContents, PlaceGraph]) -> None:
    """North from 1 to 3 has failed 6 times; without a change, 17 failures are needed."""
    learnt, graph = explored
    assert not Closures.now(RouteGraph.of(learnt, graph)).closed
    changed = replace(learnt, knowledge=replace(learnt.knowledge, closed=((1, 2),)))
    assert [(edge.state, edge.following) for edge in Closures.now(
        RouteGraph.of(changed, graph)).closed] == [(1, 3)]
    for failures, closed in ((16, False), (17, True)):
        counts = {**learnt.knowledge.counts, 1: {**learnt.knowledge.counts[1], 2: {1: failures}}}
        often = replace(learnt, knowledge=replace(learnt.knowledge, counts=counts))
        assert bool(Closures.now(RouteGraph.of(often, graph)).closed) is closed


@pytest.mark.parametrize('states', [{0: 0, 1: -3, 2: 2**40, 3: 3}, {0: 0, 1: 65534, 2: 2, 3: 3}])
def test_states_that_are_no_ids_are_numbered(states: dict[int, int]) -> None:
    known = tuple(states.values())
    learnt = replace(
        with_known(known=known, trust={}, policies={
            states[target]: Policy(states[target], 6, known, policy.actions)
            for target, policy in FLAT.knowledge.policies.items()},
            counts=nested([(states[state], action, states[following], count) for state in KNOWN
                           for action, nexts in FLAT.knowledge.counts[state].items()
                           for following, count in nexts.items()])),
        description=replace(FLAT.description, frame='', positions={
            states[state]: FLAT.description.positions[state] for state in KNOWN}))
    nodes, edges = load_graph(FORMATS['nav2-route'].write(learnt))
    assert [nodes[number].state for number in range(4)] == [str(state) for state in known]
    assert {found.ways for found in edges.values()} == {(0, 1), (1, 0), (1, 2), (1, 3), (2, 1)}
    assert nodes[0].frame == 'map'    # of nav2, if there is none


WITHOUT = replace(FLAT.description, positions={0: (0.0, 0.0), 1: (1.0, 0.0)})


@pytest.mark.parametrize(('learnt', 'why'), [
    (with_known(known=(), policies={}), 'no hypothesis yet'),
    (with_known(policies={}), 'too many policies to tell all of them, expected --from'),
    (replace(FLAT, description=replace(WITHOUT, positions={})), 'none of 4 known states has a '
     'place, expected x and y of states in what the robot side says on robot_side'),
    (replace(FLAT, description=replace(WITHOUT, positions={0: (0.0, 0.0)})),
     'no action leads from one of 1 known places to another'),
])
@pytest.mark.parametrize('name', [name for name, row in FORMATS.items() if row.places])
def test_what_is_no_graph_is_refused(name: str, learnt: ExportContents, why: str) -> None:
    with pytest.raises(ExportError) as refused:
        FORMATS[name].write(learnt)
    assert why in str(refused.value)


def test_what_has_no_place_is_left_out_and_named(
        monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr('mnm_ros.command.source.find',
                        lambda *_: replace(FLAT, description=WITHOUT))
    assert export(['--format', 'nav2-route'], 'mnm_ros export') == 0
    written, said = capsysbinary.readouterr()
    assert said == b'mnm_ros export: left out, as they have no place: door (2), 3\n'
    nodes, edges = load_graph(written)
    assert [*nodes] == [0, 1] and [each.ways for each in edges.values()] == [(0, 1), (1, 0)]


def test_what_is_not_connected_is_named() -> None:
    """North of 1 nothing is known that leads back; without a place of 1 nothing leads on."""
    assert warnings(FLAT) == ['no edges lead to 0 from: 3']
    apart = {**FLAT.description.positions}
    del apart[1]
    counts = {**FLAT.knowledge.counts, 2: {EAST: {0: 9}}, 3: {EAST: {3: 1}}}
    assert warnings(replace(with_known(counts=counts), description=replace(
        FLAT.description, positions=apart))) == [
            'left out, as they have no place: door (1)', 'no edges lead to 0 from: 3',
            'no edges lead from 0 to: door (2), 3']


@pytest.fixture
def explored(tmp_path: Path) -> tuple[ExportContents, PlaceGraph]:
    """Return what was learnt of a graph in which 3 leads nowhere and nobody has driven 2 to 3."""
    def feature(kind: str, number: int, coordinates: Any, **properties: Any) -> dict[str, Any]:
        return {'type': 'Feature', 'properties': {'id': number, **properties},
                'geometry': {'type': kind, 'coordinates': coordinates}}
    path = tmp_path / 'four.geojson'
    path.write_text(json.dumps({'type': 'FeatureCollection', 'name': 'four', 'features': [
        *(feature('Point', place, [place, 0.5], frame='map') for place in range(4)),
        feature('Polygon', 11, [], what='a lawn'),
        *(feature('LineString', number, [], startid=start, endid=end, cost=1.5,
                  **({'metadata': {'speed_limit': 80.0}} if number == 11 else {}))
          for number, start, end in ((11, 0, 1), (12, 1, 0), (9, 1, 2), (13, 2, 3), (14, 1, 3),
                                     (15, 3, 3)))]}))
    graph = read_geojson(path)
    return replace(with_known(counts=nested([
        (0, 0, 1, 30), (0, 0, 0, 10), (1, 0, 0, 9), (1, 1, 2, 3), (1, 1, 1, 5), (1, 2, 1, 6),
        (0, RESET, 0, 5), (-2, RESET, 0, 1)]), policies={
            target: Policy(target, 6, KNOWN, ((0, 1, RESET, RESET),)) for target in KNOWN}),
        description=graph.describe(0)), graph


def test_a_given_graph_gets_what_was_learnt_and_nothing_else(
        explored: tuple[ExportContents, PlaceGraph]) -> None:
    learnt, graph = explored
    written = FORMATS['nav2-route'].write(learnt, graph)
    before, after = (json.loads(text)['features'] for text in (graph.path.read_bytes(), written))
    told = [feature['properties'].pop('metadata', None) for feature in after]
    for feature in before:
        feature['properties'].pop('metadata', None)
    assert after == before and told[4] is told[8] is told[10] is None
    there, back, once, never = told[5], told[6], told[7], told[9]
    assert there['speed_limit'] == 80.0 and there['action'] == 'to 1'
    assert (there['class'], there['probability'], back['class']) == ('policy', 0.75, 'tested')
    assert once['expected_steps'] == pytest.approx(8 / 3, abs=1e-6)
    exact = stats.binomtest(0, 6).proportion_ci(0.95)
    assert never['most_probability'] == pytest.approx(exact.high, abs=1e-6)
    assert (never['probability'], never['least_probability'], never['expected_steps']) == (0, 0, 8)
    assert told[0]['state'] == '0' and load_text(written, graph).places == graph.places
    assert warnings(learnt, graph) == [
        'of 2 of 6 edges nothing is written: they were never driven, or have one id, start and '
        'end with others']
    assert edge_ids(RouteGraph.of(learnt, graph)).keys() == {*RouteGraph.of(learnt, graph).edges}
    assert {*edge_ids(RouteGraph.of(learnt, graph)).values()} == {11, 12, 9}


def test_edges_with_one_id_are_told_apart_by_their_ends(
        explored: tuple[ExportContents, PlaceGraph]) -> None:
    """In nav2's own graph of a depot, twelve edges share an id with others."""
    learnt, graph = explored
    alone = FORMATS['nav2-route'].write(learnt, graph)
    graph.path.write_text(graph.path.read_text().replace('"id": 11,', '"id": 12,'))
    shared = FORMATS['nav2-route'].write(learnt, read_geojson(graph.path))
    figures = [{tuple(sorted(feature['properties'].get('metadata', {}).items()))
                for feature in json.loads(text)['features']} for text in (alone, shared)]
    assert figures[0] == figures[1]


def test_places_at_one_position_get_the_figures_of_the_one_place_that_they_are(
        explored: tuple[ExportContents, PlaceGraph]) -> None:
    learnt, graph = explored
    twins = json.loads(graph.path.read_text())
    twins['features'].append({'type': 'Feature', 'properties': {'id': 20, 'frame': 'map'},
                              'geometry': {'type': 'Point', 'coordinates': [1, 0.5]}})
    for feature in twins['features']:
        if feature['properties']['id'] == 12:    # from 1 to 0
            feature['properties']['startid'] = 20
    graph.path.write_text(json.dumps(twins))
    told = {feature['properties']['id']: feature['properties'].get('metadata', {})
            for feature in json.loads(FORMATS['nav2-route'].write(
                learnt, read_geojson(graph.path)))['features']}
    assert told[12]['action'] == 'to 0' and told[20] == told[1] and told[20]['state'] == '1'


def load_text(written: bytes, graph: PlaceGraph) -> PlaceGraph:
    graph.path.write_bytes(written)
    return read_geojson(graph.path)


@pytest.mark.parametrize('change', [
    {'moves': {}}, {'moves': {0: ('to 1',), 1: ('to 0', 'to 3', 'to 2'), 2: ('to 3',)}},
    {'moves': {0: ('to 1', 'to 2'), 1: ('to 0', 'to 2', 'to 3')}}])
def test_another_graph_than_the_explored_one_is_refused(
        explored: tuple[ExportContents, PlaceGraph], change: dict[str, Any]) -> None:
    learnt, graph = explored
    with pytest.raises(ExportError, match='expected the graph that was explored'):
        RouteGraph.of(replace(learnt, description=replace(learnt.description, **change)), graph)


RMF_WORDS = {
    'name', 'is_parking_spot', 'is_holding_point', 'is_passthrough_point', 'is_charger', 'mutex',
    'lift', 'orientation_constraint', 'demo_mock_floor_name', 'demo_mock_lift_name', 'door_name',
    'dock_name', 'undock_name', 'speed_limit', 'is_bidirectional', 'graph_idx'}


def parse_graph(text: bytes, level: str = 'L1',
                home: int | None = 0) -> tuple[list[Any], list[Any]]:
    """Return waypoints and lanes as a fleet adapter has them; an error is what it ends on."""
    graph = yaml.safe_load(text)
    assert graph['lifts'] == {}    # without the key it warns
    assert isinstance(graph['levels'], dict)
    (name, found), = graph['levels'].items()
    assert name == level and isinstance(graph['building_name'], str)
    names: list[str] = []
    for x, y, options in found['vertices']:
        assert type(x) is type(y) is float and isinstance(options, dict)
        at_home = options['learnt_state'] == str(home)
        assert {*options} & RMF_WORDS == {
            'name', *(('is_charger', 'is_parking_spot') if at_home else ())}
        assert options.get('is_charger', True) is options.get('is_parking_spot', True) is True
        names.append(text_of(options['name']))
    assert len({*names}) == len(names) and all(names)
    for start, end, options in found['lanes']:
        assert type(start) is type(end) is int and 0 <= min(start, end)
        assert max(start, end) < len(names)
        assert isinstance(options, dict) and {*options} & RMF_WORDS <= {'speed_limit'}
        assert scored(options.get('speed_limit', 1.0)) > 0
    return found['vertices'], found['lanes']


def test_a_fleet_adapter_reads_waypoints_and_lanes() -> None:
    vertices, lanes = parse_graph(FORMATS['rmf'].write(FLAT))
    assert [(x, y, options['name']) for x, y, options in vertices] == [
        (0.0, 0.0, '0'), (1.0, 0.5, 'door'), (2.0, 0.0, 'door (2)'), (1.0, 1.5, '3')]
    assert [(start, end, options['learnt_action'], options['learnt_class'])
            for start, end, options in lanes] == [
        (0, 1, 'east', 'policy'), (1, 2, 'east', 'policy'), (1, 0, 'west', 'tested'),
        (1, 3, 'north', 'policy'), (2, 1, 'west', 'tested')]
    assert lanes[0][2]['learnt_expected_steps'] == pytest.approx(4 / 3, abs=1e-6)
    # 1.118 m in 16/3 s, of which a third is for what fails.
    assert lanes[0][2]['speed_limit'] == pytest.approx(1.25 ** 0.5 / (16 / 3), abs=1e-6)
    assert vertices[1][2]['learnt_at_most_steps'] == 8.0


def test_a_graph_is_put_where_the_building_is(
        monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """A quarter turn to the left, half the scale, and 10 m to the east."""
    monkeypatch.setattr('mnm_ros.command.source.find', lambda *_: FLAT)
    words = ['--level', 'B1', '--building', 'clinic', '--transform', '10', '-1',
             str(math.pi / 2), '0.5']
    assert export(['--format', 'rmf', *words], 'mnm_ros export') == 0
    written = capsysbinary.readouterr().out
    vertices, lanes = parse_graph(written, 'B1')
    assert yaml.safe_load(written)['building_name'] == 'clinic'
    assert [(x, y) for x, y, _ in vertices] == [
        (10.0, -1.0), (9.75, -0.5), (10.0, 0.0), (9.25, -0.5)]
    assert lanes[0][2]['speed_limit'] == pytest.approx(0.5 * 1.25 ** 0.5 / (16 / 3), abs=1e-6)


def test_what_is_no_place_of_a_building_is_refused(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr('mnm_ros.command.source.find', lambda *_: FLAT)
    assert export(['--format', 'rmf', '--transform', '0', '0', '0', '0'], 'mnm_ros export') == 1
    assert 'transform is (0.0, 0.0, 0.0, 0.0), expected' in capsys.readouterr().err
    with pytest.raises(SystemExit):
        export(['--format', 'nav2-route', '--level', 'L2'], 'mnm_ros export')
    assert 'argument --level: expected --format rmf' in capsys.readouterr().err


def test_names_are_unique_and_texts() -> None:
    """A name may be the id of another state, or look like a number or another name."""
    names = {0: '1', 1: 'yes', 2: '3.5', 3: 'a: b #c'}
    learnt = replace(FLAT, description=replace(FLAT.description, names=names))
    vertices, _ = parse_graph(FORMATS['rmf'].write(learnt))
    assert [options['name'] for *_, options in vertices] == ['1', 'yes', '3.5', 'a: b #c']
    learnt = replace(FLAT, description=replace(FLAT.description, names={0: '1', 3: '1 (1)'}))
    vertices, _ = parse_graph(FORMATS['rmf'].write(learnt))
    assert [options['name'] for *_, options in vertices] == [
        '1', '1 (1)', '2', '1 (1) (3)']
