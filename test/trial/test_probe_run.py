# SPDX-License-Identifier: Apache-2.0

"""What the check before a trial says about robots that behave, and about others."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.protocol.exchange import RetryTimer
from mnm_ros.trial.probe import Probe, ProbeRun

NAMES = ('east', 'west')


class Robot:
    """
    A corridor of four states whose steps take 2 s, unless ``before`` changes that.

    before: called with the preflight, the order and the time; returns whether to go on.
    """

    def __init__(self, before: Callable[..., bool] = lambda *_: True) -> None:
        self.state = 0
        self.orders: list[tuple[int, int]] = []
        self.before = before
        self.preflight = ProbeRun(
            NAMES, Probe(2, 3.0, 3, 30, 0), RetryTimer(5.0, 2), 100,
            lambda seq, action: self.orders.append((seq, action)))

    def play(self) -> ProbeRun:
        """Look at the time every 2 s: three timeouts of 5 s are over after 18 s."""
        now, done = 0.0, 0
        self.preflight.start(now)
        while not self.preflight.over:
            now += 2.0
            if done < len(self.orders):
                seq, action = self.orders[done]
                done += 1
                if self.before(self, seq, action, now):
                    self.state = 0 if action == RESET else min(
                        max(self.state + (1, -1)[action], 0), 3)
                    self.preflight.on_state(seq, self.state, now)
            self.preflight.tick(now)
        return self.preflight

    def verdict(self) -> dict[str, str]:
        return {finding.name: finding.text for finding in self.play().findings()
                if not finding.ok}


def test_a_robot_that_behaves() -> None:
    robot = Robot()
    assert robot.verdict() == {}
    assert [action for _, action in robot.orders[:4]] == [-1, 0, -1, 1]
    lines = list(robot.preflight.outlook(Problem(2, 3.0, 1.0, 0.1), 0))
    assert lines[0] == 'a step takes 2 s (median; 95% 2 s)'
    assert lines[1] == '4 states met, 4 of them within 3 steps by the observed transitions'
    assert lines[2].startswith('first hypothesis predicted after about ') and len(lines) == 3
    expected = list(robot.preflight.outlook(Problem(2, 3.0, 1.0, 0.1), 40))
    assert 'extrapolation' in expected[4]
    # By a step of 2 s, 40 states take hours.
    assert expected[3].startswith('L = 1 would take about ')


def test_what_is_declared_is_counted_in() -> None:
    problem, robot = Problem(2, 3.0, 1.0, 0.1), Robot()
    corridor = {state: ((min(state + 1, 3),), (max(state - 1, 0),)) for state in range(4)}
    robot.preflight._probe.declaration = Declaration(corridor)
    *_, predicted, how = robot.play().outlook(problem, 0)
    assert how == ('it is predicted by a simulation of the world as it is declared, in which 4 '
                   'states became known')
    steps = int(predicted.split('about ')[1].split(' steps')[0])
    assert steps < 76, 'where nothing is declared it is 76 to 1,300'


def test_a_prediction_without_what_is_declared_says_so() -> None:
    robot = Robot()
    robot.preflight._probe.declaration = Declaration({0: ((1,), (0,))})
    robot.play()
    lines = list(robot.preflight.outlook(Problem(2, 3.0, 1.0, 0.1), 0))
    assert lines[3].startswith('what is declared is not in that')


def test_reset_that_ends_elsewhere() -> None:
    def forget(robot: Robot, seq: int, action: int, now: float) -> bool:
        if action != RESET or len(robot.orders) < 8:
            return True
        robot.preflight.on_state(seq, robot.state, now)
        return False
    verdict = Robot(forget).verdict()
    assert set(verdict) == {'RESET'} and 'expected one and the same state' in verdict['RESET']


def test_an_action_that_is_never_answered() -> None:
    verdict = Robot(lambda robot, seq, action, now: action != 1).verdict()
    assert verdict == {'actions': 'west was not answered within 18.0 s'}


def test_no_answer_at_all() -> None:
    robot = Robot(lambda *_: False)
    assert robot.verdict() == {'RESET': 'RESET was not answered within 18.0 s'}
    assert len(robot.orders) == 3 and len(set(robot.orders)) == 1
    assert list(robot.preflight.outlook(Problem(2, 3.0, 1.0, 0.1), 0)) == []


def test_a_late_answer() -> None:
    heard: list[int] = []

    def late(robot: Robot, seq: int, action: int, now: float) -> bool:
        heard.append(action)
        return len(heard) != 4    # the first west, once

    verdict = Robot(late).verdict()
    assert verdict == {'actions': f'1 of {len(heard) - 1} steps took longer than 5 s: west'}


def test_second_answers_and_reports() -> None:
    def noisy(robot: Robot, seq: int, action: int, now: float) -> bool:
        if len(robot.orders) == 3:
            robot.preflight.on_state(7, robot.state, now)
        if len(robot.orders) == 6:
            robot.preflight.on_state(robot.orders[-2][0], robot.state, now)
        if len(robot.orders) == 9:
            robot.preflight.on_state(-1, 3, now)
            return False
        return True
    robot = Robot(noisy)
    assert robot.verdict() == {'nothing else': '1 second answers and 1 answers to other senders '
                               'and 1 reports of having been moved, expected none'}
    assert robot.orders[9][1] == RESET    # after the report


def test_a_robot_that_reports_itself_moved_at_every_step() -> None:
    """Each order is given up because of the report, before it is answered."""
    def chatty(robot: Robot, seq: int, action: int, now: float) -> bool:
        robot.preflight.on_state(-1, robot.state, now)
        assert len(robot.orders) < 100, 'no end'
        return True
    assert Robot(chatty).verdict() == {
        'RESET': 'given up after 20 reports of having been moved'}
