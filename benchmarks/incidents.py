# SPDX-License-Identifier: Apache-2.0

"""
What may happen to a robot beside its steps: it is moved, or answers are lost.

The promise is about the CMP without any of this, whatever decides when it happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.simulator import Simulator
import numpy as np


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
