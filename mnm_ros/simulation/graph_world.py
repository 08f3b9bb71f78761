# SPDX-License-Identifier: Apache-2.0

"""The floor around the places of a route graph, as a world for ``diff_drive_sim``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import ceil, dist, floor
from pathlib import Path
from typing import ClassVar

from mnm_ros.driving.grid import Grid
from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.driving.pose import Pose
from mnm_ros.places.on_map import check_on_map
from mnm_ros.places.place_graph import Place, PlaceGraph
from mnm_ros.places.zones import to_lines
from mnm_ros.plan.nav2_map import load
from mnm_ros.plan.specks import without_unknown_specks
from mnm_ros.simulation.map_world import MapWorld, seen_walls
from mnm_ros.simulation.route_scenario import passage, RouteWorld
from mnm_ros.simulation.scenario import of_graph, Scenario
from mnm_ros.simulation.world import Cell
import numpy as np

_PIXEL = 0.1     # m, of an open floor
_MARGIN = 2.0    # m, of it around the places
_ROOM = 0.4      # m, into which a robot has to fit
_CRATE = 0.4     # m, its side
_CLEAR = 0.6     # m, from the middle of a crate to what it must not close
_PARTS = 40      # of a passage, between which a crate may stand


@dataclass(frozen=True)
class GraphWorld(MapWorld):
    """
    The map on which a graph was made, or an open floor; the robot starts at home.

    In the second setting a crate closes the passage that ``RouteWorld`` closes, if it can stand
    where it closes no other one. It is called as the door in the passage, or as the passage.

    :ivar route: the graph, in which places at one position are one.
    :ivar map_file: of the map; None on an open floor.
    :ivar remarks: what a person should know about the graph on the map, as sentences.
    """

    kind: ClassVar[str] = 'graph'
    driver: ClassVar[str] = 'route_driver'
    route: RouteWorld = field(kw_only=True)
    map_file: Path | None = field(kw_only=True)
    remarks: tuple[str, ...] = field(kw_only=True)

    @classmethod
    def of(cls, graph: PlaceGraph, map_file: Path | None = None) -> GraphWorld:
        """
        Return the world of a graph.

        :raises FileError: if the map cannot be read, or is one of another place, or there are
            several levels.
        """
        graph.check_one_level()
        route = RouteWorld(graph)
        graph = route.graph
        at = _position(graph.places[graph.home])
        map_ = without_unknown_specks(load(map_file))[0] if map_file else _open_floor(graph)
        remarks = check_on_map(graph, graph.home, map_, map_file)
        crates = ((both, crate) for both in route.closable()
                  for crate in _crates(graph, map_, min(both)))
        closing, crate = next(crates, (frozenset[tuple[int, int]](), frozenset[Cell]()))
        doors = [edge.door for edge in graph.edges if (edge.start, edge.end) in closing]
        ends = (graph.describe(graph.home).place(end) for end in min(closing, default=()))
        door = next(filter(None, doors), '') or passage(*ends) if closing else ''
        home = np.floor(map_.pixels([at])[0]).astype(int).tolist()
        return cls(
            graph.path.name.partition('.')[0], map_.resolution, (map_.width, map_.height),
            (home[0], home[1]), seen_walls(map_), {door: crate} if door else {},
            ({door: True}, {door: False}) if door else ({},), graph.path,
            coarser=Grid(map_.origin.x, map_.origin.y, _ROOM, 1, 1), map=map_,
            route=RouteWorld(graph, closing), map_file=map_file, remarks=remarks)

    def scenario(self) -> Scenario:
        """Return it as ``route_driver`` sees it; an edge that is open may yet fail."""
        found = of_graph(self.route)
        return replace(found, settings=found.settings[:len(self.settings)],
                       warnings=(*found.warnings, *self.remarks))

    @property
    def home_pose(self) -> Pose:
        return Pose(*_position(self.route.graph.places[self.route.home]), 0.0)


def _position(place: Place) -> Point:
    return place.x, place.y


def _open_floor(graph: PlaceGraph) -> Map:
    """Return a map without walls around the places of a graph."""
    at = np.array([_position(place) for place in graph.places.values()])
    x, y = (float(floor(low)) for low in at.min(axis=0) - _MARGIN)
    columns, rows = (ceil(size / _PIXEL) for size in at.max(axis=0) + _MARGIN - (x, y))
    return Map(_PIXEL, columns, rows, Pose(x, y, 0.0), np.zeros(columns * rows, np.int8))


def _crates(graph: PlaceGraph, map_: Map, passage: tuple[int, int]) -> Iterator[frozenset[Cell]]:
    """Yield where a crate closes nothing but a passage, the nearest to its middle first."""
    at = {number: _position(place) for number, place in graph.places.items()}
    ends = (x, y), (end_x, end_y) = tuple(at[place] for place in passage)
    ways = [(at[edge.start], at[edge.end]) for edge in graph.edges]
    others = np.array([way for way in ways if {*way} != {*ends}] or np.empty((0, 2, 2)))
    for number in sorted(range(1, _PARTS), key=lambda number: abs(number - _PARTS / 2)):
        part = number / _PARTS
        middle = x + part * (end_x - x), y + part * (end_y - y)
        if min(dist(middle, (x, y)), dist(middle, (end_x, end_y)), *to_lines(
                np.array([middle]), others[:, 0], others[:, 1])) >= _CLEAR:
            low, high = (np.rint(map_.pixels([middle])[0] + side * _CRATE / 2 / map_.resolution)
                         .astype(int).tolist() for side in (-1, 1))
            yield frozenset((column, row) for column in range(low[0], high[0])
                            for row in range(low[1], high[1]))
