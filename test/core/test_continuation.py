# SPDX-License-Identifier: Apache-2.0

"""What is told to be left, where the map is declared, over what is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

from mnm_ros.core import continuation
from mnm_ros.core.exploration import Exploration, understudy
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.simulation.cmp import grid_cmp, GRID_MOVES, support
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
import pytest

LOW, HIGH = 0.6, 1.6


def flat(random: Random) -> Scenario:
    """Return a floor of up to two rooms, with a slip that is the same everywhere."""
    columns, rows, slip = random.randint(4, 7), random.randint(3, 5), random.choice((0.01, 0.1))
    wall, door = random.randrange(1, columns), random.randrange(rows)
    cells = [(row, column) for row in range(rows) for column in range(columns)
             if column != wall or row == door]
    start = random.choice(cells)
    cmp = grid_cmp([''.join(
        'S' if (row, column) == start else '.' if (row, column) in cells else '#'
        for column in range(columns)) for row in range(rows)], slip, tuple(GRID_MOVES))
    return Scenario('flat', tuple(GRID_MOVES), cmp.start, (Setting(cmp, None),), Path())


def begun(scenario: Scenario, seed: int, declared: Declaration) -> tuple[Exploration, Simulator]:
    problem = Problem(4, 5.0, 1.0, 0.1)
    return (Exploration(settings(replace(problem, support=Support(declared))), seed),
            Simulator(scenario, seed))


def test_half_of_the_way_it_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 runs 14 would not be within, if 90% are, with a probability of at most 0.0024."""
    monkeypatch.setattr(continuation, 'PATIENCE', 60.0)    # also on a busy machine
    inside = 0
    for seed in range(20):
        scenario = flat(Random(seed))
        exploration, simulator = begun(scenario, seed, support(scenario.settings[0].cmp))
        told: dict[int, int] = {}
        while exploration.hypothesis is None:
            progress = exploration.activity().progress if simulator.steps % 25 == 0 else None
            if progress:
                told[simulator.steps] = progress.expected - simulator.steps
            action = exploration.next_action()
            exploration.observe(action, simulator.step(action))
        half = min(told, key=lambda step: abs(step - simulator.steps / 2))
        ratio = told[half] / (simulator.steps - half)
        if not LOW <= ratio <= HIGH:
            print(f'seed {seed}: {ratio:.2f} at step {half} of {simulator.steps}')
        inside += LOW <= ratio <= HIGH
    assert inside >= 14


def test_it_is_given_up_where_it_takes_too_long_or_not_all_is_declared(
        monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = flat(Random(1))
    declared = support(scenario.settings[0].cmp)
    part = Declaration(dict([*declared.successors.items()][:3]))
    for patience, known, possible in ((9.0, declared, True), (9.0, part, False),
                                      (-1.0, declared, False)):
        monkeypatch.setattr(continuation, 'PATIENCE', patience)
        exploration, simulator = begun(scenario, 1, known)
        for _ in range(100):
            action = exploration.next_action()
            exploration.observe(action, simulator.step(action))
        played = continuation.Continuation(
            exploration._mnm, lambda at=exploration: understudy(at),
            lambda at=exploration: at.counts)
        left = played.steps_left(exploration.steps, exploration.last_state)
        assert (left is not None) == possible
        if left is not None:    # counted down before it is played anew
            assert played.steps_left(exploration.steps + 5, exploration.last_state) == left - 5
