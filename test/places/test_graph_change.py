# SPDX-License-Identifier: Apache-2.0

"""Which places and ways of a graph are the same after the graph was edited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mnm_ros.places.graph_change import GraphChange
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.robot_description import RobotDescription
import pytest

HALL, KITCHEN, LAB, STORE = 1, 2, 3, 9
PLACES = {HALL: Place(0, 0, 'hall'), KITCHEN: Place(4, 0, 'kitchen'), LAB: Place(0, 1),
          STORE: Place(8, 0, 'store')}
ENDS = ((HALL, KITCHEN), (HALL, LAB), (KITCHEN, STORE))


def described(places: dict[int, Place] | None = None, ends: tuple[tuple[int, int], ...] = ENDS,
              home: int = HALL, key: str = '') -> RobotDescription:
    """Return what a robot side says that drives along edges both ways."""
    return PlaceGraph(Path('office.geojson'), PLACES if places is None else places, tuple(
        Edge(f'{key}{number}', *pair) for number, each in enumerate(ends)
        for pair in (each, each[::-1]))).describe(home)


BEFORE = described()


def since(now: RobotDescription) -> GraphChange:
    found = GraphChange.between(BEFORE, now)
    assert found is not None
    return found


@pytest.mark.parametrize('now', [
    BEFORE, described(key='other id '), described({
        **PLACES, HALL: Place(0, 0.04, 'hall'), LAB: Place(0, 1, 'laboratory')})],
    ids=['the same', 'other ids of edges', 'moved a little, and named'])
def test_the_same_graph_is_the_same(now: RobotDescription) -> None:
    found = since(now)
    assert found.keeps_numbers and not found.text
    assert found.states == {number: number for number in PLACES}
    assert found.pairs == {pair: pair for pair in (
        (HALL, 0), (HALL, 1), (KITCHEN, 0), (KITCHEN, 1), (LAB, 0), (STORE, 0))}


def test_numbers_that_were_exchanged_are_followed() -> None:
    other = {HALL: 7, KITCHEN: 3, LAB: 2, STORE: 1}
    found = since(described({other[number]: place for number, place in PLACES.items()}, tuple(
        (other[start], other[end]) for start, end in ENDS), home=7))
    assert found.states == other and not found.keeps_numbers
    assert found.pairs[HALL, 0] == (7, 1) and found.pairs[HALL, 1] == (7, 0)
    assert found.text == 'other numbers: hall (1) is 7, kitchen (2) is 3, 3 is 2, store (9) is 1'


def test_a_place_that_was_moved_or_removed_is_another_one() -> None:
    found = since(described({**PLACES, KITCHEN: Place(4, 0.5, 'kitchen')}))
    assert found.text == 'places moved: kitchen (2)' and not found.keeps_numbers
    assert {*found.states} == {HALL, LAB, STORE} and {*found.pairs} == {(HALL, 1), (LAB, 0)}
    left = {number: place for number, place in PLACES.items() if number != STORE}
    found = since(described(left, ENDS[:2]))
    assert found.text == 'places gone: store (9)' and (KITCHEN, 1) not in found.pairs


def test_an_edge_that_was_added_moves_the_numbers_of_others() -> None:
    found = since(described(ends=(*ENDS, (LAB, STORE))))
    assert found.keeps_numbers    # the new way is the last one of each place
    assert found.text == 'new ways: 3 to store, store (9) to 3'
    found = since(described(ends=(*ENDS, (STORE, HALL))))
    assert found.pairs[STORE, 0] == (STORE, 1) and not found.keeps_numbers
    found = since(described(ends=ENDS[1:]))
    assert found.text == 'ways gone: hall (1) to kitchen, kitchen (2) to hall'
    assert found.pairs[HALL, 1] == (HALL, 0)


def test_places_are_added_without_a_loss_and_home_is_part_of_the_graph() -> None:
    found = since(described({**PLACES, 20: Place(9, 9, 'attic')}, (*ENDS, (STORE, 20))))
    assert found.keeps_numbers and found.text == 'new places: attic (20)'
    found = since(described(home=KITCHEN))
    assert found.text == 'home is: kitchen (2)' and not found.keeps_numbers


def test_a_way_that_a_map_closes_is_there() -> None:
    declared = replace(BEFORE.declaration, successors={
        **BEFORE.declaration.successors, STORE: ((STORE,), ())})
    assert since(replace(BEFORE, declaration=declared)).keeps_numbers


def test_two_ways_between_two_places_are_told_apart_by_their_order_alone() -> None:
    twice = described(ends=(*ENDS, ENDS[0]))
    found = GraphChange.between(twice, twice)
    assert found is not None and found.keeps_numbers
    found = since(twice)
    assert (HALL, 0) not in found.pairs and found.pairs[HALL, 1] == (HALL, 2)


def test_places_of_two_floors_at_one_position_are_told_apart_by_name() -> None:
    floors = {1: Place(0, 0, 'lift 1'), 2: Place(0, 0, 'lift 2'), 3: Place(4, 0, 'hall')}
    before = described(floors, ((1, 3), (2, 3)), home=3)
    now = described({1: floors[2], 2: floors[1], 3: floors[3]}, ((1, 3), (2, 3)), home=3)
    found = GraphChange.between(before, now)
    assert found is not None and found.states == {1: 2, 2: 1, 3: 3}


def test_robots_without_ways_are_not_compared() -> None:
    assert GraphChange.between(RobotDescription(('up',)), BEFORE) is None
