# SPDX-License-Identifier: Apache-2.0

"""
Make the sentences about the values of the core, in a language, with names of states and actions.

The tables in ``config/words`` have a sentence for each kind of ``Said``, with the fields of that
kind in braces, and for some kinds a plain one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.progress.said import Said
from mnm_ros.language import ENGLISH, listed, Number, phrase, phrase_or, Spoken, table
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED

_STATE = ('state', 'target', 'end')
_STATES = ('states', 'ends')
_TRUSTS = ('trust', 'wanted')


def sentence(said: Said | str | None, names: RobotDescription = UNDESCRIBED,
             language: str = ENGLISH, plain: bool = False) -> str:
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


@dataclass(frozen=True)
class Sentence(Spoken):
    """The sentence about a value, or a text that stands for itself."""

    said: Said | str

    def in_language(self, language: str) -> str:
        """Return the sentence, with numbers of states and actions."""
        return sentence(self.said, language=language)


def figures(exploration: Exploration, names: RobotDescription = UNDESCRIBED,
            language: str = ENGLISH) -> dict[str, str]:
    """Return the figures of the diagnostics by name, as texts."""
    return {name: sentence(found, names, language) if isinstance(found, Said) else str(found)
            for name, found in exploration.diagnostics().items()}


def places(states: Sequence[int], description: RobotDescription,
           language: str = ENGLISH) -> list[str]:
    """Return what people call states; a room of which all are among them stands for these."""
    whole = {room for room, inside in description.rooms.items()
             if len(inside) > 1 and {*inside} <= {*states}}
    return [*dict.fromkeys(
        phrase('words.room', language, room=room)
        if (room := description.room(state)) in whole else place(state, description, language)
        for state in states)]


def place(state: int, description: RobotDescription, language: str) -> str:
    """Return the name of a state, or the word for a state and its id."""
    return format(_States((state,), language, description), '')


def by_room(known: Collection[int], description: RobotDescription,
            language: str = ENGLISH) -> str:
    """Return how many of the states of each room are known; empty where there are no rooms."""
    return ', '.join(phrase(
        'figures.room', language, room=room, known=sum(state in known for state in inside),
        count=len(inside)) for room, inside in description.rooms.items())


def _shown(said: Said, names: RobotDescription, language: str, plain: bool) -> dict[str, Any]:
    """Return the fields of a value as the sentence is to have them."""
    shown: dict[str, Any] = {}
    for each in fields(said):
        name, found = each.name, getattr(said, each.name)
        shown[name] = (
            sentence(found, names, language, plain) if isinstance(found, Said) else
            _States((found,), language, names) if name in _STATE else
            _States(found, language, names) if name in _STATES else
            action_name(found, getattr(said, 'state', None), names, language)
            if name == 'action' else
            phrase_or(f'pauses.{found}', language, found) if name == 'what' else
            phrase_or(f'trust.{found}', language, found) if name in _TRUSTS else
            origin(found, language) if name == 'by' else
            _pairs(found, getattr(said, 'count', 0), names, language) if name == 'pairs' else
            found if isinstance(found, str) else Number(found, language))
    return shown


@dataclass(frozen=True)
class _States:
    """
    States by their names; see ``Number`` for ``{:one|several}``.

    Before an id, ``{}`` has the word for a state, ``{:place}`` that for a place, ``{:id}`` none.
    """

    states: Sequence[int]
    language: str
    names: RobotDescription

    def __format__(self, spec: str) -> str:
        if '|' in spec:
            return format(Number(len(self.states), self.language), spec)
        if len(self.states) == 1 and self.states[0] in self.names.names:
            return self.names.name(self.states[0])
        named = self.names.names.keys() & {*self.states}
        few = listed(places(self.states, self.names, self.language) if named else [
            *map(str, self.states)], self.language)
        if spec == 'id' or spec == 'place' and named:
            return few
        word = spec or 'state'
        return table(self.language)['words'][
            word if len(self.states) == 1 else f'{word}s'].format(few)


def origin(by: str, language: str) -> str:
    """Return from where it comes that something was asked for, as ``Event.by`` has it."""
    kind, space, name = by.partition(' ')
    return phrase_or(f'by.{kind}', language, kind) + space + name


def action_name(action: int, state: int | None, names: RobotDescription, language: str) -> str:
    """Return the name of an action in quotes, or the word for an action and its number."""
    known = 0 <= action < len(names.actions)
    return f'"{names.action_name(action, state)}"' if known else (
        table(language)['words']['action'].format(action))


def _pairs(pairs: Sequence[Sequence[int]], count: int, names: RobotDescription,
           language: str) -> str:
    listed = [phrase(
        'words.pair', language, action=action_name(action, state, names, language),
        state=place(state, names, language)) for state, action in pairs]
    return ', '.join(listed) + ', ...' * (count > len(pairs))
