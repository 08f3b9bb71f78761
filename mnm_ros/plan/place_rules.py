# SPDX-License-Identifier: Apache-2.0

"""
The rules by which a map decides about places: free ways, neighbours, rooms, zones and doors.

``place_maker`` makes a graph by these rules, and ``place_edits`` keeps to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
import math

from mnm_ros.driving.occupancy import Point
from mnm_ros.places.place_graph import Edge, MOST_ZONE, PlaceGraph
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.layout import Layout
from mnm_ros.plan.rooms import Line
import numpy as np
from numpy.typing import NDArray

LEAST_ZONE = 0.05
"""The smallest radius in m of a zone."""


@dataclass(frozen=True)
class PlaceRules:
    """
    The rules of one map and one robot.

    :ivar plan: the map, home, rooms, doors and keep-outs; without cells.
    :ivar layout: on the map by which is driven.
    """

    plan: Plan
    layout: Layout
    _free: dict[Line, bool] = field(default_factory=dict, repr=False)    # of ways met so far

    def is_free(self, point: Point) -> bool:
        """Whether the robot may be at a point."""
        return self._are_free([(point, point)])[0]

    def blocked(self, graph: PlaceGraph) -> list[Edge]:
        """Return the edges whose straight way is not free."""
        free = self._are_free([_line(graph, edge) for edge in graph.edges])
        return [edge for edge, each in zip(graph.edges, free) if not each]

    def _are_free(self, ways: Sequence[Line]) -> list[bool]:
        """Return which straight ways are free; most of a graph stay as they are by an edit."""
        new = [way for way in dict.fromkeys(ways) if way not in self._free]
        if new:
            self._free.update(zip(new, self.layout.free(new).tolist()))
        return [self._free[way] for way in ways]

    def neighbours(self, point: Point, graph: PlaceGraph) -> list[int]:
        """Return the places to which a further place at a point is joined."""
        numbers = [*graph.places]
        return [numbers[index] for index in self.layout.neighbours(
            point, [(place.x, place.y) for place in graph.places.values()])]

    def followed(self, graph: PlaceGraph, before: PlaceGraph | None = None) -> PlaceGraph:
        """
        Return a graph with the zones and doors that follow from where its places are.

        :param before: the graph before a change: a zone or a door that did not follow there was
            set by a person, and stays.
        """
        zones, doors = self._zones(graph), self._doors(graph)
        if before is not None:
            zones.update((number, before.places[number].zone)
                         for number, zone in self._zones(before).items()
                         if number in zones and before.places[number].zone != zone)
            ruled = self._doors(before)
            doors.update((_key(edge), edge.door) for edge in before.edges
                         if edge.door != ruled[_key(edge)])
        return replace(
            graph, places={number: replace(place, zone=zones[number])
                           for number, place in graph.places.items()},
            edges=tuple(replace(edge, door=doors[_key(edge)]) for edge in graph.edges))

    def _zones(self, graph: PlaceGraph) -> dict[int, float | None]:
        """Return zones that end before walls and before the middle of each edge."""
        points = [(place.x, place.y) for place in graph.places.values()]
        found = dict(zip(graph.places, self.layout.clearance(points).tolist()))
        for edge in graph.edges:
            if edge.start != edge.end:
                for end in (edge.start, edge.end):
                    found[end] = min(found[end], graph.length(edge) / 2)
        return {number: max(LEAST_ZONE, math.floor(100 * min(zone, MOST_ZONE)) / 100)
                for number, zone in found.items()}

    def _doors(self, graph: PlaceGraph) -> dict[tuple[str, int, int], str]:
        """Return the door through which each edge leads, empty for none."""
        ends = np.reshape([_line(graph, edge) for edge in graph.edges], (-1, 2, 2))
        return dict(zip(map(_key, graph.edges), doors_of(self.plan.doors, ends)))


def doors_of(doors: Mapping[str, Line], ends: NDArray[np.float64]) -> list[str]:
    """Return the door through which each way leads, empty for none; shape (ways, 2, 2)."""
    found = np.full(len(ends), '', object)
    for name, line in doors.items():
        left, right = np.array(line)
        on_sides = [_side(ends[:, end], left, right) for end in (0, 1)]
        across = [_side(point, ends[:, 0], ends[:, 1]) for point in (left, right)]
        found[(on_sides[0] != on_sides[1]) & (across[0] != across[1])] = name
    return [str(name) for name in found]


def _side(points: NDArray[np.float64], start: NDArray[np.float64],
          end: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return on which side of straight lines points are."""
    way, to_point = end - start, points - start
    return np.asarray(way[..., 0] * to_point[..., 1] - way[..., 1] * to_point[..., 0] >= 0)


def _line(graph: PlaceGraph, edge: Edge) -> Line:
    """Return the straight way of an edge; it is the same one in both directions."""
    one, other = (graph.places[end] for end in sorted((edge.start, edge.end)))
    return (one.x, one.y), (other.x, other.y)


def _key(edge: Edge) -> tuple[str, int, int]:
    return edge.key, edge.start, edge.end
