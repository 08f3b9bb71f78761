# SPDX-License-Identifier: Apache-2.0

"""The faults of a plan, each with its place: said before a robot finds out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import math

from mnm_ros.core.model.declaration import listed
from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.plan.floor_plan import bounds, covered, crossing, passable, Plan
from mnm_ros.plan.rooms import is_free, label_at, middle, sides
import numpy as np
from numpy.typing import NDArray

BESIDE = 0.05
"""How far a robot may be off its way in m: the default ``tolerance`` of ``grid_driver``."""

_LEAST_ROOM = 1.0    # m^2, of a room that is reported although it has no name
_SHOWN = 4           # cells, of many


@dataclass(frozen=True)
class Finding:
    """
    Something that is wrong.

    :ivar fatal: whether nothing can be explored.
    :ivar place: in m.
    """

    text: str
    place: Point
    fatal: bool = False


def findings(plan: Plan) -> list[Finding]:
    """Return what is wrong, the worst first."""
    return [*_home(plan), *_keep_outs(plan), *_doors(plan), *_rooms(plan)]


def _home(plan: Plan) -> Iterator[Finding]:
    here = plan.home[:2]
    where = f'home ({plan.place(here)})'
    cell = plan.home_cell
    if cell is None:
        yield Finding(f'{where} is outside of the grid', here, True)
    elif not bool(plan.map.is_free([here], [here], 0.0)[0]):
        yield Finding(f'{where} is in a wall, or in what is unknown', here, True)
    elif not bool(plan.driven_map.is_free([here], [here], 0.0)[0]):
        yield Finding(f'{where} is in a keep-out', here, True)
    elif not bool(plan.driven_map.is_free([here], [here], plan.ways_radius)[0]):
        yield Finding(f'{where} is nearer to a wall or a keep-out than {plan.ways_radius:g} m, '
                      'the radius of the robot and its clearance', here, True)
    elif cell not in plan.reached:
        yield Finding(f'{where}: the centre of its cell ({plan.place(plan.grid.centre(cell))}) is '
                      'not free, move the grid or home', here, True)
    elif not bool(plan.driven_map.is_free(
            [here], [plan.grid.centre(cell)], plan.ways_radius)[0]):
        yield Finding(f'{where}: a wall is between it and the centre of its cell', here, True)


def _keep_outs(plan: Plan) -> Iterator[Finding]:
    """Yield keep-outs that do nothing, and those that a robot may yet enter."""
    free = is_free(plan.map)
    for name, polygon in plan.keep_outs.items():
        (left, low), (right, high) = bounds(polygon)
        place = (left + right) / 2, (low + high) / 2
        within = covered(plan.map, polygon)
        what = f"keep-out '{name}' ({plan.place(place)})"
        if not within.any():
            yield Finding(f'{what} is outside of the map', place)
        elif not (within & free).any():
            yield Finding(f'{what} is where nothing is free anyway', place)
    closed = plan.kept_out & free
    if closed.any():
        yield from _entered(plan)


def _entered(plan: Plan) -> Iterator[Finding]:
    """
    Yield keep-outs beside which ways pass so closely that a robot a little off them enters.

    Of each alone, as if walls were none: what is near to a wall is no matter of a keep-out.
    """
    ways = plan.ways
    used = [(cell, there) for cell in sorted(plan.reached) for heading in (0, 1)
            if (there := ways.neighbour(cell, heading)) is not None]
    if not used:
        return
    starts, ends = (np.array([plan.grid.centre(edge[side]) for edge in used]) for side in (0, 1))
    margin = max(1, math.ceil((plan.grid.cell_size + plan.robot_radius) / plan.map.resolution))
    for name, within in keep_outs_of(plan).items():
        alone = padded(plan.map, within, margin)
        near = ~alone.is_free(starts, ends, plan.robot_radius + BESIDE)
        if near.any():
            beside = [used[index] for index in np.flatnonzero(near)]
            rows, columns = np.argwhere(within).mean(axis=0)
            (x, y), = plan.map.points([(columns + 0.5, rows + 0.5)]).tolist()
            yield Finding(
                f'{name} ({plan.place((x, y))}) can still be entered: by {_named(plan, beside)} '
                f'the robot passes less than {BESIDE:g} m beside it; give it more clearance, or '
                'make it larger', (x, y))


def keep_outs_of(plan: Plan) -> dict[str, NDArray[np.bool_]]:
    """Return the pixels of each keep-out, by the words that name the keep-out."""
    found = {f"keep-out '{name}'": covered(plan.map, polygon)
             for name, polygon in plan.keep_outs.items()}
    if plan.masked is not None:
        found['the keep-out of the mask'] = plan.masked
    return found


def padded(map_: Map, within: NDArray[np.bool_], margin: int) -> Map:
    """Return a map on which nothing but a keep-out is occupied, also around the map."""
    rows = np.pad(np.where(within, 100, 0).astype(np.int8), margin)
    (x, y), = map_.points([(-margin, -margin)]).tolist()
    return replace(map_, width=rows.shape[1], height=rows.shape[0], values=rows.ravel(),
                   origin=map_.origin._replace(x=x, y=y))


def _named(plan: Plan, edges: Sequence[tuple[int, int]]) -> str:
    names = [f'{plan.cell_names[here]} - {plan.cell_names[there]}' for here, there in edges]
    return listed(names, _SHOWN)


def _doors(plan: Plan) -> Iterator[Finding]:
    ways = plan.ways
    for kind, name, line in (*(('door', *each) for each in plan.doors.items()),
                             *(('opening', *each) for each in plan.openings.items())):
        (x, y), (to_x, to_y) = line
        place = (x + to_x) / 2, (y + to_y) / 2
        what = f"{kind} '{name}' ({place[0]:.2f}, {place[1]:.2f})"
        width = math.dist(*line)
        if len({0, *sides(plan.map, plan.room_labels, line)}) < 3:
            yield Finding(f'{what} does not divide two rooms: a line from wall to wall was '
                          'expected', place)
        elif width < 2 * plan.robot_radius:
            yield Finding(f'{what} is {width:.2f} m wide, too narrow for the robot', place)
        elif not any(passable(ways, edge) for edge in crossing(plan.grid, line)):
            yield Finding(f'{what} is cut: no way between cells leads through it; another origin, '
                          'rotation or size of cells may', place)


def _rooms(plan: Plan) -> Iterator[Finding]:
    labels, names = plan.room_labels, plan.room_names
    of = {label_at(plan.map, labels, point): name for name, point in plan.rooms.items()}
    for name, point in plan.rooms.items():
        label = label_at(plan.map, labels, point)
        if not label:
            yield Finding(f"the point of room '{name}' ({point[0]:.2f}, {point[1]:.2f}) is in a "
                          'wall, or in what is unknown', point)
        elif names[label] != name:
            yield Finding(f"rooms '{names[label]}' and '{name}' are one ({plan.place(point)}): no "
                          'door is between them', point)
    with_doors = {side for line in plan.lines for side in sides(plan.map, labels, line)}
    home = label_at(plan.map, labels, plan.home[:2])
    cells = {label_at(plan.map, labels, plan.grid.centre(cell)) for cell in plan.reached}
    areas = np.bincount(labels.ravel()) * plan.map.resolution ** 2
    for label in range(1, len(areas)):
        if label in cells or label == home or (label not in of and areas[label] < _LEAST_ROOM):
            continue
        place = middle(plan.map, labels, label)
        what = f"room '{of[label]}'" if label in of else 'a room without a name'
        where = f'({place[0]:.2f}, {place[1]:.2f}), {areas[label]:.1f} m^2,'
        yield Finding(f'{what} {where} has no door: nothing leads there'
                      if label not in with_doors else
                      f'{what} {where} cannot be reached from home', place)
