# SPDX-License-Identifier: Apache-2.0

"""
What was learnt as a graph of places, for programs that plan routes over one.

A node is a known state with a place. An edge leads from one to another where a policy, on its way
from home, plays an action that usually ends there, if it does not stay. Of several such actions it
is the one with the greatest probability. Its ``expected_steps`` are the executions for each
arrival, and its ``expected_seconds`` what these take if each is as long as a step usually is on
the way from home to its end. What is proven is of ways from home, and stands at the nodes:
``at_most_steps``.

- ``nav2_route``: GeoJSON for nav2's route server, as
  ``nav2_route/src/plugins/graph_file_loaders/geojson_graph_file_loader.cpp`` in
  ros-navigation/navigation2 reads it. Ids are unsigned, and services of nav2 carry them in 16 bit.
  A figure has to be written with a point to be a ``float`` for the plugins that score edges, which
  end on anything else.
- ``rmf``: YAML for the fleet adapters of Open-RMF, as
  ``rmf_fleet_adapter/src/rmf_fleet_adapter/agv/parse_graph.cpp`` in open-rmf/rmf_ros2 reads it and
  ``rmf_building_map_tools/building_map/building.py`` in open-rmf/rmf_traffic_editor writes it.
  Lanes name vertices by their number, names of vertices are unique, each has its options in a map,
  and what the reader has no word for, such as the figures here, it passes over. They are written
  as ``learnt_...``, so that none is a word of a later version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import json
from typing import Any

from mnm_ros.core.errors import ExportError
from mnm_ros.core.knowledge.knowledge import Knowledge, Transition
from mnm_ros.core.model.problem import RESET
from mnm_ros.export.contents import ExportContents

_IDS = 2**16
_LEVEL = 'L1'    # the name of the map, to which the fleet adapter is set
_WIDE = 1000     # characters, so that a vertex is a line


@dataclass(frozen=True)
class RouteGraph:
    """
    Known places and the direct ways between them.

    :ivar nodes: states, home first if it has a place.
    :ivar edges: one for a pair of nodes at most.
    """

    learnt: ExportContents
    nodes: tuple[int, ...]
    edges: tuple[Transition, ...]

    @classmethod
    def of(cls, learnt: ExportContents) -> RouteGraph:
        """
        Return the graph of what was learnt.

        :raises ExportError: if there are no policies, or if it has no nodes or no edges.
        """
        known = learnt.knowledge
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
        edges = tuple(edge for edge in _direct(known) if {edge.state, edge.following} <= {*nodes})
        if not edges:
            raise ExportError(
                f'no action leads from one of {len(nodes)} known places to another, '
                'expected two places that follow each other')
        return cls(learnt, nodes, edges)

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
        return _known({
            'action': self.learnt.description.action_name(edge.action),
            'probability': edge.probability, 'expected_steps': steps,
            'expected_seconds': step and step * steps})


def left_out(learnt: ExportContents) -> str:
    """Return which known states have no place and are left out, in a sentence, or nothing."""
    places = learnt.description.positions
    missing = [learnt.description.label(state) for state in learnt.knowledge.known
               if state not in places]
    return f'left out, as they have no place: {", ".join(missing)}' if missing else ''


def nav2_route(learnt: ExportContents) -> bytes:
    """Return the graph for nav2's route server."""
    graph = RouteGraph.of(learnt)
    places, frame = learnt.description.positions, learnt.description.frame
    ids = _node_ids(graph)
    features = [_feature('Point', places[state], {
        'id': ids[state], **({'frame': frame} if frame else {}),
        'metadata': graph.node_figures(state)}) for state in graph.nodes]
    for edge, number in edge_ids(graph).items():
        figures, line = graph.edge_figures(edge), [places[edge.state], places[edge.following]]
        features.append(_feature('MultiLineString', [line], {
            'id': number, 'startid': ids[edge.state], 'endid': ids[edge.following],
            'cost': figures['expected_steps'], 'overridable': True, 'metadata': figures}))
    return (json.dumps({
        'type': 'FeatureCollection', 'name': 'learnt',
        'crs': {'type': 'name', 'properties': {'name': 'urn:ogc:def:crs:EPSG::3857'}},
        'features': features}, indent=1, ensure_ascii=False) + '\n').encode()


def rmf(learnt: ExportContents) -> bytes:
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
    vertices = [[*map(float, described.positions[state]), {
        'name': name, **_learnt(graph.node_figures(state))}]
        for state, name in zip(graph.nodes, names)]
    lanes = [[numbers[edge.state], numbers[edge.following], _learnt(graph.edge_figures(edge))]
             for edge in graph.edges]
    text: str = yaml.safe_dump({
        'building_name': 'learnt', 'levels': {_LEVEL: {'lanes': lanes, 'vertices': vertices}},
        'lifts': {}}, allow_unicode=True, default_flow_style=None, width=_WIDE)
    return text.encode()


def _learnt(figures: dict[str, Any]) -> dict[str, Any]:
    return {f'learnt_{name}': value for name, value in figures.items() if name != 'name'}


def _feature(kind: str, coordinates: Any, properties: dict[str, Any]) -> dict[str, Any]:
    return {'type': 'Feature', 'properties': properties,
            'geometry': {'type': kind, 'coordinates': coordinates}}


def edge_ids(graph: RouteGraph) -> dict[Transition, int]:
    """
    Return the ids of edges for nav2.

    Where they fit below those of nodes they are counted from the highest down, by state and
    action: an edge that is written again later has the same id.
    """
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


def _actions(graph: RouteGraph) -> int:
    return max(len(graph.learnt.description.actions), *(edge.action + 1 for edge in graph.edges))


def _known(figures: dict[str, Any]) -> dict[str, Any]:
    """Return what is not None, numbers as floats of a sensible length."""
    return {name: value if isinstance(value, str) else round(float(value), 6)
            for name, value in figures.items() if value is not None}


def _direct(known: Knowledge) -> Iterator[Transition]:
    """Yield the best direct way for each pair of known states, in the order of these."""
    best: dict[tuple[int, int], Transition] = {}
    for state, action in sorted(_played(known)):
        moved = [leg for leg in known.after(state, action) if leg.following != state]
        if moved:
            usual = max(moved, key=lambda leg: leg.times)
            pair = state, usual.following
            if pair not in best or usual.probability > best[pair].probability:
                best[pair] = usual
    yield from best.values()


def _played(known: Knowledge) -> set[tuple[int, int]]:
    """Return in which states the policies play which actions on their ways from home."""
    played: set[tuple[int, int]] = set()
    for policy in (known.policies[state] for state in known.known if state in known.policies):
        assert known.home is not None
        here, seen = {known.home}, {known.home}
        for step in range(policy.horizon):
            now = {(state, action) for state in here if state != policy.target
                   and (action := policy.action(step, state)) != RESET}
            played |= now
            here = {leg.following for pair in now for leg in known.after(*pair)}
            if len(policy.actions) == 1:    # where it was before, it plays the same again
                here -= seen
                seen |= here
            if not here:
                break
    return played
