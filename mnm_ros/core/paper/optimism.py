# SPDX-License-Identifier: Apache-2.0

"""The interface of the optimistic planners, and the one of the printed UcbExplore."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math

from mnm_ros.core.model.counts import Bools, Counts, Floats, Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
import numpy as np


@dataclass(frozen=True)
class OptimisticPolicy:
    """The candidate to try next and the policy to try it with."""

    target: int
    policy: Policy


class Optimism(ABC):
    """Plans for the candidate that seems most reachable."""

    def new_counts(self) -> Counts:
        """Return counts of the kind that the planner needs, empty yet."""
        return Counts()

    @abstractmethod
    def plan(self, counts: Counts, known: Sequence[int],
             candidates: Sequence[int]) -> OptimisticPolicy | None:
        """
        Return a plan, or None if no candidate can be within reach any more.

        :param counts: of the kind of ``new_counts``.
        :param known: ``K``, home first.
        :param candidates: ``U``, not empty.
        """

    def round_failed(self) -> None:
        """Record that the last plan failed its evaluation; nothing by default."""


class DealtCounts(Counts):
    """
    Counts whose transitions are dealt in turn into disjoint sets.

    :param sets: how many; number ``j`` of a pair goes to set ``j mod sets``.

    Source: Lim & Auer 2012, section 3.2.
    """

    def __init__(self, sets: int) -> None:
        super().__init__()
        self._dealt: dict[Pair, tuple[dict[int, int], ...]] = {}
        self._sets = sets

    def add(self, state: int, action: int, next_state: int) -> tuple[int, int]:
        number, count = super().add(state, action, next_state)
        if not number:
            self._dealt[state, action] = tuple({} for _ in range(self._sets))
        part = self._dealt[state, action][number % self._sets]
        part[next_state] = part.get(next_state, 0) + 1
        return number, count

    def dealt(self, state: int, action: int) -> Sequence[Mapping[int, int]]:
        """Return the disjoint parts of ``next_states``."""
        return self._dealt[state, action] if self.visits(state, action) else [{}] * self._sets


class SplitSamples(Optimism):
    """
    Optimistic planning over a finite horizon with sample splitting, as printed.

    Each step of the horizon has its own disjoint set of samples, and the bonus
    ``sigma_k (L + 1) sqrt(G) / sqrt(max(1, N(s, a)))``.

    :param problem: with the delta of the run.
    :param accuracy: the inner accuracy ``e``.
    :param horizon: ``G``.
    :param rng: breaks ties between candidates.

    Source: Lim & Auer 2012, section 3.2.
    """

    def __init__(self, problem: Problem, accuracy: float, horizon: int,
                 rng: np.random.Generator) -> None:
        self.sets = horizon
        self._problem = problem
        self._accuracy = accuracy
        self._rng = rng
        self._failures = 1

    def new_counts(self) -> Counts:
        return DealtCounts(self.sets)

    def round_failed(self) -> None:
        """Raise ``k``, and with it every bonus."""
        self._failures += 1

    def plan(self, counts: Counts, known: Sequence[int],
             candidates: Sequence[int]) -> OptimisticPolicy | None:
        """Return the plan for a candidate with the largest ``u_G(s0)``; None below ``G - L``."""
        fractions, visits = self._model(counts, known, candidates)
        bonus = (self.deviation(len(known), len(candidates)) * (self._problem.radius + 1)
                 * math.sqrt(self.sets) / np.sqrt(np.maximum(1, visits)))
        forbidden = np.array(self._problem.support.forbidden(known, self._problem.actions))
        values = [self._backward(fractions, bonus, forbidden, len(known) + index)[0]
                  for index in range(len(candidates))]
        best = max(values)
        if best < self.sets - self._problem.radius:
            return None
        ties = [index for index, value in enumerate(values) if value == best]
        chosen = ties[self._rng.integers(len(ties))]
        _, actions = self._backward(fractions, bonus, forbidden, len(known) + chosen)
        target = candidates[chosen]
        return OptimisticPolicy(target, Policy(target, self.sets, tuple(known), actions))

    def deviation(self, known: int, candidates: int) -> float:
        """Return ``sigma_k`` for ``|K|`` and ``|U|``."""
        problem = self._problem
        return math.sqrt(math.log(
            2 * problem.all_actions * candidates * known * self.sets * self._failures ** 5
            / (self._accuracy ** 4 * problem.delta)))

    def _model(self, counts: Counts, known: Sequence[int], candidates: Sequence[int]
               ) -> tuple[Floats, Floats]:
        """
        Return frequencies [set, state, action, next] and visits [state, action].

        The last column of `next` gathers what is neither known nor a candidate. A set without
        samples has frequency zero everywhere, its marker for a sure jump to the target.
        """
        assert isinstance(counts, DealtCounts)
        column = {state: index for index, state in enumerate((*known, *candidates))}
        shape = (self.sets, len(known), self._problem.actions, len(column) + 1)
        tally = np.zeros(shape)
        for row, state in enumerate(known):
            for action in range(self._problem.actions):
                for part, nexts in enumerate(counts.dealt(state, action)):
                    for next_state, count in nexts.items():
                        tally[part, row, action, column.get(next_state, -1)] += count
        totals = tally.sum(axis=3)
        return tally / np.maximum(1, totals)[..., None], totals.sum(axis=0)

    def _backward(self, fractions: Floats, bonus: Floats, forbidden: Bools,
                  target: int) -> tuple[float, tuple[tuple[int, ...], ...]]:
        """Return ``u_G(s0)`` and the actions [step][state] for the target's column."""
        known = fractions.shape[1]
        empty = fractions.sum(axis=3) == 0
        values = np.zeros(fractions.shape[3])
        rows: list[tuple[int, ...]] = []
        for i in range(1, self.sets + 1):
            home = values[0]
            learnt = fractions[i % self.sets] @ values + bonus
            learnt[empty[i % self.sets]] = i
            q = np.where(forbidden, -np.inf, np.minimum(i, learnt))
            best = q.argmax(axis=1)
            reached = q.max(axis=1)
            rows.append(tuple(
                RESET if home > reached[s] else int(best[s]) for s in range(known)))
            values[:] = home
            values[:known] = np.maximum(home, reached)
            values[target] = i
        return float(values[0]), tuple(reversed(rows))
