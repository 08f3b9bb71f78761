# SPDX-License-Identifier: Apache-2.0

"""The one interface between MNM and the algorithms that explore a CMP that does not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from mnm_ros.core.mnm.capabilities import Step
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.policy import Policy
import numpy as np


@dataclass(frozen=True)
class Recollection:
    """
    Transitions that were made before an exploration began.

    :ivar home: where RESET has led.
    :ivar steps: in the order in which they were made, RESETs left out.
    """

    home: int
    steps: tuple[Step, ...]


class BaseAlgorithm(ABC):
    """
    One run of an autonomous-exploration algorithm in a stationary CMP.

    A base that concludes anything from ``problem.support`` refutes it by what it observes
    (``Support.refute``) before it learns from that; a run that is alone has nobody else to do so.

    Its promise: with probability ``1 - delta`` it finishes, every incrementally reachable
    state has a policy then, and each policy needs at most ``(1 + epsilon) L`` expected steps.
    It is driven one step at a time: ``next_action()``, then ``observe(action, state)``. Just after
    its creation and after ``interrupt()`` the robot may be anywhere: its next action is RESET.

    This is all that a base needs. A base that can do more inherits from the classes in
    ``capabilities``, too.

    :ivar quantum: steps of one quantum outside policy evaluation, at least 1. Each turn begins
        with a RESET and may end after one quantum, so that a base with a shorter quantum than its
        ways would never get to their ends; ``settings.steps_horizon`` suffices.
    """

    quantum: int

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether the output is final; there is no next action then."""

    @property
    @abstractmethod
    def evaluating(self) -> bool:
        """Whether a quantum is one episode of policy evaluation now."""

    @abstractmethod
    def step_bound(self, known: int) -> int:
        """Return the steps a whole run stays below with high probability, ``known`` = ``|K|``."""

    @abstractmethod
    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""

    @abstractmethod
    def observe(self, action: int, state: int) -> None:
        """Learn that ``action``, which was the ``next_action``, ended in ``state``."""

    @abstractmethod
    def interrupt(self) -> None:
        """
        Forget where the robot is, and take what was under way as broken off.

        What was learnt stays. An attempt that was under way must be counted with care, not left
        out: what takes long is broken off more often. If ``next_action`` was asked since the
        last ``observe``, the same holds for that step, as it may have been made, and led
        anywhere. Nothing is broken off between two attempts while no step is open.
        """

    @property
    @abstractmethod
    def policies(self) -> tuple[Policy, ...]:
        """
        Return the output so far, one policy per known state, home first.

        Each has the horizon ``settings.steps_horizon``. Published over more states, with a RESET
        in each of these, they are within the limit, too.
        """


class BaseFactory(Protocol):
    """Makes runs of a base algorithm."""

    def __call__(self, settings: Settings, home: int, rng: np.random.Generator,
                 policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
        """
        Return a fresh run.

        :param settings: with the problem of this run, its delta included.
        :param home: the state after a RESET.
        :param rng: makes all random choices of the run.
        :param policies: home first; the run may take their targets as known from the start, as
            the policies are monitored meanwhile. A base that cannot starts without.
        """
