# SPDX-License-Identifier: Apache-2.0

"""
Lanes of Open-RMF have the numbers that fleet adapters give them.

``made_by`` counts as ``rmf_fleet_adapter/src/rmf_fleet_adapter/agv/parse_graph.cpp`` does, and
``generated`` makes a navigation graph of a building file as
``rmf_building_map_tools/building_map/level.py`` does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mnm_ros.places.graph_file import read_graph
from mnm_ros.places.place_graph import PlaceGraph
import pytest
import yaml

Lane = tuple[int, int]    # the vertices at its ends, as the file counts them


def made_by(graph: dict[str, Any]) -> list[Lane]:
    """Return the lanes of a fleet adapter in their order; a dock has the vertex before it."""
    lanes: list[Lane] = []
    of_lift: dict[str, list[int]] = {}
    in_lift: dict[int, str] = {}
    first = 0
    for level in graph['levels'].values():
        for number, (_, _, options) in enumerate(level['vertices'], first):
            if options.get('lift'):
                of_lift.setdefault(options['lift'], []).append(number)
                in_lift[number] = options['lift']
        for start, end, *more in level['lanes']:
            options, begin, end = more[0] if more else {}, first + start, first + end
            inside = begin in in_lift, end in in_lift
            event = inside != (True, True) if any(inside) else (
                'demo_mock_floor_name' in options or 'door_name' in options)
            lanes += [(begin, end)] * (2 if options.get('dock_name') and event else 1)
        first += len(level['vertices'])
    for vertices in of_lift.values():
        for one, other in zip(vertices, vertices[1:]):
            lanes += [(one, other), (other, one)]
    return lanes


def numbered(graph: PlaceGraph) -> dict[Lane, tuple[int, ...]]:
    return {(edge.start, edge.end): edge.lanes for edge in graph.edges}


def as_made(lanes: list[Lane]) -> dict[Lane, tuple[int, ...]]:
    return {lane: tuple(number for number, other in enumerate(lanes) if other == lane)
            for lane in lanes}


NAVIGATION = """
levels:
  L2:
    vertices: [[0, 0, {name: dock}], [5, 0, {}], [9, 0, {lift: Lift1}]]
    lanes: [[1, 0, {dock_name: a}], [0, 1, {}], [1, 2, {door_name: glass}],
            [2, 1, {dock_name: b}]]
  L1:
    vertices: [[9, 0, {lift: Lift1}], [9, 7, {}], [9, 9, {}]]
    lanes: [[0, 1, {}], [1, 2, {door_name: glass, dock_name: c}], [2, 1, {}]]
"""


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(text: str) -> PlaceGraph:
        path = tmp_path / 'graph.yaml'
        path.write_text(text)
        return read_graph(path)
    return write


def test_lanes_count_over_levels_with_docks_and_a_lift(written: Any) -> None:
    graph = written(NAVIGATION)
    assert numbered(graph) == as_made(made_by(yaml.safe_load(NAVIGATION)))
    lanes = numbered(graph)
    assert lanes[2, 1] == (3, 4) and lanes[4, 5] == (6, 7) and lanes[2, 3] == (9,)
    assert graph.merged == graph


def test_a_fleet_adapter_knows_no_way_back_along_a_bidirectional_lane(written: Any) -> None:
    text = NAVIGATION.replace('[0, 1, {}], [1, 2, {door', '[0, 1, {is_bidirectional: true}], '
                              '[1, 2, {door', 1).replace('[1, 0, {dock_name: a}], ', '')
    lanes = numbered(written(text))
    assert lanes[0, 1] == (0,) and lanes[1, 0] == () and lanes[1, 2] == (1,)


def test_lanes_of_one_of_several_lifts_have_no_number(written: Any) -> None:
    text = NAVIGATION.replace('[5, 0, {}]', '[5, 0, {lift: B}]').replace(
        '[9, 7, {}]', '[9, 7, {lift: B}]')
    lanes = numbered(written(text))
    assert lanes[2, 3] == lanes[3, 2] == lanes[1, 4] == ()
    assert lanes[0, 1] == (2,)    # the dock before it is entered from the lift B


def test_places_at_one_position_are_one_with_the_lanes_of_all(written: Any) -> None:
    graph = written("""
levels:
  L1:
    vertices: [[0, 0, {}], [0, 0, {}], [5, 0, {}]]
    lanes: [[0, 2, {}], [2, 0, {}], [1, 2, {}], [2, 1, {}]]
""")
    assert numbered(graph.merged) == {(0, 2): (0, 2), (2, 0): (1, 3)}


BUILDING = """
name: office
coordinate_system: cartesian_meters
levels:
  L2:
    vertices: [[9, 0, 0, "", {lift_cabin: [1, lift]}], [9, 7, 0, roof]]
    lanes: [[0, 1, {bidirectional: [4, true], graph_idx: [2, 1]}]]
  L1:
    vertices: [[0, 0, 0, dock, {dock_name: [1, dock]}], [5, 0, 0, ""], [2, -1, 0, ""],
               [2, 1, 0, ""], [9, 0, 0, "", {lift_cabin: [1, lift]}]]
    doors: [[2, 3, {name: [1, glass]}]]
    lanes: [[1, 4, {bidirectional: [4, false], graph_idx: [2, 1]}],
            [1, 0, {bidirectional: [4, true], graph_idx: [2, 2]}],
            [0, 1, {bidirectional: [4, true], graph_idx: [2, 1]}],
            [4, 1, {bidirectional: [4, false], graph_idx: [2, 1]}]]
"""


def generated(building: dict[str, Any], wanted: int,
              crossed: Any) -> tuple[dict[str, Any], list[int]]:
    """
    Return the navigation graph of a building, and the vertex of the file for each of its own.

    :param crossed: returns the name of the door between two vertices of a level.
    """
    levels, vertices, first = {}, {}, 0
    for name, level in building['levels'].items():
        used: list[int] = []
        lanes = []
        for start, end, options in level['lanes']:
            if options['graph_idx'][1] != wanted:
                continue
            used += [end for end in dict.fromkeys((start, end)) if end not in used]
            door = crossed(name, start, end)
            ways = [(start, end), (end, start)] if options['bidirectional'][1] else [(start, end)]
            for begin, there in ways:
                params = level['vertices'][there][4] if len(level['vertices'][there]) > 4 else {}
                lanes.append([used.index(begin), used.index(there), {
                    **({'door_name': door} if door else {}),
                    **({'dock_name': params['dock_name'][1]} if 'dock_name' in params else {})}])
        cabins = [(level['vertices'][vertex][4:] or [{}])[0].get('lift_cabin', [1, ''])[1]
                  for vertex in used]
        levels[name] = {'lanes': lanes, 'vertices': [
            [0, 0, {'lift': cabin} if cabin else {}] for cabin in cabins]}
        vertices[name] = [first + vertex for vertex in used]
        first += len(level['vertices'])
    # generator.py writes it with yaml.dump, which sorts keys.
    graph = yaml.safe_load(yaml.dump({'levels': levels}))
    return graph, [vertex for name in graph['levels'] for vertex in vertices[name]]


def test_lanes_of_a_building_are_those_of_its_navigation_graph(written: Any) -> None:
    graph, vertices = generated(yaml.safe_load(BUILDING), 1, lambda level, *ends: (
        'glass' if level == 'L1' and {*ends} == {0, 1} else ''))
    lanes = [(vertices[start], vertices[end]) for start, end in made_by(graph)]
    found = numbered(written(BUILDING))
    assert found == {**as_made(lanes), (0, 6): (), (6, 0): ()}    # the lift is known by its place
    assert found[3, 2] == (2, 3)    # through the door to the dock
