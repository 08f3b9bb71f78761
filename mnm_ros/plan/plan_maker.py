# SPDX-License-Identifier: Apache-2.0

"""How a plan is made of a map: specks, rooms, doors, keep-outs and the grid, in this order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import math

from mnm_ros.driving.grid import Grid
from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.driving.pose import Pose
from mnm_ros.plan import grid_fit, nav2_map
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.home import home_on
from mnm_ros.plan.openings import find_openings
from mnm_ros.plan.plan_file import printable
from mnm_ros.plan.request import Request
from mnm_ros.plan.rooms import (
    label_at,
    labelled,
    Labels,
    letters,
    Line,
    middle,
    names_of,
    sides,
)
from mnm_ros.plan.specks import Speck, without_specks
import numpy as np

_MARGIN = 2    # pixels around what is known that are kept of a map


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
    specks: list[Speck]
    counts: tuple[int, int, int]
    better_home: tuple[Point, int] | None


def make(request: Request) -> MadePlan:
    """
    Return a plan.

    :raises FileError: if the map or the mask cannot be read.
    :raises InvalidValueError: if nothing is free.
    """
    found = nav2_map.read_map(request.map_file, request.keep_unknown)
    cropped, radius = _cropped(found.map), request.robot_radius + request.clearance
    grid_fit.possible(cropped, radius, request.sizes)    # before what takes long
    map_, specks = without_specks(cropped, *request.specks)
    masked = None if request.mask is None else nav2_map.lethal(nav2_map.load(request.mask), map_)
    lines = ([*request.doors.values()] if request.doors else
             find_openings(map_, request.door_width, request.room_area))
    plan = Plan(printable(request.map_file.stem), map_, Grid(0.0, 0.0, 1.0, 1, 1),
                request.home or Pose(0.0, 0.0, 0.0), request.robot_radius, request.clearance,
                keep_outs=dict(request.keep_outs), masked=masked)
    home = home_on(plan.driven_map, request.home, radius)
    wish = grid_fit.Wish(home.pose, radius)
    yaws = ((0.0, grid_fit.wall_direction(map_)) if request.yaw is None else (request.yaw,))
    fit = grid_fit.best_fit(plan.driven_map, wish, lines, request.sizes, yaws)
    labels = labelled(map_, lines)
    rooms = named_rooms(map_, labels, request.rooms, [
        label_at(map_, labels, fit.grid.centre(cell)) for cell in sorted(fit.cells)])
    doors, openings = named_lines(map_, labels, rooms, request, lines)
    plan = replace(plan, home=home.pose, grid=fit.grid, rooms=rooms, doors=doors,
                   openings=openings)
    return MadePlan(plan, (home.said, *found.remarks), specks,
                    grid_fit.counts(plan.driven_map, wish, fit.grid),
                    _better_home(plan.driven_map, wish, fit))


def _cropped(map_: Map) -> Map:
    """Return a map without what is unknown around it."""
    known = map_.pixel_rows >= 0
    if not known.any():
        return map_
    (low, top), (left, right) = (
        (max(int(at[0]) - _MARGIN, 0), int(at[-1]) + 1 + _MARGIN)
        for at in (np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))))
    rows = map_.pixel_rows[low:top, left:right]
    (x, y), = map_.points([(left, low)]).tolist()
    return Map(map_.resolution, rows.shape[1], rows.shape[0],
               Pose(round(x, 5), round(y, 5), map_.origin.yaw), rows.ravel())


def named_rooms(map_: Map, labels: Labels, given: Mapping[str, Point],
                used: Sequence[int]) -> dict[str, Point]:
    """
    Return the rooms that are given, and letters for the others that places are in.

    :param used: the room of each place; the first of them gets the first letter.
    """
    found = dict(given)
    with_names = {0, *(label_at(map_, labels, point) for point in found.values())}
    others = [label for label in dict.fromkeys(used) if label not in with_names]
    free_letters = (name for name in letters(len(others) + len(found)) if name not in found)
    return {**found, **{name: middle(map_, labels, label)
                        for name, label in zip(free_letters, others)}}


def named_lines(map_: Map, labels: Labels, rooms: Mapping[str, Point], request: Request,
                lines: Iterable[Line]) -> tuple[dict[str, Line], dict[str, Line]]:
    """Return doors and openings by the names of the rooms on both sides; doors may be given."""
    if request.doors:
        return dict(request.doors), {}
    doors: dict[str, Line] = {}
    openings: dict[str, Line] = {}
    names = names_of(map_, labels, rooms)
    for line in lines:
        name = '-'.join(sorted(names.get(side, 'elsewhere')
                               for side in sides(map_, labels, line)))
        number = sum(each == name or each.startswith(f'{name} ')
                     for each in (*doors, *openings)) + 1
        kind = doors if round(math.dist(*line), 2) <= request.door_width else openings
        kind[name if number == 1 else f'{name} {number}'] = line
    return doors, openings


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
