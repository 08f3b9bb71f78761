# SPDX-License-Identifier: Apache-2.0

"""
The zones of a place graph: at which place a robot is, and where its edges lead.

``drives`` and ``edge_witness`` beside it, ``route_driver`` and ``route_watch`` use it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.driving.grid import OUTSIDE
from mnm_ros.driving.pose import Pose
from mnm_ros.places.place_graph import Edge, PlaceGraph
from mnm_ros.robot_description import RobotDescription
import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]


class Zones:
    """
    The discs in which a robot counts as at a place; the nearest one if several contain it.

    :param graph: a ``merged`` one.
    """

    def __init__(self, graph: PlaceGraph) -> None:
        self.graph = graph
        self._places = sorted(graph.places)
        self._index = {place: index for index, place in enumerate(self._places)}
        self._positions = np.array([(graph.places[place].x, graph.places[place].y)
                                    for place in self._places])
        self._radii = np.array([graph.zone(place) for place in self._places])
        ends = [(edge.start, edge.end) for edge in graph.actions_of]
        self._starts, self._ends = (
            self._positions[[self._index[place] for place in side]] for side in zip(*ends))

    @property
    def smallest(self) -> int:
        """Return the place with the smallest zone."""
        return self._places[int(self._radii.argmin())]

    def centre(self, place: int) -> tuple[float, float]:
        """Return the position of a place in m."""
        found = self.graph.places[place]
        return found.x, found.y

    def at(self, x: float, y: float) -> int | None:
        """Return the place at which a robot is; None outside of all zones."""
        apart = self._apart(x, y)
        index = int(np.where(apart <= self._radii, apart, np.inf).argmin())
        return self._places[index] if apart[index] <= self._radii[index] else None

    def distance(self, place: int, x: float, y: float) -> float:
        """Return how far a point is from a place in m."""
        return float(np.hypot(*(self._positions[self._index[place]] - (x, y))))

    def is_deep(self, place: int | None, pose: Pose, depth: float) -> bool:
        """Whether a pose is this part of a zone's diameter, or more, within its border."""
        return place is not None and (
            self.distance(place, pose.x, pose.y) <= (1 - 2 * depth) * self.graph.zone(place))

    def nearest(self, x: float, y: float, places: Collection[int]) -> list[int]:
        """Return some of these places, the nearest to a point first."""
        apart = self._apart(x, y)
        return sorted(places, key=lambda place: (apart[self._index[place]], place))

    def astray(self, pose: Pose, farthest: float) -> str:
        """Return why nothing is driven from a pose, so far from all in m; '' if it may be."""
        outside = min(
            float((self._apart(pose.x, pose.y) - self._radii).min()),
            float(to_lines(np.array([pose[:2]]), self._starts, self._ends).min()))
        return '' if outside <= farthest else (
            f'the robot is {outside:.3g} m from all places and edges, expected at most '
            f'{farthest:g} m')

    def _apart(self, x: float, y: float) -> _Array:
        return np.asarray(np.hypot(*(self._positions - (x, y)).T))


class ZonePlace:
    """
    The place of a robot with noisy poses: it is left only well outside the border of its zone.

    :param margin: how far outside, as a part of the zone.
    :ivar cell: the place; None outside of all zones.
    :ivar heading: 0, as it makes no difference.
    """

    heading = 0

    def __init__(self, zones: Zones, margin: float) -> None:
        self.cell: int | None = None
        self._zones = zones
        self._margin = margin

    @property
    def state(self) -> int:
        """Return the state of the last pose."""
        return state_of(self.cell)

    def update(self, pose: Pose) -> int:
        """Take a pose; return its state."""
        found = self._zones.at(pose.x, pose.y)
        if self.cell is None or found != self.cell and self._has_left(self.cell, found, pose):
            self.cell = found
        return self.state

    def _has_left(self, place: int, found: int | None, pose: Pose) -> bool:
        zones, zone = self._zones, self._zones.graph.zone(place)
        apart, margin = zones.distance(place, pose.x, pose.y), self._margin * zone
        return apart > zone + margin or found is not None and (
            apart > zones.distance(found, pose.x, pose.y) + margin)


def state_of(place: int | None) -> int:
    """Return the state of a robot at a place; None is outside of all zones."""
    return OUTSIDE if place is None else place


def declaration_of(graph: PlaceGraph, closed: Collection[Edge] = ()) -> Declaration:
    """
    Return in which states the edges of a graph end for a robot that drives along them.

    An edge leads to its end, or back to its start. A robot that is held up on the way and cannot
    get back either is the exception, be it outside of all zones or within one that the edge
    crosses. From outside RESET alone leads on.

    :param closed: edges that are not driven.
    """
    found = {place: tuple(
        (place,) if edge in closed else ends
        for edge, ends in zip_longest(graph.outgoing(place), declared))
        for place, declared in graph.declaration.successors.items()}
    return Declaration({**found, OUTSIDE: ((),) * graph.actions})


def describe(graph: PlaceGraph, home: int, **changes: Any) -> RobotDescription:
    """
    Return what a robot side says that may be outside of all zones.

    :param changes: fields that are not as ``PlaceGraph.describe`` returns them.
    """
    described = graph.describe(home)
    return replace(described, names={**described.names, OUTSIDE: 'outside'}, **changes)


def to_lines(points: _Array, starts: _Array, ends: _Array) -> _Array:
    """Return how far points are from straight lines in m, for shapes that broadcast."""
    ways = ends - starts
    squared = np.maximum((ways**2).sum(axis=1), 1e-300)
    part = np.clip(((points - starts) * ways).sum(axis=1) / squared, 0, 1)
    return np.asarray(np.hypot(*(points - starts - part[:, np.newaxis] * ways).T))
