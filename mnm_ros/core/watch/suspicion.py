# SPDX-License-Identifier: Apache-2.0

"""Which policies are doubted, for a change or for a hint, and what people are told of hints."""

from __future__ import annotations

from collections.abc import Sequence

from mnm_ros.core.mnm.checking_phase import NOT_PROVEN_SINCE, Round
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.watch.watch_parts import WatchParts


class Suspicion:
    """
    Doubts policies: outside of the promise, if they lead through a pair that a hint is about.

    :param round_: whose log is told of hints, and of their withdrawal.
    :param parts: what is looked at.
    """

    ADDED = ('_pauses',)

    def __init__(self, round_: Round, parts: WatchParts) -> None:
        self._round = round_
        self._hints = parts.hints
        self._pauses = parts.pauses
        self._transitions = parts.transitions
        self._watching = parts.watching
        self._relearning = parts.relearning

    def doubted(self, policies: Sequence[Policy]) -> dict[int, str]:
        """Return why a policy is doubted, by target."""
        relearning = self._relearning
        hinted = {target: f'{self._failing(pair)}: a hint, outside of the promise'
                  for pair in self._hints.open
                  for target in self._transitions.concerned(pair, policies)}
        unproven = self._watching.watched.unproven_targets if self._round.log.open else ()
        return {**hinted, **{target: NOT_PROVEN_SINCE for target in unproven
                             if relearning.all_doubted or target in relearning.concerned}}

    def note(self, pair: Pair, next_state: int, policies: Sequence[Policy]) -> tuple[int, ...]:
        """Take note of where a pair has led; return the targets that a new hint concerns."""
        usual, worked, executions = self._transitions.usual(pair)
        raised = self._hints.record(pair, next_state == usual, executions, worked)
        # What leads on at last is tried at once again, and all is while a change is relearnt.
        if usual != pair[0] and not self._round.log.open:
            self._pauses.record(pair, self._hints.failures(pair), executions, worked,
                                hinted=pair in self._hints.open)
        number, (state, action) = self._round.number, pair
        if raised is False:
            self._round.log.tell(f'round {number}: hint withdrawn, action {action} in state '
                                 f'{state} works again', 'hint')
        if not raised:
            return ()
        concerned = self._transitions.concerned(pair, policies)
        if concerned:
            self._round.log.tell(f'round {number}: hint, outside of the promise: '
                                 f'{self._failing(pair)}', 'hint',
                                 self._transitions.change(pair))
        else:
            self._hints.forget(pair)
        return concerned

    def _failing(self, pair: Pair) -> str:
        return (f'action {pair[1]} in state {pair[0]} nearly always worked and has failed '
                f'{self._hints.failures(pair)} times in a row')
