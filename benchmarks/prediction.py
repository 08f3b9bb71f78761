# SPDX-License-Identifier: Apache-2.0

"""
How many steps the first hypothesis takes, and how well that can be said beforehand.

MNM runs in random CMPs until its first hypothesis, in each with every epsilon and every delta
once, paired anew from seed to seed, as worlds differ more than pairs do. Two power laws
(mnm_ros/core/progress/prediction.py) are fitted to the runs in one half of the CMPs and judged on
those in the other half:

learnt  by the number of states that the hypothesis has in the end, as if known beforehand
probed  by what a probe like that of preflight finds: states that seem to be within the radius,
        and states met at all

Then the laws as preflight has them are judged on all runs. They were fitted to the seeds 0 to 15,
and their ranges are what held for the seeds 1000 to 1015; from 2000 on all is new to them.

The third law says during the run how many steps are left. It was fitted to the seeds 0 to 23, and
its range is what held for the seeds 100 to 123. What ``activity`` tells by it at 25%, 50% and 75%
of the way is judged on the same runs, and on the shipped scenarios: predicted steps in all over
those that it took, and how often these were in the range told.

The exit status is 0 if at least 85% of the steps taken are in the range that each of the three
gives for 90%.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from itertools import product
import json
from typing import NamedTuple

from arguments import Arguments
from batch import exit_with, run_batch
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.presets import new_mnm
from mnm_ros.core.progress.prediction import (
    factors,
    factors_left,
    LEARNT,
    PowerLaw,
    predict,
    Prediction,
    PROBE_STEPS,
    PROBED,
    REMAINING,
)
from mnm_ros.simulation.ground_truth import reachable_states
from mnm_ros.simulation.scenario import shipped
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.trial.probe import Probe
import numpy as np
from trials import Configuration, prepare

EPSILONS, DELTAS = (0.25, 0.5, 1.0), (0.05, 0.1, 0.2)
RESETS, PROBES = 5, (PROBE_STEPS // 2, PROBE_STEPS, 2 * PROBE_STEPS)
FACTOR, SHARE = 2.0, 0.85
WAY = (0.25, 0.5, 0.75)    # where on the way what is told during the run is judged
STATIONARY = ('random_graph', 'random_grid', 'random_tree', 'confusing_chain')
"""The families in which nothing happens; the others are made from these."""


class Run(NamedTuple):
    """
    One run until the first hypothesis; steps is 0 if the budget was used up before.

    estimated, met: by a probe of each length in ``PROBES``.
    told: the prediction of all steps at each share in ``WAY`` of the way; none by a base that
        has no outlook.
    """

    family: str
    seed: int
    epsilon: float
    delta: float
    radius: float
    actions: int
    reachable: int
    estimated: tuple[int, ...]
    met: tuple[int, ...]
    known: int
    steps: int
    told: tuple[Prediction, ...]

    @classmethod
    def of(cls, row: Mapping[str, str]) -> Run:
        """Return what a row of the results tells of."""
        return cls(
            row['family'], *(kind(row[name]) for name, kind in (
                ('seed', int), ('epsilon', float), ('delta', float), ('radius', float),
                ('actions', int), ('reachable', int))),
            *(tuple(json.loads(row[name])) for name in ('estimated', 'met')),
            int(row['known']), int(row['steps']),
            tuple(Prediction(*told) for told in json.loads(row['told'])))

    def columns(self) -> dict[str, object]:
        """Return what is not in ``names``, as columns of a row."""
        return {**{name: getattr(self, name) for name in ('radius', 'actions', 'reachable')},
                'estimated': json.dumps(self.estimated), 'met': json.dumps(self.met),
                'known': self.known, 'steps': self.steps,
                'told': json.dumps([astuple(told) for told in self.told])}

    def factors(self, states: int, met: int = 1) -> Mapping[str, float]:
        """Return the factors of the laws for some number of states."""
        return factors(states, met, self.actions, self.radius, self.epsilon, self.delta)


Weigh = Callable[[Run], Mapping[str, float]]


Task = tuple[str, int, float, float]
"""Family, seed, epsilon, delta."""


def names(budget: int, base: str, task: Task) -> dict[str, object]:
    """Return the columns of a row that tell its run from all others."""
    return dict(zip(('family', 'seed', 'epsilon', 'delta', 'budget', 'base'),
                    (*task, budget, base)))


def trial(budget: int, base: str, task: Task) -> dict[str, object]:
    """Return what came of a run, as columns of its row."""
    return run(budget, base, task).columns()


def run(budget: int, base: str, task: Task) -> Run:
    """Return what one run took; the same each time."""
    family, seed, epsilon, delta = task
    configuration = Configuration(base=base, epsilon=epsilon, delta=delta)
    scenario, radius, (simulator_seed, explorer_seed) = prepare(family, seed, configuration)
    actions = len(scenario.actions)
    probes = [Probe(actions, radius, RESETS, steps, explorer_seed) for steps in PROBES]
    for probe in probes:
        simulator = Simulator(scenario, simulator_seed + 1)
        while not probe.over:
            probe.observe(simulator.step(probe.next_action()))
    simulator = Simulator(scenario, simulator_seed)
    machine = new_mnm(configuration.settings(actions, radius), explorer_seed)
    problem, told = configuration.settings(actions, radius).problem, {}
    while machine.hypothesis is None and simulator.steps < budget:
        action = machine.next_action()
        machine.observe(action, simulator.step(action))
        phase = machine.phase
        outlooks = phase.outlooks if isinstance(phase, BuildingPhase) else []
        if outlooks and simulator.steps >= 1.03 * max(told, default=0):
            told[simulator.steps] = min(
                (_in_all(predict(REMAINING, factors_left(
                    outlook, simulator.steps - started, problem)), simulator.steps)
                 for started, outlook in outlooks), key=lambda prediction: prediction.steps)
    found = machine.hypothesis
    return Run(family, seed, epsilon, delta, radius, actions,
               len(reachable_states(simulator.cmp, radius)),
               tuple(probe.estimate()[0] for probe in probes),
               tuple(len(probe.met) for probe in probes),
               len(found.targets) if found else 0, simulator.steps if found else 0,
               tuple(told[max(step for step in told if step <= max(min(told), share
                                                                   * simulator.steps))]
                     for share in WAY if told))


def _in_all(left: Prediction, done: int) -> Prediction:
    return Prediction(*(done + steps for steps in (left.steps, left.low, left.high)))


def judge_on_the_way(name: str, runs: Sequence[Run]) -> float:
    """Print what was told over what it took; return the share in the range told."""
    covered = []
    for index, share in enumerate(WAY):
        ratios = [each.told[index].steps / each.steps for each in runs]
        low, middle, high = np.quantile(ratios, (0.05, 0.5, 0.95))
        within = float(np.mean([1 / FACTOR <= ratio <= FACTOR for ratio in ratios]))
        covered += [each.told[index].low <= each.steps <= each.told[index].high for each in runs]
        print(f'{name + f", at {share:.0%}":<36} {len(ratios):>5} {low:>6.2f} {middle:>7.2f} '
              f'{high:>6.2f} {min(ratios):>6.2f} {max(ratios):>6.2f} {within:>9.1%} '
              f'{float(np.mean(covered[-len(runs):])):>8.1%}')
    return float(np.mean(covered))


def by_known(each: Run) -> Mapping[str, float]:
    return each.factors(each.known)


def by_reachable(each: Run) -> Mapping[str, float]:
    return each.factors(each.reachable)


def by_probe(number: int, each: Run) -> Mapping[str, float]:
    return each.factors(each.estimated[number], each.met[number])


def fit(law: PowerLaw, runs: Sequence[Run], weigh: Weigh) -> PowerLaw:
    """Return a law with the exponents that fit the runs best."""
    weighed = [weigh(each) for each in runs]
    solution = np.linalg.lstsq(
        np.array([[row[name] for name in law.exponents] for row in weighed]),
        np.log([each.steps for each in runs]), rcond=None)[0]
    return PowerLaw(dict(zip(law.exponents, solution.tolist())), 0.0, 0.0)


def judge(name: str, law: PowerLaw, runs: Sequence[Run], weigh: Weigh) -> float:
    """Print how far a law is from the runs, and return the share in the range it gives."""
    ratios = [each.steps / law.steps(weigh(each)) for each in runs]
    low, middle, high = np.quantile(ratios, (0.05, 0.5, 0.95))
    within = float(np.mean([1 / FACTOR <= ratio <= FACTOR for ratio in ratios]))
    covered = float(np.mean([law.low <= ratio <= law.high for ratio in ratios]))
    print(f'{name:<36} {len(ratios):>5} {low:>6.2f} {middle:>7.2f} {high:>6.2f} '
          f'{min(ratios):>6.2f} {max(ratios):>6.2f} {within:>9.1%} '
          + (f'{covered:>8.1%}' if law.high else f'{"-":>8}'))
    return covered


def describe(name: str, law: PowerLaw) -> None:
    """Print the exponents."""
    print(f'{name:<15} ' + ', '.join(
        f'{factor} {exponent:.2f}' for factor, exponent in law.exponents.items()))


def main() -> int:
    """Run everything and print the fits and the spread."""
    parser = Arguments(__doc__)
    parser.seeds(14, 'CMPs of each family; those of even seeds to fit, the others held out',
                 first=2000)
    parser.number('budget', 2_000_000, metavar='STEPS')
    parser.base()
    parser.trials('run')
    arguments = parser.read()
    tasks = [(family, seed, epsilon, DELTAS[(seed + number) % len(DELTAS)])
             for family, seed in product(STATIONARY, arguments.seeds)
             for number, epsilon in enumerate(EPSILONS)]
    tasks += [(name, seed, 1.0, 0.1) for name in shipped() for seed in arguments.seeds[:3]]
    given = arguments.budget, arguments.base
    runs = [Run.of(row) for row in run_batch(
        partial(trial, *given), tasks, partial(names, *given), arguments.engine,
        arguments.output)]
    finished = [each for each in runs if each.steps]
    print(f'{len(runs)} runs in {len({each[:2] for each in runs})} CMPs, '
          f'{len(runs) - len(finished)} without a hypothesis after {arguments.budget:,} steps; '
          f'{min(each.reachable for each in runs)} to {max(each.reachable for each in runs)} '
          'states within the radius\n')
    ready_made = [each for each in finished if each.family not in STATIONARY]
    finished = [each for each in finished if each.family in STATIONARY]
    fitting = [each for each in finished if each.seed % 2 == 0]
    held_out = [each for each in finished if each.seed % 2]
    by_usual_probe = partial(by_probe, PROBES.index(PROBE_STEPS))
    learnt, probed = fit(LEARNT, fitting, by_known), fit(PROBED, fitting, by_usual_probe)
    for name, law in (('learnt, fitted', learnt), ('learnt, in use', LEARNT),
                      ('probed, fitted', probed), ('probed, in use', PROBED)):
        describe(name, law)
    print(f'\n{"steps taken over predicted":<36} {"runs":>5} {"5%":>6} {"median":>7} '
          f'{"95%":>6} {"least":>6} {"most":>6} {f"within x{FACTOR:g}":>9} {"in range":>8}')
    judge('learnt, fitted (held out)', learnt, held_out, by_known)
    judge('probed, fitted (held out)', probed, held_out, by_usual_probe)
    shares = [judge('learnt, in use', LEARNT, finished, by_known),
              judge('probed, in use', PROBED, finished, by_usual_probe)]
    judge('  learnt, states within the radius', LEARNT, finished, by_reachable)
    for number, steps in enumerate(PROBES):
        judge(f'  probed, with {steps} steps', PROBED, finished, partial(by_probe, number))
    for field in ('family', 'epsilon', 'delta'):
        for value in sorted({getattr(each, field) for each in finished}):
            judge(f'  probed, {field} {value}', PROBED, [
                each for each in finished if getattr(each, field) == value], by_usual_probe)
    if all(each.told for each in finished):
        print('\npredicted over steps taken')
        shares.append(judge_on_the_way('random CMPs', finished))
        judge_on_the_way('shipped scenarios', ready_made)
    return 0 if min(shares) >= SHARE else 1


if __name__ == '__main__':
    exit_with(main)
