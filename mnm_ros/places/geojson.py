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

from collections.abc import Iterable, Mapping
from dataclasses import replace
import json
import math
from pathlib import Path
from typing import Any

from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.core.model.declaration import listed
from mnm_ros.core.progress.json_values import load
from mnm_ros.description_entries import FARTHEST
from mnm_ros.files import read_regular
from mnm_ros.language import FilePhraseError, Phrase
from mnm_ros.located_yaml import MOST_BYTES
from mnm_ros.places.place_graph import check_size, Edge, EdgeId, Place, PlaceGraph

CRS = {'type': 'name', 'properties': {'name': 'urn:ogc:def:crs:EPSG::3857'}}
"""The coordinate system that graphs of nav2 name."""

_LINES = ('LineString', 'MultiLineString')
_IDS = range(2**32)    # unsigned int of nav2
_LONGEST = 100         # characters of a name
_NAMED = 5             # nodes and edges of a remark


def read_geojson(path: Path) -> PlaceGraph:
    """
    Return the graph of a file.

    :raises FileError: with the file, the feature and its id, and what was expected.
    """
    places: dict[int, Place] = {}
    edges: list[Edge] = []
    frames: dict[str, int] = {}    # with the first node of each
    unusable: list[str] = []       # nodes and edges of which a text cannot be used
    features = _collection(path)['features']
    check_size(path, sum(map(_is_node, features)))
    for index, feature in enumerate(features):
        where = f'{path}: feature {index}'
        kind = _object(_object(feature, where).get('geometry'), f'{where}: geometry').get('type')
        if kind != 'Point' and kind not in _LINES:
            continue
        properties = _object(feature.get('properties'), f'{where}: properties')
        number = _id(properties, 'id', where)
        if kind in _LINES:
            where = f'{where} (edge {number})'
            unusable += [f'edge {number}'] * _is_unusable(properties, 'door')
            edges.append(Edge(str(number), _id(properties, 'startid', where),
                              _id(properties, 'endid', where), _text(properties, 'door')))
            continue
        if number in places:
            raise FileError(f'{where}: node {number} is there already, expected it once')
        where = f'{where} (node {number})'
        unusable += [f'node {number}'] * (
            _is_unusable(properties, 'name') or _is_unusable(properties, 'room'))
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
        raise FileError(f'{path}: node {first} is in the frame {_shown(one)} and node {second} in '
                        f'{_shown(other)}, expected the same frame for all')
    remarks = (f'a name, room or door of {listed(unusable, _NAMED)} is left out, expected at most '
               f'{_LONGEST} characters that can be printed',) if unusable else ()
    return PlaceGraph(path, places, tuple(edges), next(iter(frames), ''), remarks)


def with_metadata(path: Path, nodes: Mapping[int, Mapping[str, Any]],
                  edges: Mapping[EdgeId, Mapping[str, Any]]) -> str:
    """
    Return the text of a file with more in the metadata of nodes and edges.

    :param nodes: by their ids.
    :param edges: by their ids, starts and ends, as several edges may have one id.

    :raises FileError: as ``read_geojson`` does.
    """
    collection = _collection(path)
    for feature in collection['features']:
        kind = feature['geometry'].get('type')
        if kind not in ('Point', *_LINES):
            continue
        properties = feature['properties']
        more = nodes.get(properties['id']) if kind == 'Point' else edges.get(_edge_id(properties))
        if more:
            properties['metadata'] = {**_metadata(properties), **more}
    return json.dumps(collection, indent=1, ensure_ascii=False) + '\n'


def _edge_id(properties: Mapping[str, Any]) -> EdgeId:
    return str(properties['id']), properties['startid'], properties['endid']


def _collection(path: Path) -> Mapping[str, Any]:
    try:
        # nav2 reads a file with a byte order mark, too.
        found = load(str(path), read_regular(path, 'GeoJSON', MOST_BYTES).decode('utf-8-sig'))
    except UnicodeDecodeError as error:
        raise FileError(f'{path}: byte {error.start} is no UTF-8, expected a GeoJSON '
                        'file') from None
    except InvalidValueError as error:
        raise error if isinstance(error, FileError) else FileError(str(error)) from None
    collection = _object('null' if found is None else found, str(path))
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
        raise FileError(f'{where}: coordinates is {_shown(found)}, expected [x, y] in m, '
                        f'finite and below {FARTHEST:g}')
    return float(found[0]), float(found[1])


def _metadata(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    found = properties.get('metadata')
    return found if isinstance(found, dict) else {}


def _text(properties: Mapping[str, Any], key: str) -> str:
    """Return a text of a node or an edge, empty if it has none that people could read."""
    for entries in (properties, _metadata(properties)):
        text = entries.get(key)
        if isinstance(text, str) and text.isprintable() and 0 < len(text) <= _LONGEST:
            return text
    return ''


def _is_unusable(properties: Mapping[str, Any], key: str) -> bool:
    """Return whether there is a text of which ``_text`` makes nothing."""
    return not _text(properties, key) and any(isinstance(text, str) and text for text in (
        properties.get(key), _metadata(properties).get(key)))


def _is_node(feature: Any) -> bool:
    geometry = feature.get('geometry') if isinstance(feature, dict) else None
    return isinstance(geometry, dict) and geometry.get('type') == 'Point'


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
    return _text_of({'type': 'FeatureCollection', 'name': graph.path.stem, 'crs': CRS}, [
        *(_node(graph, number) for number in graph.places),
        *(_edge(graph, edge) for edge in graph.edges)])


def edited_geojson(graph: PlaceGraph, before: PlaceGraph) -> str:
    """
    Return the text of the file of a graph after edits; all else that the file has is kept.

    :param before: the graph that the file holds.
    :raises FileError: if the file holds another one, or cannot be read.
    """
    if replace(read_geojson(graph.path), remarks=()) != replace(before, remarks=()):
        raise FilePhraseError(Phrase.of('objections.other_graph', file=str(graph.path)))
    collection = dict(_collection(graph.path))
    kept: list[Mapping[str, Any]] = []
    nodes, lines, there = {**graph.places}, _by_ends(graph), _by_ends(before)
    for each in collection.pop('features'):
        kind, properties = each['geometry'].get('type'), each.get('properties')
        if kind == 'Point':
            if nodes.pop(properties['id'], None):
                kept.append(_edited_node(each, graph, before))
        elif kind in _LINES:
            key = _edge_id(properties)
            if key in lines:
                way, was = _way(graph, lines[key]), _way(before, there[key])
                kept.append(_edited_edge(each, lines[key], there[key], way, was))
        else:
            kept.append(each)
    return _text_of(collection, [*kept, *(_node(graph, number) for number in nodes), *(
        _edge(graph, edge) for key, edge in lines.items() if key not in there)])


def _text_of(collection: Mapping[str, Any], features: Iterable[Mapping[str, Any]]) -> str:
    """Return a collection as JSON, each member and each feature in a line of its own."""
    head = ''.join(f'{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n'
                   for key, value in collection.items())
    lines = ',\n'.join(json.dumps(each, ensure_ascii=False) for each in features)
    return f'{{{head}"features": [\n{lines}\n]}}\n'


def _node(graph: PlaceGraph, number: int) -> dict[str, Any]:
    place = graph.places[number]
    return feature('Point', [place.x, place.y], {
        'id': number, **({'frame': graph.frame} if graph.frame else {}),
        'metadata': {key: value for key, value in _entries(place).items() if value}})


def _edge(graph: PlaceGraph, edge: Edge) -> dict[str, Any]:
    return feature('MultiLineString', [_way(graph, edge)], {
        'id': int(edge.key), 'startid': edge.start, 'endid': edge.end,
        **({'metadata': {'door': edge.door}} if edge.door else {})})


def _by_ends(graph: PlaceGraph) -> dict[EdgeId, Edge]:
    return {edge.id: edge for edge in graph.edges}


def _way(graph: PlaceGraph, edge: Edge) -> list[list[float]]:
    return [[place.x, place.y] for place in (graph.places[edge.start], graph.places[edge.end])]


def _entries(place: Place) -> dict[str, Any]:
    """Return what the metadata of a node have of this package."""
    return {'name': place.name, 'room': place.room, 'zone': place.zone, 'home': place.home}


def _edited_node(node: Mapping[str, Any], graph: PlaceGraph,
                 before: PlaceGraph) -> Mapping[str, Any]:
    """Return a node as it is by now, with all else that it had."""
    number = node['properties']['id']
    place, old = graph.places[number], before.places[number]
    was = _entries(old)
    node = _with_entries(node, {
        key: value for key, value in _entries(place).items() if value != was[key]})
    if (place.x, place.y) == (old.x, old.y):
        return node
    return {**node, 'geometry': {**node['geometry'], 'coordinates': [
        place.x, place.y, *node['geometry']['coordinates'][2:]]}}


def _edited_edge(line: Mapping[str, Any], edge: Edge, old: Edge, way: list[list[float]],
                 was: list[list[float]]) -> Mapping[str, Any]:
    """Return an edge as it is by now, straight if one of its ends was moved."""
    if edge.door != old.door:
        line = _with_entries(line, {'door': edge.door})
    if way == was:
        return line
    geometry = line['geometry']
    return {**line, 'geometry': {**geometry, 'coordinates': (
        way if geometry['type'] == 'LineString' else [way])}}


def _with_entries(found: Mapping[str, Any], entries: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a feature whose properties or metadata have other entries, or none for empty ones."""
    if not entries:
        return found
    properties, metadata = dict(found['properties']), dict(_metadata(found['properties']))
    for key, value in entries.items():
        where = properties if isinstance(properties.get(key), str) else metadata
        where.pop(key, None)
        if value:
            where[key] = value
    return {**found, 'properties': {**properties, 'metadata': metadata}}


def feature(kind: str, coordinates: object, properties: Mapping[str, object]) -> dict[str, Any]:
    """Return a feature with a geometry of some kind."""
    return {'type': 'Feature', 'properties': properties,
            'geometry': {'type': kind, 'coordinates': coordinates}}
