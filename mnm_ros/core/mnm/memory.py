# SPDX-License-Identifier: Apache-2.0

"""
Remember the policies that changes have deleted, for changes that are undone or that recur.

``Mnm`` has one memory for all rounds, and its phases use it at each change. A door that closes
every evening deletes the same policies each time. The memory keeps a deleted policy with the usual
successors that the changed pairs on its way had before the change. Once all these pairs lead to
these successors again, the policy returns at once: the policy needs its proof, but no discovery.
An alarm shows that a pair leads there again. Ten more executions that lead there than elsewhere
show it, too, because a change that is soon undone may raise no second alarm.
If a pair changes as it did when policies were deleted, and hardly ever leads where it did,
the policies through the pair to the same states are deleted at once. A pair that only leads there
more rarely than before deletes nothing: its policies may still be within the limit.

The memory proves nothing, so that it takes no delta. A policy that returns is doubted until its
proof. A state without a policy is searched for by the next rediscovery, as after any change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mnm_ros.core.model.counts import Pair, usual
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.events import PairChange

_LOOK_EVERY = 40    # steps, for a pair that has changed again and again
_AGAIN = 10    # executions that lead where they did before, more than others since the deletion
_RARELY = 0.125    # part of the executions, up to which a pair does not lead there any more
_MOST = 10_000    # policies, and settings of pairs; the oldest are dropped


class Memory:
    """The policies that changes have taken away, over all rounds."""

    def __init__(self) -> None:
        self._now: dict[Pair, int | None] = {}    # where pairs that have changed lead mostly
        self._before: dict[Pair, int | None] = {}    # where they did before that
        self._kept: dict[int, tuple[Policy, dict[Pair, int | None]]] = {}    # by target
        self._changes: dict[Pair, int] = {}    # so far, the pair examined last at the end
        self._steps = 0
        self._lost: dict[tuple[Pair, int | None], dict[int, None]] = {}    # targets by setting
        # By pair, how many more executions since a deletion have led where they did before than
        # have not; None once they were enough: again only after another change.
        self._working: dict[Pair, int | None] = {}

    def note(self, change: PairChange) -> None:
        """Record that a pair leads elsewhere than before."""
        pair = change.pair
        self._before[pair] = self._now.get(pair, usual(change.before))
        self._now[pair] = usual(change.after)
        self._changes[pair] = self._changes.get(pair, 0) + 1
        self._working.pop(pair, None)

    def step(self) -> Pair | None:
        """Count a step; return a pair that has changed more than once if it is to be tried."""
        self._steps += 1
        if self._steps % _LOOK_EVERY:
            return None
        pair = next((pair for pair, times in self._changes.items() if times > 1), None)
        if pair is not None:
            self._changes[pair] = self._changes.pop(pair)
        return pair

    def keep(self, policies: Iterable[Policy], changed: Mapping[Pair, Collection[int]]) -> None:
        """
        Keep policies that are deleted, because pairs have changed.

        :param changed: for each of these pairs, the targets of the policies whose usual way
            passes the pair. A policy that plays the pair elsewhere may work without it.
        """
        for policy in policies:
            needed = {pair: self._before[pair] for pair in changed
                      if pair in self._before and policy.plays(frozenset([pair]))}
            if needed:
                self._kept.pop(policy.target, None)
                self._kept[policy.target] = policy, needed
            for pair in needed:
                if self._now[pair] == self._before[pair]:    # it leads there, if more rarely
                    continue
                self._working.setdefault(pair, 0)
                if policy.target in changed[pair]:
                    self._lost.setdefault((pair, self._now[pair]), {})[policy.target] = None
        _shorten(self._kept)
        _shorten(self._lost)

    def recall(self, known: Collection[int]) -> tuple[Policy, ...]:
        """Return the policies to states not known all of whose pairs lead where they did."""
        return tuple(policy for target, (policy, needed) in self._kept.items()
                     if target not in known and all(
                         self._now.get(each) == end for each, end in needed.items()))

    def executed(self, pair: Pair, state: int) -> bool:
        """Record an execution; return whether the pair leads again where policies need it."""
        more = self._working.get(pair)
        if more is None:
            return False
        more = max(0, more + (1 if state == self._before[pair] else -1))
        self._working[pair] = more if more < _AGAIN else None
        if more == _AGAIN:
            self._now[pair] = self._before[pair]
        return more == _AGAIN

    def reached(self, found: Collection[Policy]) -> None:
        """Record that pairs lead again to the targets of policies found that play them."""
        for _, needed in self._kept.values():
            self._now.update({pair: end for pair, end in needed.items() if any(
                policy.target == end and policy.plays(frozenset([pair])) for policy in found)})

    def lost(self, change: PairChange, policies: Iterable[Policy]) -> list[Policy]:
        """Return those of the policies that were deleted when the pair had changed like that."""
        before = self._before[change.pair]
        if before is not None and change.after.get(before, 0) > _RARELY * sum(
                change.after.values()):
            return []
        targets = self._lost.get((change.pair, self._now[change.pair]), {})
        return [policy for policy in policies
                if policy.target in targets and policy.plays(frozenset([change.pair]))]


def _shorten(kept: dict[Any, Any]) -> None:
    """Drop what was kept first, down to as much as may be kept."""
    while len(kept) > _MOST:
        del kept[next(iter(kept))]
