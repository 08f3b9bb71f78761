# SPDX-License-Identifier: Apache-2.0

"""Place graphs of maps: places in every room, free ways, and files that are read again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
import math
from pathlib import Path

from flats import building, DOOR, flat, hall, house, office, saved
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.places.geojson import geojson, read_geojson
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.plan.place_maker import MadePlaces, make
from mnm_ros.plan.request import Request
from mnm_ros.plan.rooms import depth_of, is_free
import numpy as np
from numpy.typing import NDArray
import pytest
from scipy import ndimage
from tiers import strength

RADIUS = 0.175
RING = building(10, 10, (2, 2, 8, 8, 100))
HOUSE = house(1.2, 1.5, 2.0, 2.5, 1.8, 2.2, 1.4)
TURNED = flat(DOOR, yaw=0.4)
MAPS = {'flat': flat(DOOR), 'turned': TURNED, 'house': HOUSE,
        'office': office(strength(2, 4)), 'hall': hall(),
        'ring': RING, 'yawed': replace(flat(DOOR), origin=Pose(2.0, 3.0, 1.0)),
        'doors': house(0.9, 0.9, 0.9, 0.9, 0.9)}
NAMES = strength(('turned', 'house', 'office', 'ring', 'yawed'), (*MAPS,))


def made(folder: Path, map_: Map, **given: object) -> MadePlaces:
    request = Request(saved(folder, map_), robot_radius=RADIUS, **given)
    return make(request, folder / 'flat.geojson')


@pytest.fixture(scope='module')
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MadePlaces]:
    return {name: made(tmp_path_factory.mktemp(name), MAPS[name]) for name in NAMES}


def distances(map_: Map, graph: PlaceGraph) -> NDArray[np.float64]:
    """Return how far each pixel where the robot fits is from a place, along free ways."""
    open_ = depth_of(is_free(map_)) * map_.resolution > RADIUS + 0.05 + map_.resolution
    found = np.where(open_, np.inf, -1.0)
    waiting: deque[tuple[int, int]] = deque()
    for place in graph.places.values():
        column, row = np.floor(map_.pixels([(place.x, place.y)])[0] + 1e-9).astype(int).tolist()
        found[row, column] = 0.0
        waiting.append((row, column))
    while waiting:
        row, column = waiting.popleft()
        for next_ in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if found[next_] == np.inf:
                found[next_] = found[row, column] + map_.resolution
                waiting.append(next_)
    return found


@pytest.mark.parametrize('name', NAMES)
def test_each_area_where_the_robot_fits_has_a_place_near(
        graphs: dict[str, MadePlaces], name: str) -> None:
    found = distances(MAPS[name], graphs[name].graph)
    assert np.isfinite(found).all() and found.max() < 3.2    # steps along rows and columns


@pytest.mark.parametrize('name', NAMES)
def test_each_way_is_free_wherever_the_robot_is_on_it(
        graphs: dict[str, MadePlaces], name: str) -> None:
    """Looked at point by point: no pixel that is not free is nearer than radius and clearance."""
    map_, graph = MAPS[name], graphs[name].graph
    taken = np.argwhere(~is_free(map_))[:, ::-1]
    low, high = taken.astype(np.float64), taken + 1.0
    around = (RADIUS + 0.1) / map_.resolution    # pixels; what is farther away is far enough
    for edge in graph.edges:
        start, end = graph.places[edge.start], graph.places[edge.end]
        count = math.ceil(graph.length(edge) / 0.05) + 1
        points = map_.pixels(np.linspace((start.x, start.y), (end.x, end.y), count))
        first, last = points.min(axis=0) - around, points.max(axis=0) + around
        near = ((high > first) & (low < last)).all(axis=1)
        for point in points if near.any() else ():
            off = np.maximum(np.maximum(low[near] - point, point - high[near]), 0.0)
            assert np.hypot(*off.T).min() * map_.resolution > RADIUS + 0.05 - 1e-6, (edge, point)


@pytest.mark.parametrize('name', NAMES)
def test_all_places_are_joined_and_apart(graphs: dict[str, MadePlaces], name: str) -> None:
    graph = graphs[name].graph
    assert not graph.warnings and graph.declaration.depth(graph.home) >= 1
    reached = {graph.home}
    for _ in graph.places:
        reached |= {edge.end for place in reached for edge in graph.outgoing(place)}
    assert reached == {*graph.places}
    assert {(edge.start, edge.end) for edge in graph.edges} == {
        (edge.end, edge.start) for edge in graph.edges}
    lengths = [graph.length(edge) for edge in graph.edges]
    assert 0.9 < np.median(lengths) < 2.6 and max(lengths) < 4.5 and min(lengths) > 0.3


@pytest.mark.parametrize(('name', 'rooms', 'doors', 'openings'), [case for case in (
    ('flat', 2, 1, 0), ('turned', 2, 1, 0), ('house', 6, 0, 7),
    ('office', *strength((5, 4), (9, 8)), 0), ('hall', 1, 0, 0),
    ('ring', 1, 0, 0), ('yawed', 2, 1, 0), ('doors', 6, 5, 0)) if case[0] in NAMES])
def test_rooms_and_doors_are_those_of_the_map(
        graphs: dict[str, MadePlaces], name: str, rooms: int, doors: int, openings: int) -> None:
    found = graphs[name]
    assert (len(found.plan.rooms), len(found.plan.doors), len(found.plan.openings)) == (
        rooms, doors, openings)
    by_room = Counter(place.room for place in found.graph.places.values())
    assert {*by_room} == {*found.plan.rooms} == {*'ABCDEFGHI'[:rooms]}
    # Each door is on both directions of at least one way, and no other way has one.
    through = Counter(edge.door for edge in found.graph.edges if edge.door)
    assert {*through} == {*found.plan.doors} and all(count % 2 == 0 for count in through.values())
    for edge in found.graph.edges:
        ends = [found.graph.places[end].room for end in (edge.start, edge.end)]
        assert not edge.door or ends[0] != ends[1]


def test_each_side_of_a_door_has_a_place(graphs: dict[str, MadePlaces]) -> None:
    found = graphs['office']
    for line in found.plan.doors.values():
        middle = tuple((one + other) / 2 for one, other in zip(*line))
        above, below = (min(math.dist(middle, (place.x, place.y))
                            for place in found.graph.places.values()
                            if (place.y > middle[1]) is side) for side in (True, False))
        assert max(above, below) < 1.2


def test_a_file_is_read_as_it_was_written(graphs: dict[str, MadePlaces]) -> None:
    for found in graphs.values():
        found.graph.path.write_text(geojson(found.graph), encoding='utf-8')
        assert read_geojson(found.graph.path) == found.graph
        described = found.graph.describe(found.graph.home)
        assert {*described.rooms} == {*found.plan.rooms}
        assert {*described.doors} == {*found.plan.doors}


def test_zones_do_not_overlap_and_end_before_walls(graphs: dict[str, MadePlaces]) -> None:
    for name, found in graphs.items():
        depth = depth_of(is_free(MAPS[name])) * MAPS[name].resolution
        for number, place in found.graph.places.items():
            column, row = np.floor(MAPS[name].pixels([(place.x, place.y)])[0] + 1e-9).astype(int)
            assert place.zone is not None and 0.05 <= place.zone <= min(1, depth[row, column])
            assert all(2 * place.zone <= found.graph.length(edge) + 0.1
                       for edge in found.graph.outgoing(number))


def test_home_and_names_are_as_asked_for(tmp_path: Path) -> None:
    found = made(tmp_path, flat(DOOR), home=Pose(0.3, 0.2, 1.0), rooms={
        'kitchen': (0.5, 0.0)}, doors={'arch': ((2.025, -0.4), (2.025, 0.4))})
    graph = found.graph
    home = graph.places[graph.home]
    assert (home.x, home.y, home.room, home.home) == (0.3, 0.2, 'kitchen', True)
    assert {place.name for place in graph.places.values() if place.room == 'kitchen'} == {
        f'kitchen {number}' for number in range(1, 1 + sum(
            place.room == 'kitchen' for place in graph.places.values()))}
    assert {place.room for place in graph.places.values()} == {'kitchen', 'A'}
    assert {edge.door for edge in graph.edges} == {'', 'arch'}


def test_wherever_home_is_ways_lead_from_it(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    map_ = flat(DOOR)
    for x, y in random.uniform((-1.1, -1.6), (5.1, 1.6), (strength(4, 25), 2)).round(3).tolist():
        found = made(tmp_path, map_, home=Pose(x, y, 0.0))
        home = found.graph.places[found.graph.home]
        assert (home.x, home.y) == found.plan.home[:2] and found.graph.outgoing(found.graph.home)
        assert {place.room for place in found.graph.places.values()} == {'A', 'B'}


def test_keep_outs_have_no_places_and_no_ways(tmp_path: Path) -> None:
    rope = ((1.0, -1.0), (1.6, -1.0), (1.6, 0.6), (1.0, 0.6))
    found = made(tmp_path, flat(DOOR), keep_outs={'rope': rope})
    assert found.graph.edges
    for edge in found.graph.edges:
        start, end = found.graph.places[edge.start], found.graph.places[edge.end]
        for x, y in np.linspace((start.x, start.y), (end.x, end.y), 50):
            assert not (0.9 < x < 1.7 and -1.1 < y < 0.7)


def test_what_is_not_reached_is_said(tmp_path: Path) -> None:
    found = made(tmp_path, flat())
    said, = (line for line in found.said if line.startswith('left out'))
    assert 'm^2 at (' in said and '--home there' in said
    assert 'places are 1 m apart, because with 2 m there would be one alone' in found.said
    assert {place.room for place in found.graph.places.values()} == {'A'}


def test_rooms_and_doors_of_which_nothing_becomes_are_said(tmp_path: Path) -> None:
    found = made(tmp_path, flat(DOOR), rooms={
        'kitchen': (0.5, 0.0), 'larder': (0.0, 0.5), 'wall': (2.05, 1.0)}, doors={
            'arch': ((2.025, -0.4), (2.025, 0.4)), 'flap': ((-1.0, 0.5), (-0.8, 0.5))})
    assert [line for line in found.said if line.startswith(('room', 'door'))] == [
        "room 'larder' (0, 0.5) has no place: it is one with 'kitchen'",
        "room 'wall' (2.05, 1) has no place: its point is in a wall, or in what is unknown",
        "door 'flap' (-0.90, 0.50) is on no way: it is too narrow for the robot, or no line from "
        'wall to wall']


def test_spacing_decides_how_many_places_there_are(tmp_path: Path) -> None:
    counts = [len(made(tmp_path, building(12, 12), spacing=spacing).graph.places)
              for spacing in (1.0, 2.0, 4.0)]
    for more, fewer in zip(counts, counts[1:]):
        assert 2.5 < more / fewer < 6
    assert 25 <= counts[1] <= 60


def test_too_many_places_are_farther_apart(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('mnm_ros.plan.place_maker.MAX_STATES', 20)
    found = made(tmp_path, building(12, 12))
    assert 5 < len(found.graph.places) <= 20
    assert any('m apart, because with 2 m there would be more than 20' in line
               for line in found.said)


def hostile() -> Iterator[tuple[str, Map, str]]:
    yield 'all unknown', building(4, 4, (0, 0, 4, 4, -1)), 'no pixel of the map is free, expected'
    yield 'all occupied', building(4, 4, (0, 0, 4, 4, 100)), 'no pixel of the map is free'
    yield 'one pixel', Map(0.05, 1, 1, Pose(0, 0, 0), [0]), 'no place of the map has'
    yield 'room for one', building(0.8, 0.8), 'home, 0.375, 0.375, has room for one place'


@pytest.mark.parametrize(('map_', 'complaint'), [
    pytest.param(map_, complaint, id=name) for name, map_, complaint in hostile()])
def test_a_map_without_places_is_refused(tmp_path: Path, map_: Map, complaint: str) -> None:
    with pytest.raises(InvalidValueError, match=complaint):
        made(tmp_path, map_)


def test_noise_ends_in_a_graph_or_in_an_error(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    for smooth in (1.0, 3.0, 8.0):
        noise = ndimage.gaussian_filter(random.normal(size=(120, 150)), smooth)
        values = np.where(noise > noise.std(), 100, np.where(noise < -2 * noise.std(), -1, 0))
        map_ = Map(0.05, 150, 120, Pose(0, 0, 0), values.astype(np.int8).ravel())
        try:
            graph = made(tmp_path, map_).graph
        except InvalidValueError as error:
            assert 'expected' in str(error)
        else:
            assert not graph.warnings
