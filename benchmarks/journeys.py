# SPDX-License-Identifier: Apache-2.0

"""
What ``benchmarks/navigation --journeys`` measures: goals drawn at random, each from the last one.

Each sequence of goals is gone through by way of home, and again directly where that seems no
longer. All orders count as steps, the first RESET, too. *Moves* are the same with each RESET at
what the shortest way home takes without it, as a robot has to drive it. *Least* is the mean of
one that knows the truth, with RESET as one step and with RESET as its moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.core.task.navigation import Navigation, StepsToGo
from mnm_ros.simulation.cmp import Cmp, grid_cmp, GRID_MOVES, support
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
import numpy as np
from references import unchanging

FLAT = ('...#.....', '...#.....', '...#.....', '.......#.', '##.##.##.', '...#.....', '...S.....',
        '...#.....')    # four rooms, 60 places
WORLDS = {'two_rooms': 4.0, 'flat': 6.0, 'flat_map': 12.0}
"""The radius by world; with a map, the exploration is told where each action may lead."""

HEAD = (f'{"world":<10} {"seed":>4} {"known":>5} {"goals":>6}'
        + ''.join(f' | {what:>6} {"direct":>6} {"ratio":>5} {"least":>5}'
                  for what in ('steps', 'moves')))


@dataclass(frozen=True)
class Measured:
    """
    Means over all goals.

    by_home, direct: of what was taken.
    least: the share of ``by_home`` that one takes who knows the truth.
    """

    by_home: float
    direct: float
    least: float

    @property
    def ratio(self) -> float:
        return self.direct / self.by_home


def world(name: str) -> Scenario:
    if name == 'two_rooms':
        return unchanging(load(name))
    return Scenario('flat', tuple(GRID_MOVES), ''.join(FLAT).index('S'),
                    (Setting(grid_cmp(FLAT, 0.1, tuple(GRID_MOVES)), None),), Path())


def least(cmp: Cmp, target: int, reset: dict[int, float] | None) -> dict[int, float]:
    """Return the expected steps from each place by the best policy; ``reset`` is its price."""
    index = {place: number for number, place in enumerate(support(cmp).successors)}
    moves = np.zeros((cmp.actions, len(index), len(index)))
    for place, row in index.items():
        for action in range(cmp.actions):
            for end, chance in cmp.transitions(place, action):
                moves[action, row, index[end]] += chance
    prices = np.array([reset[place] if reset else np.inf for place in index])
    values = np.full(len(index), 1e3)
    for _ in range(2000):
        before, values = values, np.minimum(
            (1 + moves @ values).min(axis=0), prices + values[index[cmp.start]])
        values[index[target]] = 0.0
        if np.abs(values - before).max() < 1e-9:
            break
    return dict(zip(index, values.tolist()))


def explored(name: str, seed: int) -> tuple[Simulator, Exploration]:
    """Return the simulator, and an exploration that has just found its first hypothesis."""
    scenario = world(name)
    simulator = Simulator(scenario, seed)
    exploration = Exploration(settings(Problem(
        len(scenario.actions), WORLDS[name], 1.0, 0.1,
        Support(support(simulator.cmp) if name == 'flat_map' else None))), seed)
    while exploration.hypothesis is None:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    return simulator, exploration


def taken(simulator: Simulator, exploration: Exploration, goals: list[int], homeward:
          dict[int, float], directly: bool) -> tuple[float, float]:
    """Go to the goals one after the other; return the steps and the moves."""
    hypothesis = exploration.hypothesis
    assert hypothesis is not None
    home, known = hypothesis.targets[0], {
        policy.target: StepsToGo(policy) for policy in hypothesis.policies}
    ways = {target: exploration.direct_way(target) for target in known}
    simulator.state = goals[0]
    steps, moves = 0, 0.0
    for target in goals[1:]:
        way = Navigation(hypothesis.policy_for(target), home, known[target],
                         simulator.state if directly else None, ways[target])
        while not way.result:
            action = way.next_action()
            steps += 1
            moves += homeward[simulator.state] if action == RESET else 1
            way.observe(action, simulator.step(action))
    return steps / (len(goals) - 1), moves / (len(goals) - 1)


def measure(name: str, seed: int, count: int) -> tuple[int, Measured, Measured]:
    """Return how many states are known, and what was measured in steps and in moves."""
    simulator, exploration = explored(name, seed)
    assert exploration.hypothesis is not None
    cmp, targets = simulator.cmp, exploration.hypothesis.targets
    homeward = least(cmp, cmp.start, None)
    rng, goals = np.random.default_rng(seed), [cmp.start]
    for _ in range(count):
        goals.append(int(rng.choice([state for state in targets if state != goals[-1]])))
    found = [taken(simulator, exploration, goals, homeward, directly)
             for directly in (False, True)]
    measured = []
    for number, price in enumerate((dict.fromkeys(homeward, 1.0), homeward)):
        best = {target: least(cmp, target, price) for target in targets}
        mean = sum(best[target][before] for before, target in pairwise(goals)) / count
        measured.append(Measured(found[0][number], found[1][number], mean / found[0][number]))
    return len(targets), measured[0], measured[1]


def lines(seeds: int, count: int) -> list[str]:
    """Return a line for each world and seed."""
    rows = []
    for name in WORLDS:
        for seed in range(seeds):
            known, *measured = measure(name, seed, count)
            rows.append(f'{name:<10} {seed:>4} {known:>5} {count:>6}' + ''.join(
                f' | {each.by_home:>6.2f} {each.direct:>6.2f} {each.ratio:>5.2f} '
                f'{each.least:>5.2f}' for each in measured))
    return rows
