# SPDX-License-Identifier: Apache-2.0

"""
What is certified on the way: *Certificates on the way* in ``docs/disco.md``.

The sets that certificates rest on hold at all times at once, so that to look at them early takes
nothing of the delta. It takes no step either: what the run does depends on nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnm_ros.core.disco.certify import Certifier
from mnm_ros.core.disco.rule_out import Exclusion
from mnm_ros.core.mnm.base import ProvisionalPolicy
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem


class ProvisionalPolicies:
    """
    The policies that a run of ``disco`` has so far, for those who cannot wait until it finishes.

    As in the end, a policy goes through states that have a certificate. A certificate stands as
    long as the sets as they are now say so: it is dropped as soon as the run has forgotten a pair
    that it rests on, and each is worked out again in its turn.

    :param counts, certifier, ruling_out: of the run.
    :param problem: with the limit to certify.
    """

    def __init__(self, counts: Counts, certifier: Certifier, ruling_out: Exclusion,
                 problem: Problem) -> None:
        self._counts = counts
        self._certifier = certifier
        self._ruling_out = ruling_out
        self._limit = problem.limit
        self._support = problem.support
        self._certified: dict[int, ProvisionalPolicy] = {}
        self._assumed: dict[int, ProvisionalPolicy] = {}
        self._rests_on: dict[int, list[Mapping[int, int]]] = {}    # counts, when it was certified
        self._changes = 0    # of the support, by when the certificates were made
        self._turns: dict[int, None] = {}    # states to be looked at, those first that waited most

    def look(self, at_most: int | None = None) -> Sequence[ProvisionalPolicy]:
        """
        Return a policy for each state but home that seems to be within reach.

        :param at_most: so many states are looked at anew, each in its turn; None for all, and
            again as long as that opens new ways.
        """
        known = self._certifier.known
        if self._changes != self._support.changes:
            self._changes = self._support.changes
            self._certified.clear()
            self._assumed.clear()    # some may play what is forbidden now
        for target, found in tuple(self._certified.items()):
            # What was forgotten is counted anew: that may be as much as before by now.
            forgotten = any(now is not before for now, before in zip(
                self._counted(found.policy), self._rests_on[target]) if before)
            if target in known or forgotten:
                del self._certified[target]
        near = [state for state in self._ruling_out.within_reach if state not in known]
        due = dict.fromkeys((*self._certified, *near))
        if at_most is None:
            for state in tuple(self._certified):
                self._certify(state)
            while any(list(map(self._certify, (
                    state for state in near if state not in self._certified)))):
                pass
        else:
            self._turns = {state: None for state in (*self._turns, *due) if state in due}
            for state in tuple(self._turns)[:at_most]:
                del self._turns[state]
                self._certify(state)
        return (
            *(ProvisionalPolicy(policy, True, self._certifier.estimates.get(target), self._limit)
              for target, policy in tuple(known.items())[1:]),
            *self._certified.values(),
            *(self._assumed[target] for target in near if target in self._assumed))

    def _certify(self, target: int) -> bool:
        """Look at a state, and return whether it has got a certificate that it had not."""
        had = self._certified.pop(target, None)
        if had is not None:
            bound = self._certifier.bound(had.policy)
            if bound <= self._limit:
                self._certified[target] = replace(had, at_most_steps=bound)
                return False
        self._assumed.pop(target, None)
        through = self._certifier.model((*self._certifier.known, *self._certified))
        found = self._certifier.look(target, through)
        if found is None:
            return False
        policy, steps, bound = found.policy, found.certificate.steps, found.certificate.bound
        if bound > self._limit:
            self._assumed[target] = ProvisionalPolicy(policy, False, steps, None)
            return False
        self._certified[target] = ProvisionalPolicy(policy, True, steps, bound)
        self._rests_on[target] = self._counted(policy)
        return True

    def _counted(self, policy: Policy) -> list[Mapping[int, int]]:
        return [self._counts.next_states(*pair) for pair in zip(policy.states, policy.actions[0])]
