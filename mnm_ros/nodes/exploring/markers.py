# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
What the explorer knows as markers for RViz and Foxglove.

States are drawn where the robot side has said that they are. If it has not, they are ids without
a place: they are laid out so that those are near each other that actions lead between. That
picture has a frame of its own: it must never lie over a map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geometry_msgs.msg import Point, Vector3
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET
from mnm_ros.layout import Layout
from mnm_ros.robot_description import RobotDescription, spacing
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

STATES_FRAME = 'mnm_states'
"""The frame of pictures that have no place in the world."""

_COLOURS = {
    'known': (0.2, 0.7, 0.3), 'candidates': (0.95, 0.75, 0.2), 'current': (0.2, 0.4, 0.9),
    'policy': (0.6, 0.6, 0.6), 'walls': (0.3, 0.3, 0.3), 'labels': (1.0, 1.0, 1.0)}
_NOTHING = RobotDescription(('unknown',))


class _Computed:
    """Places that follow from the observed transitions."""

    scale = 1.0

    def __init__(self) -> None:
        self._layout = Layout()

    def update(self, exploration: Exploration, shown: Iterable[int]) -> None:
        """Give places to the states shown, and to those between them and home."""
        home = () if exploration.home is None else (exploration.home,)
        states = dict.fromkeys((*home, *shown))
        links, queue = [], [*states]
        for state in queue:
            for _, following, _ in exploration.successors(state):
                links.append((state, following))
                if following not in states:
                    states[following] = None
                    queue.append(following)
        self._layout.update(states, links)

    def place(self, state: int) -> Point | None:
        """Return the place of a state."""
        place = self._layout.place(state)
        return Point(x=place[0], y=place[1]) if place else None


class _Positions:
    """
    Places as the robot side gives them.

    :ivar scale: how far neighbours are from each other, in m.
    """

    def __init__(self, description: RobotDescription) -> None:
        self._places = {state: Point(x=float(x), y=float(y))
                        for state, (x, y) in description.positions.items()}
        self.scale = spacing(description.positions.values())

    def place(self, state: int) -> Point | None:
        """Return the place of a state; None if it has none, and cannot be drawn."""
        return self._places.get(state)


class Markers:
    """Keeps the place of each state and draws the present picture."""

    def __init__(self) -> None:
        self._layout = _Computed()
        self._places: _Computed | _Positions = self._layout
        self._description = _NOTHING

    def draw(self, exploration: Exploration,
             description: RobotDescription | None = None) -> MarkerArray:
        """
        Return known, candidate and current states and the policy learnt last.

        :param exploration: what is drawn.
        :param description: where states are, and what they are called, if that is known.
        """
        self._follow(description or _NOTHING)
        hypothesis = exploration.hypothesis
        known = hypothesis.targets if hypothesis else ()
        current = () if exploration.last_state is None else (exploration.last_state,)
        if self._places is self._layout:
            self._layout.update(exploration, (*known, *exploration.candidates, *current))
        markers = [
            Marker(action=Marker.DELETEALL),
            self._walls(),
            self._states('known', known, 0.8),
            self._states('candidates', exploration.candidates, 0.6),
            self._states('current', current, 0.4)]
        if hypothesis and hypothesis.policies:
            markers.append(self._policy(hypothesis.policies[-1], exploration))
        markers += self._labels(known)
        placed = isinstance(self._places, _Positions)
        for marker in markers:
            marker.header.frame_id = placed and self._description.frame or STATES_FRAME
            marker.pose.orientation.w = 1.0
        return MarkerArray(markers=markers)

    def _follow(self, description: RobotDescription) -> None:
        if description is not self._description:
            self._description = description
            self._places = _Positions(description) if description.positions else self._layout

    def _states(self, name: str, states: Iterable[int], size: float) -> Marker:
        size *= self._places.scale
        points = [place for state in states if (place := self._places.place(state))]
        return _listed(name, Marker.CUBE_LIST, Vector3(x=size, y=size, z=size / 4), points)

    def _policy(self, policy: Policy, exploration: Exploration) -> Marker:
        """Lines from each state to where the first action of the policy most often led."""
        points = []
        for state in policy.states:
            likely = _likely(exploration, state, policy.action(0, state))
            if likely is not None and state != policy.target:
                begin, end = self._places.place(state), self._places.place(likely)
                if begin and end:
                    points += [begin, end]
        return _listed('policy', Marker.LINE_LIST, Vector3(x=0.08 * self._places.scale), points)

    def _walls(self) -> Marker:
        walls = self._description.walls if isinstance(self._places, _Positions) else ()
        points = [Point(x=float(x), y=float(y))
                  for wall in walls for x, y in (wall[:2], wall[2:])]
        return _listed('walls', Marker.LINE_LIST, Vector3(x=0.1 * self._places.scale), points)

    def _labels(self, states: Iterable[int]) -> Iterator[Marker]:
        scale = self._places.scale
        for index, state in enumerate(states):
            place = self._places.place(state)
            if place:
                marker = Marker(
                    ns='labels', id=index, type=Marker.TEXT_VIEW_FACING,
                    text=self._description.label(state), scale=Vector3(z=0.3 * scale),
                    color=_colour('labels'))
                marker.pose.position = Point(x=place.x, y=place.y, z=0.4 * scale)
                yield marker


def _likely(exploration: Exploration, state: int, action: int) -> int | None:
    """Return where an action most often led; None if it was never tried."""
    if action == RESET:
        return exploration.home
    following = {after: count for played, after, count in exploration.successors(state)
                 if played == action}
    return max(following, key=following.__getitem__, default=None)


def _listed(name: str, kind: int, scale: Vector3, points: list[Point]) -> Marker:
    """Return a marker of several points; RViz takes one without any for an error."""
    if not points:
        return Marker(ns=name, action=Marker.DELETE)
    return Marker(ns=name, type=kind, scale=scale, color=_colour(name), points=points)


def _colour(name: str) -> ColorRGBA:
    red, green, blue = _COLOURS[name]
    return ColorRGBA(r=red, g=green, b=blue, a=1.0 if name == 'labels' else 0.9)
