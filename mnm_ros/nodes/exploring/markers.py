"""What the explorer knows as markers for RViz and Foxglove.

States are ids without a place, so each gets a cell of its own on a square grid, in the order
in which it was first seen, and keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.policy import Policy

_FRAME = 'map'
_COLOURS = {
    'known': (0.2, 0.7, 0.3), 'candidates': (0.95, 0.75, 0.2), 'current': (0.2, 0.4, 0.9),
    'policy': (0.6, 0.6, 0.6)}


class Markers:
    """Keeps the place of each state and draws the present picture."""

    def __init__(self) -> None:
        self._cells: dict[int, Point] = {}
        self._free = _spiral()

    def draw(self, exploration: Exploration) -> MarkerArray:
        """Return known, candidate and current states and the policy learnt last."""
        hypothesis = exploration.hypothesis
        known = hypothesis.targets if hypothesis else ()
        current = () if exploration.last_state is None else (exploration.last_state,)
        markers = [
            Marker(action=Marker.DELETEALL),
            self._states('known', known, 0.8),
            self._states('candidates', exploration.candidates, 0.6),
            self._states('current', current, 0.4)]
        if hypothesis and hypothesis.policies:
            markers.append(self._policy(hypothesis.policies[-1], exploration))
        markers += [self._label(i, state) for i, state in enumerate(known)]
        for marker in markers:
            marker.header.frame_id = _FRAME
            marker.pose.orientation.w = 1.0
        return MarkerArray(markers=markers)

    def _cell(self, state: int) -> Point:
        if state not in self._cells:
            x, y = next(self._free)
            self._cells[state] = Point(x=float(x), y=float(y))
        return self._cells[state]

    def _states(self, name: str, states: Iterable[int], size: float) -> Marker:
        return Marker(
            ns=name, type=Marker.CUBE_LIST, scale=Vector3(x=size, y=size, z=size / 4),
            color=_colour(name), points=[self._cell(state) for state in states])

    def _policy(self, policy: Policy, exploration: Exploration) -> Marker:
        """Lines from each state to where the first action of the policy most often led."""
        points, counts = [], exploration.counts
        for state in policy.states:
            following = counts.get((state, policy.action(0, state)))
            if following and state != policy.target:
                likely = max(following, key=lambda after: following[after])
                points += [self._cell(state), self._cell(likely)]
        return Marker(
            ns='policy', type=Marker.LINE_LIST, scale=Vector3(x=0.08), color=_colour('policy'),
            points=points)

    def _label(self, index: int, state: int) -> Marker:
        marker = Marker(
            ns='labels', id=index, type=Marker.TEXT_VIEW_FACING, text=str(state),
            scale=Vector3(z=0.3), color=ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0))
        cell = self._cell(state)
        marker.pose.position = Point(x=cell.x, y=cell.y, z=0.4)
        return marker


def _colour(name: str) -> ColorRGBA:
    red, green, blue = _COLOURS[name]
    return ColorRGBA(r=red, g=green, b=blue, a=0.9)


def _spiral() -> Iterator[tuple[int, int]]:
    """All cells of the square grid, from the origin outwards."""
    x = y = 0
    dx, dy, length = 1, 0, 1
    while True:
        for _ in range(2):
            for _ in range(length):
                yield x, y
                x, y = x + dx, y + dy
            dx, dy = -dy, dx
        length += 1
