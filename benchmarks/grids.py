# SPDX-License-Identifier: Apache-2.0

"""
Steps and seconds of one run of the base in open grids of growing size, and of one plan.

In an open grid with slip 0.1 and home in the middle, one run of the base with delta_1. Then, for
grids of known states, one plan against all that is not known: by the planner of ``disco``, with
what is kept from the plan before and without, and by ``kl``, the planner of the base
``ucb_explore``, in the same process. At last the same stochastic shortest path problem, without
optimism, by this package and by the policy iteration of pymdptoolbox, where that is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
import sys
import time

from arguments import Arguments
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.paper.kl_optimism import KlOptimism
from mnm_ros.core.planning.optimistic_planner import OptimisticPlanner
from mnm_ros.core.presets import new_base
from mnm_ros.simulation.cmp import GRID_MOVES, Outcomes, TableCmp
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.methods import found_by
import numpy as np
from references import Configuration

SIZES = {5: 4.0, 9: 6.0, 15: 9.0, 21: 13.0}
"""The radius by the side of the grid."""

SLIP = 0.1
HOPS = (8, 12, 22)
SAMPLES = 150


def open_grid(side: int, slip: float, start: int, actions: int = len(GRID_MOVES),
              pit: int = -1) -> TableCmp:
    """
    Return an open grid; a move that slips, or that is against the edge, stays put.

    :param actions: with further ones, which stay put.
    :param pit: a place in which each action stays put.
    """
    table: dict[tuple[int, int], Outcomes] = {}
    for place in set(range(side * side)) - {pit}:
        row, column = divmod(place, side)
        for action, (down, right) in enumerate(GRID_MOVES.values()):
            if 0 <= row + down < side and 0 <= column + right < side:
                table[place, action] = ((place + down * side + right, 1 - slip), (place, slip))
    return TableCmp(start, actions, table)


def grid(side: int) -> Scenario:
    """Return an open grid with home in the middle."""
    start = (side // 2) * (side + 1)
    return Scenario(f'grid {side}', tuple(GRID_MOVES), start,
                    (Setting(open_grid(side, SLIP, start), None),), Path())


def run(side: int, seed: int, configuration: Configuration,
        limit: int) -> tuple[int, int, bool, float]:
    """Return the steps, the states known, whether the promise was kept, and the CPU seconds."""
    scenario = grid(side)
    simulator = Simulator(scenario, seed)
    base = new_base(configuration.alone(len(scenario.actions)), scenario.start, seed)
    began = time.process_time()
    while not base.finished and simulator.steps < limit:
        action = base.next_action()
        base.observe(action, simulator.step(action))
    seconds = time.process_time() - began
    kept = judge(simulator.cmp, found_by(base), configuration.radius, configuration.epsilon).ok
    return simulator.steps, len(base.policies), kept, seconds


def sampled(hops: int, seed: int = 0) -> tuple[Counts, list[int], list[int]]:
    """Return counts of all cells within so many moves, these cells, and those around them."""
    rng, counts = np.random.default_rng(seed), Counts()
    cells = sorted(((row, column) for row in range(-hops, hops + 1)
                    for column in range(-hops, hops + 1) if abs(row) + abs(column) <= hops),
                   key=lambda cell: abs(cell[0]) + abs(cell[1]))
    numbers = {cell: number for number, cell in enumerate(cells)}
    for row, column in cells:
        for action, (down, right) in enumerate(GRID_MOVES.values()):
            there = numbers.setdefault((row + down, column + right), len(numbers))
            slips = int(rng.binomial(SAMPLES, SLIP))
            for state, count in ((there, SAMPLES - slips), (numbers[row, column], slips)):
                for _ in range(count):
                    counts.add(numbers[row, column], action, state)
    return counts, list(range(len(cells))), list(range(len(cells), len(numbers)))


def plan_seconds(counts: Counts, known: Sequence[int], others: Sequence[int], delta: float,
                 radius: float) -> tuple[float, float]:
    """Return the seconds of a plan that looks at everything not known: first, and later on."""
    rows = TransitionRows(counts, len(GRID_MOVES))
    for state in known:
        rows.enter(state)
    planner = OptimisticPlanner(delta, radius)

    def ruling_out() -> float:
        began = time.process_time()
        model = EmpiricalModel.of(rows, known)
        planner.plan(model, None)
        planner.plan_for_any(model, others)
        return time.process_time() - began

    cold = ruling_out()
    times = []
    for state in known[:20]:
        counts.add(state, 0, state)
        rows.add(state, 0, state)
        times.append(ruling_out())
    return cold, mean(times)


def plan(hops: int, configuration: Configuration, old_up_to: int) -> str:
    """Return a line with the seconds of a plan that looks at everything not known."""
    counts, known, others = sampled(hops)
    cold, warm = plan_seconds(counts, known, others, configuration.delta_1, float(hops))
    line = f'{len(known):>6} {len(others):>7} {1000 * cold:>9.1f} {1000 * warm:>9.1f}'
    if len(known) > old_up_to:
        return f'{line} {"-":>11}'
    # A radius that nothing is within, so that it looks at every candidate, too.
    old = KlOptimism(Problem(len(GRID_MOVES), 1.0, 1.0, 0.1), configuration.delta_1, 100)
    began = time.process_time()
    old.plan(counts, known, others)
    return f'{line} {1000 * (time.process_time() - began):>11.1f}'


def solve(hops: int) -> str:
    """Return a line with the seconds of one shortest path problem by two solvers."""
    from mdptoolbox.mdp import PolicyIteration  # optional
    counts, known, others = sampled(hops)
    rows = TransitionRows(counts, len(GRID_MOVES))
    for state in known:
        rows.enter(state)
    model, limit = EmpiricalModel.of(rows, known), 200.0
    began = time.process_time()
    _, value = model.smoothed_plan(others[0], limit)
    ours = time.process_time() - began
    moves, rewards = dense_problem(model, others[0], limit)
    began = time.process_time()
    solver = PolicyIteration(moves, rewards, 1 - 1e-6, max_iter=200, eval_type=0)
    solver.run()
    theirs = time.process_time() - began
    return (f'{len(known):>6} {1000 * ours:>9.1f} {1000 * theirs:>14.1f} {theirs / ours:>6.1f} '
            f'{value:>9.3f} {-solver.V[0]:>9.3f}')


def dense_problem(
        model: EmpiricalModel, target: int, limit: float) -> tuple[list[np.ndarray], np.ndarray]:
    """Return transitions and rewards by action, RESET last; the target and failure come last."""
    known, width = len(model.states), len(model.states) + 2
    arrived, failed = known, known + 1
    rewards = np.zeros((width, model.actions + 1))
    rewards[:known], rewards[failed] = -1.0, -(1 + limit)
    ends = np.where(model.hits(target), arrived, np.where(
        model.columns < 0, failed, model.columns))
    moves = []
    for action in range(model.actions):
        own = np.arange(known) * model.actions + action
        matrix = np.zeros((width, width))
        np.add.at(matrix, (np.arange(known)[:, None], ends[own]), model.tally[own])
        matrix[:known, failed] += 0.5
        matrix[[arrived, failed], arrived] = 1.0
        moves.append(matrix / matrix.sum(axis=1, keepdims=True))
    reset = np.zeros((width, width))
    reset[:known, 0] = reset[arrived, arrived] = reset[failed, arrived] = 1.0
    return [*moves, reset], rewards


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables; the exit status is 1 if a run broke the promise or did not end."""
    parser = Arguments(__doc__)
    parser.add_argument(
        '--sides', type=int, nargs='*', default=list(SIZES), choices=tuple(SIZES))
    parser.number('seeds', 3)
    parser.base()
    parser.number('limit', 3_000_000, 'steps after which a run is given up')
    parser.number('old-up-to', 350, 'known states up to which kl is tried, too')
    parsed = parser.read(arguments)
    well = True
    print(f'{"side":>6} {"L":>5} {"steps":>10} {"known":>6} {"wrong":>6} {"CPU s":>8}')
    for side in parsed.sides:
        configuration = Configuration(base=parsed.base, radius=SIZES[side])
        found = [run(side, seed, configuration, parsed.limit) for seed in range(parsed.seeds)]
        steps, known, kept, seconds = zip(*found)
        wrong = kept.count(False)
        well = well and not wrong
        print(f'{side:>6} {SIZES[side]:>5g} {mean(steps):>10,.0f} {mean(known):>6.1f} {wrong:>6} '
              f'{mean(seconds):>8.1f}', flush=True)
    print(f'\n{"known":>6} {"others":>7} {"cold, ms":>9} {"warm, ms":>9} {"kl, ms":>11}')
    for hops in HOPS:
        print(plan(hops, Configuration(), parsed.old_up_to), flush=True)
    if find_spec('mdptoolbox'):
        print(f'\n{"known":>6} {"ours, ms":>9} {"library, ms":>14} {"ratio":>6} {"value":>9} '
              f'{"library":>9}')
        for hops in HOPS:
            print(solve(hops), flush=True)
    return 0 if well else 1


if __name__ == '__main__':
    sys.exit(main())
