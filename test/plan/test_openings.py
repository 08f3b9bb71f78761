# SPDX-License-Identifier: Apache-2.0

"""Openings between rooms: as many rooms as a person would count."""

from __future__ import annotations

import random

from flats import building, flat, hall, house, office
from mnm_ros.driving.occupancy import Map
from mnm_ros.plan.basins import flooded
from mnm_ros.plan.openings import find_openings, without_furniture
from mnm_ros.plan.rooms import depth_of, is_free, labelled, sides
import numpy as np
import pytest
from tiers import strength, thorough

ALSO = thorough('plan/test_openings.py::test_rooms_are_what_a_person_would_count')
RING = building(10, 10, (2, 2, 8, 8, 100))
PILLARS = hall()


def areas(map_: Map) -> list[float]:
    """Return the areas of the rooms between openings in m^2, the largest first."""
    found = np.bincount(labelled(map_, find_openings(map_, 0.95, 1.0)).ravel())[1:]
    return sorted(found * map_.resolution ** 2, reverse=True)


@pytest.mark.parametrize(('map_', 'rooms'), [
    pytest.param(house(0.9, 0.9, 0.9, 0.9, 0.9), 6, marks=ALSO),
    (house(1.2, 1.5, 2.0, 2.5, 1.8, 2.2, 1.4), 6),    # no door at all, and loops
    pytest.param(house(*[4.0] * 7), 1, marks=ALSO),   # no walls at all
    pytest.param(office(), 9, marks=ALSO),
    pytest.param(office(2, corridor=1.2), 5, marks=ALSO), pytest.param(RING, 1, marks=ALSO),
    (PILLARS, 1), pytest.param(building(20, 1.2), 1, marks=ALSO),
    (building(2.5, 1.3, (1.2, 0, 1.3, 0.35, 100), (1.2, 0.95, 1.3, 1.3, 100)), 2)])
def test_rooms_are_what_a_person_would_count(map_: Map, rooms: int) -> None:
    found = areas(map_)
    assert len(found) == rooms
    assert sum(found) == pytest.approx(is_free(map_).sum() * map_.resolution ** 2)


@pytest.mark.parametrize('resolution', [pytest.param(0.02, marks=thorough(
    'plan/test_openings.py::test_an_opening_is_a_line_from_wall_to_wall')), 0.05, 0.1])
def test_an_opening_is_a_line_from_wall_to_wall(resolution: float) -> None:
    map_ = building(6, 4, (3, 0, 3.1, 4, 100), (3, 1, 3.1, 3, 0), resolution=resolution)
    ((x, low), (to_x, high)), = find_openings(map_, 0.95, 1.0)
    assert sorted((low, high)) == pytest.approx([1, 3], abs=1.5 * resolution)
    assert x == pytest.approx(to_x, abs=1.5 * resolution) == pytest.approx(3.05, abs=0.3)


@pytest.mark.parametrize('seed', strength([27], [27, 28, 48, 65]))
def test_each_opening_has_a_room_on_each_side(seed: int) -> None:
    chance = random.Random(seed)
    walls = []
    for _ in range(10):    # pieces of walls, between which openings lead from one to the next
        x, y, length = (round(chance.uniform(*each), 1) for each in ((0, 9), (0, 5), (0.6, 3)))
        across, up = (0.1, length) if chance.random() < 0.5 else (length, 0.1)
        walls.append((x, y, x + across, y + up, 100))
    map_ = building(12, 8, *walls)
    lines = find_openings(map_, 0.95, 1.0)
    labels = labelled(map_, lines)
    assert len(lines) > 2
    assert all(len({0, *sides(map_, labels, line)}) == 3 for line in lines)


def test_furniture_divides_nothing() -> None:
    alone, wall = (2, 2, 3, 3, 100), (5, 0.1, 5.1, 2.5, 100)
    free = is_free(building(8, 4, alone, wall))
    found = without_furniture(free, 0.05)
    assert (found == is_free(building(8, 4, wall))).all()
    small = building(2, 2, (0.1, 0.1, 2, 0.9, -1), (0.1, 0.9, 0.9, 2, -1))
    assert (without_furniture(is_free(small), 0.05) == is_free(small)).all()
    post, piece = (2, 2, 2.5, 2.1, 100), (2, 2, 3, 2.1, 100)    # a piece of a wall between doors
    assert without_furniture(is_free(building(8, 4, post)), 0.05)[41, 41]
    assert not without_furniture(is_free(building(8, 4, piece)), 0.05)[41, 41]


def test_each_free_pixel_is_in_one_basin_that_is_connected() -> None:
    map_ = flat((3, 1.1, 3.1, 1.9, 0))
    basins = flooded(depth_of(is_free(map_)), 0.95 / 0.05)
    assert ((basins > 0) == is_free(map_)).all() and len(np.unique(basins)) == 3
    assert np.bincount(basins.ravel())[np.unique(basins)[1:]].tolist() == pytest.approx(
        [3200, 3200], rel=0.05)


def test_where_nothing_is_free_no_opening_is() -> None:
    for value in (-1, 100):
        assert find_openings(building(1, 1, (0, 0, 1, 1, value)), 0.95, 1.0) == []


@pytest.mark.parametrize(('rectangles', 'rooms'), [
    (((6, 0, 6.1, 1, 100), (6, 5, 6.1, 6, 100)), 2),        # stubs in line, an opening of 4 m
    (((6, 0, 6.1, 1, 100), (6.15, 5, 6.25, 6, 100)), 2),    # and not quite in line
    (((6, 4, 6.1, 6, 100),), 2),                            # one stub
    (((6, 0, 6.1, 0.3, 100), (6, 5.7, 6.1, 6, 100)), 1),    # posts
    (((4, 0, 6, 1.2, 100),), 1),                            # a sideboard
    (((8.5, 0, 8.6, 2, 100), (8.5, 4, 8.6, 6, 100)), 1)])   # behind them is a niche
def test_wide_openings_between_stubs_of_walls_divide_rooms(
        rectangles: tuple, rooms: int) -> None:
    for turned in (False, True):
        found = areas(building(*((6, 9) if turned else (9, 6)), *(
            (low, left, high, right, value) if turned else (left, low, right, high, value)
            for left, low, right, high, value in rectangles)))
        assert len(found) == rooms
