# SPDX-License-Identifier: Apache-2.0

"""
Both sides of the step protocol, and how long to wait in it: one action at a time.

The explorer sends ``[seq, action]``; the robot executes any ``seq`` other than the last one it
executed and answers once with ``[seq, state]``. An action that stays unanswered is sent again
with the same ``seq``; the robot then repeats its answer instead of executing it twice.
Numbers grow, also from one start of the explorer to the next, whatever the clock does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
import math
import time
from typing import NamedTuple, Union

from mnm_ros.core.errors import ProtocolError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET

_RECENT = 0.1    # weight of the last answer in the usual time, at least
_LEAST = 2.0     # s, as a busy machine holds any answer up for a moment
_LOST = 1000     # commands of one sender in a row that may be lost, at most
_RESERVED = 1_000_000    # numbers at once, so that hardly a command has to wait for the disk

REPORT = -1
"""The ``seq`` of an unsolicited report: the robot has been moved to this state."""

MOST = 2**62
"""What no number reaches before the year 2116; from twice of that on none can be sent."""


class Command(NamedTuple):
    """
    A command as a robot side gets it.

    :ivar meant: the state that it is meant for, if it says so.
    :ivar sender: the name of the node that sends it, if it says so.
    """

    seq: int
    action: int
    meant: Union[int, None] = None
    sender: str = ''


class CommandNumbers:
    """
    Issues numbers: the time in nanoseconds, or what follows on all that were issued before.

    What is kept is a bound that no number has reached: nothing is written for each command.

    :param kept: the bound of earlier starts; 0 if there is none.
    :param keep: called with the bound before the first number at or after the last one is used.
    """

    def __init__(self, kept: int = 0, keep: Callable[[int], object] = lambda bound: None) -> None:
        self._bound = kept
        self._keep = keep

    def first(self) -> int:
        """Return the number of the next order of a sender, which counts on from there."""
        number = max(time.time_ns(), self._bound)
        self.use(number)
        return number

    def use(self, number: int) -> None:
        """Record that a command is about to get a number."""
        if number >= self._bound:
            self._bound = number + _RESERVED
            self._keep(self._bound)


class SequenceNumbers:
    """
    The numbers of the commands of one sender to one robot, which grow by one with each command.

    :param first: number of the first command: the time in nanoseconds, so that no other sender has
        the same.
    :param kept: stores a bound of the numbers before they are used; None to store none.
    :ivar last: number of the last command.
    """

    def __init__(self, first: int, kept: CommandNumbers | None = None) -> None:
        self.first, self.last = first, first - 1
        self._kept = kept

    def next(self) -> int:    # noqa: A003
        """Return the number of the next command."""
        self.last += 1
        if self._kept:
            self._kept.use(self.last)
        return self.last

    def sent(self, seq: int) -> bool:
        """Return whether a command of this sender has the number."""
        return self.first <= seq <= self.last


class RetryTimer:
    """
    Says when to try something again, and when the robot counts as not answering.

    :param timeout: seconds before something is tried again.
    :param retries: times it is tried again before the robot counts as not answering. It is tried
        again at the same pace after that, so that a robot that comes back is found.
    :ivar timeouts: how often something had to be tried again, in all.
    """

    def __init__(self, timeout: float, retries: int) -> None:
        self.timeout = timeout
        self.retries = retries
        self.timeouts = 0
        self._tried_again = 0
        self._started = self._due = 0.0

    @property
    def exhausted(self) -> bool:
        """Whether the robot counts as not answering."""
        return self._tried_again > self.retries

    def start(self, now: float) -> None:
        """Begin to wait for something new."""
        self._tried_again = 0
        self._started, self._due = now, math.inf

    def hurry(self, due: float) -> None:
        """Try again at ``due`` at the latest."""
        self._due = min(self._due, due)

    def overdue(self, now: float) -> bool:
        """Return whether it is time to try again; if so, the next wait begins."""
        # The timeout is a parameter that may change while something is waited for.
        if now < min(self._started + self.timeout, self._due):
            return False
        self.timeouts += 1
        self._tried_again += 1
        self._started, self._due = now, math.inf
        return True


class AnswerTimes:
    """
    How long a robot usually takes to answer, and whether it takes much longer now.

    :param clock: by which ``seconds`` are measured, perhaps of simulated time, 0.0 before it is
        there; None for the same as ``now``.
    :ivar seconds: by action, RESET among them, the mean from the command to the answer, in which
        the last ten weigh most.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock
        self._real: dict[int, float] = {}    # as ``seconds``, by ``now``
        self.seconds: dict[int, float] = {} if clock else self._real
        self._answers: Counter[int] = Counter()
        self._asked: tuple[int, float] | None = None
        self._asked_at = 0.0    # by the clock

    def ask(self, action: int, now: float) -> None:
        """Record that an action was sent to the robot."""
        self._asked = action, now
        self._asked_at = self._clock() if self._clock else 0.0

    def end(self, now: float | None) -> None:
        """Record the answer, or if ``now`` is None that none is waited for any more."""
        asked, self._asked = self._asked, None
        if asked is None or now is None:
            return
        action, since = asked
        self._answers[action] += 1
        weight = max(_RECENT, 1 / self._answers[action])
        measured = [(self._real, now - since)]
        if self._clock and self._asked_at:
            measured.append((self.seconds, self._clock() - self._asked_at))
        for means, taken in measured:
            if taken >= 0:    # else the clock was set back
                mean = means.get(action, taken)
                means[action] = mean + weight * (taken - mean)

    def unanswered(self, now: float, first: float) -> float:
        """
        Return for how many s an answer has been owed, if that is twice the usual time; else 0.

        :param first: s, that it may take as long as nothing is usual.
        """
        if self._asked is None:
            return 0.0
        action, since = self._asked
        # The way home is like no other action; these are as long as the longest, till known.
        alike = [seconds for known, seconds in self._real.items()
                 if known == action or RESET not in (known, action)]
        usual = self._real.get(action, max(alike, default=0.0))
        limit = 2 * usual if alike else first
        return now - since if now - since > max(limit, _LEAST) else 0.0


class StepClient:
    """
    Keeps the one action that is under way until it is answered.

    :param numbers: of its actions; another client of the same sender may use them, too.
    :param timer: with which answers are waited for.
    :ivar under_way: ``(seq, action)`` that has not been answered yet.
    """

    def __init__(self, numbers: SequenceNumbers, timer: RetryTimer) -> None:
        self._timer = timer
        self._numbers = numbers
        self._seq = self._answered = 0    # of the last command, and of the last one answered
        self.under_way: tuple[int, int] | None = None

    @property
    def last_command(self) -> int | None:
        """Return the number of the last command; 0 before the first, None without its answer."""
        return self._seq if self._answered == self._seq else None

    def start(self, action: int, now: float) -> tuple[int, int]:
        """
        Return the message for a new action.

        :raises ProtocolError: if an action is under way.
        """
        if self.under_way is not None:
            raise ProtocolError(f'action {self.under_way[1]} is still under way, expected its end '
                                f'before {action}')
        self._seq = self._numbers.next()
        self.under_way = self._seq, action
        self._timer.start(now)
        return self.under_way

    def overdue(self, now: float) -> tuple[int, int] | None:
        """Return the message to send again if the answer is overdue."""
        return self.under_way if self.under_way and self._timer.overdue(now) else None

    def receive(self, seq: int) -> int | None:
        """
        Return the action under way if the message with this number answers it, which ends it.

        An old, second or foreign answer changes nothing, and nor does a report: it is None.
        """
        if self.under_way is None or seq != self._seq:
            return None
        action = self.under_way[1]
        self.under_way, self._answered = None, seq
        return action

    def abandon(self) -> None:
        """Forget the action under way; its answer will be stale."""
        self.under_way = None


class SoleCommander:
    """
    Keeps a robot for one sender of commands at a time.

    A sender is known by its name, if it says one, and its numbers, which grow by one with each
    command. A node that was started again has its name and higher numbers. Of two nodes of one
    name the one that began later has the robot.

    :ivar name: of the sender that has the robot; empty if its commands do not say it.
    :ivar commands_reset: whether RESET is a command of that sender like any other, if known.
    """

    def __init__(self) -> None:
        self.name = ''
        self.commands_reset = True
        self._last: int | None = None
        self._heard = -math.inf

    def admits(self, command: Command, now: float, timeout: float) -> bool:
        """
        Return whether a command may be obeyed.

        :param timeout: s, after which a sender that is silent has lost the robot.
        """
        if self._last is None or now >= self._heard + timeout:
            return True
        if command.sender != self.name:    # it may have the other one's numbers all the same
            return False
        ahead = command.seq - self._last
        return abs(ahead) <= _LOST or bool(self.name) and ahead > 0

    def take(self, command: Command, now: float) -> None:
        """Let the sender of a command have the robot."""
        same = self._last is not None and command.sender == self.name
        self.commands_reset = command.action == RESET or same and self.commands_reset
        self.name, self._last, self._heard = command.sender, command.seq, now

    def wait(self, now: float) -> None:
        """Record that the sender waits for the robot, and so is not silent."""
        self._heard = now


class Reaction(Enum):
    """The reactions of the robot to an ``action`` message."""

    EXECUTE = 'execute'
    REPEAT = 'repeat'      # send the stored answer again
    WAIT = 'wait'          # it is being executed, or comes next


@dataclass
class StepServer:
    """
    The robot's side: executes each action once and remembers its last answer.

    An action that arrives while another is being executed waits; a later one takes its place.
    """

    last: int | None = None            # the seq executed last, or being executed
    action: int | None = None          # of that command
    answer: int | None = None          # the state it led to; None while it is being executed
    waiting: Command | None = None

    @property
    def executing(self) -> bool:
        """Whether an action is being executed."""
        return self.last is not None and self.answer is None

    def refusal(self, command: Command, here: int | None, forbidden: Collection[Pair],
                busy: bool) -> str:
        """
        Return why a command must not be executed, or nothing.

        :param here: where the robot is; None if that is not known.
        :param forbidden: pairs that are declared never to be commanded.
        :param busy: whether an action or a way home is under way.
        """
        action, meant = command.action, command.meant
        if command.seq == self.last and action != self.action:
            return f'number {command.seq} is that of another command'
        if action == RESET or busy or command.seq == self.last:
            return ''
        if meant is not None and meant != here:
            return f'not in state {meant}'
        if here is not None and (here, action) in forbidden:
            return f'action {action} is declared never to be commanded in state {here}'
        if here is None and action in {never for _, never in forbidden}:
            return (f'action {action} is declared never to be commanded in some states, expected '
                    'RESET first')
        return ''

    def receive(self, command: Command) -> Reaction:
        """Decide about a command; EXECUTE means it is being executed from now on."""
        if self.executing:
            if command.seq != self.last:
                self.waiting = command
            return Reaction.WAIT
        if command.seq == self.last:
            return Reaction.REPEAT
        self.last, self.action, self.answer = command.seq, command.action, None
        return Reaction.EXECUTE

    def done(self, state: int) -> tuple[int, int]:
        """Store and return the answer ``(seq, state)`` to the action being executed."""
        if self.last is None or not self.executing:
            raise ProtocolError(
                f'no action is being executed, expected one that has ended in state {state}')
        self.answer = state
        return self.last, state

    def stored(self) -> tuple[int, int]:
        """Return the last answer again."""
        if self.last is None or self.answer is None:
            raise ProtocolError('no action has been executed yet, expected one with an answer')
        return self.last, self.answer

    def next_waiting(self) -> Command | None:
        """Take the message that came while the last action was being executed."""
        waiting, self.waiting = self.waiting, None
        return waiting
