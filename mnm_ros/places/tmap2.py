# SPDX-License-Identifier: Apache-2.0

"""
Reads topological maps of LCAS' ``topological_navigation``, version 2.

The format is that of ``topological_navigation/topological_navigation/manager2.py`` in
LCAS/topological_navigation. The influence zone of a node, a polygon around it, becomes the largest
circle within.
"""

from __future__ import annotations

import math
from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.description_entries import FARTHEST
from mnm_ros.located_yaml import Entry, Keys
from mnm_ros.places.place_graph import Edge, numbered, Place, PlaceGraph


def read_tmap2(path: Path, root: Entry) -> PlaceGraph:
    """
    Return the graph of a file; its places are numbered by their names.

    :param root: what the file holds.
    :raises FileError: with the file, the line, the name, and what was expected.
    """
    what = 'a list of nodes'
    nodes = [entry.mapping('a node').required('node', 'a mapping with name, pose and edges')
             .mapping('a node') for entry in root.mapping('a topological map').required(
                 'nodes', what).sequence(what)]
    names = [_name(node, 'name', 'the name of a node') for node in nodes]
    states = numbered(path, names)
    edges: list[Edge] = []
    for name, node in zip(names, nodes):
        for entry in node.listed('edges'):
            edge = entry.mapping('an edge')
            key, end = (_name(edge, what, 'a name') for what in ('edge_id', 'node'))
            if end not in states:
                raise entry.error(f'edge {key} ends at {end}, which is not there, expected the '
                                  'name of a node')
            edges.append(Edge(key, states[name], states[end]))
    frames = {name: _frame(node) for name, node in zip(names, nodes)}
    if len({*frames.values()}) > 1:
        raise FileError(f'{path}: the nodes are in the frames '
                        f'{", ".join(sorted({*frames.values()}))}, expected one frame')
    places = {states[name]: _place(name, node) for name, node in zip(names, nodes)}
    return PlaceGraph(path, dict(sorted(places.items())), tuple(edges), frames[names[0]])


def _place(name: str, node: Keys) -> Place:
    pose = node.required('pose', 'position and orientation').mapping('a pose')
    x, y = _xy(pose.required('position', 'x and y'))
    corners = [_xy(entry) for entry in node.listed('verts')]
    return Place(x, y, name, _inner_radius(corners))


def _inner_radius(corners: list[tuple[float, float]]) -> float | None:
    """Return how far from the node the nearest side of its zone is; None if it has no zone."""
    if len(corners) < 3:
        return None
    return min(_distance(*sides) for sides in zip(corners, corners[1:] + corners[:1])) or None


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the distance of a side from the node, which is the origin."""
    along = other[0] - one[0], other[1] - one[1]
    squared = along[0] ** 2 + along[1] ** 2
    part = 0.0 if not squared else min(1.0, max(
        0.0, -(one[0] * along[0] + one[1] * along[1]) / squared))
    return math.hypot(one[0] + part * along[0], one[1] + part * along[1])


def _xy(entry: Entry) -> tuple[float, float]:
    keys = entry.mapping('x and y')
    x, y = (keys.required(name, 'a number in m').number('a number in m', -FARTHEST, FARTHEST)
            for name in ('x', 'y'))
    return x, y


def _name(keys: Keys, key: str, what: str) -> str:
    """Return a name, which YAML may take for a number."""
    entry = keys.required(key, what)
    name = str(entry.scalar(what))
    if not 0 < len(name) <= 100 or not name.isprintable():
        raise entry.unexpected(what)
    return name


def _frame(node: Keys) -> str:
    return _name(node, 'parent_frame', 'a frame') if 'parent_frame' in node else ''
