# SPDX-License-Identifier: Apache-2.0

"""Find the added states that are within the radius for sure, and so reveal a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.statistics.certificate import ConfidenceSets, PolicyModel

_GROWTH_TO_LOOK_AGAIN, _GROWTH_OF_A_CHANGE = 1.1, 1.01
"""By how much the transitions grow before a check, at rest and while a change is open."""


class Reach:
    """
    Finds out which new states are in ``S_L->`` of a CMP that does not change.

    The sets are those of ``certificate.py``, over all transitions since a moment that the past
    decides: with probability ``1 - d`` they contain all true distributions, at all times. If they
    do, each state that is found to be within is in ``S_L->``, by induction: home is, and so is a
    state that a policy confined to such states reaches within ``L`` steps, by the upper bound of
    the model. A bound on the policy as published would not do: where it leads through a state
    farther than ``L`` that has been added, what follows may be near and yet not belong to
    ``S_L->``.

    Such a state was missing. Without a change that means that the hypothesis was wrong from the
    start, or that a policy within the limit was deleted, or that a set is wrong. The first two
    have parts of delta of their own. The third one takes ``delta``, of which number ``i`` of the
    moments has ``1 / (i (i + 1))``. How often states come and go, and how often that is checked,
    does not matter. If the sets are right, a policy whose lower bound is above the limit takes
    more than that, too (``too_slow``): this costs nothing beside.

    :param radius: ``L``.
    :param delta: the probability with which a state is ever found to be within and is not.
    :ivar begun: the number of the last of the moments.
    :ivar sets: the confidence sets over the transitions since then.
    """

    def __init__(self, radius: float, delta: float) -> None:
        self._radius = radius
        self._delta = delta
        self.begun = 0
        self.start_again()

    def start_again(self) -> None:
        """Forget all, as it may be older than a change."""
        self.begun += 1
        self.sets = ConfidenceSets(self._delta / (self.begun * (self.begun + 1)))
        self._within: dict[int, None] = {}
        self._new: dict[int, None] = {}
        self._seen = self._due = 0

    def add_transition(self, state: int, action: int, next_state: int) -> None:
        """Record a transition."""
        self.sets.add(state, action, next_state)
        self._seen += 1

    def enter(self, targets: Iterable[int]) -> None:
        """Record states that were added."""
        self._new.update(dict.fromkeys(targets))
        self._due = 0

    def found(self, policies: Sequence[Policy]) -> list[int]:
        """
        Return the new states that are within the radius for sure, if a check is due.

        :param policies: one for each known state, home first.
        """
        if not self._new or self._seen < self._due:
            return []
        self._due = int(_GROWTH_TO_LOOK_AGAIN * self._seen) + 1
        self._within[policies[0].target] = None
        todo, before = self._concerned(policies), 0
        while before < len(self._within):
            before = len(self._within)
            kept = tuple(each.target for each in policies if each.target in self._within)
            self._within.update(dict.fromkeys(
                target for target, policy in todo.items()
                if target not in self._within and self._bounded(policy.on(kept), self._radius)))
        return [target for target in self._new if target in self._within]

    def take_turn(self) -> bool:
        """Take a turn if the open change has shown enough to check again; return whether."""
        due = self._seen >= self._due
        if due:
            self._due = int(_GROWTH_OF_A_CHANGE * self._seen) + 1
        return due

    def too_slow(self, policy: Policy, limit: float) -> tuple[bool, float]:
        """
        Return whether a policy takes more than ``limit`` for sure, and what seems likely.

        Of one that goes by the step nothing is sure, as its first row alone has a model.
        """
        model = PolicyModel(self.sets, policy, limit)
        likely = model.lower_bound(doubt=False)
        return (len(policy.actions) == 1 and likely > limit
                and model.lower_bound() > limit), likely

    def within(self, policy: Policy, limit: float) -> bool:
        """Return whether a policy that goes by the state takes at most ``limit`` for sure."""
        return len(policy.actions) == 1 and self._bounded(policy, limit)

    def _bounded(self, policy: Policy, limit: float) -> bool:
        return PolicyModel(self.sets, policy, limit).bound <= limit

    def _concerned(self, policies: Sequence[Policy]) -> dict[int, Policy]:
        """Return the policies for new states and all on the way there that are not within yet."""
        known = {policy.target: policy for policy in policies}
        home = policies[0].target
        found = {target: known[target] for target in self._new if target in known}
        todo = list(found)
        while todo:
            # The states that the policy has been seen to pass on its way from home.
            for state, _ in known[todo.pop()].may_play(home, self.sets.counts.next_states):
                if state in known and state not in found and state not in self._within:
                    found[state] = known[state]
                    todo.append(state)
        return found
