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

from batch import add_arguments, engine_of, exit_with, Row, run_batch
from mnm_ros.core.components import BASES
from mnm_ros.core.presets import PRESETS
from promise import names_of, Task, trial
from trials import Configuration, families, is_broken, is_finished

GRID = ('preset', 'base', 'radius', 'epsilon', 'delta')
"""The fields of a ``Configuration`` that may have several values; columns of the results, too."""


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = argparse.ArgumentParser(
        description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter)
    add, default = parser.add_argument, Configuration()
    add('--families', nargs='+', default=['two_rooms'], choices=families(), metavar='NAME',
        help=f'of {", ".join(families())} (default two_rooms)')
    add('--preset', nargs='+', default=[default.preset], choices=tuple(PRESETS), metavar='NAME',
        help=f'of {", ".join(PRESETS)} (default {default.preset})')
    add('--base', nargs='+', default=[default.base], metavar='NAME',
        help=f'of {", ".join(BASES)}, or module:factory (default the one of the preset)')
    for name, default_value in (('radius', 4.0), ('epsilon', default.epsilon),
                                ('delta', default.delta)):
        add(f'--{name}', nargs='+', type=float, default=[default_value], metavar='NUMBER',
            help=f'default {default_value:g}')
    add('--seeds', type=int, default=10, help='of each combination (default 10)')
    add('--first-seed', type=int, default=0, help='seeds count up from it (default 0)')
    add('--change-after', type=int, default=default.change_after, metavar='STEPS',
        help='from the first hypothesis to the change (default %(default)s)')
    add('--budget', type=int, default=default.budget, metavar='STEPS',
        help='to the first hypothesis, and after each change (default %(default)s)')
    add_arguments(parser)
    parsed = parser.parse_args(arguments)
    for name, least in (('seeds', 1), ('first_seed', 0), ('change_after', 0), ('budget', 1)):
        if getattr(parsed, name) < least:
            parser.error(f'--{name.replace("_", "-")} is {getattr(parsed, name)}, '
                         f'expected at least {least}')
    parsed.configurations = [
        Configuration(change_after=parsed.change_after, budget=parsed.budget,
                      **dict(zip(GRID, values)))
        for values in product(*(dict.fromkeys(getattr(parsed, name)) for name in GRID))]
    try:
        for configuration in parsed.configurations:
            configuration.settings(1, configuration.radius)
    except ValueError as error:
        parser.error(str(error))
    parsed.engine = engine_of(parser, parsed)
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
    seeds = range(parsed.first_seed, parsed.first_seed + parsed.seeds)
    tasks: list[Task] = [(family, seed, configuration) for family in parsed.families
                         for configuration in parsed.configurations for seed in seeds]
    rows = run_batch(trial, tasks, names_of, parsed.engine, parsed.output)
    print(*table(rows), f'{time.monotonic() - began:.0f} s {parsed.engine}', sep='\n')
    return 0


if __name__ == '__main__':
    exit_with(main)
