# SPDX-License-Identifier: Apache-2.0

"""Sentences of nodes, which know states by their ids, with the names that a robot side gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
import re

from mnm_ros.robot_description import RobotDescription

_ID = r'-?\d+'
_FOUND = re.compile(
    rf'\baction (?P<action>\d+)\b(?:(?= in state (?P<at>{_ID})\b))?'
    rf'|\bstates (?P<states>{_ID}(?:, {_ID})+)'
    r'|(?:(?<=declared was )|(?<=has no policy, expected one of \[))'
    rf'(?P<ends>{_ID}(?:, {_ID})*)'
    r'|(?P<before>\b(?:(?:policy|way|led) to|attempts reached) '
    r'|(?:^|(?<=[^\w\s] ))(?:reached|refused|cancelled|failed) )'
    rf'(?P<target>{_ID})\b|\bstate (?P<state>{_ID})\b')


def place(state: int, description: RobotDescription) -> str:
    """Return what people call a state in a sentence."""
    return description.name(state) if state in description.names else f'state {state}'


def places(states: Sequence[int], description: RobotDescription) -> list[str]:
    """Return what people call states; a room of which all are among them stands for these."""
    whole = {room for room, inside in description.rooms.items()
             if len(inside) > 1 and {*inside} <= {*states}}
    return [*dict.fromkeys(
        f'all of {room}' if (room := description.room(state)) in whole else (
            place(state, description)) for state in states)]


def by_room(known: Collection[int], description: RobotDescription) -> str:
    """Return how many of the states of each room are known; empty where there are no rooms."""
    return ', '.join(f'{room} {sum(state in known for state in inside)} of {len(inside)}'
                     for room, inside in description.rooms.items())


def named(sentence: str, description: RobotDescription) -> str:
    """
    Return a sentence with names in place of ids, where there are names.

    To be called once for a sentence: a name may look like an id.
    """
    names = description.names

    def name(found: re.Match[str]) -> str:
        kind = found.lastgroup
        assert kind is not None
        if kind in ('action', 'at'):
            number, at = int(found['action']), int(found['at']) if found['at'] else None
            known = number < len(description.actions)
            return f'"{description.action_name(number, at)}"' if known else found[0]
        if kind in ('states', 'ends'):
            states = [int(state) for state in found[kind].split(', ')]
            return ', '.join(places(states, description)) if names.keys() & states else (
                found[0])
        state = int(found[kind])
        return f'{found["before"] or ""}{description.name(state)}' if state in names else found[0]

    return _FOUND.sub(name, sentence)


def named_values(values: Mapping[str, object], description: RobotDescription,
                 ) -> dict[str, object]:
    """Return figures with names in the sentences among them."""
    return {key: named(value, description) if isinstance(value, str) else value
            for key, value in values.items()}
