# SPDX-License-Identifier: Apache-2.0

"""How a robot executes the actions of a route graph: along an edge, and home along edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
import math
from typing import NamedTuple

from mnm_ros.driving.drive import Leg, Outcome
from mnm_ros.driving.maneuvers import after_detours, Homing, Maneuver
from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.driving.path import smooth_part
from mnm_ros.driving.pose import Pose
from mnm_ros.places.place_graph import Edge
from mnm_ros.places.zones import state_of, to_lines, Zones
import numpy as np

_OFF = 1 / 8     # of a zone, beside an edge, up to which it is driven from where the robot is
_ROOMS = 0.5, 0.35, 0.25, 0.15, 0.1, 0.06    # m before and after a centre, that an arc may take
_BACKWARDS = 1.0    # m, that a robot drives back without a turn
_CLEAR = 0.3     # m, that it backs off from an obstacle before it turns to drive back
_NEAREST = 16    # places to which a robot outside of all is driven, if the way there is free

Ends = tuple[int | None, int]
"""The places between which a robot drives; None for outside of all."""


class Way(NamedTuple):
    """A way along edges: the first of them, and the length of all in m."""

    edge: Edge
    length: float


class Routes:
    """
    The knowledge about the edges of a graph.

    :param pace: s that a robot needs at least for a m.
    :param timeout: s that it may take besides twice that, for each leg.
    :ivar closed: the edges that are not free on the map.
    """

    def __init__(self, zones: Zones, pace: float, timeout: float) -> None:
        self.zones, self.graph = zones, zones.graph
        self.closed: frozenset[Edge] = frozenset()
        self._pace, self._timeout = pace, timeout
        self._edges = [*self.graph.actions_of]
        self._incoming: dict[int, dict[int, Edge]] = {}    # by end and start
        for edge in self._edges:
            self._incoming.setdefault(edge.end, {}).setdefault(edge.start, edge)
        self._doubtful: set[frozenset[int]] = set()
        self._detours: dict[Edge, int] = {}
        self._map: Map | None = None
        self._radius = 0.0

    def read(self, map_: Map, radius: float) -> bool:
        """Take a map for a robot of that radius in m; return whether other edges are free now."""
        before, self._map, self._radius = self.closed, map_, radius
        centre = self.zones.centre
        free = map_.is_free([centre(edge.start) for edge in self._edges],
                            [centre(edge.end) for edge in self._edges], radius)
        self.closed = frozenset(
            edge for edge, may_go in zip(self._edges, free.tolist()) if not may_go)
        return self.closed != before

    def is_closed(self, edge: Edge, pose: Pose) -> bool:
        """Return whether the rest of an edge is not free on the map."""
        return edge in self.closed and self._map is not None and not self._map.is_free(
            [pose[:2]], [self.zones.centre(edge.end)], self._radius).all()

    def leads_to_a_wall(self, pose: Pose, place: int, radius: float) -> bool:
        """Return whether a robot of that radius would meet a wall straight ahead to a place."""
        return self._map is not None and self._map.leads_to_a_wall(
            pose[:2], self.zones.centre(place), radius)

    def leg(self, place: int, pose: Pose) -> Leg:
        """Return the leg that leads straight to a place."""
        x, y = self.zones.centre(place)
        far = math.dist((x, y), pose[:2])
        return Leg(x, y, None, self._timeout + 2 * self._pace * far)

    def along(self, edge: Edge, pose: Pose) -> Leg | None:
        """
        Return the leg along an edge, round the corner at its start if the robot is not there yet.

        :return: None if the robot has to stop at the start, as there is no room for an arc.
        """
        start, end = self.zones.centre(edge.start), self.zones.centre(edge.end)
        leg = self.leg(edge.end, pose)._replace(direct=True)
        if self._is_near(edge, pose[:2]):
            return leg
        far = math.dist(pose[:2], start)
        rooms = [min(room, far / 2) for room in _ROOMS]
        part = smooth_part([pose[:2], start, end], rooms, lambda way: self._may_blend(
            edge, way, pose[:2]))
        return leg._replace(via=tuple(part.points[1:-1]), ahead=part.room) if (
            part.last > 1) else None

    def _is_near(self, edge: Edge, place: Point) -> bool:
        """Whether the robot is neither beside an edge nor behind it."""
        (x, y), (end_x, end_y) = map(self.zones.centre, (edge.start, edge.end))
        along, up, far = end_x - x, end_y - y, self.graph.length(edge)
        if not far:
            return True
        beside = abs((place[0] - x) * up - (place[1] - y) * along) / far
        behind = ((x - place[0]) * along + (y - place[1]) * up) / far
        return max(beside, behind) <= _OFF * self.graph.zone(edge.start)

    def _may_blend(self, edge: Edge, way: Sequence[Point], before: Point) -> bool:
        """Whether an arc from a point to an edge is free on the map, or else close to both."""
        if self._map is not None:
            return bool(self._map.is_free(way[:-1], way[1:], self._radius).all())
        start, end = (np.array([self.zones.centre(place)]) for place in (edge.start, edge.end))
        points = np.array(way)
        apart = np.minimum(to_lines(points, np.array([before]), start),
                           to_lines(points, start, end))
        return float(apart.max()) <= _OFF * self.graph.zone(edge.start)

    def succeeded(self, edge: Edge) -> None:
        """Remember that an edge is open, and hence the one back."""
        self._doubtful.discard(frozenset((edge.start, edge.end)))
        self._detours.pop(edge, None)

    def failed(self, edge: Edge) -> None:
        """Remember that an edge has failed when it was last tried."""
        self._doubtful.add(frozenset((edge.start, edge.end)))

    def detoured(self, edge: Edge) -> int:
        """Count a long way round; return how many there were in a row."""
        self._detours[edge] = self._detours.get(edge, 0) + 1
        return self._detours[edge]

    def towards(self, goal: int, blocked: Collection[Ends]) -> Mapping[int, Way]:
        """
        Return by place the best way to the goal, if any leads there.

        It has the fewest edges that failed when they were last tried; of such it is the shortest.

        :param blocked: edges to avoid.
        """
        found: dict[int, Way] = {}
        least = {goal: (0, 0.0)}
        queue = [((0, 0.0), goal)]
        while queue:
            cost, place = heappop(queue)
            if cost > least[place]:
                continue
            for start, edge in self._incoming.get(place, {}).items():
                if edge in self.closed or (start, place) in blocked:
                    continue
                doubts, far = cost
                after = (doubts + (frozenset((start, place)) in self._doubtful),
                         far + self.graph.length(edge))
                if start not in least or after < least[start]:
                    least[start], found[start] = after, Way(edge, after[1])
                    heappush(queue, (after, start))
        return found

    def entry(self, pose: Pose, goal: int, blocked: Collection[Ends]) -> int | None:
        """
        Return the nearest place to which a robot outside of all may drive; None if there is none.

        Edges have to lead from there to the goal, and ``Map.way_in`` allows the way there.
        """
        places = [place for place in {goal, *self.towards(goal, blocked)}
                  if (None, place) not in blocked]
        nearest = self.zones.nearest(pose.x, pose.y, places)[:_NEAREST]
        index = 0 if self._map is None else self._map.way_in(
            pose[:2], [self.zones.centre(place) for place in nearest], self._radius)
        return nearest[index] if nearest and index is not None else None


class EdgeMove(Maneuver):
    """
    A drive along an edge; if it fails, back to its start.

    :param steers: whether the driver steers itself: the robot keeps to the edge, and turns before
        it goes back far. A planner finds its own way.
    """

    def __init__(self, routes: Routes, edge: Edge, steers: bool = True) -> None:
        super().__init__(2 * routes.graph.zone(edge.end))
        self.edge = edge
        self._routes = routes
        self._steers = steers
        self._aligning = self._backing_off = self._retreating = False

    def next(    # noqa: A003
            self, ended: Outcome | None, cell: int | None, pose: Pose,
            elapsed: float = 0.0) -> Leg | None:
        if ended is None and self.edge in self._routes.closed:
            self.outcome = Outcome.BLOCKED
            return None
        if ended is None or self._aligning and ended is Outcome.REACHED:
            straight = self._aligning or not self._steers
            leg = self._routes.leg(self.edge.end, pose)._replace(direct=True) if straight else (
                self._routes.along(self.edge, pose))
            self._aligning = leg is None
            return leg or self._routes.leg(self.edge.start, pose)
        if ended is Outcome.DETOUR:
            ended = after_detours(self._routes.detoured(self.edge))
        if ended is Outcome.BROKEN_OFF:    # on the way back, too: what was in the way is unknown
            self.outcome, self.problem = ended, ended.value
        elif self._backing_off:
            return self._back(pose)
        elif not self._retreating:
            return self._end(ended, pose)
        return None

    def is_closed(self, pose: Pose) -> bool:
        return not (self._backing_off or self._retreating) and (
            self._routes.is_closed(self.edge, pose))

    def is_decided(self, cell: int | None, heading: int, pose: Pose, depth: float) -> bool:
        goes_on = not (self._aligning or self._backing_off or self._retreating)
        return self._agreed(goes_on and cell == self.edge.end
                            and self._routes.zones.is_deep(cell, pose, depth), pose)

    def _end(self, ended: Outcome, pose: Pose) -> Leg | None:
        """Record how the drive has ended; return the leg back if it has failed."""
        self.outcome = ended
        if ended is Outcome.REACHED:
            self._routes.succeeded(self.edge)
            return None
        self._routes.failed(self.edge)
        self._aligning = False
        if self.edge in self._routes.closed and self._routes.leads_to_a_wall(
                pose, self.edge.start, 0.0):
            return None    # the map closes the way back, too
        x, y = self._routes.zones.centre(self.edge.start)
        far = math.dist((x, y), pose[:2])
        left = self._routes.graph.zone(self.edge.start) - far
        if left > 0 and pose.ahead((x, y)) > 0 and self._steers:
            # The start is beyond what has held it up at the corner.
            self._retreating = True
            away = pose.moved(-min(_CLEAR, left), 0.0)
            return self._routes.leg(self.edge.start, pose)._replace(
                x=away.x, y=away.y, backwards=True, retreat=True)
        if far <= _BACKWARDS or not self._steers:
            self._retreating = True
            return self._routes.leg(self.edge.start, pose)._replace(backwards=None, retreat=True)
        self._backing_off = True
        part = _CLEAR / far
        return self._routes.leg(self.edge.start, pose)._replace(
            x=pose.x + part * (x - pose.x), y=pose.y + part * (y - pose.y), backwards=None,
            retreat=True)

    def _back(self, pose: Pose) -> Leg:
        self._backing_off, self._retreating = False, True
        return self._routes.leg(self.edge.start, pose)


class Stay(Maneuver):
    """An action for which there is no edge where the robot is: nothing is driven."""

    outcome = Outcome.BLOCKED

    def next(    # noqa: A003
            self, ended: Outcome | None, cell: int | None, pose: Pose,
            elapsed: float = 0.0) -> Leg | None:
        return None


class RouteHome(Homing):
    """
    RESET: home along edges, with retries; from outside of all places to the nearest one first.

    :param retries: how many drives may fail.
    :param in_one_go: s for a leg of a platform that finds the way home by itself, in place of
        edges; 0 for edges.
    :param limit: as of ``Homing``.
    :param farthest: m from all zones and edges; farther away nothing is driven.
    :param steers: as of ``EdgeMove``.
    """

    def __init__(self, routes: Routes, home: int, retries: int, in_one_go: float = 0.0,
                 limit: float = math.inf, farthest: float = math.inf,
                 steers: bool = True) -> None:
        super().__init__(2 * routes.graph.zone(home), limit)
        self.legs: list[tuple[int, int, int]] = []
        self._routes = routes
        self._home = home
        self._retries = retries
        self._in_one_go = in_one_go
        self._farthest = farthest
        self._steers = steers
        self._blocked: set[Ends] = set()
        self._move: EdgeMove | None = None    # under way,
        self._target = home                   # or else the place to which the robot drives

    def is_closed(self, pose: Pose) -> bool:
        if self._in_one_go:
            return False
        return self._move.is_closed(pose) if self._move is not None else (
            self._routes.leads_to_a_wall(pose, self._target, 0.0))

    def is_decided(self, cell: int | None, heading: int, pose: Pose, depth: float) -> bool:
        if self._move is not None:
            return self._move.is_decided(cell, heading, pose, depth)
        return self._agreed(cell == self._target and self._routes.zones.is_deep(
            cell, pose, depth), pose)

    def _next(self, ended: Outcome | None, cell: int | None, pose: Pose) -> Leg | None:
        if ended is not None:
            leg = self._move.next(ended, cell, pose) if self._move else None
            if leg is not None:
                return leg
            if self._is_over(ended, cell):
                return None
        return self._go_on(cell, pose)

    def _is_over(self, ended: Outcome, cell: int | None) -> bool:
        """Record a drive that has ended; return whether that was the last one."""
        move, self._move = self._move, None
        if move is not None:
            ended = move.outcome
            if ended is not Outcome.BROKEN_OFF:
                self._witness(move.edge, cell)
        start, end = (move.edge.start, move.edge.end) if move else (None, self._target)
        if ended is Outcome.REACHED and cell == end:
            return cell == self._home
        self._blocked.add((start, end))
        if self._retries:
            self._retries -= 1
            return False
        name = self._routes.graph.name
        what = f'to {name(end)}' if start is None else f'from {name(start)} to {name(end)}'
        self._give_up(ended, f'{name(end)} was missed' if ended is Outcome.REACHED
                      else f'{ended.value} {what}')
        return True

    def _witness(self, edge: Edge, cell: int | None) -> None:
        self.legs.append((edge.start, self._routes.graph.actions_of[edge], state_of(cell)))

    def _go_on(self, cell: int | None, pose: Pose) -> Leg | None:
        """Return the first leg of the best way from where the robot is."""
        routes, self._target = self._routes, self._home
        astray = routes.zones.astray(pose, self._farthest)
        if astray:
            self._give_up(Outcome.BLOCKED, astray)
            return None
        if self._in_one_go:
            return routes.leg(self._home, pose)._replace(timeout=self._in_one_go)
        if cell == self._home:
            return routes.leg(self._home, pose)
        if cell is None:
            entry = routes.entry(pose, self._home, self._blocked)
            if entry is not None:
                self._target = entry
                return routes.leg(entry, pose)
        elif cell in (ways := routes.towards(self._home, self._blocked)):
            self._move = EdgeMove(routes, ways[cell].edge, self._steers)
            return self._move.next(None, cell, pose)
        self._give_up(Outcome.BLOCKED, 'no way leads home from ' + (
            'outside of all places' if cell is None else routes.graph.name(cell)))
        return None
