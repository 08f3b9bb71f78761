# SPDX-License-Identifier: Apache-2.0

"""States that could not be certified, and when it is worth while to look at them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnm_ros.core.model.arrays import Indices
from mnm_ros.core.model.counts import Counts, Pair

_MORE = 1.05    # times the visits of its pairs


@dataclass(frozen=True)
class _Setback:
    """
    What a certificate failed with.

    :ivar known: number of known states.
    :ivar moves: action by known state.
    :ivar pairs: those on which it depends.
    :ivar visits: of these, then.
    """

    known: int
    moves: Indices
    pairs: Sequence[Pair]
    visits: int


class Setbacks:
    """
    What is remembered of certificates that failed, to spare time; heuristic.

    :param counts: of the run.
    """

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._of: dict[int, _Setback] = {}

    def note(self, target: int, known: int, moves: Indices, pairs: Sequence[Pair]) -> None:
        """Remember a failure."""
        self._of[target] = _Setback(known, moves, pairs, self._visits(pairs))

    def forget(self, target: int) -> None:
        """Forget what is remembered of a state."""
        self._of.pop(target, None)

    def clear(self) -> None:
        """Forget all."""
        self._of.clear()

    def moves(self, target: int) -> Indices | None:
        """Return the actions of the policy that failed."""
        found = self._of.get(target)
        return None if found is None else found.moves

    def due(self, target: int, known: int) -> bool:
        """Return whether something has been learnt that may help."""
        found = self._of.get(target)
        return (found is None or found.known != known
                or self._visits(found.pairs) >= _MORE * found.visits)

    def _visits(self, pairs: Sequence[Pair]) -> int:
        return sum(self._counts.visits(*pair) for pair in pairs)
