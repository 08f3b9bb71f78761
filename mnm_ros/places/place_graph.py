# SPDX-License-Identifier: Apache-2.0

"""
A place graph: the places of a building and the directed edges between them.

The readers beside this module make one of a file. A scenario and the console explore it: a place
is a state, and action k of a place is its k-th outgoing edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
import math
from pathlib import Path

from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.core.model.declaration import Declaration, listed
from mnm_ros.description_entries import MAX_NAME, MAX_STATES
from mnm_ros.language import few, Text
from mnm_ros.places.connectivity import Connectivity
from mnm_ros.places.floors import apart, floors
from mnm_ros.robot_description import RobotDescription

MOST_ACTIONS = 64
"""Outgoing edges of a place, far more than any published graph has."""

MOST_ZONE = 1.0
"""The largest radius in m of a zone that no file gives."""

_NAMED = 5           # places of a warning
_CUT = 75            # characters of a place's name in a move whose name would be too long


@dataclass(frozen=True)
class Place:
    """
    A place of a building.

    :param x, y: its position in m, in the frame of the graph.
    :param name: for people; empty for none.
    :param zone: the radius in m of the area in which a robot is at this place; None if the file
        does not say.
    :param charger: whether robots charge there.
    :param level: the floor that it is on; empty for the only one.
    :param room: the name of the room that it is in; empty if the file does not say.
    :param home: whether this is home, where RESET leads.
    """

    x: float
    y: float
    name: str = ''
    zone: float | None = None
    charger: bool = False
    level: str = ''
    room: str = ''
    home: bool = False


EdgeId = tuple[str, int, int]
"""The key, the start and the end of an edge: several edges of a file may have one key."""


@dataclass(frozen=True)
class Edge:
    """
    A way from one place to another.

    :param key: its id in the file.
    :param door: the name of the door through which it leads; empty for none.
    :param lanes: the numbers by which Open-RMF knows the lanes along it; empty for none.
    """

    key: str
    start: int
    end: int
    door: str = ''
    lanes: tuple[int, ...] = ()

    @property
    def id(self) -> EdgeId:    # noqa: A003
        """Return what distinguishes this edge from the others of a file."""
        return self.key, self.start, self.end


@dataclass(frozen=True)
class PlaceGraph:
    """
    The places of a building and the edges between them.

    :param places: by state, as the file numbers them or as ``numbered`` does.
    :param edges: in any order; ``outgoing`` has the order that counts.
    :param frame: the frame of the positions; empty if the file does not say.
    :param remarks: what its reader has found worth a warning.
    :raises FileError: with the file, the offending id, and what was expected.
    """

    path: Path
    places: Mapping[int, Place]
    edges: tuple[Edge, ...]
    frame: str = ''
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self._outgoing:
            raise self._error(f'{_counted(self.places, "place")} and '
                              f'{_counted(self.edges, "edge")}, expected at least one edge '
                              'between two places')
        check_size(self.path, len(self.places))
        for edge in self.edges:
            for what, place in (('starts', edge.start), ('ends', edge.end)):
                if place not in self.places:
                    raise self._error(f'edge {edge.key} {what} at place {place}, which is not '
                                      'there, expected a place of the file')
        if self.actions > MOST_ACTIONS:
            place, _ = max(self._outgoing.items(), key=lambda item: len(item[1]))
            raise self._error(f'{self.actions} edges begin at place {place}, expected at most '
                              f'{MOST_ACTIONS}')
        try:
            RobotDescription(('way 1',), frame=self.frame, names=self._names, rooms=dict.fromkeys(
                (place.room for place in self.places.values() if place.room), ()),
                doors=dict.fromkeys((edge.door for edge in self.edges if edge.door), ()))
        except InvalidValueError as error:
            raise self._error(str(error)) from None

    @property
    def _names(self) -> dict[int, str]:
        return {number: place.name for number, place in self.places.items() if place.name}

    @cached_property
    def actions(self) -> int:
        """Return the largest number of edges that begin at one place."""
        return max(map(len, self._outgoing.values()))

    def outgoing(self, place: int) -> Sequence[Edge]:
        """Return the edges that begin at a place, by their ends, then by their ids."""
        return self._outgoing.get(place, ())

    @cached_property
    def actions_of(self) -> Mapping[Edge, int]:
        """Return the action that drives along each edge; there is none along a loop."""
        return {edge: action for edges in self._outgoing.values()
                for action, edge in enumerate(edges)}

    @cached_property
    def _ways(self) -> tuple[Edge, ...]:
        """Return the edges that lead to another place."""
        return tuple(edge for edge in self.edges if edge.start != edge.end)

    @cached_property
    def joined(self) -> frozenset[frozenset[int]]:
        """Return the pairs of places that an edge joins, in one direction or in both."""
        return frozenset(frozenset((edge.start, edge.end)) for edge in self._ways)

    @cached_property
    def _outgoing(self) -> dict[int, list[Edge]]:
        found: dict[int, list[Edge]] = {}
        for edge in sorted(self._ways, key=lambda edge: (edge.start, edge.end, _order(edge.key))):
            found.setdefault(edge.start, []).append(edge)
        return found

    def length(self, edge: Edge) -> float:
        """Return the straight distance in m from the start of an edge to its end."""
        start, end = self.places[edge.start], self.places[edge.end]
        return math.dist((start.x, start.y), (end.x, end.y))

    def zone(self, place: int) -> float:
        """Return the zone in m: as the file says, else half of the shortest edge, at most 1."""
        zone = self.places[place].zone
        return zone if zone is not None else self._zones.get(place, MOST_ZONE)

    @cached_property
    def _zones(self) -> dict[int, float]:
        zones: dict[int, float] = {}
        for edge in self._ways:
            half = self.length(edge) / 2
            for place in (edge.start, edge.end) if half else ():
                zones[place] = min(half, zones.get(place, MOST_ZONE))
        return zones

    @cached_property
    def home(self) -> int:
        """
        Return the place that suits as home.

        If the file names home, that is it. Otherwise only places count from which the most places
        can be reached and returned from. Among these a charger comes first, then the place whose
        farthest place is the fewest edges away.
        """
        named = [number for number, place in self.places.items() if place.home]
        if named:
            return named[0]
        inside = self._connectivity.largest_part
        chargers = [place for place in inside if self.places[place].charger]
        return self._connectivity.centre(chargers or inside)

    @cached_property
    def cut_off(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the places that home cannot reach, and those that cannot reach home."""
        return self._connectivity.cut_off(self.home)

    @cached_property
    def _connectivity(self) -> Connectivity:
        return Connectivity(self.places, [(edge.start, edge.end) for edge in self._ways])

    @cached_property
    def declaration(self) -> Declaration:
        """Return where each edge may lead: to its end, or back to its start if it fails."""
        return Declaration({place: tuple(
            tuple(sorted({edge.end, place})) for edge in self.outgoing(place))
            + ((),) * (self.actions - len(self.outgoing(place))) for place in self.places})

    def describe(self, home: int) -> RobotDescription:
        """
        Return what a robot side that drives along the edges says about itself.

        Of several levels each is a room, and its positions are beside those of the others.
        """
        doors: dict[str, list[tuple[int, int]]] = {}
        for place in self.places:
            for action, edge in enumerate(self.outgoing(place)):
                if edge.door:
                    doors.setdefault(edge.door, []).append((place, action))
        levels = {number: place.level for number, place in self.places.items()}
        rooms: dict[str, list[int]] = {
            level: [*places] for level, places in floors(levels).items()}
        for number, each in self.places.items():
            if each.room:
                rooms.setdefault(each.room, []).append(number)
        return RobotDescription(
            tuple(f'way {action + 1}' for action in range(self.actions)), home,
            '' if floors(levels) else self.frame, self._names,
            apart({number: (place.x, place.y) for number, place in self.places.items()}, levels),
            declaration=self.declaration,
            doors={door: tuple(pairs) for door, pairs in doors.items()},
            rooms={room: tuple(places) for room, places in rooms.items()},
            moves={place: self.moves(place) for place in self.places},
            zones={place: round(zone, 3) or zone
                   for place in self.places for zone in (self.zone(place),)})

    def moves(self, place: int) -> tuple[str, ...]:
        """Return what people call the ways from a place, in the order of its actions."""
        return tuple(way if len(way := f'to {self.name(edge.end)}') <= MAX_NAME else
                     f'to {self.name(edge.end)[:_CUT]}... ({edge.end})'
                     for edge in self.outgoing(place))

    @cached_property
    def merged(self) -> PlaceGraph:
        """Return the graph in which the places at one position are the first of them."""
        first, places = self.first, dict[int, Place]()
        for numbers in self._at.values():
            names = [name for number in numbers if (name := self.places[number].name)]
            places[numbers[0]] = replace(self.places[numbers[0]], name=names[0] if names else '')
        if len(places) == len(self.places):
            return self
        edges: dict[tuple[int, int], Edge] = {}
        for edge in self.edges:
            ends = first[edge.start], first[edge.end]
            lanes = (edges[ends].lanes if ends in edges else ()) + edge.lanes
            edges[ends] = replace(edges.get(ends, edge), start=ends[0], end=ends[1], lanes=lanes)
        return replace(self, places=places, edges=tuple(edges.values()), remarks=(
            *self.remarks, *self._twins(), *self._repeated()))

    @cached_property
    def first(self) -> Mapping[int, int]:
        """Return by place the first of the places at its position."""
        return {number: numbers[0] for numbers in self._at.values() for number in numbers}

    @cached_property
    def _at(self) -> dict[tuple[float, float, str], list[int]]:
        """Return the places at each position of a level, in the order of their numbers."""
        at: dict[tuple[float, float, str], list[int]] = {}
        for number in sorted(self.places):
            place = self.places[number]
            at.setdefault((place.x, place.y, place.level), []).append(number)
        return at

    def check_one_level(self) -> None:
        """Raise FileError if a robot would have to take a lift."""
        levels = sorted({place.level for place in self.places.values()})
        if len(levels) > 1:
            raise self._error(
                f'places on the levels {", ".join(levels)}, expected one level, because no robot '
                'side takes a lift; make a file of each level, and start a node in a namespace of '
                'its own for each')

    def called(self, text: str) -> int:
        """
        Return the place that people mean by its number or its name.

        :raises InvalidValueError: if there is none, or if several have the name; without the file.
        """
        if text.isdecimal() and int(text) in self.places:
            return int(text)
        found = [number for number, place in self.places.items() if place.name == text]
        if len(found) == 1:
            return found[0]
        raise InvalidValueError(f"'{text}', expected the number or the name of one place: " + (
            _listed(found) if found else _listed([*map(self.name, self.places)])))

    def name(self, place: int) -> str:
        """Return what people call a place: its name, or its number."""
        return self.places[place].name or str(place)

    def names(self, places: Iterable[int]) -> Text:
        """Return what people call places, the first few of them by name."""
        return few([self.name(place) for place in sorted(places)], _NAMED)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Return what a graph may contain and a robot cannot use, each with the file and ids."""
        return tuple(f'{self.path}: {text}' for text in dict.fromkeys((
            *self.remarks, *self._twins(), *self._repeated(), *self._misleading(),
            *self._loops(), *self._islands())))

    def _twins(self) -> Iterator[str]:
        for (x, y, _), numbers in self._at.items():
            if len(numbers) > 1:
                yield (f'places {_listed(numbers)} are all at ({x:g}, {y:g}): they are one place, '
                       f'{numbers[0]}, with the edges of all')

    def _repeated(self) -> Iterator[str]:
        repeated = [key for key, count in Counter(
            edge.key for edge in self.edges).items() if count > 1]
        if repeated:
            yield (f'several edges have the id {_listed(repeated)}, expected an id of its own '
                   'each: nav2 cannot close one of them alone')

    def _misleading(self) -> Iterator[str]:
        numbers = {*map(str, self.places)}
        misleading = [f'{place.name} (place {number})' for number, place in self.places.items()
                      if place.name in numbers and place.name != str(number)]
        if misleading:
            yield (f'names are the numbers of other places: {_listed(misleading)}; expected other '
                   'names, because such a text is taken for the number')

    def _loops(self) -> Iterator[str]:
        loops = [edge.key for edge in self.edges if edge.start == edge.end]
        if loops:
            yield f'edges {_listed(loops)} lead from a place to itself, and are left out'

    def _islands(self) -> Iterator[str]:
        inside = {*self._connectivity.largest_part}
        outside = [place for place in self.places if place not in inside]
        if outside:
            yield (f'no way leads both to and from {_listed(outside)} and the other '
                   f'{len(inside)} places')

    def _error(self, text: str) -> FileError:
        return FileError(f'{self.path}: {text}')


def _counted(items: Collection[object], name: str) -> str:
    return f'{len(items)} {name}' + 's' * (len(items) != 1)


def check_size(path: Path, places: int) -> None:
    """Raise FileError if a graph has more places than a robot side may describe."""
    if places > MAX_STATES:
        raise FileError(f'{path}: {places:,} places, expected at most {MAX_STATES:,}')


def numbered(path: Path, names: Iterable[str]) -> dict[str, int]:
    """
    Return the states 1, 2, ... of places that have names instead of numbers, in sorted order.

    :raises FileError: if two places have the same name.
    """
    listed = sorted(names)
    for name, after in zip(listed, listed[1:]):
        if name == after:
            raise FileError(f'{path}: two places are called {name}, expected distinct names')
    return {name: number for number, name in enumerate(listed, 1)}


def _order(key: str) -> tuple[int, str]:
    """Numbers come by their value, before names."""
    return (int(key), '') if key.isdecimal() else (2**63, key)


def _listed(items: Sequence[object]) -> str:
    return listed([*map(str, items)], _NAMED)
