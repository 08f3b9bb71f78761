# SPDX-License-Identifier: Apache-2.0

"""The memory of certificates that failed; it spares time, and nothing depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnm_ros.core.model.counts import Counts, Pair
from mnm_ros.core.model.policy import Policy

_GROWTH_TO_TRY_AGAIN = 1.05    # of the visits of its pairs, until a failure is checked again


@dataclass(frozen=True)
class _Failure:
    """
    The situation in which a certificate failed.

    :ivar moves: action by known state.
    :ivar pairs: those on which it depends.
    :ivar visits: of these, then.
    """

    moves: Sequence[int]
    pairs: Sequence[Pair]
    visits: int


class FailedCertificates:
    """
    The memory of certificates that failed, to spare time; heuristic.

    :param counts: of the run.
    :ivar by_target: the failures; without it, the next certificate is tried at once.
    """

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self.by_target: dict[int, _Failure] = {}

    def note(self, policy: Policy, pairs: Sequence[Pair]) -> None:
        """Remember a failure."""
        self.by_target[policy.target] = _Failure(
            policy.actions[0], pairs, self._visits(pairs))

    def moves(self, target: int) -> Sequence[int] | None:
        """Return the actions of the policy that failed."""
        found = self.by_target.get(target)
        return None if found is None else found.moves

    def due(self, target: int, known: int) -> bool:
        """Return whether something has been learnt that may help, with so many known states."""
        found = self.by_target.get(target)
        return found is None or len(found.moves) != known or self._has_grown(found)

    def same(self, policy: Policy, pairs: Sequence[Pair]) -> bool:
        """
        Return whether a policy would fail as before: it comes to the same, of which little is new.

        :param policy: perhaps over more states than before.
        """
        found = self.by_target.get(policy.target)
        if found is None or set(found.pairs) != set(pairs) or self._has_grown(found):
            return False
        self.by_target[policy.target] = replace(found, moves=policy.actions[0])
        return True

    def _has_grown(self, found: _Failure) -> bool:
        return self._visits(found.pairs) >= _GROWTH_TO_TRY_AGAIN * found.visits

    def _visits(self, pairs: Sequence[Pair]) -> int:
        return sum(self._counts.visits(*pair) for pair in pairs)
