# SPDX-License-Identifier: Apache-2.0

"""Straight ways on a map, against points of them; and a flat with walls between its cells."""

from __future__ import annotations

import math
from random import Random

from mnm_ros.driving.drive import Leg, Outcome
from mnm_ros.driving.grid import Grid, OUTSIDE, Ways
from mnm_ros.driving.maneuvers import Move, MOVES, successors, WayHome
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
import numpy as np
import pytest
from tiers import strength

SEEDS = range(strength(1, 3))
GRID = Grid(0.0, 0.0, 0.5, 4, 4)
RADIUS = 0.105
WALL = [(2, 1), (6, 5), (10, 9)]    # between the second and the third column; 14, 13 is the door


def flat(door: float = 0.5) -> Map:
    """Return 2 m by 2 m with a wall of 10 cm along a border, and in its last row a door."""
    pixels = np.zeros((40, 40), np.int8)
    pixels[:, 19:21] = 100
    half = round(door / 2 / 0.05)
    pixels[35 - half:35 + half, 19:21] = 0
    return Map(0.05, 40, 40, Pose(0.0, 0.0, 0.0), pixels.ravel().tolist())


def ways_of(map_: Map, radius: float = RADIUS) -> Ways:
    ways = Ways(GRID)
    assert ways.read(map_, radius) and not ways.read(map_, radius)
    return ways


def random_map(random: Random) -> Map:
    origin = Pose(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-3, 3))
    values = [0 if random.random() < 0.97 else random.choice((-1, 50, 100)) for _ in range(600)]
    return Map(0.1, 30, 20, origin, values)


def values_at(map_: Map, x: np.ndarray, y: np.ndarray) -> set[int | None]:
    """Return the values of the pixels with some points; None off the map."""
    distance = np.hypot(x - map_.origin.x, y - map_.origin.y)
    angle = np.arctan2(y - map_.origin.y, x - map_.origin.x) - map_.origin.yaw
    column = np.floor(distance * np.cos(angle) / map_.resolution).astype(int)
    row = np.floor(distance * np.sin(angle) / map_.resolution).astype(int)
    inside = (0 <= column) & (column < map_.width) & (0 <= row) & (row < map_.height)
    values = np.asarray(map_.values)[row[inside] * map_.width + column[inside]]
    return {*values.tolist(), *(() if inside.all() else (None,))}


def seen(map_: Map, start: tuple[float, float], end: tuple[float, float],
         radius: float) -> set[int | None]:
    """Return the values at many points of a disc at many points of a straight way."""
    part, apart, angle = np.ogrid[0:1:41j, 0:radius:3j, 0:6.2:32j]
    return values_at(map_, start[0] + part * (end[0] - start[0]) + apart * np.cos(angle),
                     start[1] + part * (end[1] - start[1]) + apart * np.sin(angle))


@pytest.mark.parametrize('seed', SEEDS)
def test_a_straight_way_is_free_if_all_its_points_are(seed: int) -> None:
    random, found = Random(seed), {True: 0, False: 0}
    for _ in range(strength(4, 8)):
        map_ = random_map(random)
        x, y, yaw = map_.origin
        middle = x + 1.5 * math.cos(yaw) - math.sin(yaw), y + 1.5 * math.sin(yaw) + math.cos(yaw)
        points = [(middle[0] + random.uniform(-1, 1), middle[1] + random.uniform(-1, 1))
                  for _ in range(60)]
        starts, ends = points[:30], [
            (a + random.uniform(-0.4, 0.4), b + random.uniform(-0.4, 0.4)) for a, b in points[:30]]
        ends[:5] = starts[:5]
        radius = random.choice((0.0, random.uniform(0.02, 0.15)))
        is_free, by_less, by_more = (
            map_.is_free(starts, ends, wide) for wide in (radius, radius * 0.999, radius + 0.03))
        for i, (start, end) in enumerate(zip(starts, ends)):
            alone = map_.is_free([start], [end], radius)
            assert alone == is_free[i], (seed, start, end)
            values = seen(map_, start, end, radius * 0.999)
            all_free = all(value is not None and 0 <= value < 50 for value in values)
            assert all_free or not is_free[i], (seed, start, end, radius)
            assert not all_free or by_less[i] or not by_more[i], (seed, start, end, radius)
            found[bool(is_free[i])] += 1
    assert min(found.values()) > strength(15, 30), (seed, found)


@pytest.mark.parametrize('seed', SEEDS)
def test_a_pixel_is_as_far_from_a_way_as_its_nearest_point(seed: int) -> None:
    """A pixel that is not free closes exactly the ways that come as near as the radius."""
    random = Random(seed)
    for _ in range(100):
        pixel, radius = (random.randrange(5, 15), random.randrange(5, 15)), random.uniform(0, 0.3)
        values = [0] * 400
        values[pixel[1] * 20 + pixel[0]] = random.choice((-1, 100))
        map_ = Map(0.1, 20, 20, Pose(0.0, 0.0, 0.0), values)
        start, end = ([random.uniform(0.4, 1.6), random.uniform(0.4, 1.6)] for _ in range(2))
        # The way is convex and so is the pixel: the distance has one minimum along the way.
        low, high = 0.0, 1.0
        for _ in range(100):
            parts = low + (high - low) / 3, high - (high - low) / 3
            near = [math.hypot(*(
                max(side * 0.1 - at, at - side * 0.1 - 0.1, 0.0) for side, at in zip(
                    pixel, (a + part * (b - a) for a, b in zip(start, end))))) for part in parts]
            low, high = (low, parts[1]) if near[0] <= near[1] else (parts[0], high)
        if abs(min(near) - radius) > 1e-6:
            assert map_.is_free([start], [end], radius)[0] == (min(near) > radius), (seed, start)


def test_the_way_in_leads_through_a_keep_out_only_if_no_other_is_there() -> None:
    """A keep-out is unknown on the map; a wall is never driven through."""
    rows = np.zeros((40, 40), np.int8)
    rows[:, 22:24] = -1
    map_ = Map(0.05, 40, 40, Pose(0.0, 0.0, 0.0), rows.ravel())
    start, behind, far = (0.9, 1.0), (1.4, 1.0), (0.2, 1.0)
    assert map_.way_in(start, [behind, far], 0.1) == 1
    assert map_.way_in(start, [behind], 0.1) == 0
    assert map_.way_in(start, [], 0.1) is None
    rows[:, 23] = 100
    walled = Map(0.05, 40, 40, Pose(0.0, 0.0, 0.0), rows.ravel())
    assert walled.way_in(start, [behind], 0.1) is None
    # Beside a wall no way is free for the whole robot, but the robot may drive away from the wall.
    assert walled.way_in((1.07, 1.0), [behind, far], 0.1) == 1


def test_ways_that_lead_to_walls() -> None:
    """Or away from one that is touched; what is unknown or off the map is no wall."""
    pixels = np.zeros((20, 20), np.int8)
    pixels[10], pixels[:5] = 100, -1
    map_ = Map(0.1, 20, 20, Pose(0.0, 0.0, 0.0), pixels.ravel().tolist())
    assert map_.leads_to_a_wall((0.5, 0.8), (0.5, 1.4), 0.1)      # across
    assert map_.leads_to_a_wall((0.5, 0.8), (0.9, 0.95), 0.1)     # too near
    assert not map_.leads_to_a_wall((0.5, 0.8), (0.9, 0.85), 0.1)
    assert not map_.leads_to_a_wall((0.5, 0.95), (0.9, 0.6), 0.1)    # away
    assert not map_.leads_to_a_wall((0.5, 0.95), (0.9, 0.95), 0.1)   # along
    assert map_.leads_to_a_wall((0.5, 0.95), (0.9, 0.96), 0.1)
    assert not map_.leads_to_a_wall((-1.0, -1.0), (0.9, 0.6), 0.1)
    assert map_.leads_to_a_wall((0.5, 2.7), (0.5, 0.8), 0.0)
    assert map_.leads_to_a_wall((0.5, 1.05), (0.5, 0.8), 0.1)     # in a wall, says a wrong pose


def crossing(ways: Ways) -> set[tuple[int, int]]:
    """Return which moves between the second and the third column are declared."""
    return {(cell, end) for cell, lists in successors(ways, MOVES['compass']).items()
            for ends in lists for end in ends if {cell % 4, end % 4} == {1, 2}}


@pytest.mark.parametrize('door, radius, passes', [
    (0.5, RADIUS, True), (0.3, RADIUS, True), (0.2, RADIUS, False), (0.2, 0.0, True)])
def test_a_wall_between_cells_is_declared(door: float, radius: float, passes: bool) -> None:
    """All cells are free, and yet no move leads through the wall, or a door that is too narrow."""
    ways = ways_of(flat(door), radius)
    assert ways.free == frozenset(range(16))
    assert crossing(ways) == ({(13, 14), (14, 13)} if passes else set())
    found = successors(ways, MOVES['compass'])
    assert found[1] == ((1,), (5, 1), (0, 1), (1,)) and found[OUTSIDE] == ((OUTSIDE,),) * 4
    assert sum(len(ends) > 1 for lists in found.values() for ends in lists) == (
        48 - 8 + (2 if passes else 0))


def driven(ways: Ways, cell: int | None, pose: Pose) -> tuple[list[Leg], str]:
    """Drive home, where each leg ends as it should; return the legs, and a problem."""
    way = WayHome(ways, Pose(0.25, 0.25, 0.0), 3, 9.0, in_one_go=False)
    legs, ended = [], None
    while leg := way.next(ended, cell, pose):
        assert len(legs) < 20
        legs.append(leg)
        ended, pose = Outcome.REACHED, Pose(leg.x, leg.y, 0.0)
        cell = GRID.cell_at(leg.x, leg.y)
    return legs, way.problem


def test_a_wall_between_cells_is_not_driven_at() -> None:
    map_ = flat()
    ways = ways_of(map_)
    for cell, there in WALL:
        for action, begin in (('west', cell), ('east', there)):
            move = Move(ways, action, begin, 0, 9.0)
            assert move.next(None, begin, Pose(*GRID.centre(begin), 0.0)) is None
            assert move.outcome is Outcome.BLOCKED
    pose = Pose(*GRID.centre(3), 0.0)
    legs, problem = driven(ways, 3, pose)
    points = [GRID.centre(3), *(point for leg in legs for point in (*leg.via, leg[:2]))]
    cells = [*dict.fromkeys(GRID.cell_at(*point) for point in points)]
    assert not problem and {13, 14} < {*cells} and len(points) > len(cells) == 10
    assert map_.is_free(points[:-1], points[1:], RADIUS).all()


def test_home_from_a_cell_that_is_not_free() -> None:
    """From outside of the grid as well: to the nearest one to which no wall is in the way."""
    pixels = np.array(flat().values, np.int8).reshape(40, 40)
    pixels[3:7, 26:28] = 100      # something in cell 2
    map_ = Map(0.05, 40, 40, Pose(0.0, 0.0, 0.0), pixels.ravel().tolist())
    ways = ways_of(map_)
    assert ways.free == frozenset(range(16)) - {2}
    # Cell 1 is nearer, beyond the wall; cell 3, too, beyond what stands in cell 2.
    legs, problem = driven(ways, 2, Pose(1.16, 0.2, 0.0))
    assert not problem and (legs[0].x, legs[0].y) == GRID.centre(6)
    legs, problem = driven(ways, 2, Pose(1.19, 0.05, 0.0))    # it will touch on any way
    assert not problem and (legs[0].x, legs[0].y) == GRID.centre(3)
    assert all(len(ends) == 1 for ends in successors(ways, MOVES['compass'])[2])
    legs, problem = driven(ways, None, Pose(0.7, -0.2, 0.0))
    assert not problem and (legs[0].x, legs[0].y) == GRID.centre(1)
    legs, problem = driven(ways, None, Pose(1.1, -0.2, 0.0))
    assert not problem and (legs[0].x, legs[0].y) != GRID.centre(1)
    pixels[:12, 21:30] = 100
    pixels[5:9, 22:26] = 0       # a robot that is walled in
    ways = ways_of(Map(0.05, 40, 40, Pose(0.0, 0.0, 0.0), pixels.ravel().tolist()))
    assert driven(ways, 2, Pose(1.2, 0.35, 0.0)) == ([], 'no free way leads home from cell 2')
