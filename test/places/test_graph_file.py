# SPDX-License-Identifier: Apache-2.0

"""Files with route graphs are read as their own loaders read them, and refused by line or id."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path
from typing import Any

from mnm_ros.core.errors import FileError
from mnm_ros.located_yaml import read
from mnm_ros.places.geojson import edited_geojson, geojson, read_geojson
from mnm_ros.places.graph_file import GEOJSON as ENDINGS
from mnm_ros.places.graph_file import graph_in
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
import pytest


def point(number: int, x: float, y: float, **properties: Any) -> dict[str, Any]:
    return {'type': 'Feature', 'properties': {'id': number, **properties},
            'geometry': {'type': 'Point', 'coordinates': [x, y]}}


def line(number: int, start: int, end: int, kind: str = 'MultiLineString') -> dict[str, Any]:
    return {'type': 'Feature', 'properties': {'id': number, 'startid': start, 'endid': end},
            'geometry': {'type': kind, 'coordinates': []}}


GEOJSON = [point(0, 1.5, -2, frame='map', metadata={'name': 'dock'}), point(5, 3, 0, frame='map'),
           line(10, 0, 5), line(11, 5, 0, 'LineString'),
           {'type': 'Feature', 'properties': None, 'geometry': {'type': 'Polygon'}}]

TMAP2 = """
name: farm
nodes:
- meta: {node: WayPoint2}
  node:
    name: WayPoint2
    parent_frame: map
    pose: {position: {x: 1.0, y: 2, z: 0}, orientation: {w: 1}}
    edges: [{edge_id: WayPoint2_WayPoint1, node: WayPoint1}]
    verts: [{x: -2, y: -1}, {x: 2, y: -1}, {x: 2, y: 1}, {x: -2, y: 1}]
- node:
    name: WayPoint1
    parent_frame: map
    pose: {position: {x: 5.0, y: 2}}
    edges: [{edge_id: WayPoint1_WayPoint2, node: WayPoint2}]
"""

NAVIGATION = """
building_name: office
levels:
  L1:
    vertices: [[0, 0, {name: dock, is_charger: true}], [5, 0, {name: ""}], [9, 0, {lift: Lift1}]]
    lanes: [[0, 1, {}], [1, 0, {}], [1, 2, {door_name: glass}], [2, 1]]
  L2:
    vertices: [[9, 0, {lift: Lift1}], [9, 7, {name: roof}]]
    lanes: [[0, 1, {is_bidirectional: true}]]
"""

BUILDING = """
name: office
coordinate_system: reference_image
levels:
  L1:
    vertices: [[100, 0, 0, corner], [0, 40, 0, dock, {is_charger: [4, true]}], [100, 40, 0, ""],
               [200, 40, 0, lab], [150, 0, 0, ""], [150, 80, 0, ""]]
    measurements: [[1, 3, {distance: [3, 10]}]]
    doors: [[4, 5, {name: [1, glass]}]]
    lanes: [[1, 2, {bidirectional: [4, true], graph_idx: [2, 1]}],
            [2, 3, {bidirectional: [4, true], graph_idx: [2, 1]}],
            [0, 1, {bidirectional: [4, false], graph_idx: [2, 3]}]]
"""


def load_graph(path: Path) -> PlaceGraph | None:
    return read_geojson(path) if path.suffix in ENDINGS else graph_in(path, read(path))


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(name: str, text: Any) -> Path:
        path = tmp_path / name
        path.write_text(text if isinstance(text, str) else json.dumps({'features': text}))
        return path
    return write


def test_what_this_package_writes_into_metadata_is_read_and_written_again(written: Any) -> None:
    lab = {'room': 'lab', 'zone': 0.5, 'name': 'lab 1'}
    features = [point(3, 0, 0, frame='map', metadata=lab),
                point(1, 2, 0, frame='map', metadata={'room': 'hall', 'home': True, 'zone': 1}),
                line(4, 3, 1), {**line(5, 1, 3), 'properties': {
                    'id': 5, 'startid': 1, 'endid': 3, 'metadata': {'door': 'glass'}}}]
    found = read_geojson(written('graph.geojson', features))
    assert found.places == {3: Place(0, 0, 'lab 1', 0.5, room='lab'),
                            1: Place(2, 0, '', 1.0, room='hall', home=True)}
    assert found.home == 1 and [edge.door for edge in found.edges] == ['', 'glass']
    assert found.describe(1).rooms == {'lab': (3,), 'hall': (1,)}
    assert read_geojson(written('graph.geojson', geojson(found))) == found


def test_all_else_that_a_file_has_is_kept_by_edits(written: Any) -> None:
    surveyed = {**point(0, 1.5, -2, frame='map', colour='red', metadata={
        'name': 'dock', 'speed': [1]}), 'bbox': [0]}
    surveyed['geometry']['coordinates'].append(0.2)
    called = point(5, 3, 0, frame='map', name='lab')
    curved = line(11, 5, 0, 'LineString')
    curved['properties']['cost'] = 2.5
    curved['geometry']['coordinates'] = [[3, 0], [2, -2], [1.5, -2]]
    gone = point(7, 9, 9, frame='map')
    features = [surveyed, called, gone, line(10, 0, 5), curved, line(12, 5, 7), GEOJSON[-1]]
    path = written('graph.geojson', json.dumps({
        'type': 'FeatureCollection', 'made_by': 'Ünal', 'features': features}))
    before = read_geojson(path)
    assert json.loads(edited_geojson(before, before)) == json.loads(path.read_text())
    after = replace(before, places={
        0: replace(before.places[0], x=1.0, room='hall', home=True),
        5: replace(before.places[5], name='office'), 8: Place(4, 1, 'new', 0.5)},
        edges=(*(edge for edge in before.edges if edge.key != '12'), Edge('13', 0, 8)))
    text = edited_geojson(after, before)
    found = json.loads(text)
    assert 'Ünal' in text and found['made_by'] == 'Ünal'
    dock, lab, there, back, other, new, edge = found['features']
    assert dock == {**point(0, 1.0, -2, frame='map', colour='red', metadata={
        'name': 'dock', 'speed': [1], 'room': 'hall', 'home': True}), 'bbox': [0],
        'geometry': {'type': 'Point', 'coordinates': [1.0, -2, 0.2]}}
    assert lab['properties'] == {'id': 5, 'frame': 'map', 'name': 'office', 'metadata': {}}
    assert there['geometry']['coordinates'] == [[[1.0, -2.0], [3.0, 0.0]]]
    assert back['properties']['cost'] == 2.5    # an edge is straight once an end was moved
    assert back['geometry']['coordinates'] == [[3.0, 0.0], [1.0, -2.0]]
    assert other == GEOJSON[-1]
    assert new == point(8, 4, 1, frame='map', metadata={'name': 'new', 'zone': 0.5})
    assert edge['properties'] == {'id': 13, 'startid': 0, 'endid': 8}
    path.write_text(text, encoding='utf-8')
    assert read_geojson(path) == after
    with pytest.raises(FileError, match='another program has edited the file'):
        edited_geojson(after, before)


@pytest.mark.parametrize('metadata', [
    {'room': 3, 'zone': 'wide', 'home': 'yes'}, {'room': '', 'zone': None, 'home': 1},
    {'room': ['a'], 'zone': True, 'name': {'de': 'Labor'}}, 'none', [], None])
def test_metadata_of_other_programs_are_passed_over(written: Any, metadata: Any) -> None:
    found = read_geojson(written('graph.geojson', [
        point(0, 0, 0, metadata=metadata), point(1, 2, 0), line(2, 0, 1), line(3, 1, 0)]))
    assert found.places == {0: Place(0, 0), 1: Place(2, 0)}


def test_geojson_of_nav2(written: Any) -> None:
    found = load_graph(written('graph.geojson', GEOJSON))
    assert {number: (place.name, place.x, place.y) for number, place in found.places.items()} == {
        0: ('dock', 1.5, -2), 5: ('', 3, 0)}
    assert [(edge.key, edge.start, edge.end) for edge in found.edges] == [
        ('10', 0, 5), ('11', 5, 0)]
    assert found.frame == 'map' and not found.warnings


def test_tmap2_of_lcas(written: Any) -> None:
    found = load_graph(written('farm.tmap2.yaml', TMAP2))
    assert {number: (place.name, place.x) for number, place in found.places.items()} == {
        1: ('WayPoint1', 5), 2: ('WayPoint2', 1)}
    assert [(edge.start, edge.end) for edge in found.edges] == [(2, 1), (1, 2)]
    # The largest circle in the influence zone; the other node has none.
    assert (found.zone(2), found.zone(1), found.frame) == (1.0, 1.0, 'map')
    assert (found.places[2].zone, found.places[1].zone) == (1.0, None)


def test_a_navigation_graph_of_open_rmf(written: Any) -> None:
    found = load_graph(written('0.yaml', NAVIGATION))
    assert [(place.name, place.level) for place in found.places.values()] == [
        ('dock', 'L1'), ('', 'L1'), ('Lift1 L1', 'L1'), ('Lift1 L2', 'L2'), ('roof', 'L2')]
    assert {(edge.start, edge.end, edge.door) for edge in found.edges} == {
        (0, 1, ''), (1, 0, ''), (1, 2, 'glass'), (2, 1, ''), (3, 4, ''), (4, 3, ''),
        (2, 3, 'Lift1'), (3, 2, 'Lift1')}
    assert found.home == 0 and found.declaration.depth(0) == 4


def test_a_building_of_open_rmf(written: Any) -> None:
    found = load_graph(written('office.building.yaml', BUILDING))
    # 200 pixels are 10 m, and y of a picture points down. Corners of walls are no places.
    assert {number: (place.name, place.x, place.y) for number, place in found.places.items()} == {
        1: ('dock', 0, -2), 2: ('', 5, -2), 3: ('lab', 10, -2)}
    assert {(edge.start, edge.end, edge.door) for edge in found.edges} == {
        (1, 2, ''), (2, 1, ''), (2, 3, 'glass'), (3, 2, 'glass')}
    assert found.home == 1 and found.warnings == (
        f'{found.path}: only the lanes of graph 1 are read',)


def test_what_is_a_graph(written: Any, tmp_path: Path) -> None:
    for name, text in (('a.geojson', GEOJSON), ('b.yaml', TMAP2), ('c.yaml', NAVIGATION),
                       ('d.yaml', BUILDING)):
        assert load_graph(written(name, text)) is not None
    for text in ('name: x\nactions: [a]', 'image: a.pgm', '- 1', ''):
        assert load_graph(written('e.yaml', text)) is None
    with pytest.raises(FileError, match='absent.yaml: cannot be read'):
        load_graph(tmp_path / 'absent.yaml')


@pytest.mark.parametrize(('features', 'error'), [
    ('[', 'no JSON: '), ('[]', r'is \[\], expected a JSON object'),
    ('null', "is 'null', expected a JSON object"),
    ('{"features": {}}', r'features is \{\}, expected a list'),
    ('{"features": [NaN]}', 'found NaN, expected finite numbers'),
    ('[' * 100_000, 'nested too deeply'),
    ([*GEOJSON, point(5, 0, 0)], r'feature 5: node 5 is there already, expected it once'),
    ([*GEOJSON, line(12, 0, 7)], 'edge 12 ends at place 7, which is not there'),
    ([*GEOJSON, point(-1, 0, 0)], 'feature 5: id is -1, expected an integer from 0'),
    ([*GEOJSON, {**line(12, 0, 5), 'properties': {'id': 12}}],
     r'feature 5 \(edge 12\): startid is missing, expected an integer'),
    ([*GEOJSON, point(7, 1e12, 0)],
     r'feature 5 \(node 7\): coordinates is \[1000000000000.0, 0\], expected \[x, y\] in m, '
     r'finite and below 1e\+09'),
    ([point(number, number, 0) for number in range(10_001)],
     '10,001 places, expected at most 10,000'),
    ([*GEOJSON, point(7, 0, 0, frame='map', metadata={'zone': -1})],
     r'feature 5 \(node 7\): zone is -1, expected a radius in m above 0'),
    ([*GEOJSON, *(point(number, 0, number, frame='map', metadata={'home': True})
                  for number in (7, 8))], 'nodes 7 and 8 both are home, expected one'),
    ([*GEOJSON, point(7, 0, 0, frame='odom')],
     "node 0 is in the frame 'map' and node 7 in 'odom', expected the same frame for all"),
    ([3], 'feature 0 is 3, expected a JSON object'), (GEOJSON[:2], 'expected at least one edge')])
def test_bad_geojson_is_refused_by_feature_and_id(
        written: Any, features: Any, error: str) -> None:
    with pytest.raises(FileError, match=error) as raised:
        load_graph(written('graph.geojson', features))
    assert str(raised.value).startswith(str(written('graph.geojson', ''))[:-1])


def test_a_byte_order_mark_is_no_part_of_geojson(written: Any) -> None:
    text = json.dumps({'type': 'FeatureCollection', 'features': GEOJSON})
    path = written('graph.geojson', '\ufeff' + text)
    assert load_graph(path) == load_graph(written('graph.geojson', text))


@pytest.mark.parametrize('name', ['x' * 101, '\u202egnir', '\0', 'x' * 100])
def test_a_name_that_cannot_be_used_is_left_out_and_that_is_said(written: Any, name: str) -> None:
    graph = load_graph(written('graph.geojson', [
        *GEOJSON, point(7, 9, 0, frame='map', name=name)]))
    said = [text for text in graph.warnings if 'node 7 is left out' in text]
    assert (graph.places[7].name, len(said)) == ((name, 0) if len(name) == 100 else ('', 1))


@pytest.mark.parametrize(('text', 'old', 'new', 'error'), [
    (TMAP2, 'node: WayPoint1}]', 'node: WayPoint9}]', r':9: edge WayPoint2_WayPoint1 ends at '
     'WayPoint9, which is not there'),
    (TMAP2, 'name: WayPoint1', 'name: WayPoint2', 'two places are called WayPoint2'),
    (TMAP2, 'x: 5.0', 'x: .nan', ':14: '), (TMAP2, 'x: 5.0, ', '', 'x is missing'),
    (TMAP2, 'name: WayPoint1\n    parent_frame: map', 'name: WayPoint1\n    parent_frame: odom',
     'the nodes are in the frames map, odom, expected one frame'),
    (NAVIGATION, '[2, 1]]', '[2, 3]]', ':6: there is no vertex 3, expected one from 0 to 2'),
    (NAVIGATION, 'name: roof', 'name: dock', ':8: two vertices are called dock'),
    (NAVIGATION, '[9, 7,', '[9, x,', 'expected a coordinate'),
    (BUILDING, 'reference_image', 'web_mercator', "coordinate_system is 'web_mercator', expected"),
    (BUILDING, '[1, 3, {distance', '[1, 1, {distance', 'a measurement of no length'),
    (BUILDING, 'distance: [3, 10]', 'length: [3, 10]', 'graph.yaml:.*: distance is missing'),
    (BUILDING, '[1, 3, {distance: [3, 10]}]', '[1, 3]', 'graph.yaml:.*: distance is missing'),
    (BUILDING, 'reference_image', 'x' * 5000, f"coordinate_system is '{'x' * 40}', expected")])
def test_bad_yaml_is_refused_by_line(
        written: Any, text: str, old: str, new: str, error: str) -> None:
    assert text.count(old) == 1
    with pytest.raises(FileError, match=error):
        load_graph(written('graph.yaml', text.replace(old, new)))


def test_without_measurements_a_pixel_is_a_metre_and_that_is_said(written: Any) -> None:
    found = load_graph(written('a.building.yaml', BUILDING.replace('measurements', 'walls')))
    assert found.places[3].x == 200
    assert any('level L1 has no measurements: a pixel counts as 1 m' in text
               for text in found.warnings)


@pytest.mark.parametrize('number', ['.inf', '1e308', '-1', 'x', '99999'])
def test_a_lane_of_no_graph_is_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / 'office.building.yaml'
    path.write_text(BUILDING.replace('graph_idx: [2, 3]', f'graph_idx: [3, {number}]'))
    with pytest.raises(FileError, match=r'graph_idx is .*, expected the number of a graph'):
        load_graph(path)
