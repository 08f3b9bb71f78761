# SPDX-License-Identifier: Apache-2.0

"""
Home from where an attempt has ended: by RESET, or on foot where that takes fewer seconds.

An attempt begins at home, however the robot has come there: what follows depends on the state
alone, and when one begins on the past. A step on the way is an execution of a pair, which counts
as any other, while a RESET teaches nothing.
"""

from __future__ import annotations

import math

from mnm_ros.core.disco.sample import Sampling
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.step_times import StepCosts

_PATIENCE = 1.5    # times the steps of the way, and as many steps beside, until it is abandoned
_BESIDE = 2


class Homeward:
    """
    Chooses the way home. Where no times are known, it is always RESET.

    :param sampling: knows ways.
    :param costs: of steps.
    """

    def __init__(self, sampling: Sampling, costs: StepCosts) -> None:
        self._sampling = sampling
        self._costs = costs
        self._left: int | None = None    # steps, until it is abandoned; None before it begins

    def begin(self) -> None:
        """Record that what follows may be a way home."""
        self._left = None

    def action(self, here: int) -> int:
        """Return the next action on the way home from here."""
        if not self._costs or self._left == 0:
            return RESET
        action, cost, steps = self._sampling.way_home(here)
        if cost >= self._costs.of(here, RESET):
            self._left = 0
            return RESET
        self._left = (math.floor(_PATIENCE * steps) + _BESIDE if self._left is None
                      else self._left) - 1
        return action
