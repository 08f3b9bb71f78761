# SPDX-License-Identifier: Apache-2.0

"""
The parts of the preset ``paper``, as a plug-in: a base, checks and a step bound.

``components`` names ``ucb_explore``, ``hoeffding`` and ``printed_step_bound``, which choose their
own parts by ``PaperOptions``. A run of ``ucb_explore`` gives a third of its delta to each of
discovery, optimism and evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
import math

from mnm_ros.core.components import StepBound
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.checking_phase import CheckingPhaseFactory
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.paper.discovery import OnTheWayDiscovery, PerVisitDiscovery
from mnm_ros.core.paper.kl_optimism import KlOptimism
from mnm_ros.core.paper.optimism import SplitSamples
from mnm_ros.core.paper.options import PaperOptions
from mnm_ros.core.paper.ucb_explore import UcbExplore, UcbParts
from mnm_ros.core.paper.window_phase import WindowPhase
from mnm_ros.core.statistics.evaluation import BettingEvaluation, Decision, Evaluation, longest
import numpy as np

CHECK_EPISODES = 40
"""Episodes per step of the horizon, for epsilon >= 1, after which a check has no objection."""


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


def evaluation(settings: Settings, known: int, delta: float, checking: bool) -> Evaluation:
    """
    Return the evaluation of one policy, as the options have it.

    While exploring, a policy is worth giving up above ``L``; in a check, above the limit.

    :param known: ``|K|``.
    :param delta: of a test by betting; the printed one has the whole delta of the run.
    """
    problem, horizon = settings.problem, settings.steps_horizon
    if PaperOptions.of(settings).evaluation == 'monte_carlo':
        return MonteCarloEvaluation(problem, settings.accuracy, known, checking)
    if checking:
        return BettingEvaluation(
            horizon, problem.limit, problem.limit, delta,
            most=math.ceil(CHECK_EPISODES * horizon / min(problem.epsilon, 1.0)))
    return BettingEvaluation(longest(horizon, problem), problem.limit, problem.radius, delta)


@dataclass(frozen=True)
class RoundEvaluations:
    """
    Makes the evaluation of each round of a run; plain data for snapshots.

    :ivar delta: of all of them. Test number ``i`` gets its part of a sum that converges to that.
    """

    settings: Settings
    delta: float

    def __call__(self, known: int, i: int) -> Evaluation:
        return evaluation(self.settings, known, self.delta / (i * (i + 1)), False)


def hoeffding(settings: Settings) -> CheckingPhaseFactory:
    """Return what makes the checking phase as printed."""
    options = PaperOptions.of(settings)
    return partial(
        WindowPhase,
        window=options.check_window, printed_addition=options.addition_test == 'printed',
        new_evaluation=lambda problem, known: evaluation(
            replace(settings, problem=problem), known, problem.delta, True))


def ucb_explore(settings: Settings, home: int, rng: np.random.Generator,
                policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
    """Return a run of UcbExplore, see ``BaseFactory``."""
    problem, horizon = settings.problem, settings.steps_horizon
    third, options = problem.delta / 3, PaperOptions.of(settings)
    optimism = (KlOptimism(problem, third, horizon) if options.optimism == 'kl' else
                SplitSamples(problem, settings.accuracy, horizon, rng))
    counts = optimism.new_counts()
    return UcbExplore(problem, home, UcbParts(
        horizon=horizon,
        counts=counts,
        optimism=optimism,
        discovery=(OnTheWayDiscovery(problem, third, counts)
                   if options.discovery == 'on_the_way' else PerVisitDiscovery(problem)),
        step_bound=StepBound(settings),
        evaluate=RoundEvaluations(settings, third),
    ), policies)


def printed_step_bound(settings: Settings, known: int) -> int:
    """
    Return ``W_r = C1 |K| A L^3 / epsilon^3 log(C2 |K| A L / (epsilon delta_r))^3``.

    Source: Gajane et al. 2019.
    """
    problem, c2 = settings.problem, PaperOptions.of(settings).c2
    size = known * problem.all_actions * problem.radius
    log = math.log(c2 * size / (problem.epsilon * problem.delta))
    return math.ceil(settings.c1 * size * problem.radius ** 2 / problem.epsilon ** 3 * log ** 3)
