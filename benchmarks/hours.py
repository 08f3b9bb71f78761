# SPDX-License-Identifier: Apache-2.0

"""
Steps and hours to the first hypothesis, by places, L and pace, with and without a map.

With a map means that the successors of each place and action are declared, as a robot side does
that has one. Slip is 0.1, home is S, or the middle of an open grid. At last, what the runs with a
map took over what ``preflight`` predicts by a rehearsal with the map and 100 steps tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import mean
import sys
from typing import NamedTuple

from arguments import Arguments
from grids import grid, SLIP
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.core.progress.prediction import PROBE_STEPS
from mnm_ros.simulation.cmp import GRID_MOVES, Outcomes, support, TableCmp
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.trial.probe import Probe
from mnm_ros.trial.rehearsal import HIGH, LOW, rehearse
from mnm_ros.view.words import duration

FLAT = ('....#....',
        '.........',
        '....#....',
        '##.###.##',
        '....#....',
        '..S......',
        '....#....')


class Place(NamedTuple):
    """What is explored: a name for the table, the scenario, and L."""

    name: str
    scenario: Scenario
    radius: float


def flat(rows: Sequence[str] = FLAT) -> Scenario:
    """Return the flat; a move slips and stays put, and one against a wall stays put."""
    cells = {(row, column): letter for row, line in enumerate(rows)
             for column, letter in enumerate(line) if letter != '#'}
    number = {cell: index for index, cell in enumerate(cells)}
    table: dict[tuple[int, int], Outcomes] = {}
    for (row, column), here in number.items():
        for action, (down, right) in enumerate(GRID_MOVES.values()):
            there = number.get((row + down, column + right), here)
            table[here, action] = ((here, 1.0),) if there == here else (
                (there, 1 - SLIP), (here, SLIP))
    start = next(number[cell] for cell, letter in cells.items() if letter == 'S')
    return Scenario('flat', tuple(GRID_MOVES), start, (
        Setting(TableCmp(start, len(GRID_MOVES), table), None),), Path())


def run(place: Place, seed: int, mapped: bool, limit: int) -> tuple[int, int, bool]:
    """Return the steps, the states known, and whether the promise was kept."""
    simulator = Simulator(place.scenario, seed)
    problem = Problem(len(place.scenario.actions), place.radius, 1.0, 0.1)
    if mapped:
        problem = replace(problem, support=Support(support(simulator.cmp)))
    exploration = Exploration(settings(problem), seed)
    while exploration.hypothesis is None and simulator.steps < limit:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    found = exploration.hypothesis
    return (simulator.steps, len(found.targets) if found else 0,
            found is not None and judge(simulator.cmp, found, place.radius, 1.0).ok)


def rehearsed(place: Place, seed: int) -> float:
    """Return the steps that preflight predicts with a map; infinitely many if none."""
    simulator = Simulator(place.scenario, seed + 1000)
    problem = Problem(len(place.scenario.actions), place.radius, 1.0, 0.1)
    probe = Probe(problem.actions, place.radius, 5, PROBE_STEPS, seed)
    while not probe.over:
        probe.observe(simulator.step(probe.next_action()))
    found = rehearse(problem, probe.home, support(simulator.cmp), probe.counts)
    return found.prediction.steps if found else inf


def line(place: Place, seeds: Sequence[int], pace: float,
         limit: int) -> tuple[str, bool, list[float]]:
    """
    Return a row of the table, whether each run ended and kept the promise, and the ratios.

    The ratios are of the steps with a map over those predicted.
    """
    cells, good, known = [], True, 0.0
    ratios: list[float] = []
    for mapped in (False, True):
        steps, targets, kept = zip(*(run(place, seed, mapped, limit) for seed in seeds))
        known, good = mean(targets), good and all(kept)
        cells.append(f'{mean(steps):,.0f} | {duration(mean(steps) / pace)}')
        if mapped:
            ratios = [each / rehearsed(place, seed) for each, seed in zip(steps, seeds)]
    return (f'| {place.name} | {place.radius:g} | {known:.0f} | {" | ".join(cells)} |',
            good, ratios)


def main() -> int:
    """Print the table; the exit status is 1 if a run broke the promise or did not end."""
    parser = Arguments(__doc__)
    parser.seeds(3, 'runs of each')
    parser.number('pace', 0.3, 'steps a second')
    parser.number('limit', 300_000, 'steps after which a run is given up')
    parser.number('largest', 9, 'side of the largest open grid, at most 15')
    given = parser.read()
    places = [Place('two_rooms', load('two_rooms'), 4.0),
              *(Place(f'flat of {len("".join(FLAT).replace("#", ""))} cells', flat(), radius)
                for radius in (6.0, 12.0)),
              *(Place(f'open grid {side} x {side}', grid(side), radius)
                for side, radius in ((5, 4.0), (9, 6.0), (15, 9.0)) if side <= given.largest)]
    print(f'At {given.pace:g} steps a second:\n\n'
          '| world | `L` | known | steps | time | steps with a map | time |\n'
          '|---|---|---|---|---|---|---|')
    well, ratios = True, []
    for place in places:
        row, good, found = line(place, given.seeds, given.pace, given.limit)
        well, ratios = well and good, ratios + found
        print(row, flush=True)
    inside = sum(LOW <= ratio <= HIGH for ratio in ratios)
    print(f'\nWith a map they took {min(ratios):.2f} to {max(ratios):.2f} times the steps '
          f'rehearsed, {inside} of {len(ratios)} from {LOW:g} to {HIGH:g} times.')
    return 0 if well else 1


if __name__ == '__main__':
    sys.exit(main())
