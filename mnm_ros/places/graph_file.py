# SPDX-License-Identifier: Apache-2.0

"""Finds out of which format a file with a route graph is, and reads it."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.located_yaml import Entry, read
from mnm_ros.places.geojson import read_geojson
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.places.rmf import read_building, read_navigation_graph
from mnm_ros.places.tmap2 import read_tmap2

FORMATS = ("GeoJSON of nav2's route server", "Open-RMF's navigation graph or building.yaml",
           "LCAS' tmap2")

_JSON = ('.geojson', '.json')


def is_graph(path: Path) -> bool:
    """Return whether a file is, as far as its name and its first keys tell, a route graph."""
    if path.suffix in _JSON or not path.is_file():
        return path.suffix in _JSON
    keys = _keys(read(path))
    return 'levels' in keys or 'nodes' in keys


def load_graph(path: Path) -> PlaceGraph:
    """
    Read a route graph in one of the ``FORMATS``.

    :raises FileError: with the file, the offending part of it, and what was expected.
    """
    if path.suffix in _JSON:
        return read_geojson(path)
    root = read(path, 'route graph')
    keys = _keys(root)
    if 'nodes' in keys:
        return read_tmap2(path)
    if 'levels' in keys:
        return read_building(path) if _has_heights(root) else read_navigation_graph(path)
    raise FileError(f'{path}: neither nodes nor levels, expected {", ".join(FORMATS)}')


def _keys(root: Entry) -> set[str]:
    """Return the keys of a file, none if it is no mapping; the reader checks them."""
    return {key.content for key in root.content[::2] if key.kind is str} if (
        root.kind is dict) else set()


def _has_heights(root: Entry) -> bool:
    """Return whether vertices have a height and then a name, as in building files alone."""
    for _, level in root.mapping('a file')['levels'][1].mapping('levels').values():
        keys = level.mapping('a level')
        for vertex in keys['vertices'][1].content if 'vertices' in keys else ():
            return vertex.kind is list and len(vertex.content) > 3
    return False
