# SPDX-License-Identifier: Apache-2.0

"""
The map of states as shapes: what an exploration knows, where, and how it is drawn.

States are drawn where the robot side has said that they are. If it has not, they are ids without
a place: they are laid out so that those are near each other that actions lead between. That
picture has a frame of its own: it must never lie over a map.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
import math
from typing import NamedTuple

from mnm_ros.core.knowledge.knowledge import Knowledge, StateKind
from mnm_ros.core.model.policy import Policy
from mnm_ros.description_entries import Point
from mnm_ros.robot_description import RobotDescription, spacing, UNDESCRIBED
from mnm_ros.view import scene
from mnm_ros.view.layout import Layout

STATES_FRAME = 'mnm_states'
"""The frame of pictures that have no place in the world."""

Colour = tuple[float, float, float, float]
Key = tuple[str, Hashable]
"""The namespace of a shape, and what it stands for in there."""


class Shape(NamedTuple):
    """
    Something drawn; equal shapes are drawn the same.

    :ivar kind: ``cube``, ``cylinder``, ``sphere``, ``arrow``, ``lines`` or ``text``.
    :ivar points: one in the middle of the shape; the two ends of an arrow; pairs of ends of lines.
    :ivar size: in x, y and z; of arrows and lines as ``visualization_msgs/Marker`` has it.
    """

    kind: str
    points: tuple[tuple[float, float, float], ...]
    size: tuple[float, float, float]
    colour: Colour
    text: str = ''


def _colour(kind: str) -> Colour:
    red, green, blue = bytes.fromhex(scene.KINDS[kind].colour[1:])
    return red / 255, green / 255, blue / 255, 0.9


# Of the distance between neighbours.
_LOOKS: dict[str, tuple[str, tuple[float, float, float], float, Colour]] = {
    # namespace: kind, size, height of the middle, colour
    'home': ('cylinder', (0.95, 0.95, 0.04), 0.02, (0.55, 0.35, 0.8, 0.9)),
    'known': ('cube', (0.6, 0.6, 0.12), 0.06, _colour('known')),
    'doubted': ('cube', (0.6, 0.6, 0.3), 0.15, _colour('doubted')),
    'certified': ('cylinder', (0.6, 0.6, 0.12), 0.06, _colour('certified')),
    'assumed': ('cylinder', (0.3, 0.3, 0.12), 0.06, _colour('assumed')),
    'candidates': ('cube', (0.45, 0.45, 0.12), 0.06, _colour('candidate')),
    'lost': ('cube', (0.6, 0.6, 0.12), 0.06, _colour('lost')),
    'current': ('sphere', (0.35, 0.35, 0.35), 0.25, _colour('robot')),
}
_KINDS = {'certified': StateKind.CERTIFIED, 'lost': StateKind.LOST, 'doubted': StateKind.DOUBTED,
          'candidates': StateKind.CANDIDATE}
_WALLS: Colour = (0.3, 0.3, 0.3, 0.9)
_POLICY: Colour = (0.9, 0.35, 0.65, 0.9)
_LABELS: Colour = (1.0, 1.0, 1.0, 1.0)
_ROOMS: Colour = (0.95, 0.85, 0.55, 1.0)
_OK: Colour = (0.85, 0.95, 0.85, 1.0)
_LEVELS: dict[int, Colour] = {
    1: (1.0, 0.85, 0.3, 1.0), 2: (1.0, 0.4, 0.35, 1.0), 3: (0.6, 0.6, 0.65, 1.0)}
_MARGIN = 0.32     # between the middle of a state and the end of an arrow
_ASIDE = 0.07      # the way there and the way back lie side by side
_RARE = 0.05       # less likely transitions are not drawn
_STEPS = 10        # of the weight of an arrow, which would change with each count otherwise
_GRAIN = 0.01      # to which places are rounded, for the same reason

NAMESPACES = ('walls', 'transitions', 'policy', *_LOOKS, 'labels', 'rooms', 'status')
"""The layers that can be switched on and off one by one."""


class Caption(NamedTuple):
    """
    The text above the map.

    :ivar level: as in ``diagnostic_msgs/DiagnosticStatus``: OK, WARN, ERROR or STALE.
    :ivar text: for people.
    """

    level: int = 0
    text: str = ''


class Picture:
    """
    Keeps the place of each state, and says what is to be seen.

    :ivar frame: of all shapes.
    """

    def __init__(self) -> None:
        self.frame = STATES_FRAME
        self._layout = Layout()
        self._description = UNDESCRIBED
        self._places: dict[int, Point] = {}
        self._scale = 1.0

    def shapes(self, knowledge: Knowledge, description: RobotDescription = UNDESCRIBED,
               caption: Caption | None = None) -> dict[Key, Shape]:
        """
        Return all that is to be seen now.

        :param knowledge: what is drawn.
        :param description: where states are, and what they are called, if that is known.
        :param caption: phase and status, as tools like RViz show no text otherwise.
        """
        self._follow(description)
        known = [knowledge.policies[state] for state in knowledge.known]
        states: dict[str, Iterable[int]] = {
            'home': knowledge.of(StateKind.HOME),
            'known': knowledge.of(StateKind.KNOWN, *[StateKind.HOME] * bool(known)),
            **{name: knowledge.of(kind) for name, kind in _KINDS.items()},
            'current': knowledge.here}
        shown = dict.fromkeys(state for each in states.values() for state in each)
        # Without a place in the world they have none: nothing has led there yet.
        states['assumed'] = knowledge.of(StateKind.ASSUMED)
        if not self._description.positions:
            self._lay_out(knowledge, shown)
        return {
            **dict(self._walls()), **dict(self._transitions(knowledge, shown)),
            **dict(self._policy(knowledge, known[-1] if known else None)),
            **dict(self._states(states)), **dict(self._labels(shown)), **dict(self._rooms()),
            **dict(self._caption(caption, shown))}

    def _follow(self, description: RobotDescription) -> None:
        if description is self._description:
            return
        self._description = description
        self._places = {state: (float(x), float(y))
                        for state, (x, y) in description.positions.items()}
        self._scale = spacing(self._places.values())
        self.frame = self._places and description.frame or STATES_FRAME

    def _lay_out(self, knowledge: Knowledge, shown: Iterable[int]) -> None:
        """Give places to the states shown, and to those between them and home."""
        states = dict.fromkeys(shown)
        links, queue = [], [*states]
        for state in queue:
            for _, following, _ in knowledge.successors(state):
                links.append((state, following))
                if following not in states:
                    states[following] = None
                    queue.append(following)
        self._layout.update(states, links)
        places = ((state, self._layout.place(state)) for state in states)
        self._places = {
            state: (round(place[0] / _GRAIN) * _GRAIN, round(place[1] / _GRAIN) * _GRAIN)
            for state, place in places if place}

    def _states(self, states: dict[str, Iterable[int]]) -> Iterator[tuple[Key, Shape]]:
        scale = self._scale
        for name, members in states.items():
            kind, size, height, colour = _LOOKS[name]
            scaled = (size[0] * scale, size[1] * scale, size[2] * scale)
            for state in members:
                if state in self._places:
                    # Where the robot is and where home is are one shape each, which moves.
                    key = state if name not in ('current', 'home') else name
                    yield (name, key), Shape(
                        kind, ((*self._places[state], height * scale),), scaled, colour)

    def _labels(self, states: Iterable[int]) -> Iterator[tuple[Key, Shape]]:
        scale = self._scale
        for state in states:
            if state in self._places:
                yield ('labels', state), Shape(
                    'text', ((*self._places[state], 0.4 * scale),), (0.0, 0.0, 0.3 * scale),
                    _LABELS, self._description.label(state))

    def _rooms(self) -> Iterator[tuple[Key, Shape]]:
        """Yield the names of rooms, each in the middle of its states."""
        for name, states in self._description.rooms.items():
            places = [place for state in states
                      if (place := self._description.positions.get(state)) is not None]
            if places:
                x, y = (sum(along) / len(places) for along in zip(*places))
                yield ('rooms', name), Shape(
                    'text', ((x, y, 0.8 * self._scale),), (0.0, 0.0, 0.5 * self._scale),
                    _ROOMS, name)

    def _caption(self, caption: Caption | None,
                 states: Iterable[int]) -> Iterator[tuple[Key, Shape]]:
        places = [*(self._places if self._description.positions else states)]
        shown = [self._places[state] for state in places if state in self._places]
        if caption and caption.text and shown:
            across, up = zip(*shown)
            middle = round((min(across) + max(across)) / 2, 1), round(max(up), 1)
            yield ('status', 'status'), Shape(
                'text', ((middle[0], middle[1] + 1.5 * self._scale, 0.4 * self._scale),),
                (0.0, 0.0, 0.35 * self._scale), _LEVELS.get(caption.level, _OK), caption.text)

    def _transitions(self, knowledge: Knowledge,
                     states: Iterable[int]) -> Iterator[tuple[Key, Shape]]:
        """Yield an arrow to each other state that follows, by its most likely action."""
        for state in states:
            if state not in self._places:
                continue
            for after, (chance, _) in scene.links(knowledge, state).items():
                if after in self._places and chance >= _RARE:
                    yield ('transitions', (state, after)), _arrow(
                        self._places[state], self._places[after],
                        max(1, round(chance * _STEPS)) / _STEPS, self._scale)

    def _policy(self, knowledge: Knowledge, policy: Policy | None) -> Iterator[tuple[Key, Shape]]:
        """Yield lines from each state to where the first action of the policy most often led."""
        if policy is None:
            return
        ends = [
            self._places[end] for state, _, likely in scene.steps(knowledge, policy)
            if state in self._places and likely is not None and likely in self._places
            for end in (state, likely)]
        yield from self._lines('policy', ends, 0.05, _POLICY)

    def _walls(self) -> Iterator[tuple[Key, Shape]]:
        walls = self._description.walls if self._description.positions else ()
        yield from self._lines(
            'walls', [(float(x), float(y)) for wall in walls
                      for x, y in (wall[:2], wall[2:])], 0.1, _WALLS)

    def _lines(self, name: str, ends: list[Point], width: float,
               colour: Colour) -> Iterator[tuple[Key, Shape]]:
        if ends:    # RViz takes lines without any end for an error
            yield (name, name), Shape(
                'lines', tuple((*end, 0.14 * self._scale) for end in ends),
                (width * self._scale, 0.0, 0.0), colour)


@lru_cache(maxsize=20_000)    # most arrows stay as they are from picture to picture
def _arrow(begin: Point, end: Point, weight: float, scale: float) -> Shape:
    distance = math.dist(begin, end)
    ahead = ((end[0] - begin[0]) / distance, (end[1] - begin[1]) / distance) if distance else (
        0.0, 0.0)
    margin, aside = min(_MARGIN * scale, 0.3 * distance), _ASIDE * scale
    right = ahead[1] * aside, -ahead[0] * aside
    shaft = (0.02 + 0.05 * weight) * scale
    return Shape(
        'arrow', tuple(
            (place[0] + sign * ahead[0] * margin + right[0],
             place[1] + sign * ahead[1] * margin + right[1], 0.1 * scale)
            for place, sign in ((begin, 1), (end, -1))),
        (shaft, 2.2 * shaft, 0.15 * scale), (0.75, 0.8, 0.85, 0.2 + 0.7 * weight))
