# SPDX-License-Identifier: Apache-2.0

"""
Make the sentences about the values of the core, in a language, with names of states and actions.

``config/words`` has a table for each language: a sentence for each kind of ``Said``, with the
fields of that kind in braces, and for some kinds a plain one. Another language is another file
there, and an entry of ``LANGUAGES``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.progress.said import Said
from mnm_ros.files import config_file
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
import yaml

LANGUAGES = ('en', 'de')
"""Languages that have a table, the default first."""

_STATE = ('state', 'target', 'end')
_STATES = ('states', 'ends')


def sentence(said: Said | str | None, names: RobotDescription = UNDESCRIBED,
             language: str = LANGUAGES[0], plain: bool = False) -> str:
    """
    Return the sentence about a value.

    :param said: a text stands for itself, None for no sentence.
    :param names: of states and actions; without them, these are called by their numbers.
    :param language: one of ``LANGUAGES``.
    :param plain: whether to avoid the terms of the algorithm, and the word before an id.
    """
    if said is None or isinstance(said, str):
        return said or ''
    words, kind = table(language), type(said).__name__
    template = words['plain'].get(kind) if plain else None
    return (template or words['said'][kind]).format(**_shown(said, names, language, plain))


def figures(exploration: Exploration, names: RobotDescription = UNDESCRIBED,
            language: str = LANGUAGES[0]) -> dict[str, str]:
    """Return the figures of the diagnostics by name, as texts."""
    return {name: sentence(found, names, language) if isinstance(found, Said) else str(found)
            for name, found in exploration.diagnostics().items()}


@lru_cache(maxsize=None)
def table(language: str) -> Mapping[str, Mapping[str, str]]:
    """
    Return the words of a language: ``said`` and ``plain`` by kind of value, ``words`` for parts.

    :raises FileError: if there is no such table.
    """
    found: Mapping[str, Mapping[str, str]] = yaml.safe_load(
        config_file(f'words/{language}.yaml').read_text(encoding='utf-8'))
    return found


def places(states: Sequence[int], description: RobotDescription) -> list[str]:
    """Return what people call states; a room of which all are among them stands for these."""
    whole = {room for room, inside in description.rooms.items()
             if len(inside) > 1 and {*inside} <= {*states}}
    return [*dict.fromkeys(
        f'all of {room}' if (room := description.room(state)) in whole else (
            description.place(state)) for state in states)]


def by_room(known: Collection[int], description: RobotDescription) -> str:
    """Return how many of the states of each room are known; empty where there are no rooms."""
    return ', '.join(f'{room} {sum(state in known for state in inside)} of {len(inside)}'
                     for room, inside in description.rooms.items())


def _shown(said: Said, names: RobotDescription, language: str, plain: bool) -> dict[str, Any]:
    """Return the fields of a value as the sentence is to have them."""
    words, shown = table(language)['words'], {}
    for each in fields(said):
        name, found = each.name, getattr(said, each.name)
        shown[name] = (
            sentence(found, names, language, plain) if isinstance(found, Said) else
            _States((found,), words, names) if name in _STATE else
            _States(found, words, names) if name in _STATES else
            _action(found, getattr(said, 'state', None), words, names) if name == 'action' else
            _pairs(found, getattr(said, 'count', 0), words, names) if name == 'pairs' else
            found if isinstance(found, str) else _Number(found, words))
    return shown


@dataclass(frozen=True)
class _Number:
    """A number in the way of a language; ``{:one|several}`` chooses between two words."""

    number: float
    words: Mapping[str, str]

    def __format__(self, spec: str) -> str:
        one, either, several = spec.partition('|')
        if either:
            return one if self.number == 1 else several
        marks = {',': self.words['comma'], '.': self.words['point']}
        return ''.join(marks.get(each, each) for each in format(self.number, spec))


@dataclass(frozen=True)
class _States:
    """
    States by their names; see ``_Number`` for ``{:one|several}``.

    Before an id, ``{}`` has the word for a state, ``{:place}`` that for a place, ``{:id}`` none.
    """

    states: Sequence[int]
    words: Mapping[str, str]
    names: RobotDescription

    def __format__(self, spec: str) -> str:
        if '|' in spec:
            return format(_Number(len(self.states), self.words), spec)
        if len(self.states) == 1 and self.states[0] in self.names.names:
            return self.names.name(self.states[0])
        named = self.names.names.keys() & {*self.states}
        listed = ', '.join(places(self.states, self.names) if named else map(str, self.states))
        if spec == 'id' or spec == 'place' and named:
            return listed
        word = spec or 'state'
        return self.words[word if len(self.states) == 1 else f'{word}s'].format(listed)


def _action(action: int, state: int | None, words: Mapping[str, str],
            names: RobotDescription) -> str:
    known = 0 <= action < len(names.actions)
    return f'"{names.action_name(action, state)}"' if known else words['action'].format(action)


def _pairs(pairs: Sequence[Sequence[int]], count: int, words: Mapping[str, str],
           names: RobotDescription) -> str:
    listed = [words['pair'].format(
        action=_action(action, state, words, names), state=_States((state,), words, names))
        for state, action in pairs]
    return ', '.join(listed) + ', ...' * (count > len(pairs))
