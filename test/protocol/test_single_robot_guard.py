# SPDX-License-Identifier: Apache-2.0

"""Who counts as a robot side that is alive, told by a graph and answers that a test makes up."""

from __future__ import annotations

from mnm_ros.core.progress.said import CountingRobotSides, Reason, SeveralRobotSides
from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
import pytest

TIMEOUT = 1.0
BOTH = SeveralRobotSides(2, '1, 2')
ASKING = CountingRobotSides(2, '1, 2')


class Commands:
    """Gives a command whenever it may; robot sides by number."""

    def __init__(self, *robots: int, possible: bool = True) -> None:
        self.roll = SingleRobotGuard(possible)
        self.now = 0.0
        self.seq = 0
        self.see(*robots)

    def see(self, *robots: int) -> Reason:
        self.roll.look({robot: str(robot) for robot in robots})
        return self.objection()

    def objection(self, after: float = 0.0) -> Reason:
        self.now += after
        return self.roll.objection(TIMEOUT, self.now)

    def command(self, answers: int = 1) -> Reason:
        self.seq += 1
        self.roll.sent(self.seq, self.now)
        for _ in range(answers):
            self.roll.answered(self.seq, self.now)
        return self.objection()

    def replace_a_dead_one(self) -> None:
        """Robot 1 dies, 2 takes its place, and only 2 answers the roll call."""
        assert self.see(1) == '' == self.command(answers=0)
        assert self.see(1, 2) == BOTH
        assert self.objection(TIMEOUT) == BOTH
        assert self.objection() == ''
        assert self.command() == ASKING
        assert self.objection(TIMEOUT) == ''


def test_two_that_are_there_are_alive() -> None:
    commands = Commands()
    assert commands.see(1, 2) == BOTH == commands.objection(60.0)
    assert commands.see(2) == '' == commands.command()
    assert commands.see(1, 2) == BOTH == commands.objection(60.0)


def test_one_that_answers_after_another_has_come_is_alive() -> None:
    commands = Commands(1)
    commands.command(answers=0)
    assert commands.see(1, 2) == BOTH == commands.objection(0.9 * TIMEOUT)
    commands.roll.answered(commands.seq, commands.now)
    assert commands.objection(60.0) == BOTH


def test_one_answers_when_it_is_about_to_be_called() -> None:
    commands = Commands(1)
    commands.command(answers=0)
    commands.see(1, 2)
    assert commands.objection(TIMEOUT) == BOTH
    commands.roll.answered(commands.seq, commands.now)
    assert commands.objection() == BOTH == commands.objection(60.0)


def test_one_that_was_killed_is_replaced() -> None:
    commands = Commands()
    commands.replace_a_dead_one()
    for _ in range(200):
        assert commands.command() == ''
    assert commands.see(2) == '' == commands.command()


def test_a_newcomer_that_hears_the_unanswered_command_twice_is_not_the_silent_one() -> None:
    """It may be found, given the command again for that, and answer, all between two looks."""
    commands = Commands(1)
    commands.command(answers=0)
    assert commands.objection(TIMEOUT) == ''
    for _ in range(2):    # because it is overdue, and because somebody has joined
        commands.roll.sent(commands.seq, commands.now)
    commands.roll.look({1: '1', 2: '2'})
    commands.roll.answered(commands.seq, commands.now)
    assert commands.objection() == BOTH
    commands.roll.answered(commands.seq, commands.now)
    assert commands.objection() == '' and commands.command() == ASKING
    assert commands.objection(TIMEOUT) == '' == commands.command()


def test_so_is_the_next_one() -> None:
    commands = Commands()
    commands.replace_a_dead_one()
    commands.command(answers=0)
    commands.objection(2 * TIMEOUT)
    assert commands.see(1, 2, 3) == SeveralRobotSides(3, '1, 2, 3')
    assert commands.objection() == ''
    assert commands.command() == CountingRobotSides(3, '1, 2, 3')
    assert commands.objection(TIMEOUT) == '' == commands.command()


def test_two_answer_the_roll_call() -> None:
    commands = Commands(1)
    commands.command(answers=0)
    commands.see(1, 2)
    commands.objection(TIMEOUT)
    assert commands.command() == ASKING
    commands.roll.answered(commands.seq, commands.now)
    assert commands.objection() == BOTH == commands.objection(60.0)


def test_a_roll_call_takes_as_long_again_as_the_first_answer() -> None:
    commands = Commands(1)
    commands.command(answers=0)
    commands.see(1, 2)
    commands.roll.objection(10.0, 10.0)
    commands.roll.sent(2, 10.0)
    commands.roll.answered(2, 14.0)
    assert commands.roll.objection(10.0, 17.9) == ASKING
    assert commands.roll.objection(10.0, 18.0) == ''


def test_one_is_late_for_the_roll_call() -> None:
    commands = Commands()
    commands.replace_a_dead_one()
    call = commands.seq
    commands.command()
    commands.roll.answered(call, commands.now)
    assert commands.objection() == BOTH == commands.objection(60.0)


def test_a_command_that_was_given_again_may_be_answered_again() -> None:
    commands = Commands()
    commands.replace_a_dead_one()
    commands.command(answers=0)
    commands.roll.sent(commands.seq, commands.now)
    commands.roll.answered(commands.seq, commands.now)
    commands.command()
    commands.roll.answered(commands.seq - 1, commands.now)
    assert commands.objection() == ''
    commands.roll.answered(commands.seq - 1, commands.now)
    assert commands.objection() == BOTH


def test_one_that_was_taken_for_dead_reports() -> None:
    commands = Commands()
    commands.replace_a_dead_one()
    commands.roll.reported()
    assert commands.objection() == BOTH


def test_the_new_one_answers_what_the_old_one_left_unanswered() -> None:
    """The command was given again, and reached a newcomer before that was seen."""
    commands = Commands(1)
    commands.command(answers=0)
    assert commands.objection(TIMEOUT) == ''
    commands.roll.sent(commands.seq, commands.now)
    assert commands.see(1, 2) == BOTH
    commands.roll.answered(commands.seq, commands.now)
    assert commands.objection() == '' and commands.command() == ASKING
    assert commands.objection(TIMEOUT) == ''


def test_one_that_was_late_is_alive() -> None:
    commands = Commands(1)
    commands.command(answers=0)
    commands.objection(TIMEOUT)
    commands.roll.sent(commands.seq, commands.now)
    commands.roll.answered(commands.seq, commands.now)
    assert commands.see(1, 2) == BOTH == commands.objection(60.0)


def test_an_answer_from_before_the_roll_call_is_noticed() -> None:
    """One that hung while it executed a command answers that first, and then the last one."""
    commands = Commands(1)
    commands.command(answers=0)
    hung = commands.seq
    commands.objection(TIMEOUT)
    commands.roll.sent(hung, commands.now)
    commands.see(1, 2)
    commands.objection()
    commands.command()
    assert commands.objection(TIMEOUT) == '' == commands.command()
    commands.roll.answered(hung, commands.now)
    assert commands.objection() == BOTH == commands.objection(60.0)


def test_if_no_robot_answers_any_more_they_are_called_again() -> None:
    commands = Commands()
    commands.replace_a_dead_one()
    commands.command(answers=0)
    assert commands.objection(TIMEOUT) == BOTH
    assert commands.objection() == '' and commands.command() == ASKING
    assert commands.objection(TIMEOUT) == ''


@pytest.mark.parametrize('late', [False, True])
def test_a_roll_call_that_was_given_twice_tells_nothing(late: bool) -> None:
    """Its second answer, of one robot side or of two, may come when the call is over."""
    commands = Commands(1)
    commands.command(answers=0)
    commands.see(1, 2)
    commands.objection(TIMEOUT)
    commands.command(answers=0)
    commands.roll.sent(commands.seq, commands.now)
    commands.roll.answered(commands.seq, commands.now)
    if late:
        commands.objection(TIMEOUT)
    commands.roll.answered(commands.seq, commands.now)
    if not late:
        assert commands.objection() == ASKING
    assert commands.objection(0.0 if late else TIMEOUT) == ''
    assert commands.command() == ASKING
    assert commands.objection(TIMEOUT) == ''


def test_a_third_one_comes_during_the_roll_call() -> None:
    commands = Commands(1)
    commands.command(answers=0)
    commands.see(1, 2)
    commands.objection(TIMEOUT)
    commands.command()
    assert commands.see(1, 2, 3) == SeveralRobotSides(3, '1, 2, 3') == commands.objection(60.0)


def test_two_that_come_at_once_are_not_called() -> None:
    commands = Commands(1)
    commands.command(answers=0)
    three = SeveralRobotSides(3, '1, 2, 3')
    assert commands.see(1, 2, 3) == three == commands.objection(60.0)


def test_no_robot_is_called_by_a_service() -> None:
    commands = Commands(1, possible=False)
    commands.command(answers=0)
    assert commands.see(1, 2) == BOTH == commands.objection(60.0) == commands.objection()


def test_without_two_nothing_that_is_said_matters() -> None:
    commands = Commands(1)
    assert commands.command(answers=3) == ''
    commands.roll.reported()
    assert commands.objection() == '' == commands.see()
