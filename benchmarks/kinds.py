# SPDX-License-Identifier: Apache-2.0

"""
Steps to the first hypothesis without a map, in small worlds that are no rooms.

- spread: a chain of five places, and an action that leads to one of twelve useless states.
- pit: a grid of 4 x 4, home in a corner, with a place that only RESET leads out of.
- tree: two children of each place, nine levels deep.
- noise: a grid of 3 x 3, each move of which fails with probability 0.3.
- dozen: a grid of 3 x 3 with eight more actions that lead nowhere.

The last column is the ratio to the mean of ten seeds in revision 2606ba3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
import sys
from typing import NamedTuple

from arguments import Arguments
from grids import open_grid
from mnm_ros.core import Exploration, play, Problem, settings
from mnm_ros.simulation.cmp import Outcomes, TableCmp
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator

Table = dict[tuple[int, int], Outcomes]


class Kind(NamedTuple):
    """
    A world.

    :ivar radius: ``L``.
    :ivar before: steps in revision 2606ba3.
    """

    cmp: TableCmp
    radius: float
    before: float


def spread() -> TableCmp:
    """Return a chain whose third action leads to one of twelve states that are left by RESET."""
    table: Table = {}
    for place in range(5):
        if place < 4:
            table[place, 0] = ((place + 1, 0.8), (place, 0.2))
        table[place, 1] = ((max(0, place - 1), 1.0),)
        table[place, 2] = tuple((100 + end, 1 / 12) for end in range(12))
    return TableCmp(0, 3, table)


def tree(levels: int = 9) -> TableCmp:
    """Return a tree; the third action leads back, and from the leaves RESET alone."""
    table: Table = {}
    for place in range(1, 2 ** levels):
        for action in (0, 1):
            table[place, action] = ((2 * place + action, 0.9), (place, 0.1))
        table[place, 2] = ((max(1, place // 2), 1.0),)
    return TableCmp(1, 3, table)


KINDS = {
    'spread': Kind(spread(), 5.0, 2_228),
    'pit': Kind(open_grid(4, 0.1, 0, pit=5), 5.0, 3_407),
    'tree': Kind(tree(), 3.0, 1_884),
    'noise': Kind(open_grid(3, 0.3, 4), 3.0, 906),
    'dozen': Kind(open_grid(3, 0.1, 4, actions=12), 3.0, 1_844),
}


def run(kind: Kind, seed: int, limit: int) -> tuple[int, bool]:
    """Return the steps until there is a hypothesis, and whether it keeps the promise."""
    cmp, problem = kind.cmp, Problem(kind.cmp.actions, kind.radius, 1.0, 0.1)
    names = tuple(map(str, range(cmp.actions)))
    robot = Simulator(Scenario('kind', names, cmp.start, (Setting(cmp, None),), Path()), seed)
    exploration = Exploration(settings(problem), seed=seed)
    while exploration.hypothesis is None and robot.steps < limit:
        play(exploration, robot.step, steps=1)
    return robot.steps, judge(cmp, exploration.hypothesis, kind.radius, 1.0).ok


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each kind; the exit status is 1 if a run broke the promise."""
    parser = Arguments(__doc__)
    parser.add_argument('--kinds', nargs='*', default=list(KINDS), choices=tuple(KINDS))
    parser.seeds(10, 'of each kind')
    parser.number('limit', 100_000, 'steps after which a run is given up')
    given = parser.read(arguments)
    well = True
    print(f'{"kind":>8} {"steps":>8} {"least":>8} {"most":>8} {"wrong":>6} {"ratio":>6}')
    for name in given.kinds:
        steps, kept = zip(*(run(KINDS[name], seed, given.limit) for seed in given.seeds))
        well = well and all(kept)
        print(f'{name:>8} {mean(steps):>8,.0f} {min(steps):>8,} {max(steps):>8,} '
              f'{kept.count(False):>6} {mean(steps) / KINDS[name].before:>6.2f}', flush=True)
    return 0 if well else 1


if __name__ == '__main__':
    sys.exit(main())
