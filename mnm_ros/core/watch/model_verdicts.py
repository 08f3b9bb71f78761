# SPDX-License-Identifier: Apache-2.0

"""What models say of the policies while a change is open, beside their attempts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mnm_ros.core.mnm.checking_phase import Round
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.watch.watch_parts import WatchParts


class ModelVerdicts:
    """
    Finds the policies that are too slow, or slower than another way.

    Two models are looked at: that of the run is as old as the run, and that of ``Reach`` as the
    change.

    :param round_: with the limit and the radius.
    :param parts: what is looked at.
    """

    def __init__(self, round_: Round, parts: WatchParts) -> None:
        self._round = round_
        self._reach = parts.reach
        self._relearning = parts.relearning
        self._rediscovery = parts.rediscovery

    @property
    def are_due(self) -> bool:
        """Whether enough was learnt to look again."""
        return self._round.log.open and self._reach.is_due

    def refuted(self, policies: Sequence[Policy]) -> list[Policy]:
        """Return the policies through changed pairs that are too slow for sure."""
        limit, refuted = self._round.problem.limit, []
        for policy in policies[1:]:
            too_slow, likely = self._reach.too_slow(policy, limit)
            self._relearning.likely[policy.target] = likely
            if policy.target in self._relearning.concerned and (
                    too_slow or self._rediscovery.base.lower_bound(policy) > limit):
                refuted.append(policy)
        return refuted

    def better(self, doubted: Collection[int], policies: Sequence[Policy],
               ) -> tuple[Policy, Policy] | None:
        """
        Return a policy that is doubted, and another one to its target that the run certifies.

        One state is looked at in a turn, of those that do not seem to be within the radius.
        """
        slow = [policy for policy in policies[1:] if policy.target in doubted
                and self._relearning.likely[policy.target] > self._round.problem.radius]
        if not slow or self._rediscovery.base.finished:
            return None
        old = slow[self._rediscovery.since % len(slow)]
        better = self._rediscovery.base.better(old)
        return None if better is None else (old, better)
