# SPDX-License-Identifier: Apache-2.0

"""
One attempt for several states: policies that begin as another one does, and go on behind it.

An attempt with the policy to a far state counts for all states that it passes (``Attempts``). So
before a policy is attempted, it is led on: from its target to a state next to it that lacks a
certificate, too, and on from there, as long as the way is hardly longer than the best one. Such a
policy goes through states that are not known yet, and is known only once they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mnm_ros.core.disco.evidence import Offer, PolicyTests
from mnm_ros.core.disco.examiner import Examiner
from mnm_ros.core.disco.rule_out import FAILURE_WEIGHT
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem
import numpy as np

_LONGER, _MORE = 1.1, 0.25    # times the steps of the shortest way, and steps beside


class PolicyExtensions:
    """
    Leads policies on.

    All of it is heuristic; what the tests make of it is not.

    :param tests: under way; of two policies to a state, one that has begun a test is taken.
    :param counts: of the run.
    :param examiner: with the model of the counts.
    :param problem: with the limit to certify.
    """

    def __init__(self, tests: PolicyTests, counts: Counts, examiner: Examiner,
                 problem: Problem) -> None:
        self._tests = tests
        self._counts = counts
        self._examiner = examiner
        self._problem = problem

    def lead_on(self, first: Offer, known: Sequence[int], near: Mapping[int, float],
                nats: float) -> list[Offer]:
        """
        Return an offer and what goes on behind it, each behind the one before.

        :param known: states with a certificate, home first.
        :param near: states that may lack one, near ones first.
        :param nats: that a new test takes.
        """
        found, left = [first], {
            state: steps for state, steps in near.items()
            if state not in known and state != first.policy.target}
        following: Offer | None = first
        while following is not None:
            following = self._following(found[-1].policy, known, left, nats)
            if following is not None:
                found.append(following)
                del left[following.policy.target]
        return found

    def _following(self, policy: Policy, known: Sequence[int], left: Mapping[int, float],
                   nats: float) -> Offer | None:
        """Return the offer for the nearest state behind the target of a policy."""
        after = {state for action in range(self._problem.actions)
                 for state in self._after(policy.target, action)}
        plays = dict(policy.may_play(policy.states[0], self._after))
        for target, steps in left.items():
            if target in after:
                offer = (self._begun(target, policy, plays) if target in self._tests.begun
                         else self._new(target, steps, policy, known, plays, nats))
                if offer is not None:
                    return offer
        return None

    def _begun(self, target: int, policy: Policy, plays: Mapping[int, int]) -> Offer | None:
        """Return how a test goes on if its policy passes that of another one, as that plays."""
        test = self._tests.begun[target]
        begun = test.policy
        if not begun.covers(policy.target) or target in plays or any(
                begun.action(0, state) != action for state, action in plays.items()):
            return None
        model = as_declared(self._examiner.model(begun.states))
        steps = self._steps(model, target, begun.actions[0])
        return self._tests.offered(begun, test, steps, test.lacking) if (
            steps < self._problem.limit) else None

    def _new(self, target: int, steps: float, policy: Policy, known: Sequence[int],
             plays: Mapping[int, int], nats: float) -> Offer | None:
        if target in plays:
            return None
        states = tuple(dict.fromkeys((*known, *policy.states, policy.target)))
        model = as_declared(self._examiner.model(states))
        best, _ = model.smoothed_plan(target, self._problem.limit, FAILURE_WEIGHT)
        moves = tuple(plays.get(state, move) for state, move in zip(states, best.tolist()))
        longer = self._steps(model, target, moves)
        if longer > min(self._problem.limit, _LONGER * steps + _MORE):
            return None
        found = Policy(target, policy.horizon, states, (moves,))
        return self._tests.offered(found, None, longer, nats)

    def _steps(self, model: EmpiricalModel, target: int, moves: Sequence[int]) -> float:
        return float(model.smoothed_values(
            np.array(moves), target, self._problem.limit, FAILURE_WEIGHT)[0])

    def _after(self, state: int, action: int) -> Iterable[int]:
        """Return where a pair has led, or is declared to lead."""
        return (*self._counts.next_states(state, action),
                *(self._problem.support.ends(state, action) or ()))


def as_declared(model: EmpiricalModel) -> EmpiricalModel:
    """Return the counts; a pair counts as if all its declared ends had followed together."""
    own = model.columns == np.repeat(np.arange(len(model.states)), model.actions)[:, None]
    ends = model.filled & model.closed[:, None]
    ends = np.where((ends & ~own).any(axis=1)[:, None], ends & ~own, ends)
    return replace(model, tally=model.tally + ends / np.maximum(1, ends.sum(axis=1))[:, None])
