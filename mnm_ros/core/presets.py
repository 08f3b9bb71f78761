"""The presets: named sets of interchangeable parts, each of which can be overridden.

To add a part, write its class and give it a name here; parameters, launch files and
documentation find it by that name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
import importlib
import math
from types import MappingProxyType
from typing import Any, Union

import numpy as np

from mnm_ros.core.as_printed.monte_carlo import MonteCarloEvaluation
from mnm_ros.core.as_printed.per_visit_discovery import PerVisitDiscovery
from mnm_ros.core.as_printed.split_samples import SplitSamples
from mnm_ros.core.as_printed.window_phase import WindowPhase
from mnm_ros.core.as_printed.window_tests import BinomialChecks, HoeffdingTests
from mnm_ros.core.base import BaseAlgorithm
from mnm_ros.core.certificate import ConfidenceSets
from mnm_ros.core.checking_phase import CheckingPhaseFactory
from mnm_ros.core.counts import Counts
from mnm_ros.core.disco import Disco, DiscoParts, Sampling
from mnm_ros.core.discovery import Discovery, OnTheWayDiscovery
from mnm_ros.core.evaluation import BettingEvaluation, Evaluation
from mnm_ros.core.kl_optimism import KlOptimism
from mnm_ros.core.mnm import Mnm
from mnm_ros.core.optimism import Optimism
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import Problem
from mnm_ros.core.streams import StreamSchedule
from mnm_ros.core.ucb_explore import UcbExplore, UcbParts
from mnm_ros.core.watch_phase import WatchPhase

Value = Union[str, int, float]


@dataclass(frozen=True)
class Option:
    """A part or a constant that can be overridden; the empty value means the preset's.

    importable: whether ``module:name`` is allowed beside the choices.
    """

    name: str
    description: str
    default: Value
    choices: tuple[str, ...] = ()
    minimum: float = 0.0
    maximum: float = math.inf
    importable: bool = False


@dataclass(frozen=True)
class Settings:
    """A problem with every option resolved; the fields are the options by name."""

    problem: Problem
    preset: str
    base: str
    evaluation: str
    optimism: str
    discovery: str
    checks: str
    addition_test: str
    stream_data: str
    stream_exponent: float
    accuracy_divisor: float
    horizon: int
    step_bound: str
    c1: float
    c2: float
    check_window: int
    check_steps: int
    watch_every: int

    @property
    def accuracy(self) -> float:
        """The inner accuracy ``e = min(eps, 1) / accuracy_divisor``."""
        return min(self.problem.epsilon, 1.0) / self.accuracy_divisor

    @property
    def steps_horizon(self) -> int:
        """``G``: as overridden, else ``ceil((1 + 1/e) L)``."""
        return self.horizon or math.ceil((1 + 1 / self.accuracy) * self.problem.radius)


@dataclass(frozen=True)
class _Context:
    """What a part of a base run may be made from."""

    settings: Settings
    problem: Problem
    counts: Counts
    rng: np.random.Generator

    @classmethod
    def of(cls, settings: Settings, problem: Problem, rng: np.random.Generator) -> _Context:
        """Return the context of a fresh run, its counts dealt as the planner needs them."""
        sets = settings.steps_horizon if settings.optimism == 'split_samples' else 1
        return cls(settings, problem, Counts(sets), rng)

    def check(self, known: int) -> Evaluation:
        """Return a policy evaluation for the checks of a hypothesis with ``|K| = known``."""
        return EVALUATIONS[self.settings.evaluation](self, known, self.problem.delta, True)

    def step_bound(self, known: int) -> int:
        """Return ``W`` for ``|K| = known``."""
        return STEP_BOUNDS[self.settings.step_bound](self, known)

    @property
    def share(self) -> float:
        """A third of the run's delta: one each for discovery, optimism, evaluation."""
        return self.problem.delta / 3

    @property
    def ease(self) -> float:
        """``min(eps, 1)``: what it takes to evaluate a policy grows with its inverse."""
        return min(self.problem.epsilon, 1.0)


def _monte_carlo(context: _Context, known: int, level: float, checking: bool) -> Evaluation:
    return MonteCarloEvaluation(context.problem, context.settings.accuracy, known)


def _betting(context: _Context, known: int, level: float, checking: bool) -> Evaluation:
    """While exploring, a policy is worth giving up above ``L``; in a check, above the limit."""
    problem, horizon = context.problem, context.settings.steps_horizon
    if checking:
        return BettingEvaluation(horizon, problem.limit, problem.limit, level,
                                 most=math.ceil(CHECK_EPISODES * horizon / context.ease))
    return BettingEvaluation(horizon, problem.limit, problem.radius, level)


CHECK_EPISODES = 40
"""Episodes per step of the horizon, for eps >= 1, after which a check has nothing to object."""

EVALUATIONS: Mapping[str, Callable[[_Context, int, float, bool], Evaluation]] = {
    'betting': _betting, 'monte_carlo': _monte_carlo}

OPTIMISMS: Mapping[str, Callable[[_Context], Optimism]] = {
    'kl': lambda c: KlOptimism(c.problem, c.share, c.settings.steps_horizon),
    'split_samples': lambda c: SplitSamples(
        c.problem, c.settings.accuracy, c.settings.steps_horizon, c.rng)}

DISCOVERIES: Mapping[str, Callable[[_Context], Discovery]] = {
    'on_the_way': lambda c: OnTheWayDiscovery(c.problem, c.share, c.counts),
    'per_visit': lambda c: PerVisitDiscovery(c.problem)}

CHECKS: Mapping[str, Callable[[Settings], CheckingPhaseFactory]] = {
    'binomial': lambda s: partial(
        WindowPhase,
        new_checks=lambda problem, known: BinomialChecks(problem, s.check_window or 4)),
    'hoeffding': lambda s: partial(
        WindowPhase,
        new_checks=lambda problem, known: HoeffdingTests(
            problem, known, s.check_window, s.addition_test == 'printed')),
    'watch': lambda s: partial(WatchPhase, quanta=s.watch_every)}


def printed_step_bound(context: _Context, known: int) -> int:
    """``W_r = C1 |K| A L^3 / eps^3 log(C2 |K| A L / (eps delta_r))^3`` (Gajane et al. 2019)."""
    settings, problem = context.settings, context.problem
    size = known * problem.all_actions * problem.radius
    log = math.log(settings.c2 * size / (problem.epsilon * problem.delta))
    return math.ceil(settings.c1 * size * problem.radius ** 2 / problem.epsilon ** 3 * log ** 3)


def empirical_step_bound(context: _Context, known: int) -> int:
    """An allowance per known state and action; a run that exceeds it counts as cut off.

    Not a theorem: the checks also allow for what the run that found the hypothesis took.
    """
    settings, problem = context.settings, context.problem
    quota = math.log(known * (known + 1) / context.share) * problem.radius
    return math.ceil(
        settings.c1 * known * problem.all_actions * quota * problem.radius / context.ease)


STEP_BOUNDS: Mapping[str, Callable[[_Context, int], int]] = {
    'empirical': empirical_step_bound, 'printed': printed_step_bound}


def _ucb_explore(settings: Settings, problem: Problem, home: int, rng: np.random.Generator,
                 policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
    context = _Context.of(settings, problem, rng)
    evaluate = EVALUATIONS[settings.evaluation]
    return UcbExplore(problem, home, UcbParts(
        horizon=settings.steps_horizon,
        counts=context.counts,
        optimism=OPTIMISMS[settings.optimism](context),
        discovery=DISCOVERIES[settings.discovery](context),
        # Test number i gets its part of a sum that converges to the share.
        evaluate=lambda known, i: evaluate(context, known, context.share / (i * (i + 1)), False),
        check=context.check,
        step_bound=context.step_bound), policies)


def _disco(settings: Settings, problem: Problem, home: int, rng: np.random.Generator,
           policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
    context = _Context.of(settings, problem, rng)
    return Disco(problem, home, DiscoParts(
        horizon=settings.steps_horizon,
        counts=context.counts,
        sets=ConfidenceSets(context.share, context.counts),
        optimism=OPTIMISMS[settings.optimism](context),
        sampling=Sampling(problem, context.share, context.counts),
        check=context.check,
        step_bound=context.step_bound), policies)


BASES: Mapping[str, Callable[..., BaseAlgorithm]] = {
    'ucb_explore': _ucb_explore, 'disco': _disco}
"""Each is called with settings, problem, home, generator and policies known from the start."""

OPTIONS: tuple[Option, ...] = (
    Option('base', 'base algorithm, or the module:factory of one', '', tuple(BASES),
           importable=True),
    Option('evaluation', 'how a policy is evaluated', '', tuple(EVALUATIONS)),
    Option('optimism', 'bonus and planner', '', tuple(OPTIMISMS)),
    Option('discovery', 'how known states are sampled', '', tuple(DISCOVERIES)),
    Option('checks', 'how a hypothesis is checked', '', tuple(CHECKS)),
    Option('addition_test', 'reading of the addition test of the hoeffding checks', '',
           ('sound', 'printed')),
    Option('stream_data', 'what a stream learns from: its own steps, or those of all streams '
           'since its start', '', ('own', 'shared')),
    Option('stream_exponent', 'stream p starts at quantum (p-1)^exponent + 1, > 1', 0.0),
    Option('accuracy_divisor', 'inner accuracy e = min(epsilon, 1) / divisor', 0.0),
    Option('horizon', 'steps of an attempt; ceil((1 + 1/e) radius) unless given', 0),
    Option('step_bound', 'formula of W_r, the most steps of a rediscovery', '',
           tuple(STEP_BOUNDS)),
    Option('c1', 'factor in W_r', 0.0),
    Option('c2', 'factor in the logarithm of W_r', 0.0),
    Option('check_window', 'check-runs looked back at, n_r', 0),
    Option('check_steps', 'most steps of a rediscovery, instead of W_r', 0),
    Option('watch_every', 'quanta of rediscovery between two attempts of the watch checks', 0),
)

_FORMULAS: Mapping[str, Value] = {'horizon': 0, 'check_window': 0, 'check_steps': 0}

PRESETS: Mapping[str, Mapping[str, Value]] = MappingProxyType({
    'onboard': MappingProxyType({
        'base': 'ucb_explore', 'evaluation': 'betting', 'optimism': 'kl',
        'discovery': 'on_the_way', 'checks': 'watch', 'addition_test': 'sound',
        'stream_data': 'shared', 'stream_exponent': 6.0, 'accuracy_divisor': 2.0,
        'step_bound': 'empirical', 'c1': 3.0, 'c2': 1.0, 'watch_every': 4, **_FORMULAS}),
    'paper': MappingProxyType({
        'base': 'ucb_explore', 'evaluation': 'monte_carlo', 'optimism': 'split_samples',
        'discovery': 'per_visit', 'checks': 'hoeffding', 'addition_test': 'sound',
        'stream_data': 'own', 'stream_exponent': 2.0, 'accuracy_divisor': 8.0,
        'step_bound': 'printed', 'c1': 48661.0, 'c2': 225.0, 'watch_every': 4, **_FORMULAS}),
})


def settings(problem: Problem, preset: str = 'onboard',
             overrides: Mapping[str, Value] = MappingProxyType({})) -> Settings:
    """Resolve a preset and what overrides it; empty values ('', 0) override nothing.

    Raises ValueError with the option, its value and what is allowed.
    """
    if preset not in PRESETS:
        raise ValueError(f'preset is {preset!r}, expected one of {", ".join(PRESETS)}')
    options = {option.name: option for option in OPTIONS}
    for name, value in overrides.items():
        if name not in options:
            raise ValueError(f'unknown option {name!r}, expected one of {", ".join(options)}')
        check_option(options[name], value)
    resolved = {**PRESETS[preset], **{k: v for k, v in overrides.items() if v}}
    if not resolved['stream_exponent'] > 1:  # type: ignore[operator]
        raise ValueError(
            f'stream_exponent is {resolved["stream_exponent"]}, expected a number > 1')
    return Settings(problem=problem, preset=preset, **resolved)  # type: ignore[arg-type]


def settings_by_name(given: Mapping[str, Any]) -> Settings:
    """Resolve parameters of the explorer by their names; options may be missing.

    Raises KeyError if another one is missing, ValueError if one is not allowed.
    """
    problem = Problem(
        len(given['actions']), given['radius'], given['epsilon'], given['delta'])
    return settings(problem, given['preset'], {
        option.name: given[option.name] for option in OPTIONS
        if given.get(option.name, option.default) != option.default})


def check_option(option: Option, value: Value) -> None:
    """Raise ValueError unless ``value`` is allowed for ``option``."""
    if isinstance(option.default, str):
        if option.importable and ':' in str(value):
            base_factory(str(value))
        elif value and value not in option.choices:
            raise ValueError(
                f'{option.name} is {value!r}, expected one of {", ".join(option.choices)}'
                + option.importable * ' or module:factory')
    elif isinstance(value, (str, bool)) or not option.minimum <= value <= option.maximum:
        raise ValueError(f'{option.name} is {value!r}, expected a number >= {option.minimum:g}')


def base_factory(name: str) -> Callable[..., BaseAlgorithm]:
    """Return the factory of a base by its name in ``BASES`` or by ``module:factory``.

    Raises ValueError if it cannot be imported. Importing runs the code of the module.
    """
    if name in BASES:
        return BASES[name]
    module, _, factory = name.partition(':')
    try:
        found: Callable[..., BaseAlgorithm] = getattr(importlib.import_module(module), factory)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f'base is {name!r}, expected a module:factory to import: {error}'
                         ) from None
    return found


def new_base(resolved: Settings, home: int, seed: int = 0) -> BaseAlgorithm:
    """Return one run of the base algorithm alone, with the whole delta."""
    return base_factory(resolved.base)(
        resolved, resolved.problem, home, np.random.default_rng(seed))


def new_mnm(resolved: Settings, seed: int = 0,
            on_event: Callable[[str], None] = lambda sentence: None,
            resume: Mapping[str, Any] | None = None) -> Mnm:
    """Return MNM with the parts of the settings; all its random choices come from ``seed``."""
    def base(problem: Problem, home: int, policies: tuple[Policy, ...],
             number: int) -> BaseAlgorithm:
        return base_factory(resolved.base)(
            resolved, problem, home, np.random.default_rng([seed, number]), policies)

    return Mnm(
        resolved.problem, base,
        new_schedule=lambda: StreamSchedule(resolved.stream_exponent),
        new_checking=CHECKS[resolved.checks](resolved),
        shared_data=resolved.stream_data == 'shared',
        check_steps=resolved.check_steps, on_event=on_event, resume=resume)
