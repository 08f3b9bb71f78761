# SPDX-License-Identifier: Apache-2.0

"""The faults of a plan, each with its place: said before a robot finds out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import math

from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.language import ENGLISH, few, Phrase, Text, text_in
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

    said: Phrase
    place: Point
    fatal: bool = False

    @property
    def text(self) -> str:
        """Return what is wrong in English."""
        return text_in(ENGLISH, self.said)


def findings(plan: Plan) -> list[Finding]:
    """Return what is wrong, the worst first."""
    return [*_home(plan), *_keep_outs(plan), *_doors(plan), *_rooms(plan)]


def _home(plan: Plan) -> Iterator[Finding]:
    here = plan.home[:2]
    home = Phrase.of('findings.home', at=at_place(plan, here))
    cell = plan.home_cell
    if cell is None:
        yield Finding(Phrase.of('findings.outside_grid', home=home), here, True)
    elif not bool(plan.map.is_free([here], [here], 0.0)[0]):
        yield Finding(Phrase.of('findings.in_wall', home=home), here, True)
    elif not bool(plan.driven_map.is_free([here], [here], 0.0)[0]):
        yield Finding(Phrase.of('findings.in_keep_out', home=home), here, True)
    elif not bool(plan.driven_map.is_free([here], [here], plan.ways_radius)[0]):
        yield Finding(Phrase.of('findings.near_wall', home=home, radius=plan.ways_radius),
                      here, True)
    elif cell not in plan.reached:
        yield Finding(Phrase.of('findings.cell_not_free', home=home, centre=at_place(
            plan, plan.grid.centre(cell))), here, True)
    elif not bool(plan.driven_map.is_free(
            [here], [plan.grid.centre(cell)], plan.ways_radius)[0]):
        yield Finding(Phrase.of('findings.wall_between', home=home), here, True)


def _keep_outs(plan: Plan) -> Iterator[Finding]:
    """Yield keep-outs that do nothing, and those that a robot may yet enter."""
    yield from idle_keep_outs(plan)
    if (plan.kept_out & is_free(plan.map)).any():
        yield from _entered(plan)


def idle_keep_outs(plan: Plan) -> Iterator[Finding]:
    """Yield keep-outs that do nothing: outside the map, or where nothing is free."""
    free = is_free(plan.map)
    for name, polygon in plan.keep_outs.items():
        (left, low), (right, high) = bounds(polygon)
        place = (left + right) / 2, (low + high) / 2
        within = covered(plan.map, polygon)
        what = {'keep_out': Phrase.of('findings.keep_out', name=name),
                'at': at_place(plan, place)}
        if not within.any():
            yield Finding(Phrase.of('findings.outside_map', **what), place)
        elif not (within & free).any():
            yield Finding(Phrase.of('findings.without_effect', **what), place)


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
    for keep_out, within in keep_outs_of(plan).items():
        alone = padded(plan.map, within, margin)
        near = ~alone.is_free(starts, ends, plan.robot_radius + BESIDE)
        if near.any():
            beside = [used[index] for index in np.flatnonzero(near)]
            rows, columns = np.argwhere(within).mean(axis=0)
            (x, y), = plan.map.points([(columns + 0.5, rows + 0.5)]).tolist()
            yield Finding(Phrase.of(
                'findings.entered', keep_out=keep_out, at=at_place(plan, (x, y)),
                ways=_named(plan, beside), beside=BESIDE), (x, y))


def keep_outs_of(plan: Plan) -> dict[Phrase, NDArray[np.bool_]]:
    """Return the pixels of each keep-out, by the words that name the keep-out."""
    found = {Phrase.of('findings.keep_out', name=name): covered(plan.map, polygon)
             for name, polygon in plan.keep_outs.items()}
    if plan.masked is not None:
        found[Phrase.of('findings.of_mask')] = plan.masked
    return found


def padded(map_: Map, within: NDArray[np.bool_], margin: int) -> Map:
    """Return a map on which nothing but a keep-out is occupied, also around the map."""
    rows = np.pad(np.where(within, 100, 0).astype(np.int8), margin)
    (x, y), = map_.points([(-margin, -margin)]).tolist()
    return replace(map_, width=rows.shape[1], height=rows.shape[0], values=rows.ravel(),
                   origin=map_.origin._replace(x=x, y=y))


def _named(plan: Plan, edges: Sequence[tuple[int, int]]) -> Text:
    names = [f'{plan.cell_names[here]} - {plan.cell_names[there]}' for here, there in edges]
    return few(names, _SHOWN)


def at_point(point: Point) -> Phrase:
    """Return the coordinates of a point, for people."""
    x, y = point
    return Phrase.of('findings.at', x=x, y=y)


def at_place(plan: Plan, point: Point) -> Phrase:
    """Return where a point is, with its room, for people."""
    (x, y), room = point, plan.room_at(point)
    return Phrase.of('findings.at_room', x=x, y=y, room=room) if room else at_point(point)


def _doors(plan: Plan) -> Iterator[Finding]:
    ways = plan.ways
    for kind, name, line in (*(('doors', *each) for each in plan.doors.items()),
                             *(('openings', *each) for each in plan.openings.items())):
        (x, y), (to_x, to_y) = line
        place = (x + to_x) / 2, (y + to_y) / 2
        said = Phrase.of('findings.line', kind=Phrase.of(f'things.{kind}'), name=name,
                         at=at_point(place))
        width = math.dist(*line)
        if len({0, *sides(plan.map, plan.room_labels, line)}) < 3:
            yield Finding(Phrase.of('findings.divides_none', line=said), place)
        elif width < 2 * plan.robot_radius:
            yield Finding(Phrase.of('findings.too_narrow', line=said, width=width), place)
        elif not any(passable(ways, edge) for edge in crossing(plan.grid, line)):
            yield Finding(Phrase.of('findings.line_cut', line=said), place)


def _rooms(plan: Plan) -> Iterator[Finding]:
    labels, names = plan.room_labels, plan.room_names
    of = {label_at(plan.map, labels, point): name for name, point in plan.rooms.items()}
    for name, point in plan.rooms.items():
        label = label_at(plan.map, labels, point)
        if not label:
            yield Finding(Phrase.of('findings.room_in_wall', name=name, at=at_point(point)),
                          point)
        elif names[label] != name:
            yield Finding(Phrase.of('findings.rooms_are_one', first=names[label], name=name,
                                    at=at_place(plan, point)), point)
    with_doors = {side for line in plan.lines for side in sides(plan.map, labels, line)}
    home = label_at(plan.map, labels, plan.home[:2])
    cells = {label_at(plan.map, labels, plan.grid.centre(cell)) for cell in plan.reached}
    areas = np.bincount(labels.ravel()) * plan.map.resolution ** 2
    for label in range(1, len(areas)):
        if label in cells or label == home or (label not in of and areas[label] < _LEAST_ROOM):
            continue
        place = middle(plan.map, labels, label)
        room = (Phrase.of('findings.room', name=of[label]) if label in of
                else Phrase.of('findings.nameless'))
        how = 'out_of_reach' if label in with_doors else 'no_door'
        yield Finding(Phrase.of(f'findings.{how}', room=room, at=at_point(place),
                                area=float(areas[label])), place)
