# SPDX-License-Identifier: Apache-2.0

"""
The knowledge as a graph of places, for programs that plan routes over one.

A node is a known state with a place; the edges are those of ``mnm_ros/export/direct_edges.py``, of
``class`` ``policy`` where a policy plays the action on its way from home, else ``tested``.
``expected_steps`` are the executions for each arrival, and ``expected_seconds`` what these take if
each is as long as a step usually is on the way from home to its end. What is proven is of ways
from home, and stands at the nodes: ``at_most_steps``.

- ``nav2_route``: GeoJSON for nav2's route server, as
  ``nav2_route/src/plugins/graph_file_loaders/geojson_graph_file_loader.cpp`` in
  ros-navigation/navigation2 reads it. Ids are unsigned, and services of nav2 carry them in 16 bit.
  A figure has to be written with a point to be a ``float`` for the plugins that score edges, which
  end on anything else; ``class`` is what ``SemanticScorer`` reads.
- ``rmf``: YAML for the fleet adapters of Open-RMF, as
  ``rmf_fleet_adapter/src/rmf_fleet_adapter/agv/parse_graph.cpp`` in open-rmf/rmf_ros2 reads it and
  ``rmf_building_map_tools/building_map/building.py`` in open-rmf/rmf_traffic_editor writes it.
  Lanes name vertices by their number, names of vertices are unique, each has its options in a map,
  and what the reader has no word for, such as the figures here, it passes over. They are written
  as ``learnt_...``, so that none is a word of a later version. Home, where RESET leads from
  everywhere, is a charger and a parking spot, which a fleet adapter does not start without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
import json
import math
from typing import Any

from mnm_ros.core.errors import ExportError
from mnm_ros.core.knowledge.knowledge import Transition
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.export.contents import ExportContents
from mnm_ros.export.direct_edges import bounds, DirectEdges, interval
from mnm_ros.places.geojson import CRS, feature, with_metadata
from mnm_ros.places.place_graph import Edge, EdgeId, PlaceGraph

_IDS = 2**16
_WIDE = 1000     # characters, so that a vertex is a line


@dataclass(frozen=True)
class RouteGraph:
    """
    Known places and the direct ways between them.

    :ivar nodes: states, home first if it has a place.
    :ivar edges: one for a pair of nodes at most; of a graph from a file those that have once
        arrived.
    :ivar played: the states and actions that policies use, among those of the edges.
    :ivar given: the graph that was explored, if what was learnt is written at its edges.
    """

    learnt: ExportContents
    nodes: tuple[int, ...]
    edges: tuple[Transition, ...]
    played: frozenset[Pair]
    given: PlaceGraph | None = None

    @classmethod
    def of(cls, learnt: ExportContents, given: PlaceGraph | None = None) -> RouteGraph:
        """
        Return the graph of what was learnt.

        :param given: all its places are nodes then, and no hypothesis is needed.
        :raises ExportError: if there are no policies, if it has no nodes or no edges, or if
            another graph than ``given`` was explored.
        """
        known = learnt.knowledge
        if given is not None:
            return cls._of_given(learnt, _explored(learnt, given))
        if not known.known:
            raise ExportError(f'{learnt.source} has no hypothesis yet, expected known states')
        if not known.policies:
            raise ExportError(f'{learnt.source} has too many policies to tell all of them, '
                              'expected --from with a checkpoint')
        places = learnt.description.positions
        nodes = tuple(state for state in known.known if state in places)
        if not nodes:
            raise ExportError(
                f'none of {len(known.known)} known states has a place, expected x and y of '
                'states in what the robot side says on robot_side (with --from: in the '
                '*.robot_side.json beside the file)')
        direct = DirectEdges.of(known, {*nodes})
        if not direct.edges:
            raise ExportError(
                f'no action leads from one of {len(nodes)} known places to another, '
                'expected two places that follow each other')
        return cls(learnt, nodes, direct.edges, direct.played)

    @classmethod
    def _of_given(cls, learnt: ExportContents, given: PlaceGraph) -> RouteGraph:
        known = learnt.knowledge
        edges = tuple(leg for edge, action in given.actions_of.items()
                      for leg in known.after(edge.start, action) if leg.following == edge.end)
        if not edges:
            raise ExportError(f'no edge of {given.path} has led to its end yet')
        return cls(learnt, tuple(given.places), edges, DirectEdges.of(known, known.known).played,
                   given)

    def node_figures(self, state: int) -> dict[str, Any]:
        """Return what is known of the way from home to a node."""
        told = self.learnt.knowledge.trust.get(state)
        return _known({
            'state': str(state), 'name': self.learnt.description.names.get(state),
            'trust': told and told.trust.value,
            'expected_steps': self.learnt.knowledge.steps_to(state),
            'at_most_steps': told and told.at_most_steps,
            'expected_seconds': told and told.expected_seconds})

    def edge_figures(self, edge: Transition) -> dict[str, Any]:
        """Return what is known of an edge."""
        told, steps = self.learnt.knowledge.trust.get(edge.following), 1 / edge.probability
        step = (told.expected_seconds / told.expected_steps
                if told and told.expected_seconds and told.expected_steps else None)
        least, most = bounds(edge)
        return _known({
            'action': self.learnt.description.action_name(edge.action, edge.state),
            'class': 'policy' if (edge.state, edge.action) in self.played else 'tested',
            'probability': edge.probability, 'least_probability': least,
            'most_probability': most, 'expected_steps': steps,
            'expected_seconds': step and step * steps})

    def driven(self, file: PlaceGraph) -> dict[EdgeId, dict[str, Any]]:
        """
        Return what is known of each edge of a file that was ever driven.

        Edges with one id, start and end cannot be distinguished, and are left out.

        :param file: the explored graph, perhaps with several places at a position.
        """
        assert self.given is not None
        merged = {} if file is self.given else {
            (edge.start, edge.end): edge for edge in self.given.edges}
        ids, found = Counter(edge.id for edge in file.edges), dict[EdgeId, dict[str, Any]]()
        for edge in file.edges:
            explored = merged.get((file.first[edge.start], file.first[edge.end]), edge)
            action = self.given.actions_of.get(explored)
            figures = self._figures_of(explored, action) if (
                action is not None and ids[edge.id] == 1) else {}
            if figures:
                found[edge.id] = figures
        return found

    def _figures_of(self, edge: Edge, action: int) -> dict[str, Any]:
        legs = {leg.following: leg for leg in self.learnt.knowledge.after(edge.start, action)}
        if edge.end in legs:
            return self.edge_figures(legs[edge.end])
        times = sum(leg.times for leg in legs.values())
        return _known({
            'action': self.learnt.description.action_name(action, edge.start),
            'class': 'tested', 'probability': 0.0, 'least_probability': 0.0,
            'most_probability': interval(0, times)[1],
            'expected_steps': times + 2.0}) if times else {}    # by Laplace's rule of succession

    @property
    def warnings(self) -> list[str]:
        """Return what is not connected, as sentences with names."""
        label, first = self.learnt.description.label, self.nodes[0]
        there = _reached(first, [(edge.state, edge.following) for edge in self.edges])
        back = _reached(first, [(edge.following, edge.state) for edge in self.edges])
        return [f'no edges lead {way}: {", ".join(map(label, states))}' for way, states in (
            (f'to {label(first)} from', [state for state in self.nodes if state not in back]),
            (f'from {label(first)} to', [state for state in self.nodes if state not in there]),
        ) if states]


@dataclass(frozen=True)
class RmfFrame:
    """
    Where a graph is in a building of Open-RMF.

    :ivar transform: x and y of the robot's origin in m, the rotation of its axes in radians, and
        the length of its metre, in the coordinates of RMF.
    """

    level: str = 'L1'    # the name of the map, to which the fleet adapter is set
    building: str = 'learnt'
    transform: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """
        Check the figures.

        :raises ExportError: if they are no transform.
        """
        if not (all(map(math.isfinite, self.transform)) and self.transform[3] > 0):
            raise ExportError(f'the transform is {self.transform}, expected x, y and a rotation '
                              'that are finite, and a scale above 0')

    def place(self, place: tuple[float, float]) -> list[float]:
        """Return x and y in RMF's coordinates."""
        x, y, rotation, scale = self.transform
        turned = complex(*place) * complex(math.cos(rotation), math.sin(rotation))
        return [round(x + scale * turned.real, 6), round(y + scale * turned.imag, 6)]


def warnings(learnt: ExportContents, given: PlaceGraph | None = None) -> list[str]:
    """Return which known states are left out, or not connected, as sentences with names."""
    if given is not None:
        left = len(given.edges) - len(RouteGraph.of(learnt, given).driven(given))
        return [f'of {left} of {len(given.edges)} edges nothing is written: they were never '
                'driven, or have one id, start and end with others'] if left else []
    places = learnt.description.positions
    missing = [learnt.description.label(state) for state in learnt.knowledge.known
               if state not in places]
    return [*([f'left out, as they have no place: {", ".join(missing)}'] if missing else []),
            *RouteGraph.of(learnt).warnings]


def nav2_route(learnt: ExportContents, given: PlaceGraph | None = None) -> bytes:
    """Return the graph for nav2's route server, or a graph from a file with what was learnt."""
    graph = RouteGraph.of(learnt, given)
    if given is not None:
        known, explored = {*learnt.knowledge.known}, graph.given or given
        return with_metadata(given.path, {
            place: graph.node_figures(state) for place, first in given.first.items()
            if (state := place if explored is given else first) in known},
            graph.driven(given)).encode()
    places, frame = learnt.description.positions, learnt.description.frame
    ids = _node_ids(graph)
    features = [feature('Point', places[state], {
        'id': ids[state], **({'frame': frame} if frame else {}),
        'metadata': graph.node_figures(state)}) for state in graph.nodes]
    for edge, number in edge_ids(graph).items():
        figures, line = graph.edge_figures(edge), [places[edge.state], places[edge.following]]
        features.append(feature('MultiLineString', [line], {
            'id': number, 'startid': ids[edge.state], 'endid': ids[edge.following],
            'cost': figures['expected_steps'], 'overridable': True, 'metadata': figures}))
    text = json.dumps({
        'type': 'FeatureCollection', 'name': 'learnt', 'crs': CRS, 'features': features},
        indent=1, ensure_ascii=False)
    return f'{text}\n'.encode()


def rmf(learnt: ExportContents, frame: RmfFrame = RmfFrame()) -> bytes:
    """Return the graph for a fleet adapter of Open-RMF, on one level."""
    import yaml
    graph, described = RouteGraph.of(learnt), learnt.description
    numbers = {state: number for number, state in enumerate(graph.nodes)}
    names: list[str] = []
    for state in graph.nodes:
        name = described.names.get(state, str(state))
        while name in names:
            name += f' ({state})'
        names.append(name)
    places = {state: frame.place(described.positions[state]) for state in graph.nodes}
    at_home = {'is_charger': True, 'is_parking_spot': True}
    vertices = [[*places[state], {
        'name': name, **(at_home if state == learnt.knowledge.home else {}),
        **_learnt(graph.node_figures(state))}] for state, name in zip(graph.nodes, names)]
    lanes = []
    for edge in graph.edges:
        figures = graph.edge_figures(edge)
        length = math.dist(places[edge.state], places[edge.following])
        lanes.append([numbers[edge.state], numbers[edge.following], {
            **_speed(length, figures.get('expected_seconds')), **_learnt(figures)}])
    text: str = yaml.safe_dump({
        'building_name': frame.building,
        'levels': {frame.level: {'lanes': lanes, 'vertices': vertices}},
        'lifts': {}}, allow_unicode=True, default_flow_style=None, width=_WIDE)
    return text.encode()


def _speed(length: float, seconds: float | None) -> dict[str, float]:
    """Return the limit (m/s) with which a planner of RMF expects the time that was learnt."""
    return {'speed_limit': round(length / seconds, 6)} if seconds and length else {}


def _learnt(figures: dict[str, Any]) -> dict[str, Any]:
    return {f'learnt_{name}': value for name, value in figures.items() if name != 'name'}


def edge_ids(graph: RouteGraph,
             edges: Iterable[Transition] | None = None) -> dict[Transition, int]:
    """
    Return the ids of edges for nav2.

    They are those of a graph from a file. Else, where they fit below those of nodes, they are
    counted from the highest down, by state and action: an edge that is written again has the same
    id.

    :param edges: of the file, if they are not those of the graph itself.
    """
    if graph.given is not None:
        return {edge: int(graph.given.outgoing(edge.state)[edge.action].key)
                for edge in (graph.edges if edges is None else edges)}
    if _fits(graph):
        return {edge: _IDS - 1 - edge.state * _actions(graph) - edge.action
                for edge in graph.edges}
    return {edge: number for number, edge in enumerate(graph.edges, len(graph.nodes))}


def _node_ids(graph: RouteGraph) -> dict[int, int]:
    """Return the ids of nodes: their states, or else their numbers."""
    return {state: state if _fits(graph) else number for number, state in enumerate(graph.nodes)}


def _fits(graph: RouteGraph) -> bool:
    """Return whether nav2 can carry states, and states with actions, as ids."""
    most = max(graph.nodes)
    return 0 <= min(graph.nodes) and most < _IDS - (most + 1) * _actions(graph)


def _explored(learnt: ExportContents, given: PlaceGraph) -> PlaceGraph:
    """
    Return the graph, or with one place at each position, as it was explored.

    :raises ExportError: if it is another one than that which was explored.
    """
    other = _difference(learnt, given)
    if not other:
        return given
    if not _difference(learnt, given.merged):
        return given.merged
    raise ExportError(f'{given.path}: {other}; expected the graph that was explored')


def _difference(learnt: ExportContents, given: PlaceGraph) -> str:
    """Return in what a place that was seen differs from that of the graph; '' if in nothing."""
    for state, actions in learnt.knowledge.counts.items():
        if {*actions} <= {RESET}:
            continue    # as outside of all places
        explored = learnt.description.moves.get(state)
        if state not in given.places or explored != given.moves(state):
            led = 'nowhere that is known' if not explored else ', '.join(explored)
            leads = ', '.join(given.moves(state)) if state in given.places else 'not there'
            return (f'edges of {learnt.description.label(state)} are {leads}, and led {led} when '
                    'it was explored')
    return ''


def _actions(graph: RouteGraph) -> int:
    return max(len(graph.learnt.description.actions), *(edge.action + 1 for edge in graph.edges))


def _known(figures: dict[str, Any]) -> dict[str, Any]:
    """Return what is not None, numbers as floats of a sensible length."""
    return {name: value if isinstance(value, str) else round(float(value), 6)
            for name, value in figures.items() if value is not None}


def _reached(first: int, ways: Collection[tuple[int, int]]) -> set[int]:
    """Return where ways lead from a node, that included."""
    after: dict[int, list[int]] = {}
    for start, end in ways:
        after.setdefault(start, []).append(end)
    found, open_ones = {first}, [first]
    while open_ones:
        new = {*after.get(open_ones.pop(), ())} - found
        found |= new
        open_ones += new
    return found
