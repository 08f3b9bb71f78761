# SPDX-License-Identifier: Apache-2.0

"""
Who has the robot, and for how long: the rediscovery, or the attempt of which policy.

At rest a rediscovery has its quanta, then a patrol half as many steps. While a change is open,
what is new is found by the rediscovery, and attempts decide which policies stand. Once nothing
else is left to find out they get four of five steps, nearly all for the policy that is closest to
a verdict, unless even that seems far: a policy just at the limit may never get one, and what is
new is to be found meanwhile. All of it is heuristic, see ``patrol``.
"""

from __future__ import annotations

from mnm_ros.core.mnm.checking_phase import Round
from mnm_ros.core.watch.watch_parts import WatchParts

_RING, _RING_IF_DECIDING = 2, 16    # attempts, of which one has its turn whatever is urgent
_WORTH = 100    # times the steps to the hypothesis: a verdict that takes more can wait


class WatchSchedule:
    """
    Decides whose turn it is.

    :param round_: of the phase.
    :param parts: what is looked at.
    :param quanta: of rediscovery between two patrols.
    """

    def __init__(self, round_: Round, parts: WatchParts, quanta: int) -> None:
        self._round = round_
        self._quanta = quanta
        self._transitions = parts.transitions
        self._watching = parts.watching
        self._relearning = parts.relearning
        self._rediscovery = parts.rediscovery

    @property
    def quanta(self) -> int:
        """Return how many the rediscovery has in its next turn."""
        # Watching gets as many turns while policies that a change concerns may fail, when nothing
        # but proofs is left to do, and to find out whether a pair has changed.
        watching = bool(self._transitions.suspected) or self._round.log.open and (
            self._watching.watched.doubtful(self._relearning.concerned)
            or self._relearning.swept)
        return 1 if watching else self._quanta

    def begin(self) -> int | None:
        """Begin a patrol; return the target whose policy is attempted first."""
        turn = self._quanta * self._rediscovery.base.quantum
        # What is new since a change is found by the rediscovery: one attempt is enough until then.
        self._watching.patrol.left = (
            turn // 2 if not self._round.log.open
            else turn if self._is_deciding else 0)
        return self._next()

    def go_on(self) -> int | None:
        """
        Return the target that is next, or None if the patrol has taken its time.

        At rest it attempts what has waited since the rediscovery began its turn; while something
        is suspected, or nothing but verdicts is left of a change, what decides.
        """
        patrol = self._watching.patrol
        if patrol.left <= 0:
            return None
        if self._round.log.open or self._transitions.suspected:
            return self._next()
        return patrol.next(self._rediscovery.turn)

    def _next(self) -> int | None:
        """Return whose turn it is: what is suspected, or closest to a verdict, before others."""
        urgent = dict.fromkeys(self._transitions.suspected, 0.0)
        if self._round.log.open:
            urgent = {**self._lacking, **urgent}
        return self._watching.turns.next(urgent, _RING_IF_DECIDING if self._is_deciding else _RING)

    @property
    def _lacking(self) -> dict[int, float]:
        """Return by target the attempts to a verdict, in units of the variance of one."""
        return self._watching.watched.attempts_lacking(
            self._relearning.likely, self._round.problem.limit)

    @property
    def _is_deciding(self) -> bool:
        """Whether nothing but verdicts seems to be left of a change, and one of them is near."""
        lacking = self._lacking
        if not self._round.log.open or not self._relearning.swept or not lacking:
            return False
        built = self._round.steps_taken
        # The variance is some square of the limit, and a step of an attempt takes a step.
        return 2 * min(lacking.values()) * self._round.problem.limit ** 3 < _WORTH * built
