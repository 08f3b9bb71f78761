# SPDX-License-Identifier: Apache-2.0

"""The least expected steps in which pairs are executed as often as evidence asks for."""

from __future__ import annotations

from collections.abc import Sequence

from alternatives import Alternatives
from growth_truth import Truth
from mnm_ros.core.model.counts import Floats
from mnm_ros.core.model.problem import RESET
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix, vstack

_MOVES_OUTSIDE = 3    # from the members, that are followed


class Flows:
    """
    How often each action, and RESET, may be played in each state on the average.

    A state is left no more often than it is entered, home once more. Beyond three moves from the
    members, a step leads to wherever is best, which can only take fewer steps than the truth.

    :param truth: the CMP and its members.
    """

    def __init__(self, truth: Truth) -> None:
        cmp = truth.cmp
        states, layer = list(truth.members), list(truth.members)
        for _ in range(_MOVES_OUTSIDE):
            known = set(states)
            layer = [after for after in dict.fromkeys(
                after for state in layer for action in range(cmp.actions)
                for after, _ in cmp.transitions(state, action)) if after not in known]
            states += layer
        index = {state: row for row, state in enumerate(states)}
        beyond, played = len(states), cmp.actions + 1
        entries = []    # row, column, how often the state is left less how often it is entered
        for row, state in enumerate(states):
            for action in (*range(cmp.actions), RESET):
                column = row * played + action % played
                entries.append((row, column, 1.0))
                entries += [(index.get(after, beyond), column, -chance)
                            for after, chance in cmp.transitions(state, action)]
            entries += [(beyond, beyond * played + row, 1.0), (row, beyond * played + row, -1.0)]
        self._shape = len(truth.members), played
        self._left = _matrix(entries, (beyond + 1, beyond * (played + 1)))
        self._evidence: list[csr_matrix] = []

    def demand(self, found: Alternatives, numbers: Sequence[int]) -> None:
        """Ask for evidence against some alternatives from now on."""
        played = self._shape[1]
        entries = [(row, int(member * played + found.moves[number, member]),
                    float(found.evidence[number, member]))
                   for row, number in enumerate(numbers)
                   for member in np.flatnonzero(
                       (found.moves[number] != RESET) & (found.evidence[number] > 0))]
        self._evidence.append(_matrix(entries, (len(numbers), self._left.shape[1])))

    def least(self, nats: float) -> tuple[float, Floats]:
        """Return the least steps with so much evidence each; executions as [member, action]."""
        told, states = vstack(self._evidence), self._left.shape[0]
        most = np.concatenate([np.zeros(states), np.full(told.shape[0], -nats)])
        most[0] = 1.0
        found = linprog(np.ones(self._left.shape[1]), A_ub=vstack([self._left, -told]), b_ub=most,
                        method='highs')
        if not found.success:
            raise RuntimeError(f'no least number of steps: {found.message}')
        members, played = self._shape
        return float(found.fun), found.x[:members * played].reshape(members, played)[:, :-1]


def _matrix(entries: Sequence[tuple[int, int, float]], shape: tuple[int, int]) -> csr_matrix:
    rows, columns, values = zip(*entries) if entries else ((), (), ())
    return coo_matrix((values, (rows, columns)), shape=shape).tocsr()
