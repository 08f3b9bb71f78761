# SPDX-License-Identifier: Apache-2.0

"""A step at which something is planned among many states is announced by the base."""

from __future__ import annotations

from mnm_ros.core import Declaration, Exploration, Problem, RESET, settings, Support
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.mnm.capabilities import FEW_STATES
from mnm_ros.simulation.cmp import grid_cmp, GRID_MOVES
import numpy as np
import pytest
from tiers import strength

SIDE = 9
STEPS = strength(500, 4000)
ROWS = [''.join('S' if row == column == SIDE // 2 else '.' for column in range(SIDE))
        for row in range(SIDE)]


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the plans that are made: the states of each, those that are declared included."""
    found: list[int] = []
    plan = Disco._plan

    def counting(disco: Disco) -> None:
        found.append(max(len(disco._rows.places),
                         len(disco._problem.support.declared.successors)))
        plan(disco)

    monkeypatch.setattr(Disco, '_plan', counting)
    return found


def foretold(exploration: Exploration, action: int, state: int) -> bool:
    """Return whether the run that has the robot says that it may plan; before home, none has."""
    run = exploration.mnm.phase.base
    return isinstance(run, Disco) and run.may_plan(action, state)


def test_plans_are_announced(planned: list[int]) -> None:
    """Also those that are made since somebody wants to go somewhere."""
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
        announced = foretold(exploration, action, state)
        exploration.observe(action, state)
        if any(states > FEW_STATES for states in planned):
            plans += 1
            assert announced, step
    assert plans > 10


def test_plans_of_what_a_walk_lacks_are_announced_from_the_first_one_on(
        planned: list[int]) -> None:
    tree = range(FEW_STATES + 1)    # with the actions left, right and up
    ends = {place: (*((end, place) if end in tree else () for end in (
        2 * place + 1, 2 * place + 2)), ((place - 1) // 2, place) if place else ())
        for place in tree}
    exploration = Exploration(settings(Problem(
        3, 5.0, 1.0, 0.1, Support(Declaration(ends)))))
    here, plans = 0, 0
    for step in range(60):
        action = exploration.next_action()
        here = 0 if action == RESET else ends[here][action][0]
        planned.clear()
        announced = foretold(exploration, action, here)
        exploration.observe(action, here)
        plans += len(planned)
        assert announced or not planned, step
    assert plans > 10
