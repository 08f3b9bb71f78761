# SPDX-License-Identifier: Apache-2.0

"""A step at which something is planned among many states is announced by ``may_plan``."""

from __future__ import annotations

from mnm_ros.core import Exploration, Problem, settings
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.mnm.capabilities import FEW_STATES
from mnm_ros.simulation.cmp import grid_cmp, GRID_MOVES
import numpy as np
import pytest
from tiers import strength

SIDE = 9
STEPS = strength(2000, 4000)
ROWS = [''.join('S' if row == column == SIDE // 2 else '.' for column in range(SIDE))
        for row in range(SIDE)]


def test_plans_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that are made since somebody wants to go somewhere."""
    planned: list[int] = []
    plan = Disco._plan

    def counting(disco: Disco) -> None:
        planned.append(len(disco._rows.places))
        plan(disco)

    monkeypatch.setattr(Disco, '_plan', counting)
    cmp, random = grid_cmp(ROWS, 0.1, [*GRID_MOVES]), np.random.default_rng(1)
    exploration = Exploration(settings(Problem(4, 5.0, 1.0, 0.1)))
    state, plans = cmp.start, 0
    for step in range(STEPS):
        action = exploration.next_action()
        ends, chances = zip(*cmp.transitions(state, action)) if action >= 0 else ([cmp.start], [1])
        state = int(random.choice(ends, p=chances))
        if step % 100 == 50:
            exploration.prefer(state)
        planned.clear()
        announced = exploration.may_plan(action, state)
        exploration.observe(action, state)
        if any(states > FEW_STATES for states in planned):
            plans += 1
            assert announced, step
    assert plans > 10
