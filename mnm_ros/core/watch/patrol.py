# SPDX-License-Identifier: Apache-2.0

"""
Patrol: which policy is attempted next, so that each pair that one of them uses is met soon.

A policy to a far target passes near ones. Of all policies, those are attempted whose ways pass
what has not been executed for longest, by an attempt or by the rediscovery. All of it is
heuristic: the choice depends on the past alone, whatever the tests make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy


class Patrol:
    """
    The ways of the policies, and when each pair on them was executed last.

    :param transitions: says where pairs lead.
    :ivar complete: whether all ways are known.
    :ivar left: steps of the patrol under way until the rediscovery has its turn again.
    :ivar passed: by target, the targets for which an attempt counts as one of their own: the
        policy passes them, and wherever it has been seen to lead before, it does as theirs.
    """

    def __init__(self, transitions: TransitionMonitor) -> None:
        self._transitions = transitions
        self.complete = False
        self.left = 0
        self.passed: dict[int, tuple[int, ...]] = {}
        self._ways: dict[int, tuple[Pair, ...]] = {}
        self._step = 0
        self._last: dict[Pair, int] = {}

    def change(self, policies: Sequence[Policy],
               leads: Callable[[int, int], int | None] | None = None) -> None:
        """
        Patrol the ways of these policies, that for home first.

        :param leads: says where a pair usually leads, if not the detectors of the pairs do.
        """
        transitions = self._transitions
        home, others = policies[0].target, {policy.target: policy for policy in policies[1:]}
        self._ways = {target: tuple(policy.usual_way(home, leads or transitions.leads))
                      for target, policy in others.items()}
        plays = {target: dict(policy.may_play(home, transitions.following))
                 for target, policy in others.items()}
        self.passed = {target: tuple(
            state for place, (state, _) in enumerate(self._ways[target])
            if place and self._ways.get(state) == self._ways[target][:place]
            and _does(policy, plays[state])) for target, policy in others.items()}
        self.complete = all(
            way and target in transitions.following(*way[-1])
            for target, way in self._ways.items())
        self._last = {pair: self._last.get(pair, self._step)
                      for way in self._ways.values() for pair in way}

    def behind(self, targets: Sequence[int]) -> list[int]:
        """Return these, and the targets whose ways pass one of those returned."""
        found, before = dict.fromkeys(targets), 0
        while before < len(found):
            before = len(found)
            found.update(dict.fromkeys(
                target for target, way in self._ways.items()
                if any(state in found for state, _ in way)))
        return list(found)

    def executed(self, pair: Pair | None) -> None:
        """Record a step; None is a RESET, or one from where it is not known."""
        self._step += 1
        if pair in self._last:
            self._last[pair] = self._step

    def way(self, target: int) -> Sequence[Pair]:
        """Return the pairs on the usual way to a target, the first one first."""
        return self._ways[target]

    def passes(self, target: int, pairs: Collection[Pair]) -> bool:
        """Return whether the way to a target mostly leads through one of these pairs."""
        return any(pair in pairs for pair in self._ways.get(target, ()))

    def passing(self, pairs: Collection[Pair]) -> Collection[int]:
        """Return the targets to which the ways mostly lead through one of these pairs."""
        return [target for target in self._ways if self.passes(target, pairs)] if pairs else ()

    def next(self, waited: int, left_alone: Collection[int] = ()) -> int | None:    # noqa: A003
        """
        Return the target whose policy passes the pair that has waited longest.

        :param left_alone: targets of policies that are not attempted now.
        :returns: None if none has waited for so many steps.
        """
        ways = {target: way for target, way in self._ways.items() if target not in left_alone}
        passed = {pair for way in ways.values() for pair in way} if left_alone else self._last
        longest = min((pair for pair in self._last if pair in passed),
                      key=self._last.__getitem__, default=None)
        if longest is None or self._step - self._last[longest] < waited:
            return None
        return max((target for target, way in ways.items() if longest in way),
                   key=lambda target: sum(self._step - self._last[pair]
                                          for pair in self._ways[target]))


def _does(policy: Policy, plays: Mapping[int, int]) -> bool:
    """Return whether a policy plays the same, and does not arrive before."""
    return len(policy.actions) == 1 and policy.target not in plays and all(
        policy.action(0, state) == action for state, action in plays.items())
