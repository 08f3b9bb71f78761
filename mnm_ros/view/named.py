# SPDX-License-Identifier: Apache-2.0

"""Sentences of nodes, which know states by their ids, with the names that a robot side gives."""

from __future__ import annotations

import re

from mnm_ros.robot_description import RobotDescription

_ID = r'-?\d+'
_ACTION = re.compile(r'\baction (\d+)\b')
_LABEL = re.compile(rf' \(({_ID})\)')
_ONE = re.compile(
    rf'((?:\b(?:policy|way|led) to |(?:^|(?<=[^\w\s] ))(?:reached|refused|cancelled|failed) ))'
    rf'({_ID})\b|\bstate ({_ID})\b')
_SEVERAL = re.compile(rf'\bstates ({_ID}(?:, {_ID})+)|(?<=declared was )({_ID}(?:, {_ID})*)')


def place(state: int, description: RobotDescription) -> str:
    """Return what people call a state in a sentence."""
    return description.name(state) if state in description.names else f'state {state}'


def named(sentence: str, description: RobotDescription) -> str:
    """Return a sentence with names in place of ids, where there are names."""
    def action(found: re.Match[str]) -> str:
        number = int(found[1])
        known = number < len(description.actions)
        return f'"{description.actions[number]}"' if known else found[0]

    def several(found: re.Match[str]) -> str:
        states = [int(state) for state in (found[1] or found[2]).split(', ')]
        return ', '.join(place(state, description) for state in states) if (
            description.names.keys() & states) else found[0]

    def one(found: re.Match[str]) -> str:
        state = int(found[2] or found[3])
        return f'{found[1] or ""}{description.name(state)}' if (
            state in description.names) else found[0]

    def label(found: re.Match[str]) -> str:    # an id after a name that says enough
        state = int(found[1])
        before, name = found.string[:found.start()], description.name(state)
        return '' if state in description.names and before.endswith(name) else found[0]

    sentence = _ACTION.sub(action, sentence)
    return _LABEL.sub(label, _ONE.sub(one, _SEVERAL.sub(several, sentence)))
