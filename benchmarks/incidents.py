# SPDX-License-Identifier: Apache-2.0

"""
What may happen to a robot beside its steps: it is moved, answers are lost, others work with it.

The promise is about the CMP without any of this, whatever decides when it happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import LookInput, Preference
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.model.counts import Counts, Pair
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
    :ivar worked: others work with the robot for some steps, which MNM learns from.
    """

    moved: float = 0.0
    helped: float = 0.0
    patience: int = 3
    lost: float = 0.0
    lost_still: float = 0.0
    worked: float = 0.0


class Worker:
    """
    Works with the robot as somebody would who hopes that all looks near: it goes where luck was.

    In each place it mostly plays what has led on most often so far, and it ends its work with a
    step that has led to where that pair rarely leads. Some of its steps are broken off, and told
    as that.
    """

    _LONGEST, _RARE, _BROKEN_OFF = 25, 0.3, 0.02

    def __init__(self, simulator: Simulator, rng: np.random.Generator) -> None:
        self._simulator = simulator
        self._rng = rng
        self._counts = Counts()

    def work(self, learner: Mnm | Exploration) -> None:
        """Work for some steps, to a place that is to be looked into first."""
        simulator, counts = self._simulator, self._counts
        if isinstance(learner, Mnm):
            learner.direct(Preference(simulator.state))
        else:
            learner.prefer(simulator.state)
        for _ in range(self._LONGEST):
            here, action = self._choose(simulator.state)
            after = simulator.step(action)
            if self._rng.random() < self._BROKEN_OFF:
                learner.observe_work(here, action, None)
                return
            learner.observe_work(here, action, after)
            made, before = counts.add(here, action, after)
            if after != here and made >= 3 and before < self._RARE * made:
                return

    def _choose(self, here: int) -> Pair:
        actions = self._simulator.cmp.actions
        if self._rng.random() < 0.2:
            return here, int(self._rng.integers(actions))
        return here, max(range(actions), key=lambda action: self._luck(here, action))

    def _luck(self, here: int, action: int) -> float:
        """Return the share of the executions that has led on, and more where there are few."""
        visits = self._counts.visits(here, action)
        stayed = self._counts.next_states(here, action).get(here, 0)
        return float(visits - stayed + 1) / (visits + 1)


class Player:
    """
    Plays a learner's actions in a simulator, with incidents.

    :param simulator: what moves the robot.
    :param incidents: how often what happens.
    :param seed: of when it happens.
    :param looks: steps after which the learner is told each time to look at what is closed.
    :ivar interruptions: so far.
    """

    def __init__(self, simulator: Simulator, incidents: Incidents, seed: int,
                 looks: int = 0) -> None:
        self.interruptions = self._steps = 0
        self._looks = looks
        self._simulator = simulator
        self._incidents = incidents
        self._rng = np.random.default_rng(seed)
        self._places = [simulator.state]
        self._still = 0
        self._worker = Worker(simulator, self._rng)

    def step(self, learner: Learner) -> None:
        """Play one action."""
        simulator, incidents = self._simulator, self._incidents
        if self._looks and self._steps % self._looks == 0:
            if isinstance(learner, Mnm):
                learner.direct(LookInput())
            elif isinstance(learner, Exploration):
                learner.look()
        self._steps += 1
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
        if self._happens(incidents.worked) and isinstance(learner, (Mnm, Exploration)):
            self._worker.work(learner)
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
    'worked_graph': Incidents(worked=0.03),
    'worked_star': Incidents(worked=0.03),
    'worked_places': Incidents(worked=0.1),
    'worked_changing': Incidents(worked=0.03),
}
"""Of the families in which something happens."""
