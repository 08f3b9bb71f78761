# SPDX-License-Identifier: Apache-2.0

"""
Reads and writes GeoJSON for nav2's route server.

A feature of type ``Point`` is a node, one of type ``LineString`` or ``MultiLineString`` an edge;
others are passed over. The reader of nav2 is
``nav2_route/src/plugins/graph_file_loaders/geojson_graph_file_loader.cpp`` in
ros-navigation/navigation2. It knows no names: ``name`` of a node's properties, and of the metadata
of a node ``name``, ``room``, ``zone`` (m) and ``home``, of an edge ``door``, are for this package.
One that another program uses for something else is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
import json
import math
from pathlib import Path
from typing import Any

from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.core.progress.json_values import load
from mnm_ros.files import read_regular
from mnm_ros.located_yaml import MOST_BYTES
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.robot_description import FARTHEST

CRS = {'type': 'name', 'properties': {'name': 'urn:ogc:def:crs:EPSG::3857'}}
"""The coordinate system that graphs of nav2 name."""

_LINES = ('LineString', 'MultiLineString')
_IDS = range(2**32)    # unsigned int of nav2


def read_geojson(path: Path) -> PlaceGraph:
    """
    Return the graph of a file.

    :raises FileError: with the file, the feature and its id, and what was expected.
    """
    places: dict[int, Place] = {}
    edges: list[Edge] = []
    frames: dict[str, int] = {}    # with the first node of each
    for index, feature in enumerate(_collection(path)['features']):
        where = f'{path}: feature {index}'
        kind = _object(_object(feature, where).get('geometry'), f'{where}: geometry').get('type')
        if kind != 'Point' and kind not in _LINES:
            continue
        properties = _object(feature.get('properties'), f'{where}: properties')
        number = _id(properties, 'id', where)
        if kind in _LINES:
            where = f'{where} (edge {number})'
            edges.append(Edge(str(number), _id(properties, 'startid', where),
                              _id(properties, 'endid', where), _text(properties, 'door')))
            continue
        if number in places:
            raise FileError(f'{where}: node {number} is there already, expected it once')
        where = f'{where} (node {number})'
        places[number] = Place(
            *_point(feature['geometry'], where), _text(properties, 'name'),
            _zone(properties, where), room=_text(properties, 'room'),
            home=_metadata(properties).get('home') is True)
        frames.setdefault(str(properties.get('frame', '')), number)
    homes = [number for number, place in places.items() if place.home]
    if len(homes) > 1:
        raise FileError(f'{path}: nodes {homes[0]} and {homes[1]} both are home, expected one')
    if len(frames) > 1:
        (one, first), (other, second), *_ = frames.items()
        raise FileError(f"{path}: node {first} is in the frame '{one}' and node {second} in "
                        f"'{other}', expected the same frame for all")
    return PlaceGraph(path, places, tuple(edges), next(iter(frames), ''))


def with_metadata(path: Path, nodes: Mapping[int, Mapping[str, Any]],
                  edges: Mapping[int, Mapping[str, Any]]) -> str:
    """
    Return the text of a file with more in the metadata of nodes and edges, by their ids.

    :raises FileError: as ``read_geojson`` does.
    """
    collection = _collection(path)
    for feature in collection['features']:
        kind = feature['geometry'].get('type')
        properties, more = feature['properties'], nodes if kind == 'Point' else edges
        if kind in ('Point', *_LINES) and more.get(properties['id']):
            properties['metadata'] = {**_metadata(properties), **more[properties['id']]}
    return json.dumps(collection, indent=1, ensure_ascii=False) + '\n'


def _collection(path: Path) -> Mapping[str, Any]:
    try:
        found = load(str(path), read_regular(path, 'GeoJSON', MOST_BYTES).decode())
    except UnicodeDecodeError as error:
        raise FileError(f'{path}: byte {error.start} is no UTF-8, expected a GeoJSON '
                        'file') from None
    except InvalidValueError as error:
        raise error if isinstance(error, FileError) else FileError(str(error)) from None
    collection = _object(found, str(path))
    features = collection.get('features')
    if not isinstance(features, list):
        raise FileError(f'{path}: features is {_shown(features)}, expected a list')
    return collection


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FileError(f'{what} is {_shown(value)}, expected a JSON object')
    return value


def _id(properties: Mapping[str, Any], name: str, where: str) -> int:
    value = properties.get(name)
    if type(value) is not int or value not in _IDS:
        raise FileError(f'{where}: {name} is {_shown(value)}, expected an integer from 0 to '
                        f'{_IDS[-1]}')
    return value


def _point(geometry: Mapping[str, Any], where: str) -> tuple[float, float]:
    found = geometry.get('coordinates')
    if not isinstance(found, list) or len(found) < 2 or not all(
            type(number) in (int, float) and math.isfinite(number) and abs(number) < FARTHEST
            for number in found[:2]):
        raise FileError(f'{where}: coordinates is {_shown(found)}, expected [x, y] in m')
    return float(found[0]), float(found[1])


def _metadata(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    found = properties.get('metadata')
    return found if isinstance(found, dict) else {}


def _text(properties: Mapping[str, Any], key: str) -> str:
    """Return a text of a node or an edge, empty if it has none that people could read."""
    for entries in (properties, _metadata(properties)):
        text = entries.get(key)
        if isinstance(text, str) and text.isprintable() and 0 < len(text) <= 100:
            return text
    return ''


def _zone(properties: Mapping[str, Any], where: str) -> float | None:
    zone: Any = _metadata(properties).get('zone')
    if type(zone) not in (int, float):
        return None
    if not 0 < zone <= FARTHEST:
        raise FileError(f'{where}: zone is {_shown(zone)}, expected a radius in m above 0')
    return float(zone)


def _shown(value: Any) -> str:
    return 'missing' if value is None else repr(value)[:60]


def geojson(graph: PlaceGraph) -> str:
    """
    Return the text of a file that ``read_geojson`` and nav2's route server read.

    :param graph: with edges whose keys are numbers.
    """
    features = [feature('Point', [place.x, place.y], {
        'id': number, **({'frame': graph.frame} if graph.frame else {}), 'metadata': {
            **{key: value for key, value in (('name', place.name), ('room', place.room),
                                             ('zone', place.zone)) if value},
            **({'home': True} if place.home else {})}})
        for number, place in graph.places.items()]
    for edge in graph.edges:
        ends = [[place.x, place.y] for place in (graph.places[edge.start], graph.places[edge.end])]
        features.append(feature('MultiLineString', [ends], {
            'id': int(edge.key), 'startid': edge.start, 'endid': edge.end,
            **({'metadata': {'door': edge.door}} if edge.door else {})}))
    lines = ',\n'.join(json.dumps(each, ensure_ascii=False) for each in features)
    return (f'{{"type": "FeatureCollection", "name": {json.dumps(graph.path.stem)},\n"crs": '
            f'{json.dumps(CRS)},\n"features": [\n{lines}\n]}}\n')


def feature(kind: str, coordinates: object,
            properties: Mapping[str, object]) -> dict[str, object]:
    """Return a feature with a geometry of some kind."""
    return {'type': 'Feature', 'properties': properties,
            'geometry': {'type': kind, 'coordinates': coordinates}}
