# SPDX-License-Identifier: Apache-2.0

"""
Whether no more than one robot side executes the commands of an explorer.

Two robot sides would both execute a command, and its answer would be that of either. The
middleware lists those that are there, but keeps a robot side that was killed for some 20 s. So the
listed ones count as alive, unless a command stays unanswered: those that were there when it was
sent may be dead then, and a RESET shows how many live. A newcomer may answer that command when it
is sent again; the old ones may be dead all the same. Each robot side answers commands in the order
in which they come. One that lives, and was too late for this roll call, therefore answers what no
other may answer any more before it answers the command under way, and is noticed in time. Unless
its queue holds nothing else, as none has answered for long: then there is another roll call.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from mnm_ros.core.progress.said import CountingRobotSides, Reason, SeveralRobotSides

_LONGER = 1.0        # s, at least, from the first answer to a roll call until it is over
_REMEMBERED = 100    # commands that may still be answered


@dataclass
class _Call:
    """
    A RESET by which robot sides are counted.

    :ivar robots: who was there when it was decided on.
    :ivar unanswered: seq of the command that stayed unanswered, if no newcomer can have heard it.
    :ivar after: seq of the last command before the call; every other one is the call.
    """

    robots: frozenset[Hashable]
    unanswered: int | None
    after: int


class SingleRobotGuard:
    """
    Says why no robot side may be commanded, if several may be alive.

    :param possible: whether RESET is a command like any other. If not, all that are there count.
    """

    def __init__(self, possible: bool = True) -> None:
        self._possible = possible
        self._robots: dict[Hashable, str] = {}
        self._one: frozenset[Hashable] = frozenset()    # of these, no more than one lives
        self._to_come: dict[int, int] = {}    # how many answers a command may still get, by seq
        self._call: _Call | None = None
        # Who left a command unanswered; its seq, unless others may have heard it when it was sent
        # again. It is not forgotten when these answer.
        self._silent: frozenset[Hashable] = frozenset()
        self._unanswered: int | None = None
        # The last command: when it was sent first, how often, who was there, and the answers.
        self._seq: int | None = None
        self._given = 0.0
        self._times = 0
        self._present: frozenset[Hashable] = frozenset()
        self._answers = 0
        self._first = 0.0    # when the first of them came

    def look(self, robots: Mapping[Hashable, str]) -> None:
        """Record the robot sides that are there: their names by their identities."""
        self._robots = dict(robots)
        self._one &= robots.keys()
        if self._call and (not self.several or robots.keys() - self._call.robots):
            self._call = None

    def sent(self, seq: int, now: float) -> None:
        """Record a command, also one that is sent again."""
        if seq != self._seq:
            self._seq, self._given = seq, now
            self._times = self._answers = 0
            self._present = frozenset(self._robots)
        self._times += 1
        if seq == self._unanswered:
            self._unanswered = None    # from now on a newcomer may answer it
        self._to_come[seq] = self._to_come.get(seq, 0) + 1
        if len(self._to_come) > _REMEMBERED:
            del self._to_come[next(iter(self._to_come))]

    def answered(self, seq: int, now: float) -> None:
        """Record an answer to a command that was sent here, however old."""
        if seq == self._seq:
            self._first = self._first if self._answers else now
            self._answers += 1
        if self._robots.keys() <= self._silent:
            self._silent = frozenset()    # it was one of them
        if self._call and seq == self._call.unanswered:
            self._call = None    # the one to be found out about is alive
        to_come = self._to_come.pop(seq, 0)
        if to_come > 1:
            self._to_come[seq] = to_come - 1
        elif not to_come:    # another one has answered it, too
            self._one, self._call = frozenset(), None

    def reported(self) -> None:
        """Record a report; it may come from one that was taken for dead."""
        self._one = frozenset()

    def objection(self, timeout: float, now: float) -> Reason:
        """
        Return why no robot side may be commanded at present, or nothing.

        :param timeout: seconds within which a robot side answers.
        """
        if (not self._call and self._seq is not None and not self._answers
                and now >= self._given + timeout):
            self._silent = self._present
            self._unanswered = self._seq if self._times == 1 else None
            self._one = frozenset()    # whichever of them lived may be dead now
        if not self.several:
            return ''
        if self._call:
            return self._go_on(self._call, timeout, now)
        newcomers = self._robots.keys() - self._silent
        if self._possible and self._silent and self._seq is not None and len(newcomers) <= 1:
            self._call = _Call(frozenset(self._robots), self._unanswered, self._seq)
            self._silent = frozenset()
        return self._several()

    @property
    def several(self) -> bool:
        """Whether more than one may be alive."""
        certain = len(self._robots.keys() - self._one)
        return certain + (certain < len(self._robots)) > 1

    def _several(self, kind: type[SeveralRobotSides] = SeveralRobotSides) -> Reason:
        return kind(len(self._robots), ', '.join(self._robots.values()))

    def _go_on(self, call: _Call, timeout: float, now: float) -> Reason:
        """Return why no command may be sent at this point of the call, or nothing."""
        if self._seq is None or self._seq == call.after or not self._answers:
            return ''    # it still has to be sent, or to be answered
        if now < self._first + min(timeout, max(_LONGER, self._first - self._given)):
            return self._several(CountingRobotSides)
        if self._times > 1:
            call.after = self._seq    # it is not known whose answer is whose: once more
            return ''
        self._call = None
        self._one = frozenset(self._robots)
        self._to_come = {}    # the one that lives has answered all before, so no other may
        return ''
