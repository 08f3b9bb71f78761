# SPDX-License-Identifier: Apache-2.0

"""
Whether the places of a graph lie in free cells of a map.

A graph in the frame of another map looks as good as any other one, until a robot drives by it.
Whoever has both a graph and a map checks them here.
"""

from __future__ import annotations

from mnm_ros.core.errors import FileError
from mnm_ros.core.model.declaration import listed
from mnm_ros.driving.occupancy import Map
from mnm_ros.places.place_graph import PlaceGraph

_NAMED = 5    # places
_MADE_ON = 'expected the map on which the graph was made, in the same frame'


def places_off(graph: PlaceGraph, map_: Map) -> frozenset[int]:
    """Return the places that lie in what is occupied or unknown, or outside of the map."""
    at = [(place.x, place.y) for place in graph.places.values()]
    return frozenset(number for number, free in zip(
        graph.places, map_.is_free(at, at, 0.0).tolist()) if not free)


def off_told(graph: PlaceGraph, off: frozenset[int], map_name: object,
             home: int | None = None) -> str:
    """
    Return how many places lie in no free cell, and the names of some.

    :param home: it comes first if it is one of them.
    """
    names = [f'home ({graph.name(place)})' if place == home else graph.name(place)
             for place in sorted(off, key=lambda place: (place != home, place))]
    return (f'{map_name}: no free cell at {len(off):,} of the {len(graph.places):,} places of '
            f'{graph.path}: {listed(names, _NAMED)}')


def off_remark(graph: PlaceGraph, off: frozenset[int], map_name: object) -> str:
    """Return the same, home among them or not, as a remark on a map that is taken."""
    return f'{off_told(graph, off, map_name)}; expected a free cell at each place'


def check_on_map(graph: PlaceGraph, home: int, map_: Map, map_name: object) -> tuple[str, ...]:
    """
    Check a graph by which a robot will drive; return what a person should know, as sentences.

    :param map_name: the file of the map, which is complete.
    :raises FileError: as ``check_frame``, or if home lies in no free cell: RESET cannot end there.
    """
    off = check_frame(graph, home, map_, map_name)
    if home in off:
        raise FileError(f'{off_told(graph, off, map_name, home)}; {_MADE_ON}')
    return (off_remark(graph, off, map_name),) if off else ()


def check_frame(
        graph: PlaceGraph, home: int, map_: Map, map_name: object) -> frozenset[int]:
    """
    Return the places that lie in no free cell of a map.

    Some places of the right map may do so by a slip, or because something stands there today. Of
    more than half of the places that is not credible.

    :raises FileError: if more than half of the places do so.
    """
    off = places_off(graph, map_)
    if 2 * len(off) > len(graph.places):
        raise FileError(f'{off_told(graph, off, map_name, home)}; {_MADE_ON}')
    return off
