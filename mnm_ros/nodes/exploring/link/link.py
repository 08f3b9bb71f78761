# SPDX-License-Identifier: Apache-2.0

"""
What the explorer asks of the way to its robots: one that it commands or advises, or a fleet.

A ``Link`` has the topics of the robots; what makes their steps has the methods of ``Steps``. For
one robot these are ``RobotLink`` and ``Loop``, for a fleet ``FleetLink`` and ``FleetLoop``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.task.step_task import RunState
from mnm_ros.nodes.common.describing import RobotProfile
from mnm_ros.protocol.loop import StepLimits


@dataclass(frozen=True)
class RobotReport:
    """
    How a robot of a fleet is.

    :ivar status: a sentence for people.
    :ivar steps: that it has made since the node began.
    :ivar place: where it is; None if nobody knows.
    :ivar timeouts: how often something had to be sent to it again.
    :ivar misses: how often its RESET has missed home.
    :ivar unanswered: s, as of ``Link.unanswered``.
    """

    name: str
    state: RunState
    status: str
    steps: int
    place: int | None
    timeouts: int
    misses: int
    unanswered: float


class Steps(Protocol):
    """What makes the steps of an exploration; each method is that of ``Loop``, for all robots."""

    aside: Callable[[Callable[[], object], Callable[[float], None]], None]
    obstacle: Callable[[], str]

    @property
    def running(self) -> bool: ...

    @property
    def over(self) -> bool: ...

    @property
    def timeouts(self) -> int: ...

    def drive(self, exploration: Exploration, /) -> None: ...

    def resume(self, now: float) -> None: ...

    def pause(self, reason: str) -> None: ...

    def pause_after_step(self, reason: str) -> None: ...

    def fail(self, reason: str, now: float, recoverable: bool = True) -> None: ...

    def recover(self, now: float) -> None: ...


class Link(ABC):
    """
    The topics of the robots.

    :ivar loop: makes the steps.
    :ivar profile: what the robot sides have said they are.
    :ivar apart: whether a plan of the exploration does not hold the robots up.
    """

    loop: Steps
    profile: RobotProfile
    apart = False

    @property
    def standing_by(self) -> bool:
        """Whether the robots are left to other explorers."""
        return False

    @property
    def steady(self) -> bool:
        """Whether no robot is waited for, so that a tick every ``STEADY_TICK`` s will do."""
        return False

    @property
    def robots(self) -> Sequence[RobotReport]:
        """Return how each robot of a fleet is; empty for a robot without a name."""
        return ()

    @property
    def faults(self) -> str:
        """Which robots of a fleet are in fault, and why, or nothing."""
        return ''

    @abstractmethod
    def tick(self, limits: StepLimits, now: float) -> None:
        """Look who is there, and watch the times; to be called every ``TICK`` seconds."""

    def tick_while_busy(self, limits: StepLimits, now: float) -> None:
        """Do what can be done while a plan is made: nothing if the loop may not be touched."""

    @abstractmethod
    def missing(self, now: float) -> str:
        """Return what is needed and nobody offers, or nothing; also while that is looked for."""

    def unanswered(self, now: float) -> float:
        """Return for how many s an answer has been owed, if it usually takes half of it."""
        return 0.0

    def counts(self, exploration: Exploration) -> Mapping[Pair, Mapping[int, int]]:
        """Return all transitions that were made, for a record."""
        return exploration.counts

    def announce(self) -> None:
        """Tell other explorers that this one is there; to be called once a second."""

    def stop(self, reason: str, at_once: bool = False) -> None:
        """Pause robots that would go on while a plan is made."""

    def leave(self, how: str, limit: float) -> bool:
        """
        Leave robots that are being driven; return whether that is over.

        :param how: as the parameter ``on_shutdown`` has it.
        :param limit: s, that a way home may take.
        """
        return True

    @abstractmethod
    def destroy(self) -> None:
        """Remove the topics and services."""
