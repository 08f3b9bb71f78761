# SPDX-License-Identifier: Apache-2.0

"""
Watching what is certified before the first hypothesis: its moves are executed now and then.

A run that has certified a policy may have nothing more to do on its way for hundreds of steps, and
others drive by it meanwhile. So of the moves that such policies usually make, the one that has
waited longest is executed again once it has waited for ``WAITED`` steps. To go there takes steps,
so that ``EVERY`` steps for each move on the way there pass between two of them: about one step in
twenty is spent. What fails then, or twice in a row, is tried again at once, and some ten failures
raise the alarm. Which pair is executed next has no influence on the promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import provisional_of
from mnm_ros.core.model.counts import Pair

WAITED, EVERY, LOOK_EVERY = 150, 40, 20    # steps


class CertificateWatch:
    """The usual moves of what a run has certified, and when each was executed last."""

    def __init__(self) -> None:
        self._step = self._next = 0
        self._last: dict[Pair, int] = {}
        self._failing: dict[Pair, int] = {}    # times in a row
        self._memory: Any = None    # what the run has found out so far

    def begin(self) -> None:
        """Take note that another run has the robot."""
        self._last, self._memory = {}, None

    def executed(self, pair: Pair | None, next_state: int, run: BaseAlgorithm,
                 transitions: TransitionMonitor) -> Pair | None:
        """
        Take note of a step.

        :param pair: None for a RESET, or where it is not known.
        :param run: that has the robot.
        :param transitions: which know of the step already.
        :returns: the pair to be executed soon; None if there is none.
        """
        self._step += 1
        if pair in self._last:
            assert pair is not None
            waited, self._last[pair] = self._step - self._last[pair], self._step
            if next_state == transitions.usual(pair)[0]:
                self._failing.pop(pair, None)
            else:
                self._failing[pair] = self._failing.get(pair, 0) + 1
                if waited >= WAITED or self._failing[pair] > 1:
                    return pair
        return None if self._step % LOOK_EVERY else self._look(run, transitions)

    def _look(self, run: BaseAlgorithm, transitions: TransitionMonitor) -> Pair | None:
        """Look at a certificate more; return the move that has waited for too long, if any."""
        found, self._memory = provisional_of(run, self._memory, 1)
        home, last, place = run.policies[0].target, self._last, dict[Pair, int]()
        for each in found:
            for moves, move in enumerate(each.policy.usual_way(home, lambda *pair: _leads_to(
                    transitions.following(pair), pair[0])) if each.certified else (), 1):
                place[move] = moves
        self._last = {move: last.get(move, self._step) for move in place}
        longest = min(self._last, key=self._last.__getitem__, default=None)
        if longest is None or self._step < self._next or (
                self._step - self._last[longest] < WAITED):
            return None
        self._next = self._step + EVERY * place[longest]
        return longest


def _leads_to(following: Sequence[int], state: int) -> int | None:
    return next((after for after in following if after != state), None)
