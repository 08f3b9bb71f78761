# SPDX-License-Identifier: Apache-2.0

"""
Policies certified on the way: *Certificates during the run* in ``docs/explanation/disco.md``.

The sets that certificates rest on hold at all times at once, so that to examine them early takes
nothing of the delta. The run itself depends on nothing here, but ``CertificateWatch`` has the
moves of certified policies executed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mnm_ros.core.disco.certify import Certifier
from mnm_ros.core.disco.rule_out import Exclusion
from mnm_ros.core.mnm.capabilities import ProvisionalPolicy
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import Problem


@dataclass
class CertificateMemory:
    """
    The certificates that were found on the way, which can be pickled.

    :ivar certified, assumed: policies by target, within the limit for sure and only perhaps.
    :ivar forgotten: how often each pair was forgotten before the last check.
    :ivar changes: of the support, when the policies were found.
    :ivar turns: states to be examined, those first that have waited longest.
    """

    certified: dict[int, ProvisionalPolicy] = field(default_factory=dict)
    assumed: dict[int, ProvisionalPolicy] = field(default_factory=dict)
    forgotten: dict[Pair, int] = field(default_factory=dict)
    changes: int = 0
    turns: dict[int, None] = field(default_factory=dict)


class ProvisionalPolicies:
    """
    The policies that a run of ``disco`` has so far, for those who cannot wait until it finishes.

    As in the end, a policy goes through states that have a certificate. A certificate stands as
    long as the sets as they are now say so: it is dropped as soon as the run has forgotten a pair
    that it rests on, and each is worked out again in its turn.

    :param certifier, ruling_out: of the run.
    :param problem: with the limit to certify.
    :param memory: of the last check, which the next one changes.
    """

    def __init__(self, certifier: Certifier, ruling_out: Exclusion, problem: Problem,
                 memory: CertificateMemory) -> None:
        self._certifier = certifier
        self._ruling_out = ruling_out
        self._limit = problem.limit
        self._support = problem.support
        self.memory = memory

    def look(self, at_most: int | None = None) -> Sequence[ProvisionalPolicy]:
        """
        Return a policy for each state but home that seems to be within reach.

        :param at_most: so many states are checked again, each in its turn; None for all, and
            again as long as that opens new ways.
        """
        known, memory = self._certifier.known, self.memory
        self._drop()
        near = self._ruling_out.within_reach(known.policies)
        due = dict.fromkeys((*memory.certified, *near))
        if at_most is None:
            for state in tuple(memory.certified):
                self._certify(state)
            while any(list(map(self._certify, (
                    state for state in near if state not in memory.certified)))):
                pass
        else:
            memory.turns = {state: None for state in (*memory.turns, *due) if state in due}
            for state in tuple(memory.turns)[:at_most]:
                del memory.turns[state]
                self._certify(state)
        return (
            *(ProvisionalPolicy(policy, True, known.estimates.get(target), self._limit)
              for target, policy in tuple(known.policies.items())[1:]),
            *memory.certified.values(),
            *(memory.assumed[target] for target in near if target in memory.assumed))

    def _drop(self) -> None:
        """Drop what is known by now, and the certificates that do not hold any more."""
        memory, forgotten = self.memory, self._certifier.examiner.counts.forgotten
        if memory.changes != self._support.changes:
            memory.changes = self._support.changes
            memory.certified.clear()
            memory.assumed.clear()    # some may play what is forbidden now
        lost = frozenset(pair for pair, _ in forgotten.items() - memory.forgotten.items())
        memory.forgotten = dict(forgotten)
        memory.certified = {
            target: found for target, found in memory.certified.items()
            if target not in self._certifier.known.policies and not (
                lost and found.policy.plays(lost))}

    def _certify(self, target: int) -> bool:
        """Examine a state, and return whether another policy has got a certificate."""
        memory = self.memory
        had = memory.certified.pop(target, None)
        if had is not None:
            bound = self._certifier.examiner.bound(had.policy)
            if bound <= self._limit:
                memory.certified[target] = replace(had, at_most_steps=bound)
                return False
        memory.assumed.pop(target, None)
        known, examiner = self._certifier.known.policies, self._certifier.examiner
        found = examiner.look(target, examiner.model((*known, *memory.certified)))
        if found is None:
            return False
        policy, steps, bound = found.policy, found.certificate.steps, found.certificate.bound
        if bound > self._limit:
            memory.assumed[target] = ProvisionalPolicy(policy, False, steps, None)
            return False
        memory.certified[target] = ProvisionalPolicy(policy, True, steps, bound)
        return True
