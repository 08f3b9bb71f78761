# SPDX-License-Identifier: Apache-2.0

"""
Keep what outlasts a round: the hypothesis that is published, and the policies that are deleted.

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
from dataclasses import replace
from typing import Any

from mnm_ros.core.model.counts import Pair, usual
from mnm_ros.core.model.policy import Hypothesis, over_own_targets, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.events import PairChange
from mnm_ros.core.progress.said import NotProvenSince, Said

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


class HeldHypothesis:
    """
    The hypothesis, and what speaks against it between two rounds.

    :ivar memory: of what changes have taken away, over all rounds.
    :ivar hypothesis: the one published; None before the first.
    :ivar doubted: why a policy is doubted, by target, from the end of a round to the next one's
        hypothesis.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.hypothesis: Hypothesis | None = None
        self.doubted: dict[int, Said] = {}

    @property
    def kept(self) -> Collection[int]:
        """Return the targets that are not doubted."""
        return [target for target in self.hypothesis.targets if target not in self.doubted] if (
            self.hypothesis) else ()

    def publish(self, number: int, policies: tuple[Policy, ...]) -> None:
        """Publish policies as the next revision of a round's hypothesis, if they are others."""
        held, revision = self.hypothesis, 0
        if held is not None and held.round == number:
            # A phase that has revised its policies has another tuple, equal or not.
            if policies is held.policies:
                return
            revision = held.revision + 1
        self.hypothesis = Hypothesis(number, revision, policies[0].horizon, policies)

    def doubt_all(self) -> None:
        """Doubt all policies until the round is over."""
        self.doubted = dict.fromkeys(
            self.hypothesis.targets if self.hypothesis else (), NotProvenSince())

    def follow(self, change: PairChange) -> None:
        """Let go of what a change takes away, and take back what returns by it."""
        self.memory.note(change)
        if self.hypothesis is None:
            return
        held = self.hypothesis.policies
        lost = self.memory.lost(change, held[1:])
        self.memory.keep(lost, {change.pair: [policy.target for policy in lost]})
        left = tuple(policy for policy in held if policy not in lost)
        self._doubt(frozenset([change.pair]))
        recalled = self.memory.recall({policy.target for policy in left})
        self.doubted.update((policy.target, NotProvenSince()) for policy in recalled)
        if lost or recalled:
            self._revise(over_own_targets((*left, *recalled)))

    def forbid(self, pairs: frozenset[Pair]) -> None:
        """Play RESET in place of some pairs, where no reader of the hypothesis may go."""
        found = self.hypothesis
        if found is not None and any(policy.plays(pairs) for policy in found.policies):
            self._doubt(pairs)
            self._revise(tuple(_without(policy, pairs) for policy in found.policies))

    def _doubt(self, pairs: frozenset[Pair]) -> None:
        """Doubt the policies that play any of these pairs until the round is over."""
        assert self.hypothesis is not None
        self.doubted.update(
            (policy.target, NotProvenSince()) for policy in self.hypothesis.policies
            if policy.plays(pairs))

    def _revise(self, policies: tuple[Policy, ...]) -> None:
        assert self.hypothesis is not None
        self.hypothesis = replace(
            self.hypothesis, revision=self.hypothesis.revision + 1, policies=policies)


def _shorten(kept: dict[Any, Any]) -> None:
    """Drop what was kept first, down to as much as may be kept."""
    while len(kept) > _MOST:
        del kept[next(iter(kept))]


def _without(policy: Policy, pairs: frozenset[Pair]) -> Policy:
    """Return the policy with RESET for some pairs."""
    return replace(policy, actions=tuple(
        tuple(RESET if pair in pairs else pair[1] for pair in zip(policy.states, moves))
        for moves in policy.actions))
