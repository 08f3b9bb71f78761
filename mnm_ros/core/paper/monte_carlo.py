# SPDX-License-Identifier: Apache-2.0

"""Policy evaluation of the printed UcbExplore."""

from __future__ import annotations

import math

from mnm_ros.core.model.problem import Problem
from mnm_ros.core.statistics.evaluation import Decision, Evaluation


class MonteCarloEvaluation(Evaluation):
    """
    Policy evaluation as printed: ``lambda`` episodes.

    :param problem: with the delta of the run.
    :param accuracy: the inner accuracy ``e``.
    :param known: ``|K|``.
    :param checking: whether a policy that was accepted before is checked. An episode that is
        broken off counts against a new policy and for one that is checked.

    Source: Lim & Auer 2012, section 3.3.
    """

    ends_outside = False
    continues = False

    def __init__(self, problem: Problem, accuracy: float, known: int,
                 checking: bool = False) -> None:
        super().__init__()
        e = accuracy
        self.episodes = math.ceil(6 / e ** 3 * math.log(16 * known ** 2 / problem.delta))
        self._radius = problem.radius
        self._accuracy = e
        self._checking = checking

    @property
    def evidence(self) -> tuple[float, float]:
        """Return the episodes so far and those that are due."""
        return float(self.played), float(self.episodes)

    def break_off(self, length: int, horizon: int) -> None:
        """Count an episode that was broken off as the paper, which knows none, would have to."""
        if self._checking:
            self.record(length, False)
        else:
            super().break_off(length, horizon)

    def _judge(self, length: int, failed: bool) -> Decision:
        """Both means are divided by ``lambda``, not by the episodes so far, as printed."""
        e = self._accuracy
        steps = self._lengths / self.episodes + e * self._radius
        failure = self._failures / self.episodes + e
        if failure >= 1 or (steps + failure) / (1 - failure) > (1 + 8 * e) * self._radius:
            return Decision.BAD
        return Decision.GOOD if self.played >= self.episodes else Decision.UNDECIDED
