# SPDX-License-Identifier: Apache-2.0

"""Places that lie in no free cell of a map, and graphs that belong to another map."""

from __future__ import annotations

from pathlib import Path

from flats import DOOR, flat
from mnm_ros.core.errors import FileError
from mnm_ros.places.on_map import check_frame, check_on_map, off_told, places_off
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
import pytest

FLAT = flat(DOOR)
FREE, WALL, OUTSIDE = (0.5, 0.0), (2.05, 0.9), (-9.0, 9.0)
HOME = 7


def graph(*points: tuple[float, float], home: tuple[float, float] = FREE) -> PlaceGraph:
    """Return home, and places 1, 2, ... that edges join with home."""
    places = {number: Place(*point) for number, point in enumerate(points, 1)}
    return PlaceGraph(Path('a.geojson'), {**places, HOME: Place(*home, 'dock', home=True)}, tuple(
        Edge(str(number), number, HOME) for number in places))


def test_walls_and_all_outside_of_a_map_are_not_free() -> None:
    assert places_off(graph(WALL, FREE, OUTSIDE), FLAT) == {1, 3}


def test_up_to_half_of_the_places_are_named() -> None:
    assert check_on_map(graph(FREE, FREE), HOME, FLAT, 'a.yaml') == ()
    assert check_on_map(graph(FREE, WALL, OUTSIDE), HOME, FLAT, 'a.yaml') == (
        'a.yaml: no free cell at 2 of the 4 places of a.geojson: 2, 3; expected a free cell at '
        'each place',)


def test_more_than_half_of_the_places_are_of_another_map() -> None:
    for check in (check_frame, check_on_map):
        with pytest.raises(FileError) as caught:
            check(graph(FREE, WALL, WALL, OUTSIDE), HOME, FLAT, 'a.yaml')
        assert str(caught.value) == (
            'a.yaml: no free cell at 3 of the 5 places of a.geojson: 2, 3, 4; expected the map on '
            'which the graph was made, in the same frame')


def test_home_comes_first_and_has_to_be_free_to_drive() -> None:
    places = graph(WALL, FREE, FREE, FREE, home=OUTSIDE)
    assert check_frame(places, HOME, FLAT, 'a.yaml') == {1, HOME}
    with pytest.raises(FileError, match=r'2 of the 5 places of a\.geojson: home \(dock\), 1; exp'):
        check_on_map(places, HOME, FLAT, 'a.yaml')


def test_five_names_are_told_and_the_number_of_the_others() -> None:
    assert off_told(graph(*[WALL] * 6), frozenset({1, 2, 3, 4, 5, 6, HOME}), 'a.yaml').endswith(
        'no free cell at 7 of the 7 places of a.geojson: 1, 2, 3, 4, 5 and 2 more')
