# SPDX-License-Identifier: Apache-2.0

"""What goals need is certified first, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.core import Exploration, InvalidTypeError, Preference, Problem, settings, Trust
from mnm_ros.simulation.cmp import grid_cmp, support
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from tiers import strength, thorough

ACTIONS = ('east', 'north', 'west', 'south')
FLAT = ('S....', '.....', '.....')
FAR, MOST = 9, strength(400, 1200)


class Run:
    """An exploration of a flat, by its map or without."""

    def __init__(self, seed: int, declared: bool, rows: tuple[str, ...] = FLAT) -> None:
        self.cmp = grid_cmp(rows, 0.1, ACTIONS)
        self.simulator = Simulator(Scenario(
            '', ACTIONS, self.cmp.start, (Setting(self.cmp, None),), Path()), seed)
        self.exploration = Exploration(settings(Problem(4, 7.0, 1.0, 0.1)), seed)
        if declared:
            self.exploration.declare(support(self.cmp))

    def explore(self, steps: int) -> None:
        for _ in range(steps):
            action = self.exploration.next_action()
            self.exploration.observe(action, self.simulator.step(action))

    def certified(self, target: int) -> bool:
        return any(told.policy.target == target and told.trust.rank <= Trust.CERTIFIED.rank
                   for told in self.exploration.trust())

    def until_certified(self, target: int) -> int:
        """Return the steps until then, or so many that were made in vain."""
        while not self.certified(target) and self.exploration.steps < MOST:
            self.explore(10)
        return self.exploration.steps


@pytest.mark.parametrize('declared', [True, pytest.param(False, marks=thorough(
    'core/test_preference.py::test_what_is_preferred_is_certified_sooner'))])
def test_what_is_preferred_is_certified_sooner(declared: bool) -> None:
    steps: dict[bool, list[int]] = {False: [], True: []}
    for seed in range(strength(1, 4)):
        for preferred, found in steps.items():
            run = Run(seed, declared)
            run.explore(1 if declared else 100)
            if preferred:
                run.exploration.prefer(FAR)
            found.append(run.until_certified(FAR))
    assert max(steps[True]) < MOST and sum(steps[True]) < 0.75 * sum(steps[False]), steps


@pytest.mark.parametrize('declared', [False, pytest.param(True, marks=thorough(
    shown_by='core/test_preference.py::'
             'test_an_exploration_with_ever_other_preferences_comes_to_the_same_end'))])
def test_an_exploration_with_ever_other_preferences_comes_to_the_same_end(declared: bool) -> None:
    """States that are out of reach, or that there are none of, hold nothing up."""
    run = Run(0, declared, strength(('S..', '...'), FLAT))
    goals = np.random.default_rng(0)
    exploration = run.exploration
    while exploration.hypothesis is None:
        exploration.prefer(int(goals.integers(-3, 20)))
        run.explore(40)
        assert exploration.steps < 20_000
    assert judge(run.cmp, exploration.hypothesis, 7.0, 1.0).ok
    exploration.prefer(FAR)
    run.explore(strength(150, 300))
    assert exploration.hypothesis is not None and not exploration.changes_noticed


def test_what_is_no_state_is_refused() -> None:
    exploration = Run(0, True).exploration
    with pytest.raises(InvalidTypeError, match="state is 'kitchen'"):
        exploration.prefer('kitchen')    # type: ignore[arg-type]
    assert exploration.prefer(3).input == Preference(3)
