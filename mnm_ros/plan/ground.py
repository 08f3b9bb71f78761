# SPDX-License-Identifier: Apache-2.0

"""
The ground of places: a map without specks, with keep-outs, openings, rooms and a home.

``plan_maker`` lays cells on it, ``place_maker`` a place graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
import math

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.driving.pose import Pose
from mnm_ros.plan import nav2_map
from mnm_ros.plan.floor_plan import bounds, corners, Plan
from mnm_ros.plan.home import FARTHEST_HOME, home_on
from mnm_ros.plan.openings import find_openings
from mnm_ros.plan.plan_file import printable
from mnm_ros.plan.request import Request
from mnm_ros.plan.rooms import label_at, labelled, Labels, letters, Line, middles, names_of, sides
from mnm_ros.plan.specks import Speck, without_specks, without_unknown_specks
import numpy as np

_MARGIN = 2    # pixels around what is known that are kept of a map


@dataclass(frozen=True)
class Ground:
    """
    The ground on which places are laid.

    :ivar plan: a plan without cells, rooms and doors, which come after the places.
    :ivar lines: across the openings between rooms.
    :ivar radius: how far around ways everything has to be free in m.
    :ivar said: where home is, then what the map has that a person should know, as sentences.
    :ivar specks: what was taken for free.
    """

    request: Request
    plan: Plan
    lines: tuple[Line, ...]
    said: tuple[str, ...]
    specks: tuple[Speck, ...]

    @property
    def radius(self) -> float:
        return self.plan.ways_radius

    @cached_property
    def labels(self) -> Labels:
        """Return which room each pixel of the map belongs to, by numbers."""
        return labelled(self.plan.map, self.lines)

    def with_rooms(self, places: Iterable[Point], reached: bool = False) -> Plan:
        """
        Return the plan with the declared rooms and those that places are in, and doors.

        :param reached: whether doors and openings to rooms without a name are left out.
        """
        map_ = self.plan.map
        rooms = _rooms(map_, self.labels, self.request.rooms,
                       [label_at(map_, self.labels, place) for place in places])
        doors, openings = _named_lines(map_, self.labels, rooms, self.request, self.lines)
        if reached:
            with_names = {*names_of(map_, self.labels, rooms)}
            doors, openings = (
                {name: line for name, line in lines.items()
                 if with_names.issuperset(sides(map_, self.labels, line))}
                for lines in (doors, openings))
        return replace(self.plan, rooms=rooms, doors=doors, openings=openings)


def read(request: Request) -> nav2_map.MapFile:
    """
    Return the map that is asked for, without what is unknown around it.

    :raises FileError: if it cannot be read.
    :raises InvalidValueError: if home, a room or a door is outside the map.
    """
    found = nav2_map.read_map(request.map_file, request.keep_unknown)
    map_ = _cropped(found.map)
    _check_inside(map_, request)
    return replace(found, map=map_)


def ground_of(request: Request, found: nav2_map.MapFile, cells: bool,
              farthest: float = FARTHEST_HOME) -> Ground:
    """
    Return what places are laid on.

    :param found: what ``read`` has returned.
    :param cells: whether a plan has the map; otherwise robots read the map of the file.
    :param farthest: how far home may be moved to a free position in m.
    :raises FileError: if the mask cannot be read.
    :raises InvalidValueError: if nothing is free, or nothing near enough to home.
    """
    map_, specks = (without_specks(found.map, *request.specks) if cells
                    else without_unknown_specks(found.map))
    masked = None if request.mask is None else nav2_map.lethal(nav2_map.load(request.mask), map_)
    plan = Plan(printable(request.map_file.stem), map_, Grid(0.0, 0.0, 1.0, 1, 1),
                Pose(0.0, 0.0, 0.0), request.robot_radius, request.clearance,
                keep_outs=dict(request.keep_outs), masked=masked)
    home = home_on(plan.driven_map, request.home, plan.ways_radius, farthest)
    lines = [*request.doors.values()] or find_openings(
        map_, request.door_width, request.room_area)
    return Ground(request, replace(plan, home=home.pose), tuple(lines),
                  (home.said, *found.remarks), tuple(specks))


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


def _check_inside(map_: Map, request: Request) -> None:
    """Raise InvalidValueError for a point that was asked for and is outside the known map."""
    asked = [] if request.home is None else [('--home', request.home[:2])]
    asked += [(f'--room {name}', point) for name, point in request.rooms.items()]
    asked += [(f'--door {name}', ((x + to_x) / 2, (y + to_y) / 2))
              for name, ((x, y), (to_x, to_y)) in request.doors.items()]
    for option, (x, y) in asked:
        (column, row), = map_.pixels([(x, y)]).tolist()
        if not (0 <= column <= map_.width and 0 <= row <= map_.height):
            (left, low), (right, high) = bounds(corners(map_).tolist())
            raise InvalidValueError(
                f'argument {option}: {x:g}, {y:g} is outside the map, whose known part has x from '
                f'{left:.2f} to {right:.2f} and y from {low:.2f} to {high:.2f}; expected a point '
                'there, in m')


def _rooms(map_: Map, labels: Labels, given: Mapping[str, Point],
           used: Sequence[int]) -> dict[str, Point]:
    """
    Return the declared rooms, and letters for the others that places are in.

    :param used: the room of each place; the first of them gets the first letter.
    """
    found = dict(given)
    with_names = {0, *(label_at(map_, labels, point) for point in found.values())}
    others = [label for label in dict.fromkeys(used) if label not in with_names]
    free_letters = (name for name in letters(len(others) + len(found)) if name not in found)
    return {**found, **dict(zip(free_letters, middles(map_, labels, others)))}


def _named_lines(map_: Map, labels: Labels, rooms: Mapping[str, Point], request: Request,
                 lines: Iterable[Line]) -> tuple[dict[str, Line], dict[str, Line]]:
    """Return doors and openings by the names of the rooms on both sides; doors may be declared."""
    if request.doors:
        return dict(request.doors), {}
    doors: dict[str, Line] = {}
    openings: dict[str, Line] = {}
    names, counts = names_of(map_, labels, rooms), Counter[str]()
    for line in lines:
        name = '-'.join(sorted(names.get(side, 'elsewhere')
                               for side in sides(map_, labels, line)))
        counts[name] += 1
        kind = doors if round(math.dist(*line), 2) <= request.door_width else openings
        kind[name if counts[name] == 1 else f'{name} {counts[name]}'] = line
    return doors, openings
