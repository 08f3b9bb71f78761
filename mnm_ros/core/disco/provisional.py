# SPDX-License-Identifier: Apache-2.0

"""
What is certified on the way: *Certificates on the way* in ``docs/disco.md``.

The sets that certificates rest on hold at all times at once, so that to look at them early takes
nothing of the delta. It takes no step either: what the run does depends on nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnm_ros.core.disco.certify import Certifier
from mnm_ros.core.disco.rule_out import RulingOut
from mnm_ros.core.mnm.base import ProvisionalPolicy
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem


class ProvisionalPolicies:
    """
    The policies that a run of ``disco`` has so far, for those who cannot wait until it finishes.

    As in the end, a policy goes through states that have a certificate. It is dropped where the
    run has forgotten what it rests on.

    :param counts, certifier, ruling_out: of the run.
    :param problem: with the limit to certify.
    """

    def __init__(self, counts: Counts, certifier: Certifier, ruling_out: RulingOut,
                 problem: Problem) -> None:
        self._counts = counts
        self._certifier = certifier
        self._ruling_out = ruling_out
        self._limit = problem.limit
        self._support = problem.support
        self._certified: dict[int, ProvisionalPolicy] = {}
        self._assumed: dict[int, ProvisionalPolicy] = {}
        self._visits: dict[int, list[int]] = {}    # by pair of a policy when it was certified
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
            fewer = any(now < before for now, before in zip(
                self._visited(found.policy), self._visits[target]))
            if target in known or fewer:
                del self._certified[target]
        near = [state for state in self._ruling_out.within_reach if state not in known]
        while at_most is None and any(list(map(self._certify, near))):
            pass
        if at_most is not None:
            reached = {*near}
            self._turns = {state: None for state in (*self._turns, *near) if state in reached}
            for state in tuple(self._turns)[:at_most]:
                del self._turns[state]
                self._certify(state)
        return (
            *(ProvisionalPolicy(policy, True, self._certifier.estimates.get(target), self._limit)
              for target, policy in tuple(known.items())[1:]),
            *self._certified.values(),
            *(self._assumed[target] for target in near if target in self._assumed))

    def _certify(self, target: int) -> bool:
        """Look at a state, and return whether it has got a certificate."""
        if target in self._certified:
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
        self._visits[target] = self._visited(policy)
        return True

    def _visited(self, policy: Policy) -> list[int]:
        return [self._counts.visits(*pair) for pair in zip(policy.states, policy.actions[0])]
