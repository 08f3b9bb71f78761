# SPDX-License-Identifier: Apache-2.0

"""The hypothesis that is published, also while the next one is being built."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from mnm_ros.core.mnm.memory import Memory
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Hypothesis, over_own_targets, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.events import PairChange
from mnm_ros.core.progress.said import NotProvenSince, Said


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


def _without(policy: Policy, pairs: frozenset[Pair]) -> Policy:
    """Return the policy with RESET for some pairs."""
    return replace(policy, actions=tuple(
        tuple(RESET if pair in pairs else pair[1] for pair in zip(policy.states, moves))
        for moves in policy.actions))
