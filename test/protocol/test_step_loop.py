# SPDX-License-Identifier: Apache-2.0

"""RESET by service: what is sent on topics and what is called may overtake each other."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Interruption, Observation, Relocation
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.core.progress.said import HomeCallFailed
from mnm_ros.core.task.navigation import Navigation
from mnm_ros.core.task.step_task import RunState
from mnm_ros.protocol.exchange import RetryTimer, SequenceNumbers
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.return_home import HomeProgress, ReturnHome
from mnm_ros.protocol.step_loop import StepLoop
import pytest

HOME = 0


class Robot:
    """
    What the loop has sent and called; ``loop`` is on its way with an action from home.

    :param overtaken: whether it is on its first way home instead.
    """

    def __init__(self, overtaken: bool = False) -> None:
        self.sent: list[tuple[int, int]] = []
        self.calls: list[int] = []
        self.exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)))
        self.loop = StepLoop(
            self.exploration, StepLimits(1.0, 3), SequenceNumbers(1000),
            lambda *command: self.sent.append(command), self.call)
        self.loop.resume(0.0)
        if overtaken:
            return
        while not self.sent:
            self.come_home()
        self.begun = len(self.calls)
        self.steps = self.exploration.steps
        assert self.exploration.last_state == HOME

    @property
    def called(self) -> int:
        """Return the calls since then."""
        return len(self.calls) - self.begun

    @property
    def counted(self) -> int:
        """Return the steps since then."""
        return self.exploration.steps - self.steps

    def call(self, attempt: int) -> bool:
        self.calls.append(attempt)
        return True

    def come_home(self) -> None:
        self.respond()
        self.loop.on_state(-1, HOME, 0.0)

    def respond(self) -> None:
        self.loop.on_home_response(self.calls[-1], True, '', 0.0)


@pytest.fixture
def robot() -> Robot:
    return Robot()


def test_an_action_that_was_given_up_may_follow_the_way_home(robot: Robot) -> None:
    seq, _ = robot.sent[-1]
    robot.loop.on_state(-1, 5, 0.0)    # moved by hand
    assert robot.called == 1
    robot.loop.on_state(seq, 1, 0.0)
    robot.come_home()
    assert robot.called == 2 and robot.counted == 0
    robot.come_home()
    assert robot.counted == 1


def test_it_may_even_follow_the_arrival(robot: Robot) -> None:
    seq, _ = robot.sent[-1]
    robot.loop.on_state(-1, 5, 0.0)
    while len(robot.sent) < 2:
        robot.come_home()
    called, counted = robot.called, robot.counted
    robot.loop.on_state(seq, 1, 0.0)
    robot.loop.on_state(seq + 1, 2, 0.0)    # from state 1, not from home
    assert robot.called == called + 1 and robot.counted == counted


def test_it_may_follow_the_arrival_of_a_robot_that_is_left_alone_at_once(robot: Robot) -> None:
    """The answer to the action under way counts after a pause, but not from another place."""
    seq, _ = robot.sent[-1]
    robot.loop.on_state(-1, 5, 0.0)
    while len(robot.sent) < 2:
        robot.come_home()
    counted = robot.counted
    robot.loop.pause('node deactivated')
    robot.loop.on_state(seq, 1, 0.0)
    robot.loop.on_state(seq + 1, 2, 0.0)
    assert robot.counted == counted


def test_a_second_call_may_lead_home_again(robot: Robot) -> None:
    robot.loop.on_state(-1, 5, 0.0)
    robot.loop.on_graph_change(True, False, 0.0)
    assert robot.called == 2
    robot.come_home()
    assert robot.counted == 0    # until the other call is over, too
    robot.respond()
    assert robot.counted == 1


def test_a_report_that_has_overtaken_the_first_response_is_confirmed_at_once() -> None:
    """It may be an older one, while home is not known; a whole timeout would be no surer."""
    robot = Robot(overtaken=True)
    robot.loop.on_state(-1, HOME, 0.0)
    robot.respond()
    robot.loop.tick(0.2)
    assert len(robot.calls) == 1 and robot.exploration.last_state is None
    robot.loop.tick(0.4)
    assert len(robot.calls) == 2
    robot.respond()
    assert robot.exploration.last_state is None
    robot.loop.on_state(-1, HOME, 0.5)    # of the second way, no move by somebody else
    assert robot.exploration.last_state == HOME


def test_a_robot_that_is_at_home_already_need_not_report_it_again() -> None:
    robot = Robot(overtaken=True)
    robot.loop.on_state(-1, HOME, 0.0)
    for tenth in range(0, 12, 4):
        robot.loop.tick(tenth / 10)
        robot.loop.on_home_response(robot.calls[-1], True, '', tenth / 10)
    assert len(robot.calls) == 4 and robot.exploration.last_state == HOME


def test_another_report_that_follows_the_first_response_counts() -> None:
    robot = Robot(overtaken=True)
    robot.loop.on_state(-1, 5, 0.0)    # of before
    robot.respond()
    robot.loop.on_state(-1, HOME, 0.2)
    assert len(robot.calls) == 2 and robot.calls[0] != robot.calls[1]
    assert robot.exploration.last_state == HOME


def test_a_second_call_that_is_never_answered_is_not_waited_for_forever(robot: Robot) -> None:
    robot.loop.on_state(-1, 5, 0.0)
    robot.loop.on_graph_change(True, False, 0.0)
    robot.come_home()
    robot.loop.tick(2.0)
    assert robot.called == 3 and robot.counted == 0
    robot.come_home()
    assert robot.counted == 1


def test_an_answer_from_a_robot_that_another_has_replaced_is_counted_but_not_gone_on_from(
        robot: Robot) -> None:
    seq, _ = robot.sent[-1]
    robot.loop.on_graph_change(True, True, 0.0)
    robot.loop.on_state(seq, HOME, 0.0)
    assert robot.counted == 1 and robot.called == 1 and len(robot.sent) == 1


@pytest.mark.parametrize('joined', (True, False))
def test_a_robot_side_that_only_joins_or_only_leaves_replaces_none(
        robot: Robot, joined: bool) -> None:
    seq, _ = robot.sent[-1]
    robot.loop.on_graph_change(joined, not joined, 0.0)
    robot.loop.on_state(seq, HOME, 0.0)
    assert robot.counted == 1 and robot.exploration.last_state == HOME


def test_a_robot_may_be_replaced_while_the_next_step_is_planned(robot: Robot) -> None:
    seq, _ = robot.sent[-1]
    robot.loop.before_step = lambda: robot.loop.on_graph_change(True, True, 0.0)
    robot.loop.on_state(seq, HOME, 0.0)
    assert robot.counted == 1 and robot.called == 1 and len(robot.sent) == 1


@pytest.mark.parametrize('take', [StepLoop.yield_robot, StepLoop.lend_robot])
def test_a_robot_may_be_given_away_while_the_next_step_is_planned(
        take: Callable[[StepLoop, str, float], None]) -> None:
    loop, sent = by_action()
    loop.before_step = lambda: take(loop, 'goal', 0.0)
    steps, commands = loop.task.steps, len(sent)
    loop.on_state(sent[-1][0], 1, 0.0)
    assert loop.task.steps == steps + 1 and len(sent) == commands and not loop.driving


def test_a_goal_that_is_reached_by_a_missed_reset_is_over() -> None:
    sent: list[tuple[int, int]] = []
    navigation = Navigation(Policy(2, 3, (HOME, 2), ((0, 0),)), HOME)
    loop = StepLoop(navigation, StepLimits(1.0, 3, reset_retries=0), SequenceNumbers(1000),
                    lambda *command: sent.append(command), None)
    loop.resume(0.0)
    loop.on_state(1000, 2, 0.0)
    assert navigation.result == 'reached 2 in 0 steps' and sent == [(1000, RESET)]


def test_a_way_home_that_waits_in_vain_for_a_response_is_lost_once() -> None:
    timer = RetryTimer(1.0, 3)
    home = ReturnHome(lambda attempt: True, timer)
    home.start(0.0)
    home.call_again()
    assert home.respond(1, True, '') is HomeProgress.WAITING
    assert home.report(HOME) is HomeProgress.WAITING    # the other call may lead home again
    assert home.try_again(2.0) is HomeProgress.LOST
    assert home.try_again(4.0) is HomeProgress.WAITING and timer.timeouts == 1


def test_after_a_timeout_a_way_home_is_over_once_no_later_call_is_left() -> None:
    home = ReturnHome(lambda attempt: True, RetryTimer(1.0, 3))
    home.start(0.0)
    home.try_again(2.0)
    home.call_again()
    assert home.respond(1, True, '') is HomeProgress.WAITING
    assert home.report(HOME) is HomeProgress.WAITING    # the other call may lead home again
    assert home.respond(1, True, '') is HomeProgress.ARRIVED


def test_why_a_call_has_failed_holds_until_one_succeeds() -> None:
    home = ReturnHome(lambda attempt: True, RetryTimer(1.0, 3))
    home.start(0.0)
    home.respond(1, False, 'the door is closed')
    assert home.refusal == HomeCallFailed('the door is closed') and home.refusals == 1
    home.respond(1, True, '')
    assert home.refusal == '' and home.refusals == 0


@pytest.mark.parametrize('service', [False, True], ids=['action', 'service'])
def test_a_reset_that_a_new_robot_carries_out_is_not_counted_from_the_place_of_the_old_one(
        robot: Robot, service: bool) -> None:
    inputs = []
    robot.exploration.listeners.append(
        lambda update: inputs.append(type(update.input)))
    if not service:
        robot.loop = StepLoop(
            robot.exploration, StepLimits(1.0, 3), SequenceNumbers(5000),
            lambda *command: robot.sent.append(command), None)
        robot.loop.resume(0.0)
    robot.loop.on_state(-1, 5, 0.0)    # moved by hand: the next action is RESET
    assert robot.exploration.last_state == 5
    robot.loop.on_graph_change(True, False, 0.0)
    robot.loop.on_graph_change(True, False, 0.0)    # it is seen, and then it can be reached
    if service:
        robot.come_home()
        for _ in range(2):
            robot.respond()
    else:
        robot.loop.on_state(robot.sent[-1][0], HOME, 0.0)
    assert (5, -1) not in robot.exploration.counts
    assert inputs == [
        Relocation, Interruption, Observation]    # what is logged says the same
    assert robot.exploration.last_state == HOME


@pytest.mark.parametrize('seconds, over', [(3.9, False), (4.1, True)])
def test_the_time_that_a_step_takes_aside_counts_for_the_deadline(
        seconds: float, over: bool) -> None:
    sent: list[tuple[int, int]] = []
    loop = StepLoop(Exploration(settings(Problem(2, 4.0, 1.0, 0.1))),
                    StepLimits(1.0, 3, deadline=10.0), SequenceNumbers(1000),
                    lambda *command: sent.append(command), None)
    begun: list[tuple[Callable[[], object], Callable[[float], None]]] = []
    loop.aside = lambda first, then: begun.append((first, then))
    loop.resume(0.0)
    loop.on_state(1000, HOME, 6.0)
    (first, then), = begun
    assert loop.task.steps == 0 and len(sent) == 1    # nothing follows before the step is taken
    first()
    then(seconds)
    assert loop.over is over and len(sent) == 2 - over and loop.task.steps == 1


def test_a_single_step_is_all_that_is_made_if_that_is_the_limit(robot: Robot) -> None:
    robot.loop = StepLoop(
        Exploration(settings(Problem(2, 4.0, 1.0, 0.1))), StepLimits(1.0, 3, max_steps=1),
        SequenceNumbers(1000), lambda *command: None, None)
    robot.loop.resume(0.0)
    robot.loop.on_state(1000, HOME, 0.0)
    assert robot.loop.over and not robot.loop.running and robot.loop.task.steps == 1


def test_calls_that_failed_before_a_pause_are_not_held_against_the_robot_afterwards(
        robot: Robot) -> None:
    robot.loop.adjust(StepLimits(1.0, 3, reset_retries=2))
    robot.loop.on_state(-1, 5, 0.0)
    for _ in range(2):
        robot.loop.on_home_response(robot.calls[-1], False, 'blocked', 0.0)
    robot.loop.pause('')
    robot.loop.resume(0.0)
    robot.loop.on_home_response(robot.calls[-1], False, 'blocked', 0.0)
    assert robot.loop.running
    robot.loop.resume(0.0)    # it is not paused: that changes nothing
    for _ in range(2):
        robot.loop.on_home_response(robot.calls[-1], False, 'blocked', 0.0)
    assert not robot.loop.running and robot.loop.task.state is RunState.FAULT


def by_action() -> tuple[StepLoop, list[tuple[int, int]]]:
    """Return a loop whose RESET has been answered, and what it sends."""
    sent: list[tuple[int, int]] = []
    loop = StepLoop(Exploration(settings(Problem(2, 4.0, 1.0, 0.1))), StepLimits(1.0, 3),
                    SequenceNumbers(1000), lambda *command: sent.append(command), None)
    loop.resume(0.0)
    while sent[-1][1] == RESET:
        loop.on_state(sent[-1][0], HOME, 0.0)
    return loop, sent


def test_a_reset_is_sent_once_more_soon_after_a_robot_side_has_joined() -> None:
    """The robot side may not have heard the first of them."""
    sent: list[tuple[int, int]] = []
    loop = StepLoop(Exploration(settings(Problem(2, 4.0, 1.0, 0.1))), StepLimits(60.0, 3),
                    SequenceNumbers(1000), lambda *command: sent.append(command), None)
    loop.resume(0.0)
    loop.tick(9.0)
    assert sent == [(1000, RESET)]
    loop.on_graph_change(True, False, 10.0)
    assert sent == [(1000, RESET)] * 2
    loop.tick(10.1)
    assert len(sent) == 2
    loop.tick(11.0)
    assert sent == [(1000, RESET)] * 3


@pytest.mark.parametrize('retries', [0, 2])
def test_a_reset_that_misses_home_too_often_in_a_row_is_a_fault(retries: int) -> None:
    loop, sent = by_action()
    loop.adjust(StepLimits(1.0, 3, reset_retries=retries))
    loop.pause('as a test')
    loop.resume(0.0)
    for _ in range(retries + 1):
        assert loop.running and sent[-1][1] == RESET
        loop.on_state(sent[-1][0], HOME + 1, 0.0)
    assert loop.task.state is RunState.FAULT and not loop.running


@pytest.mark.parametrize('joined', [False, True])
def test_an_action_without_an_answer_is_sent_again_unless_a_robot_side_has_joined(
        joined: bool) -> None:
    loop, sent = by_action()
    seq, action = sent[-1]
    loop.on_graph_change(joined, False, 0.0)
    loop.tick(2.0)
    assert sent[-1] == ((seq + 1, RESET) if joined else (seq, action))


def test_a_robot_that_fails_is_sent_home_again_a_few_times() -> None:
    loop, sent = by_action()
    loop.fail('broken', 0.0)
    assert loop.task.state is RunState.FAULT and sent[-1][1] == RESET
    before = len(sent)
    for second in range(1, 10):
        loop.tick(2.0 * second)
    again = sent[before:]
    assert again and {*again} == {sent[before - 1]}
    loop.tick(99.0)
    assert sent[before:] == again


def test_the_last_command_says_whether_the_robot_may_be_executing_one() -> None:
    sent: list[tuple[int, int]] = []
    loop = StepLoop(Exploration(settings(Problem(2, 4.0, 1.0, 0.1))), StepLimits(1.0, 3),
                    SequenceNumbers(1000), lambda *command: sent.append(command), None)
    assert loop.last_command == 0
    loop.resume(0.0)
    assert loop.last_command is None    # it commands the robot
    loop.pause_after_step('enough')
    loop.on_state(1000, HOME, 0.0)
    assert sent == [(1000, RESET)] and loop.last_command == 1000
    loop.resume(1.0)
    loop.pause('at once')
    assert loop.last_command is None    # 1001 is open
    loop.on_state(1001, HOME, 2.0)
    assert loop.last_command == 1001
    loop.resume(3.0)
    loop.pause('at once')
    loop.drive(Exploration(settings(Problem(2, 4.0, 1.0, 0.1))))
    assert loop.last_command is None    # 1002 was given up, and may be executed yet


def test_a_way_home_by_the_service_may_be_open() -> None:
    robot = Robot(overtaken=True)
    robot.loop.pause('at once')
    assert robot.loop.last_command is None
