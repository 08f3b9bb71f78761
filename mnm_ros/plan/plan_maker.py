# SPDX-License-Identifier: Apache-2.0

"""How a plan with cells is made of a map: what ``ground`` finds, then the grid, then rooms."""

from __future__ import annotations

from dataclasses import dataclass, replace
import math

from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.plan import grid_fit, ground
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.request import Request
from mnm_ros.plan.specks import Speck


@dataclass(frozen=True)
class MadePlan:
    """
    A plan, and what was decided on the way.

    :ivar said: where home is, then what the map has that a person should know, as sentences.
    :ivar specks: what was taken for free.
    :ivar counts: cells reached by the worst, the median and the best origin of the same grid.
    :ivar better_home: where home would be in the middle of a cell of a grid with more cells, and
        how many; None if no grid has more.
    """

    plan: Plan
    said: tuple[str, ...]
    specks: tuple[Speck, ...]
    counts: tuple[int, int, int]
    better_home: tuple[Point, int] | None


def make(request: Request) -> MadePlan:
    """
    Return a plan.

    :raises FileError: if the map or the mask cannot be read.
    :raises InvalidValueError: if nothing is free, or if home or another point is outside the map.
    """
    found = ground.read(request)
    # Before what takes long.
    grid_fit.possible(found.map, request.robot_radius + request.clearance, request.sizes)
    on = ground.ground_of(request, found, cells=True)
    wish, driven = grid_fit.Wish(on.plan.home, on.radius), on.plan.driven_map
    yaws = ((0.0, grid_fit.wall_direction(on.plan.map)) if request.yaw is None
            else (request.yaw,))
    fit = grid_fit.best_fit(driven, wish, on.lines, request.sizes, yaws)
    plan = on.with_rooms(fit.grid.centre(cell) for cell in sorted(fit.cells))
    return MadePlan(replace(plan, grid=fit.grid), on.said, on.specks,
                    grid_fit.counts(driven, wish, fit.grid), _better_home(driven, wish, fit))


def _better_home(map_: Map, wish: grid_fit.Wish, fit: grid_fit.Fit) -> tuple[Point, int] | None:
    """Return where home had to be for more cells, at most half a cell from where it is."""
    anywhere = replace(wish, slack=(0.0, 0.0))
    other = grid_fit.best_fit(map_, anywhere, (), (fit.grid.cell_size,), (fit.grid.yaw,))
    cell = other.grid.cell_at(wish.home.x, wish.home.y)
    if cell is None or len(other.cells) <= len(fit.cells):
        return None
    x, y = other.grid.centre(cell)
    return (round(x, 2), round(y, 2)), len(other.cells)


def degrees(angle: float) -> float:
    """Return an angle in degrees as people read it."""
    return round(math.degrees(angle), 2) + 0.0
