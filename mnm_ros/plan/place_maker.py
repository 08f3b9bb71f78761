# SPDX-License-Identifier: Apache-2.0

"""How a place graph is made of a map: what ``ground`` finds, then a layout, then names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.occupancy import Point
from mnm_ros.places.place_graph import Edge, MOST_ZONE, Place, PlaceGraph
from mnm_ros.plan import ground
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.layout import Layout, Pairs
from mnm_ros.plan.request import LEAST_SPACING, Request
from mnm_ros.plan.rooms import label_at, Line, names_of
from mnm_ros.plan.specks import Speck
from mnm_ros.robot_description import MAX_STATES
import numpy as np
from numpy.typing import NDArray

FRAME = 'map'
"""The frame of maps in nav2."""

_LEAST_ZONE = 0.05    # m
_MORE = 1.1        # by how much the spacing grows where places would be too many


@dataclass(frozen=True)
class MadePlaces:
    """
    A place graph, and what was decided on the way.

    :ivar plan: the map, home, rooms, doors and keep-outs; without cells.
    :ivar said: where home is, then what a person should know, as sentences.
    :ivar specks: what was taken for free.
    """

    graph: PlaceGraph
    plan: Plan
    said: tuple[str, ...]
    specks: tuple[Speck, ...]


def make(request: Request, path: Path) -> MadePlaces:
    """
    Return a place graph.

    :param path: where it will be written.
    :raises FileError: if the map or the mask cannot be read.
    :raises InvalidValueError: if nothing is free, or there is room for one place alone.
    """
    on = ground.ground_of(request, ground.read(request))
    said, spacing = [*on.said], request.spacing
    while True:
        layout = Layout(on.plan.driven_map, on.plan.home[:2], on.radius)
        points, pairs = layout.laid(on.lines, on.labels, spacing)
        if len(points) > MAX_STATES:
            spacing *= math.sqrt(len(points) / MAX_STATES) * _MORE
        elif len(points) > 1 or spacing < 2 * LEAST_SPACING:
            break
        else:
            spacing /= 2
    if len(points) < 2:
        raise InvalidValueError(
            f'{request.map_file}: home has room for one place alone, expected two that are '
            f'{spacing:g} m apart; a smaller --robot-radius, or another --home')
    if spacing != request.spacing:
        count = f'more than {MAX_STATES:,}' if spacing > request.spacing else 'one alone'
        said.append(f'places are {spacing:.2g} m apart, because with {request.spacing:g} m there '
                    f'would be {count}')
    said += layout.left_out()
    plan = on.with_rooms(points, reached=True)
    graph = _graph(path, on, plan, points, pairs, layout.clearance(points))
    return MadePlaces(graph, plan, (*said, *_missing(graph, plan)), on.specks)


def _missing(graph: PlaceGraph, plan: Plan) -> Iterator[str]:
    """Yield a sentence for each room and each door of which nothing has become, and why."""
    used = {place.room for place in graph.places.values()}
    for name, (x, y) in plan.rooms.items():
        if name not in used:
            other = plan.room_at((x, y))
            reason = ('its point is in a wall, or in what is unknown' if other is None
                      else 'no way leads there from home' if other == name
                      else f"it is one with '{other}'")
            yield f"room '{name}' ({x:g}, {y:g}) has no place: {reason}"
    through = {edge.door for edge in graph.edges}
    for name, ((x, y), (to_x, to_y)) in plan.doors.items():
        if name not in through:
            yield (f"door '{name}' ({(x + to_x) / 2:.2f}, {(y + to_y) / 2:.2f}) is on no way: it "
                   'is too narrow for the robot, or no line from wall to wall')


def _graph(path: Path, on: ground.Ground, plan: Plan, points: Sequence[Point], pairs: Pairs,
           room: NDArray[np.float64]) -> PlaceGraph:
    """
    Return a graph whose places are numbered from 1 on, room by room, and have names so.

    :param room: how far each place is from what is not free in m.
    """
    names = names_of(plan.map, on.labels, plan.rooms)
    rooms = [names[label_at(plan.map, on.labels, point)] for point in points]
    ranks = {name: rank for rank, name in enumerate(plan.rooms)}
    # From the upper left to the lower right, as people read.
    order = sorted(range(len(points)), key=lambda place: (
        ranks[rooms[place]], -round(points[place][1] / on.request.spacing), points[place][0]))
    numbers = {place: number for number, place in enumerate(order, 1)}
    zones = np.minimum(room, MOST_ZONE)
    ends = np.array(points)[pairs]
    for place, half in ((0, pairs[:, 0]), (1, pairs[:, 1])):
        np.minimum.at(zones, half, np.hypot(*(ends[:, place] - ends[:, 1 - place]).T) / 2)
    counts: Counter[str] = Counter()
    places: dict[int, Place] = {}
    for place in order:
        counts[rooms[place]] += 1
        places[numbers[place]] = Place(
            *points[place], f'{rooms[place]} {counts[rooms[place]]}',
            max(_LEAST_ZONE, math.floor(100 * zones[place]) / 100), room=rooms[place],
            home=place == 0)
    doors = _doors(plan.doors, ends)
    edges = sorted((numbers[start], numbers[end], door)
                   for (one, other), door in zip(pairs.tolist(), doors)
                   for start, end in ((one, other), (other, one)))
    return PlaceGraph(path, places, tuple(
        Edge(str(number), start, end, door)
        for number, (start, end, door) in enumerate(edges, len(places) + 1)), FRAME)


def _doors(doors: Mapping[str, Line], ends: NDArray[np.float64]) -> list[str]:
    """Return the door through which each way leads, empty for none; shape (ways, 2, 2)."""
    found = np.full(len(ends), '', object)
    for name, line in doors.items():
        left, right = np.array(line)
        on_sides = [_side(ends[:, end], left, right) for end in (0, 1)]
        across = [_side(point, ends[:, 0], ends[:, 1]) for point in (left, right)]
        found[(on_sides[0] != on_sides[1]) & (across[0] != across[1])] = name
    return [str(name) for name in found]


def _side(points: NDArray[np.float64], start: NDArray[np.float64],
          end: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return on which side of straight lines points are."""
    way, to_point = end - start, points - start
    return np.asarray(way[..., 0] * to_point[..., 1] - way[..., 1] * to_point[..., 0] >= 0)
