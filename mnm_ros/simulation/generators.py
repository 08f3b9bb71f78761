# SPDX-License-Identifier: Apache-2.0

"""
CMPs given by rules, for state sets that are too large to list.

To add one, write a function from its parameters to ``Rules``, and give it a row in ``GENERATORS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

_LAST = 2**63 - 1


@dataclass(frozen=True)
class Rules:
    """The start state, per action name the move of a state, and how likely a move succeeds."""

    start: int
    moves: Mapping[str, Callable[[int], int]]
    success: float


@dataclass(frozen=True)
class Parameter:
    """A number that a scenario may set, with its default and its range."""

    default: float
    minimum: float
    maximum: float


@dataclass(frozen=True)
class Generator:
    """A row of the table: how to build the rules, and the parameters by name."""

    build: Callable[..., Rules]
    actions: tuple[str, ...]
    parameters: Mapping[str, Parameter]


def endless_corridor(success: float) -> Rules:
    """Return a corridor in which every integer is a state and 0 is home."""
    return Rules(0, {
        'east': lambda state: min(state + 1, _LAST),
        'west': lambda state: max(state - 1, -_LAST),
    }, success)


def endless_tree(success: float) -> Rules:
    """
    Return a binary tree with root 1, in which node ``n`` has the children ``2n``, ``2n + 1``.

    No action leads up. Moves stay put on the 63rd level, the last one that fits into int64.
    """
    return Rules(1, {
        'left': lambda state: 2 * state if 2 * state < _LAST else state,
        'right': lambda state: 2 * state + 1 if 2 * state < _LAST else state,
    }, success)


GENERATORS: Mapping[str, Generator] = {
    'endless_corridor': Generator(
        endless_corridor, ('east', 'west'), {'success': Parameter(0.9, 0.0, 1.0)}),
    'endless_tree': Generator(
        endless_tree, ('left', 'right'), {'success': Parameter(0.9, 0.0, 1.0)}),
}
