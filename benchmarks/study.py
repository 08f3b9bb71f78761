# SPDX-License-Identifier: Apache-2.0

"""
Explore scenarios with every combination of some parameters, and compare what it costs.

A trial is one of benchmarks/promise: MNM runs until its first hypothesis, and in a scenario that
changes until the change has been relearnt. Per combination, over the seeds: the steps to the first
hypothesis (mean, and the most of any), those in all, the states of the first hypothesis, and how
many trials were unfinished or broke the promise. What is given one value for is not shown.

    benchmarks/study --families two_rooms grid_3x3 --radius 3 4 5 --epsilon 0.5 1 --seeds 20

The lines of the CSV are those of benchmarks/promise, and its --replay repeats any of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from statistics import mean
import time

from arguments import Arguments
from batch import exit_with, Row, run_batch
from mnm_ros.core.presets import PRESETS
from promise import add_course, check, names_of, Task, trial
from trials import Configuration, families, is_broken, is_finished

GRID = ('preset', 'base', 'radius', 'epsilon', 'delta')
"""The fields of a ``Configuration`` that may have several values; columns of the results, too."""


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add, default = parser.add_argument, Configuration()
    add('--families', nargs='+', default=['two_rooms'], choices=families(), metavar='NAME',
        help=f'of {", ".join(families())} (default two_rooms)')
    add('--preset', nargs='+', default=[default.preset], choices=tuple(PRESETS), metavar='NAME',
        help=f'of {", ".join(PRESETS)} (default {default.preset})')
    parser.base(nargs='+', default=[''])
    for name, default_value in (('radius', 4.0), ('epsilon', default.epsilon),
                                ('delta', default.delta)):
        add(f'--{name}', nargs='+', type=float, default=[default_value], metavar='NUMBER',
            help=f'default {default_value:g}')
    parser.seeds(10, 'of each combination')
    add_course(parser)
    parser.trials()
    parsed = parser.read(arguments)
    parsed.configurations = [
        Configuration(change_after=parsed.change_after, budget=parsed.budget,
                      **dict(zip(GRID, values)))
        for values in product(*(dict.fromkeys(getattr(parsed, name)) for name in GRID))]
    check(parser, parsed.configurations)
    return parsed


def table(rows: Sequence[Row]) -> list[str]:
    """Return a line for each combination, below the names of what differs between them."""
    varied = [name for name in ('family', *GRID)
              if name == 'family' or len({row[name] for row in rows}) > 1]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in varied), []).append(row)
    widths = [max(map(len, column)) for column in zip(varied, *groups)]

    def left(cells: Sequence[str]) -> str:
        return ' '.join(f'{cell:<{width}}' for cell, width in zip(cells, widths))
    lines = [f'{left(varied)} {"seeds":>6} {"first steps":>12} {"most":>10} {"in all":>10} '
             f'{"known":>6} {"unfinished":>10} {"broken":>6}']
    for cells, found in groups.items():
        first = [int(row['steps_first']) for row in found if int(row['steps_first'])]
        known = [int(row['known_first']) for row in found if int(row['steps_first'])]
        told = (f'{mean(first):>12,.0f} {max(first):>10,}' if first else f'{"-":>12} {"-":>10}')
        lines.append(
            f'{left(cells)} {len(found):>6} {told} '
            f'{mean(int(row["steps"]) for row in found):>10,.0f} '
            f'{format(mean(known), ".1f") if known else "-":>6} '
            f'{sum(not is_finished(row) for row in found):>10} '
            f'{sum(map(is_broken, found)):>6}')
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the table."""
    parsed, began = parse(arguments), time.monotonic()
    tasks: list[Task] = [(family, seed, configuration) for family in parsed.families
                         for configuration in parsed.configurations for seed in parsed.seeds]
    rows = run_batch(trial, tasks, names_of, parsed.engine, parsed.output)
    print(*table(rows), f'{time.monotonic() - began:.0f} s {parsed.engine}', sep='\n')
    return 0


if __name__ == '__main__':
    exit_with(main)
