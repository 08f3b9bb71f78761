# SPDX-License-Identifier: Apache-2.0

"""
How much sooner a fleet knows a world than one robot does.

A trial explores a world until the first hypothesis, by one robot without a fleet or by a fleet of
simulated robots that all take as long for a step. What counts is rounds of parallel steps; the
speed-up is the mean of the steps of the one robot over the seeds, divided by the rounds. Each
hypothesis is judged by the ground truth.

    benchmarks/fleet --worlds two_rooms grid_15 --robots 8 16 --seeds 3

The exit status is 1 if more than delta of the hypotheses are wrong, or if the mean speed-up is
below its target: 6 with 8 robots, and 11 with 16.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from statistics import mean
import time

from arguments import Arguments
from batch import exit_with, Row, run_batch
from grids import grid, SIZES
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.core.task.step_task import play
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario, shipped
from mnm_ros.simulation.simulator import Simulator
import numpy as np
from robots import Robots
from trials import waiting

Task = tuple[str, int, int]
"""The world, how many robots, 0 for one without a fleet, and the seed."""

GRIDS = {f'grid_{side}': side for side in SIZES}
WORLDS = ('two_rooms', 'moving_wall', 'grid_5', 'grid_9', 'grid_15')
TARGETS = {8: 6.0, 16: 11.0}
RADIUS, EPSILON, DELTA = 4.0, 1.0, 0.1
SPREAD = 90    # percent of the seeds


def world(name: str) -> tuple[Scenario, float]:
    """Return the scenario of a name, which does not change by itself, and its radius."""
    if name in GRIDS:
        return grid(GRIDS[name]), SIZES[GRIDS[name]]
    return waiting(load(name)), RADIUS


def trial(base: str, task: Task) -> dict[str, object]:
    """Return what came of a trial, as columns of its row."""
    name, robots, seed = task
    scenario, radius = world(name)
    problem = Problem(len(scenario.actions), radius, EPSILON, DELTA)
    resolved = settings(problem, overrides={'base': base})
    exploration, began = Exploration(resolved, seed), time.process_time()
    simulators = [Simulator(scenario, 1000 * seed + i) for i in range(max(1, robots))]
    if robots:
        fleet = Robots(Fleet(exploration, seed), simulators)
        while exploration.hypothesis is None:
            fleet.step()
        rounds = fleet.now
    else:
        while exploration.hypothesis is None:
            play(exploration, simulators[0].step, 1)
        rounds = exploration.steps
    right = judge(simulators[0].cmp, exploration.hypothesis, radius, EPSILON).ok
    return {'known': len(exploration.hypothesis.targets), 'rounds': f'{rounds:.0f}',
            'learnt': exploration.steps, 'made': sum(each.steps for each in simulators),
            'ok': int(right), 'seconds': f'{time.process_time() - began:.1f}'}


def names_of(base: str, task: Task) -> dict[str, object]:
    """Return the columns of a row that name its trial."""
    name, robots, seed = task
    return {'world': name, 'robots': robots, 'seed': seed, 'base': base}


HEAD = (f'{"world":<12} {"robots":>6} {"seeds":>5} {"rounds":>8} {"speed-up":>8} '
        f'{f"{SPREAD}% of seeds":>13} {"steps made":>10} {"known":>5} {"wrong":>5} {"CPU s":>6}')


def line(name: str, robots: int, rows: Sequence[Row], alone: float) -> tuple[str, bool]:
    """Return a line of the table, and whether the target is met."""
    rounds = [float(row['rounds']) for row in rows]
    gained, target = alone / mean(rounds), TARGETS.get(robots, 0.0)
    low, high = np.percentile(
        [alone / each for each in rounds], [50 - SPREAD / 2, 50 + SPREAD / 2])
    wrong = sum(row['ok'] == '0' for row in rows)
    figures = [mean(float(row[column]) for row in rows) for column in ('made', 'known', 'seconds')]
    return (f'{name:<12} {robots or "alone":>6} {len(rows):>5} {mean(rounds):>8,.0f} '
            f'{gained:>8.2f} {f"{low:.2f} - {high:.2f}":>13} {figures[0]:>10,.0f} '
            f'{figures[1]:>5.1f} {wrong:>5} {figures[2]:>6.1f}'
            + f' BELOW {target:g}' * (gained < target)), gained >= target


def print_table(rows: Sequence[Row]) -> bool:
    """Print the table, and return whether all is well."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row['world'], int(row['robots'])), []).append(row)
    well = sum(row['ok'] == '0' for row in rows) <= DELTA * len(rows)
    print(HEAD)
    for (name, robots), found in groups.items():
        alone = mean(float(row['rounds']) for row in groups[name, 0])
        text, met = line(name, robots, found, alone)
        well &= met
        print(text)
    return well


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add, worlds = parser.add_argument, (*shipped(), *GRIDS)
    add('--worlds', nargs='+', default=list(WORLDS), choices=worlds, metavar='NAME',
        help=f'of {", ".join(worlds)} (default {", ".join(WORLDS)})')
    add('--robots', nargs='+', type=int, default=[1, 2, 4, 8, 16], metavar='N',
        help='in a fleet; one without a fleet is added (default 1 2 4 8 16)')
    parser.base()
    parser.seeds(5, 'of each')
    parser.trials()
    parsed = parser.read(arguments)
    if min(parsed.robots) < 1:
        parser.error(f'--robots has {min(parsed.robots)}, expected at least 1')
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the table."""
    parsed, began = parse(arguments), time.monotonic()
    tasks = [(name, robots, seed) for name in dict.fromkeys(parsed.worlds)
             for robots in dict.fromkeys((0, *parsed.robots)) for seed in parsed.seeds]
    rows = run_batch(partial(trial, parsed.base), tasks, partial(names_of, parsed.base),
                     parsed.engine, parsed.output)
    well = print_table(rows)
    print(f'{time.monotonic() - began:.0f} s {parsed.engine}')
    return 0 if well else 1


if __name__ == '__main__':
    exit_with(main)
