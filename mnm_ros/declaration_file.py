# SPDX-License-Identifier: Apache-2.0

"""
Files that declare where actions may lead: YAML, of which JSON is a part.

They have the entries ``successors`` and, if wanted, ``chances``, as
``docs/reference/robot_side.md`` has them. Imports no ROS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from mnm_ros.core.model.declaration import Declaration, state_of_key
from mnm_ros.located_yaml import Entry, Keys, read

_T = TypeVar('_T')
_Lists = dict[int, tuple[tuple[_T, ...], ...]]


def load(path: Path, actions: int) -> Declaration:
    """
    Return what a file declares.

    :param actions: how many there are, without RESET.
    :raises FileError: with the file, the line, what was found and what was expected.
    """
    root = read(path, 'declaration')
    keys = root.mapping('a declaration', ('successors', 'chances'))
    keys.required('successors', 'what the actions of each state may lead to')
    successors, places = _lists(keys, 'successors', lambda end: end.integer('a state'))
    chances, bets = _lists(
        keys, 'chances', lambda chance: chance.number('a probability', 0, 1))
    for state, place in places.items():    # one by one, so that an error has its line
        with _at(place):
            Declaration({state: successors[state]}).check(actions)
    for state, place in bets.items():
        with _at(place):
            Declaration(_only(successors, state), {state: chances[state]})
    with _at(root):
        return Declaration(successors, chances)


def _lists(keys: Keys, name: str, read_one: Callable[[Entry], _T],
           ) -> tuple[_Lists[_T], dict[int, Entry]]:
    """Return the lists of one entry by state, and the place of each state."""
    found: _Lists[_T] = {}
    places: dict[int, Entry] = {}
    if name not in keys:
        return found, places
    for key, entry in keys[name][1].mapping('a mapping from states to lists').values():
        state = _state(key, name)
        if state in found:
            raise key.error(f'state {state} appears twice, expected it once')
        places[state] = key
        found[state] = tuple(tuple(map(read_one, _items(each, 'a list')))
                             for each in _items(entry, 'one list for each action'))
    return found, places


def _items(entry: Entry, what: str) -> list[Entry]:
    """Return the entries of a list, which may be empty."""
    if entry.kind is not list:
        raise entry.unexpected(what)
    return list(entry.content)


def _state(key: Entry, name: str) -> int:
    """Return the state of a key, which in JSON is a text."""
    value = key.scalar('a state')
    if not isinstance(value, str):
        return key.integer('a state')
    with _at(key):
        return state_of_key(value, name)


def _only(found: _Lists[_T], state: int) -> _Lists[_T]:
    return {state: found[state]} if state in found else {}


@contextmanager
def _at(entry: Entry) -> Iterator[None]:
    """Make an error one at an entry of the file."""
    try:
        yield
    except ValueError as error:
        raise entry.error(str(error)) from None
