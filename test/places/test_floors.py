# SPDX-License-Identifier: Apache-2.0

"""A building with several floors: what its places are called, and where they are drawn."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.places.graph_file import read_graph
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.simulation.graph_world import GraphWorld
import pytest

NAVIGATION = """
levels:
  L1:
    vertices: [[0, 0, {name: lobby}], [9, 3, {lift: Lift1}], [9, 40, {name: hall}]]
    lanes: [[0, 1, {}], [1, 0, {}], [1, 2, {}], [2, 1, {}]]
  L2:
    vertices: [[9, 3, {lift: Lift1}], [0, 0, {name: office}]]
    lanes: [[0, 1, {}], [1, 0, {}]]
"""
BUILDING = """
coordinate_system: cartesian_meters
levels:
  L1:
    vertices: [[0, 0, 0, lobby], [9, 3, 0, "", {lift_cabin: [1, Lift1]}], [9, 40, 0, hall]]
    lanes: [[0, 1, {bidirectional: [4, true]}], [1, 2, {bidirectional: [4, true]}]]
  L2:
    vertices: [[9, 3, 0, "", {lift_cabin: [1, Lift1]}], [0, 0, 0, office]]
    lanes: [[0, 1, {bidirectional: [4, true]}]]
"""


@pytest.fixture(params=[('0.yaml', NAVIGATION), ('tower.building.yaml', BUILDING)],
                ids=['navigation graph', 'building'])
def tower(request: pytest.FixtureRequest, tmp_path: Path) -> PlaceGraph:
    name, text = request.param
    (tmp_path / name).write_text(text)
    return read_graph(tmp_path / name)


def test_places_in_a_lift_are_called_after_it(tower: PlaceGraph) -> None:
    assert [tower.name(place) for place in tower.places] == [
        'lobby', 'Lift1 L1', 'hall', 'Lift1 L2', 'office']
    assert 'to Lift1 L2' in tower.moves(1) and 'to Lift1 L1' in tower.moves(3)


@pytest.mark.parametrize(('name', 'text', 'names'), [
    ('0.yaml', NAVIGATION.replace('name: office', 'name: Lift1 L2'),
     ['lobby', 'Lift1 L1', 'hall', 'Lift1 L2 2', 'Lift1 L2']),
    ('0.yaml', NAVIGATION.replace('name: hall', 'lift: Lift1 L2').replace('L2:', 'b:').replace(
        'L1:', 'L2 b:').replace('name: office', 'lift: Lift1 L2'),
     ['lobby', 'Lift1 L2 b', 'Lift1 L2 L2 b', 'Lift1 b', 'Lift1 L2 b 2']),
    ('tower.building.yaml', BUILDING.replace(
        '[0, 0, 0, office]', '[0, 0, 0, "", {lift_cabin: [1, Lift1]}]').replace('hall', 'lobby'),
     ['lobby L1', 'Lift1 L1', 'lobby L1 2', 'Lift1 L2', 'Lift1 L2 2'])])
def test_no_two_places_of_a_building_have_one_name(
        name: str, text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    graph = read_graph(tmp_path / name)
    assert [graph.name(place) for place in graph.places] == names
    assert [graph.called(each) for each in names] == [*graph.places]


def test_floors_are_rooms_and_drawn_above_each_other(tower: PlaceGraph) -> None:
    """Places of two floors that are above each other in the building are apart then."""
    said = tower.describe(0)
    assert said.rooms == {'L1': (0, 1, 2), 'L2': (3, 4)} and said.frame == ''
    up = said.positions[4][1] - said.positions[0][1]
    assert up == 64 and said.positions[3] == (9, said.positions[1][1] + up)
    assert said.positions[2] == (9, said.positions[0][1] + 40)


def test_no_simulated_robot_drives_on_several_floors(tower: PlaceGraph) -> None:
    with pytest.raises(FileError, match='places on the levels L1, L2, expected one level'):
        GraphWorld.of(tower)
