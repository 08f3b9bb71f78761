# SPDX-License-Identifier: Apache-2.0

"""
The interchangeable parts by name, and how a run of a base algorithm is put together from them.

A run of ``ucb_explore`` gives a third of its delta to each of discovery, optimism and evaluation;
one of ``disco`` half to ruling out and half to certificates, most of it to tests: all states are
to be certified in the end, and the transitions that the model rests on are there by then. A
rediscovery, to which most policies are given, gives two thirds to ruling out.

To add a part, write its class and give it a row here; the option of its kind then takes its name,
and documentation and error messages have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
import math
from typing import Any

from mnm_ros.core import plug_ins
from mnm_ros.core.detection.detector import Detector
from mnm_ros.core.detection.policy_detector import DetectorFactory
from mnm_ros.core.disco.disco import Disco, DiscoParts
from mnm_ros.core.disco.evidence import CertificateEvidence
from mnm_ros.core.mnm.base import BaseAlgorithm, BaseFactory
from mnm_ros.core.mnm.checking_phase import CheckingPhaseFactory
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.paper.discovery import Discovery, OnTheWayDiscovery, PerVisitDiscovery
from mnm_ros.core.paper.kl_optimism import KlOptimism
from mnm_ros.core.paper.optimism import Optimism, SplitSamples
from mnm_ros.core.paper.ucb_explore import (
    MonteCarloEvaluation,
    printed_step_bound,
    UcbExplore,
    UcbParts,
)
from mnm_ros.core.paper.window_phase import HoeffdingTests, WindowPhase
from mnm_ros.core.planning.optimistic_planner import OptimisticPlanner
from mnm_ros.core.planning.planner import PlannerFactory
from mnm_ros.core.statistics.evaluation import BettingEvaluation, Evaluation, longest
from mnm_ros.core.watch.watch_phase import WatchPhase
import numpy as np

CHECK_EPISODES = 40
"""Episodes per step of the horizon, for epsilon >= 1, after which a check has no objection."""


def _betting(settings: Settings, known: int, delta: float, checking: bool) -> Evaluation:
    """While exploring, a policy is worth giving up above ``L``; in a check, above the limit."""
    problem, horizon = settings.problem, settings.steps_horizon
    if checking:
        return BettingEvaluation(
            horizon, problem.limit, problem.limit, delta,
            most=math.ceil(CHECK_EPISODES * horizon / min(problem.epsilon, 1.0)))
    return BettingEvaluation(longest(horizon, problem), problem.limit, problem.radius, delta)


def _monte_carlo(settings: Settings, known: int, delta: float, checking: bool) -> Evaluation:
    """As printed, with the whole delta of the run."""
    return MonteCarloEvaluation(settings.problem, settings.accuracy, known, checking)


EVALUATIONS: Mapping[str, Callable[[Settings, int, float, bool], Evaluation]] = {
    'betting': _betting, 'monte_carlo': _monte_carlo}
"""From the settings, ``|K|``, the delta of one evaluation, and whether it is in a check."""

OPTIMISMS: Mapping[str, Callable[[Settings, float, np.random.Generator], Optimism]] = {
    'kl': lambda settings, delta, rng: KlOptimism(
        settings.problem, delta, settings.steps_horizon),
    'split_samples': lambda settings, delta, rng: SplitSamples(
        settings.problem, settings.accuracy, settings.steps_horizon, rng)}
"""From the settings, the planner's part of the delta, and the generator of random choices."""

DISCOVERIES: Mapping[str, Callable[[Settings, float, Counts], Discovery]] = {
    'on_the_way': lambda settings, delta, counts: OnTheWayDiscovery(
        settings.problem, delta, counts),
    'per_visit': lambda settings, delta, counts: PerVisitDiscovery(settings.problem)}
"""From the settings, discovery's part of the delta, and the counts of the run."""


PLANNERS: Mapping[str, PlannerFactory] = {'optimistic': OptimisticPlanner}
"""From what ``PlannerFactory`` names."""

DETECTORS: Mapping[str, DetectorFactory] = {'betting': Detector}
"""From what ``DetectorFactory`` names."""


def _hoeffding(settings: Settings) -> CheckingPhaseFactory:
    return partial(
        WindowPhase,
        new_tests=lambda problem, known: HoeffdingTests(
            problem, known, settings.check_window, settings.addition_test == 'printed'),
        new_evaluation=lambda problem, known: EVALUATIONS[settings.evaluation](
            replace(settings, problem=problem), known, problem.delta, True))


CHECKS: Mapping[str, Callable[[Settings], CheckingPhaseFactory]] = {
    'hoeffding': _hoeffding,
    'watch': lambda settings: partial(
        WatchPhase, quanta=settings.watch_every, look_again=settings.look_again,
        new_detector=part('detector', settings.detector))}


def empirical_step_bound(settings: Settings, known: int) -> int:
    """
    Return an allowance per known state and action; a run that exceeds it is cut off.

    It is no theorem: the watch phase also allows for the steps that found the hypothesis.
    """
    problem = settings.problem
    quota = math.log(known * (known + 1) / (problem.delta / 3)) * problem.radius
    return math.ceil(settings.c1 * known * problem.all_actions * quota * problem.radius
                     / min(problem.epsilon, 1.0))


STEP_BOUNDS: Mapping[str, Callable[[Settings, int], int]] = {
    'empirical': empirical_step_bound, 'printed': printed_step_bound}
"""From the settings and ``|K|``."""


def _ucb_explore(settings: Settings, home: int, rng: np.random.Generator,
                 policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
    third = settings.problem.delta / 3
    optimism = OPTIMISMS[settings.optimism](settings, third, rng)
    counts = Counts(optimism.sets)
    evaluation = EVALUATIONS[settings.evaluation]
    return UcbExplore(settings.problem, home, UcbParts(
        horizon=settings.steps_horizon,
        counts=counts,
        optimism=optimism,
        discovery=DISCOVERIES[settings.discovery](settings, third, counts),
        step_bound=partial(STEP_BOUNDS[settings.step_bound], settings),
        # Test number i gets its part of a sum that converges to the third.
        evaluate=lambda known, i: evaluation(settings, known, third / (i * (i + 1)), False),
    ), policies)


def _disco(settings: Settings, home: int, rng: np.random.Generator,
           policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
    problem, horizon = settings.problem, settings.steps_horizon
    counts, (ruling_out, by_model) = Counts(), (2 / 3, 1 / 2) if policies else (1 / 2, 1 / 5)
    given = [policy.target for policy in policies]
    new_planner: PlannerFactory = part('planner', settings.planner)
    return Disco(problem, home, DiscoParts(
        horizon=horizon,
        counts=counts,
        evidence=CertificateEvidence(
            problem, horizon, problem.delta * (1 - ruling_out), counts, by_model),
        planner=new_planner(problem.delta * ruling_out, problem.radius, given),
        step_bound=partial(STEP_BOUNDS[settings.step_bound], settings),
    ), policies)


BASES: Mapping[str, BaseFactory] = {'ucb_explore': _ucb_explore, 'disco': _disco}
"""From what ``BaseFactory`` names."""

PARTS: Mapping[str, Mapping[str, Any]] = {
    'base': BASES, 'planner': PLANNERS, 'detector': DETECTORS, 'evaluation': EVALUATIONS,
    'optimism': OPTIMISMS, 'discovery': DISCOVERIES, 'checks': CHECKS, 'step_bound': STEP_BOUNDS}
"""The parts that can be chosen, by the name of the option and by their own."""


def part(kind: str, name: str) -> Any:
    """
    Return a part by the name of its option and its own, also one that another package brings.

    :raises InvalidValueError: if there is none, or if it cannot be imported.
    """
    own = PARTS[kind]
    return own[name] if name in own else plug_ins.load(kind, name, tuple(own))
