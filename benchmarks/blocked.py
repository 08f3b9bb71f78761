# SPDX-License-Identifier: Apache-2.0

"""
How often pairs are tried that never work, and how soon it is noticed when one of them opens.

A flat of 46 places is declared by its map. Ten moves lead on by the map but never do: some into
closets that nothing else leads to, some past jambs to places that are known. With a small
probability a move ends elsewhere than is declared. After the first hypothesis, the share of the
steps is told that pairs take which never worked: the one with most of them, and all together.

With --opens, one of them opens after some time, and the steps from there to its first execution
and to the first change noticed are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from arguments import Arguments
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.simulation.cmp import GRID_MOVES, Outcomes, TableCmp
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator

RADIUS, EPSILON, DELTA = 7.0, 1.0, 0.1
ACTIONS = tuple(GRID_MOVES)
EAST, WEST, SOUTH, NORTH = range(4)
SLIP, MOST_BEFORE = 0.1, 200_000
FLAT = ('....#...#.',
        '....#...#.',
        '..S.......',
        '....#...#.',
        'c#.##.c###',
        '.......###',
        '##c#######')
"""By the map, a closet ``c`` is as free as the rest."""
BLOCKED: Mapping[str, tuple[tuple[int, int, int], ...]] = {
    'closet': ((5, 2, SOUTH),),
    'jamb': ((0, 1, EAST), (0, 2, WEST)),
    'alcove': ((3, 0, SOUTH), (5, 0, NORTH)),
    'cupboard': ((3, 6, SOUTH), (5, 6, NORTH)),
    'wall': ((3, 1, EAST), (3, 2, WEST)),
    'pillar': ((1, 5, EAST),)}
"""Row, column and move of the pairs that never work, by what may open."""


def _number(row: int, column: int) -> int:
    return row * len(FLAT[0]) + column


def _after(state: int, action: int, times: int = 1) -> int | None:
    """Return the place that lies so many moves ahead by the map; None for a wall."""
    row, column = divmod(state, len(FLAT[0]))
    down, right = (times * part for part in GRID_MOVES[ACTIONS[action]])
    row, column = row + down, column + right
    inside = 0 <= row < len(FLAT) and 0 <= column < len(FLAT[0])
    return _number(row, column) if inside and FLAT[row][column] != '#' else None


PLACES = tuple(_number(row, column) for row, line in enumerate(FLAT)
               for column, what in enumerate(line) if what != '#')
NEVER = tuple((_number(row, column), action)
              for pairs in BLOCKED.values() for row, column, action in pairs)


def declaration() -> Declaration:
    """Return what the map says: each move leads on or stays."""
    def ends(state: int, action: int) -> tuple[int, ...]:
        after = _after(state, action)
        return (state,) if after is None else (after, state)
    return Declaration({state: tuple(ends(state, action) for action in range(len(ACTIONS)))
                        for state in PLACES})


def flat(astray: float, opened: str = '') -> TableCmp:
    """Return the flat as it is, with what has opened."""
    works = {(_number(row, column), action) for row, column, action in BLOCKED.get(opened, ())}
    table: dict[Pair, Outcomes] = {}
    for state in PLACES:
        for action in range(len(ACTIONS)):
            pair, after = (state, action), _after(state, action)
            leads = after is not None and (pair not in NEVER or pair in works)
            beyond = _after(state, action, 2)
            lost = astray if after is not None and beyond is not None else 0.0
            likely = {after: (1 - SLIP) * (1 - lost)} if leads and after is not None else {}
            table[pair] = tuple((end, chance) for end, chance in (
                *likely.items(), (state, 1 - lost - sum(likely.values())),
                (beyond, lost)) if end is not None and chance > 0)
    start = next(_number(row, line.index('S')) for row, line in enumerate(FLAT) if 'S' in line)
    return TableCmp(start, len(ACTIONS), table)


class Run:
    """An exploration of the flat up to its first hypothesis."""

    def __init__(self, seed: int, astray: float, opens: str, base: str) -> None:
        cmps = flat(astray), flat(astray, opens)
        self.simulator = Simulator(Scenario('', ACTIONS, cmps[0].start, tuple(
            Setting(cmp, None) for cmp in cmps), Path()), seed)
        self.simulator._until = None
        self.exploration = Exploration(settings(
            Problem(len(ACTIONS), RADIUS, EPSILON, DELTA), overrides={'base': base}), seed)
        self.exploration.declare(declaration())
        self.executed: Counter[Pair] = Counter()
        self.worked: set[Pair] = set()
        self._here: int | None = None
        while self.exploration.hypothesis is None and self.exploration.steps < MOST_BEFORE:
            self.step()
        self.first = self.exploration.steps
        self.executed.clear()

    def step(self) -> Pair | None:
        """Make a step; return the pair that was executed."""
        action = self.exploration.next_action()
        here, self._here = self._here, self.simulator.step(action)
        self.exploration.observe(action, self._here)
        if here is None or action == RESET:
            return None
        self.executed[here, action] += 1
        if self._here == _after(here, action):
            self.worked.add((here, action))
        return here, action


def rest(seed: int, steps: int, astray: float, base: str) -> tuple[float, float]:
    """Tell of so many steps at rest; return the shares of one pair and of all in percent."""
    run = Run(seed, astray, '', base)
    for _ in range(steps):
        run.step()
    never = [100 * run.executed[pair] / steps for pair in NEVER if pair not in run.worked]
    exploration = run.exploration
    known = len(exploration.hypothesis.policies) if exploration.hypothesis else 0
    print(f'seed {seed}: hypothesis after {run.first:,}, {known} known; of {steps:,} steps one '
          f'pair that never worked took up to {max(never):.2f}%, all of them {sum(never):.2f}%; '
          f'{exploration.changes_noticed} changes, {exploration.mnm.runs.made - 1} rediscoveries',
          flush=True)
    return max(never), sum(never)


def opening(seed: int, what: str, settle: int, most: int, astray: float, base: str,
            ) -> tuple[int, int]:
    """Return the steps from an opening to its first execution, and to the first notice."""
    run = Run(seed, astray, what, base)
    for _ in range(settle + 331 * seed):
        run.step()
    run.simulator.change()
    opened = {(_number(row, column), action) for row, column, action in BLOCKED[what]}
    noticed, start = run.exploration.mnm.log.notices, run.exploration.steps
    tried: int | None = None
    while run.exploration.mnm.log.notices == noticed and run.exploration.steps < start + most:
        if run.step() in opened and tried is None:
            tried = run.exploration.steps - start
    return most if tried is None else tried, run.exploration.steps - start


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each seed, or for each opening."""
    parser = Arguments(__doc__)
    parser.seeds(5, 'runs of each')
    parser.number('steps', 50_000, 'of rest after the first hypothesis', least=1)
    parser.number('astray', 0.0005, 'probability that a move ends two places ahead')
    parser.add_argument('--opens', nargs='+', default=[], choices=[*BLOCKED], metavar='NAME',
                        help=f'of {", ".join(BLOCKED)}')
    parser.number('settle', 5000, 'steps from the hypothesis to the opening', least=0)
    parser.number('most', 20_000, 'after which a run is given up', least=1)
    parser.base()
    given = parser.read(arguments)
    if not given.opens:
        found = [rest(seed, given.steps, given.astray, given.base) for seed in given.seeds]
        print(f'at most {max(one for one, _ in found):.2f}% for one pair, '
              f'{max(together for _, together in found):.2f}% for all')
    for what in given.opens:
        rows = [opening(seed, what, given.settle, given.most, given.astray, given.base)
                for seed in given.seeds]
        print(f'{what}: tried after {mean(row[0] for row in rows):,.0f}, noticed after '
              f'{mean(row[1] for row in rows):,.0f}', rows, flush=True)


if __name__ == '__main__':
    main()
