# SPDX-License-Identifier: Apache-2.0

"""Place graphs: the order of edges, home, zones, what is declared, and warnings."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.places.place_graph import Edge, numbered, Place, PlaceGraph
from mnm_ros.robot_description import RobotDescription
import pytest

PATH = Path('office.geojson')
HALL, KITCHEN, LAB, STORE = 1, 2, 3, 9
PLACES = {HALL: Place(0, 0, 'hall'), KITCHEN: Place(4, 0, 'kitchen'), LAB: Place(0, 1, zone=0.3),
          STORE: Place(8, 0)}


def graph(*edges: Edge, **places: Place) -> PlaceGraph:
    return PlaceGraph(PATH, {**PLACES, **{int(key[1:]): place for key, place in places.items()}},
                      edges)


def both(*pairs: tuple[int, int]) -> list[Edge]:
    return [Edge(f'{number}', *ends) for number, pair in enumerate(pairs)
            for ends in (pair, pair[::-1])]


LINE = graph(*both((HALL, KITCHEN), (HALL, LAB), (KITCHEN, STORE)))


def test_outgoing_edges_are_in_the_order_of_their_ends_and_then_of_their_ids() -> None:
    found = graph(Edge('7', HALL, LAB), Edge('10', HALL, KITCHEN), Edge('9', HALL, KITCHEN),
                  Edge('back door', HALL, KITCHEN), *both((LAB, STORE)))
    assert [edge.key for edge in found.outgoing(HALL)] == ['9', '10', 'back door', '7']
    assert found.actions == 4 and not found.outgoing(KITCHEN)


def test_home_is_where_the_farthest_place_is_the_fewest_edges_away() -> None:
    assert LINE.home == HALL and LINE.declaration.depth(HALL) == 2
    # A place without a way back is no home, though it reaches as much.
    assert graph(*both((HALL, KITCHEN), (KITCHEN, STORE)), Edge('x', LAB, KITCHEN)).home == KITCHEN


def test_places_at_one_position_are_merged_with_their_edges() -> None:
    assert LINE.merged is LINE
    twins = graph(*both((HALL, KITCHEN), (HALL, 7), (7, STORE)), _7=Place(4, 0, 'pantry'))
    found = twins.merged
    assert {*found.places} == {HALL, KITCHEN, LAB, STORE}
    assert [edge.end for edge in found.outgoing(KITCHEN)] == [HALL, STORE]
    assert [edge.end for edge in found.outgoing(HALL)] == [KITCHEN]
    assert any('places 2, 7 are all at (4, 0)' in text for text in twins.warnings)
    assert [text for text in found.warnings if 'are all at' in text] == [
        text for text in twins.warnings if 'are all at' in text]


def test_a_place_is_called_by_its_number_or_its_name() -> None:
    named = graph(*both((HALL, KITCHEN)), _7=Place(5, 5, '3'), _8=Place(6, 5, 'hall'))
    assert any('3 (place 7); expected other names' in text for text in named.warnings)
    assert not any('other names' in text for text in LINE.warnings)
    assert named.called('3') == LAB and named.called('kitchen') == KITCHEN
    for text, listed in (('hall', '1, 8'), ('attic', 'hall, kitchen, 3, 9, 3 and 1 more')):
        with pytest.raises(InvalidValueError, match=(
                f"'{text}', expected the number or the name of one place: {listed}")):
            named.called(text)


def test_a_charger_is_home_before_other_places() -> None:
    charged = graph(*both((HALL, KITCHEN), (HALL, LAB), (KITCHEN, STORE)),
                    _9=Place(8, 0, charger=True))
    assert charged.home == STORE and charged.declaration.depth(STORE) == 3


def test_a_zone_is_what_the_file_says_or_half_of_the_shortest_edge_and_at_most_1_m() -> None:
    assert [LINE.zone(place) for place in PLACES] == [0.5, 1.0, 0.3, 1.0]


def test_each_edge_is_declared_to_lead_to_its_end_or_to_stay() -> None:
    assert LINE.declaration.successors == {
        HALL: ((HALL, KITCHEN), (HALL, LAB)), KITCHEN: ((HALL, KITCHEN), (KITCHEN, STORE)),
        LAB: ((HALL, LAB), ()), STORE: ((KITCHEN, STORE), ())}


def test_a_robot_side_calls_moves_by_where_they_lead() -> None:
    said = LINE.describe(HALL)
    assert [said.action_name(action, HALL) for action in (0, 1, -1)] == [
        'to kitchen', 'to 3', 'RESET']
    assert said.action_name(1, LAB) == said.action_name(1) == 'way 2'
    assert said.zones[LAB] == 0.3 and said.home == HALL and said.positions[STORE] == (8, 0)
    assert RobotDescription.from_text(said.to_text()) == said


def test_a_place_of_any_name_and_zone_that_is_taken_can_be_described() -> None:
    long, tiny = 'x' * 100, 1e-12
    said = graph(*both((HALL, LAB)), _3=Place(0, 1, long, zone=tiny)).describe(HALL)
    assert said.names[LAB] == long and said.zones[LAB] == tiny
    assert said.action_name(0, HALL) == f'to {"x" * 75}... (3)'


def test_a_door_is_known_by_the_edges_through_it() -> None:
    assert graph(Edge('1', HALL, LAB, 'glass'), Edge('2', LAB, HALL, 'glass')).describe(
        HALL).doors == {'glass': ((HALL, 0), (LAB, 0))}


@pytest.mark.parametrize(('edges', 'places', 'warning'), [
    ([], {'_3': Place(4, 0)}, 'places 2, 3 are all at (4, 0): they are one place, 2, with the'),
    ([Edge('0', LAB, STORE)], {}, 'several edges have the id 0, expected'),
    ([Edge('loop', LAB, LAB)], {}, 'edges loop lead from a place to itself, and are left out'),
    ([], {'_11': Place(2, 2)}, 'no way leads both to and from 11 and the other 4 places')])
def test_what_a_robot_cannot_use_is_a_warning(
        edges: list[Edge], places: dict[str, Place], warning: str) -> None:
    found = graph(*both((HALL, KITCHEN)), Edge('4', HALL, LAB), Edge('5', LAB, HALL),
                  Edge('6', KITCHEN, STORE), Edge('7', STORE, KITCHEN), *edges, **places)
    # Both directions of a passage may have one id, as those of ``both`` have.
    said = [text for text in found.warnings if 'the id 0,' not in text or '0' in {
        edge.key for edge in edges}]
    assert len(said) == 1 and said[0].startswith(f'{PATH}: {warning}')


def test_places_of_different_levels_may_be_above_each_other() -> None:
    assert not [text for text in graph(
        Edge('1', HALL, KITCHEN), Edge('2', KITCHEN, HALL),
        _2=Place(0, 0, level='L2')).warnings if 'are all at' in text]


@pytest.mark.parametrize(('edges', 'error'), [
    ([Edge('4', HALL, 77)], 'edge 4 ends at place 77, which is not there'),
    ([Edge('4', 77, HALL)], 'edge 4 starts at place 77, which is not there'),
    ([], '4 places and 0 edges, expected at least one edge between two places'),
    ([Edge('4', HALL, HALL)], '4 places and 1 edge, expected at least one edge'),
    ([Edge(str(key), HALL, LAB) for key in range(65)],
     '65 edges begin at place 1, expected at most 64')])
def test_what_is_no_graph_is_refused_by_the_id(edges: list[Edge], error: str) -> None:
    with pytest.raises(FileError, match=f'^{PATH}: {error}'):
        graph(*edges)


@pytest.mark.parametrize(('changes', 'error'), [
    ({'_3': Place(0, 1, 'a' * 101)}, 'the name of state 3 is "a.*, expected 1 to 100 characters'),
    ({'_3': Place(0, 1, 'la\x00b')}, 'the name of state 3 is .*, expected no control characters'),
    ({'_3': Place(0, 1, room='\n')}, 'the name of a room is .*, expected no control characters')])
def test_a_name_that_no_robot_side_can_say_is_refused(
        changes: dict[str, Place], error: str) -> None:
    with pytest.raises(FileError, match=f'^{PATH}: {error}'):
        graph(*both((HALL, KITCHEN)), **changes)


def test_names_are_numbered_in_their_order_and_must_differ() -> None:
    assert numbered(PATH, ['b', 'a', 'c']) == {'a': 1, 'b': 2, 'c': 3}
    with pytest.raises(FileError, match='two places are called b, expected distinct names'):
        numbered(PATH, ['b', 'a', 'b'])
