# SPDX-License-Identifier: Apache-2.0

"""
The entries of a robot side's description: how each is read from JSON, and what it may be.

``RobotDescription`` reads and checks itself by these. Each raises InvalidValueError, which says
which entry is wrong and what was expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import category

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import check_state, shown, state_of_key

MAX_ACTIONS = 1000
MAX_STATES = 10_000
MAX_WALLS = 40_000
MAX_NAME = 100               # characters of a name or a frame
MAX_TEXT = 4_000_000         # characters of the whole
FARTHEST = 1e9               # m from the origin, of what is drawn

Point = tuple[float, float]
Wall = tuple[float, float, float, float]


def check_length(text: str) -> None:
    """Check the length of the whole."""
    if len(text) > MAX_TEXT:
        raise InvalidValueError(f'{len(text)} characters, expected at most {MAX_TEXT}')


def entries_of(value: Any, what: str, known: Sequence[str]) -> dict[str, Any]:
    """Return an object, none of whose entries is unknown."""
    if not isinstance(value, dict):
        raise InvalidValueError(f'{what} is {shown(value)}, expected a JSON object')
    for key in value:
        if key not in known:
            raise InvalidValueError(
                f'{what} has the entry {shown(key)}, expected one of {", ".join(known)}')
    return value


def states_of(described: Mapping[str, Any]) -> tuple[dict[int, str], dict[int, Point]]:
    """Return the names and the positions of states."""
    states = by_state(described, 'states')
    _check_size(states, 'states', MAX_STATES)
    names, positions = {}, {}
    for state, entry in states.items():
        found = entries_of(entry, f'state {state}', ('name', 'x', 'y'))
        if 'name' in found:
            names[state] = found['name']
        if ('x' in found) != ('y' in found):
            raise InvalidValueError(
                f'state {state} has only one of x and y, expected both or none')
        if 'x' in found:
            positions[state] = found['x'], found['y']
    return names, positions


def by_state(found: Mapping[str, Any], name: str) -> dict[int, Any]:
    """Return what an object has for each state."""
    value = found.get(name, {})
    if not isinstance(value, dict):
        raise InvalidValueError(
            f'{name} is {shown(value)}, expected a JSON object with an entry for each state')
    return {state_of_key(key, name): each for key, each in value.items()}


def rows_by_state(found: Mapping[str, Any], name: str, each: str,
                  most: int) -> dict[int, tuple[Any, ...]]:
    """Return the list of each state, of ``each`` and at most so many."""
    return {state: tuple(_list_of(row, f'{name} of state {state}', f'a list of {each}', most))
            for state, row in by_state(found, name).items()}


def actions_of(value: Any) -> tuple[Any, ...]:
    """Return the names of the actions."""
    return tuple(_list_of(value, 'actions', 'a list of names', MAX_ACTIONS))


def walls_of(value: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the ends of the walls."""
    walls = _list_of(value, 'walls', 'a list of [x1, y1, x2, y2]', MAX_WALLS)
    return tuple(tuple(_list_of(wall, f'walls[{index}]', '[x1, y1, x2, y2]', 4))
                 for index, wall in enumerate(walls))


def check_states(names: Mapping[int, Any], positions: Mapping[int, Sequence[Any]]) -> None:
    """Check the names and the positions of states."""
    _check_size({*names, *positions}, 'states', MAX_STATES)
    for state, name in names.items():
        check_state(state, 'a state')
        check_text(name, f'the name of state {state}')
    for state, position in positions.items():
        check_state(state, 'a state')
        _check_numbers(position, 2, f'the position of state {state}', 'x and y')


def check_walls(walls: Sequence[Sequence[Any]]) -> None:
    """Check the ends of the walls."""
    _check_size(walls, 'walls', MAX_WALLS)
    for index, wall in enumerate(walls):
        _check_numbers(wall, 4, f'walls[{index}]', '[x1, y1, x2, y2]')


def check_doors(doors: Mapping[str, Sequence[Sequence[Any]]], actions: int) -> None:
    """Check the pairs of each door."""
    _check_size([pair for pairs in doors.values() for pair in pairs], 'doors', MAX_STATES)
    for name, pairs in doors.items():
        check_text(name, 'the name of a door')
        for pair in pairs:
            _check_pair(pair, f'door {shown(name)}', actions)


def check_rooms(rooms: Mapping[str, Sequence[Any]]) -> None:
    """Check the states of each room."""
    _check_size([state for room in rooms.values() for state in room], 'rooms', MAX_STATES)
    for name, room in rooms.items():
        check_text(name, 'the name of a room')
        for state in room:
            check_state(state, f'a state of room {shown(name)}')


def check_moves(moves: Mapping[int, Sequence[Any]], actions: int) -> None:
    """Check what people call the actions of each state."""
    _check_size(moves, 'moves', MAX_STATES)
    for state, names in moves.items():
        check_state(state, 'a state of moves')
        _check_size(names, f'moves of state {state}', actions)
        for action, name in enumerate(names):
            check_text(name, f'the name of action {action} in state {state}', empty=True)


def check_zones(zones: Mapping[int, Any]) -> None:
    """Check the radius of each zone."""
    _check_size(zones, 'zones', MAX_STATES)
    for state, radius in zones.items():
        check_state(state, 'a state of zones')
        _check_positive(radius, f'the zone of state {state}', 'a radius above 0 m')


def check_seconds(seconds: Mapping[int, Sequence[Any]], actions: Sequence[str]) -> None:
    """Check the times of each state: one for each action, and for RESET."""
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


def door_pairs(value: Any) -> dict[str, tuple[Pair, ...]]:
    """Return the pairs of each door."""
    return {name: tuple(tuple(_list_of(pair, f'door {shown(name)}', '[state, action]', 2))
                        for pair in pairs)
            for name, pairs in _lists_of(value, 'door', '[state, action]').items()}


def room_states(value: Any) -> dict[str, tuple[int, ...]]:
    """Return the states of each room."""
    return {name: tuple(room) for name, room in _lists_of(value, 'room', 'states').items()}


def _lists_of(value: Any, each: str, expected: str) -> dict[str, list[Any]]:
    """Return the lists for doors or rooms by the names of these."""
    if not isinstance(value, dict):
        raise InvalidValueError(
            f'{each}s is {shown(value)}, expected a JSON object with a list for each {each}')
    return {name: _list_of(found, f'{each} {shown(name)}', f'a list of {expected}', MAX_STATES)
            for name, found in value.items()}


def _list_of(value: Any, what: str, expected: str, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidValueError(f'{what} is {shown(value)}, expected {expected}')
    _check_size(value, what, most)
    return value


def check_actions(actions: Sequence[Any]) -> None:
    """Check the names of the actions."""
    if not actions:
        raise InvalidValueError('actions is empty, expected at least one name')
    _check_size(actions, 'actions', MAX_ACTIONS)
    for index, name in enumerate(actions):
        check_text(name, f'actions[{index}]')
    if len({*actions}) != len(actions):
        twice = next(name for name in actions if list(actions).count(name) > 1)
        raise InvalidValueError(f'actions has {shown(twice)} twice, expected distinct names')


def _check_size(value: Any, what: str, most: int) -> None:
    if len(value) > most:
        raise InvalidValueError(f'{what} has {len(value)} entries, expected at most {most}')


def check_text(value: Any, what: str, empty: bool = False) -> None:
    """Check what people read."""
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
