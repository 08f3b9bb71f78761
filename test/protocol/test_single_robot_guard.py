# SPDX-License-Identifier: Apache-2.0

"""Who counts as a robot side that is alive, told by a graph and answers that a test makes up."""

from __future__ import annotations

from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
import pytest

TIMEOUT = 1.0
BOTH = '2 robot sides at once: 1, 2'
ASKING = f'{BOTH}, finding out whether only one of them is alive'


class Orders:
    """Gives an order whenever it may; robot sides by number."""

    def __init__(self, *robots: int, possible: bool = True) -> None:
        self.roll = SingleRobotGuard(possible)
        self.now = 0.0
        self.seq = 0
        self.see(*robots)

    def see(self, *robots: int) -> str:
        self.roll.look({robot: str(robot) for robot in robots})
        return self.objection()

    def objection(self, after: float = 0.0) -> str:
        self.now += after
        return self.roll.objection(TIMEOUT, self.now)

    def order(self, answers: int = 1) -> str:
        self.seq += 1
        self.roll.sent(self.seq, self.now)
        for _ in range(answers):
            self.roll.answered(self.seq, self.now)
        return self.objection()

    def replace_a_dead_one(self) -> None:
        """Robot 1 dies, 2 takes its place, and only 2 answers the roll call."""
        assert self.see(1) == '' == self.order(answers=0)
        assert self.see(1, 2) == BOTH
        assert self.objection(TIMEOUT) == BOTH
        assert self.objection() == ''
        assert self.order() == ASKING
        assert self.objection(TIMEOUT) == ''


def test_two_that_are_there_are_alive() -> None:
    orders = Orders()
    assert orders.see(1, 2) == BOTH == orders.objection(60.0)
    assert orders.see(2) == '' == orders.order()
    assert orders.see(1, 2) == BOTH == orders.objection(60.0)


def test_one_that_answers_after_another_has_come_is_alive() -> None:
    orders = Orders(1)
    orders.order(answers=0)
    assert orders.see(1, 2) == BOTH == orders.objection(0.9 * TIMEOUT)
    orders.roll.answered(orders.seq, orders.now)
    assert orders.objection(60.0) == BOTH


def test_one_answers_when_it_is_about_to_be_called() -> None:
    orders = Orders(1)
    orders.order(answers=0)
    orders.see(1, 2)
    assert orders.objection(TIMEOUT) == BOTH
    orders.roll.answered(orders.seq, orders.now)
    assert orders.objection() == BOTH == orders.objection(60.0)


def test_one_that_was_killed_is_replaced() -> None:
    orders = Orders()
    orders.replace_a_dead_one()
    for _ in range(200):
        assert orders.order() == ''
    assert orders.see(2) == '' == orders.order()


def test_a_newcomer_that_hears_the_unanswered_order_twice_is_not_the_silent_one() -> None:
    """It may be found, given the order again for that, and answer, all between two looks."""
    orders = Orders(1)
    orders.order(answers=0)
    assert orders.objection(TIMEOUT) == ''
    for _ in range(2):    # because it is overdue, and because somebody has joined
        orders.roll.sent(orders.seq, orders.now)
    orders.roll.look({1: '1', 2: '2'})
    orders.roll.answered(orders.seq, orders.now)
    assert orders.objection() == BOTH
    orders.roll.answered(orders.seq, orders.now)
    assert orders.objection() == '' and orders.order() == ASKING
    assert orders.objection(TIMEOUT) == '' == orders.order()


def test_so_is_the_next_one() -> None:
    orders = Orders()
    orders.replace_a_dead_one()
    orders.order(answers=0)
    orders.objection(2 * TIMEOUT)
    assert '3 robot sides' in orders.see(1, 2, 3)
    assert orders.objection() == ''
    assert 'finding out' in orders.order()
    assert orders.objection(TIMEOUT) == '' == orders.order()


def test_two_answer_the_roll_call() -> None:
    orders = Orders(1)
    orders.order(answers=0)
    orders.see(1, 2)
    orders.objection(TIMEOUT)
    assert orders.order() == ASKING
    orders.roll.answered(orders.seq, orders.now)
    assert orders.objection() == BOTH == orders.objection(60.0)


def test_a_roll_call_takes_as_long_again_as_the_first_answer() -> None:
    orders = Orders(1)
    orders.order(answers=0)
    orders.see(1, 2)
    orders.roll.objection(10.0, 10.0)
    orders.roll.sent(2, 10.0)
    orders.roll.answered(2, 14.0)
    assert orders.roll.objection(10.0, 17.9) == ASKING
    assert orders.roll.objection(10.0, 18.0) == ''


def test_one_is_late_for_the_roll_call() -> None:
    orders = Orders()
    orders.replace_a_dead_one()
    call = orders.seq
    orders.order()
    orders.roll.answered(call, orders.now)
    assert orders.objection() == BOTH == orders.objection(60.0)


def test_an_order_that_was_given_again_may_be_answered_again() -> None:
    orders = Orders()
    orders.replace_a_dead_one()
    orders.order(answers=0)
    orders.roll.sent(orders.seq, orders.now)
    orders.roll.answered(orders.seq, orders.now)
    orders.order()
    orders.roll.answered(orders.seq - 1, orders.now)
    assert orders.objection() == ''
    orders.roll.answered(orders.seq - 1, orders.now)
    assert orders.objection() == BOTH


def test_one_that_was_taken_for_dead_reports() -> None:
    orders = Orders()
    orders.replace_a_dead_one()
    orders.roll.reported()
    assert orders.objection() == BOTH


def test_the_new_one_answers_what_the_old_one_left_unanswered() -> None:
    """The order was given again, and reached a newcomer before that was seen."""
    orders = Orders(1)
    orders.order(answers=0)
    assert orders.objection(TIMEOUT) == ''
    orders.roll.sent(orders.seq, orders.now)
    assert orders.see(1, 2) == BOTH
    orders.roll.answered(orders.seq, orders.now)
    assert orders.objection() == '' and orders.order() == ASKING
    assert orders.objection(TIMEOUT) == ''


def test_one_that_was_late_is_alive() -> None:
    orders = Orders(1)
    orders.order(answers=0)
    orders.objection(TIMEOUT)
    orders.roll.sent(orders.seq, orders.now)
    orders.roll.answered(orders.seq, orders.now)
    assert orders.see(1, 2) == BOTH == orders.objection(60.0)


def test_an_answer_from_before_the_roll_call_is_noticed() -> None:
    """One that hung while it executed an order answers that first, and then the last one."""
    orders = Orders(1)
    orders.order(answers=0)
    hung = orders.seq
    orders.objection(TIMEOUT)
    orders.roll.sent(hung, orders.now)
    orders.see(1, 2)
    orders.objection()
    orders.order()
    assert orders.objection(TIMEOUT) == '' == orders.order()
    orders.roll.answered(hung, orders.now)
    assert orders.objection() == BOTH == orders.objection(60.0)


def test_if_no_robot_answers_any_more_they_are_called_again() -> None:
    orders = Orders()
    orders.replace_a_dead_one()
    orders.order(answers=0)
    assert orders.objection(TIMEOUT) == BOTH
    assert orders.objection() == '' and orders.order() == ASKING
    assert orders.objection(TIMEOUT) == ''


@pytest.mark.parametrize('late', [False, True])
def test_a_roll_call_that_was_given_twice_tells_nothing(late: bool) -> None:
    """Its second answer, of one robot side or of two, may come when the call is over."""
    orders = Orders(1)
    orders.order(answers=0)
    orders.see(1, 2)
    orders.objection(TIMEOUT)
    orders.order(answers=0)
    orders.roll.sent(orders.seq, orders.now)
    orders.roll.answered(orders.seq, orders.now)
    if late:
        orders.objection(TIMEOUT)
    orders.roll.answered(orders.seq, orders.now)
    if not late:
        assert orders.objection() == ASKING
    assert orders.objection(0.0 if late else TIMEOUT) == ''
    assert orders.order() == ASKING
    assert orders.objection(TIMEOUT) == ''


def test_a_third_one_comes_during_the_roll_call() -> None:
    orders = Orders(1)
    orders.order(answers=0)
    orders.see(1, 2)
    orders.objection(TIMEOUT)
    orders.order()
    assert orders.see(1, 2, 3) == '3 robot sides at once: 1, 2, 3' == orders.objection(60.0)


def test_two_that_come_at_once_are_not_called() -> None:
    orders = Orders(1)
    orders.order(answers=0)
    assert '3 robot sides' in orders.see(1, 2, 3)
    assert '3 robot sides' in orders.objection(60.0)


def test_no_robot_is_called_by_a_service() -> None:
    orders = Orders(1, possible=False)
    orders.order(answers=0)
    assert orders.see(1, 2) == BOTH == orders.objection(60.0)


def test_without_two_nothing_that_is_said_matters() -> None:
    orders = Orders(1)
    assert orders.order(answers=3) == ''
    orders.roll.reported()
    assert orders.objection() == '' == orders.see()
