# SPDX-License-Identifier: Apache-2.0

"""
The methods that explore a changing world: MNM, and those it is compared with.

mnm       MNM over the base; no change is announced to it
once      the base alone, begun once; what it has found is held for ever
oracle    the base alone, started again exactly at each change that is announced; nothing is held
          until that run ends
schedule  the base alone, started again every so many steps, also where the last run has not ended;
          what was found last is held meanwhile

A base alone has in each run the delta that MNM gives to its first stream, so that both pay for
the same promise; a method that starts again makes it for each run apart, which is less. No
ROS. The result depends on nothing but the experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
import math
import zlib

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings, Value
from mnm_ros.core.model.policy import Hypothesis, over_own_targets
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import new_base, new_mnm, settings
from mnm_ros.core.statistics.delta_spending import stream_delta
from mnm_ros.simulation.ground_truth import ExplorationSteps, judge, Verdict
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.course import Course, WrongSteps
import numpy as np


@dataclass(frozen=True)
class Experiment:
    """
    One exploration that is to be made.

    :ivar base: the base algorithm, or '' for that of the preset.
    :ivar overrides: of options of the preset, as pairs.
    :ivar tail: steps after the last change, or in all if nothing changes.
    :ivar period: steps from one beginning to the next of the method ``schedule``.
    """

    world: Scenario
    method: str
    base: str
    seed: int
    radius: float = 4.0
    epsilon: float = 1.0
    delta: float = 0.1
    preset: str = 'onboard'
    overrides: tuple[tuple[str, Value], ...] = ()
    tail: int = 10_000
    period: int = 10_000

    @property
    def settings(self) -> Settings:
        """Return those of MNM; ValueError if something is not allowed."""
        problem = Problem(len(self.world.actions), self.radius, self.epsilon, self.delta)
        return settings(problem, self.preset, {**dict(self.overrides), 'base': self.base})

    @property
    def alone(self) -> Settings:
        """Return those of the base alone, which pays for the same promise."""
        return alone(self.settings)


def alone(resolved: Settings) -> Settings:
    """Return the settings of the base alone: with the delta of MNM's first stream."""
    delta = stream_delta(resolved.budget, resolved.problem.delta, 1, 1)
    return replace(resolved, problem=replace(resolved.problem, delta=delta))


def explore(experiment: Experiment) -> Course:
    """Make an experiment."""
    return METHODS[experiment.method](experiment)


def lengths(world: Scenario, tail: int) -> list[int]:
    """Return the steps for which each setting is in force."""
    changes = [setting.until or 0 for setting in world.settings[:-1]]
    return [end - start for start, end in pairwise((0, *changes))] + [tail]


def unchanging(world: Scenario, setting: int = 0) -> Scenario:
    """Return the world with one of its settings, for ever."""
    return replace(world, settings=(replace(world.settings[setting], until=None),))


def seeds(world: str, seed: int, number: int) -> tuple[int, int]:
    """Return the seeds of the simulator and of the explorer, others for each ``number``."""
    sequence = np.random.SeedSequence([seed, zlib.crc32(world.encode()), number])
    simulator, explorer = (int(word) for word in sequence.generate_state(2))
    return simulator, explorer


def stationary(world: Scenario, seed: int, setting: int, resolved: Settings,
               most: float = math.inf) -> tuple[int, BaseAlgorithm]:
    """Return the steps of one run of a base in one setting of a world, and the run."""
    for_simulator, for_base = seeds(world.path.stem, seed, setting)
    simulator = Simulator(unchanging(world, setting), for_simulator)
    base = new_base(resolved, world.start, for_base)
    while not base.finished and simulator.steps < most:
        action = base.next_action()
        base.observe(action, simulator.step(action))
    return simulator.steps, base


def found_by(base: BaseAlgorithm) -> Hypothesis | None:
    """Return what a run of a base has found; None before its end."""
    if not base.finished:
        return None
    policies = over_own_targets(base.policies)
    return Hypothesis(1, 0, policies[0].horizon, policies)    # a quantum may be shorter


def verdicts(machine: Mnm, simulator: Simulator, counter: ExplorationSteps) -> Iterator[Verdict]:
    """Yield after each step of MNM what is wrong with the hypothesis that it holds, for ever."""
    while True:
        make_step(machine, simulator)
        yield counter.verdict(simulator.setting, machine.hypothesis)


def make_step(machine: Mnm, simulator: Simulator) -> None:
    """Make a step of MNM, and widen what is declared if that turns out to be wrong."""
    here, action = simulator.state, machine.next_action()
    state = simulator.step(action)
    machine.refute(here, action, state)
    machine.observe(action, state)


def _mnm(experiment: Experiment) -> Course:
    for_simulator, for_explorer = seeds(experiment.world.path.stem, experiment.seed, 0)
    simulator = Simulator(experiment.world, for_simulator)
    machine = new_mnm(experiment.settings, for_explorer)
    wrong, first, length = WrongSteps(), None, sum(lengths(experiment.world, experiment.tail))
    counter = ExplorationSteps(experiment.world, experiment.radius, experiment.epsilon)
    for verdict in verdicts(machine, simulator, counter):
        if not verdict.ok:
            wrong.add(simulator.steps - 1, simulator.steps)
        if first is None and machine.hypothesis:
            first = simulator.steps
        if simulator.steps >= length:
            break
    return _course(experiment, wrong, first, machine.hypothesis)


def _once(experiment: Experiment) -> Course:
    spans, wrong = _spans(experiment), WrongSteps()
    taken, base = stationary(
        experiment.world, experiment.seed, 0, experiment.alone, spans[0][1])
    found = found_by(base)
    for index, (begin, end) in enumerate(spans):
        wrong.add(begin, (taken if index == 0 else begin)
                  if _is_good(experiment, index, found) else end)
    return _course(experiment, wrong, taken if found else None, found)


def _oracle(experiment: Experiment) -> Course:
    wrong, first, found = WrongSteps(), None, None
    for index, (begin, end) in enumerate(_spans(experiment)):
        taken, base = stationary(
            experiment.world, experiment.seed, index, experiment.alone, end - begin)
        found = found_by(base)
        wrong.add(begin, begin + taken if _is_good(experiment, index, found) else end)
        if first is None and found:
            first = begin + taken
    return _course(experiment, wrong, first, found)


def _schedule(experiment: Experiment) -> Course:
    name, home = experiment.world.path.stem, experiment.world.start
    simulator = Simulator(experiment.world, seeds(name, experiment.seed, 0)[0])
    counter = ExplorationSteps(experiment.world, experiment.radius, experiment.epsilon)
    wrong, first, length = WrongSteps(), None, sum(lengths(experiment.world, experiment.tail))
    held: Hypothesis | None = None
    base: BaseAlgorithm | None = None
    while simulator.steps < length:
        run, late = divmod(simulator.steps, experiment.period)
        if not late:
            base = new_base(experiment.alone, home, seeds(name, experiment.seed, run)[1])
        action = RESET if base is None else base.next_action()
        state = simulator.step(action)
        if base is not None:
            base.observe(action, state)
            if base.finished:
                held, base = found_by(base), None
                first = first or simulator.steps
        if not counter.verdict(simulator.setting, held).ok:
            wrong.add(simulator.steps - 1, simulator.steps)
    return _course(experiment, wrong, first, held)


def _spans(experiment: Experiment) -> list[tuple[int, int]]:
    """Return from which step to which each setting is in force."""
    ends = np.cumsum([0, *lengths(experiment.world, experiment.tail)]).tolist()
    return [*pairwise(ends)]


def _is_good(experiment: Experiment, setting: int, found: Hypothesis | None) -> bool:
    return found is not None and judge(
        experiment.world.settings[setting].cmp, found, experiment.radius, experiment.epsilon).ok


def _course(experiment: Experiment, wrong: WrongSteps, first: int | None,
            found: Hypothesis | None) -> Course:
    return Course(
        experiment.world.path.stem, experiment.method, experiment.settings.base, experiment.seed,
        tuple(end for _, end in _spans(experiment)), tuple(wrong.found), first,
        len(found.targets) if found else 0)


METHODS: Mapping[str, Callable[[Experiment], Course]] = {
    'mnm': _mnm, 'once': _once, 'oracle': _oracle, 'schedule': _schedule}
"""From the name of a method to what makes its experiments."""
