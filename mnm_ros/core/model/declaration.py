# SPDX-License-Identifier: Apache-2.0

"""Statements in advance of where actions may lead: declared successors, and their chances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
import json
import math
from typing import Any

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.integers import is_state

MAX_DECLARED = 100_000    # states
MAX_ENDS = 1_000_000      # of all their actions together
AUDIT = 1 / 200
"""Share of the steps that try what is declared, unless something else is asked for."""

_WITHIN = 1e-9            # of 1, of what chances sum to
_SHOWN = 100              # characters of a value in an error


@dataclass(frozen=True)
class Declaration:
    """
    In which states actions may end, as it is said and not as it was observed.

    A state that is not a key is undeclared: its actions may lead anywhere.

    :ivar successors: of each declared state one list for each action in order, RESET not among
        them, with every state in which that action may end, itself included if it may stay. An
        empty list: the action is never to be commanded there.
    :ivar chances: of some of these states the same lists with the probability of each end, a bet:
        nothing that is promised depends on it.
    :ivar audit: the share of the steps, below 1, that try what is declared; 0 for none. With
        None, where it is not said, none is made, and a pair that turns out to be declared falsely
        is withdrawn and not widened; an exploration takes ``audited`` declarations.
    :raises ValueError: with the state, the action, what was found and what was expected.
    """

    successors: Mapping[int, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    chances: Mapping[int, tuple[tuple[float, ...], ...]] = field(default_factory=dict)
    audit: float | None = None

    def __post_init__(self) -> None:
        if len(self.successors) > MAX_DECLARED:
            raise InvalidValueError(
                f'successors has {len(self.successors)} states, expected at most '
                f'{MAX_DECLARED}')
        ends = sum(len(listed) for lists in self.successors.values() for listed in lists)
        if ends > MAX_ENDS:
            raise InvalidValueError(f'successors has {ends} ends, expected at most {MAX_ENDS}')
        for state, lists in self.successors.items():
            check_state(state, 'a state of successors')
            for action, listed in enumerate(lists):
                _check_ends(state, action, listed)
        for state, chances in self.chances.items():
            _check_chances(state, chances, self.successors.get(state))
        if self.audit is not None and not (
                type(self.audit) in (int, float) and 0 <= self.audit < 1):
            raise InvalidValueError(f'audit is {shown(self.audit)}, expected a number in [0, 1)')

    def __bool__(self) -> bool:
        """Return whether anything is declared."""
        return bool(self.successors)

    def check(self, actions: int) -> None:
        """Raise ValueError unless each declared state has so many actions."""
        for state, lists in self.successors.items():
            if len(lists) != actions:
                raise InvalidValueError(
                    f'successors of state {state} has {len(lists)} lists, expected '
                    f'{actions}: one for each action in order, RESET not among them')

    def audited(self, share: float = AUDIT) -> Declaration:
        """Return the same, tried in this share of the steps unless it says in which itself."""
        return self if self.audit is not None or not self else replace(self, audit=share)

    def depth(self, home: int) -> int:
        """Return how many steps lead from home to the farthest state, if each goes as wanted."""
        return len([*self._fronts(home)]) - 1

    def is_whole(self, home: int) -> bool:
        """Whether all states are declared that are declared to be within reach of home."""
        return all(front <= self.successors.keys() for front in self._fronts(home))

    @property
    def drives(self) -> bool:
        """Whether each pair stays or leads to one state, as drives do, and all are declared."""
        return bool(self) and all(
            len({*ends} - {state}) <= 1 and self.successors.keys() >= {*ends}
            for state, lists in self.successors.items() for ends in lists)

    def _fronts(self, home: int) -> Iterator[set[int]]:
        """Yield the states that 0, 1, 2 and so on steps lead to from home, and fewer do not."""
        met, front = {home}, {home}
        while front:
            yield front
            front = {end for state in front for ends in self.successors.get(state, ())
                     for end in ends} - met
            met |= front

    def to_json(self) -> dict[str, Any]:
        """Return those of the entries ``successors``, ``chances`` and ``audit`` that there are."""
        entries: tuple[tuple[str, Mapping[int, tuple[tuple[Any, ...], ...]]], ...] = (
            ('successors', self.successors), ('chances', self.chances))
        return {**{name: {str(state): list(map(list, lists)) for state, lists in found.items()}
                   for name, found in entries if found},
                **({} if self.audit is None else {'audit': self.audit})}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Declaration:
        """
        Return what the entries ``successors``, ``chances`` and ``audit`` of an object declare.

        :raises ValueError: says which entry is wrong and what was expected.
        """
        if 'chances' in found and 'successors' not in found:
            raise InvalidValueError(
                'chances without successors, expected both or successors alone')
        return cls(_lists(found.get('successors', {}), 'successors'),
                   _lists(found.get('chances', {}), 'chances'), found.get('audit'))


def state_of_key(key: str, what: str) -> int:
    """Return the state that is a key of a JSON object; ValueError if it is none."""
    # Other forms that int takes, as '+7', ' 7' or '0_7', would name one state in several ways.
    if not (len(key) <= 20 and key.isascii() and key.removeprefix('-').isdigit()
            and str(int(key)) == key):
        raise InvalidValueError(
            f'{what} has the entry {shown(key)}, expected the number of a state')
    return int(key)


def _lists(found: Any, name: str) -> dict[int, tuple[tuple[Any, ...], ...]]:
    """Return the lists of a JSON object with an entry for each state; not what is in them."""
    if not isinstance(found, dict):
        raise InvalidValueError(
            f'{name} is {shown(found)}, expected a JSON object with an entry for '
            'each state')
    lists = {}
    for key, each in found.items():
        state = state_of_key(key, name)
        if not isinstance(each, list) or not all(isinstance(listed, list) for listed in each):
            raise InvalidValueError(
                f'{name} of state {state} is {shown(each)}, expected one list for '
                'each action')
        lists[state] = tuple(map(tuple, each))
    return lists


def check_state(value: Any, what: str) -> None:
    """Raise ValueError unless it may be a state."""
    if not is_state(value):
        raise InvalidValueError(f'{what} is {shown(value)}, expected a state, a 64-bit integer')


def _check_ends(state: int, action: int, ends: tuple[Any, ...]) -> None:
    what = f'successors of state {state}, action {action}'
    for end in ends:
        check_state(end, what)
    if len({*ends}) != len(ends):
        raise InvalidValueError(f'{what}: {shown(ends)}, expected distinct states')


def _check_chances(state: int, chances: tuple[tuple[Any, ...], ...],
                   successors: tuple[tuple[int, ...], ...] | None) -> None:
    what = f'chances of state {state}'
    if successors is None:
        raise InvalidValueError(f'{what} without its successors, expected both')
    if len(chances) != len(successors):
        raise InvalidValueError(
            f'{what} has {len(chances)} lists, expected {len(successors)}, as its '
            'successors')
    for action, (listed, ends) in enumerate(zip(chances, successors)):
        _check_distribution(listed, len(ends), f'{what}, action {action}')


def _check_distribution(chances: tuple[Any, ...], ends: int, what: str) -> None:
    if len(chances) != ends:
        raise InvalidValueError(
            f'{what}: {len(chances)} numbers, expected {ends}, one for each '
            'successor')
    for chance in chances:
        if type(chance) not in (int, float) or not 0 <= chance <= 1:
            raise InvalidValueError(f'{what}: {shown(chance)}, expected a probability in [0, 1]')
    total = math.fsum(chances)
    if chances and abs(total - 1) > _WITHIN:
        raise InvalidValueError(f'{what}: sum to {total:.12g}, expected 1 (within {_WITHIN:g})')


def first_of(texts: Sequence[str], most: int) -> str:
    """Return so many texts, and whether there are more."""
    return ', '.join(texts[:most]) + ', ...' * (len(texts) > most)


def listed(texts: Sequence[str], most: int) -> str:
    """Return so many texts, and how many more there are."""
    more = f' and {len(texts) - most:,} more' if len(texts) > most else ''
    return ', '.join(texts[:most]) + more


def shown(value: Any) -> str:
    """Return a value as JSON, shortened."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'
