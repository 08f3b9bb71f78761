# SPDX-License-Identifier: Apache-2.0

"""The tests of the printed checking phase: is a hypothesis given up, reduced or extended."""

from __future__ import annotations

import math

from mnm_ros.core.model.problem import Problem


class HoeffdingTests:
    """
    The printed tests over the last ``n_r`` check-runs of a round.

    :param problem: with the delta ``delta_r`` of the round.
    :param known: ``|K_r|``.
    :param window: replaces ``n_r`` if positive.
    :param printed_addition: take the addition test as printed, ``delta_r - (1 - v/n_r) >
        alpha_r``. It can hold only if ``alpha_r < delta_r``, which no real ``n_r`` gives: nothing
        is ever added. The sound reading ``(1 - v/n_r) - delta_r <= alpha_r`` adds what is missed
        no more often than a reachable state would be.
    :ivar window: ``n_r``.
    :ivar alpha: ``alpha_r``.
    :ivar threshold: the fraction of failures above which a test refutes.

    Source: Gajane et al. 2019, section 5.
    """

    def __init__(self, problem: Problem, known: int, window: int = 0,
                 printed_addition: bool = False) -> None:
        self._delta = problem.delta
        # With an epsilon so large that the logarithm is below 1, the formulas mean nothing.
        log = max(1.0, math.log(known * problem.all_actions * problem.radius
                                / (problem.epsilon * problem.delta)))
        self.window = window or math.ceil(log ** 3)
        self.alpha = math.sqrt(-math.log(problem.delta) / (2 * log ** 3))
        self.threshold = self.alpha + self._delta
        self._printed_addition = printed_addition

    def refutes(self, failures: int, runs: int) -> bool:
        """Return whether ``b / n_r > alpha_r + delta_r``; for cut-off runs and for policies."""
        return failures / runs > self.threshold

    def adds(self, seen: int, runs: int) -> bool:
        """Return whether a state in the output of ``seen`` of the last ``runs`` is added."""
        missed = 1 - seen / runs
        if self._printed_addition:
            return self._delta - missed > self.alpha
        return missed - self._delta <= self.alpha
