# SPDX-License-Identifier: Apache-2.0

"""
The pairs that fail, are suspected or closed: one row for each, with one status and its timers.

``Doubts`` records each execution here, and the phase asks which pairs to avoid, and which are due.
``docs/explanation/algorithm.md`` has the tables of all changes of a status, and of the search for
ways around a pair. All of it is outside of the promise: nothing is forgotten or deleted by a
status. The next pair, the next attempt and the next run depend on the past alone, which the tests
and confidence sets allow.

*Failing.* A person in a doorway is there for all tries of half a minute: they show hardly more
than one. A pair that nearly always worked, and has failed more often in a row than it would once
in fifty times, rests for 4 steps, and after each further failure for 8; then it is due. If the
failures would hardly come once in a thousand times, an attempt is broken off before the pair: a
test has to count it as failed. While a change is open, no pair rests but those that stay of which
too little was seen for an alarm: nothing else would end their tries. What has changed for good is
noticed later by the pauses (``benchmarks/doors``).

*Suspected.* A pair at rest hardly fails so many times in a row; ``failures`` has the argument. The
failures are spread over some time, so that a pause of 4 steps is enough.

*Ways around.* Finding them takes many steps, and nothing else is to be done in the pauses. A run
that ends without another way has ruled out, by what was seen since it began, that the targets of
the policies through the pair are within the radius.

*Closed.* A door that has closed stays closed for long, also when a new round begins. The core has
no clock: a caller schedules the re-checks. Without a caller, a closed pair is tried as any other,
but for pauses while a change is open: ways around the pair come first, and it is still noticed
soon if the pair opens. While a hypothesis is built, a run executes a closed pair when nothing else
is left, as often as ruling out takes: the run has no samples from before it began. During checks,
the policies through it cannot prove any more that they work, and are deleted once the run has
nothing else to do than to sample the pair: time enough to find other ways.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
import math

from mnm_ros.core.detection.failures import Failures, Usual
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.support import Support
from mnm_ros.core.progress.events import PairChange

_FIRST, _LONGEST = 4, 8    # steps of a pause
_LONGEST_DETOURED, _LONGEST_SCARCE = 16, 64    # the same while ways around the pair are sought
_FIRST_CLOSED, _LONGEST_CLOSED = 32, 128    # the same of a closed pair, while a change is open
_UNEXPECTED, _HARDLY, _TO_DETOUR = math.log(50), math.log(1000), math.log(1e4)
_TO_WITHDRAW = 3      # executions that work, more than those that do not
_TRIES = 2            # of a re-check, as what is open may fail once


class Status(Enum):
    """The status of a pair."""

    NORMAL = 'normal'
    FAILING = 'failing'
    SUSPECTED = 'suspected'
    CLOSED = 'closed'


class Ways(Enum):
    """The state of the search for ways around a pair, which says whether the pair has pauses."""

    NOT_SOUGHT = 'not sought'
    SOUGHT = 'sought'          # in the pauses of the pair
    TRIED = 'tried'            # the pair has no pauses, but a run prefers ways around the pair
    IN_VAIN = 'in vain'        # no way was found; the pair has pauses
    ATTEMPTED = 'attempted'    # attempts decide, and the pair has no pauses

    @property
    def preferred(self) -> bool:
        """Return whether a run executes the pair only if nothing else is left."""
        return self in (Ways.SOUGHT, Ways.TRIED)

    @property
    def rests(self) -> bool:
        """Return whether the pair may get a pause."""
        return self not in (Ways.TRIED, Ways.ATTEMPTED)


class News(Enum):
    """The outcome of an execution that the phase reports."""

    SUSPECTED = 'suspected'
    WORKS = 'works'    # after it was suspected
    OPEN = 'open'
    STILL_CLOSED = 'still closed'


@dataclass
class Row:
    """
    A pair that is not normal.

    :ivar worked: executions that worked, less the others, since it is suspected.
    :ivar usual: what it did before it failed if that was little; else None.
    :ivar pause: steps of its last pause, and left: of these, still to come; None if it is over,
        and the pair was executed since.
    :ivar breaks_off: whether an attempt is broken off before the pair while it rests.
    :ivar rechecks: in vain, since it is closed.
    :ivar tries: of the re-check under way that are left; 0 if there is none.
    """

    status: Status
    worked: int = 0
    usual: Usual | None = None
    ways: Ways = Ways.NOT_SOUGHT
    pause: int = 0
    left: int | None = None
    breaks_off: bool = False
    rechecks: int = 0
    tries: int = 0

    def end_pauses(self) -> None:
        """Let the pair be tried as any other."""
        self.pause, self.left, self.breaks_off = 0, None, False


class PairWatch:
    """
    The rows of all pairs that are not normal.

    :param support: says whether successors are declared, so that ways around a pair are found
        soon. None if nothing ever is.
    :ivar scheduled: whether a caller schedules re-checks of closed pairs.
    :ivar rows: one for each of these pairs. As a rule there is none: all pairs are normal.
    """

    def __init__(self, support: Support | None = None) -> None:
        self._support = support
        self.scheduled = False
        self.rows: dict[Pair, Row] = {}
        self._failures: dict[Pair, Failures] = {}

    def status(self, pair: Pair) -> Status:
        """Return the status of a pair."""
        return self.rows[pair].status if pair in self.rows else Status.NORMAL

    def failures(self, pair: Pair) -> int:
        """Return how often a pair has failed in a row."""
        return self._failures[pair].times if pair in self._failures else 0

    @property
    def suspected(self) -> Collection[Pair]:
        """Return the pairs for which there is a hint."""
        return self._of(Status.SUSPECTED)

    @property
    def detoured(self) -> Collection[Pair]:
        """Return the pairs that a run executes only if no way around them is left."""
        return [pair for pair, row in self.rows.items() if row.ways.preferred]

    @property
    def scarce(self) -> Collection[Pair]:
        """Return the detoured pairs with pauses of which too little was seen for an alarm."""
        return [pair for pair in self.detoured
                if self.rows[pair].usual and self.rows[pair].pause]

    @property
    def doubtful(self) -> Collection[Pair]:
        """Return the pairs that a direct way avoids: suspected, closed and detoured ones."""
        return {*self.suspected, *self.closed, *self.detoured}

    @property
    def closed(self) -> Mapping[Pair, int]:
        """Return the pairs that are closed, and how often a re-check has found them so."""
        return {pair: self.rows[pair].rechecks for pair in self._of(Status.CLOSED)}

    @property
    def shut(self) -> Collection[Pair]:
        """Return the closed pairs that are executed only if nothing else is left to do."""
        return [pair for pair, row in self.rows.items() if self._is_shut(row)]

    @property
    def resting(self) -> Collection[Pair]:
        """Return the pairs that have a pause."""
        return [pair for pair, row in self.rows.items() if row.left]

    @property
    def stopping(self) -> Collection[Pair]:
        """Return the pairs with a pause before which an attempt is broken off."""
        return [pair for pair, row in self.rows.items() if row.left and row.breaks_off]

    @property
    def due(self) -> Collection[Pair]:
        """Return the pairs to execute first: those whose pause is over, then re-checks."""
        return [*(pair for pair, row in self.rows.items() if row.left == 0),
                *(pair for pair, row in self.rows.items() if row.tries)]

    def avoids(self, pair: Pair) -> bool:
        """Return whether all else comes before a pair: a pause, a way around it, or a re-check."""
        row = self.rows.get(pair)
        return row is not None and bool(
            row.left or row.ways.preferred or self._is_shut(row))

    def bars(self, pair: Pair) -> bool:
        """Return whether an attempt is broken off before a pair: a pause, or it is shut."""
        row = self.rows.get(pair)
        return row is not None and bool(row.left and row.breaks_off or self._is_shut(row))

    def step(self) -> bool:
        """Count a step; return whether a pause is over with it."""
        over = False
        for row in self.rows.values():
            if row.left:
                row.left -= 1
                over = over or not row.left
        return over

    def record(self, pair: Pair, next_state: int, usual: tuple[int | None, int, int], *,
               rests: bool) -> News | None:
        """
        Record an execution that has raised no alarm.

        :param usual: the usual successor of the pair, how often it has followed, and the
            executions in all, this one among them.
        :param rests: whether the pair may get a pause.
        """
        end, worked, executions = usual
        row, failures = self.rows.get(pair), self._failures.get(pair)
        if row is None and failures is None and next_state == end:
            return None    # as a rule
        news = self.executed(pair, next_state)
        row = self.rows.get(pair)
        # After few executions that worked, some that fail are soon the usual ones.
        failures = failures or Failures(
            row and row.usual or Usual(end, worked, max(0, executions - 1)))
        before, scarce = failures.usual, failures.usual.scarce
        if next_state == before.end:
            self._failures.pop(pair, None)
            return news or self._worked(pair)
        failures.times += 1
        self._failures[pair] = failures
        if row is not None and row.status is not Status.CLOSED:
            # Else nothing would execute a pair around which ways are sought, or have been found.
            row.left = 0 if row.ways is Ways.SOUGHT or (
                row.ways is Ways.TRIED and row.status is Status.FAILING) else None
            row.worked = max(0, row.worked - 1)
        leads_on = before.end == pair[0]    # at last: after few executions that is no failure
        if leads_on or not failures.seldom if scarce else not before.nearly_always_worked:
            return news
        if self.status(pair) is not Status.SUSPECTED and (scarce or failures.rare):
            row = self.rows.setdefault(pair, Row(Status.SUSPECTED))
            row.status, row.usual = Status.SUSPECTED, before if scarce else None
            if row.ways is Ways.TRIED or scarce and row.ways is Ways.NOT_SOUGHT:
                row.ways = Ways.SOUGHT
            news = News.SUSPECTED
        # A pair without pauses is tried at once.
        if (rests or scarce and next_state == pair[0]) and not leads_on and (
                row is None or row.ways.rests):
            self._rest(pair, failures.unexpected)
        return news

    def executed(self, pair: Pair, next_state: int) -> News | None:
        """Record where a pair that may be closed has led, and nothing else of it."""
        if self.status(pair) is not Status.CLOSED:
            return None
        row = self.rows[pair]
        if next_state != pair[0]:
            del self.rows[pair]
            return News.OPEN if self.scheduled else None
        if row.left is not None:
            row.pause = row.left = min(2 * row.pause, _LONGEST_CLOSED)
        if not row.tries:
            return None
        row.tries -= 1
        row.rechecks += not row.tries
        return None if row.tries else News.STILL_CLOSED

    def change(self, change: PairChange) -> None:
        """Record that a pair leads elsewhere than before: it may be closed, or open again."""
        self._failures.pop(change.pair, None)
        self.rows.pop(change.pair, None)
        if change.closed:
            self.rows[change.pair] = Row(Status.CLOSED)

    def withdraw(self, pair: Pair) -> None:
        """Withdraw the hint for a pair, because no policy executes it."""
        self._failures.pop(pair, None)
        self.rows[pair].status = Status.FAILING

    def insist(self) -> None:
        """
        Have the pairs of which little was seen before tried without pauses: no other way is left.

        If successors are declared, the run that has sought ways goes on until it has ruled out
        that the pairs lead on; else attempts decide.
        """
        for pair in self.detoured:
            row = self.rows[pair]
            if row.usual is not None:
                row.ways = Ways.TRIED if self._support else Ways.ATTEMPTED
                row.end_pauses()
            else:
                row.ways = Ways.IN_VAIN if row.ways is Ways.SOUGHT else Ways.ATTEMPTED

    def found_ways(self) -> None:
        """Have the pairs around which ways were found tried at once, until there is a hint."""
        for pair in self.detoured:
            if self.status(pair) is Status.FAILING:
                row = self.rows[pair]
                row.end_pauses()
                row.ways, row.left = Ways.TRIED, 0

    def leave_to_caller(self) -> None:
        """Let a caller schedule the re-checks of closed pairs from now on, in place of pauses."""
        self.scheduled = True
        self.pause_closed(False)

    def pause_closed(self, wanted: bool) -> None:
        """Begin the pauses of closed pairs, or end them; re-checks by a caller replace them."""
        for pair in self._of(Status.CLOSED):
            row = self.rows[pair]
            row.end_pauses()
            if wanted and not self.scheduled:
                row.pause = row.left = _FIRST_CLOSED

    def hurry(self, pair: Pair) -> bool:
        """End the pause of a closed pair; return whether it had one."""
        row = self.rows.get(pair)
        if row is None or row.status is not Status.CLOSED or not row.left:
            return False
        row.left = 0
        return True

    def end_pauses(self) -> None:
        """Let all pairs be tried as any other, but closed ones."""
        for pair, row in [*self.rows.items()]:
            row.end_pauses()
            if row.status is Status.FAILING:
                del self.rows[pair]

    def recheck(self, pair: Pair | None) -> bool:
        """Have a closed pair executed soon, or all if None; return whether there is any."""
        found = [each for each in self._of(Status.CLOSED) if pair in (None, each)]
        for each in found:
            self.rows[each].tries = _TRIES
        return bool(found)

    def keep_closed(self) -> None:
        """Drop all rows but those of closed pairs: a new round begins."""
        self._failures.clear()
        self.rows = {pair: self.rows[pair] for pair in self._of(Status.CLOSED)}
        self.end_pauses()

    def leave(self, states: Collection[int]) -> None:
        """
        Drop the rows of states to which the robot does not go any more.

        What they rest on is dropped, too: without it, no alarm would ever end a suspicion.
        """
        self._failures = {
            pair: each for pair, each in self._failures.items() if pair[0] not in states}
        self.rows = {pair: row for pair, row in self.rows.items() if pair[0] not in states}

    def _is_shut(self, row: Row) -> bool:
        return row.status is Status.CLOSED and bool(
            row.left or self.scheduled and not row.tries)

    def _of(self, status: Status) -> list[Pair]:
        return [pair for pair, row in self.rows.items() if row.status is status]

    def _worked(self, pair: Pair) -> News | None:
        """End the pauses of a pair, and withdraw a hint if that was enough."""
        row = self.rows.get(pair)
        if row is None or row.status is Status.CLOSED:
            return None
        row.end_pauses()
        row.worked += 1
        if row.status is Status.SUSPECTED and row.worked < _TO_WITHDRAW:
            if row.ways is Ways.SOUGHT:    # no attempt may execute it
                row.left = 0
            elif row.ways is Ways.TRIED:
                row.ways = Ways.ATTEMPTED
            return None
        del self.rows[pair]
        return News.WORKS if row.status is Status.SUSPECTED else None

    def _rest(self, pair: Pair, unexpected: float) -> None:
        """Let a pair rest if its failures are ``unexpected`` by so many nats."""
        if unexpected < _UNEXPECTED:
            return
        row = self.rows.pop(pair, None) or Row(Status.FAILING)
        self.rows[pair] = row    # last, as the pair that has waited longest is due first
        row.breaks_off = unexpected >= _HARDLY
        if self._support and row.ways is Ways.NOT_SOUGHT and unexpected >= _TO_DETOUR:
            row.ways = Ways.SOUGHT
        sought = row.ways is Ways.SOUGHT
        longest = _LONGEST if not sought else (
            _LONGEST_DETOURED if row.usual is None else _LONGEST_SCARCE)
        row.pause = row.left = _FIRST if row.status is Status.SUSPECTED and not sought else (
            min(2 * (row.pause or _FIRST // 2), longest))
