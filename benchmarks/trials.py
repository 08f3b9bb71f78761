# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
One seeded trial of the promise: a world, an exploration, and the verdict of the truth.

No ROS. A trial depends on nothing but its family, its seed and its configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
import subprocess
import traceback
import xml.etree.ElementTree as ElementTree
import zlib

from mnm_ros.core.options import Settings, Value
from mnm_ros.core.policy import Hypothesis, over_own_targets
from mnm_ros.core.presets import new_base, new_mnm, PRESETS, settings
from mnm_ros.core.problem import Problem
from mnm_ros.simulation.families import draw, FAMILIES
from mnm_ros.simulation.ground_truth import judge, reachable_states, Verdict
from mnm_ros.simulation.scenario import load, Scenario, shipped
from mnm_ros.simulation.simulator import Simulator
import numpy as np

RADII = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
"""The radius of a trial in a random CMP is one of these, drawn from the seed."""

SHIPPED_RADIUS = 4.0
"""The radius of a trial in a shipped scenario."""


@dataclass(frozen=True)
class Configuration:
    """
    How to explore; every field is a column of the results.

    base: the base algorithm, or '' for the preset's.
    options: what overrides the preset, ``name=value`` in alphabetical order.
    alone: one run of the base with the whole delta in the first setting, without MNM.
    radius: ``L``, or 0 for the one that the family and the seed give.
    change_after: steps from the first hypothesis to the change, and from relearning one change
        to the next; the change waits until MNM is not at odds with its hypothesis.
    budget: steps to the first hypothesis, and again after each change, before a trial is given
        up as unfinished.
    """

    preset: str = 'onboard'
    base: str = ''
    options: tuple[str, ...] = ()
    alone: bool = False
    radius: float = 0.0
    epsilon: float = 1.0
    delta: float = 0.1
    change_after: int = 2000
    budget: int = 300_000

    def settings(self, actions: int, radius: float) -> Settings:
        """Return the settings of the explorer; ValueError if an option is not allowed."""
        overrides: dict[str, Value] = {'base': self.base}
        for option in self.options:
            name, _, text = option.partition('=')
            preset = PRESETS[self.preset] if self.preset in PRESETS else {}
            try:
                overrides[name] = type(preset.get(name, ''))(text)
            except ValueError as error:
                raise ValueError(f'{name} is {text!r}, expected a number') from error
        problem = Problem(actions, radius, self.epsilon, self.delta)
        return settings(problem, self.preset, overrides)


@dataclass
class Outcome:
    """
    What came of a trial.

    end: ``found`` (first hypothesis, nothing changes), ``relearnt``, or why it is unfinished:
        ``no hypothesis``, ``never settled`` (no change could be made), ``unnoticed``,
        ``not relearnt`` or ``crashed``.
    reachable: ``|S_L->|`` of each setting.
    first, last: the first hypothesis, judged as soon as it is there, and the one at the end of a
        trial with changes; None if there is none.
    alarms: changes noticed although nothing had changed yet.
    steps_first, steps: to the first hypothesis, and in all.
    setting: the one in force at the end.
    log: what happened, a line each.
    """

    radius: float
    end: str = 'no hypothesis'
    reachable: tuple[int, ...] = ()
    first: Verdict | None = None
    last: Verdict | None = None
    known_first: int = 0
    known_last: int = 0
    alarms: int = 0
    rounds: int = 0
    steps_first: int = 0
    steps: int = 0
    setting: int = 0
    hypothesis: Hypothesis | None = field(default=None, repr=False)
    log: list[str] = field(default_factory=list, repr=False)

    @property
    def finished(self) -> bool:
        return self.end in ('found', 'relearnt')

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in (self.first, self.last) if verdict)

    @property
    def broken(self) -> bool:
        """Whether a hypothesis judged was wrong, be the trial finished or not, or it crashed."""
        return self.end == 'crashed' or not all(verdict.ok for verdict in self.verdicts)


def families() -> tuple[str, ...]:
    """Return the names of all families: the shipped scenarios and the random ones."""
    return (*shipped(), *FAMILIES)


def prepare(
    family: str, seed: int, configuration: Configuration,
) -> tuple[Scenario, float, tuple[int, int]]:
    """
    Return the scenario, the radius, and the seeds of the simulator and of the explorer.

    No two families share a stream of random numbers. ValueError if there is no such family.
    """
    if family not in families():
        raise ValueError(f'family is {family!r}, expected one of {", ".join(families())}')
    sequence = np.random.SeedSequence([seed, zlib.crc32(family.encode()), 1])
    drawn, *seeds = (int(number) for number in sequence.generate_state(3))
    if family in FAMILIES:
        radius = configuration.radius or RADII[drawn % len(RADII)]
        return draw(family, seed, radius, configuration.epsilon), radius, (seeds[0], seeds[1])
    scenario = load(family)
    scenario = replace(scenario, settings=tuple(
        replace(setting, until=None) for setting in scenario.settings))
    return scenario, configuration.radius or SHIPPED_RADIUS, (seeds[0], seeds[1])


def run(family: str, seed: int, configuration: Configuration) -> Outcome:
    """Return what comes of the trial; the same each time."""
    scenario, radius, (simulator_seed, explorer_seed) = prepare(family, seed, configuration)
    resolved = configuration.settings(len(scenario.actions), radius)
    if configuration.alone:
        scenario = replace(scenario, settings=scenario.settings[:1])
    outcome = Outcome(radius, reachable=tuple(
        len(reachable_states(setting.cmp, radius)) for setting in scenario.settings))
    simulator = Simulator(scenario, simulator_seed)
    explore = _run_base if configuration.alone else _run_mnm
    try:
        explore(simulator, resolved, explorer_seed, configuration, outcome)
    except Exception:  # a crash is a result, and must not end the other trials
        outcome.end = 'crashed'
        outcome.log += traceback.format_exc().splitlines()
    outcome.steps, outcome.setting = simulator.steps, simulator.setting
    return outcome


def _run_base(simulator: Simulator, resolved: Settings, seed: int,
              configuration: Configuration, outcome: Outcome) -> None:
    base = new_base(resolved, simulator.scenario.start, seed)
    while not base.finished and simulator.steps < configuration.budget:
        action = base.next_action()
        base.observe(action, simulator.step(action))
    if base.finished:
        hypothesis = Hypothesis(1, 0, base.quantum, over_own_targets(base.policies))
        _take_first(outcome, simulator, resolved.problem, hypothesis)


def _take_first(outcome: Outcome, simulator: Simulator, problem: Problem,
                hypothesis: Hypothesis) -> None:
    outcome.end = 'found'
    outcome.steps_first = simulator.steps
    outcome.hypothesis = hypothesis
    outcome.known_first = len(hypothesis.targets)
    outcome.first = judge(simulator.cmp, hypothesis, problem.radius, problem.epsilon)
    outcome.log.append(f'{simulator.steps:>9} first hypothesis, {len(hypothesis.targets)} states')


def _run_mnm(simulator: Simulator, resolved: Settings, seed: int,
             configuration: Configuration, outcome: Outcome) -> None:
    problem = resolved.problem
    machine = new_mnm(
        resolved, seed, lambda sentence: outcome.log.append(f'{simulator.steps:>9} {sentence}'))
    changes = machine.log

    def step_until(done: Callable[[], bool]) -> bool:
        """Return whether it was done before the budget was used up."""
        limit = simulator.steps + configuration.budget
        while not done() and simulator.steps < limit:
            action = machine.next_action()
            machine.observe(action, simulator.step(action))
        return done()

    if not step_until(lambda: machine.hypothesis is not None):
        return
    _take_first(outcome, simulator, problem, machine.hypothesis)
    for change in range(1, len(simulator.scenario.settings)):
        least = simulator.steps + configuration.change_after
        if not step_until(lambda least=least: (
                simulator.steps >= least and changes.noticed == changes.relearnt)):
            outcome.end = 'never settled'
            break
        outcome.alarms += changes.noticed if change == 1 else 0
        noticed, relearnt = changes.noticed, changes.relearnt
        simulator.change()
        outcome.log.append(f'{simulator.steps:>9} setting {simulator.setting} takes over')
        if not step_until(lambda relearnt=relearnt: changes.relearnt != relearnt):
            outcome.end = 'unnoticed' if changes.noticed == noticed else 'not relearnt'
            break
        outcome.end = 'relearnt'
    if len(simulator.scenario.settings) > 1:
        outcome.last = judge(
            simulator.cmp, machine.hypothesis, problem.radius, problem.epsilon)
        outcome.hypothesis = machine.hypothesis
        outcome.known_last = len(machine.hypothesis.targets)
    outcome.rounds = machine.round


def row(family: str, seed: int, configuration: Configuration, outcome: Outcome,
        version: str) -> dict[str, object]:
    """Return one line of the results, with all that is needed to repeat it."""
    resolved = configuration.settings(1, outcome.radius)
    columns: dict[str, object] = {
        'version': version, 'numpy': np.__version__, 'family': family, 'seed': seed,
        **asdict(configuration)}
    columns |= {
        'base': resolved.base, 'options': ' '.join(configuration.options),
        'alone': int(configuration.alone), 'radius': outcome.radius,
        'reachable': _joined(outcome.reachable), 'end': outcome.end,
        'steps_first': outcome.steps_first, 'steps': outcome.steps, 'rounds': outcome.rounds,
        'alarms': outcome.alarms, 'known_first': outcome.known_first,
        'known_last': outcome.known_last}
    for name, verdict in (('first', outcome.first), ('last', outcome.last)):
        columns[f'missing_{name}'] = _joined(verdict.missing) if verdict else ''
        columns[f'over_{name}'] = _joined(
            f'{target}:{time:.6g}' for target, time in verdict.over_limit) if verdict else ''
        columns[f'ok_{name}'] = int(verdict.ok) if verdict else ''
    return columns


def package_version() -> str:
    """Return the version of the package and, where git tells, of the source."""
    root = Path(__file__).resolve().parents[1]
    version = ElementTree.parse(root / 'package.xml').findtext('version', 'unknown')
    try:
        found = subprocess.run(
            ['git', '-C', str(root), 'describe', '--always', '--dirty', '--exclude=*'],
            capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return version
    return f'{version}+{found.stdout.strip()}' if found.returncode == 0 else version


def _joined(items: object) -> str:
    return ' '.join(map(str, items))  # type: ignore[call-overload]
