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
Measure how often the promise is broken, in many seeded trials on all cores.

Per trial MNM runs until its first hypothesis; in a scenario that changes, the change is made a
fixed number of steps later, and the trial ends when it has been relearnt or the budget is used
up. A hypothesis breaks the promise if it misses a state that is reachable within L expected
steps, or if one of its policies takes more than (1 + eps) L. Both the first and the last one are
judged; in a trial that is given up, what is held then is judged all the same. A trial that
crashes counts as broken.

The exit status is 0 if the rate of broken trials is at most delta in every family.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
import csv
from functools import partial
import multiprocessing
import os
from pathlib import Path
import shlex
import signal
import sys
import time

from mnm_ros.core.parts import BASES
from mnm_ros.core.presets import PRESETS
from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.ground_truth import best_time, expected_steps, reachable_states, Verdict
from trials import Configuration, families, Outcome, package_version, prepare, row, run

Task = tuple[str, int]
DEFAULTS = Configuration()
CONFIDENCE = 0.95


def interval(broken: int, trials: int) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval for a probability, at level ``CONFIDENCE``."""
    from scipy.stats import beta
    tail = (1 - CONFIDENCE) / 2
    low = beta.ppf(tail, broken, trials - broken + 1) if broken else 0.0
    high = beta.ppf(1 - tail, broken + 1, trials - broken) if broken < trials else 1.0
    return float(low), float(high)


def outcomes(tasks: Sequence[Task], configuration: Configuration,
             jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Run the trials in parallel processes and yield them in order."""
    work = partial(_run, configuration)
    if jobs == 1:
        yield from zip(tasks, map(work, tasks))
        return
    quiet_on_interrupt = (signal.SIGINT, signal.SIG_IGN)
    with multiprocessing.get_context('spawn').Pool(
            jobs, signal.signal, quiet_on_interrupt) as pool:
        yield from zip(tasks, pool.imap(work, tasks))


def _run(configuration: Configuration, task: Task) -> Outcome:
    return run(*task, configuration)


def command(family: str, seed: int, configuration: Configuration) -> str:
    """Return the command that replays a trial."""
    words = ['benchmarks/promise', '--replay', family, str(seed)]
    for option in ('preset', 'base', 'radius', 'epsilon', 'delta', 'change_after', 'budget'):
        value = getattr(configuration, option)
        if value != getattr(DEFAULTS, option):
            words += [f'--{option.replace("_", "-")}', f'{value:.12g}' if isinstance(
                value, float) else str(value)]
    words += ['--set', *configuration.options] if configuration.options else []
    return shlex.join(words + ['--alone'] * configuration.alone)


class Tally:
    """Counts over the trials of one family, or of all."""

    def __init__(self) -> None:
        self.trials = self.unfinished = self.broken = self.alarms = self.steps_first = 0
        self.missing = {'first': 0, 'last': 0}
        self.over = {'first': 0, 'last': 0}

    def add(self, outcome: Outcome) -> None:
        """Count one trial."""
        self.trials += 1
        self.unfinished += not outcome.finished
        self.broken += outcome.broken
        self.alarms += outcome.alarms
        self.steps_first += outcome.steps_first
        for name, verdict in (('first', outcome.first), ('last', outcome.last)):
            if verdict:
                self.missing[name] += bool(verdict.missing)
                self.over[name] += bool(verdict.over_limit)

    def line(self, name: str, delta: float) -> str:
        """Return a line of the table."""
        low, high = interval(self.broken, self.trials)
        rate = self.broken / self.trials
        return (
            f'{name:<17} {self.trials:>6} {self.missing["first"]:>7} {self.over["first"]:>6} '
            f'{self.missing["last"]:>7} {self.over["last"]:>6} {self.unfinished:>10} '
            f'{self.alarms:>6} {self.broken:>6} {rate:>7.4f}  [{low:.4f}, {high:.4f}] '
            f'{delta:>6g} {self.steps_first / self.trials:>11.0f}'
            + (' ABOVE DELTA' if rate > delta else ''))


HEAD = (
    f'{"":<17} {"":>6} {"first hyp.":>14} {"last hyp.":>14}\n'
    f'{"family":<17} {"trials":>6} {"missing":>7} {"over":>6} {"missing":>7} {"over":>6} '
    f'{"unfinished":>10} {"alarms":>6} {"broken":>6} {"rate":>7}  {"95% interval":<16} '
    f'{"delta":>6} {"first steps":>11}')


class Results:
    """A CSV file with a line for each trial; nothing is written without a path."""

    def __init__(self, path: Path | None) -> None:
        self._version = package_version() if path else ''
        self._file = path.open(
            'w', buffering=1, newline='', encoding='utf-8') if path else None
        self._writer: csv.DictWriter[str] | None = None

    def add(self, family: str, seed: int, configuration: Configuration, outcome: Outcome) -> None:
        """Write the line of one trial, below the names of the columns."""
        if self._file is None:
            return
        columns = row(family, seed, configuration, outcome, self._version)
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, list(columns), lineterminator='\n')
            self._writer.writeheader()
        self._writer.writerow(columns)

    def close(self) -> None:
        """Write what is left."""
        if self._file is not None:
            self._file.close()


def measure(names: Iterable[str], seeds: range, configuration: Configuration, jobs: int,
            results: Results) -> bool:
    """Run the trials of one configuration, print the table, and return whether all is well."""
    tasks = [(name, seed) for name in names for seed in seeds]
    tallies: dict[str, Tally] = {}
    total, began = Tally(), time.monotonic()
    for (name, seed), outcome in outcomes(tasks, configuration, jobs):
        for tally in (tallies.setdefault(name, Tally()), total):
            tally.add(outcome)
        if outcome.broken or not outcome.finished:
            _clear()
            print(f'{"broken" if outcome.broken else "unfinished"} ({outcome.end}): '
                  f'{command(name, seed, configuration)}', flush=True)
        results.add(name, seed, configuration, outcome)
        if sys.stderr.isatty():
            print(f'\r{total.trials}/{len(tasks)}', end='', file=sys.stderr, flush=True)
    _clear()
    print(HEAD)
    for name, tally in tallies.items():
        print(tally.line(name, configuration.delta))
    print(total.line('total', configuration.delta))
    print(f'{time.monotonic() - began:.0f} s with {jobs} processes', flush=True)
    return all(tally.broken <= configuration.delta * tally.trials for tally in tallies.values())


def _clear() -> None:
    if sys.stderr.isatty():
        print('\r\033[K', end='', file=sys.stderr, flush=True)


def replay(family: str, seed: int, configuration: Configuration) -> bool:
    """Run one trial again, print all about it, and return whether the promise was kept."""
    scenario, radius, _ = prepare(family, seed, configuration)
    outcome = run(family, seed, configuration)
    limit = (1 + configuration.epsilon) * radius
    print(f'{family} {seed}: L = {radius:g}, limit = {limit:g}, start {scenario.start}, '
          f'actions {", ".join(scenario.actions)}')
    settings = scenario.settings[:1] if configuration.alone else scenario.settings
    for index, setting in enumerate(settings):
        members = reachable_states(setting.cmp, radius)
        print(f'setting {index}, of the {len(members)} reachable states:')
        for state in members:
            print(f'  {state:>4} in {best_time(setting.cmp, members, state):.4g} steps; '
                  + '; '.join(f'{name} -> {_outcomes(setting.cmp, state, action)}'
                              for action, name in enumerate(scenario.actions)))
    print(*outcome.log, f'{outcome.steps:>9} end: {outcome.end}', sep='\n')
    if outcome.first:
        _explain('first hypothesis', outcome.first, settings[0].cmp, radius, limit)
    if outcome.last:
        _explain('last hypothesis', outcome.last, settings[outcome.setting].cmp, radius, limit)
    if outcome.hypothesis:
        print('policies held at the end (first row of actions) and their steps in each setting:')
        for policy in outcome.hypothesis.policies:
            times = ', '.join(f'{expected_steps(setting.cmp, policy):.4g}' for setting in settings)
            moves = ' '.join(f'{state}:{scenario.actions[action] if action >= 0 else "RESET"}'
                             for state, action in zip(policy.states, policy.actions[0]))
            print(f'  {policy.target:>4} in {times}: {moves}')
    return not outcome.broken


def _outcomes(cmp: Cmp, state: int, action: int) -> str:
    return ' '.join(f'{after}:{p:.4g}' for after, p in cmp.transitions(state, action))


def _explain(name: str, verdict: Verdict, cmp: Cmp, radius: float, limit: float) -> None:
    print(f'{name}: {"right" if verdict.ok else "WRONG"}')
    members = reachable_states(cmp, radius)
    for state in verdict.missing:
        print(f'  misses state {state}, reachable in {best_time(cmp, members, state):.6g} steps '
              f'(L = {radius:g})')
    for state, steps in verdict.over_limit:
        print(f'  takes {steps:.6g} steps to state {state} (limit {limit:g}, least '
              f'{best_time(cmp, (*dict.fromkeys((*members, state)),), state):.6g})')


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--preset', nargs='+', default=['onboard'], choices=tuple(PRESETS), metavar='NAME',
        help=f'of {", ".join(PRESETS)} (default onboard, the one whose MNM can finish)')
    add('--base', nargs='+', default=[], metavar='NAME',
        help=f'of {", ".join(BASES)}, or module:factory (default the one of the preset)')
    add('--families', nargs='+', default=list(families()), choices=families(), metavar='NAME',
        help=f'of {", ".join(families())} (default all)')
    add('--trials', type=int, default=120, help='of each family (default 120)')
    add('--first-seed', type=int, default=0, help='seeds count up from it (default 0)')
    add('--jobs', type=int, default=len(os.sched_getaffinity(0)),
        help='parallel processes (default: the cores there are)')
    add('--output', type=Path, metavar='CSV', help='write a line for each trial')
    add('--replay', nargs=2, metavar=('FAMILY', 'SEED'),
        help='run one trial and tell all about it')
    add('--alone', action='store_true',
        help='the base algorithm alone with the whole delta, in the first setting')
    add('--radius', type=float, default=DEFAULTS.radius,
        help='L (default: 4 in shipped scenarios, 2 to 5, drawn from the seed, in random ones)')
    add('--epsilon', type=float, default=DEFAULTS.epsilon, help='default %(default)g')
    add('--delta', type=float, default=DEFAULTS.delta, help='default %(default)g')
    add('--change-after', type=int, default=DEFAULTS.change_after, metavar='STEPS',
        help='from the first hypothesis to the change (default %(default)s)')
    add('--budget', type=int, default=DEFAULTS.budget, metavar='STEPS',
        help='to the first hypothesis, and after each change (default %(default)s)')
    add('--set', nargs='+', default=[], metavar='OPTION=VALUE',
        help='override parts or constants of the preset')
    parsed = parser.parse_args(arguments)
    for name in ('trials', 'jobs', 'budget'):
        if getattr(parsed, name) < 1:
            parser.error(f'--{name} is {getattr(parsed, name)}, expected at least 1')
    if parsed.first_seed < 0:
        parser.error(f'--first-seed is {parsed.first_seed}, expected at least 0')
    if parsed.replay and not parsed.replay[1].isdecimal():
        parser.error(f'the seed is {parsed.replay[1]!r}, expected a number >= 0')
    parsed.configurations = [
        Configuration(preset, base, tuple(sorted(parsed.set)), parsed.alone, parsed.radius,
                      parsed.epsilon, parsed.delta, parsed.change_after, parsed.budget)
        for preset in parsed.preset for base in parsed.base or ['']]
    try:
        for configuration in parsed.configurations:
            configuration.settings(1, configuration.radius or 4.0)
    except ValueError as error:
        parser.error(str(error))
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay one trial, or measure every configuration and write the results."""
    parsed = parse(arguments)
    if parsed.replay:
        family, seed = parsed.replay
        return 0 if all([replay(family, int(seed), configuration)
                         for configuration in parsed.configurations]) else 1
    seeds = range(parsed.first_seed, parsed.first_seed + parsed.trials)
    results, well = Results(parsed.output), True
    for configuration in parsed.configurations:
        resolved = configuration.settings(1, configuration.radius or 4.0)
        print(f'preset {resolved.preset}, base {resolved.base}'
              f'{" alone" if configuration.alone else ""} '
              f'{" ".join(configuration.options)}'.rstrip(), flush=True)
        well &= measure(parsed.families, seeds, configuration, parsed.jobs, results)
    results.close()
    return 0 if well else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
