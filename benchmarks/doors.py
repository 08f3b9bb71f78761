# SPDX-License-Identifier: Apache-2.0

"""
How soon a door that closes is suspected, noticed, and all its victims are deleted.

A flat of rooms with doors, of which some 33 places are known with L = 6, is explored until its
first hypothesis and watched for some time. Then a door closes, or, in the 3 x 3 grid with L = 5,
the wheel for one direction works with probability 0.1 instead of 0.95. Counted are the steps from
the change to the first hint, the first change noticed, the first policy deleted that takes more
than the limit, and the last of them.

With --pushes it is counted how often the robot tries what has closed: until that is noticed, until
the last victim is deleted, and in all of so many steps. With --looks it is told, each time after
so many steps, to look at what is closed, as the explorer does by its clock.

With --person the door is closed for so many steps only, as by a person who stands in it, and it is
counted how often the robot tries it meanwhile, and whether a change is noticed.

With --rest nothing changes, and the hints are counted, all of which are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import json
from pathlib import Path
from statistics import mean
from typing import Any

from arguments import Arguments
from families import draw, FAMILIES
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.simulation.cmp import Cmp, grid_cmp, GRID_MOVES, TableCmp
from mnm_ros.simulation.ground_truth import expected_steps
from mnm_ros.simulation.scenario import load, Scenario, Setting, shipped
from mnm_ros.simulation.simulator import Simulator

ACTIONS = tuple(GRID_MOVES)
EPSILON, DELTA = 1.0, 0.1
FLAT = ('....#...#....',
        '....#...#....',
        '..S..........',
        '....#...#....',
        '##.##########',
        '....#########')
OVER = 1.05
"""A policy that takes less than so many times the limit is no victim: no test can tell in time."""
DOORS: Mapping[str, tuple[int, int]] = {
    'door to many': (2, 4), 'door to few': (4, 2), 'last door': (2, 8)}
"""Row and column of the door that closes."""


def flat(closed: tuple[int, int] | None = None) -> Cmp:
    """Return the flat, with a door closed or not."""
    rows = [list(row) for row in FLAT]
    if closed:
        rows[closed[0]][closed[1]] = '#'
    return grid_cmp([''.join(row) for row in rows], 0.1, ACTIONS)


def wheel(works: float) -> Cmp:
    """Return the 3 x 3 grid with home in the middle, where one wheel works with a probability."""
    move = grid_cmp(('...', '.S.', '...'), 0.05, ACTIONS)
    table = {(state, action): move.transitions(state, action)
             for state in range(9) for action in range(4)}
    for state in range(9):
        ends = [after for after, _ in table[state, 0] if after != state]
        if ends:
            table[state, 0] = ((ends[0], works), (state, 1 - works))
    return TableCmp(4, 4, table)


def world(name: str, seed: int) -> tuple[Scenario, float]:
    """Return a world with its changes, and the radius."""
    if name == 'wheel':
        return _scenario(wheel(0.95), wheel(0.1)), 5.0
    if name in DOORS or name == 'flat':
        return _scenario(flat(), flat(DOORS.get(name))), 6.0
    if name in shipped():
        return load(name), 4.0
    return draw(name, seed, 4.0, EPSILON), 4.0


def _scenario(*cmps: Cmp) -> Scenario:
    return Scenario('', ACTIONS, cmps[0].start, tuple(Setting(cmp, None) for cmp in cmps), Path())


class Run:
    """
    An exploration from its first hypothesis on.

    :param kept: of the first hypotheses, so that several versions can go on from the same.
    :ivar pushed: tries of what is not as it was before the change.
    """

    _before: Cmp | None = None
    pushed = 0

    def __init__(self, name: str, seed: int, kept: Path | None, base: str) -> None:
        scenario, self.radius = world(name, seed)
        self._resolved = settings(Problem(len(scenario.actions), self.radius, EPSILON, DELTA),
                                  overrides={'base': base})
        self._begin(scenario, seed, None)
        known = 'flat' if name in DOORS else name
        file = kept / f'{known} {base} {seed}.json' if kept else None
        if file is None or not file.exists():
            while self.exploration.hypothesis is None and self.exploration.steps < 200_000:
                self.step()
            if file is not None:
                file.write_text(json.dumps(self.exploration.to_state()))
        if file is not None:
            self._begin(scenario, seed, json.loads(file.read_text()))

    def _begin(self, scenario: Scenario, seed: int, state: Mapping[str, Any] | None) -> None:
        self.simulator = Simulator(scenario, seed)
        self.simulator._until = None
        self.exploration = Exploration(self._resolved, seed, state)

    @classmethod
    def changed(cls, name: str, seed: int, settle: int, kept: Path | None, base: str) -> Run:
        """Return one after so many steps, and some more by the seed, and then the change."""
        run = cls(name, seed, kept, base)
        _until(run, lambda: False, settle + 331 * seed)
        run._before = run.simulator.cmp
        run.simulator.change()
        return run

    def step(self) -> None:
        here, action = self.exploration.last_state, self.exploration.next_action()
        self.exploration.observe(action, self.simulator.step(action))
        self.pushed += self._before is not None and here is not None and action != RESET and (
            self._before.transitions(here, action)
            != self.simulator.cmp.transitions(here, action))

    def hints(self) -> int:
        """Return how many hints there were so far."""
        checking: Any = self.exploration.mnm.phase
        return getattr(getattr(checking, 'hints', None), 'raised', 0)

    def too_slow(self) -> set[int]:
        """Return the targets whose policies take more than the limit."""
        assert self.exploration.hypothesis is not None
        return {policy.target for policy in self.exploration.hypothesis.policies
                if expected_steps(self.simulator.cmp, policy) > OVER * (1 + EPSILON) * self.radius}


def measure(name: str, seed: int, settle: int, most: int, kept: Path | None,
            base: str) -> list[int | None]:
    """Return steps to hint, notice, first and last deletion, and how many victims there were."""
    run = Run.changed(name, seed, settle, kept, base)
    noticed, hints = run.exploration.changes_noticed, run.hints()
    victims, held = len(run.too_slow()), run.exploration.hypothesis
    left, start = victims, run.exploration.steps
    found: dict[str, int] = {}
    while left and run.exploration.steps < start + most:
        run.step()
        taken = run.exploration.steps - start
        if run.hints() > hints:
            found.setdefault('hint', taken)
        if run.exploration.changes_noticed > noticed:
            found.setdefault('notice', taken)
        if run.exploration.hypothesis is not held:
            held = run.exploration.hypothesis
            now = len(run.too_slow())
            if now < left:
                left = now
                found.setdefault('first', taken)
            if not left:
                found.setdefault('last', taken)
    found.setdefault('hint', min(found.get('notice', most), found.get('first', most)))
    return [*(found.get(key) for key in ('hint', 'notice', 'first', 'last')), victims]


def pushes(name: str, seed: int, settle: int, steps: int, looks: int, kept: Path | None,
           base: str) -> tuple[int, int, int]:
    """Return the tries of what has closed until notice, until the last deletion, and in all."""
    run = Run.changed(name, seed, settle, kept, base)
    exploration = run.exploration
    noticed, held = exploration.changes_noticed, exploration.hypothesis
    until_notice = until_deletion = -1
    for step in range(steps):
        if looks and step % looks == 0:
            exploration.look()
        run.step()
        if exploration.changes_noticed > noticed and until_notice < 0:
            until_notice = run.pushed
        if exploration.hypothesis is not held and until_deletion < 0:
            held = exploration.hypothesis
            until_deletion = -1 if run.too_slow() else run.pushed
    return until_notice, until_deletion, run.pushed


def person(name: str, seed: int, settle: int, stays: int, kept: Path | None,
           base: str) -> tuple[int, int]:
    """Return the tries of a door while a person stands in it, and the changes noticed then."""
    run = Run.changed(name, seed, settle, kept, base)
    noticed = run.exploration.changes_noticed
    _until(run, lambda: False, stays)
    return run.pushed, run.exploration.changes_noticed - noticed


def _until(run: Run, done: Callable[[], bool], most: int) -> None:
    end = run.exploration.steps + most
    while run.exploration.steps < end and not done():
        run.step()


def rest(name: str, seed: int, steps: int, kept: Path | None, base: str) -> tuple[int, int, int]:
    """Return hints, changes noticed and rediscoveries in so many steps of a world at rest."""
    run = Run(name, seed, kept, base)
    runs = run.exploration.mnm.runs.made
    _until(run, lambda: False, steps)
    return run.hints(), run.exploration.changes_noticed, run.exploration.mnm.runs.made - runs


def most_expected(count: int) -> float:
    """Return the upper end of the exact one-sided 95% interval of a Poisson mean."""
    from scipy.special import gammaincinv  # scipy.stats takes a second to import
    return float(gammaincinv(count + 1, 0.95))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each world."""
    parser = Arguments(__doc__)
    parser.add_argument('--worlds', nargs='+', default=[*DOORS, 'wheel'], metavar='NAME',
                        help=f'of {", ".join(DOORS)}, wheel; with --rest also flat, '
                             f'{", ".join(shipped())}, {", ".join(FAMILIES)}')
    parser.seeds(10, 'runs of each')
    parser.number('settle', 2000, 'from the hypothesis to the change', least=0)
    parser.number('most', 20_000, 'after which a run is given up', least=1)
    parser.number('pushes', 0, 'steps after the change in which tries of what has closed are '
                  'counted', least=0)
    parser.number('looks', 0, 'steps from one look to the next; 0: none is told', least=0)
    parser.number('person', 0, 'steps for which a person stands in the door', least=0)
    parser.number('rest', 0, 'steps of a world at rest', least=0)
    parser.add_argument('--keep', type=Path, metavar='DIR', help='of the first hypotheses')
    parser.base()
    given = parser.read(arguments)
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    hints = steps = 0
    for name in given.worlds:
        if given.rest:
            for seed in given.seeds:
                found = rest(name, seed, given.rest, given.keep, given.base)
                hints, steps = hints + found[0], steps + given.rest
                print(f'{name} {seed}: {found[0]} hints, {found[1]} changes, '
                      f'{found[2]} rediscoveries', flush=True)
            continue
        if given.person:
            stood = [person(name, seed, given.settle, given.person, given.keep, given.base)
                     for seed in given.seeds]
            print(f'{name}: {mean(tries for tries, _ in stood):.1f} tries, changes noticed in '
                  f'{sum(noticed > 0 for _, noticed in stood)} of {len(stood)}', *stood,
                  flush=True)
            continue
        if given.pushes:
            counted = [pushes(name, seed, given.settle, given.pushes, given.looks, given.keep,
                              given.base) for seed in given.seeds]
            print(f'{name}: tries until notice, last deletion, in all', *counted, flush=True)
            continue
        rows = [measure(name, seed, given.settle, given.most, given.keep, given.base)
                for seed in given.seeds]
        told = []
        for place, title in enumerate(('hint', 'notice', 'first deleted', 'last deleted')):
            column = [given.most if row[place] is None else row[place] for row in rows]
            late = sum(row[place] is None for row in rows)
            told.append(f'{title} {mean(column):,.0f}' + f' ({late} not)' * bool(late))
        print(f'{name}: {", ".join(told)}; victims {mean(row[4] or 0 for row in rows):.1f}',
              [row[:4] for row in rows], flush=True)
    if steps:
        print(f'{hints} hints in {steps:,} steps, at most '
              f'{20_000 * most_expected(hints) / steps:.2f} in 20,000 (95%)')


if __name__ == '__main__':
    main()
