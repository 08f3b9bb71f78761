"""Plays a scenario step by step, with a random generator of its own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.scenario import Scenario

_Cell = tuple[tuple[int, ...], tuple[float, ...], dict[int, int]]


class Simulator:
    """A scenario in motion; it begins in the start state, in the first setting.

    seed: not negative; the same seed and actions give the same states.

    state: where the robot is. Assign to it to move the robot without a step.
    steps: taken so far, over all settings.
    setting: index of the setting in force.
    counts: per (state, action), RESET included, how often each next state came, over all
        settings.
    changes: per change the steps taken before it and the index of the new setting.
    """

    def __init__(self, scenario: Scenario, seed: int = 0) -> None:
        self.scenario = scenario
        self.state = scenario.start
        self.steps = 0
        self.setting = 0
        self.counts: dict[tuple[int, int], dict[int, int]] = {}
        self.changes: list[tuple[int, int]] = []
        self._draws = _uniform(np.random.default_rng(seed))
        self._cells: dict[tuple[int, int], _Cell] = {}
        self._until = scenario.settings[0].until

    @property
    def cmp(self) -> Cmp:
        """The CMP of the setting in force."""
        return self.scenario.settings[self.setting].cmp

    def step(self, action: int) -> int:
        """Play ``action`` and return the state it led to; ValueError if there is none such."""
        cell = self._cells.get((self.state, action))
        if cell is None:
            cell = self._prepare(self.state, action)
        states, bounds, tally = cell
        state = states[bisect_right(bounds, next(self._draws))] if bounds else states[0]
        tally[state] = tally.get(state, 0) + 1
        self.state = state
        self.steps += 1
        if self.steps == self._until:
            self.change()
        return state

    def change(self) -> bool:
        """Go to the next setting, from the last to the first; False if there is only one.

        The robot stays where it is. An ``until`` that has passed by then has no effect: that
        setting stays until the next call.
        """
        settings = self.scenario.settings
        if len(settings) == 1:
            return False
        self.setting = (self.setting + 1) % len(settings)
        self.changes.append((self.steps, self.setting))
        self._until = settings[self.setting].until
        self._cells.clear()
        return True

    def _prepare(self, state: int, action: int) -> _Cell:
        outcomes = self.cmp.transitions(state, action)
        states = tuple(after for after, _ in outcomes)
        # Without the last bound, rounding in the sum cannot lead past the last state.
        bounds = tuple(accumulate(probability for _, probability in outcomes))[:-1]
        cell = states, bounds, self.counts.setdefault((state, action), {})
        self._cells[state, action] = cell
        return cell


def _uniform(generator: np.random.Generator) -> Iterator[float]:
    while True:
        yield from generator.random(4096).tolist()
