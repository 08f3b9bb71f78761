# SPDX-License-Identifier: Apache-2.0

"""Poses, cells and states."""

from __future__ import annotations

import math
from random import Random

from mnm_ros.driving.grid import free_cells, Grid, OUTSIDE, Place, QUARTER
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose, wrapped
import pytest

SEEDS = range(3)


def pose_of(grid: Grid, state: int) -> Pose:
    """Return the centre of a state, with yaw 0 if states have no heading."""
    cell, heading = divmod(state, 4) if grid.with_heading else (state, 0)
    return Pose(*grid.centre(cell), wrapped(heading * QUARTER))


@pytest.mark.parametrize('with_heading', [False, True])
@pytest.mark.parametrize('seed', SEEDS)
def test_poses_and_states_both_ways(seed: int, with_heading: bool) -> None:
    random = Random(seed)
    for _ in range(50):
        grid = Grid(random.uniform(-50, 50), random.uniform(-50, 50), random.uniform(0.05, 3),
                    random.randint(1, 20), random.randint(1, 20), with_heading)
        width, height = grid.columns * grid.cell_size, grid.rows * grid.cell_size
        for _ in range(100):
            pose = Pose(grid.origin_x + random.uniform(-0.5, 1.5) * width,
                        grid.origin_y + random.uniform(-0.5, 1.5) * height,
                        random.uniform(-7, 7))
            inside = (0 <= pose.x - grid.origin_x < width
                      and 0 <= pose.y - grid.origin_y < height)
            state = grid.state_at(pose)
            assert (state != OUTSIDE) is inside, (seed, grid, pose)
            assert (grid.distance_outside(pose.x, pose.y) == 0) is inside, (seed, grid, pose)
            if not inside:
                continue
            centre = pose_of(grid, state)
            assert grid.state_at(centre) == state, (seed, grid, pose)
            assert max(abs(centre.x - pose.x), abs(centre.y - pose.y)) <= (
                grid.cell_size * (0.5 + 1e-9)), (seed, grid, pose)
            if with_heading:
                assert math.cos(centre.yaw - pose.yaw) >= math.cos(QUARTER / 2) - 1e-9


def test_states_are_counted_from_the_lower_left() -> None:
    grid = Grid(1.0, 2.0, 0.5, 4, 3)
    assert [grid.state_at(Pose(x, y, 0.0)) for x, y in (
        (1.0, 2.0), (1.6, 2.1), (1.1, 2.6), (2.99, 3.49), (0.99, 2.1))] == [0, 1, 4, 11, OUTSIDE]
    headed = Grid(1.0, 2.0, 0.5, 4, 3, with_heading=True)
    assert [headed.state_at(Pose(1.6, 2.1, yaw)) for yaw in (
        0.0, QUARTER, math.pi, -math.pi, -QUARTER, 0.7, 0.9)] == [4, 5, 6, 6, 7, 4, 5]
    with pytest.raises(ValueError, match='cell 12, expected 0 .. 11'):
        pose_of(grid, 12)


def test_neighbours() -> None:
    grid = Grid(0.0, 0.0, 1.0, 3, 2)
    assert [grid.neighbour(4, heading) for heading in range(4)] == [5, None, 3, 1]
    assert [grid.neighbour(0, heading) for heading in range(4)] == [1, 3, None, None]


@pytest.mark.parametrize('seed', SEEDS)
def test_noise_at_a_border_does_not_flip_the_state(seed: int) -> None:
    """With noise below the margin there is one flip at most; without a margin there are many."""
    random = Random(seed)
    grid = Grid(0.0, 0.0, 1.0, 2, 2, with_heading=True)
    poses = [Pose(1 + random.uniform(-0.1, 0.1), 0.5,
                  QUARTER * (0.5 + random.uniform(-0.1, 0.1))) for _ in range(1000)]

    def flips(margin: float) -> int:
        place = Place(grid, margin)
        states = [place.update(pose) for pose in poses]
        return sum(a != b for a, b in zip(states, states[1:]))

    assert flips(0.1) == 0 and flips(0.0) > 300, seed


@pytest.mark.parametrize('seed', SEEDS)
def test_a_grid_that_is_turned_is_the_same_grid_for_one_who_turns_with_it(seed: int) -> None:
    random = Random(seed)
    yaw = random.uniform(-math.pi, math.pi)
    straight = Grid(0.0, 0.0, 0.5, 7, 5, with_heading=True)
    turned = Grid(3.0, -2.0, 0.5, 7, 5, with_heading=True, yaw=yaw)
    places = Place(straight, 0.1), Place(turned, 0.1)
    for _ in range(300):
        x, y, heading = (random.uniform(*ends) for ends in ((-1, 4.5), (-1, 3.5), (-9, 9)))
        there = Pose(3.0 + math.cos(yaw) * x - math.sin(yaw) * y,
                     -2.0 + math.sin(yaw) * x + math.cos(yaw) * y, wrapped(heading + yaw))
        here = Pose(x, y, wrapped(heading))
        assert turned.state_at(there) == straight.state_at(here), seed
        assert turned.distance_outside(*there[:2]) == pytest.approx(
            straight.distance_outside(x, y)), seed
        assert places[1].update(there) == places[0].update(here), seed
    for cell in range(35):
        assert turned.cell_at(*turned.centre(cell)) == cell
        assert turned.distance_beyond(cell, *turned.centre(cell)) == pytest.approx(-0.25)


def test_the_state_changes_beyond_the_margin() -> None:
    place = Place(Grid(0.0, 0.0, 1.0, 2, 1), 0.1)
    xs = (0.5, 1.05, 1.15, 0.95, 0.85, -0.05, -0.15, 0.05, 0.15)
    assert [place.update(Pose(x, 0.5, 0.0)) for x in xs] == [
        0, 0, 1, 1, 0, 0, OUTSIDE, OUTSIDE, 0]


def test_a_cell_is_free_if_its_centre_is() -> None:
    grid = Grid(0.0, 0.0, 1.0, 3, 1)
    half = [100, 0, 100, 49, 100, 50, *[100] * 6]    # cells half as large; row 0 has the centres
    assert free_cells(grid, Map(0.5, 6, 2, Pose(0.0, 0.25, 0.0), half)) == {0, 1}
    assert free_cells(grid, Map(1.0, 2, 1, Pose(0.0, 0.0, 0.0), [-1, 0])) == {1}


@pytest.mark.parametrize('radius, free', [(0.0, {0, 1, 2}), (0.49, {0, 1, 2}), (0.51, {1}),
                                          (1.0, {1}), (1.6, set())])
def test_a_robot_with_a_radius_needs_more_of_the_map(radius: float, free: set) -> None:
    """The robot is at 0.5, 1.5 and 2.5; known and free is from 0 to 3, and 0.5 to either side."""
    grid = Grid(0.0, 0.0, 1.0, 3, 1)
    assert free_cells(grid, Map(0.5, 6, 6, Pose(0.0, -1.0, 0.0), [0] * 36), radius) == free
