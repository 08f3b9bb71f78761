# SPDX-License-Identifier: Apache-2.0

"""Listening in on a driver: only what surely was an advised step is learnt from."""

from __future__ import annotations

import random

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.core.progress.said import NoDriver
from mnm_ros.protocol.advisory_loop import AdvisoryLoop
from mnm_ros.protocol.exchange import REPORT
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from tiers import strength

SEQ = 10**9
STEPS = strength(500, 5000)


class Listener:
    """An advisory loop on a simulated robot that a test drives."""

    def __init__(self) -> None:
        self.scenario = load('corridor')
        self.simulator = Simulator(self.scenario, 5)
        self.exploration = new_exploration()
        self.advice: list[tuple[int, int]] = []
        self.loop = AdvisoryLoop(
            self.exploration, StepLimits(5.0, 3), lambda *advice: self.advice.append(advice))
        self.loop.resume(0.0)
        self.seq = SEQ

    def drive(self, action: int, command: bool = True, answer: bool = True, early: bool = False,
              ) -> int:
        """Have an action executed; say what of the exchange is heard."""
        self.seq += 1
        state = self.simulator.step(action)
        heard = [(self.loop.on_order, action)] * command + [(self.loop.on_state, state)] * answer
        for method, value in reversed(heard) if early else heard:
            method(self.seq, value, 0.0)
        return state


def new_exploration() -> Exploration:
    problem = Problem(len(load('corridor').actions), 4.0, 1.0, 0.1)
    return Exploration(settings(problem, 'onboard'), 5)


def test_following_the_advice_is_exploring() -> None:
    listener, other = Listener(), new_exploration()
    simulator = Simulator(listener.scenario, 5)
    for _ in range(STEPS):
        listener.drive(listener.advice[-1][1], early=listener.seq % 3 == 0)
        action = other.next_action()
        other.observe(action, simulator.step(action))
    assert listener.exploration.steps == STEPS
    assert listener.exploration.counts == other.counts
    assert listener.exploration.hypothesis == other.hypothesis is not None
    assert listener.advice[-1] == (listener.seq, other.next_action())


@pytest.mark.parametrize('seed', range(strength(1, 5)))
def test_nothing_else_is_learnt(seed: int) -> None:
    """Whatever the driver does and the loop misses: each step learnt from did happen."""
    listener, rng = Listener(), random.Random(seed)
    exploration, simulator = listener.exploration, listener.simulator
    observe, before, learnt = exploration.observe, [0, 0], list[int]()
    observe_work, worked = exploration.observe_work, list[int | None]()

    def check(action: int, state: int) -> None:
        here = exploration.last_state
        assert (here in (None, before[0]), action, state) == (True, before[1], simulator.state)
        assert action == exploration.next_action()
        learnt.append(action)
        observe(action, state)

    def check_work(state: int, action: int, after: int | None) -> None:
        assert after is None or [state, action, after] == [*before, simulator.state]
        assert action != RESET
        worked.append(after)
        observe_work(state, action, after)

    exploration.observe, exploration.observe_work = check, check_work
    steps = strength(1200, 3000)
    for _ in range(steps):
        choice = rng.random()
        action = listener.advice[-1][1] if choice < 0.8 else rng.choice((RESET, 0, 1))
        if choice > 0.98:
            simulator.state = rng.choice(range(4))
            listener.loop.on_state(REPORT, simulator.state, 0.0)
        elif choice > 0.96:
            listener.loop.pause('test')
            listener.loop.resume(0.0)
        elif choice > 0.94:
            listener.seq = SEQ * rng.randrange(2, 10**6)    # another driver
        before[:] = simulator.state, action
        listener.drive(action, rng.random() < 0.97, rng.random() < 0.97, rng.random() < 0.3)
        if rng.random() < 0.1:    # repeated by the robot
            listener.loop.on_state(listener.seq, simulator.state, 0.0)
    assert len(learnt) > steps / 3 and set(learnt) == {RESET, 0, 1}
    assert exploration.work == len(worked) > steps / 30
    assert 0 < worked.count(None) < len(worked) / 3


def test_what_is_played_against_the_advice_or_while_paused_counts_as_work() -> None:
    listener = Listener()
    listener.drive(RESET)
    action = listener.advice[-1][1]
    listener.drive(1 - action if action != RESET else 0)
    assert listener.exploration.work == 1
    listener.loop.pause('test')
    listener.drive(0)
    listener.drive(RESET)
    listener.drive(1)
    assert listener.exploration.work == 3 and listener.exploration.steps == 1
    listener.loop.on_graph_change(True, True, 0.0)    # perhaps it is another robot
    listener.drive(0)
    assert listener.exploration.work == 3
    listener.drive(0, answer=False)    # broken off, as the driver goes on with something else
    listener.drive(RESET)
    assert listener.exploration.work == 4
    listener.loop.task.finish('test')
    listener.drive(0)
    assert listener.exploration.work == 4


def test_any_other_action_leads_to_the_advice_to_reset() -> None:
    listener = Listener()
    listener.drive(RESET)
    action = listener.advice[-1][1]
    listener.drive(1 - action if action != RESET else 0)
    assert listener.exploration.steps == 1
    assert listener.advice[-1] == (listener.seq, RESET)


def test_another_robot_may_be_anywhere() -> None:
    listener = Listener()
    while listener.exploration.last_state != 2 or listener.advice[-1][1] == RESET:
        listener.drive(listener.advice[-1][1])
    counts, (_, advised) = listener.exploration.counts, listener.advice[-1]
    listener.simulator.state = 0    # it begins at home
    listener.loop.on_graph_change(True, False, 0.0)
    assert listener.advice[-1] == (listener.seq, RESET)
    listener.drive(advised)
    assert listener.exploration.counts == counts and listener.advice[-1] == (listener.seq, RESET)
    listener.drive(RESET)
    assert listener.exploration.last_state == 0


def test_paused_while_no_node_drives() -> None:
    listener = Listener()
    listener.drive(RESET)
    listener.loop.pause_after_step('test')
    listener.loop.tick(100.0)
    assert sentence(listener.exploration.status) == 'paused: test'


def test_limit_and_silence() -> None:
    listener = Listener()
    listener.loop.adjust(StepLimits(5.0, 3, max_steps=10))
    for _ in range(5):
        listener.drive(listener.advice[-1][1])
    listener.loop.tick(1.0)
    assert listener.exploration.phase.value.startswith('building/')
    listener.loop.tick(21.0)
    assert listener.exploration.why == NoDriver()
    for _ in range(10):
        listener.drive(listener.advice[-1][1])
    assert listener.exploration.steps == 10 and listener.loop.over
    assert len(listener.advice) == 10
