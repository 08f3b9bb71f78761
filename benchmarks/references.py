# SPDX-License-Identifier: Apache-2.0

"""
One seeded exploration of a changing scenario, by MNM or by what MNM is compared with.

No ROS. A trial depends on nothing but its method, its scenario, its seed and its configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings, Value
from mnm_ros.core.mnm.phase import MnmState
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import new_mnm, settings
from mnm_ros.core.statistics.delta_spending import round_delta
from mnm_ros.simulation.ground_truth import ExplorationSteps, Verdict
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.course import Course
from mnm_ros.study.methods import (
    alone,
    Experiment,
    explore,
    lengths,
    seeds,
    stationary,
    unchanging,
    verdicts,
)

SCALED: Mapping[str, Value] = {
    'accuracy_divisor': 2.0, 'stream_exponent': 3.0, 'c1': 0.03, 'check_window': 4}
"""Constants with which MNM of the preset ``paper`` finishes at all: every part stays as printed.

``accuracy_divisor`` 2 instead of 8 makes the base 60 times quicker, ``stream_exponent`` 3 instead
of 2 has ``x`` quanta of a stream take ``x^(3/2)`` instead of ``x^2``, ``c1`` 0.03 instead of
48,661 puts ``W_r`` at two to five times such a run, and ``check_window`` 4 replaces about 700.
"""


@dataclass(frozen=True)
class Configuration:
    """
    How to explore.

    tail: steps after the last change, or in all if nothing changes.
    limit: steps after which the scaled constants are given up.
    """

    preset: str = 'onboard'
    base: str = ''
    radius: float = 4.0
    epsilon: float = 1.0
    delta: float = 0.1
    tail: int = 60_000
    limit: int = 4_000_000

    @property
    def delta_1(self) -> float:
        """Return what the first stream of the first round gets; ``0.7 delta`` for ``onboard``."""
        return self.alone(1).problem.delta

    @property
    def check_delta_1(self) -> float:
        """``3 delta / (4 pi^2)``, what MNM gives to its first checking phase."""
        return round_delta(self.delta, 1)

    def settings(self, actions: int) -> Settings:
        """Return the settings of the explorer; ValueError if something is not allowed."""
        return settings(self._problem(actions), self.preset, {'base': self.base})

    def scaled(self, actions: int) -> Settings:
        """Return those of MNM as printed with the constants of ``SCALED``."""
        return settings(self._problem(actions), 'paper', SCALED)

    def alone(self, actions: int) -> Settings:
        """Return those of the base alone, with ``delta_1``: it pays for the same promise."""
        return alone(self.settings(actions))

    def _problem(self, actions: int) -> Problem:
        return Problem(actions, self.radius, self.epsilon, self.delta)


@dataclass
class Trial:
    """
    What came of an exploration.

    first: steps until the first hypothesis, 0 if there is none.
    exploration: exploration steps in each setting.
    wrong: settings at the end of which the hypothesis held was not good enough.
    finished: whether a good one was held at the end; a trial without it was given up.
    steps: in all.
    known: states of the hypothesis at the end.
    lost: exploration steps after the first change by what they were waiting for.
    """

    first: int = 0
    exploration: list[int] = field(default_factory=list)
    wrong: int = 0
    finished: bool = True
    steps: int = 0
    known: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """Exploration steps in all."""
        return sum(self.exploration)

    def spend(self, steps: int, lost: int) -> None:
        """Let a setting pass of whose steps the first ``lost`` are exploration steps."""
        self.exploration.append(lost)
        self.steps += steps
        self.finished = lost < steps
        self.wrong += not self.finished


def _experiment(name: str, method: str, seed: int, configuration: Configuration) -> Experiment:
    return Experiment(load(name), method, configuration.base, seed, configuration.radius,
                      configuration.epsilon, configuration.delta, configuration.preset,
                      tail=configuration.tail)


def _of(course: Course) -> Trial:
    """Return a course as a trial."""
    trial = Trial(first=course.first or 0, known=course.known)
    lost = course.by_setting
    for setting, (begin, end) in enumerate(pairwise((0, *course.ends))):
        trial.spend(end - begin, lost[setting])
    return trial


def run_oracle(name: str, seed: int, configuration: Configuration) -> Trial:
    """Restart the base exactly at each change; its hypothesis is the output, nothing before."""
    return _of(explore(_experiment(name, 'oracle', seed, configuration)))


def run_once(name: str, seed: int, configuration: Configuration) -> Trial:
    """Run the base once, the same run as the first one of the oracle, and keep its output."""
    return _of(explore(_experiment(name, 'once', seed, configuration)))


def run_mnm(name: str, seed: int, configuration: Configuration) -> Trial:
    """Run MNM until ``tail`` steps after the last change."""
    scenario = load(name)
    return _explore(name, seed, configuration, configuration.settings(len(scenario.actions)),
                    lambda trial, length: trial.steps >= length)


def run_scaled(name: str, seed: int, configuration: Configuration) -> Trial:
    """Run MNM as printed with scaled constants until it is right after the last change."""
    scenario = load(name)
    return _explore(name, seed, configuration, configuration.scaled(len(scenario.actions)),
                    lambda trial, length: trial.steps >= configuration.limit or (
                        trial.finished and trial.steps > length - configuration.tail))


def _explore(name: str, seed: int, configuration: Configuration, resolved: Settings,
             over: Callable[[Trial, int], bool]) -> Trial:
    scenario, length = load(name), sum(lengths(load(name), configuration.tail))
    for_simulator, for_explorer = seeds(name, seed, 0)
    simulator, machine = Simulator(scenario, for_simulator), new_mnm(resolved, for_explorer)
    counter = ExplorationSteps(scenario, configuration.radius, configuration.epsilon)
    trial, run, begun = Trial(exploration=[0], finished=False), None, 0
    for verdict in verdicts(machine, simulator, counter):
        trial.steps += 1
        if len(trial.exploration) <= len(simulator.changes):
            trial.wrong += not trial.finished
            trial.exploration.append(0)
        if machine.phase.base is not run:
            run, begun = machine.phase.base, trial.steps
        trial.finished = verdict.ok
        if machine.hypothesis and not trial.first:
            trial.first = trial.steps
        if not verdict.ok:
            trial.exploration[-1] += 1
            if simulator.changes:
                trial.lost[_reason(verdict, machine, begun < simulator.changes[-1][0])] += 1
        if over(trial, length):
            break
    trial.wrong += not trial.finished
    trial.known = len(machine.hypothesis.targets) if machine.hypothesis else 0
    return trial


REASONS = tuple(f'{what} {doing}' for what in ('policy fails', 'missing, old run',
                                               'missing, new run')
                for doing in ('watching', 'sampling', 'evaluating')) + ('building',)
"""What an exploration step after a change waits for, and what is done meanwhile.

A policy that fails and is not deleted yet; else a state that is missing, while the rediscovery
under way was begun before or after the change.
"""


def _reason(verdict: Verdict, machine: Mnm, old: bool) -> str:
    if machine.state is MnmState.BUILDING or machine.phase.base is None:
        return 'building'
    what = ('policy fails' if verdict.over_limit
            else 'missing, old run' if old else 'missing, new run')
    if machine.state is MnmState.EVALUATION:
        return f'{what} watching'
    return f'{what} {"evaluating" if machine.phase.base.evaluating else "sampling"}'


def run_stationary(name: str, seed: int, configuration: Configuration) -> Trial:
    """Run the base once, in the first setting only."""
    scenario = load(name)
    taken, base = stationary(scenario, seed, 0, configuration.alone(len(scenario.actions)),
                             configuration.limit)
    return Trial(first=taken * base.finished, exploration=[taken], finished=base.finished,
                 steps=taken, known=len(base.policies))


def run_building(name: str, seed: int, configuration: Configuration) -> Trial:
    """Run MNM in the first setting only, until its first hypothesis."""
    scenario = unchanging(load(name))
    for_simulator, for_explorer = seeds(name, seed, 0)
    simulator = Simulator(scenario, for_simulator)
    machine = new_mnm(configuration.settings(len(scenario.actions)), for_explorer)
    while machine.hypothesis is None and simulator.steps < configuration.limit:
        action = machine.next_action()
        machine.observe(action, simulator.step(action))
    known = len(machine.hypothesis.targets) if machine.hypothesis else 0
    return Trial(first=simulator.steps * bool(known), exploration=[simulator.steps],
                 finished=bool(known), steps=simulator.steps, known=known)


METHODS: Mapping[str, Callable[[str, int, Configuration], Trial]] = {
    'mnm': run_mnm, 'oracle': run_oracle, 'scaled': run_scaled, 'once': run_once}
