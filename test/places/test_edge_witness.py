# SPDX-License-Identifier: Apache-2.0

"""Drives along edges are seen by poses, whatever a route server says and however they end."""

from __future__ import annotations

from pathlib import Path
from random import Random

from mnm_ros.driving.grid import OUTSIDE
from mnm_ros.places.edge_witness import Drive, EdgeWitness
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
import pytest
from tiers import strength

PAIRS = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3), (1, 3)]
GRAPH = PlaceGraph(Path('ring.geojson'), {each: Place(3.0 * each, 0) for each in range(4)}, tuple(
    Edge(str(10 + number), *pair) for number, pair in enumerate(PAIRS)))
KEYS = {pair: str(10 + number) for number, pair in enumerate(PAIRS)}


def action(start: int, end: int) -> int:
    return [edge.end for edge in GRAPH.outgoing(start)].index(end)


@pytest.fixture
def witness() -> EdgeWitness:
    witness = EdgeWitness(GRAPH)
    assert witness.moved(0) == witness.tracks(KEYS[0, 1]) == witness.moved(None) == []
    return witness


def test_an_edge_has_led_to_its_end_once_the_robot_is_there(witness: EdgeWitness) -> None:
    assert witness.tracks(KEYS[1, 2]) == []    # the server is content with being near
    assert witness.moved(1) == [Drive(0, action(0, 1), 1)]
    assert witness.moved(None) == []
    witness.arrived()
    assert witness.moved(2) == [Drive(1, action(1, 2), 2)]
    assert witness.moved(1) == [] and witness.aborted() == []


def test_zones_on_the_way_are_not_where_it_ends(witness: EdgeWitness) -> None:
    assert witness.moved(3) == witness.moved(None) == []
    assert witness.moved(1) == [Drive(0, action(0, 1), 1)]


def test_another_route_gives_an_edge_up_in_the_next_zone(witness: EdgeWitness) -> None:
    assert witness.tracks(KEYS[0, 3]) == []
    assert witness.moved(0) == [Drive(0, action(0, 1), 0)]
    assert witness.moved(None) == []
    assert witness.moved(3) == [Drive(0, action(0, 3), 3)]


@pytest.mark.parametrize('place, state', [(None, OUTSIDE), (0, 0), (2, 2)])
def test_where_it_is_left_is_where_it_ends(
        witness: EdgeWitness, place: int | None, state: int) -> None:
    witness.moved(place)
    assert witness.aborted() == [Drive(0, action(0, 1), state)]
    assert witness.moved(1) == []


def test_who_is_called_off_says_nothing_of_the_edge(witness: EdgeWitness) -> None:
    assert witness.called_off() == [Drive(0, action(0, 1), None)]
    assert witness.moved(1) == []


def test_what_never_left_was_not_driven() -> None:
    witness = EdgeWitness(GRAPH)
    assert witness.moved(0) == witness.tracks(KEYS[0, 1]) == witness.tracks(KEYS[0, 3]) == []
    assert witness.called_off() == witness.tracks(KEYS[0, 1]) == witness.aborted() == []


def test_an_edge_on_which_the_robot_does_not_begin_is_not_driven() -> None:
    witness = EdgeWitness(GRAPH)
    witness.moved(None)
    assert witness.tracks(KEYS[0, 1]) == witness.moved(1) == []
    assert witness.tracks('99') == witness.tracks('') == witness.moved(2) == []


@pytest.mark.parametrize('seed', range(strength(50, 1000)))
def test_only_and_all_that_was_driven_is_told(seed: int) -> None:
    """A robot that is driven at random, and what it has done as it was done."""
    random, witness = Random(seed), EdgeWitness(GRAPH)
    told, true, place = witness.moved(0), list[Drive](), 0
    for _ in range(100):
        edge = random.choice(GRAPH.outgoing(place))
        told += witness.tracks(edge.key)
        for _ in range(random.randint(0, 2)):    # poses, and feedback, again
            told += witness.moved(place) + witness.tracks(edge.key)
        told += witness.moved(None)
        end = random.choice(['there', 'there', 'rerouted', 'stuck', 'called off'])
        if end == 'there':
            if random.random() < 0.5:
                told += witness.tracks(random.choice(GRAPH.outgoing(edge.end)).key)
            elif random.random() < 0.5:
                witness.arrived()
            place = edge.end
            true.append(Drive(edge.start, GRAPH.actions_of[edge], place))
        elif end == 'rerouted':
            others = [each for each in GRAPH.edges if each.start != edge.end and each != edge]
            told += witness.tracks(random.choice(others).key)
            place = random.choice([edge.start, random.randrange(4)])
            true.append(Drive(edge.start, GRAPH.actions_of[edge], place))
        elif end == 'stuck':
            told += witness.aborted()
            true.append(Drive(edge.start, GRAPH.actions_of[edge], OUTSIDE))
            place = random.randrange(4)    # to which it is brought
        else:
            told += witness.called_off()
            true.append(Drive(edge.start, GRAPH.actions_of[edge], None))
        told += witness.moved(place)
        assert told == true, f'seed {seed}'
