# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
The contract of the step protocol, with a test for each clause.

Every test begins with a RESET. If it fails, one sentence says what was seen and expected.
"""

from __future__ import annotations

from itertools import count
from random import Random
from statistics import median
import time

from mnm_ros.contract.robot import expect, Robot, Sender
from mnm_ros.core.problem import RESET
from mnm_ros.robot_description import RobotDescription
import pytest
from std_srvs.srv import SetBool, Trigger

WALKS = 5        # of random actions
SLOW = 0.2       # s of a step, from which on its time tells whether it is executed again


def test_reset_is_answered(robot: Robot) -> None:
    robot.home()


def test_every_order_is_answered_once(robot: Robot) -> None:
    orders = []
    for action in robot.actions:
        orders.append((robot.step(RESET)[0], 'RESET'))
        orders.append((robot.step(action)[0], f'action {action}'))
    robot.listen(robot.quiet)
    for seq, what in orders:
        states = robot.answers(seq)
        expect(len(states) == 1, f'{what} with seq {seq} was answered {len(states)} times, with '
               f'{states}, expected once')


def test_nothing_is_said_unasked(robot: Robot) -> None:
    robot.home()
    heard = robot.listen(2 * robot.quiet)
    expect(not heard, f'at rest the robot side published {heard[:5]}, expected nothing')


def test_reset_leads_to_one_home(robot: Robot) -> None:
    home, rng = robot.home(), Random(0)
    walks = [[action] * length for action in robot.actions for length in (1, 3)]
    walks += [[rng.choice(robot.actions) for _ in range(4)] for _ in range(WALKS)]
    for walk in walks:
        for action in walk:
            robot.step(action)
        state = robot.home()
        expect(state == home, f'RESET after the actions {walk} led to state {state}, expected '
               f'state {home}, to which the first one led')


def test_a_repeated_order_is_answered_again(robot: Robot) -> None:
    robot.home()
    for action in (*robot.actions, *robot.actions, RESET):
        seq, state = robot.step(action)
        robot.publish(seq, action)
        again = robot.answer(seq, action, times=2)
        expect(again == state, f'seq {seq} was answered with state {state} and, ordered again, '
               f'with state {again}, expected the same answer')


def test_a_repeated_order_is_not_executed_again(robot: Robot) -> None:
    """It can be told by the states to which later steps lead, or else by the time."""
    walk = [action for action in robot.actions for _ in range(2)]
    once, first, second = [robot.walk(walk) for _ in range(2)], [], []
    robot.home()
    states = []
    for action in walk:
        begun = time.monotonic()
        seq, state = robot.step(action)
        answered = time.monotonic()
        states.append(state)
        robot.publish(seq, action)
        robot.answer(seq, action, times=2)
        first.append(answered - begun)
        second.append(time.monotonic() - answered)
    expect(median(first) < SLOW or median(second) < median(first) / 2,
           f'orders were answered after {median(first):.2g} s and, ordered again, after '
           f'{median(second):.2g} s, expected at once')
    if once[0] != once[1] and median(first) < SLOW:
        pytest.skip(f'actions {walk} led to {once[0]} and to {once[1]}: the same actions lead '
                    'elsewhere each time, and fast, so a second execution cannot be told')
    expect(once[0] != once[1] or states == once[0],
           f'actions {walk} led to {once[0]} and, each ordered twice under its seq, to {states}, '
           'expected the same')


def test_an_order_repeated_at_once_has_one_outcome(robot: Robot) -> None:
    robot.home()
    for action in robot.actions:
        seq = robot.order(action)
        robot.publish(seq, action)
        robot.answer(seq, action)
        robot.listen(robot.quiet)
        states = robot.answers(seq)
        expect(len(states) <= 2 and len(set(states)) == 1,
               f'action {action}, sent twice with seq {seq}, was answered with states {states}, '
               'expected one state, once or twice')


def test_any_other_seq_is_executed(robot: Robot) -> None:
    robot.home()
    seq = robot.step(RESET)[0]
    for lower in (seq - 1000, 1, 0):
        robot.publish(lower, RESET)
        expect(robot.wait(lambda: robot.answers(lower), robot.timeout),  # noqa: B023
               f'RESET with seq {lower} after seq {seq} was not answered within '
               f'{robot.timeout:g} s, expected an answer: only the last seq executed is special')


def test_two_senders(robot: Robot) -> None:
    """An explorer that was started again is another sender with other numbers."""
    robot.home()
    other = Sender('contract_other', robot.namespace)
    try:
        expect(not other.find(), f'for a second sender {other.missing()}')
        expect(not other.heard, f'a second sender received {other.heard} before any order, '
               'expected nothing')
        seqs = count(10**6)
        for action in (RESET, *robot.actions):
            robot.step(action)
            seq = next(seqs)
            expect(other.insist(seq, action, robot.timeout),
                   f'action {action} of a second sender with seq {seq} was not answered within '
                   f'{robot.timeout:g} s')
    finally:
        other.close()


def test_malformed_orders_are_ignored(robot: Robot) -> None:
    home = robot.home()
    for numbers, offset in (((), 0), ((1,), 0), ((1, 0, 0), 0), ((1, 0), 5)):
        robot.publish(*numbers, offset=offset)
    heard = robot.listen(robot.quiet)
    expect(not heard, f'malformed orders were answered with {heard}, expected nothing')
    state = robot.home()
    expect(state == home, f'RESET after malformed orders led to state {state}, expected {home}')


def test_unknown_actions_are_ignored(robot: Robot) -> None:
    home = robot.home()
    for action in (len(robot.actions), -2, 2**62):
        seq = robot.order(action)
        robot.listen(robot.quiet)
        states = robot.answers(seq)
        expect(not states, f'action {action}, which there is not, was answered with {states}, '
               'expected nothing')
    state = robot.home()
    expect(state == home, f'RESET after unknown actions led to state {state}, expected {home}')


def test_return_home(robot: Robot) -> None:
    """The service is for people, and for ``reset_mode: service``."""
    home = robot.home()
    if not robot.offers(Trigger, 'return_home'):
        pytest.skip('the service return_home is not offered')
    for action in robot.actions:
        robot.step(action)
        before, end = len(robot.heard), time.monotonic() + robot.timeout
        response = robot.call(Trigger, 'return_home', Trigger.Request())
        while not response.success and time.monotonic() < end:
            response = robot.call(Trigger, 'return_home', Trigger.Request())
        expect(response.success, f'return_home did not succeed within {robot.timeout:g} s: '
               f'{response.message}')
        expect(robot.wait(lambda: robot.reports(before), robot.timeout),    # noqa: B023
               f'return_home succeeded without a report within {robot.timeout:g} s, expected '
               f'[-1, {home}]')
        reports = robot.reports(before)
        expect(reports[-1] == home, f'return_home succeeded, and [-1, {reports[-1]}] was '
               f'reported, expected [-1, {home}]')


def test_stop(robot: Robot) -> None:
    """The step under way does not count, and nothing is executed until the robot is freed."""
    robot.home()
    if not robot.offers(SetBool, 'stop'):
        pytest.skip('the service stop is not offered')
    under_way = robot.order(robot.actions[0])
    stopped = robot.call(SetBool, 'stop', SetBool.Request(data=True))
    in_time = robot.answers(under_way)
    seq = robot.order(robot.actions[0])
    heard = robot.listen(2 * robot.quiet)
    freed = robot.call(SetBool, 'stop', SetBool.Request(data=False))
    robot.listen(robot.quiet)
    late = robot.answers(seq)
    expect(stopped.success and freed.success, f'stop did not succeed: {stopped.message}, '
           f'{freed.message}')
    expect(not heard, f'after stop the robot side published {heard}, expected silence (seq '
           f'{under_way} was under way, seq {seq} was ordered)')
    expect(not late, f'an order given while stopped was answered with {late} later, expected that '
           'it is not executed')
    after = robot.answers(under_way)[len(in_time):]
    expect(not after, f'the order under way when it was stopped was answered with {after} once '
           'free, expected a report instead: it does not count')
    robot.home()


def test_it_is_what_it_says(robot: Robot) -> None:
    """On ``robot_side``, where it says anything."""
    home, said = robot.home(), robot.said_to_be()
    if not said:
        pytest.skip('nothing is published on robot_side')
    try:
        description = RobotDescription.from_text(said[-1])
    except ValueError as error:
        expect(False, f'what is published on robot_side is wrong: {error}')
    actions = description.actions
    expect(len(actions) == len(robot.actions), f'robot_side names {len(actions)} actions, '
           f'{", ".join(actions)}, expected {len(robot.actions)}, as --actions has it')
    expect(description.home in (None, home), f'robot_side says that home is state '
           f'{description.home}, and RESET led to state {home}, expected the same')


def test_every_message_was_well_formed(robot: Robot) -> None:
    robot.home()
    wrong = [list(numbers) for numbers, _ in robot.heard if len(numbers) != 2]
    expect(not wrong, f'the robot side published {wrong[:5]}, expected [seq, state]')
