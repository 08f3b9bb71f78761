# SPDX-License-Identifier: Apache-2.0

"""
Controlled Markov processes (CMPs): where an action may lead, and how likely.

A CMP has a start state, finitely many actions besides RESET, and any number of states, even
infinitely many, so it is asked about one (state, action) pair at a time. RESET leads to the
start state from everywhere.

Source: Lim & Auer 2012, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET

Outcomes = tuple[tuple[int, float], ...]
"""Distinct next states with their probabilities, which are positive and sum to 1."""

GRID_MOVES: Mapping[str, tuple[int, int]] = {
    'east': (0, 1), 'west': (0, -1), 'south': (1, 0), 'north': (-1, 0)}
"""Rows and columns by which each grid action moves; row 0 is the northern one."""


class Cmp(Protocol):
    """What simulation and ground truth ask of a CMP; implementations are immutable."""

    @property
    def start(self) -> int:
        """Return the state to which RESET leads."""

    @property
    def actions(self) -> int:
        """Return the number of actions without RESET, which are ``0 .. actions - 1``."""

    def transitions(self, state: int, action: int) -> Outcomes:
        """Return where ``action`` leads from ``state``; ValueError if there is no such action."""


class TableCmp:
    """A CMP given by a table of outcomes; a (state, action) without an entry stays put."""

    def __init__(self, start: int, actions: int, outcomes: Mapping[Pair, Outcomes]) -> None:
        self.start = start
        self.actions = actions
        self._outcomes = dict(outcomes)

    @classmethod
    def from_counts(cls, start: int, actions: int,
                    counts: Mapping[Pair, Mapping[int, int]]) -> TableCmp:
        """
        Return the CMP whose probabilities are the observed frequencies.

        :param counts: per (state, action) how often each next state followed, not empty.
        """
        return cls(start, actions, {
            pair: tuple((state, count / sum(seen.values())) for state, count in seen.items())
            for pair, seen in counts.items()})

    def transitions(self, state: int, action: int) -> Outcomes:
        if action == RESET:
            return ((self.start, 1.0),)
        _check_action(action, self.actions)
        return self._outcomes.get((state, action)) or ((state, 1.0),)


class MoveCmp:
    """
    A CMP in which each action moves by a rule if it succeeds, and else stays put.

    :param moves: per action a function from a state to the state it moves to.
    :param success: the probability in [0, 1] that a move succeeds.
    """

    def __init__(
        self, start: int, moves: Sequence[Callable[[int], int]], success: float,
    ) -> None:
        self.start = start
        self.actions = len(moves)
        self._moves = tuple(moves)
        self._success = success

    def transitions(self, state: int, action: int) -> Outcomes:
        if action == RESET:
            return ((self.start, 1.0),)
        _check_action(action, self.actions)
        moved = self._moves[action](state)
        if moved == state or self._success == 0:
            return ((state, 1.0),)
        if self._success == 1:
            return ((moved, 1.0),)
        return (moved, self._success), (state, 1 - self._success)


def grid_cmp(rows: Sequence[str], slip: float, actions: Sequence[str]) -> MoveCmp:
    """
    Return a grid world; the id of a state is ``row * width + column``.

    A move against a wall or the edge stays put, and so does every move that begins inside a
    wall: only RESET leads out of it.

    :param rows: strings of equal length, with ``#`` for a wall and exactly one ``S``, the start.
    :param slip: the probability of staying put instead of moving.
    :param actions: the names in ``GRID_MOVES``, in the order in which the actions are numbered.
    """
    width = len(rows[0])
    free = {
        (row, column)
        for row, cells in enumerate(rows) for column, cell in enumerate(cells) if cell != '#'}

    def move(name: str) -> Callable[[int], int]:
        down, right = GRID_MOVES[name]
        neighbour = {
            row * width + column: (row + down) * width + column + right
            for row, column in free if (row + down, column + right) in free}
        return lambda state: neighbour.get(state, state)

    return MoveCmp(''.join(rows).index('S'), [move(name) for name in actions], 1 - slip)


def _check_action(action: int, actions: int) -> None:
    if not 0 <= action < actions:
        raise ValueError(f'action is {action}, expected {RESET} (RESET) to {actions - 1}')
