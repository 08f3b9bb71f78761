# SPDX-License-Identifier: Apache-2.0

"""
Pairs that are known to be blocked: they were executed often, and nearly always stayed.

Only states count of which it was declared where their actions lead: elsewhere nearly every wall is
such a pair, and an opening would be noticed much later (``two_rooms``).

At rest they get no even share of every rediscovery: a run keeps what was seen of them before
(*Kept samples* in ``planning/plausible.py`` has the argument, and this the part of the delta).
Instead they are tried again at a rate, whichever has waited longest first, so that of ``B`` of
them each is executed about every ``B / rate`` steps. Three of four times it is one that may lead
to a state that is not known; the others could only make a way shorter.

That bounds how soon it is noticed that one of them opens, and until then a rediscovery says
nothing new of it: it is clean of what came before a change in all pairs but these. When anything
is noticed, the run carries nothing any more, and no other one does until that is relearnt: what
has closed may open again, and a change rarely comes alone.
"""

from __future__ import annotations

from collections.abc import Collection

from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import CarriedPair, Samples, Steered
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.support import Support

_ENOUGH = 2    # times in a row that what has led on once did not
_TURNS = 4    # of which one is for pairs that could only make a way shorter
_LEAST_PAIRS = 3    # if there are fewer, each is tried as rarely as if there were so many


class BlockedPairs:
    """
    The samples that rediscoveries keep, and the pair that is tried again next.

    :param transitions: the detectors of the pairs.
    :param support: says which of them may lead to a state that is not known.
    :param rate: of executions for each step; with 1, no samples are kept.
    :param delta: the probability with which any region with kept samples is wrong.
    :param noticed: whether a change was noticed that is not relearnt yet.
    :ivar noticed: the same.
    :ivar opening: the pairs that have led on, so that they are tried at once again, with how often
        they have not since.
    """

    def __init__(self, transitions: TransitionMonitor, support: Support, rate: float, delta: float,
                 noticed: bool) -> None:
        self._transitions = transitions
        self._support = support
        self._rate = rate
        self._delta = delta
        self.noticed = noticed
        self._step = self._turn = 0
        self._owed = 0.0    # executions
        self._last: dict[Pair, int] = {}
        self._carried: dict[Pair, None] = {}
        self._to_new: dict[Pair, None] = {}    # those that may lead to a state not known
        self._asked: dict[Pair, None] = {}    # and not executed since
        self.opening: dict[Pair, int] = {}

    def begin(self, base: BaseAlgorithm, known: Collection[int],
              closed: Collection[Pair] = ()) -> None:
        """
        Let a run that begins carry what is known to be blocked of these states.

        :param closed: pairs whose samples are kept whatever is noticed or declared.
        """
        at_rest = self._rate < 1 and not self.noticed
        seen = {
            pair: CarriedPair(tally, self._delta * part)
            for pair, tally, part in self._transitions.blocked
            if pair[0] in known and (
                pair in closed or at_rest and pair[0] in self._support.declared.successors)
        } if at_rest or closed else {}
        self._carried = {}
        if seen and isinstance(base, Steered):
            base.carry(seen)
            self._carried = dict.fromkeys(seen)
        self._to_new = {pair: None for pair in self._carried if self._may_open(pair, known)}
        self._asked = {pair: None for pair in self._asked if pair in self._carried}
        if isinstance(base, Samples):
            for pair in (*self._asked, *self.opening):
                base.request_sample(*pair)

    def executed(self, base: BaseAlgorithm, pair: Pair | None,
                 left_alone: Collection[Pair] = ()) -> None:
        """
        Record a step, and have the next pair tried again if it is time for that.

        :param left_alone: pairs that are not.
        """
        self._step += 1
        self._owed += self._rate
        if pair in self._carried:
            self._owed -= pair not in self._asked    # it was executed for something else
            self._asked.pop(pair, None)
            self._last[pair] = self._step
        if self._carried and self._owed >= 1 and isinstance(base, Samples):
            chosen = self._next(left_alone)
            if chosen is not None:
                self._asked[chosen] = None
                base.request_sample(*chosen)
        # What a run executes for itself, often hundreds of times, is no debt to be paid back.
        self._owed = max(-1.0, min(self._owed, 1.0))

    def opens(self, pair: Pair, next_state: int) -> bool:
        """Return whether a pair may have opened, so that it is tried at once again."""
        if pair not in self._carried and pair not in self.opening:
            return False
        if next_state != pair[0]:
            self.opening[pair] = 0
        elif pair in self.opening:
            self.opening[pair] += 1
        if self.opening.get(pair, 0) >= _ENOUGH or pair not in self._transitions.raised:
            self.opening.pop(pair, None)
        return pair in self.opening

    def notice(self, base: BaseAlgorithm) -> None:
        """Record a change: all is sampled again until it is relearnt."""
        self.noticed = True
        if self._carried:
            self._carried, self._to_new, self._asked = {}, {}, {}
            if isinstance(base, Steered):
                base.carry({})

    def settle(self) -> None:
        """Record that the change is relearnt."""
        self.noticed = False

    def _next(self, left_alone: Collection[Pair]) -> Pair | None:
        """Return the pair that has waited longest, of those whose turn it is."""
        whose = [pair for pair in self._carried if pair not in left_alone
                 and (pair in self._to_new) == bool(self._turn)]
        waited = [pair for pair in whose if pair not in self._asked
                  and self._step - self._last.get(pair, 0) >= _LEAST_PAIRS / self._rate]
        if waited:
            self._owed -= 1
        if waited or not whose:
            self._turn = (self._turn + 1) % _TURNS
        return min(waited, key=lambda pair: self._last.get(pair, 0), default=None)

    def _may_open(self, pair: Pair, known: Collection[int]) -> bool:
        ends = self._support.ends(*pair)
        return ends is None or not all(end in known for end in ends)
