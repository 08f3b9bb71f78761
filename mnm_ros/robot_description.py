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
from typing import Any
from unicodedata import category

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import check_state, Declaration, shown, state_of_key
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.json_values import load
from mnm_ros.files import read_regular

MAX_ACTIONS = 1000
MAX_STATES = 10_000
MAX_WALLS = 40_000
MAX_NAME = 100               # characters of a name or a frame
MAX_TEXT = 4_000_000         # characters of the whole
_SHOWN = 10                  # names, where one was asked for that is not there
FARTHEST = 1e9               # m from the origin, of what is drawn
KEPT = '.robot_side.json'    # after the name of an explorer, beside its checkpoints

Point = tuple[float, float]
Wall = tuple[float, float, float, float]


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
        _check_actions(self.actions)
        if self.home is not None:
            check_state(self.home, 'home')
        _check_text(self.frame, 'frame', empty=True)
        _check_size({*self.names, *self.positions}, 'states', MAX_STATES)
        _check_size(self.walls, 'walls', MAX_WALLS)
        for state, name in self.names.items():
            check_state(state, 'a state')
            _check_text(name, f'the name of state {state}')
        for state, position in self.positions.items():
            check_state(state, 'a state')
            _check_numbers(position, 2, f'the position of state {state}', 'x and y')
        for index, wall in enumerate(self.walls):
            _check_numbers(wall, 4, f'walls[{index}]', '[x1, y1, x2, y2]')
        self.declaration.check(len(self.actions))
        _check_size([pair for pairs in self.doors.values() for pair in pairs], 'doors', MAX_STATES)
        for name, pairs in self.doors.items():
            _check_text(name, 'the name of a door')
            for pair in pairs:
                _check_pair(pair, f'door {shown(name)}', len(self.actions))
        _check_size([state for room in self.rooms.values() for state in room], 'rooms', MAX_STATES)
        for name, room in self.rooms.items():
            _check_text(name, 'the name of a room')
            for state in room:
                check_state(state, f'a state of room {shown(name)}')
        _check_moves(self.moves, len(self.actions))
        _check_zones(self.zones)
        _check_seconds(self.seconds, self.actions)
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
            ', as no names of states are known'))

    def after(self, before: RobotDescription) -> RobotDescription:
        """Return it with the names of states that were said before, if it is of the same world."""
        names = {**before.names, **self.names}
        if not self.of_the_world_of(before) or len({*names, *self.positions}) > MAX_STATES:
            return self
        return replace(self, names=names)

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
        _check_length(text)
        return text

    @classmethod
    def from_text(cls, text: str) -> RobotDescription:
        """
        Read what ``to_text`` has returned, or what another program has written.

        :raises ValueError: says which entry is wrong and what was expected.
        """
        _check_length(text)
        found = _entries(load('the description', text, distinct=True), 'the description', (
            'actions', 'home', 'frame', 'states', 'walls', 'successors', 'chances', 'doors',
            'rooms', 'moves', 'zones', 'guarded', 'seconds'))
        if 'actions' not in found:
            raise InvalidValueError('actions are missing, expected a list of names')
        names, positions = _states(found)
        walls = _list(found.get('walls', []), 'walls', 'a list of [x1, y1, x2, y2]', MAX_WALLS)
        actions = tuple(_list(found['actions'], 'actions', 'a list of names', MAX_ACTIONS))
        return cls(
            actions, found.get('home'), found.get('frame', ''), names, positions,
            tuple(tuple(_list(wall, f'walls[{index}]', '[x1, y1, x2, y2]', 4))
                  for index, wall in enumerate(walls)), Declaration.from_json(found),
            _door_pairs(found.get('doors', {})), _room_states(found.get('rooms', {})),
            {state: tuple(_list(names, f'moves of state {state}', 'a list of names', MAX_ACTIONS))
             for state, names in _by_state(found, 'moves').items()},
            _by_state(found, 'zones'), found.get('guarded', False),
            {state: tuple(_list(times, f'seconds of state {state}', 'a list of numbers',
                                MAX_ACTIONS + 1))
             for state, times in _by_state(found, 'seconds').items()})


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


def _check_length(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise InvalidValueError(f'{len(text)} characters, expected at most {MAX_TEXT}')


def _entries(value: Any, what: str, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidValueError(f'{what} is {shown(value)}, expected a JSON object')
    for key in value:
        if key not in known:
            raise InvalidValueError(
                f'{what} has the entry {shown(key)}, expected one of {", ".join(known)}')
    return value


def _states(described: Mapping[str, Any]) -> tuple[dict[int, str], dict[int, Point]]:
    """Return the names and the positions of states."""
    states = _by_state(described, 'states')
    _check_size(states, 'states', MAX_STATES)
    names, positions = {}, {}
    for state, entry in states.items():
        found = _entries(entry, f'state {state}', ('name', 'x', 'y'))
        if 'name' in found:
            names[state] = found['name']
        if ('x' in found) != ('y' in found):
            raise InvalidValueError(
                f'state {state} has only one of x and y, expected both or none')
        if 'x' in found:
            positions[state] = found['x'], found['y']
    return names, positions


def _by_state(found: Mapping[str, Any], name: str) -> dict[int, Any]:
    value = found.get(name, {})
    if not isinstance(value, dict):
        raise InvalidValueError(
            f'{name} is {shown(value)}, expected a JSON object with an entry for each state')
    return {state_of_key(key, name): each for key, each in value.items()}


def _check_moves(moves: Mapping[int, Sequence[Any]], actions: int) -> None:
    _check_size(moves, 'moves', MAX_STATES)
    for state, names in moves.items():
        check_state(state, 'a state of moves')
        _check_size(names, f'moves of state {state}', actions)
        for action, name in enumerate(names):
            _check_text(name, f'the name of action {action} in state {state}', empty=True)


def _check_zones(zones: Mapping[int, Any]) -> None:
    _check_size(zones, 'zones', MAX_STATES)
    for state, radius in zones.items():
        check_state(state, 'a state of zones')
        _check_positive(radius, f'the zone of state {state}', 'a radius above 0 m')


def _check_seconds(seconds: Mapping[int, Sequence[Any]], actions: Sequence[str]) -> None:
    _check_size(seconds, 'seconds', MAX_STATES)
    named = (*actions, 'RESET')
    for state, times in seconds.items():
        check_state(state, 'a state of seconds')
        if len(times) > len(named):
            raise InvalidValueError(f'seconds of state {state} are {len(times)}, expected '
                                    f'{len(named)}: one for each action, and for RESET')
        for action, name in enumerate(named):
            what = f'the time of {name} in state {state}'
            if action >= len(times):
                raise InvalidValueError(f'{what} is missing, expected seconds above 0')
            _check_positive(times[action], what, 'seconds above 0')


def _check_positive(value: Any, what: str, expected: str) -> None:
    _check_numbers((value,), 1, what, expected)
    if value <= 0:
        raise InvalidValueError(f'{what} is {value}, expected {expected}')


def _door_pairs(value: Any) -> dict[str, tuple[Pair, ...]]:
    return {name: tuple(tuple(_list(pair, f'door {shown(name)}', '[state, action]', 2))
                        for pair in pairs)
            for name, pairs in _lists(value, 'door', '[state, action]').items()}


def _room_states(value: Any) -> dict[str, tuple[int, ...]]:
    return {name: tuple(room) for name, room in _lists(value, 'room', 'states').items()}


def _lists(value: Any, each: str, expected: str) -> dict[str, list[Any]]:
    """Return the lists for doors or rooms by the names of these."""
    if not isinstance(value, dict):
        raise InvalidValueError(
            f'{each}s is {shown(value)}, expected a JSON object with a list for each {each}')
    return {name: _list(found, f'{each} {shown(name)}', f'a list of {expected}', MAX_STATES)
            for name, found in value.items()}


def _list(value: Any, what: str, expected: str, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidValueError(f'{what} is {shown(value)}, expected {expected}')
    _check_size(value, what, most)
    return value


def _check_actions(actions: Sequence[Any]) -> None:
    if not actions:
        raise InvalidValueError('actions is empty, expected at least one name')
    _check_size(actions, 'actions', MAX_ACTIONS)
    for index, name in enumerate(actions):
        _check_text(name, f'actions[{index}]')
    if len({*actions}) != len(actions):
        twice = next(name for name in actions if list(actions).count(name) > 1)
        raise InvalidValueError(f'actions has {shown(twice)} twice, expected distinct names')


def _check_size(value: Any, what: str, most: int) -> None:
    if len(value) > most:
        raise InvalidValueError(f'{what} has {len(value)} entries, expected at most {most}')


def _check_text(value: Any, what: str, empty: bool = False) -> None:
    if not isinstance(value, str) or not (value or empty) or len(value) > MAX_NAME:
        raise InvalidValueError(
            f'{what} is {shown(value)}, expected {"at most" if empty else "1 to"} {MAX_NAME} '
            'characters')
    # They move the cursor of a terminal, or cannot be sent on.
    if any(category(character) in ('Cc', 'Cs') for character in value):
        raise InvalidValueError(
            f'{what} is {shown(value)}, expected no control characters and no '
            'halves of characters')


def _check_pair(pair: Sequence[Any], what: str, actions: int) -> None:
    if len(pair) != 2 or type(pair[1]) is not int or not 0 <= pair[1] < actions:
        raise InvalidValueError(f'{what} has {shown(list(pair))}, expected [state, action] with '
                                f'an action from 0 to {actions - 1}')
    check_state(pair[0], f'a state of {what}')


def _check_numbers(value: Sequence[Any], count: int, what: str, expected: str) -> None:
    if len(value) != count or not all(
            isinstance(number, (int, float)) and not isinstance(number, bool)
            and abs(number) < FARTHEST for number in value):
        raise InvalidValueError(
            f'{what} is {shown([*value] if count > 1 else value[0])}, expected {expected}, '
            f'{"finite numbers" if count > 1 else "a finite number"} below {FARTHEST:g}')
