# SPDX-License-Identifier: Apache-2.0

"""A robot rests at home: it goes there first, nothing is lost, and nobody's pause is ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.core.task.step_task import RunState
from mnm_ros.protocol.advisory_loop import AdvisoryLoop
from mnm_ros.protocol.exchange import SequenceNumbers
from mnm_ros.protocol.loop import RobotLoop, StepLimits
from mnm_ros.protocol.rest_rules import RestRules
from mnm_ros.protocol.step_loop import StepLoop
from mnm_ros.simulation.diff_drive import Battery, scenario_of
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.simulation.world import load as load_world
from mnm_ros.view.sentences import sentence
import pytest
from tiers import thorough

LOW = 'battery 19%, below 20%; goes on at 80%'
LATE = 'outside of 22:00-06:00; goes on at 22:00'
LIMITS = StepLimits(1.0, 3)
STEP = 25.0    # s, that a step of a slow robot takes


class Robot:
    """A simulated robot that answers when it is told to; ``wrong_homes`` is how often not home."""

    def __init__(self, scenario: str = 'corridor', by_service: bool = False) -> None:
        self.simulator = Simulator(load(scenario))
        self.home = self.simulator.state
        self.played: list[int] = []
        self.wrong_homes = 0
        self.task = Exploration(settings(Problem(
            len(self.simulator.scenario.actions), 4.0, 1.0, 0.1)))
        self.calls: list[int] = []
        self.command: tuple[int, int] | None = None
        self.loop = StepLoop(
            self.task, LIMITS, SequenceNumbers(1), self.send, self.call if by_service else None)

    def send(self, seq: int, action: int) -> None:
        self.command = seq, action

    def call(self, attempt: int) -> bool:
        self.command = -attempt, RESET
        self.calls.append(attempt)
        return True

    def answer(self) -> None:
        """End the step under way."""
        assert self.command
        (seq, action), self.command = self.command, None
        self.played.append(action)
        state = self.simulator.step(action)
        if action == RESET and self.wrong_homes:
            self.wrong_homes -= 1
            state = self.simulator.state = self.home + 1
        if self.calls and action == RESET:
            self.loop.on_home_response(-seq, True, '', 0.0)
            self.loop.on_state(-1, state, 0.0)
        else:
            self.loop.on_state(seq, state, 0.0)

    def play(self, steps: int) -> None:
        for _ in range(steps):
            self.answer()

    def away(self) -> None:
        """Have it be between two steps somewhere else than at home."""
        self.play(20)
        while self.task.last_state in (None, self.home):
            self.answer()

    @property
    def rests(self) -> bool:
        return self.command is None and not self.loop.running


@pytest.fixture(params=[False, True], ids=['action', 'service'])
def robot(request: pytest.FixtureRequest) -> Robot:
    robot = Robot(by_service=request.param)
    robot.loop.resume(0.0)
    robot.away()
    return robot


def test_it_goes_home_after_the_step_under_way_and_makes_no_other(robot: Robot) -> None:
    before = len(robot.played)
    robot.loop.rest(LOW, 0.0)
    assert robot.loop.resting == LOW and sentence(robot.task.status) == f'going home: {LOW}'
    robot.answer()
    assert sentence(robot.task.status) == f'going home: {LOW}'
    assert robot.command and robot.command[1] == RESET
    robot.answer()
    assert robot.rests and robot.task.last_state == robot.home
    assert robot.played[before + 1:] == [RESET]
    assert robot.task.state is RunState.PAUSED and sentence(robot.task.status) == f'paused: {LOW}'
    steps = robot.task.steps
    robot.loop.rest('', 1.0)
    assert robot.loop.running
    assert robot.command and robot.command[1] == RESET    # it may be anywhere
    robot.play(10)
    assert robot.task.steps == steps + 10 and robot.task.state is RunState.RUNNING
    assert not sentence(robot.task.status).startswith('going home')


def test_a_reset_under_way_is_the_last(robot: Robot) -> None:
    while robot.command and robot.command[1] != RESET:
        robot.answer()
    robot.loop.rest(LOW, 0.0)
    robot.answer()
    assert robot.rests


def test_a_reset_that_misses_home_is_played_again(robot: Robot) -> None:
    robot.loop.rest(LOW, 0.0)
    robot.answer()
    robot.wrong_homes = 3
    robot.play(3)
    assert not robot.rests and robot.played[-3:] == [RESET] * 3
    robot.answer()
    assert robot.rests and robot.task.last_state == robot.home


def test_it_goes_on_if_the_reason_is_gone_on_the_way_home(robot: Robot) -> None:
    robot.loop.rest(LOW, 0.0)
    robot.answer()
    robot.loop.rest('', 0.0)
    assert not sentence(robot.task.status).startswith('going home')
    robot.play(10)
    assert robot.loop.running and len({*robot.played[-9:]} - {RESET}) > 0


def test_one_reason_after_the_other(robot: Robot) -> None:
    robot.loop.rest(LOW, 0.0)
    robot.play(2)
    robot.loop.rest(LATE, 0.0)
    assert robot.rests and sentence(robot.task.status) == f'paused: {LATE}'
    robot.loop.rest('', 0.0)
    assert robot.loop.running


@pytest.mark.parametrize('pause', [RobotLoop.pause, RobotLoop.pause_after_step])
def test_a_pause_is_not_ended_by_the_battery(robot: Robot, pause: Callable) -> None:
    robot.loop.rest(LOW, 0.0)
    robot.play(2)
    pause(robot.loop, 'service explore called')
    assert sentence(robot.task.status) == 'paused: service explore called'
    assert not robot.loop.resting
    robot.loop.rest('', 0.0)
    assert robot.rests and sentence(robot.task.status) == 'paused: service explore called'
    robot.loop.rest(LATE, 0.0)
    assert sentence(robot.task.status) == 'paused: service explore called'
    robot.loop.rest('', 0.0)
    robot.loop.resume(0.0)
    robot.play(5)
    assert robot.loop.running


def test_a_pause_on_the_way_home_comes_first(robot: Robot) -> None:
    robot.loop.rest(LOW, 0.0)
    robot.loop.pause_after_step('service explore called')
    robot.answer()
    assert robot.rests and robot.played[-1] != RESET
    assert sentence(robot.task.status) == 'paused: service explore called'


def test_a_rest_is_not_ended_by_resume(robot: Robot) -> None:
    robot.loop.rest(LOW, 0.0)
    robot.play(2)
    robot.loop.resume(0.0)
    assert robot.rests and sentence(robot.task.status) == f'paused: {LOW}'


def test_after_a_pause_it_goes_home_to_rest(robot: Robot) -> None:
    """A goal may have led it anywhere meanwhile."""
    robot.loop.pause_after_step('service explore called')
    robot.answer()
    robot.loop.rest(LOW, 0.0)
    assert robot.rests and sentence(robot.task.status) == 'paused: service explore called'
    robot.loop.resume(0.0)
    before = len(robot.played)
    while not robot.rests:
        robot.answer()
    assert robot.played[before:] == [RESET] and sentence(robot.task.status) == f'paused: {LOW}'


def test_it_begins_with_a_rest() -> None:
    robot = Robot()
    robot.loop.rest(LATE, 0.0)
    assert robot.command is None and not robot.loop.resting
    robot.loop.resume(0.0)
    robot.answer()
    assert robot.rests and robot.played == [RESET]
    assert sentence(robot.task.status) == f'paused: {LATE}'


def test_a_fault_on_the_way_home_is_one(robot: Robot) -> None:
    robot.loop.rest(LOW, 0.0)
    robot.loop.fail('a wheel is off', 0.0)
    assert sentence(robot.task.status) == 'fault: a wheel is off' and not robot.loop.resting
    robot.loop.recover(0.0)
    while not robot.rests:
        robot.answer()
    assert sentence(robot.task.status) == f'paused: {LOW}'


def test_a_robot_that_does_not_answer_is_waited_for(robot: Robot) -> None:
    robot.loop.rest(LOW, 0.0)
    for number in range(1, 10):
        robot.loop.tick(10.0 * number)
    assert robot.task.state is RunState.WAITING_FOR_ROBOT and robot.loop.running
    robot.loop.on_state(-1, robot.home + 1, 0.0)    # another one, where it stands
    while not robot.rests:
        robot.answer()
    assert robot.played[-1] == RESET


def test_a_driver_is_advised_to_go_home() -> None:
    advice: list[tuple[int, int]] = []
    task = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)))
    loop = AdvisoryLoop(task, LIMITS, lambda *step: advice.append(step))
    loop.resume(0.0)
    for seq, (action, state) in enumerate([(RESET, 0), (0, 1)]):
        loop.on_order(seq, action, 0.0)
        loop.on_state(seq, state, 0.0)
    loop.rest(LOW, 0.0)
    for seq, (action, state) in enumerate([(0, 2), (0, 3)], 2):    # it does something else
        loop.on_order(seq, action, 0.0)
        loop.on_state(seq, state, 0.0)
        assert advice[-1] == (seq, RESET)
    loop.on_order(4, RESET, 0.0)
    loop.on_state(4, 0, 0.0)
    assert sentence(task.status) == f'paused: {LOW}' and len(advice) == 5


class Day:
    """A robot with a battery that explores a world, by the rules that the explorer has."""

    def __init__(self, drive: float, seed: int = 0) -> None:
        world = scenario_of(load_world('one_room'))
        self.problem = Problem(len(world.actions), 3.0, 1.0, 0.1)
        self.cmp = world.settings[0].cmp
        self.simulator = Simulator(world, seed)
        self.exploration = Exploration(settings(self.problem), seed)
        self.battery = Battery(1e-6, drive, 1e-4)
        self.rules = RestRules(0.0)
        self.seconds = 0.0
        self.command: tuple[int, int] | None = None
        self.loop = StepLoop(self.exploration, LIMITS, SequenceNumbers(1), self._send, None)
        self.recharged: list[int] = []    # the steps before each
        self.found_after = 0    # steps
        self.loop.resume(0.0)

    def _send(self, seq: int, action: int) -> None:
        self.command = seq, action

    def until(self, steps: int) -> None:
        while self.exploration.steps < steps:
            self._look()
            if self.command is None:
                assert self.simulator.state == self.simulator.scenario.start
                self.recharged.append(self.exploration.steps)
                while self.command is None:
                    self._wait(10.0, 0.0)
            (seq, action), self.command = self.command, None
            self._wait(STEP, 0.5)
            self.loop.on_state(seq, self.simulator.step(action), self.seconds)
            if not self.found_after and self.exploration.hypothesis:
                self.found_after = self.exploration.steps

    def _wait(self, seconds: float, metres: float) -> None:
        self.seconds += seconds
        self.battery.tick(seconds, metres, self.command is None and not metres)
        self._look()

    def _look(self) -> None:
        self.rules.hear(self.battery.charge, self.seconds)
        self.loop.rest(self.rules.reason(20.0, 80.0, '', time()), self.seconds)


@thorough(
    'protocol/test_rest.py::test_it_goes_home_after_the_step_under_way_and_makes_no_other '
    'protocol/test_rest.py::test_a_reset_under_way_is_the_last')
def test_a_day_of_exploring_with_six_recharges_loses_nothing() -> None:
    day, other = Day(0.004), Day(0.0)
    while day.seconds < 24 * 3600:
        day.until(day.exploration.steps + 1)
    while other.exploration.hypothesis is None:
        other.until(other.exploration.steps + 1)
        assert other.exploration.steps < day.exploration.steps
    assert len(day.recharged) == 6 and not other.recharged
    found = day.exploration.hypothesis
    assert found and other.exploration.hypothesis    # of ways as long any may be in it
    assert set(found.targets) == set(other.exploration.hypothesis.targets)
    assert judge(day.cmp, found, day.problem.radius, day.problem.epsilon).ok
    assert day.recharged[1] < day.found_after < day.recharged[-1]    # it was interrupted, too
    # But for RESETs from places that are taken for unknown, all steps count.
    counts = day.exploration.counts
    uncounted = {pair: number - sum(counts.get(pair, {}).values())
                 for pair, nexts in day.simulator.counts.items()
                 if (number := sum(nexts.values())) != sum(counts.get(pair, {}).values())}
    assert all(action == RESET for _, action in uncounted)
    # The first, one from the dock, and one there unless the robot was to go home anyway.
    assert 1 + 6 <= sum(uncounted.values()) <= 1 + 2 * 6
