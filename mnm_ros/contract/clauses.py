# SPDX-License-Identifier: Apache-2.0

"""
The contract of the step protocol, with a test for each clause.

Every test begins with a RESET. If it fails, one sentence says what was seen and expected.

The same action may end elsewhere each time. No clause fails a correct robot side with a
probability above ``WRONGLY``, for any distribution of the successors. The probability is 0 for a
clause that does not say another one, because that clause does not ask where an action ends.

The clauses assume that nothing else commands or moves the robot. They also assume that commands
are answered, and that ``return_home`` leads home, within ``timeout``. No message is lost, or takes
longer than ``quiet``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
import math
from random import Random
from statistics import median, quantiles
import time

from mnm_ros.contract.robot import expect, Robot, Sender
from mnm_ros.core.model.problem import RESET
from mnm_ros.robot_description import RobotDescription
import pytest
from std_srvs.srv import SetBool, Trigger

WALKS = 5        # of random actions
WRONGLY = 0.001  # probability with which any clause fails a correct robot side, at most
TOSSES = 120     # of a coin, after which the states have not shown whether repeats are executed
SLOW = 0.2       # s of a step, from which on its time shows whether it is executed again,
TIMES = 12       # by so many repeats
_NEW = 0.5       # executions that count for whatever a pair has not shown


def test_reset_is_answered(robot: Robot) -> None:
    """The answer may have any state."""
    robot.home()


def test_every_command_is_answered_once(robot: Robot) -> None:
    """The answers may have any states."""
    commands = []
    for action in robot.actions:
        commands.append((robot.step(RESET)[0], 'RESET'))
        commands.append((robot.step(action)[0], f'action {action}'))
    robot.listen(robot.quiet)
    for seq, what in commands:
        states = robot.answers(seq)
        expect(len(states) == 1, f'{what} with seq {seq} was answered {len(states)} times, with '
               f'{states}, expected once')


def test_the_robot_side_is_silent_at_rest(robot: Robot) -> None:
    """At home a robot that is not moved has nothing to say."""
    robot.home()
    heard = robot.listen(2 * robot.quiet)
    expect(not heard, f'at rest the robot side published {heard[:5]}, expected nothing')


def test_reset_leads_to_one_home(robot: Robot) -> None:
    """From wherever the actions have led: RESET alone is not left to chance by the protocol."""
    home, rng = robot.home(), Random(0)
    walks = [[action] * length for action in robot.actions for length in (1, 3)]
    walks += [[rng.choice(robot.actions) for _ in range(4)] for _ in range(WALKS)]
    for walk in walks:
        for action in walk:
            robot.step(action)
        state = robot.home()
        expect(state == home, f'RESET after the actions {walk} led to state {state}, expected '
               f'state {home}, to which the first one led')


def test_a_repeated_command_is_answered_again(robot: Robot) -> None:
    """With the first answer, which was drawn by chance once for all."""
    robot.home()
    for action in (*robot.actions, *robot.actions, RESET):
        seq, state = robot.step(action)
        robot.publish(seq, action)
        again = robot.answer(seq, action, times=2)
        expect(again == state, f'seq {seq} was answered with state {state} and, commanded again, '
               f'with state {again}, expected the same answer')


class Tosses:
    """
    Guesses by where a step leads whether the command before it was repeated, which a coin decides.

    If a repeat is not executed, the next step has the same distribution as without the repeat, and
    nothing that is observed depends on the coin. A bet with probability ``q`` that the command was
    repeated then multiplies the capital by ``2 q`` or ``2 (1 - q)``, by 1 on average. So the
    capital ever reaches ``1/p`` with probability at most ``p`` (Ville), for any distribution, and
    however bad the guesses are. The guesses are good if repeats are executed, and all successors
    were observed.

    :ivar capital: its logarithm, 0 at first. It grows if repeats are executed, and falls if they
        are not and that can be seen.
    :ivar count: of the tosses guessed.
    """

    def __init__(self) -> None:
        self.capital = 0.0
        self.count = 0
        self._seen: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        self._states: set[int] = set()

    def home(self, state: int) -> None:
        """Begin a walk at home."""
        self._here, self._before, self._repeated = state, -1, False
        self._states.add(state)

    def step(self, action: int, state: int, tossed: bool) -> None:
        """
        Guess the toss before a step of the walk that has led to ``state``.

        :param tossed: whether there was one; ``repeated`` shows how it has fallen.
        """
        if tossed:
            once = self._chance(self._here, action, state)
            between = self._seen[self._here, self._before]
            twice = (sum(times * self._chance(middle, action, state)
                         for middle, times in between.items())
                     + _NEW * self._any) / (sum(between.values()) + _NEW)
            right = twice if self._repeated else once
            self.capital += math.log(2 * right / (once + twice))
            self.count += 1
        if not self._repeated:
            self._seen[self._here, action][state] += 1
        self._states.add(state)
        self._here, self._before, self._repeated = state, action, False

    def repeated(self) -> None:
        """Record that the command was repeated."""
        self._repeated = True

    def _chance(self, state: int, action: int, after: int) -> float:
        """Return how likely the pair seems to lead there, by what was seen without repeats."""
        seen = self._seen[state, action]
        return (seen[after] + _NEW * self._any) / (sum(seen.values()) + _NEW)

    @property
    def _any(self) -> float:
        """Return the chance of each state where all, and one more, are as likely."""
        return 1 / (len(self._states) + 1)


def test_a_repeated_command_is_not_executed_again(robot: Robot) -> None:
    """
    The states to which later steps lead show it, or else the time.

    By the states a correct robot fails with half of ``WRONGLY`` at most, see ``Tosses``. By the
    time it fails with the other half at most, if each repeat is answered in less than half of the
    time of a step, the median, with a chance of a half or more: how many are not is binomial.
    """
    tosses, coin, walk = Tosses(), Random(), [*robot.actions] * 2
    times: list[tuple[float, float]] = []
    enough = math.log(2 / WRONGLY)
    while abs(tosses.capital) < enough and tosses.count < TOSSES and not (
            len(times) >= TIMES and _quick(times) >= SLOW):
        coin.shuffle(walk)
        _walk_tossing(robot, walk, coin, tosses, times)
    expect(tosses.capital < enough,
           f'the states showed which commands before them had been repeated, {len(times)} of '
           f'{tosses.count} by the toss of a coin, expected that it makes no difference: a '
           'repeated command is executed again')
    if tosses.capital <= -enough:
        return
    taken = _seconds(times)
    if taken < SLOW:
        pytest.skip('the same actions lead elsewhere each time, or to the same state whether '
                    'executed once or twice, and fast, so a second execution cannot be told')
    late = sum(again >= taken / 2 for _, again in times)
    chance = sum(math.comb(len(times), n) for n in range(late, len(times) + 1)) / 2 ** len(times)
    expect(chance > WRONGLY / 2,
           f'commands were answered after {taken:.2g} s and, commanded again, after '
           f'{median(again for _, again in times):.2g} s, expected at once')


def _walk_tossing(robot: Robot, walk: Sequence[int], coin: Random, tosses: Tosses,
                  times: list[tuple[float, float]]) -> None:
    """Walk from home, with a toss after each step but the last for whether it is repeated."""
    tosses.home(robot.home())
    for number, action in enumerate(walk):
        begun = time.monotonic()
        seq, state = robot.step(action)
        answered = time.monotonic()
        tosses.step(action, state, tossed=number > 0)
        if number + 1 < len(walk) and coin.random() < 0.5:
            robot.publish(seq, action)
            robot.answer(seq, action, times=2)
            times.append((answered - begun, time.monotonic() - answered))
            tosses.repeated()


def _seconds(times: Sequence[tuple[float, float]]) -> float:
    """Return the median of the times that steps took which were repeated then."""
    return median(first for first, _ in times) if times else 0.0


def _quick(times: list[tuple[float, float]]) -> float:
    """Return the first quartile of the same: a busy machine delays some steps, not all."""
    return quantiles([first for first, _ in times], n=4)[0]


def test_a_command_repeated_at_once_has_one_outcome(robot: Robot) -> None:
    """All answers are the first one, which was drawn by chance once."""
    robot.home()
    for action in robot.actions:
        seq = robot.command(action)
        robot.publish(seq, action)
        robot.answer(seq, action)
        robot.listen(robot.quiet)
        states = robot.answers(seq)
        expect(len(states) <= 2 and len(set(states)) == 1,
               f'action {action}, sent twice with seq {seq}, was answered with states {states}, '
               'expected one state, once or twice')


def test_any_other_seq_is_executed(robot: Robot) -> None:
    """An answer, with any state, shows the execution."""
    robot.home()
    seq = robot.step(RESET)[0]
    for lower in (seq - 1000, 1, 0):
        robot.publish(lower, RESET)
        expect(robot.wait(lambda: robot.answers(lower), robot.timeout),  # noqa: B023
               f'RESET with seq {lower} after seq {seq} was not answered within '
               f'{robot.timeout:g} s, expected an answer: only the last seq executed is special')


def test_two_senders(robot: Robot) -> None:
    """
    An explorer that was started again is another sender with other numbers.

    It is to be answered, with any state, or refused on ``step_report``.
    """
    robot.home()
    other = Sender('contract_other', robot.namespace)
    try:
        expect(not other.find(), f'for a second sender {other.missing()}')
        expect(not other.heard, f'a second sender received {other.heard} before any command, '
               'expected nothing')
        seqs = count(10**6)
        for action in (RESET, *robot.actions):
            robot.step(action)
            seq = next(seqs)
            expect(other.insist(seq, action, robot.timeout),
                   f'action {action} of a second sender with seq {seq} was neither answered nor '
                   f'refused within {robot.timeout:g} s')
    finally:
        other.close()


def test_malformed_commands_are_ignored(robot: Robot) -> None:
    """They have no answer at all, and RESET leads home as ever."""
    home = robot.home()
    for numbers, offset in (((), 0), ((1,), 0), ((1, 0, 0, 0), 0), ((1, 0), 5)):
        robot.publish(*numbers, offset=offset)
    heard = robot.listen(robot.quiet)
    expect(not heard, f'malformed commands were answered with {heard}, expected nothing')
    state = robot.home()
    expect(state == home, f'RESET after malformed commands led to state {state}, expected {home}')


def test_unknown_actions_are_ignored(robot: Robot) -> None:
    """They have no answer at all, and RESET leads home as ever."""
    home = robot.home()
    for action in (len(robot.actions), -2, 2**62):
        seq = robot.command(action)
        robot.listen(robot.quiet)
        states = robot.answers(seq)
        expect(not states, f'action {action}, which there is not, was answered with {states}, '
               'expected nothing')
    state = robot.home()
    expect(state == home, f'RESET after unknown actions led to state {state}, expected {home}')


def test_return_home(robot: Robot) -> None:
    """The service is for people, and for ``reset_mode: service``; it leads home as RESET does."""
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
        # The last report is what counts: before, a way home may have ended elsewhere.
        robot.wait(lambda: robot.reports(before)[-1:] == [home], robot.timeout)    # noqa: B023
        reports = robot.reports(before)
        expect(reports, f'return_home succeeded without a report within {robot.timeout:g} s, '
               f'expected [-1, {home}]')
        expect(reports[-1] == home, f'return_home succeeded, and [-1, {reports[-1]}] was '
               f'reported, expected [-1, {home}]')


def test_stop(robot: Robot) -> None:
    """
    The step under way does not count, and nothing is executed until the robot is freed.

    The step may have ended just before, and its answer arrive after the response.
    """
    robot.home()
    if not robot.offers(SetBool, 'stop'):
        pytest.skip('the service stop is not offered')
    under_way = robot.command(robot.actions[0])
    stopped = robot.call(SetBool, 'stop', SetBool.Request(data=True))
    robot.listen(robot.quiet)
    in_time = robot.answers(under_way)
    seq = robot.command(robot.actions[0])
    heard = robot.listen(2 * robot.quiet)
    freed = robot.call(SetBool, 'stop', SetBool.Request(data=False))
    robot.listen(robot.quiet)
    late = robot.answers(seq)
    expect(stopped.success and freed.success, f'stop did not succeed: {stopped.message}, '
           f'{freed.message}')
    expect(not heard, f'after stop the robot side published {heard}, expected silence (seq '
           f'{under_way} was under way, seq {seq} was commanded)')
    expect(not late, f'a command sent while stopped was answered with {late} later, expected that '
           'it is not executed')
    after = robot.answers(under_way)[len(in_time):]
    expect(not after, f'the command under way when it was stopped was answered with {after} once '
           'free, expected a report instead: it does not count')
    robot.home()


def test_the_description_is_right(robot: Robot) -> None:
    """On ``robot_side``, where it says anything; home is where RESET leads, as ever."""
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
    """Each message has two numbers."""
    robot.home()
    wrong = [list(numbers) for numbers, _ in robot.heard if len(numbers) != 2]
    expect(not wrong, f'the robot side published {wrong[:5]}, expected [seq, state]')
