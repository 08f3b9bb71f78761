# SPDX-License-Identifier: Apache-2.0

"""
Write which lanes of an Open-RMF graph are closed, as a request to a fleet adapter.

The text is YAML of a ``rmf_fleet_msgs/msg/LaneRequest``. A fleet adapter hears such a request on
``lane_closure_requests`` and publishes the lanes that are closed then on ``closed_lanes``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from mnm_ros.core.errors import ExportError
from mnm_ros.core.knowledge.knowledge import Counts, Transition
from mnm_ros.export.closures import Closures, may_close
from mnm_ros.export.contents import ExportContents
from mnm_ros.export.route_graphs import RouteGraph
from mnm_ros.places.place_graph import Edge, PlaceGraph
from mnm_ros.places.rmf_lanes import REQUESTS


@dataclass(frozen=True)
class FleetLanes:
    """
    The lanes of a graph that a fleet of Open-RMF uses.

    :param fleet: its name, as its fleet adapter has it.
    :raises ExportError: if that is no name, or if the graph is none of Open-RMF.
    """

    graph: RouteGraph
    fleet: str

    def __post_init__(self) -> None:
        name, given = self.fleet, self._given
        if not name or name != name.strip() or not name.isprintable():
            raise ExportError(f'--fleet is {name!r}, expected the name of a fleet of Open-RMF, '
                              'printable and without spaces at its ends')
        if not any(edge.lanes for edge in given.edges):
            raise ExportError(f'{given.path} has no lanes, expected a navigation graph or a '
                              'building file of Open-RMF')

    @classmethod
    def of(cls, learnt: ExportContents, given: PlaceGraph, fleet: str) -> FleetLanes:
        """
        Return the lanes of a graph with what was learnt of them.

        :raises ExportError: also if another graph was explored, as ``RouteGraph.of`` says.
        """
        return cls(RouteGraph.of(learnt, given), fleet)

    @cached_property
    def closed(self) -> frozenset[Transition]:
        """Return the edges that are closed by what was learnt up to now."""
        return frozenset(Closures.now(self.graph).closed)

    @property
    def _given(self) -> PlaceGraph:
        assert self.graph.given is not None
        return self.graph.given

    @cached_property
    def _edges(self) -> dict[Transition, Edge]:
        return {each: self._given.outgoing(each.state)[each.action]
                for each in may_close(self.graph)}

    def numbers(self, edge: Transition) -> tuple[int, ...]:
        """Return the numbers of the lanes along an edge; none if a fleet adapter has none."""
        return self._edges[edge].lanes

    def within(self, lanes: Collection[int]) -> list[Transition]:
        """Return the edges of which all lanes are among some."""
        return [edge for edge, found in self._edges.items()
                if found.lanes and {*found.lanes} <= {*lanes}]

    def text(self, closed: Iterable[Transition], counts: Counts | None = None) -> str:
        """
        Return the request to close the lanes of some edges, with a comment for each lane.

        :param counts: to say, too, how often an edge has arrived; None if they may be old.
        """
        import yaml
        lines = sorted((lane, self._in_words(edge, counts)) for edge in closed
                       for lane in self.numbers(edge))
        name = yaml.safe_dump({'fleet_name': self.fleet}, allow_unicode=True).strip()
        return '\n'.join([
            f'# Closed lanes of {self._given.path.name}: a rmf_fleet_msgs/msg/LaneRequest for '
            f'{REQUESTS}', name, 'open_lanes: []',
            *(['close_lanes:', *(f'- {lane}    # {words}' for lane, words in lines)]
              if lines else ['close_lanes: []']), ''])

    def _in_words(self, edge: Transition, counts: Counts | None) -> str:
        said, level = self.graph.learnt.description, self._given.places[edge.state].level
        text = (f'{level}: ' if level else '') + (
            f'{said.label(edge.state)} {said.action_name(edge.action, edge.state)}')
        if counts is not None:
            ends = counts.get(edge.state, {}).get(edge.action, {})
            text += f', arrived {ends.get(edge.following, 0)} of {sum(ends.values())} times'
        return ' '.join(text.split())

    @property
    def request(self) -> bytes:
        """Return the request to close the lanes that are closed now."""
        return self.text(self.closed, self.graph.learnt.knowledge.counts).encode()

    @property
    def warnings(self) -> list[str]:
        """Return a sentence if some closed edges have no lanes, with their names."""
        missing = [each.key for edge, each in self._edges.items()
                   if edge in self.closed and not each.lanes]
        return [f'{self._given.path}: closed, but without a lane whose number is known: '
                f'{", ".join(missing)}; expected a navigation graph with two lanes instead of '
                'is_bidirectional, and with one lift at most'] if missing else []
