# SPDX-License-Identifier: Apache-2.0

"""
Play a scenario step by step; beside its steps, incidents may happen to a robot.

It is moved, or answers are lost. The promise is about the CMP without any of this, whatever
decides when it happens.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
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


class Learner(Protocol):
    """What plays: MNM, or a run of a base algorithm."""

    def next_action(self) -> int:
        """Return the action to play."""

    def observe(self, action: int, state: int) -> None:
        """Learn where it has led."""

    def interrupt(self) -> None:
        """Learn that the robot may be anywhere."""


@dataclass(frozen=True)
class Incidents:
    """
    How often what happens, after a step and with probabilities.

    :ivar moved: somebody puts the robot elsewhere.
    :ivar helped: a helper moves it, once it has not left its place for ``patience`` steps.
    :ivar lost: the answer to an action, no RESET, is lost; every other time it was not executed.
    :ivar lost_still: the same, only where the robot was to stay in its place.
    """

    moved: float = 0.0
    helped: float = 0.0
    patience: int = 3
    lost: float = 0.0
    lost_still: float = 0.0


class Player:
    """
    Plays a learner's actions in a simulator, with incidents.

    :param simulator: what moves the robot.
    :param incidents: how often what happens.
    :param seed: of when it happens.
    :ivar interruptions: so far.
    """

    def __init__(self, simulator: Simulator, incidents: Incidents, seed: int) -> None:
        self.interruptions = 0
        self._simulator = simulator
        self._incidents = incidents
        self._rng = np.random.default_rng(seed)
        self._places = [simulator.state]
        self._still = 0

    def step(self, learner: Learner) -> None:
        """Play one action."""
        simulator, incidents = self._simulator, self._incidents
        action, before = learner.next_action(), simulator.state
        state = simulator.step(action)
        still = state == before and action != RESET
        if action != RESET and self._happens(
                incidents.lost + incidents.lost_still * still):
            if self._rng.random() < 0.5:
                simulator.state = before
            self._interrupt(learner)
            return
        learner.observe(action, state)
        self._still = self._still + 1 if still else 0
        if self._happens(incidents.moved + incidents.helped * (
                self._still >= incidents.patience)):
            self._places.append(state)
            simulator.state = self._places[int(self._rng.integers(len(self._places)))]
            self._interrupt(learner)

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._rng.random() < chance

    def _interrupt(self, learner: Learner) -> None:
        self.interruptions += 1
        self._still = 0
        learner.interrupt()


INCIDENTS = {
    'interrupted_graph': Incidents(moved=0.02),
    'interrupted_tree': Incidents(moved=0.02),
    'helped_star': Incidents(helped=1.0),
    'helped_grid': Incidents(helped=0.2),
    'lost_graph': Incidents(lost=0.02),
    'lost_star': Incidents(lost_still=0.2),
}
"""Of the families in which something happens."""


def _uniform(generator: np.random.Generator) -> Iterator[float]:
    while True:
        yield from generator.random(4096).tolist()
