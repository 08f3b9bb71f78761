# SPDX-License-Identifier: Apache-2.0

"""
Reads Open-RMF's navigation graphs, and the building files from which they are made.

The formats are those of ``rmf_fleet_adapter/src/rmf_fleet_adapter/agv/parse_graph.cpp`` in
open-rmf/rmf_ros2 and of ``rmf_building_map_tools/building_map`` in open-rmf/rmf_traffic_editor.
A place is a vertex; vertices are numbered over all levels, in the order of the file. Of a building
file the lanes of its first graph are read. Its positions come from pixels by the measurements of
each level, so that the levels are not aligned with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
import math
from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.description_entries import FARTHEST
from mnm_ros.located_yaml import Entry, Keys
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.places.rmf_lanes import LaneNumbers, LaneOptions

_PIXELS = 'reference_image'    # the coordinate system of a building without another one
_DIGITS = 4    # of the number of a graph, at most
_METRES = 'cartesian_meters'


@dataclass
class _Lanes:
    """The levels, as far as they are read."""

    path: Path
    places: dict[int, Place] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    lifts: dict[str, list[int]] = field(default_factory=dict)    # vertices by the name
    numbers: LaneNumbers = field(default_factory=LaneNumbers)

    def add(self, lane: str, ends: tuple[int, int], both: bool, door: str) -> None:
        start, end = ends
        self.edges.append(Edge(lane, start, end, door))
        if both:
            self.edges.append(Edge(f'{lane} back', end, start, door))

    def add_to_lift(self, lift: str, vertex: int) -> None:
        if lift:
            self.lifts.setdefault(lift, []).append(vertex)
            self.numbers.add_to_lift(lift, vertex)

    def graph(self, remarks: tuple[str, ...] = ()) -> PlaceGraph:
        """Return the graph of all vertices that a lane begins or ends at; lifts join levels."""
        lanes, in_lifts = dict(self.numbers.of_edges), self.numbers.of_lifts
        self.places = _renamed(self.places, {
            vertex: f'{name} {self.places[vertex].level}' for name, vertices in self.lifts.items()
            for vertex in vertices if not self.places[vertex].name})
        for name, vertices in self.lifts.items():
            for one, other in zip(vertices, vertices[1:]):
                key = f'lift {name} {one}'
                self.add(key, (one, other), True, name)
                lanes[key] = in_lifts.get((one, other), ())
                lanes[f'{key} back'] = in_lifts.get((other, one), ())
        used = {place for edge in self.edges for place in (edge.start, edge.end)}
        missing = used - {*self.places}
        if missing:
            edge = next(edge for edge in self.edges if missing & {edge.start, edge.end})
            raise FileError(f'{self.path}: lane {edge.key} leads from vertex {edge.start} to '
                            f'{edge.end}, expected vertices of its level')
        return PlaceGraph(
            self.path, {number: place for number, place in self.places.items() if number in used},
            tuple(replace(edge, lanes=lanes.get(edge.key, ())) for edge in self.edges),
            remarks=remarks)


def read_navigation_graph(path: Path, root: Entry) -> PlaceGraph:
    """
    Return the graph of a file that a fleet adapter reads.

    :param root: what the file holds.
    :raises FileError: with the file, the line, and what was expected.
    """
    found, named = _Lanes(path), dict[str, int]()
    for level, keys in _levels(root):
        first = len(found.places)
        for number, entry in enumerate(keys.listed('vertices'), first):
            x, y, options = _listed(entry, 2, 'a vertex, [x, y, options]')
            place = Place(_number(x), _number(y), _option(options, 'name'),
                          charger=_option(options, 'is_charger') == 'True', level=level)
            if place.name and named.setdefault(place.name, number) != number:
                raise entry.error(f'two vertices are called {place.name}, expected names of '
                                  'their own')
            found.places[number] = place
            found.add_to_lift(_option(options, 'lift'), number)
        inside = range(len(found.places) - first)
        for index, entry in enumerate(keys.listed('lanes')):
            start, end, options = _listed(entry, 2, 'a lane, [start, end, options]')
            ends = first + _vertex(start, inside), first + _vertex(end, inside)
            found.add(f'{level} {index}', ends, _option(options, 'is_bidirectional') == 'True',
                      _option(options, 'door_name'))
            found.numbers.add(level, f'{level} {index}', ends, LaneOptions(
                bool({'demo_mock_floor_name', 'door_name'} & {*options.mapping('options')}),
                _option(options, 'dock_name')))
    found.lifts = {name: vertices for name, vertices in found.lifts.items() if len(
        {found.places[vertex].level for vertex in vertices}) == len(vertices)}
    return found.graph()


def read_building(path: Path, root: Entry) -> PlaceGraph:
    """
    Return the graph of a building file of the traffic editor.

    :param root: what the file holds.
    :raises FileError: with the file, the line, and what was expected.
    """
    top = root.mapping('a building')
    system = _text(top['coordinate_system'][1]) if 'coordinate_system' in top else _PIXELS
    if system not in (_PIXELS, _METRES):
        raise top['coordinate_system'][1].error(
            f"coordinate_system is '{system[:40]}', expected {_PIXELS} or {_METRES}")
    found, remarks = _Lanes(path, numbers=LaneNumbers(building=True)), list[str]()
    levels = [*_levels(root)]
    lowest = min((graph for _, keys in levels for graph in _graphs(keys)), default=0)
    scale = 0.0    # m for each pixel, of the level before
    for level, keys in levels:
        first = len(found.places)
        vertices = [_listed(entry, 4, 'a vertex, [x, y, z, name, parameters]')
                    for entry in keys.listed('vertices')]
        points = [(_number(x), _number(y)) for x, y, *_ in vertices]
        if system == _PIXELS:
            scale = _scale(keys, points) or scale
            if not scale:
                remarks.append(f'level {level} has no measurements: a pixel counts as 1 m')
            points = [(x * (scale or 1.0), -y * (scale or 1.0)) for x, y in points]
        for number, ((x, y), (*_, name, parameters)) in enumerate(zip(points, vertices), first):
            found.places[number] = Place(
                x, y, str(name.scalar('a name') or ''), level=level,
                charger=_parameter(parameters, 'is_charger') == 'True')
            found.add_to_lift(_parameter(parameters, 'lift_cabin'), number)
        docks = [_parameter(parameters, 'dock_name') for *_, parameters in vertices]
        _add_lanes(found, level, keys, points, docks, first, lowest)
    if any(graph > lowest for _, keys in levels for graph in _graphs(keys)):
        remarks.append(f'only the lanes of graph {lowest} are read')
    graph = found.graph(tuple(remarks))
    return replace(graph, places=_distinct(graph))


def _add_lanes(found: _Lanes, level: str, keys: Keys, points: list[tuple[float, float]],
               docks: list[str], first: int, wanted: int) -> None:
    """
    Add the lanes of a level of a building file.

    :param points, docks: by vertex of the level.
    :param first: the number of its first vertex.
    :param wanted: the graph of which they are.
    """
    doors = [(_parameter(options, 'name'), ends) for ends, options in _between(
        keys, 'doors', points)]
    for index, ((start, end), options) in enumerate(_between(keys, 'lanes', points)):
        if _graph_of(options) != wanted:
            continue
        lane, ends = f'{level} {index}', (first + start, first + end)
        both = _parameter(options, 'bidirectional') == 'True'
        door = _crossed((start, end), doors, points)
        event = bool(door or _parameter(options, 'demo_mock_floor_name'))
        found.add(lane, ends, both, door)
        found.numbers.add(level, lane, ends, LaneOptions(event, docks[end]))
        if both:
            found.numbers.add(level, f'{lane} back', ends[::-1], LaneOptions(event, docks[start]))


def _distinct(graph: PlaceGraph) -> dict[int, Place]:
    """Return the places; names that several levels have are followed by the level."""
    names = Counter(place.name for place in graph.places.values())
    return _renamed(graph.places, {
        number: f'{place.name} {place.level}' for number, place in graph.places.items()
        if place.name and names[place.name] > 1})


def _renamed(places: Mapping[int, Place], wanted: Mapping[int, str]) -> dict[int, Place]:
    """Return the places with other names; one that is taken already is followed by a number."""
    taken = {place.name for number, place in places.items() if number not in wanted}
    last, found = Counter[str](), {**places}
    for number, name in wanted.items():
        own = name
        while own in taken:
            last[name] += 1
            own = f'{name} {last[name] + 1}'
        taken.add(own)
        found[number] = replace(places[number], name=own)
    return found


def _levels(root: Entry) -> Iterator[tuple[str, Keys]]:
    what = 'a mapping from the names of levels'
    levels = root.mapping('a building').required('levels', what)
    for name, (_, entry) in levels.mapping(what).items():
        yield str(name), entry.mapping('a level')


def _graphs(keys: Keys) -> Iterator[int]:
    for entry in keys.listed('lanes'):
        *_, options = _listed(entry, 2, 'a lane, [start, end, parameters]')
        yield _graph_of(options)


def _graph_of(options: Entry) -> int:
    """Return the number of the graph that a lane with these parameters is part of."""
    found = str(_parameter(options, 'graph_idx') or 0)
    if not found.isdecimal() or len(found) > _DIGITS:
        raise options.error(f'graph_idx is {found[:40]}, expected the number of a graph')
    return int(found)


def _between(keys: Keys, name: str, points: list[tuple[float, float]],
             ) -> Iterator[tuple[tuple[int, int], Entry]]:
    """Yield the two vertices and the parameters of each lane, door or measurement."""
    for entry in keys.listed(name):
        start, end, options = _listed(entry, 2, f'[start, end, parameters] of {name}')
        yield (_vertex(start, range(len(points))), _vertex(end, range(len(points)))), options


def _scale(keys: Keys, pixels: list[tuple[float, float]]) -> float:
    """Return the mean of what the measurements of a level say, in m for a pixel; 0 for none."""
    scales = []
    for (one, other), options in _between(keys, 'measurements', pixels):
        length = math.dist(pixels[one], pixels[other])
        distance = options.mapping('parameters').required(
            'distance', '[3, distance in m]').sequence('[3, distance in m]')[-1]
        if not length:
            raise options.error('a measurement of no length, expected two different points')
        scales.append(distance.number('a distance in m', 1e-6, FARTHEST) / length)
    return sum(scales) / len(scales) if scales else 0.0


def _crossed(ends: tuple[int, int], doors: list[tuple[str, tuple[int, int]]],
             points: list[tuple[float, float]]) -> str:
    """Return the name of the last door that a lane crosses; empty for none."""
    one, other = (points[end] for end in ends)
    return next((name for name, (left, right) in reversed(doors)
                 if _crosses(one, other, points[left], points[right])), '')


def _crosses(one: tuple[float, float], other: tuple[float, float], left: tuple[float, float],
             right: tuple[float, float]) -> bool:
    def side(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (side(one, other, left) * side(one, other, right) <= 0
            and side(left, right, one) * side(left, right, other) < 0)


def _listed(entry: Entry, least: int, what: str) -> list[Entry]:
    """Return the entries of a list, followed by empty parameters if it has none."""
    found = entry.sequence(what)
    if not least <= len(found) <= least + 1:
        raise entry.error(f'found {len(found)} values, expected {what}')
    return found if len(found) > least else [*found, entry.without_entries()]


def _vertex(entry: Entry, inside: range) -> int:
    number = entry.integer('the number of a vertex', 0)
    if number not in inside:
        raise entry.error(f'there is no vertex {number}, expected one from 0 to {len(inside) - 1}')
    return number


def _number(entry: Entry) -> float:
    return entry.number('a coordinate', -FARTHEST, FARTHEST)


def _text(entry: Entry) -> str:
    return str(entry.scalar('a text'))


def _option(options: Entry, name: str) -> str:
    """Return an option of a navigation graph as text; empty if it is missing."""
    keys = options.mapping('options')
    return _text(keys[name][1]) if name in keys else ''


def _parameter(parameters: Entry, name: str) -> str:
    """Return a parameter of a building file, [type, value], as text; empty if it is missing."""
    keys = parameters.mapping('parameters')
    return _text(keys[name][1].sequence('[type, value]')[-1]) if name in keys else ''
