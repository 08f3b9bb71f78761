# SPDX-License-Identifier: Apache-2.0

"""
The interchangeable parts by name, and how a run of a base algorithm is put together from them.

A run of ``disco`` gives half of its delta to ruling out and half to certificates, most of it to
tests: all states are to be certified in the end, and the transitions that the model rests on are
there by then. A rediscovery begins with most policies, so it gives two thirds to ruling out. A
run that begins with a declaration gives one third to ruling out, as the declaration does most of
that, and nearly all of the rest to tests.

To add a part, write its class and give it a row here; the option of its kind then takes its name,
and documentation and error messages have it. The parts of ``paper`` and ``improve`` are plug-ins:
as those of another package, they are named as ``module:factory`` and imported once asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
import math
from typing import Any

from mnm_ros.core import plug_ins
from mnm_ros.core.detection.detector import Detector, DetectorFactory
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.disco.evidence import CertificateEvidence
from mnm_ros.core.mnm.base import BaseAlgorithm, BaseFactory
from mnm_ros.core.mnm.checking_phase import CheckingPhaseFactory, ChecksFactory
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.planning.optimistic_planner import OptimisticPlanner
from mnm_ros.core.planning.planner import PlannerFactory
from mnm_ros.core.watch.watch_phase import WatchPhase
import numpy as np

_PAPER = 'mnm_ros.core.paper.plug_in'

PLANNERS: Mapping[str, PlannerFactory] = {'optimistic': OptimisticPlanner}
"""From what ``PlannerFactory`` names."""

DETECTORS: Mapping[str, DetectorFactory] = {'betting': Detector}
"""From what ``DetectorFactory`` names."""


def _watch(settings: Settings) -> CheckingPhaseFactory:
    return partial(
        WatchPhase, quanta=settings.watch_every, look_again=settings.look_again,
        new_detector=part('detector', settings.detector),
        new_background=plug_ins.imported('mnm_ros.core.improve.improvements:Improvements'))


CHECKS: Mapping[str, ChecksFactory | str] = {
    'hoeffding': f'{_PAPER}:hoeffding', 'watch': _watch}
"""From what ``ChecksFactory`` names."""


def empirical_step_bound(settings: Settings, known: int) -> int:
    """
    Return an allowance per known state and action; a run that exceeds it is cut off.

    It is no theorem: the watch phase also allows for the steps that found the hypothesis.
    """
    problem = settings.problem
    quota = math.log(known * (known + 1) / (problem.delta / 3)) * problem.radius
    return math.ceil(settings.c1 * known * problem.all_actions * quota * problem.radius
                     / min(problem.epsilon, 1.0))


STEP_BOUNDS: Mapping[str, Callable[[Settings, int], int] | str] = {
    'empirical': empirical_step_bound, 'printed': f'{_PAPER}:printed_step_bound'}
"""From the settings and ``|K|``."""


@dataclass(frozen=True)
class StepBound:
    """The most steps of a run by ``|K|``, as its settings have it; plain data for snapshots."""

    settings: Settings

    def __call__(self, known: int) -> int:
        bound: int = part('step_bound', self.settings.step_bound)(self.settings, known)
        return bound


def _disco(settings: Settings, home: int, rng: np.random.Generator,
           policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
    problem, horizon = settings.problem, settings.steps_horizon
    ruling_out, by_model = (2 / 3, 1 / 2) if policies else (
        1 / 3, 1 / 10) if problem.support else (1 / 2, 1 / 5)
    given = [policy.target for policy in policies]
    new_planner: PlannerFactory = part('planner', settings.planner)
    return Disco(
        problem, home, horizon,
        evidence=CertificateEvidence(problem, problem.delta * (1 - ruling_out), by_model),
        planner=new_planner(problem.delta * ruling_out, problem.radius, given),
        step_bound=StepBound(settings),
        policies=policies)


BASES: Mapping[str, BaseFactory | str] = {
    'ucb_explore': f'{_PAPER}:ucb_explore', 'disco': _disco}
"""From what ``BaseFactory`` names."""

PARTS: Mapping[str, Mapping[str, Any]] = {
    'base': BASES, 'planner': PLANNERS, 'detector': DETECTORS, 'checks': CHECKS,
    'step_bound': STEP_BOUNDS}
"""The parts that can be chosen, by option and name: a class, or the ``module:factory`` of one."""


OPTION_SETS = ('mnm_ros.core.paper.options:PaperOptions',)
"""Dataclasses of plug-ins whose fields are options, beside those of ``Settings``."""


def part(kind: str, name: str) -> Any:
    """
    Return a part by the name of its option and its own, also one that another package brings.

    :raises InvalidValueError: if there is none, or if it cannot be imported.
    """
    own = PARTS[kind]
    found = own.get(name)
    if isinstance(found, str):
        return plug_ins.imported(found)
    return plug_ins.load(kind, name, tuple(own)) if found is None else found
