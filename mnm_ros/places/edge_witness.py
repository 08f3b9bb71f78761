# SPDX-License-Identifier: Apache-2.0

"""
Sees how drives along the edges of a route graph end, while a route server drives the robot.

What the server tracks says along which edge the robot is meant to go, and poses alone where it
is. A drive begins when the robot leaves the zone of its start with that edge ahead of it. It ends

- in the end of the edge, once the robot is in its zone;
- if the server has abandoned it, by another route or because driving was aborted, where the robot
  is: in the next zone that it enters, or outside of all of them if it is left there;
- as one that says nothing about the edge, if somebody has called the robot off.

Whether a drive counts is thus decided before it is known how it ends.
"""

from __future__ import annotations

from typing import NamedTuple

from mnm_ros.places.place_graph import Edge, PlaceGraph
from mnm_ros.places.zones import state_of


class Drive(NamedTuple):
    """
    A drive that is over.

    :ivar state, action: its start, and the number of the edge there.
    :ivar after: the state in which it has ended; None if it was broken off.
    """

    state: int
    action: int
    after: int | None


class EdgeWitness:
    """
    Takes in turn where the robot is and what the server tracks; returns drives that are over.

    :ivar place: at which the robot is; None outside of all zones.
    """

    def __init__(self, graph: PlaceGraph) -> None:
        self._actions = graph.actions_of
        self._edges = {edge.key: edge for edge in graph.actions_of}
        self.place: int | None = None
        self._tracked: Edge | None = None    # along which the robot is meant to go
        self._driven: Edge | None = None     # along which it has begun to go
        self._left = self._given_up = False

    def moved(self, place: int | None) -> list[Drive]:
        """Take the place at which the robot is."""
        self.place = place
        driven = self._driven
        over: list[Drive] = []
        if driven is not None:
            self._left = self._left or place != driven.start
            if place is not None and self._left and (self._given_up or place == driven.end):
                over = self._end(place)
        self._begin()
        return over

    def tracks(self, key: str) -> list[Drive]:
        """Take the id of the edge that the server tracks; '' or another one for none."""
        edge, driven = self._edges.get(key), self._driven
        over: list[Drive] = []
        if edge is not self._tracked:
            self._tracked = edge
            if driven is not None and edge is not driven and (
                    edge is None or edge.start != driven.end):
                over = self._give_up()
        self._begin()
        return over

    def aborted(self) -> list[Drive]:
        """Record that the server, or what drives the robot, has stopped trying; it stands."""
        self._tracked = None
        return self._end(state_of(self.place))

    def called_off(self) -> list[Drive]:
        """Record that somebody has called the robot off, or that its pose is lost."""
        self._tracked = None
        return self._end(None)

    def arrived(self) -> None:
        """Record that the server has come to the end of its route, perhaps before the robot."""
        self._tracked = None

    def _begin(self) -> None:
        """Let a drive begin if the robot is where the edge that is tracked begins."""
        if self._tracked is not None and self.place == self._tracked.start and (
                self._driven is None or not self._left):
            self._driven, self._left, self._given_up = self._tracked, False, False

    def _give_up(self) -> list[Drive]:
        if self._left and self.place is None:
            self._given_up = True
            return []
        return self._end(self.place)

    def _end(self, after: int | None) -> list[Drive]:
        """End the drive under way; return it unless the robot has not left its start yet."""
        driven, left = self._driven, self._left
        self._driven, self._left, self._given_up = None, False, False
        return [Drive(driven.start, self._actions[driven], after)] if driven and left else []
