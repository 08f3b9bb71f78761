# SPDX-License-Identifier: Apache-2.0

"""
The moves of certified policies that are executed again while a hypothesis is built.

A run that has certified a policy may have nothing more to do on its way for hundreds of steps,
and others drive by it meanwhile. So the moves that such policies usually make are executed again
once they have waited for ``WAITED`` steps. To go there takes steps, so that ``EVERY`` steps for
each move on the way there pass between two of them: about one step in twenty is spent. What fails
then, or twice in a row, is tried again at once, and some ten failures raise the alarm. The choice
of the next pair has no influence on the promise.

A change is found soonest, on average, if a move that takes ``n`` moves to get there is executed at
a rate of ``1 / sqrt(n)``. So the one with the most ``waited ** 2 / n`` is next.

Certificates take computing time. So each state is examined again only when the run has taken
``AGAIN`` of its steps more: late in a long run, states are examined rarely.
"""

from __future__ import annotations

from typing import Any

from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import candidates_of, provisional_of
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy

WAITED, EVERY, LOOK_EVERY = 150, 40, 20    # steps
AGAIN = 0.5    # as a part of the steps of the run so far
ALARMED = 100    # failures in a row, which raise the alarm of a pair that has ever led on


class CertificateWatch:
    """
    The usual moves of what one run has certified, and when each was executed last.

    :param run: the run.
    :param transitions: sees each step before this watch.
    """

    def __init__(self, run: BaseAlgorithm, transitions: TransitionMonitor) -> None:
        self._run, self._transitions = run, transitions
        self._step = self._next = 0
        self._due = 0.0    # states to be examined
        self._certified: list[Policy] = []
        self._place: dict[Pair, int] = {}    # of each move on its way, from 1 on
        self._last: dict[Pair, int] = {}
        self._ends: dict[Pair, int | None] = {}    # where each mostly led when first watched
        self._failing: dict[Pair, int] = {}    # times in a row
        self._memory: Any = None    # what the run has found out so far

    def executed(self, pair: Pair | None, next_state: int) -> Pair | None:
        """
        Count a step of the run, and say what is to be executed because of it.

        :param pair: None for a RESET, or where it is not known.
        :returns: the pair to be executed soon; None if there is none.
        """
        self._step += 1
        if pair in self._last:
            assert pair is not None
            waited, self._last[pair] = self._step - self._last[pair], self._step
            # After many failures, to fail is usual.
            worked = next_state == self._end(pair)
            failed = self._failing[pair] = 0 if worked else self._failing.get(pair, 0) + 1
            if failed > ALARMED:    # without an alarm, so that it never led there
                del self._failing[pair]
                self._ends.pop(pair, None)    # it may be gone from the last time
            elif failed > 1 or failed and waited >= WAITED:
                return pair
        return None if self._step % LOOK_EVERY else self._look()

    def _look(self) -> Pair | None:
        """Examine the states that are due; return the move to be executed again, if any."""
        states = 1 + len(candidates_of(self._run))
        self._due += LOOK_EVERY * states / (AGAIN * self._step)
        found, self._memory = provisional_of(self._run, self._memory, int(self._due))
        self._due %= 1
        certified = [each.policy for each in found if each.certified]
        # All of their ways take a while to follow.
        if certified != self._certified or self._step >= self._next:
            self._certified, home = certified, self._run.policies[0].target
            self._place = {
                move: moves for policy in certified
                for moves, move in enumerate(
                    policy.usual_way(home, self._transitions.leads), 1)}
            self._last = {move: self._last.get(move, self._step) for move in self._place}
            self._ends = {move: self._end(move) for move in self._place}
        waited = {move: self._step - last for move, last in self._last.items()
                  if self._step - last >= WAITED}
        if not waited or self._step < self._next:
            return None
        move = max(waited, key=lambda move: waited[move] ** 2 / self._place[move])
        self._next = self._step + EVERY * self._place[move]
        return move

    def _end(self, pair: Pair) -> int | None:
        """Return where a pair mostly led when it was first watched, or since it led anywhere."""
        end = self._ends.get(pair)
        return self._transitions.usual(pair)[0] if end is None else end
