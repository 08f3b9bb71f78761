# SPDX-License-Identifier: Apache-2.0

"""
Measure false alarms: long runs of MNM in worlds that do not change.

Each run explores the first setting of a shipped scenario, or a random CMP with states a little
beyond the radius (families ``beyond_...``), for a fixed number of steps. Counted after its first
hypothesis: rounds restarted; states deleted although their policies are within the limit, by the
ground truth; states added with a policy above the limit; changes noticed without any of these. In
a round, all of them together have a probability of at most delta_1 = 3 delta / (4 pi^2), however
long the run, if the first hypothesis is right. Rediscoveries that were cut off are counted beside
them: one alone refutes no round, but in a world that does not change there is no reason for any.
States whose policies are above the limit may be deleted, and states between L and (1 + eps) L may
be added: that is no false alarm and is told apart.

With --delays, how soon a change of where a pair leads is noticed: the mean executions of its
detector, and of a CUSUM, which knows both laws, with the threshold log(1 / delta). The delta is
that of pair number 500 of the first round. What is not noticed counts with 3,000 executions, and
how many are is told with them. Beside the laws is KL(old || new), in nats.

With the base disco a step takes 0.07 to 0.2 ms of one core, so the default 200 runs of 1,000,000
steps 4 to 11 hours. Without any alarm their interval ends at 0.018; it takes 484 runs to end
below delta_1 for delta = 0.1. The exit status is 0 unless the interval lies above delta_1.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from functools import partial
import math
import time

from arguments import Arguments
from batch import exit_with, Row, run_batch
from families import draw, FAMILIES
from mnm_ros.core.detection.transition_detector import TransitionDetector
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.phase import MnmState
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.presets import new_mnm, PRESETS
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share, SHARES
from mnm_ros.simulation.ground_truth import expected_steps
from mnm_ros.simulation.scenario import load, shipped
from mnm_ros.simulation.simulator import Simulator
import numpy as np
from promise import interval
from references import Configuration, seeds, unchanging

Task = tuple[str, int]

CHANGES = (((0.9, 0.1), (0.4, 0.6)), ((0.98, 0.02), (0.01, 0.99)), ((0.9, 0.1), (0.7, 0.3)),
           ((0.99, 0.01), (0.8, 0.2)), ((0.5, 0.5), (0.8, 0.2)),
           ((0.8, 0.1, 0.1), (0.6, 0.2, 0.2)), ((0.7, 0.1, 0.1, 0.1), (0.4, 0.2, 0.2, 0.2)),
           ((1.0, 0.0), (0.8, 0.2)), ((1.0, 0.0), (0.0, 1.0)))
"""The laws before and after a change whose delays are measured."""
PASTS = (100, 300, 1000, 3000, 10_000)
"""Executions before the change."""
NEVER = 1e-9
"""What a CUSUM takes a chance of 0 for."""
LONGEST = 3000
"""A delay counts as no more than so many executions."""


@dataclass
class Alarms:
    """
    What a run, or several, decided after the first hypothesis.

    first: steps until then. rediscoveries: runs of the base begun in the checking phase.
    cut_off: those of them that were given up although nothing was deleted.
    restarts, deleted, added: false alarms, as above. rightly_deleted, rightly_added: the others.
    noticed: changes, although nothing changes; deletions and restarts are, too.
    """

    steps: int = 0
    first: int = 0
    rediscoveries: int = 0
    cut_off: int = 0
    restarts: int = 0
    deleted: int = 0
    added: int = 0
    rightly_deleted: int = 0
    rightly_added: int = 0
    noticed: int = 0

    @classmethod
    def of(cls, row: Mapping[str, str]) -> Alarms:
        """Return those of a row of the results."""
        return cls(*(int(row[field.name]) for field in fields(cls)))

    @property
    def false(self) -> int:
        """All that a world without change should not bring about."""
        others = self.noticed - self.restarts - self.deleted - self.rightly_deleted
        return self.restarts + self.deleted + self.added + max(0, others)

    def compare(self, before: Hypothesis, after: Hypothesis, times: dict[int, float],
                now: dict[int, float], limit: float) -> None:
        """Count what a revision has changed; ``times`` and ``now`` are the true ones."""
        if after.round != before.round:
            return
        for target in set(before.targets) - set(after.targets):
            wrong = times[target] <= limit
            self.deleted += wrong
            self.rightly_deleted += not wrong
        for target in set(after.targets) - set(before.targets):
            wrong = now[target] > limit
            self.added += wrong
            self.rightly_added += not wrong


def run(name: str, seed: int, steps: int, configuration: Configuration) -> Alarms:
    """Return what MNM decides in so many steps; the same each time."""
    scenario = unchanging(load(name) if name in shipped() else draw(
        name, seed, configuration.radius, configuration.epsilon))
    for_simulator, for_explorer = seeds(name, seed, 0)
    simulator = Simulator(scenario, for_simulator)
    resolved = configuration.settings(len(scenario.actions))
    limit = resolved.problem.limit * (1 + 1e-9)
    machine, alarms = new_mnm(resolved, for_explorer), Alarms(steps=steps)
    hypothesis: Hypothesis | None = None
    times: dict[int, float] = {}
    base: BaseAlgorithm | None = None
    while simulator.steps < steps:
        action = machine.next_action()
        machine.observe(action, simulator.step(action))
        checked = None if machine.state is MnmState.BUILDING else machine.phase.base
        if checked is None or checked is not base:
            given_up = base is not None and not base.finished
            alarms.cut_off += given_up and not _deleted(hypothesis, machine.hypothesis)
            base = checked
            alarms.rediscoveries += base is not None
        if machine.hypothesis is None or machine.hypothesis is hypothesis:
            continue
        now = {policy.target: expected_steps(simulator.cmp, policy)
               for policy in machine.hypothesis.policies}
        if hypothesis is None:
            alarms.first = simulator.steps
        else:
            alarms.compare(hypothesis, machine.hypothesis, times, now, limit)
        hypothesis, times = machine.hypothesis, now
    alarms.restarts, alarms.noticed = machine.round - 1, machine.log.noticed
    return alarms


def _deleted(before: Hypothesis | None, after: Hypothesis | None) -> bool:
    """Whether states have left a hypothesis."""
    return before is not None and after is not None and not (
        set(before.targets) <= set(after.targets))


def trial(steps: int, configuration: Configuration, task: Task) -> dict[str, object]:
    """Return what came of a run, as columns of its row."""
    return {name: value for name, value in asdict(run(*task, steps, configuration)).items()
            if name != 'steps'}


def names(steps: int, configuration: Configuration, task: Task) -> dict[str, object]:
    """Return the columns of a row that tell its run from all others."""
    c = configuration
    return {'scenario': task[0], 'seed': task[1], 'preset': c.preset, 'base': c.settings(1).base,
            'radius': c.radius, 'epsilon': c.epsilon, 'delta': c.delta,
            'delta_1': c.check_delta_1, 'steps': steps}


def line(name: str, found: Sequence[Alarms], delta_1: float) -> str:
    """Return a line of the table."""
    total = [sum(column) for column in zip(*map(astuple, found))]
    alarmed = sum(bool(alarms.false) for alarms in found)
    low, high = interval(alarmed, len(found))
    numbers = ' '.join(f'{number:>8,}' for number in total[2:])
    return (f'{name:<17} {len(found):>5} {total[0]:>12,} {numbers} {alarmed:>7} '
            f'{alarmed / len(found):>7.4f} [{low:.4f}, {high:.4f}] {delta_1:.4f}')


WORLDS = (*shipped(), *(family for family in FAMILIES if family.startswith('beyond')))

HEAD = (f'{"":<60} {"false alarms":>20} {"rightly":>19}\n'
        f'{"first setting":<17} {"runs":>5} {"steps":>12} {"redisc.":>8} {"cut off":>8} '
        f'{"restarts":>8} {"deleted":>8} {"added":>8} {"deleted":>8} {"added":>8} {"noticed":>8} '
        f'{"alarmed":>7} '
        f'{"rate":>7} {"95% interval":<16} delta_1')


def delays(before: Sequence[float], past: int, after: Sequence[float], delta: float,
           seed: int) -> tuple[int, int]:
    """Return after how many executions a detector and a CUSUM notice a change."""
    rng, detector, drift, found = np.random.default_rng(seed), TransitionDetector(delta), 0.0, 0
    for outcome in rng.choice(len(before), past, p=before).tolist():
        detector.record(outcome)
    ratios = [math.log(max(now, NEVER) / max(then, NEVER)) for then, now in zip(before, after)]
    for number, outcome in enumerate(rng.choice(len(after), LONGEST, p=after).tolist(), 1):
        if not detector.alarm:
            detector.record(outcome)
        drift = max(0.0, drift + ratios[outcome])
        found = found or number * (drift >= detector.threshold)
        if found and detector.alarm:
            break
    return detector.executions - past, found or LONGEST


def print_delays(trials: int, delta: float) -> None:
    """Print the mean delays of ``CHANGES``, for each of ``PASTS``."""
    print(f'delta = {delta:.2g}, {trials} trials\n{"before":>21} {"after":>21} {"nats":>5} '
          f'{"CUSUM":>6}' + ''.join(f'{f"{past:,} before":>20}' for past in PASTS))
    for before, after in CHANGES:
        found = [[delays(before, past, after, delta, seed) for seed in range(trials)]
                 for past in PASTS]
        cusum = float(np.mean([each[1] for of_past in found for each in of_past]))
        nats = sum(then * math.log(then / max(now, NEVER))
                   for then, now in zip(before, after) if then)
        print(f'{_law(before):>21} {_law(after):>21} {nats:>5.2f} {cusum:>6.1f}' + ''.join(
            _delay([each[0] for each in of_past], cusum) for of_past in found))


def _law(chances: Sequence[float]) -> str:
    return ' / '.join(f'{chance:g}' for chance in chances)


def _delay(found: Sequence[int], cusum: float) -> str:
    mean, noticed = float(np.mean(found)), sum(delay < LONGEST for delay in found)
    told = '' if noticed == len(found) else f' {noticed}/{len(found)}'
    return f'{f"{mean:.0f} {mean / cusum:.1f}x{told}":>20}'


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add, default = parser.add_argument, Configuration()
    parser.number('runs', 200, 'in all, in turn over the scenarios', least=1)
    parser.number('steps', 1_000_000, 'of each run', least=1)
    add('--scenarios', nargs='+', default=list(WORLDS), choices=WORLDS, metavar='NAME',
        help=f'of {", ".join(WORLDS)} (default all)')
    add('--preset', default=default.preset, choices=tuple(PRESETS))
    parser.base()
    parser.number('radius', default.radius, 'L')
    parser.number('epsilon', default.epsilon)
    parser.number('delta', default.delta, 'a large one puts the bound to a harder test')
    parser.number('delays', 0, 'measure in so many trials of each change how soon it is noticed, '
                  'nothing else', metavar='TRIALS')
    parser.trials('run')
    parsed = parser.read(arguments)
    parsed.configuration = Configuration(**{
        name: getattr(parsed, name) for name in ('preset', 'base', 'radius', 'epsilon', 'delta')})
    parser.checked(lambda: parsed.configuration.settings(1))
    return parsed


def _tell(task: Task, row: Row) -> None:
    alarms = Alarms.of(row)
    for told, what in ((alarms.false, f'false alarm: {task[0]}, seed {task[1]}: {alarms}'),
                       (alarms.cut_off, f'cut off: {task[0]}, seed {task[1]}: {alarms}'),
                       (not alarms.first, f'no hypothesis: {task[0]}, seed {task[1]}')):
        if told:
            print(what, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, print the table and write the results."""
    parsed = parse(arguments)
    configuration: Configuration = parsed.configuration
    if parsed.delays:
        part = configuration.check_delta_1 * SHARES['transitions']
        print_delays(parsed.delays, part * share(500, EVEN_PARTS))
        return 0
    scenarios = parsed.scenarios
    todo = [(scenarios[i % len(scenarios)], i // len(scenarios)) for i in range(parsed.runs)]
    began, given = time.monotonic(), (parsed.steps, configuration)
    rows = run_batch(partial(trial, *given), todo, partial(names, *given), parsed.engine,
                     parsed.output, _tell)
    results = list(zip(todo, map(Alarms.of, rows)))
    print(f'preset {configuration.preset}, base {configuration.settings(1).base}, '
          f'delta = {configuration.delta:g}\n{HEAD}')
    for name in scenarios:
        found = [alarms for task, alarms in results if task[0] == name]
        if found:
            print(line(name, found, configuration.check_delta_1))
    found = [alarms for _, alarms in results]
    print(line('total', found, configuration.check_delta_1))
    print(f'{time.monotonic() - began:.0f} s {parsed.engine}')
    low, _ = interval(sum(bool(alarms.false) for alarms in found), len(found))
    return 0 if low <= configuration.check_delta_1 else 1


if __name__ == '__main__':
    exit_with(main)
