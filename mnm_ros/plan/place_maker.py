# SPDX-License-Identifier: Apache-2.0

"""How a place graph is made of a map: what ``ground`` finds, then a layout, then names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import math
from pathlib import Path

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.description_entries import MAX_STATES
from mnm_ros.driving.occupancy import Point
from mnm_ros.driving.pose import Pose
from mnm_ros.places.geojson import read_geojson
from mnm_ros.places.on_map import check_frame
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.plan import ground
from mnm_ros.plan.findings import idle_keep_outs
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.layout import Layout, Pairs
from mnm_ros.plan.place_rules import PlaceRules
from mnm_ros.plan.request import LEAST_SPACING, Request
from mnm_ros.plan.rooms import label_at, names_of
from mnm_ros.plan.specks import Speck

FRAME = 'map'
"""The frame of maps in nav2."""

_MORE = 1.1        # by how much the spacing grows where places would be too many


@dataclass(frozen=True)
class MadePlaces:
    """
    A place graph, and what was decided on the way.

    :ivar said: what a person should know, as sentences; of a new graph first where home is.
    :ivar specks: what was taken for free.
    :ivar in_file: the graph as its file has it, whose places may lack a name or a room.
    """

    graph: PlaceGraph
    rules: PlaceRules
    said: tuple[str, ...]
    specks: tuple[Speck, ...]
    in_file: PlaceGraph

    @property
    def plan(self) -> Plan:
        """Return the map, home, rooms, doors and keep-outs; without cells."""
        return self.rules.plan


def make(request: Request, path: Path) -> MadePlaces:
    """
    Return a place graph.

    :param path: where it will be written.
    :raises FileError: if the map or the mask cannot be read.
    :raises InvalidValueError: if nothing is free, if there is room for one place alone, or if
        home or another point is outside the map.
    """
    on = ground.ground_of(request, ground.read(request), cells=False)
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
            f'{request.map_file}: home, {on.plan.home[0]:g}, {on.plan.home[1]:g}, has room for '
            f'one place alone, expected two that are {spacing:g} m apart; a smaller '
            '--robot-radius, or another --home')
    if spacing != request.spacing:
        count = f'more than {MAX_STATES:,}' if spacing > request.spacing else 'one alone'
        said.append(f'places are {spacing:.2g} m apart, because with {request.spacing:g} m there '
                    f'would be {count}')
    said += layout.left_out()
    rules = PlaceRules(on.with_rooms(points, reached=True), layout)
    graph = rules.followed(_graph(path, on, rules.plan, points, pairs))
    return MadePlaces(graph, rules, (*said, *_missing(graph, rules.plan)), on.specks, graph)


def opened(request: Request, path: Path) -> MadePlaces:
    """
    Return a graph that was made before, with the ground that its map has.

    A place without a room is in the one of the map, and one without a name has that of its room
    and a number.

    :param request: without ``home``; the rooms that the places name are added.
    :param path: of the graph, as GeoJSON.
    :raises FileError: if the map, the mask or the graph cannot be read, or if the graph is in
        another frame than the map.
    :raises InvalidValueError: if nothing is free.
    """
    graph = read_geojson(path)
    points = [(place.x, place.y) for place in graph.places.values()]
    rooms = {place.room: point for place, point in reversed([*zip(
        graph.places.values(), points)]) if place.room}
    home = graph.places[graph.home]
    on_graph = replace(request, home=Pose(home.x, home.y, 0.0), rooms={**rooms, **request.rooms})
    found = ground.read(request)
    check_frame(graph, graph.home, found.map, request.map_file)
    on = ground.ground_of(on_graph, found, cells=False, farthest=math.inf)
    layout = Layout(on.plan.driven_map, on.plan.home[:2], on.radius)
    rules = PlaceRules(on.with_rooms(points, reached=True), layout)
    named, said = _named(graph, rules.plan), on.said[1:]
    if named is not graph:
        said += ('places without a name or a room are called by the map here; --page, and there '
                 f'Save, writes that into {path}',)
    return MadePlaces(named, rules, said, on.specks, graph)


def _named(graph: PlaceGraph, plan: Plan) -> PlaceGraph:
    """Return a graph whose places have a room if they are in one, and then also a name."""
    taken = {'', *(place.name for place in graph.places.values())}
    counts: Counter[str] = Counter()
    places: dict[int, Place] = {}
    for number, place in graph.places.items():
        room, name = place.room or plan.room_at((place.x, place.y)) or '', place.name
        while room and not place.name and name in taken:
            counts[room] += 1
            name = f'{room} {counts[room]}'
        places[number] = replace(place, room=room, name=name)
    return graph if places == graph.places else replace(graph, places=places)


def _missing(graph: PlaceGraph, plan: Plan) -> Iterator[str]:
    """Yield a sentence for each keep-out, room and door without any effect, and why."""
    used = {place.room for place in graph.places.values()}
    yield from (finding.text for finding in idle_keep_outs(plan))
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


def _graph(path: Path, on: ground.Ground, plan: Plan, points: Sequence[Point],
           pairs: Pairs) -> PlaceGraph:
    """Return a graph whose places are numbered from 1 on, room by room, and have names so."""
    names = names_of(plan.map, on.labels, plan.rooms)
    rooms = [names[label_at(plan.map, on.labels, point)] for point in points]
    ranks = {name: rank for rank, name in enumerate(plan.rooms)}
    # From the upper left to the lower right, as people read.
    order = sorted(range(len(points)), key=lambda place: (
        ranks[rooms[place]], -round(points[place][1] / on.request.spacing), points[place][0]))
    numbers = {place: number for number, place in enumerate(order, 1)}
    counts: Counter[str] = Counter()
    places: dict[int, Place] = {}
    for place in order:
        counts[rooms[place]] += 1
        places[numbers[place]] = Place(
            *points[place], f'{rooms[place]} {counts[rooms[place]]}', room=rooms[place],
            home=place == 0)
    edges = sorted((numbers[start], numbers[end]) for one, other in pairs.tolist()
                   for start, end in ((one, other), (other, one)))
    return PlaceGraph(path, places, tuple(
        Edge(str(number), start, end)
        for number, (start, end) in enumerate(edges, len(places) + 1)), FRAME)
