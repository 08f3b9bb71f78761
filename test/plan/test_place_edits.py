# SPDX-License-Identifier: Apache-2.0

"""What a page may ask of a place graph, in JSON, and how it is refused what it may not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
import json
import math
from pathlib import Path
import re
from typing import Any

from english import english_in
from flats import DOOR, flat, hall, house, office, saved
from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.driving.occupancy import Map
from mnm_ros.language import PhraseError, text_in
from mnm_ros.places.geojson import edited_geojson, geojson, read_geojson
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.plan.draft import Draft
from mnm_ros.plan.place_edits import edited
from mnm_ros.plan.place_findings import place_findings
from mnm_ros.plan.place_maker import MadePlaces, make, opened
from mnm_ros.plan.request import Request
import pytest
from tiers import strength, thorough

# Two rooms with 6 and 7 places. Place 3 is home, and 4 and 9 are on both sides of the door.
KITCHEN, HOME, BY_DOOR, HALL = 1, 3, 4, 9


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> MadePlaces:
    folder = tmp_path_factory.mktemp('flat')
    found = make(request(folder), folder / 'flat.geojson')
    assert found.graph.home == HOME and found.graph.edges
    return found


def request(folder: Path) -> Request:
    return Request(saved(folder, flat(DOOR)), spacing=1.2, rooms={'kitchen': (0.5, 0.0)})


def done(made: MadePlaces, edit: str, graph: PlaceGraph | None = None,
         **given: Any) -> PlaceGraph:
    return edited(made.rules, graph or made.graph, json.loads(json.dumps(
        {'edit': edit, **given})))


def beside(graph: PlaceGraph, place: int) -> set[int]:
    return {edge.end for edge in graph.outgoing(place)}


def test_a_place_is_moved_with_its_edges(made: MadePlaces) -> None:
    moved = done(made, 'move', place=KITCHEN, to=[-0.4, 0.9004])
    place = moved.places[KITCHEN]
    assert (place.x, place.y, place.name, place.room) == (-0.4, 0.9, 'kitchen 1', 'kitchen')
    assert moved.edges == made.graph.edges
    assert place.zone is not None and place.zone < (made.graph.places[KITCHEN].zone or 0)
    back = done(made, 'move', moved, place=KITCHEN, to=[-0.325, 0.775])
    assert back == made.graph


def test_a_place_that_is_moved_into_another_room_is_called_so(made: MadePlaces) -> None:
    alone = done(made, 'cut', done(made, 'cut', start=4, end=2), start=4, end=6)
    moved = done(made, 'move', alone, place=BY_DOOR, to=[2.3, -0.025])
    assert (moved.places[BY_DOOR].room, moved.places[BY_DOOR].name) == ('A', 'A 8')
    assert {(edge.start, edge.end) for edge in moved.edges if edge.door} == {(3, 4), (4, 3)}
    named = done(made, 'rename', alone, place=BY_DOOR, to='arch')
    assert done(made, 'move', named, place=BY_DOOR, to=[2.3, -0.025]).places[
        BY_DOOR].name == 'arch'


def test_a_place_is_added_with_edges_to_its_neighbours(made: MadePlaces) -> None:
    added = done(made, 'add', at=[3.1, 0.3])
    number, = added.places.keys() - made.graph.places.keys()
    place = added.places[number]
    assert (place.x, place.y, place.name, place.room) == (3.1, 0.3, 'A 8', 'A')
    assert beside(added, number) == {end for end in added.places if number in beside(added, end)}
    assert {7, 8, 9} <= beside(added, number) and place.zone and place.zone < 0.5
    assert len({edge.key for edge in added.edges} | {str(each) for each in added.places}) == (
        len(added.edges) + len(added.places))
    assert not place_findings(made.rules, added)


@pytest.mark.parametrize('map_', [
    pytest.param(house(1.2, 1.5, 2.0, 2.5, 1.8, 2.2, 1.4), id='house', marks=thorough(
        'plan/test_place_edits.py::'
        'test_a_place_is_joined_to_the_places_that_the_map_joins_it_to')),
    pytest.param(office(strength(2, 4)), id='office'), pytest.param(hall(), id='hall')])
def test_a_place_is_joined_to_the_places_that_the_map_joins_it_to(
        map_: Map, tmp_path: Path) -> None:
    found = make(Request(saved(tmp_path, map_)), tmp_path / 'flat.geojson')
    graph = found.graph
    for number, place in [*graph.places.items()][::4]:
        if place.home:    # the first of all, to which pixels between two places belong
            continue
        without = replace(graph, places={
            other: each for other, each in graph.places.items() if other != number}, edges=tuple(
            edge for edge in graph.edges if number not in (edge.start, edge.end)))
        assert {*found.rules.neighbours((place.x, place.y), without)} == beside(graph, number)


def test_a_place_gets_a_name_and_another_one_is_home(made: MadePlaces) -> None:
    named = done(made, 'rename', place=KITCHEN, to=' stove ')
    assert named.places[KITCHEN] == replace(made.graph.places[KITCHEN], name='stove')
    moved = done(made, 'home', place=HALL)
    assert moved.home == HALL and [
        number for number, place in moved.places.items() if place.home] == [HALL]


def test_places_and_edges_are_removed(made: MadePlaces) -> None:
    gone = done(made, 'remove', place=KITCHEN)
    assert gone.places.keys() == made.graph.places.keys() - {KITCHEN}
    assert not [edge for edge in gone.edges if KITCHEN in (edge.start, edge.end)]
    cut = done(made, 'cut', start=1, end=2)
    assert made.graph.joined - cut.joined == {frozenset((1, 2))}
    assert len(cut.edges) == len(made.graph.edges) - 2 and cut.places.keys() == (
        made.graph.places.keys())
    other = done(made, 'remove', done(made, 'home', place=1), place=HOME)
    assert HOME not in other.places and other.home == 1


def test_places_are_joined_in_both_directions_or_in_one(made: MadePlaces) -> None:
    joined = done(made, 'join', start=2, end=5)
    assert {(2, 5), (5, 2)} <= {(edge.start, edge.end) for edge in joined.edges}
    one_way = done(made, 'join', joined, start=5, end=2, one_way=True)
    assert 2 in beside(one_way, 5) and 5 not in beside(one_way, 2)
    assert 5 in beside(done(made, 'join', one_way, start=5, end=2), 2)
    cut = done(made, 'cut', one_way, start=2, end=5)
    assert {(each.start, each.end) for each in cut.edges} == {
        (each.start, each.end) for each in made.graph.edges}
    through = done(made, 'join', done(made, 'move', place=2, to=[1.7, 0.05]), start=2, end=HALL)
    assert {edge.door for edge in through.edges
            if {edge.start, edge.end} == {2, HALL}} == {'A-kitchen'}


@pytest.mark.parametrize(('edit', 'complaint'), [
    ([], r"\[\] is no edit, expected an object with a key 'edit'"),
    ({'edit': 'fly'}, "edit is 'fly', expected one of move, add, rename, home, join, cut, remove"),
    ({'edit': 'move', 'place': 99, 'to': [0, 0]}, 'the place is 99, expected the number'),
    ({'edit': 'move', 'place': True, 'to': [0, 0]}, 'the place is True, expected the number'),
    ({'edit': 'move', 'place': [1], 'to': [0, 0]}, r'the place is \[1\], expected the number'),
    ({'edit': 'move', 'place': 1}, r'the new value is empty, expected a point, \[x, y\] in m'),
    ({'edit': 'move', 'place': 1, 'to': [math.nan, 0]}, 'the new value is'),
    ({'edit': 'move', 'place': 1, 'to': [1e7, 0]}, 'is not free, expected'),
    ({'edit': 'move', 'place': 1, 'to': [-0.8, 0.775]},
     r'move: \(-0.80, 0.78\) is not free, expected 0.225 m of free floor on all sides'),
    ({'edit': 'move', 'place': 1, 'to': [3.0, 0.8]}, r'no free straight way leads from '
     r'\(3.00, 0.80\) to kitchen 2, kitchen 3, kitchen 5, expected one along each edge of'),
    ({'edit': 'move', 'place': 1, 'to': [1.1, 0.85]},
     r'\(1.10, 0.85\) is where kitchen 2 is, expected at least 0.1 m between places'),
    ({'edit': 'add', 'at': [2.05, 1.0]}, r'add: \(2.05, 1.00\) is not free'),
    ({'edit': 'add', 'at': [0.5, 0.0]}, 'is where kitchen 3 is'),
    ({'edit': 'add', 'at': '0, 0'}, r"the point is '0, 0', expected a point"),
    ({'edit': 'rename', 'place': 1, 'to': 'A 1'}, "'A 1', expected a name that no other place"),
    ({'edit': 'rename', 'place': 1, 'to': '7'}, "the new value is '7', expected a name"),
    ({'edit': 'rename', 'place': 1, 'to': ''}, 'the new value is empty, expected a name'),
    ({'edit': 'rename', 'place': 1, 'to': 'a\nb'}, 'expected a name of 1 to 60 printable'),
    ({'edit': 'home', 'place': 'A 1'}, "the place is 'A 1', expected the number of a place"),
    ({'edit': 'join', 'start': 1, 'end': 7}, 'join: no free straight way leads from '
     'kitchen 1 to A 1, expected one with 0.225 m on both sides'),
    ({'edit': 'join', 'start': 1, 'end': 2}, 'kitchen 1 and kitchen 2 are joined so already'),
    ({'edit': 'join', 'start': 1, 'end': 1}, 'the second place is 1, expected another place'),
    ({'edit': 'join', 'start': 2, 'end': 5, 'one_way': 1}, 'the choice of the direction is 1'),
    ({'edit': 'join', 'start': 4, 'end': 9, 'one_way': True},
     'join: no way home would lead from A 1, A 2, A 3, A 4, A 5 and 2 more, expected'),
    ({'edit': 'join', 'start': 9, 'end': 4, 'one_way': True}, 'no way from home would lead to A'),
    ({'edit': 'cut', 'start': 4, 'end': 9}, 'cut: no way from home would lead to A 1, A 2'),
    ({'edit': 'cut', 'start': 1, 'end': 9}, 'no edge joins kitchen 1, A 3, expected two places'),
    ({'edit': 'remove', 'place': HOME}, 'kitchen 3 is home, expected another place: make another'),
    ({'edit': 'remove', 'place': 9}, 'remove: no way from home would lead to A 1, A 2'),
])
def test_what_is_wrong_is_refused_by_name(
        made: MadePlaces, edit: object, complaint: str) -> None:
    with pytest.raises(PhraseError, match=complaint) as raised:
        edited(made.rules, made.graph, edit)
    german = text_in('de', raised.value.said)
    assert english_in([re.sub(r"'[^']*'|move, .*", 'X', german)], 'de') == []


def test_a_place_that_sees_no_other_one_is_not_added(made: MadePlaces) -> None:
    kitchen = {number: place for number, place in made.graph.places.items() if number <= 6}
    graph = replace(made.graph, places=kitchen, edges=tuple(
        edge for edge in made.graph.edges if {edge.start, edge.end} <= kitchen.keys()))
    with pytest.raises(InvalidValueError, match='no free straight way leads from .*: add a place '
                       'between first'):
        done(made, 'add', graph, at=[4.5, 1.0])


def test_one_edge_is_left(made: MadePlaces) -> None:
    pair = replace(made.graph, places={number: made.graph.places[number] for number in (3, 4)},
                   edges=(Edge('5', 3, 4), Edge('6', 4, 3)))
    for edit in ({'edit': 'cut', 'start': 3, 'end': 4}, {'edit': 'remove', 'place': 4}):
        with pytest.raises(InvalidValueError, match='no edge would be left, expected one or more'):
            edited(made.rules, pair, edit)


def test_a_zone_or_a_door_that_a_person_has_set_stays(made: MadePlaces) -> None:
    graph = made.graph
    own = replace(graph, places={**graph.places, 1: replace(graph.places[1], zone=0.3),
                                 2: replace(graph.places[2], zone=None)},
                  edges=tuple(replace(edge, door='hatch') if {edge.start, edge.end} == {1, 2}
                              else edge for edge in graph.edges))
    moved = done(made, 'move', own, place=1, to=[-0.4, 0.9])
    assert (moved.places[1].zone, moved.places[2].zone) == (0.3, None)
    assert {edge.door for edge in moved.edges} == {'', 'hatch', 'A-kitchen'}


def test_edits_are_taken_back_one_by_one(made: MadePlaces) -> None:
    draft = Draft(made.graph, partial(edited, made.rules))
    assert draft.take({'edit': 'remove', 'place': 1}) and draft.now is not draft.saved
    assert not draft.take({'edit': 'remove', 'place': HOME}) and 'is home' in text_in(
        'en', draft.said)
    draft.undo()
    assert draft.now is draft.saved is made.graph and not draft.said


def test_a_graph_that_was_opened_again_has_the_same_rules(
        made: MadePlaces, tmp_path: Path) -> None:
    path = tmp_path / 'flat.geojson'
    graph = replace(made.graph, path=path)
    path.write_text(geojson(graph))
    again = opened(replace(request(tmp_path), rooms={}), path)
    assert again.graph == graph == again.rules.followed(graph)
    assert again.plan.room_at((0.5, 0.0)) == 'kitchen' and {*again.plan.doors} == {'A-kitchen'}
    assert again.said == () and not place_findings(again.rules, graph)
    assert again.graph is again.in_file


def test_a_graph_in_the_frame_of_another_map_is_refused(
        made: MadePlaces, tmp_path: Path) -> None:
    path = tmp_path / 'flat.geojson'
    path.write_text(geojson(replace(made.graph, path=path, places={
        number: replace(place, x=place.x + 20) for number, place in made.graph.places.items()})))
    with pytest.raises(FileError, match='flat.yaml: no free cell at .*flat.geojson: home'):
        opened(request(tmp_path), path)


def test_places_without_names_are_called_by_room_and_number(
        made: MadePlaces, tmp_path: Path) -> None:
    path = tmp_path / 'flat.geojson'
    bare = {number: replace(place, name='', room='')
            for number, place in made.graph.places.items()}
    taken = replace(bare[1], name='kitchen 1')    # in room A
    outside = max(bare) + 1
    graph = replace(made.graph, path=path,
                    places={**bare, 1: taken, outside: Place(-9.0, 9.0)})
    path.write_text(geojson(graph))
    found = opened(replace(request(tmp_path), rooms={'kitchen': (0.5, 0.0)}), path)
    places = found.graph.places
    assert {place.room for place in places.values()} == {'A', 'kitchen', ''}
    assert all(place.room == found.plan.room_at((place.x, place.y))
               for number, place in places.items() if number != outside)
    names = [place.name for number, place in places.items() if number not in (1, outside)]
    assert len({*names, 'kitchen 1'}) == len(names) + 1
    assert all(re.fullmatch(r'(A|kitchen) \d+', name) for name in names)
    assert (places[1].name, places[outside].name) == ('kitchen 1', '')
    assert found.in_file == graph and str(path) in found.said[0]
    path.write_text(edited_geojson(found.graph, found.in_file))
    assert read_geojson(path) == found.graph


def test_what_is_wrong_with_a_graph_of_another_program_is_said(made: MadePlaces) -> None:
    graph = made.graph
    odd = replace(graph, places={**graph.places, 30: Place(2.05, 1.2, 'A 1')},
                  edges=(*graph.edges, Edge('99', 1, 30)))
    assert [finding.text for finding in place_findings(made.rules, odd)] == [
        'A 1 (2.05, 1.20) has less than 0.225 m of free floor on all sides, the radius of the '
        'robot and its clearance',
        'no way home leads from A 1',
        'the straight way between kitchen 1 and A 1 is not free, with 0.225 m on both sides',
        "places 7 and 30 are both called 'A 1'"]
    assert [text_in('de', finding.said) for finding in place_findings(made.rules, odd)] == [
        'A 1 (2,05; 1,20) hat nicht nach allen Seiten 0,225 m freien Boden, so viel wie Radius '
        'und Abstand des Roboters',
        'von A 1 führt kein Weg zum Start',
        'der gerade Weg zwischen kitchen 1 und A 1 ist nicht frei, mit 0,225 m auf beiden Seiten',
        'die Orte 7 und 30 heißen beide "A 1"']
    # It can be edited yet, and what is wrong already is no reason to refuse that.
    assert done(made, 'rename', odd, place=30, to='x').places[30].name == 'x'
    at_wall = replace(graph, places={**graph.places, HOME: replace(
        graph.places[HOME], x=2.05, y=1.2)})
    first, *_ = place_findings(made.rules, at_wall)
    assert first.fatal and first.text.startswith('home (2.05, 1.20) has less')
