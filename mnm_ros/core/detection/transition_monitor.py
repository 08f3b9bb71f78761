# SPDX-License-Identifier: Apache-2.0

"""Where all pairs (state, action) lead, so that a change is noticed where it happened."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
import math

from mnm_ros.core.detection.transition_detector import TransitionDetector
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.events import PairChange
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share

_FOLLOW_UPS = 3
"""Executions wanted of a pair after an outcome that was hardly to be expected."""

_FEWEST, _STAYS = 10, 0.98    # executions of a pair that is blocked, and the part that stayed


class TransitionMonitor:
    """
    The detectors of the pairs executed so far.

    Chance may decide which pair gets detector number ``j``, but not the pair's own transitions, as
    there are none before it; after an alarm a pair starts again with another number. So with the
    ``share`` of its number in ``delta`` for each, the chance of any alarm without a change is at
    most ``delta``.

    It begins with the building phase. A stream that was begun later stands for a change that may
    have come before it: if that one finishes, all pairs start again with other numbers.

    Memory: a pair that has always done the same takes some hundred bytes; one with three next
    states 3 to 10 KB, and one with sixteen, the most that are distinguished, 5 to 19 KB, growing
    with the logarithm of its executions. In a checkpoint it is a quarter to a third of that.

    :param delta: the probability with which any of them ever raises the alarm without a change.
    :ivar raised: the pairs whose evidence is raised, but not enough for an alarm, with the
        executions wanted for an unexpected outcome; all suspicious ones are among them.
    """

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._made = 0
        self._detectors: dict[Pair, TransitionDetector] = {}
        self.raised: dict[Pair, int] = {}
        # The suspicious pairs, with the targets of the policies that execute them.
        self._suspected: dict[Pair, tuple[int, ...]] = {}

    @property
    def suspected(self) -> set[int]:
        """Return the targets of policies through pairs that several outcomes speak against."""
        return {target for targets in self._suspected.values() for target in targets}

    @property
    def evidence(self) -> Iterator[Evidence]:
        """Yield the pairs against which anything speaks."""
        for (state, action), detector in self._detectors.items():
            if detector.evidence > 0:
                yield Evidence(
                    'transition', state, action, detector.evidence, detector.threshold)

    def record(self, state: int, action: int, next_state: int) -> PairChange | None:
        """Record a transition; return what has changed if that raises the alarm."""
        pair = (state, action)
        detector = self._detectors.get(pair)
        if detector is None:
            detector = self._detectors[pair] = self._new_detector()
        detector.record(next_state)
        if detector.alarm:
            return self.restart(pair)
        if detector.surprised:
            self.raised[pair] = _FOLLOW_UPS
        elif pair in self.raised or detector.suspicious:
            wanted = self.raised[pair] = max(0, self.raised.get(pair, 0) - 1)
            if not wanted and not detector.suspicious:
                self._clear(pair)
        return None

    def restart(self, pair: Pair) -> PairChange:
        """Monitor a pair as if nothing was known of it; return what has changed by then."""
        change = self.change(pair)
        self._detectors[pair] = self._new_detector()
        self._clear(pair)
        return change

    def change(self, pair: Pair) -> PairChange:
        """Return where a pair leads, before the likeliest change and since."""
        return PairChange(*pair, *self._detectors[pair].parted)

    def suspect(self, pair: Pair, policies: Sequence[Policy]) -> None:
        """
        Keep ``suspected`` up to date after ``record`` if the evidence of a pair is raised.

        :param policies: of the hypothesis, that for home first.
        """
        if not self._detectors[pair].suspicious:
            self._suspected.pop(pair, None)
        elif pair not in self._suspected:
            self._suspected[pair] = self.concerned(pair, policies)

    @property
    def blocked(self) -> Iterator[tuple[Pair, dict[int, int], float]]:
        """
        Yield the pairs that nearly always stayed, where nothing speaks for a change.

        With how often each next state has followed since the detector of the pair was made, and
        the ``share`` of that.
        """
        for pair, detector in self._detectors.items():
            if detector.executions >= _FEWEST and pair not in self.raised and (
                    not detector.suspicious):
                tally = detector.tally
                if (tally.get(pair[0], 0) >= _STAYS * detector.executions
                        and sum(tally.values()) == detector.executions):
                    yield pair, tally, math.exp(-detector.threshold) / self._delta

    def keep(self, states: Collection[int]) -> None:
        """Monitor no pairs but those of ``states``."""
        self.leave({state for state, _ in self._detectors}.difference(states))

    def leave(self, states: Collection[int]) -> None:
        """
        Monitor the pairs of ``states`` no longer: the robot does not go there any more.

        Should they be known again, their detectors start again, as it is no news by then that
        they may have changed meanwhile.
        """
        for pair in [pair for pair in self._detectors if pair[0] in states]:
            del self._detectors[pair]
            self._clear(pair)

    def usual(self, pair: Pair) -> tuple[int | None, int, int]:
        """Return where a pair led most often, how often that was, and of how many executions."""
        detector = self._detectors.get(pair)
        return (*detector.usual, detector.executions) if detector else (None, 0, 0)

    def following(self, state: int, action: int) -> tuple[int, ...]:
        """Return the next states that a pair has shown so far, the most frequent first."""
        detector = self._detectors.get((state, action))
        return detector.following if detector else ()

    def leads(self, state: int, action: int) -> int | None:
        """Return the other state that has followed a pair most often, for ``usual_way``."""
        return next((after for after in self.following(state, action) if after != state), None)

    def concerned(self, pair: Pair, policies: Sequence[Policy]) -> tuple[int, ...]:
        """
        Return the targets of the policies that may execute the pair, by what was shown so far.

        :param pair: state and action.
        :param policies: that for home first.
        """
        home = policies[0].target
        return tuple(policy.target for policy in policies[1:]
                     if any(policy.action(step, pair[0]) == pair[1]    # which is reported at once
                            for step in range(len(policy.actions)))
                     and pair in self._plays(policy, home))

    def passing(self, state: int, policies: Sequence[Policy]) -> tuple[int, ...]:
        """Return the targets of the policies that may come to a state, that for home first."""
        home = policies[0].target
        return tuple(policy.target for policy in policies[1:]
                     if any(here == state for here, _ in self._plays(policy, home)))

    def _clear(self, pair: Pair) -> None:
        """Forget that the evidence of a pair was raised."""
        self.raised.pop(pair, None)
        self._suspected.pop(pair, None)

    def _plays(self, policy: Policy, home: int) -> Iterator[Pair]:
        return policy.may_play(home, self.following, len(policy.actions))

    def _new_detector(self) -> TransitionDetector:
        self._made += 1
        return TransitionDetector(self._delta * share(self._made, EVEN_PARTS))
