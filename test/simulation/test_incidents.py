# SPDX-License-Identifier: Apache-2.0

"""What happens to a robot beside the steps that it is told to make."""

from __future__ import annotations

from families import draw, FAMILIES
from incidents import INCIDENTS, Incidents, Player
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.simulator import Simulator
import pytest


class Stubborn:
    """Plays one action for ever, and remembers what it is told."""

    def __init__(self, action: int) -> None:
        self.action = action
        self.told: list[int | None] = []

    def next_action(self) -> int:
        """Return the action."""
        return self.action

    def observe(self, action: int, state: int) -> None:
        """Remember the state."""
        assert action == self.action
        self.told.append(state)

    def interrupt(self) -> None:
        """Remember the interruption."""
        self.told.append(None)


def played(incidents: Incidents, action: int, steps: int, seed: int = 0) -> Stubborn:
    learner = Stubborn(action)
    player = Player(Simulator(draw('helped_star', 1), 0), incidents, seed)
    for _ in range(steps):
        player.step(learner)
    assert player.interruptions == learner.told.count(None)
    return learner


def test_without_incidents_all_answers_arrive() -> None:
    assert None not in played(Incidents(), 0, 200).told


def test_a_helper_comes_after_some_steps_without_movement_and_not_before() -> None:
    told = played(Incidents(helped=1.0, patience=3), 0, 400).told
    assert None in told
    state, still = 0, 0
    for number, each in enumerate(told):
        if each is None:
            assert still == 3
            still = 0
        elif told[number - 1] is not None:
            still = still + 1 if each == state else 0
        else:
            still = int(each == state) if each == state else 0
        state = state if each is None else each


def test_no_answer_to_a_reset_is_lost() -> None:
    assert None not in played(Incidents(lost=1.0, lost_still=1.0), RESET, 50).told


def test_lost_answers_leave_the_robot_where_it_was_or_where_it_went() -> None:
    learner = Stubborn(0)
    simulator = Simulator(draw('helped_star', 1), 0)
    player, places = Player(simulator, Incidents(lost=1.0), 0), set()
    for _ in range(200):
        player.step(learner)
        places.add(simulator.state)
    assert learner.told == [None] * 200 and len(places) == 2


@pytest.mark.parametrize('incidents', [Incidents(moved=0.1), Incidents(lost=0.1)])
def test_the_seed_says_when(incidents: Incidents) -> None:
    one, same, other = (played(incidents, 0, 300, seed).told for seed in (1, 1, 2))
    assert one == same != other
    assert 10 < one.count(None) < 60


def test_incidents_are_those_of_families() -> None:
    assert set(INCIDENTS) <= set(FAMILIES)
