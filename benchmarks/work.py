# SPDX-License-Identifier: Apache-2.0

"""
What goals from the start cost, and what they bring: a robot that works and explores in between.

A flat of 50 places is declared by its map. Every so many steps of the robot, as many as 3 minutes
have at 4 s each, a goal comes: a random one of the places that are used, by any policy that is
not doubted, from wherever the robot is, as the navigator drives it. In between it is explored.

Told are the goals that were refused, as there was no policy, or that failed, the steps of the
goals, and those of the explorer beside them until half of the places used are certified, until
from then on half of those are that goals have gone to so far, until all used ones are, and until
the first hypothesis proves all.

Each seed is run with what the goals need first, then without, then with goals of which nothing is
learnt, and without any goals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from arguments import Arguments
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.core.progress.trust import Trust
from mnm_ros.core.task.navigation import Navigation
from mnm_ros.core.view import View
from mnm_ros.simulation.cmp import grid_cmp, GRID_MOVES, support
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
import numpy as np

RADIUS, EPSILON, DELTA = 12.0, 1.0, 0.1
ACTIONS = tuple(GRID_MOVES)
SLIP, MOST = 0.1, 20_000
FLAT = ('.....#...',
        '.....#...',
        '..S......',
        '.....#...',
        '##.###.##',
        '.....#...',
        '.....#..#')
WAYS = ('preferred', 'counted', 'not counted', 'no goals')


@dataclass
class Tally:
    """
    What came of a run; steps are those of the explorer.

    :ivar half, all_certified: until so many of the places used are certified or proven; None if
        that never was.
    :ivar half_asked: until from then on half of those are that goals have gone to so far.
    :ivar proven: until all places are proven.
    """

    goals: int = 0
    refused: int = 0
    failed: int = 0
    steps: int = 0
    half: int | None = None
    half_asked: int | None = None
    all_certified: int | None = None
    proven: int | None = None


class Run:
    """
    A robot in the flat, up to the first hypothesis.

    :param way: of ``WAYS``.
    :param every: steps of the robot from one goal to the next.
    :param used: how many places goals go to; 0 for all.
    :param patience: steps after which a goal is given up.
    :ivar tally: what came of it.
    """

    def __init__(self, seed: int, way: str, every: int, patience: int, used: int,
                 base: str) -> None:
        cmp = grid_cmp(FLAT, SLIP, ACTIONS)
        self.tally = Tally()
        self._way, self._every, self._patience = way, every, patience
        self._robot = Simulator(Scenario('', ACTIONS, cmp.start, (Setting(cmp, None),), Path()),
                                seed)
        self._goals = np.random.default_rng([seed, 1])
        self.exploration = Exploration(settings(
            Problem(len(ACTIONS), RADIUS, EPSILON, DELTA), overrides={'base': base}), seed)
        self._view = View()
        declared = support(cmp)
        self.exploration.declare(declared)
        places = [state for state in declared.successors if state != cmp.start]
        self.places = [int(state) for state in self._goals.choice(
            places, used, replace=False)] if used else places
        self._asked: set[int] = set()
        while self.tally.proven is None and self.exploration.steps < MOST:
            self._explore()
            if self._way != 'no goals':
                self._drive(int(self._goals.choice(self.places)))

    def _explore(self) -> None:
        exploration = self.exploration
        for step in range(self._every):
            action = exploration.next_action()
            exploration.observe(action, self._robot.step(action))
            if step % 10 == 0:
                self._look()

    def _look(self) -> None:
        tally, steps = self.tally, self.exploration.steps
        certified = {told.policy.target for told in self.exploration.trust(None, self._view)
                     if told.trust.rank <= Trust.CERTIFIED.rank}
        known = len(certified.intersection(self.places))
        if tally.half is None and 2 * known >= len(self.places):
            tally.half = steps
        if 2 * len(certified & self._asked) < len(self._asked):
            tally.half_asked = None
        elif tally.half_asked is None and self._asked:
            tally.half_asked = steps
        if tally.all_certified is None and known >= len(self.places):
            tally.all_certified = steps
        if tally.proven is None and self.exploration.hypothesis is not None:
            tally.proven = steps

    def _drive(self, target: int) -> None:
        """Drive a goal as the navigator does, while exploration is paused."""
        exploration, tally = self.exploration, self.tally
        tally.goals += 1
        self._asked.add(target)
        if self._way == 'preferred':
            exploration.prefer(target)
        policy = self._policy(target)
        if policy is None:
            tally.refused += 1
            return
        home, here = exploration.home, self._robot.state
        assert home is not None
        exploration.pause('a goal')
        navigation = Navigation(policy, home, here=here, direct=exploration.direct_way(target))
        if self._way in ('preferred', 'counted'):
            navigation.on_execution = exploration.observe_work
        for _ in range(self._patience):
            if navigation.result:
                break
            action = navigation.next_action()
            navigation.observe(action, self._robot.step(action))
            tally.steps += 1
        tally.failed += not navigation.result.startswith('reached')
        exploration.resume()
        assert exploration.next_action() == RESET

    def _policy(self, target: int) -> Policy | None:
        return next((told.policy for told in self.exploration.trust(None, self._view)
                     if told.policy.target == target and told.trust is not Trust.DOUBTED), None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each run, and the means."""
    parser = Arguments(__doc__)
    parser.seeds(5, 'runs of each')
    parser.number('every', 45, 'steps from one goal to the next', least=1)
    parser.number('patience', 200, 'steps after which a goal is given up', least=1)
    parser.number('places', 0, 'that goals go to; 0 for all', least=0)
    parser.base()
    given = parser.read(arguments)
    for way in WAYS:
        tallies = []
        for seed in given.seeds:
            tally = Run(seed, way, given.every, given.patience, given.places,
                        given.base).tally
            tallies.append(tally)
            print(f'{way}, seed {seed}: {_line([tally])}', flush=True)
        print(f'{way}, mean: {_line(tallies)}', flush=True)


def _line(tallies: Sequence[Tally]) -> str:
    def told(name: str) -> str:
        found = [getattr(tally, name) for tally in tallies]
        return 'never' if None in found else f'{mean(found):,.0f}'
    return (f'{told("goals")} goals, {told("refused")} refused, {told("failed")} failed, '
            f'{told("steps")} steps of goals; explored until half certified {told("half")}, '
            f'half of those asked for {told("half_asked")}, all {told("all_certified")}, '
            f'proven {told("proven")}')


if __name__ == '__main__':
    main()
