# SPDX-License-Identifier: Apache-2.0

"""Checking policies by attempts: the one under way, and whose turn is next."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from mnm_ros.core.model.episode import Attempts, Episode
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.watch.patrol import Patrol
from mnm_ros.core.watch.policy_monitor import PolicyMonitor

if TYPE_CHECKING:
    from mnm_ros.core.watch.watch_parts import WatchParts

_RING, _RING_IF_DECIDING = 2, 16    # attempts, of which one has its turn whatever is urgent
_WORTH = 100    # times the steps to the hypothesis: a verdict that takes more can wait


class PolicyChecks:
    """
    The attempt under way, and what is known of which comes next.

    An attempt counts for the policies to states on its way, too (``Attempts``).

    :param monitor: the detectors of the policies.
    :param turns: of the policies.
    :param patrol: of the ways of the policies.
    :param policy: any one, as long as none was attempted.
    :ivar attempts: those with the policy that is attempted.
    """

    def __init__(self, monitor: PolicyMonitor, turns: Turns, patrol: Patrol,
                 policy: Policy) -> None:
        self.monitor = monitor
        self.turns = turns
        self.patrol = patrol
        self.attempts = Attempts(policy, ends_outside=True)
        self._alarms: list[Policy] = []    # of those that the attempt is evidence against

    @property
    def target(self) -> int:
        """Whose policy is attempted, or was last."""
        return self.attempts.policy.target

    def begin(self, target: int, policies: Iterable[Policy]) -> None:
        """Let the policy for a target make an attempt, of all those for known states."""
        by_target = {policy.target: policy for policy in policies}
        self.attempts = Attempts(by_target[target], ends_outside=True, passed=[
            by_target[state] for state in self.patrol.passed[target]])

    def observe(self, state: int, *, proving: bool) -> tuple[Episode, list[Policy]] | None:
        """
        Make a step.

        :returns: the attempt that it has ended, and the policies whose detectors raise the alarm.
        """
        if not self.attempts.under_way:
            self._begin(proving)
        ended = self.attempts.observe(state)
        self._record_beside()
        if ended is None:
            return None
        self._record(ended)
        return ended, self._alarms

    def interrupt(self) -> None:
        """Count the attempt under way as broken off."""
        broken = self.attempts.interrupt()
        self._record_beside()
        if broken is not None:
            self._break_off(broken)

    def _begin(self, proving: bool) -> None:
        self._alarms = []
        for policy in (self.attempts.policy, *self.attempts.passed):
            self.monitor.begin(policy.target, proving=proving)

    def _record_beside(self) -> None:
        for episode, broken in self.attempts.take_ended():
            (self._break_off if broken else self._record)(episode)

    def _record(self, episode: Episode) -> None:
        if self.monitor.record(episode.policy.target, episode.length, episode.failed):
            self._alarms.append(episode.policy)

    def _break_off(self, episode: Episode) -> None:
        self.monitor.detectors[episode.policy.target].break_off(episode.length)


class Turns:
    """
    Policies take turns in a ring, and between two of these others may have some.

    However long some of them are preferred, each policy has its turn in the ring.

    :param targets: of the policies.
    """

    def __init__(self, targets: Iterable[int]) -> None:
        self._ring = deque(targets)
        self._first: dict[int, None] = {}
        self._turn = 0    # 1 is that of the ring

    def prefer(self, targets: Iterable[int]) -> None:
        """Let each of ``targets`` have one of the preferred turns as soon as possible."""
        self._first.update(dict.fromkeys(targets))

    def change(self, targets: Iterable[int]) -> None:
        """Let ``targets`` take turns from now on; what was never tried is tried first."""
        now = dict.fromkeys(targets)
        waiting = [target for target in self._ring if target in now]
        new = [target for target in now if target not in self._ring]
        self._ring = deque((*new, *waiting))
        self._first = {target: None for target in self._first if target in now}

    def next(self, urgent: Mapping[int, float], every: int = 2,    # noqa: A003
             left_alone: Collection[int] = ()) -> int | None:
        """
        Return whose turn it is.

        :param urgent: targets of which the one with the least value comes first.
        :param every: which turn is that of the ring: of ``n`` policies, each gets at least the
            ``every * n``-th one.
        :param left_alone: targets that have no turn now.
        """
        ring = [target for target in self._ring if target not in left_alone]
        if not ring:
            return None
        chosen = ring[0]
        self._turn = (self._turn + 1) % every
        if self._turn != 1:
            first = [target for target in ring if target in urgent]
            chosen = next((target for target in self._first if target not in left_alone),
                          min(first, key=urgent.__getitem__, default=chosen))
        self._first.pop(chosen, None)
        self._ring.remove(chosen)
        self._ring.append(chosen)
        return chosen


class WatchSchedule:
    """
    Who has the robot, and for how long: the rediscovery, or the attempt of which policy.

    At rest a rediscovery has its quanta, then a patrol half as many steps. While a change is open,
    what is new is found by the rediscovery, and attempts decide which policies stand. Once nothing
    else is left to find out they get four of five steps, nearly all for the policy that is closest
    to a verdict, unless even that seems far: a policy just at the limit may never get one, and
    what is new is to be found meanwhile. All of it is heuristic, see ``patrol``.

    :param parts: of the phase.
    :param quanta: of rediscovery between two patrols.
    """

    def __init__(self, parts: WatchParts, quanta: int) -> None:
        self._parts = parts
        self._round = parts.round
        self._quanta = quanta

    @property
    def quanta(self) -> int:
        """Return how many the rediscovery has in its next turn."""
        # Attempts get as many turns while policies that a change concerns may fail, when nothing
        # but proofs is left to do, and to find out whether a pair has changed.
        checking = bool(self._suspected) or self._round.log.open and (
            self._parts.checks.monitor.doubtful(self._parts.relearning.concerned)
            or self._parts.relearning.swept)
        return 1 if checking else self._quanta

    def begin(self) -> int | None:
        """Begin a patrol; return the target whose policy is attempted first."""
        turn = self._quanta * self._parts.rediscovery.base.quantum
        # What is new since a change is found by the rediscovery: one attempt is enough until then.
        self._parts.checks.patrol.left = (
            turn // 2 if not self._round.log.open
            else turn if self._is_deciding else 0)
        return self._next()

    def go_on(self) -> int | None:
        """
        Return the target that is next, or None if the patrol has taken its time.

        At rest it attempts what has waited since the rediscovery began its turn; while something
        is suspected, or nothing but verdicts is left of a change, what decides.
        """
        patrol = self._parts.checks.patrol
        if patrol.left <= 0:
            return None
        if self._round.log.open or self._suspected:
            return self._next()
        return patrol.next(self._parts.rediscovery.turn, self._left_alone)

    def _next(self) -> int | None:
        """Return whose turn it is: what is suspected, or closest to a verdict, before others."""
        urgent = dict.fromkeys(self._suspected, 0.0)
        if self._round.log.open:
            urgent = {**self._lacking, **urgent}
        return self._parts.checks.turns.next(
            urgent, _RING_IF_DECIDING if self._is_deciding else _RING, self._left_alone)

    @property
    def _suspected(self) -> Collection[int]:
        """Return the targets of the policies that attempts may decide about."""
        # Other ways come before attempts through what has shown too little.
        return () if self._parts.pairs.detoured else self._parts.transitions.suspected

    @property
    def _left_alone(self) -> Collection[int]:
        """Return the targets of the policies that would have to pass what may be closed."""
        pairs = self._parts.pairs
        return self._parts.checks.patrol.passing([*pairs.shut, *pairs.detoured])

    @property
    def _lacking(self) -> dict[int, float]:
        """Return by target the attempts to a verdict, in units of the variance of one."""
        left_alone = self._left_alone
        lacking = self._parts.checks.monitor.attempts_lacking(self._parts.relearning.likely)
        return {target: attempts for target, attempts in lacking.items()
                if target not in left_alone}

    @property
    def _is_deciding(self) -> bool:
        """Whether nothing but verdicts seems to be left of a change, and one of them is near."""
        lacking = self._lacking
        if not self._round.log.open or not self._parts.relearning.swept or not lacking:
            return False
        built = self._round.steps_taken
        # The variance is some square of the limit, and a step of an attempt takes a step.
        return 2 * min(lacking.values()) * self._round.problem.limit ** 3 < _WORTH * built
