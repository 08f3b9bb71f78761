# SPDX-License-Identifier: Apache-2.0

"""A mobile robot as the robot: its state is a place of a route graph, its actions are edges."""

from __future__ import annotations

import sys
from typing import Any

from mnm_ros.core.errors import FileError, InvalidValueError, ParameterError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.driving.maneuvers import Maneuver
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.mobile.given_graph import graph_of, home_of, summary
from mnm_ros.nodes.mobile.mobile_driver import MobileDriver
from mnm_ros.nodes.mobile.movers import VelocityMover
from mnm_ros.nodes.mobile.pose_tracker import Terrain
from mnm_ros.parameters import Parameters
from mnm_ros.places.drives import EdgeMove, RouteHome, Routes, Stay
from mnm_ros.places.on_map import check_on_map, off_remark, off_told, places_off
from mnm_ros.places.zones import declaration_of, describe, ZonePlace, Zones
from mnm_ros.plan.floor_plan import Plan, walls
from mnm_ros.robot_description import RobotDescription

_LIVE = 'the map on the topic map'
_ASTRAY = 3.0    # m from all zones and edges; farther away nothing is driven


class RouteDriver(MobileDriver):
    """Drives from place to place along the edges of a route graph."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('route_driver', **node_arguments)
        graph, home = self._graph, self._tracker.home_state
        self.get_logger().info(summary(graph, home))
        ways = self._routes.towards(home, ()).values()
        seconds = max((way.length for way in ways), default=0.0) / self._given['max_speed']
        if seconds > self._given['home_timeout'] and self._home_mover is self._base_mover:
            self.get_logger().warning(
                f'the longest way home takes at least {seconds:.0f} s, expected a home_timeout '
                f'above that, not {self._given["home_timeout"]:g}')

    def _prepare(self, given: Parameters, plan: Plan | None) -> Terrain:
        self._graph = graph = graph_of(self, given)
        self._off = frozenset[int]()    # places that lie in no free cell of the map
        home = home_of(graph, given)
        self._zones = zones = Zones(graph)
        _check_zones(zones, given)
        if plan is not None:
            given.take({'robot_radius': given['robot_radius'] or plan.ways_radius},
                       str(plan.path))
            try:
                check_on_map(graph, home, plan.map, plan.path)
            except FileError as error:
                raise ParameterError(f"parameter 'graph': {error}") from None
        self.action_names = graph.describe(home).actions
        self._routes = Routes(zones, 1 / given['max_speed'], given['move_timeout'])
        self._declaration = declaration_of(graph)
        return Terrain(ZonePlace(zones, given['hysteresis']), home,
                       2 * graph.zone(zones.smallest), graph.frame)

    def _name(self, action: int) -> str:
        moves = self._graph.moves(self._tracker.place.state)
        return moves[action] if action < len(moves) else super()._name(action)

    def _move(self, action: int) -> Maneuver:
        edges = self._graph.outgoing(self._tracker.place.state)
        return EdgeMove(self._routes, edges[action], self._steers) if (
            action < len(edges)) else Stay(0.0)

    def _way_home(self) -> Maneuver:
        given, home = self._given, self._tracker.home_state
        if self._home_mover is not self._base_mover:    # the platform knows the way
            return RouteHome(self._routes, home, given['home_retries'], given['home_timeout'])
        return RouteHome(self._routes, home, given['home_retries'], 0.0, given['home_timeout'],
                         _ASTRAY, self._steers)

    @property
    def _steers(self) -> bool:
        return isinstance(self._base_mover, VelocityMover)

    def describe(self) -> RobotDescription:
        """
        Return the places, the zones and the edges.

        Where edges lead is not declared before the map is there: until then nothing is driven.
        """
        return describe(
            self._graph, self._tracker.home_state, frame=self._frame,
            walls=() if self._plan is None else walls(self._plan.map),
            declaration=Declaration() if self._map.awaited else self._declaration)

    def _astray(self, pose: Pose) -> str:
        return self._zones.astray(pose, _ASTRAY)

    def _read(self, map_: Map) -> bool:
        """
        Take a map on which RESET can end.

        A map that a robot makes while it drives begins with few known cells. Hence other places
        in no free cell are only a warning, however many they are.
        """
        off = places_off(self._graph, map_)
        if self._plan is None and (home := self._tracker.home_state) in off:
            raise InvalidValueError(
                f'{off_told(self._graph, off, _LIVE, home)}; expected a map with a free home')
        if off and off != self._off:
            name = _LIVE if self._plan is None else self._plan.path
            self.get_logger().warning(off_remark(self._graph, off, name))
        self._off = off
        changed = self._routes.read(map_, self._given['robot_radius'])
        if changed:
            self._declaration = declaration_of(self._graph, self._routes.closed)
            closed = ', '.join(sorted(
                f'{self._graph.name(edge.start)} to {self._graph.name(edge.end)}'
                for edge in self._routes.closed)[:10])
            self.get_logger().warning(
                f'{len(self._routes.closed)} edges are not free on the map: {closed}')
        return changed


def _check_zones(zones: Zones, given: Parameters) -> None:
    """Raise ParameterError if a robot that has reached a place may be outside of its zone."""
    graph, place = zones.graph, zones.smallest
    if given['tolerance'] > graph.zone(place):
        raise ParameterError(
            f"parameter 'tolerance' is {given['tolerance']:g}, expected <= {graph.zone(place):g}, "
            f'the zone of {graph.name(place)}; a smaller tolerance, or a larger zone in the file')


def main(args: list[str] | None = None) -> int:
    """Run the node ``route_driver``."""
    return run('route_driver', RouteDriver, args)


if __name__ == '__main__':
    sys.exit(main())
