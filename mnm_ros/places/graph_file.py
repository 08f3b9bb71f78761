# SPDX-License-Identifier: Apache-2.0

"""Finds out of which format a route graph is, and reads it."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.located_yaml import Entry, read
from mnm_ros.places.geojson import read_geojson
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.places.rmf import read_building, read_navigation_graph
from mnm_ros.places.tmap2 import read_tmap2

GEOJSON = ('.geojson', '.json')
"""How the names of files end that ``places/geojson.py`` reads; the others are YAML."""

ENDINGS = {**dict.fromkeys(GEOJSON, 'a route graph as GeoJSON'),
           '.tmap2.yaml': 'a route graph of LCAS', '.building.yaml': 'a building of Open-RMF'}
"""What files hold whose names end so; other names say nothing."""


def read_graph(path: Path) -> PlaceGraph:
    """
    Return the route graph of a file.

    :raises FileError: with the file, the offending part of it, and what was expected.
    """
    graph = read_geojson(path) if path.suffix in GEOJSON else graph_in(
        path, read(path, 'route graph'))
    if graph is None:
        raise FileError(f'{path}: no route graph, expected GeoJSON of nav2, a building or a '
                        'navigation graph of Open-RMF, or a tmap2 of LCAS')
    return graph


def graph_in(path: Path, root: Entry) -> PlaceGraph | None:
    """
    Return the route graph that a YAML file holds; None if it holds something else.

    :param root: what the file holds.
    :raises FileError: with the file, the offending part of it, and what was expected.
    """
    if 'nodes' in root.names:
        return read_tmap2(path, root)
    if 'levels' in root.names:
        return (read_building if _has_heights(root) else read_navigation_graph)(path, root)
    return None


def _has_heights(root: Entry) -> bool:
    """Return whether vertices have a height and then a name, as in building files alone."""
    for _, level in root.mapping('a file')['levels'][1].mapping('levels').values():
        for vertex in level.mapping('a level').listed('vertices'):
            return vertex.kind is list and len(vertex.content) > 3
    return False
