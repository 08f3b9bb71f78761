# SPDX-License-Identifier: Apache-2.0

"""All that an exploration has observed, and what of it still holds since changes were noticed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnm_ros.core.model.counts import Counts, Pair
from mnm_ros.core.model.problem import RESET


class Observed:
    """
    The transitions of an exploration, RESET included.

    Nothing is forgotten, as it may be wanted for a record. What was counted before a change was
    noticed is left out of what is drawn and told; a restart from a checkpoint takes it back in.

    :param state: from ``to_state`` of ``counts``.
    :ivar met: all states.
    """

    def __init__(self, state: Any = ()) -> None:
        self.counts = Counts.from_state(state)
        self.met = self.counts.met
        self._outdated: dict[Pair, dict[int, int]] = {}

    def add(self, before: int | None, action: int, state: int) -> None:
        """Take note of a step; nobody may know where it began."""
        if before is not None:
            self.counts.add(before, action, state)
            self.met.add(before)
        self.met.add(state)

    def outdate(self, state: int | None, action: int | None) -> None:
        """Leave out what was counted so far for a pair; None stands for any but RESET."""
        for pair, nexts in self.counts.as_dict().items():
            if pair[1] != RESET and state in (None, pair[0]) and action in (None, pair[1]):
                self._outdated[pair] = nexts

    def following(self, state: int, action: int) -> Mapping[int, int]:
        """Return how often each next state has followed a pair, as far as that still holds."""
        nexts = self.counts.next_states(state, action)
        old = self._outdated.get((state, action))
        if not old:
            return nexts
        return {after: count - old.get(after, 0) for after, count in nexts.items()
                if count > old.get(after, 0)}

    def rows(self) -> Iterator[Sequence[int]]:
        """Yield state, action, next state and how often, as far as that still holds."""
        for (state, action), nexts in sorted(self.counts.as_dict().items()):
            old = self._outdated.get((state, action), {})
            for after, count in sorted(nexts.items()):
                if count > old.get(after, 0):
                    yield state, action, after, count - old.get(after, 0)
