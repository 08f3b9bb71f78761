# SPDX-License-Identifier: Apache-2.0

"""Sentences of nodes, which know states by their ids, with the names that a robot side gives."""

from __future__ import annotations

from collections.abc import Callable
import re

from mnm_ros.robot_description import RobotDescription

_ID = r'-?\d+'
_PAIR = re.compile(rf'\baction ({_ID}) in state ({_ID})\b')
_LABEL = re.compile(rf' \(({_ID})\)')
_ONE = re.compile(
    rf'((?:\b(?:policy|way|led) to |(?:^|(?<=[^\w\s] ))(?:reached|refused|cancelled|failed) ))'
    rf'({_ID})\b|\bstate ({_ID})\b')
_SEVERAL = re.compile(rf'\bstates ({_ID}(?:, {_ID})+)|(?<=declared was )({_ID}(?:, {_ID})*)')


def named(sentence: str, description: RobotDescription) -> str:
    """Return a sentence with names in place of ids, where there are names."""
    if not description.names:
        return sentence
    named_pairs = _PAIR.sub(_pair(description), sentence)
    several = _SEVERAL.sub(lambda found: _several(found, description), named_pairs)
    return _LABEL.sub(lambda found: _shorter(found, description), _ONE.sub(
        lambda found: _one(found, description), several))


def _pair(description: RobotDescription) -> Callable[[re.Match[str]], str]:
    def name(found: re.Match[str]) -> str:
        action, state = int(found[1]), int(found[2])
        where = description.name(state) if state in description.names else f'state {state}'
        return f'{description.action_name(action)} in {where}'
    return name


def _one(found: re.Match[str], description: RobotDescription) -> str:
    state = int(found[2] or found[3])
    return f'{found[1] or ""}{description.name(state)}' if (
        state in description.names) else found[0]


def _several(found: re.Match[str], description: RobotDescription) -> str:
    states = [int(state) for state in (found[1] or found[2]).split(', ')]
    return ', '.join(map(description.name, states)) if (
        description.names.keys() & states) else found[0]


def _shorter(found: re.Match[str], description: RobotDescription) -> str:
    """Leave the id out after a name that says enough."""
    state = int(found[1])
    before, name = found.string[:found.start()], description.name(state)
    return '' if state in description.names and before.endswith(name) else found[0]
