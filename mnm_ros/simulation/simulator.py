# SPDX-License-Identifier: Apache-2.0

"""Play a scenario step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from mnm_ros.core.model.counts import Pair
from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.scenario import Scenario
import numpy as np

_Prepared = tuple[tuple[int, ...], tuple[float, ...], dict[int, int]]
"""Of a (state, action): the next states, their cumulative probabilities and their counts."""


class Simulator:
    """
    A scenario in motion; it begins in the start state, in the first setting.

    :param seed: not negative; the same seed and actions give the same states.
    :ivar state: where the robot is. Assign to it to move the robot without a step.
    :ivar steps: the steps so far, over all settings.
    :ivar setting: the index of the setting in force.
    :ivar counts: per (state, action), RESET included, how often each next state followed.
    :ivar changes: per change the steps before it and the index of the new setting.
    """

    def __init__(self, scenario: Scenario, seed: int = 0) -> None:
        self.scenario = scenario
        self.state = scenario.start
        self.steps = 0
        self.setting = 0
        self.counts: dict[Pair, dict[int, int]] = {}
        self.changes: list[tuple[int, int]] = []
        self._draws = _uniform(np.random.default_rng(seed))
        self._prepared: dict[Pair, _Prepared] = {}
        self._until = scenario.settings[0].until

    @property
    def cmp(self) -> Cmp:
        """Return the CMP of the setting in force."""
        return self.scenario.settings[self.setting].cmp

    def step(self, action: int) -> int:
        """Play ``action`` and return the next state; ValueError if there is no such action."""
        states, bounds, tally = (self._prepared.get((self.state, action))
                                 or self._prepare(self.state, action))
        state = states[bisect_right(bounds, next(self._draws))] if bounds else states[0]
        tally[state] = tally.get(state, 0) + 1
        self.state = state
        self.steps += 1
        if self.steps == self._until:
            self.change()
        return state

    def change(self) -> bool:
        """
        Go to the next setting, after the last to the first; False if there is only one.

        The robot stays where it is. If the new setting's ``until`` has passed already, the
        setting stays in force until the next call.
        """
        settings = self.scenario.settings
        if len(settings) == 1:
            return False
        self.setting = (self.setting + 1) % len(settings)
        self.changes.append((self.steps, self.setting))
        self._until = settings[self.setting].until
        self._prepared.clear()
        return True

    def _prepare(self, state: int, action: int) -> _Prepared:
        outcomes = self.cmp.transitions(state, action)
        states = tuple(after for after, _ in outcomes)
        # Without the last bound, a rounded sum below 1 cannot lead past the last state.
        bounds = tuple(accumulate(probability for _, probability in outcomes))[:-1]
        tally = self.counts.setdefault((state, action), {})
        prepared = self._prepared[state, action] = states, bounds, tally
        return prepared


def _uniform(generator: np.random.Generator) -> Iterator[float]:
    while True:
        yield from generator.random(4096).tolist()
