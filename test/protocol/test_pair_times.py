# SPDX-License-Identifier: Apache-2.0

"""How long a robot takes is measured by state and action, and told now and then."""

from __future__ import annotations

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import InputListener, TimesInput
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.step_times import StepTimes
from mnm_ros.core.presets import settings
from mnm_ros.protocol.command_numbers import SequenceNumbers
from mnm_ros.protocol.exchange import FIRST, PairTimes
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.step_loop import StepLoop
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest


def test_the_mean_of_each_pair_is_told_once_there_are_some_and_again_when_there_are_more() -> None:
    times = PairTimes()
    for _ in range(FIRST):
        times.add(0, 0, 4.0)
        assert times.news() is None    # nothing is known of RESET
    times.add(5, RESET, 20.0)
    times.add(5, RESET, 900.0)    # held up, which counts as five times the mean
    assert times.news() == StepTimes({0: 4.0, RESET: 60.0}, {(0, 0): 4.0, (5, RESET): 60.0})
    assert times.news() is None
    for _ in range(FIRST):
        times.add(1, 0, 2.0)
    told = times.news()
    assert told is not None and told.pairs[0, 0] == 4.0 and told.pairs[1, 0] == 2.0
    assert 2.0 < told.actions[0] < 3.0


def test_a_robot_that_answers_at_once_is_simulated_and_its_times_are_not_told() -> None:
    times = PairTimes()
    for _ in range(5 * FIRST):
        times.add(0, 0, 0.2)
        times.add(0, RESET, 30.0)
        assert times.news() is None


@pytest.mark.parametrize('pace', [0.01, 4.0])
def test_a_loop_tells_the_exploration_what_it_measures(pace: float) -> None:
    simulator = Simulator(load('two_rooms'), 0)
    exploration = Exploration(settings(Problem(4, 4.0, 1.0, 0.1)))
    told: list[TimesInput] = []
    exploration.listeners.append(InputListener(
        lambda update: isinstance(update.input, TimesInput) and told.append(update.input)))
    sent: list[tuple[int, int]] = []
    loop = StepLoop(exploration, StepLimits(60.0, 3), SequenceNumbers(1000),
                    lambda *command: sent.append(command), None, timed=True)
    loop.resume(0.0)
    now = 0.0
    for _ in range(300):
        seq, action = sent[-1]
        now += pace * (5 if action == RESET else 1)
        loop.on_state(seq, simulator.step(action), now)
    assert exploration.steps == 300
    if pace < 1:
        assert not told
        return
    assert 3 <= len(told) <= 12
    times = exploration.problem.costs.times
    assert times.actions == {RESET: 20.0, **dict.fromkeys(range(4), 4.0)}
    assert {action for _, action in times.pairs} == {RESET, 0, 1, 2, 3}
