# SPDX-License-Identifier: Apache-2.0

"""How many steps a rediscovery may take before it is cut off."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

_MARGIN = 4
"""A rediscovery may take so many times the steps that led to the hypothesis."""


class StepLimit:
    """
    ``W_r``, and how often it was exceeded.

    Each run cut off doubles it, so that a run that is merely slow ends; each one that would have
    stayed below half of it takes a doubling back.

    :param delta: the probability with which a round is ever refuted without a change, if a
        rediscovery takes more than ``W_r`` with at most this probability.
    :param steps_taken: until the hypothesis was found.
    :param given: replaces ``W_r`` if positive.
    :param state: from ``to_state``, to go on from there.
    :ivar steps: ``W_r``.
    :ivar cut_offs: rediscoveries that took more; in_a_row: the last of them without one that
        ended.
    """

    def __init__(self, delta: float, steps_taken: int, given: int,
                 state: Mapping[str, int] | None = None) -> None:
        self._delta = delta
        self._least = _MARGIN * steps_taken
        self._given = given
        self._doublings = state['doublings'] if state else 0
        self.steps = given
        self.cut_offs = state['cut_offs'] if state else 0
        self.in_a_row = state['in_a_row'] if state else 0

    def to_state(self) -> dict[str, Any]:
        """Return all but ``steps`` as plain data."""
        return {'doublings': self._doublings, 'cut_offs': self.cut_offs,
                'in_a_row': self.in_a_row}

    def set(self, bound: int) -> None:    # noqa: A003
        """Set ``W_r`` by the bound of the base."""
        self.steps = self._given or max(bound, self._least) * 2 ** self._doublings

    def finished(self, steps: int) -> None:
        """Take note of a rediscovery that has ended after ``steps``."""
        self.in_a_row = 0
        if 2 * steps <= self.steps:
            self._doublings = max(0, self._doublings - 1)

    def cut_off(self, number: int) -> bool:
        """
        Take note that rediscovery ``number`` was cut off; return whether the round is refuted.

        It is after ``k`` in a row, the least number with ``d^k <= d / (j (j + 1))``, where ``d``
        is the delta and ``j`` the number of the rediscovery.
        """
        self.cut_offs += 1
        self.in_a_row += 1
        self._doublings += 1
        more = math.ceil(math.log(number * (number + 1)) / -math.log(self._delta))
        return self.in_a_row > more
