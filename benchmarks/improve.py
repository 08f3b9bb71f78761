# SPDX-License-Identifier: Apache-2.0

"""
How many steps it takes until policies are proven to be nearly the best, and what that gains.

After the first hypothesis it is asked for the state that is farthest, by the truth, or with --all
for all of them. Every step counts, those of the checks as well. What is gained is told by the
truth, in expected steps from home: before, at the end, and of the best policy on the known states.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from arguments import Arguments
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.simulation.cmp import grid_cmp, support
from mnm_ros.simulation.ground_truth import best_time, expected_steps
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator

EPSILON, DELTA = 1.0, 0.1
ACTIONS = ('east', 'west', 'south', 'north')
FLAT = ('....#...#.',
        '....#...#.',
        '..S.......',
        '....#...#.',
        '#.##..####',
        '.......###')
WORLDS = {'grid_3x3': 4.0, 'two_rooms': 4.0, 'flat': 6.0}
"""The radius by world; the flat is declared by its map."""


class Found(NamedTuple):
    """
    What has come of one request.

    :ivar first: steps to the first hypothesis; steps: from there.
    :ivar before, after, best: expected steps by the truth.
    """

    first: int
    steps: int
    before: float
    after: float
    best: float


class Run:
    """An exploration of one world, up to its first hypothesis."""

    def __init__(self, world: str, seed: int) -> None:
        if world == 'flat':
            cmp = grid_cmp(FLAT, 0.1, ACTIONS)
            scenario = Scenario('', ACTIONS, cmp.start, (Setting(cmp, None),), Path())
        else:
            scenario = load(world)
        self.simulator = Simulator(scenario, seed)
        self.simulator._until = None    # nothing changes
        self.cmp = self.simulator.cmp
        self.exploration = Exploration(settings(
            Problem(len(scenario.actions), WORLDS[world], EPSILON, DELTA)), seed)
        if world == 'flat':
            self.exploration.declare(support(self.cmp))
        while self.exploration.hypothesis is None:
            self.step()
        self.first = self.exploration.steps

    @property
    def hypothesis(self) -> Hypothesis:
        """Return what is known."""
        assert self.exploration.hypothesis is not None
        return self.exploration.hypothesis

    def step(self) -> None:
        """Make a step."""
        action = self.exploration.next_action()
        self.exploration.observe(action, self.simulator.step(action))

    def improve(self, targets: Sequence[int], within: float, most: int) -> list[Found]:
        """Ask for some states; return those that were proven within so many steps."""
        before = {target: self.takes(target) for target in targets}
        for target in targets:
            self.exploration.improve(target, within)
        found: dict[int, Found] = {}
        while len(found) < len(targets) and self.exploration.steps < self.first + most:
            self.step()
            for target in self.exploration.mnm.phase.nearly_best.keys() - found.keys():
                found[target] = Found(
                    self.first, self.exploration.steps - self.first, before[target],
                    self.takes(target), best_time(self.cmp, self.hypothesis.targets, target))
        return list(found.values())

    def takes(self, target: int) -> float:
        """Return the expected steps of the policy to a state."""
        return expected_steps(self.cmp, self.hypothesis.policy_for(target))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each seed, and the mean of each world."""
    parser = Arguments(__doc__)
    parser.seeds(5, 'runs of each world')
    parser.add_argument('--worlds', nargs='+', default=[*WORLDS], choices=[*WORLDS],
                        metavar='NAME', help=f'of {", ".join(WORLDS)}')
    parser.add_argument('--all', action='store_true', help='ask for all known states')
    parser.number('within', 0.1, 'of the best')
    parser.number('most', 400_000, 'steps after which a run is given up', least=1)
    given = parser.read(arguments)
    for world in given.worlds:
        rows: list[Found] = []
        for seed in given.seeds:
            run = Run(world, seed)
            targets = sorted(run.hypothesis.targets[1:], key=run.takes)
            found = run.improve(targets if given.all else targets[-1:], given.within, given.most)
            rows += found
            wrong = sum(each.after > (1 + given.within) * each.best + 1e-9 for each in found)
            print(f'{world}, seed {seed}: {len(targets)} states after {run.first:,} steps; '
                  f'{len(found)} proven after {max((each.steps for each in found), default=0):,} '
                  f'more, {wrong} wrong', flush=True)
        if rows:
            print(f'{world}: first hypothesis {mean(each.first for each in rows):,.0f}, then '
                  f'{mean(each.steps for each in rows):,.0f}; expected steps '
                  f'{mean(each.before for each in rows):.3f} -> '
                  f'{mean(each.after for each in rows):.3f}, best '
                  f'{mean(each.best for each in rows):.3f}; no gain was left in '
                  f'{sum(each.before < 1.001 * each.best for each in rows)} of {len(rows)}',
                  flush=True)


if __name__ == '__main__':
    main()
