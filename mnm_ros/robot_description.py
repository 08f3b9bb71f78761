# SPDX-License-Identifier: Apache-2.0

"""
The description of a robot side: its actions and, where it has them, places and successors.

It is published on ``robot_side`` as one JSON object, which ``docs/reference/robot_side.md``
describes. Imports no ROS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
import json
import math
from pathlib import Path

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import check_state, Declaration, shown
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.json_values import load
from mnm_ros.description_entries import (
    actions_of,
    by_state,
    check_actions,
    check_doors,
    check_length,
    check_moves,
    check_rooms,
    check_seconds,
    check_states,
    check_text,
    check_walls,
    check_zones,
    door_pairs,
    entries_of,
    MAX_ACTIONS,
    MAX_STATES,
    MAX_TEXT,
    Point,
    room_states,
    rows_by_state,
    states_of,
    Wall,
    walls_of,
)
from mnm_ros.files import read_regular
from mnm_ros.spelling import nearest

_SHOWN = 10                  # names, where one was asked for that is not there
KEPT = '.robot_side.json'    # after the name of an explorer, beside its checkpoints


def numbered(actions: int) -> tuple[str, ...]:
    """Return names for so many actions that have none."""
    return tuple(f'a{action}' for action in range(actions))


@dataclass(frozen=True)
class RobotDescription:
    """
    A robot side in its own words.

    :param actions: names of the actions in the order of their numbers, without RESET.
    :param home: the state that RESET leads to; None if the robot side does not know it.
    :param frame: in which positions and walls are; empty for one that nothing else uses.
    :param names: of states, for people.
    :param positions: x and y of states, in m.
    :param walls: lines from x1, y1 to x2, y2, in m.
    :param declaration: where actions may lead; empty if nothing is said of that.
    :param doors: by the name of each, the states with the actions that lead through it.
    :param rooms: by the name of each, the states in it.
    :param moves: of some states the names that its actions have there, in the order of the
        actions; an empty name, or none, for one that is never commanded.
    :param zones: of some states the radius in m within which the robot counts as there.
    :param guarded: whether a command may name the state that it is meant for, and is refused in
        any other one.
    :param seconds: of some states how long each action is expected to take, in s, RESET last. It
        is for those who plan by time; what is explored does not depend on it.
    :raises ValueError: says what is wrong and what was expected.
    """

    actions: tuple[str, ...]
    home: int | None = None
    frame: str = ''
    names: Mapping[int, str] = field(default_factory=dict)
    positions: Mapping[int, Point] = field(default_factory=dict)
    walls: tuple[Wall, ...] = ()
    declaration: Declaration = field(default_factory=Declaration)
    doors: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    rooms: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    moves: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    zones: Mapping[int, float] = field(default_factory=dict)
    guarded: bool = False
    seconds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_actions(self.actions)
        if self.home is not None:
            check_state(self.home, 'home')
        check_text(self.frame, 'frame', empty=True)
        check_states(self.names, self.positions)
        check_walls(self.walls)
        self.declaration.check(len(self.actions))
        check_doors(self.doors, len(self.actions))
        check_rooms(self.rooms)
        check_moves(self.moves, len(self.actions))
        check_zones(self.zones)
        check_seconds(self.seconds, self.actions)
        if not isinstance(self.guarded, bool):
            raise InvalidValueError(f'guarded is {shown(self.guarded)}, expected true or false')

    def label(self, state: int) -> str:
        """Return what people call a state: its name, if it has one, and its id."""
        return f'{self.names[state]} ({state})' if state in self.names else str(state)

    def name(self, state: int) -> str:
        """Return the name of a state if that says which one it is, or else ``label``."""
        name = self.names.get(state, '')
        alone = name and name not in self._shared and not name.isdecimal()
        return name if alone else self.label(state)

    def place(self, state: int) -> str:
        """Return what people call a state in a sentence."""
        return self.name(state) if state in self.names else f'state {state}'

    @cached_property
    def _shared(self) -> frozenset[str]:
        """Return the names that several states have."""
        return frozenset(name for name, count in Counter(self.names.values()).items() if count > 1)

    def action_name(self, action: int, state: int | None = None) -> str:
        """Return what people call an action; with a state, what they call it there."""
        if action == RESET:
            return 'RESET'
        moves = self.moves.get(state, ()) if state is not None else ()
        if action < len(moves) and moves[action]:
            return moves[action]
        return self.actions[action] if action < len(self.actions) else f'action {action}'

    def door(self, state: int, action: int) -> str:
        """Return the name of the door through which an action leads; empty for none."""
        return self._doors.get((state, action), '')

    @cached_property
    def _doors(self) -> dict[Pair, str]:
        return {pair: name for name, pairs in self.doors.items() for pair in pairs}

    def room(self, state: int) -> str:
        """Return the name of the room that a state is in; empty for none."""
        return self._rooms.get(state, '')

    @cached_property
    def _rooms(self) -> dict[int, str]:
        return {state: name for name, room in self.rooms.items() for state in room}

    def state(self, text: str) -> int:
        """
        Return the state that people mean by its id or its name.

        :raises ValueError: if there is none, or if several have the name.
        """
        if text.removeprefix('-').isdecimal():
            return int(text)
        found = [state for state, name in self.names.items() if name == text]
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidValueError(
                f'{text!r} is the name of the states {", ".join(map(str, found))}, '
                'expected the id of one of them')
        names = [*dict.fromkeys(self.names.values())]
        raise InvalidValueError(f'no state is called {text!r}, expected its id' + (
            f' or its name, such as {", ".join(names[:_SHOWN])}' if names else
            ', as no names of states are known') + nearest(text, names))

    def after(self, before: RobotDescription) -> RobotDescription:
        """
        Return it with names and positions that were described before, if the world is the same.

        A state that has become a wall stays at its last position. If a description has no
        positions, or has moves, it takes no positions from before: a route graph names all places.
        """
        if not self.of_the_world_of(before):
            return self
        names = {**before.names, **self.names}
        positions = self.positions if self.moves or not self.positions else {
            **before.positions, **self.positions}
        if len({*names, *positions}) > MAX_STATES:
            return self
        return replace(self, names=names, positions=positions)

    def of_the_world_of(self, other: RobotDescription) -> bool:
        """Return whether it is, as far as is known, of a robot in the same world."""
        return (self.frame, self.actions) == (other.frame, other.actions)

    def to_text(self) -> str:
        """Return it as JSON; ValueError if that is longer than ``from_text`` takes."""
        states: dict[str, dict[str, object]] = {
            str(state): {'name': name} for state, name in self.names.items()}
        for state, (x, y) in self.positions.items():
            states.setdefault(str(state), {}).update(x=x, y=y)
        text = json.dumps({
            'actions': self.actions, 'home': self.home, 'frame': self.frame, 'states': states,
            'walls': self.walls, **self.declaration.to_json(),
            **({'doors': self.doors} if self.doors else {}),
            **({'rooms': self.rooms} if self.rooms else {}),
            **({'moves': self.moves} if self.moves else {}),
            **({'zones': self.zones} if self.zones else {}),
            **({'guarded': True} if self.guarded else {}),
            **({'seconds': self.seconds} if self.seconds else {})})
        check_length(text)
        return text

    @classmethod
    def from_text(cls, text: str) -> RobotDescription:
        """
        Read what ``to_text`` has returned, or what another program has written.

        :raises ValueError: says which entry is wrong and what was expected.
        """
        check_length(text)
        found = entries_of(load('the description', text, distinct=True), 'the description', (
            'actions', 'home', 'frame', 'states', 'walls', 'successors', 'chances', 'doors',
            'rooms', 'moves', 'zones', 'guarded', 'seconds'))
        if 'actions' not in found:
            raise InvalidValueError('actions are missing, expected a list of names')
        names, positions = states_of(found)
        return cls(
            actions_of(found['actions']), found.get('home'), found.get('frame', ''), names,
            positions, walls_of(found.get('walls', [])), Declaration.from_json(found),
            door_pairs(found.get('doors', {})), room_states(found.get('rooms', {})),
            rows_by_state(found, 'moves', 'names', MAX_ACTIONS), by_state(found, 'zones'),
            found.get('guarded', False),
            rows_by_state(found, 'seconds', 'numbers', MAX_ACTIONS + 1))


class _Undescribed(RobotDescription):

    def __post_init__(self) -> None:
        """Have no actions."""


UNDESCRIBED: RobotDescription = _Undescribed(())
"""Stands for a robot side that has said nothing."""


def beside(path: Path, suffix: str) -> Path:
    """Return what is kept beside a file of an explorer, by how its name ends."""
    parts = path.name.split('.')
    return path.with_name(('.'.join(parts[:-2]) if len(parts) > 2 else parts[0]) + suffix)


def kept_beside(path: Path) -> RobotDescription:
    """Return what is kept beside a file of an explorer; ``UNDESCRIBED`` if that is nothing."""
    kept = beside(path, KEPT)
    try:
        return RobotDescription.from_text(
            read_regular(kept, 'description', 4 * MAX_TEXT).decode('utf-8'))
    except ValueError:    # FileError and UnicodeError among them
        return UNDESCRIBED


def difference(description: RobotDescription, actions: Sequence[str]) -> str:
    """Return in which way a robot side has other actions than those named, or nothing."""
    if description.actions == tuple(actions):
        return ''
    return (f'the robot side has the actions [{", ".join(description.actions)}], but the '
            f'parameter actions is [{", ".join(actions)}], expected the same names in the same '
            'order')


def spacing(positions: Iterable[Point]) -> float:
    """
    Return how far apart neighbours are at least, but 1e-6; 1 if there are no two places.

    Only points that follow each other in the order of x or of y are compared: exact on a grid,
    quick for any number.
    """
    distinct = sorted({*positions})
    across = sorted(distinct, key=lambda point: point[::-1])
    return max(1e-6, min(
        (math.dist(*pair) for points in (distinct, across) for pair in pairwise(points)),
        default=1.0))
