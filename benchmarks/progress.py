# SPDX-License-Identifier: Apache-2.0

"""
How well ``activity`` predicts the end of checks and of relearning.

Each exploration builds its first hypothesis and checks it twice. Then the next setting of the
scenario comes into force, and the change is relearnt. What ``progress`` says at 25%, 50% and 75%
of the way is compared with what it took in the end: predicted steps over steps taken, how often
these were in the range told. ``benchmarks/prediction`` does the same for the first hypothesis.

The range of checks is about what held for the seeds 0 to 23 of the families in which nothing
happens; that of relearning was chosen wide. From 100 on all is new to both. The exit status is 0
if at least 80% of the steps taken are in the range told for 90%.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from functools import partial
import json

from arguments import Arguments
from batch import exit_with, run_batch
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.progress.activity import Progress
from mnm_ros.core.view import View
from mnm_ros.simulation.simulator import Simulator
import numpy as np
from trials import Configuration, families, prepare

WAY, SHARE = (0.25, 0.5, 0.75), 0.8
_GRAIN = 1.05    # from one look at the prediction to the next

PolicyTrust = tuple[str, tuple[Progress, ...], int]
"""The aim, what was told at each share of ``WAY``, and the steps that it took."""


class Watcher:
    """Looks at the progress of one aim after the other."""

    def __init__(self, exploration: Exploration) -> None:
        self.finished: list[PolicyTrust] = []
        self._exploration, self._view = exploration, View()
        self._looks: list[tuple[int, Progress]] = []
        self._begun = self._next = 0

    def look(self, aim: str, number: int, before: int | None) -> None:
        """
        Look after a step; another ``number`` than before ends what came before.

        A check that a change has broken off has not come to its end.
        """
        steps = self._exploration.steps
        if number != before:
            if before is not None and not (number < 0 <= before):
                self._end(steps)
            self._looks, self._begun, self._next = [], steps, steps + 1
        if steps >= self._next:
            progress = self._exploration.activity(self._view).progress
            if progress is not None and progress.aim == aim:
                self._looks.append((steps, progress))
            self._next = steps + 1 + int((_GRAIN - 1) * (steps - self._begun))

    def _end(self, steps: int) -> None:
        taken = steps - self._begun
        if len(self._looks) > 4:
            told = [[progress for step, progress in self._looks
                     if step - self._begun <= max(1.0, share * taken)] for share in WAY]
            if all(told):
                self.finished.append(
                    (self._looks[0][1].aim, tuple(each[-1] for each in told), taken))


def run(budget: int, base: str, task: tuple[str, int]) -> list[PolicyTrust]:
    """Return what was told in one exploration."""
    configuration = Configuration(base=base)
    scenario, radius, (simulator_seed, explorer_seed) = prepare(*task, configuration)
    if len(scenario.settings) < 2:
        return []
    simulator = Simulator(scenario, simulator_seed)
    exploration = Exploration(
        configuration.settings(len(scenario.actions), radius), explorer_seed)
    watcher, before, checks, done, changed = Watcher(exploration), None, 0, 0, False
    view = View()
    while simulator.steps < budget:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        if exploration.hypothesis is None:
            continue
        progress = exploration.activity(view).progress if simulator.steps % 20 == 0 else None
        if progress is not None and progress.aim == 'check':
            checks += progress.done < done
            done = progress.done
        opened = exploration.changes_noticed > exploration.changes_relearnt
        number = -exploration.changes_noticed if opened else checks
        watcher.look('relearning' if opened else 'check', number, before)
        before = number
        if checks == 2 and not changed and not opened:
            simulator.change()
            changed = True
        if changed and exploration.changes_relearnt and not opened:
            break
    return watcher.finished


def names(budget: int, base: str, task: tuple[str, int]) -> dict[str, object]:
    """Return the columns of a row that tell its exploration from all others."""
    return {'family': task[0], 'seed': task[1], 'budget': budget, 'base': base}


def trial(budget: int, base: str, task: tuple[str, int]) -> dict[str, object]:
    """Return what was told in one exploration, as a column of its row."""
    return {'told': json.dumps([(aim, [astuple(progress) for progress in told], taken)
                                for aim, told, taken in run(budget, base, task)])}


def told_in(row: Mapping[str, str]) -> list[PolicyTrust]:
    """Return what a row tells of."""
    return [(aim, tuple(Progress(*each) for each in told), taken)
            for aim, told, taken in json.loads(row['told'])]


def judge(aim: str, found: list[PolicyTrust]) -> float:
    """Print how far what was told is from what it took; return the share in the range told."""
    covered: list[bool] = []
    for index, share in enumerate(WAY):
        ratios = [told[index].expected / taken for _, told, taken in found]
        inside = [told[index].low <= taken <= told[index].high for _, told, taken in found]
        low, middle, high = np.quantile(ratios, (0.05, 0.5, 0.95))
        print(f'{aim + f", at {share:.0%}":<20} {len(ratios):>5} {low:>6.2f} {middle:>7.2f} '
              f'{high:>6.2f} {float(np.mean(inside)):>9.1%}')
        covered += inside
    return float(np.mean(covered))


def main() -> int:
    """Run everything and print a line for each aim and share of the way."""
    parser = Arguments(__doc__)
    parser.seeds(4, 'explorations of each family', first=100)
    parser.number('budget', 100_000, metavar='STEPS')
    parser.base()
    parser.trials('exploration')
    arguments = parser.read()
    tasks = [(family, seed) for family in families() for seed in arguments.seeds]
    given = arguments.budget, arguments.base
    rows = run_batch(partial(trial, *given), tasks, partial(names, *given), arguments.engine,
                     arguments.output)
    found = [told for row in rows for told in told_in(row)]
    print(f'{"predicted over taken":<20} {"times":>5} {"5%":>6} {"median":>7} {"95%":>6} '
          f'{"in range":>9}')
    shares = [judge(aim, [told for told in found if told[0] == aim])
              for aim in ('check', 'relearning')]
    return 0 if min(shares) >= SHARE else 1


if __name__ == '__main__':
    exit_with(main)
