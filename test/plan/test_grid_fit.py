# SPDX-License-Identifier: Apache-2.0

"""The grid that fits a map best, against all others."""

from __future__ import annotations

import math
from random import Random

from flats import DOOR, flat
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.grid_fit import best_fit, counts, covered_area, evaluated, wall_direction, Wish
from mnm_ros.plan.openings import find_openings
from mnm_ros.plan.rooms import is_free
import pytest
from tiers import strength, thorough

HOME = Pose(0.5, 0.0, 0.0)


@pytest.mark.parametrize('yaw', [0.3, *(pytest.param(each, marks=thorough(
    'plan/test_grid_fit.py::test_no_other_origin_reaches_many_more_cells'))
    for each in (0.0, -0.6))])
def test_no_other_origin_reaches_many_more_cells(yaw: float) -> None:
    map_ = flat(DOOR, (0, 2.2, 6, 2.3, 100), yaw=yaw)
    doors, wish = find_openings(map_, 0.95, 1.0), Wish(HOME, 0.2)
    fit = best_fit(map_, wish, doors, (0.5,), (yaw,))
    assert not fit.cut
    random = Random(1)
    others = []
    for _ in range(strength(20, 100)):
        part = [random.uniform(-0.3, 0.3) for _ in range(2)]    # of a cell, of home
        right, up = ((at - 10.5) * 0.5 for at in part)
        corner = (HOME.x + math.cos(yaw) * right - math.sin(yaw) * up,
                  HOME.y + math.sin(yaw) * right + math.cos(yaw) * up)
        other = evaluated(map_, wish, doors, Grid(*corner, 0.5, 21, 21, False, yaw))
        others.append(len(other.cells) if other else 0)
    # Offsets are tried in steps of a pixel, hence an odd one may find a cell more.
    assert len(fit.cells) >= max(others) - 1 and min(others) < 0.9 * max(others)
    worst, median, best = counts(map_, wish, fit.grid)
    assert worst <= median <= best and abs(best - len(fit.cells)) <= 1


def test_the_grid_has_home_in_a_cell_and_no_row_too_many() -> None:
    map_ = flat(DOOR)
    wish = Wish(HOME, 0.15)
    fit = best_fit(map_, wish, (), (0.5,), (0.0,))
    home = fit.grid.cell_at(HOME.x, HOME.y)
    assert home in fit.cells and fit.grid.distance_beyond(home, HOME.x, HOME.y) <= -0.1 + 1e-9
    assert fit.off == pytest.approx(math.dist(HOME[:2], fit.grid.centre(home)))
    rows, columns = zip(*(divmod(cell, fit.grid.columns) for cell in fit.cells))
    assert (min(rows), max(rows)) == (0, fit.grid.rows - 1)
    assert (min(columns), max(columns)) == (0, fit.grid.columns - 1)
    again = evaluated(map_, wish, (), fit.grid)
    assert again is not None and again.cells == fit.cells


@pytest.mark.parametrize('yaw', [0.0, 0.2, 0.6, -0.5])
def test_the_direction_of_walls_is_found(yaw: float) -> None:
    assert wall_direction(flat(DOOR, yaw=yaw)) == pytest.approx(yaw, abs=0.02)


def test_a_turned_flat_has_more_cells_with_a_turned_grid() -> None:
    map_, wish = flat(DOOR, yaw=0.5), Wish(HOME, 0.15)
    fit = best_fit(map_, wish, (), (0.5,), (0.0, wall_direction(map_)))
    assert fit.grid.yaw == pytest.approx(0.5, abs=0.02)
    assert len(fit.cells) > len(best_fit(map_, wish, (), (0.5,), (0.0,)).cells)


def test_the_fewest_cut_doors_come_before_a_few_cells() -> None:
    """A door that is just wide enough is in the way of few origins only."""
    map_ = flat((3, 1.3, 3.1, 1.7, 0))
    doors, wish = find_openings(map_, 0.95, 1.0), Wish(HOME, 0.15)
    assert len(doors) == 1
    fit = best_fit(map_, wish, doors, (0.5,), (0.0,))
    assert not fit.cut and len(fit.cells) > 30
    shut = evaluated(map_, wish, doors, Grid(-0.9, -1.15, 0.5, 12, 5))
    assert shut is not None and shut.cut == (0,) and len(shut.cells) <= 30


def test_of_several_sizes_a_large_one_is_taken_that_covers_as_much() -> None:
    map_, wish = flat(DOOR), Wish(HOME, 0.15)
    doors = find_openings(map_, 0.95, 1.0)
    sizes = strength((1.4, 0.5), (1.4, 0.5, 0.35))
    fits = {size: best_fit(map_, wish, doors, (size,), (0.0,)) for size in sizes}
    areas = {size: covered_area(map_, fit) for size, fit in fits.items()}
    whole = is_free(map_).sum() * map_.resolution ** 2
    assert all(0.5 * whole < area <= whole for area in areas.values())
    fewest = min(len(fit.cut) for fit in fits.values())
    most = max(area for size, area in areas.items() if len(fits[size].cut) == fewest)
    expected = max(size for size in sizes
                   if areas[size] >= 0.9 * most and len(fits[size].cut) == fewest)
    assert best_fit(map_, wish, doors, sizes, (0.0,)).grid.cell_size == expected


def test_what_a_wall_divides_from_the_centre_is_not_covered() -> None:
    """A cell that reaches 0.15 m beyond the wall of 0.1 m, where a robot would seem to be here."""
    map_ = flat()
    fit = evaluated(map_, Wish(Pose(1.75, 0.0, 0.0), 0.1), (), Grid(1.25, -0.5, 1.0, 1, 1))
    assert fit is not None and covered_area(map_, fit) == pytest.approx(0.75, abs=0.06)


def test_home_that_is_free_nowhere_is_refused() -> None:
    with pytest.raises(InvalidValueError, match='home, 9, 9, is in no free cell of any grid'):
        best_fit(flat(DOOR), Wish(Pose(9.0, 9.0, 0.0), 0.15), (), (0.5,), (0.0,))
    with pytest.raises(InvalidValueError, match='is in no free cell'):
        best_fit(flat(DOOR), Wish(Pose(-0.95, 0.0, 0.0), 0.15), (), (0.5,), (0.0,))


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(InvalidValueError, match='expected at most 10,000, hence larger ones'):
        best_fit(flat(DOOR), Wish(HOME, 0.01), (), (0.03,), (0.0,))
