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

    The promise of a run: with probability ``1 - delta`` it finishes, every incrementally reachable
    state then has a policy, and each policy needs at most ``(1 + epsilon) L`` expected steps.
    MNM drives the run one step at a time: ``next_action()``, then ``observe(action, state)``. Just
    after its creation, and after ``interrupt()``, the robot may be anywhere: the next action of
    the run is RESET. An explorer calls ``observe`` in a thread, so that plans may take long there;
    ``next_action`` holds up the node.

    A base needs no more than these members. A base that can do more also inherits from the classes
    in ``capabilities``. A base that uses the declared successors, ``problem.support``, calls
    ``Support.refute`` with each transition outside of them (``Support.refuted_by``), and then
    learns from the transition.

    :ivar quantum: steps of one quantum outside policy evaluation, at least 1. A turn may begin
        with a RESET and end after one quantum. So a quantum has to be long enough for the way to
        each state; ``settings.steps_horizon`` is.
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
        Forget where the robot is, and count the attempt under way as broken off.

        Keep everything that was learnt. Do not leave out an attempt that was under way, because
        long attempts are broken off more often: count its worst end. If ``next_action`` was called
        since the last ``observe``, do the same for that step: the robot may have made it, and may
        be anywhere. Between two attempts, with no such step, nothing is broken off.
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
        :param policies: home first. The run may take their targets as known from the start,
            because the policies are monitored meanwhile. A base may ignore them.
        """
