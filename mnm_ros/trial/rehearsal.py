# SPDX-License-Identifier: Apache-2.0

"""
An exploration of the world as it is declared and was seen, in simulation.

Where it is declared to which states actions lead, an exploration takes a few per cent to half of
the steps that it takes without, too few for a power law of worlds without; it is also soon played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.core.progress.prediction import Prediction
from mnm_ros.simulation.cmp import Outcomes, TableCmp
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator

PATIENCE = 30.0    # s of computing; some hundred places with a large radius take minutes
LOW, HIGH = 0.5, 1.5
"""At least 9 of 10 explorations take between so many times the least and the most rehearsed.

``benchmarks/hours`` measures it.
"""
_RUNS = 5    # at most; where moves often fail, one may take four times the steps of another


def rehearse(problem: Problem, home: int, declaration: Declaration,
             counts: Mapping[Pair, Mapping[int, int]], seed: int = 0) -> Prediction | None:
    """
    Return the steps to the first hypothesis, and in which range they will be.

    None if they take longer than ``PATIENCE`` to compute, or if it is not declared where all that
    is declared to be within reach leads to.

    :param counts: what was seen; by it, and by how often any action stayed that might have moved,
        the declared ends are weighed.
    """
    if not _is_whole(home, declaration):
        return None
    cmp = declared_cmp(problem.actions, home, declaration, counts)
    world = Scenario('', tuple(map(str, range(problem.actions))), home, (
        Setting(cmp, None),), Path())
    given = settings(replace(problem, support=Support(declaration)))
    end = process_time() + PATIENCE
    steps: list[int] = []
    for number in range(seed, seed + _RUNS):
        simulator, exploration = Simulator(world, number), Exploration(given, number)
        while exploration.hypothesis is None and process_time() < end:
            action = exploration.next_action()
            exploration.observe(action, simulator.step(action))
        if exploration.hypothesis is None:
            break
        steps.append(simulator.steps)
    if not steps:
        return None
    return Prediction(float(median(steps)), LOW * min(steps), HIGH * max(steps))


def _is_whole(home: int, declaration: Declaration) -> bool:
    found, waiting = {home}, [home]
    while waiting:
        lists = declaration.successors.get(waiting.pop())
        if lists is None:
            return False
        new = {end for ends in lists for end in ends} - found
        found |= new
        waiting += new
    return True


def declared_cmp(actions: int, home: int, declaration: Declaration,
                 counts: Mapping[Pair, Mapping[int, int]]) -> TableCmp:
    """Return the CMP with the declared ends, likely by the counts."""
    ends = {(state, action): found for state, lists in declaration.successors.items()
            for action, found in enumerate(lists)}
    stayed = _stayed(ends, counts)
    table: dict[Pair, Outcomes] = {}
    for pair in {**ends, **counts}:
        seen = Counter(counts.get(pair, {}))
        weights = {end: float(count) for end, count in seen.items()}
        for end, share in zip(ends.get(pair, ()), _shares(pair, ends, declaration, stayed)):
            weights[end] = weights.get(end, 0.0) + share
        whole = sum(weights.values())
        table[pair] = tuple((end, weight / whole) for end, weight in weights.items() if weight)
    return TableCmp(home, actions, table)


def _stayed(ends: Mapping[Pair, tuple[int, ...]],
            counts: Mapping[Pair, Mapping[int, int]]) -> float:
    """Return how often a state was not left by an action that may leave it or stay."""
    stayed, tried = 1.0, 10.0    # as if so many had been tried before
    for pair, seen in counts.items():
        if len(ends.get(pair, ())) > 1 and pair[0] in ends[pair]:
            stayed += seen.get(pair[0], 0)
            tried += sum(seen.values())
    return stayed / tried


def _shares(pair: Pair, ends: Mapping[Pair, tuple[int, ...]], declaration: Declaration,
            stayed: float) -> tuple[float, ...]:
    """Return how likely each declared end is before anything is seen."""
    state, action = pair
    if state in declaration.chances and pair in ends:
        return declaration.chances[state][action]
    found = ends.get(pair, ())
    others = len(found) - (state in found)
    return tuple((stayed if end == state else (1 - stayed) / others) if others else 1.0
                 for end in found)
