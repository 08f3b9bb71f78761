# SPDX-License-Identifier: Apache-2.0

"""
What a robot that knows the CMP would do: the shortest ways between the states within reach.

All targets are computed at once, in arrays, so that a thousand states take seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import Cmp
import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

TOLERANCE = 1e-9


class Truth:
    """
    The states of a CMP within a radius, found as in the definition of ``S_L->``.

    :ivar members: these states, home first.
    :ivar times: the least expected steps from each (row) to each (column).
    :ivar choices: the action that the shortest way from each to each begins with, RESET included.
    """

    def __init__(self, cmp: Cmp, radius: float) -> None:
        self.cmp, self.radius = cmp, radius
        self.members = [cmp.start]
        while added := self._within():
            self.members += added
        self.times, self.choices = self._ways(self.members)

    def _within(self) -> list[int]:
        known = set(self.members)
        border = list(dict.fromkeys(
            after for state in self.members for action in range(self.cmp.actions)
            for after, _ in self.cmp.transitions(state, action) if after not in known))
        if not border:
            return []
        times, _ = self._ways(border)
        return [state for state, steps in zip(border, times[0])
                if steps <= self.radius * (1 + TOLERANCE)]

    def _moves(self, targets: Sequence[int]) -> tuple[csr_matrix, csr_matrix]:
        """Return the chances of moves to members and to targets, a row for each pair."""
        index = {state: row for row, state in enumerate(self.members)}
        columns = {state: column for column, state in enumerate(targets)}
        inside: list[tuple[int, int, float]] = []
        hits: list[tuple[int, int, float]] = []
        for state, row in index.items():
            for action in range(self.cmp.actions):
                pair = row * self.cmp.actions + action
                for after, chance in self.cmp.transitions(state, action):
                    if after in index:
                        inside.append((pair, index[after], chance))
                    elif after in columns:
                        hits.append((pair, columns[after], chance))
        pairs = len(self.members) * self.cmp.actions
        return (_matrix(inside, (pairs, len(self.members))),
                _matrix(hits, (pairs, len(targets))))

    def _ways(self, targets: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the times and the choices from members to targets, by value iteration."""
        moves, hits = self._moves(targets)
        count, actions = len(self.members), self.cmp.actions
        index = {state: row for row, state in enumerate(self.members)}
        own = [(index[state], column) for column, state in enumerate(targets) if state in index]
        rows, columns = (np.array(part, dtype=int) for part in zip(*own)) if own else ([], [])
        elsewhere = 1 - np.asarray(moves.sum(axis=1)) - hits.toarray()
        times = np.zeros((count, len(targets)))
        while True:
            away = 1 + times[0]
            best_of = (1 + moves @ times + elsewhere * away).reshape(count, actions, -1)
            best = np.minimum(best_of.min(axis=1), away)
            best[rows, columns] = 0.0
            change = best - times
            times = best
            # Those beyond the radius only get later.
            if change[:, times[0] <= self.radius].max(initial=0.0) < TOLERANCE:
                break
        choices = best_of.argmin(axis=1)
        choices[best_of.min(axis=1) > away] = RESET
        return times, choices

    def hypothesis(self) -> Hypothesis:
        """Return the hypothesis of one that knows the CMP: the shortest way to each member."""
        known = tuple(self.members)
        return Hypothesis(1, 0, int(4 * self.radius), tuple(
            Policy(target, int(4 * self.radius), known,
                   (tuple(int(action) for action in self.choices[:, column]),))
            for column, target in enumerate(known)))


def _matrix(entries: Iterable[tuple[int, int, float]], shape: tuple[int, int]) -> csr_matrix:
    rows, columns, values = zip(*entries) if entries else ((), (), ())
    return coo_matrix((values, (rows, columns)), shape=shape).tocsr()
