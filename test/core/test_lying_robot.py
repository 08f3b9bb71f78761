# SPDX-License-Identifier: Apache-2.0

"""A robot of a fleet that answers falsely is noticed, and the others go on without it."""

from __future__ import annotations

from mnm_ros.core import Exploration, Fleet, Member, Problem, RESET, settings
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from test_fleet import still
from tiers import strength, thorough


class LyingFleet:
    """
    Three robots, of which ``r2`` names any known state instead of its own in a part of its steps.

    :ivar played: the last actions of ``r2``.
    """

    def __init__(self, name: str, seed: int, lies: float) -> None:
        scenario = still(name)
        self.exploration = Exploration(
            settings(Problem(len(scenario.actions), 4.0, 1.0, strength(0.5, 0.1))), seed)
        self.fleet = Fleet(self.exploration, seed)
        self.cmp, self.played = scenario.settings[0].cmp, list[int]()
        self._simulators = {f'r{i + 1}': Simulator(scenario, 10 * seed + i) for i in range(3)}
        self._members = {name: Member(self.fleet, name) for name in self._simulators}
        self._lies, self._rng, self._seen = lies, np.random.default_rng([seed, 7]), list[int]()

    def step(self) -> None:
        for name, member in self._members.items():
            action = member.next_action()
            state = self._simulators[name].step(action)
            if action != RESET and state not in self._seen:
                self._seen.append(state)
            if name == 'r2':
                self.played.append(action)
                if action != RESET and self._rng.random() < self._lies:
                    state = self._seen[int(self._rng.integers(len(self._seen)))]
            member.observe(action, state)
        self.fleet.advance()


def test_a_quarantined_robot_stays_at_home_and_nothing_of_it_is_taken_any_more() -> None:
    fleet = LyingFleet('corridor', 0, lies=strength(0.9, 0.6))
    exploration = fleet.exploration
    while not exploration.quarantined:
        fleet.step()
        assert fleet.fleet.steps < 3000
    assert [*exploration.quarantined] == ['r2'] and exploration.mnm.round > 1
    count = exploration.sources['r2']
    fleet.played.clear()
    while exploration.hypothesis is None or exploration.mnm.under_revision:
        fleet.step()
        assert fleet.fleet.steps < 6000
    assert exploration.sources['r2'] == count and {*fleet.played[1:]} == {RESET}
    assert judge(fleet.cmp, exploration.hypothesis, 4.0, 1.0).ok


@pytest.mark.parametrize('seed', range(3))
@thorough(shown_by='core/test_lying_robot.py::'
          'test_a_quarantined_robot_stays_at_home_and_nothing_of_it_is_taken_any_more')
def test_the_first_hypothesis_comes_although_one_of_three_lies_in_three_of_ten_steps(
        seed: int) -> None:
    """The liar is noticed before the hypothesis or after it."""
    fleet = LyingFleet('two_rooms', seed, lies=0.3)
    while fleet.exploration.hypothesis is None or not fleet.exploration.quarantined:
        fleet.step()
        assert fleet.fleet.steps < 9000
    assert [*fleet.exploration.quarantined] == ['r2']
    assert judge(fleet.cmp, fleet.exploration.hypothesis, 4.0, 1.0).ok
