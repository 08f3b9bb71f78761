# SPDX-License-Identifier: Apache-2.0

"""
Exploration steps of MNM in the changing scenarios, beside what others need.

An exploration step is one at which the hypothesis held is not good enough. The methods:

mnm     MNM with the preset and the base asked for
oracle  the base alone, restarted exactly at each change, told so by the simulator; its hypothesis
        is what the run has output when finished, nothing before. Its delta is the one that
        MNM gives to its first stream, delta_1, so that both pay for the same promise
scaled  MNM with every part as printed (preset paper), the constants scaled so that it finishes:
        {scaled}
        It runs until it is right after the last change or --limit is reached
once    no change detection: the first run of the oracle, its hypothesis kept for ever

Then, for every scenario, the steps of one run of the base in its first setting, with delta_1, and
those of MNM's building phase over that run; benchmarks/lower_bound has what is the least for it.
The exit status is 0 if every target is met.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from statistics import mean

from arguments import Arguments
from batch import exit_with, run_batch
from mnm_ros.core.presets import OPTIONS, PRESETS
from mnm_ros.simulation.scenario import load, shipped
from references import (
    Configuration,
    METHODS,
    REASONS,
    run_building,
    run_stationary,
    SCALED,
    Trial,
)

Task = tuple[str, str, int]
"""Method, scenario, seed."""
Results = dict[Task, Trial]

ALL_METHODS = {**METHODS, 'base': run_stationary, 'building': run_building}
TOTAL_TARGET, BUILDING_TARGET = 3.0, 3.0
OVERRIDES = ' '.join(f'{name}={value:g}' for name, value in SCALED.items())


def tasks(scenarios: Sequence[str], seeds: int, scaled_seeds: int) -> Iterator[Task]:
    """Yield all trials, the long ones first."""
    changing = [name for name in scenarios if len(load(name).settings) > 1]
    for method in ('scaled', 'mnm', 'oracle', 'once'):
        for name in changing:
            for seed in range(scaled_seeds if method == 'scaled' else seeds):
                yield method, name, seed
    for method in ('base', 'building'):
        for name in scenarios:
            for seed in range(seeds):
                yield method, name, seed


def names(configuration: Configuration, task: Task) -> dict[str, object]:
    """Return the columns of a row that tell its trial from all others."""
    method, name, seed = task
    resolved = (configuration.scaled if method == 'scaled' else configuration.settings)(1)
    values = {**vars(resolved), **resolved.of_plug_ins}
    return {'scenario': name, 'seed': seed, 'method': method, **asdict(configuration),
            'preset': resolved.preset, **{option.name: values[option.name] for option in OPTIONS},
            'delta_1': configuration.delta_1}


def run(configuration: Configuration, task: Task) -> dict[str, object]:
    """Return what came of a trial, as columns of its row."""
    method, name, seed = task
    trial = ALL_METHODS[method](name, seed, configuration)
    return {'first': trial.first, 'exploration': ' '.join(map(str, trial.exploration)),
            'total': trial.total, 'steps': trial.steps, 'known': trial.known,
            'finished': int(trial.finished), 'wrong': trial.wrong,
            **{_column(reason): trial.lost[reason] for reason in REASONS}}


def trial_of(row: Mapping[str, str]) -> Trial:
    """Return the trial that a row tells of."""
    return Trial(
        first=int(row['first']), exploration=[int(word) for word in row['exploration'].split()],
        wrong=int(row['wrong']), finished=row['finished'] == '1', steps=int(row['steps']),
        known=int(row['known']),
        lost=Counter({reason: int(row[_column(reason)]) for reason in REASONS}))


def _column(reason: str) -> str:
    return reason.replace(', ', ' ').replace(' ', '_')


def of(results: Results, method: str, scenario: str) -> list[Trial]:
    """Return the trials of a method in a scenario, by seed."""
    return [trial for (made_by, name, _), trial in results.items()
            if (made_by, name) == (method, scenario)]


def print_exploration(results: Results, scenario: str) -> bool:
    """Print the exploration steps of all methods and return whether the target is met."""
    oracle = of(results, 'oracle', scenario)
    settings, met = len(oracle[0].exploration), True
    head = ''.join(f'{f"change {i}":>10}' for i in range(1, settings))
    print(f'\n{scenario:<13} {"seeds":>5} {"first":>9} {"setting 0":>9}{head} {"total":>10} '
          f'{"most":>9} {"wrong":>5} {"x oracle":>8} {"worst":>6}  target')
    for method in METHODS:
        trials = of(results, method, scenario)
        if not trials:
            continue
        ratio = mean(trial.total for trial in trials) / mean(
            trial.total for trial in oracle[:len(trials)])
        worst = max(trial.total / other.total for trial, other in zip(trials, oracle))
        columns = [[trial.exploration[i] for trial in trials if i < len(trial.exploration)]
                   for i in range(settings)]
        split = ''.join(f'{mean(column):>10,.0f}' if column else f'{"-":>10}'
                        for column in columns[1:])
        target = ''
        if method == 'mnm':
            met = ratio <= TOTAL_TARGET
            target = verdict(met, TOTAL_TARGET)
        firsts = [trial.first for trial in trials if trial.first]
        unfinished = sum(not trial.finished for trial in trials)
        print(f'{method:<13} {len(trials):>5} '
              f'{f"{mean(firsts):,.0f}" if firsts else "never":>9} {mean(columns[0]):>9,.0f}'
              f'{split} {mean(trial.total for trial in trials):>10,.0f} '
              f'{max(trial.total for trial in trials):>9,} '
              f'{sum(trial.wrong for trial in trials):>5} {ratio:>8.2f} {worst:>6.2f}  {target}'
              + (f'not right at the end: {unfinished} of {len(trials)}' if unfinished else ''))
    return met


def verdict(met: bool, target: float) -> str:
    """Return what a target says."""
    return f'<= {target:g} {"met" if met else "MISSED"}'


def print_lost(results: Results, scenarios: Sequence[str]) -> None:
    """Print what MNM's exploration steps after the changes waited for."""
    print('\nMNM after the changes, mean steps by what was waiting and what was done meanwhile')
    print(f'{"":<25}' + ''.join(f'{name:>14}' for name in scenarios))
    for reason in REASONS:
        means = [mean(trial.lost[reason] for trial in of(results, 'mnm', name))
                 for name in scenarios]
        print(f'{reason:<25}' + ''.join(f'{steps:>14,.0f}' for steps in means))


def print_stationary(results: Results, scenarios: Sequence[str]) -> bool:
    """Print the base, and building over the base; return whether the target is met."""
    print(f'\n{"first setting":<17} {"seeds":>5} {"known":>5} {"base":>8} {"building":>9} '
          f'{"x base":>6} target')
    met = True
    for name in scenarios:
        base, building = of(results, 'base', name), of(results, 'building', name)
        steps = mean(trial.total for trial in base)
        built = mean(trial.total for trial in building)
        met &= built / steps <= BUILDING_TARGET
        print(f'{name:<17} {len(base):>5} {mean(trial.known for trial in base):>5.1f} '
              f'{steps:>8,.0f} {built:>9,.0f} {built / steps:>6.2f} '
              f'{verdict(built / steps <= BUILDING_TARGET, BUILDING_TARGET)}')
    return met


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments((__doc__ or '').format(scaled=OVERRIDES))
    add, default = parser.add_argument, Configuration()
    add('--scenarios', nargs='+', default=list(shipped()), metavar='NAME',
        help=f'of {", ".join(shipped())} (default all)')
    parser.number('seeds', 10, 'of each scenario', least=1)
    parser.number('scaled-seeds', 1, 'of each scenario for the scaled constants; 0 leaves them '
                  'out', least=0)
    add('--preset', default=default.preset, choices=tuple(PRESETS))
    parser.base()
    parser.number('radius', default.radius, 'L')
    parser.number('epsilon', default.epsilon)
    parser.number('delta', default.delta)
    parser.number('tail', default.tail, 'after the last change', least=1, metavar='STEPS')
    parser.number('limit', default.limit, 'for the scaled constants and for runs in one setting',
                  least=1, metavar='STEPS')
    parser.trials()
    add('--quick', action='store_true', help='two seeds, no scaled constants')
    parsed = parser.read(arguments)
    if parsed.quick:
        parsed.seeds, parsed.scaled_seeds = min(parsed.seeds, 2), 0
    unknown = [name for name in parsed.scenarios if name not in shipped()]
    if unknown:
        parser.error(f'no scenario is called {unknown[0]}, expected some of '
                     f'{", ".join(shipped())}')
    parsed.scaled_seeds = min(parsed.scaled_seeds, parsed.seeds)
    parsed.configuration = Configuration(**{
        name: getattr(parsed, name) for name in asdict(default)})
    parsed.configuration = parser.checked(lambda: replace(
        parsed.configuration, base=parsed.configuration.settings(1).base))
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the tables."""
    parsed = parse(arguments)
    configuration: Configuration = parsed.configuration
    todo = list(tasks(parsed.scenarios, parsed.seeds, parsed.scaled_seeds))
    rows = run_batch(partial(run, configuration), todo, partial(names, configuration),
                     parsed.engine, parsed.output)
    results = dict(zip(todo, map(trial_of, rows)))
    changing = [name for name in parsed.scenarios if len(load(name).settings) > 1]
    print(f'preset {configuration.preset}, base {configuration.base}, L = '
          f'{configuration.radius:g}, epsilon = {configuration.epsilon:g}, delta = '
          f'{configuration.delta:g}, delta_1 = {configuration.delta_1:.6f}, '
          f'{configuration.tail:,} steps after the last change\nscaled: paper with {OVERRIDES}, '
          f'limit {configuration.limit:,} steps\n'
          'x oracle: of the means; worst: of one seed; wrong: settings at whose end the '
          'hypothesis was not good enough')
    explored = [print_exploration(results, name) for name in changing]
    met = all(explored)
    if changing:
        print_lost(results, changing)
    met &= print_stationary(results, parsed.scenarios)
    return 0 if met else 1


if __name__ == '__main__':
    exit_with(main)
