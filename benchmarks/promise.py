# SPDX-License-Identifier: Apache-2.0

"""
Measure how often the promise is broken, in many seeded trials on all cores, or on a cluster.

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
from collections.abc import Mapping, Sequence
import shlex
import time

from arguments import Arguments
from batch import exit_with, Row, run_batch
from mnm_ros.core.presets import PRESETS
from mnm_ros.export.direct_edges import interval
from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.ground_truth import best_time, expected_steps, reachable_states, Verdict
from trials import (
    columns,
    Configuration,
    DECLARATIONS,
    families,
    is_broken,
    is_finished,
    names,
    prepare,
    run,
)

Task = tuple[str, int, Configuration]
DEFAULTS = Configuration()


def trial(task: Task) -> dict[str, object]:
    """Return what came of a trial, as columns of its row."""
    return columns(run(*task))


def names_of(task: Task) -> dict[str, object]:
    """Return the columns of a row that name its trial."""
    return names(*task)


def command(family: str, seed: int, configuration: Configuration) -> str:
    """Return the command that replays a trial."""
    words = ['benchmarks/promise', '--replay', family, str(seed)]
    for option in ('preset', 'base', 'radius', 'epsilon', 'delta', 'change_after', 'budget',
                   'declare', 'looks'):
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

    def add(self, row: Mapping[str, str]) -> None:
        """Count one trial."""
        self.trials += 1
        self.unfinished += not is_finished(row)
        self.broken += is_broken(row)
        self.alarms += int(row['alarms'])
        self.steps_first += int(row['steps_first'])
        for name in ('first', 'last'):
            self.missing[name] += bool(row[f'missing_{name}'])
            self.over[name] += bool(row[f'over_{name}'])

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


def print_table(rows: Sequence[Row], delta: float) -> bool:
    """Print the table of one configuration, and return whether all is well."""
    tallies: dict[str, Tally] = {}
    total = Tally()
    for row in rows:
        for tally in (tallies.setdefault(row['family'], Tally()), total):
            tally.add(row)
    print(HEAD)
    for name, tally in tallies.items():
        print(tally.line(name, delta))
    print(total.line('total', delta))
    return all(tally.broken <= delta * tally.trials for tally in tallies.values())


def _tell(task: Task, row: Row) -> None:
    if is_broken(row) or not is_finished(row):
        print(f'{"broken" if is_broken(row) else "unfinished"} ({row["end"]}): {command(*task)}',
              flush=True)


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


def add_course(parser: Arguments) -> None:
    """Add how long a trial goes on."""
    parser.number('change-after', DEFAULTS.change_after, 'from the first hypothesis to the change',
                  least=0, metavar='STEPS')
    parser.number('budget', DEFAULTS.budget, 'to the first hypothesis, and after each change',
                  least=1, metavar='STEPS')


def check(parser: Arguments, configurations: Sequence[Configuration]) -> None:
    """Refuse what cannot be explored with."""
    for each in configurations:
        parser.checked(lambda: each.settings(1, each.radius or 4.0))    # noqa: B023


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add = parser.add_argument
    add('--preset', nargs='+', default=['onboard'], choices=tuple(PRESETS), metavar='NAME',
        help=f'of {", ".join(PRESETS)} (default onboard, the one whose MNM can finish)')
    parser.base(nargs='+', default=[''])
    add('--families', nargs='+', default=list(families()), choices=families(), metavar='NAME',
        help=f'of {", ".join(families())} (default all)')
    parser.seeds(120, 'of each family', name='trials')
    parser.trials()
    add('--replay', nargs=2, metavar=('FAMILY', 'SEED'),
        help='run one trial and print all of it')
    add('--alone', action='store_true',
        help='the base algorithm alone with the whole delta, in the first setting')
    parser.number('radius', DEFAULTS.radius, 'L; 0: 4 in shipped scenarios, 2 to 5, drawn from '
                  'the seed, in random ones')
    parser.number('epsilon', DEFAULTS.epsilon)
    parser.number('delta', DEFAULTS.delta)
    add_course(parser)
    add('--declare', default='', choices=('', *DECLARATIONS), metavar='KIND',
        help='declare where actions lead: true, partly (partly false) or false; what is false and '
        'was not refuted is assumed to be true')
    parser.number('looks', DEFAULTS.looks, 'steps after which it is told each time to look at '
                  'what is closed; 0: never', least=0)
    add('--set', nargs='+', default=[], metavar='OPTION=VALUE',
        help='override parts or constants of the preset')
    parsed = parser.read(arguments)
    if parsed.replay and not parsed.replay[1].isdecimal():
        parser.error(f'the seed is {parsed.replay[1]!r}, expected a number >= 0')
    parsed.configurations = [
        Configuration(preset, base, tuple(sorted(parsed.set)), parsed.alone, parsed.radius,
                      parsed.epsilon, parsed.delta, parsed.change_after, parsed.budget,
                      parsed.declare, parsed.looks)
        for preset in parsed.preset for base in parsed.base]
    check(parser, parsed.configurations)
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay one trial, or measure every configuration and write the results."""
    parsed = parse(arguments)
    if parsed.replay:
        family, seed = parsed.replay
        kept = [replay(family, int(seed), configuration)
                for configuration in parsed.configurations]
        return 0 if all(kept) else 1
    began = time.monotonic()
    tasks = [(family, seed, configuration) for configuration in parsed.configurations
             for family in parsed.families for seed in parsed.trials]
    rows = run_batch(trial, tasks, names_of, parsed.engine, parsed.output, _tell)
    well, share = True, len(rows) // len(parsed.configurations)
    for number, configuration in enumerate(parsed.configurations):
        resolved = configuration.settings(1, configuration.radius or 4.0)
        print(f'preset {resolved.preset}, base {resolved.base}'
              f'{" alone" if configuration.alone else ""} '
              f'{" ".join(configuration.options)}'.rstrip())
        well &= print_table(rows[number * share:(number + 1) * share], configuration.delta)
    print(f'{time.monotonic() - began:.0f} s {parsed.engine}')
    return 0 if well else 1


if __name__ == '__main__':
    exit_with(main)
