# SPDX-License-Identifier: Apache-2.0

"""An open floor around the places of a route graph, as a world for ``diff_drive_sim``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from math import ceil, dist, floor
from typing import ClassVar

from mnm_ros.driving.grid import Grid
from mnm_ros.driving.pose import Pose
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.places.zones import to_lines
from mnm_ros.simulation.route_scenario import RouteWorld
from mnm_ros.simulation.scenario import of_graph, Scenario
from mnm_ros.simulation.world import Cell, World
import numpy as np

_CELL = 0.4      # m
_MARGIN = 2.0    # m, around the places
_CLEAR = 0.6     # m, from the middle of a crate to what it must not close
_PARTS = 40      # of a passage, between which a crate may stand


@dataclass(frozen=True)
class GraphWorld(World):
    """
    A floor without walls; the robot starts at home.

    In the second setting a crate closes the passage that ``RouteWorld`` closes, if it can stand
    where it closes no other one.

    :ivar route: the graph, in which places at one position are one.
    :ivar origin: the lower left corner.
    """

    kind: ClassVar[str] = 'graph'
    driver: ClassVar[str] = 'route_driver'
    route: RouteWorld = field(kw_only=True)
    origin: Pose = field(kw_only=True)

    @classmethod
    def of(cls, graph: PlaceGraph) -> GraphWorld:
        """Return the world of a graph."""
        graph = graph.merged
        route, places = RouteWorld(graph), graph.places.values()
        x, y = min(place.x for place in places), min(place.y for place in places)
        origin = Pose(floor(x - _MARGIN), floor(y - _MARGIN), 0.0)
        size = (ceil((max(place.x for place in places) + _MARGIN - origin.x) / _CELL),
                ceil((max(place.y for place in places) + _MARGIN - origin.y) / _CELL))
        world = cls(
            graph.path.name.partition('.')[0], _CELL, size, (0, 0), frozenset(), {}, ({},),
            graph.path, coarser=Grid(origin.x, origin.y, _CELL, *size), route=route,
            origin=origin)
        world = replace(world, home=world._cell(*world.home_pose[:2]))
        crate = next(world._crates(), None)
        return world if crate is None else replace(
            world, doors={'crate': frozenset({crate})},
            settings=({'crate': True}, {'crate': False}))

    def _crates(self) -> Iterator[Cell]:
        """Yield where a crate closes nothing but the passage, the nearest to its middle first."""
        route, graph = self.route, self.route.graph
        if not route.closing:
            return
        at = {number: (place.x, place.y) for number, place in graph.places.items()}
        ends = (x, y), (end_x, end_y) = tuple(at[place] for place in min(route.closing))
        ways = [(at[edge.start], at[edge.end]) for edge in graph.edges]
        others = np.array([way for way in ways if {*way} != {*ends}] or np.empty((0, 2, 2)))
        for number in sorted(range(1, _PARTS), key=lambda number: abs(number - _PARTS / 2)):
            part = number / _PARTS
            cell = self._cell(x + part * (end_x - x), y + part * (end_y - y))
            middle = self.centre(cell)
            if min(dist(middle, (x, y)), dist(middle, (end_x, end_y)), *to_lines(
                    np.array([middle]), others[:, 0], others[:, 1])) >= _CLEAR:
                yield cell

    def scenario(self) -> Scenario:
        """Return it as ``route_driver`` sees it; an edge that is open may yet fail."""
        found = of_graph(self.route)
        return replace(found, settings=found.settings[:len(self.settings)])

    @property
    def home_pose(self) -> Pose:
        home = self.route.graph.places[self.route.home]
        return Pose(home.x, home.y, 0.0)

    @property
    def corner(self) -> Pose:
        return self.origin

    def local(self, pose: Pose) -> Pose:
        return Pose(pose.x - self.origin.x, pose.y - self.origin.y, pose.yaw)

    def centre(self, cell: Cell) -> tuple[float, float]:
        x, y = super().centre(cell)
        return x + self.origin.x, y + self.origin.y

    def is_free(self, x: float, y: float, radius: float, closed: Collection[Cell]) -> bool:
        return super().is_free(x - self.origin.x, y - self.origin.y, radius, closed)

    def _cell(self, x: float, y: float) -> Cell:
        return (floor((x - self.origin.x) / self.cell_size),
                floor((y - self.origin.y) / self.cell_size))
