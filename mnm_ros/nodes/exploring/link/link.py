# SPDX-License-Identifier: Apache-2.0

"""What the explorer asks of the way to its robots: a ``Link`` has their topics, and a ``Loop``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.progress.said import Reason
from mnm_ros.core.task.step_task import RunState
from mnm_ros.nodes.common.robot_profile import RobotProfile
from mnm_ros.protocol.loop import Loop, StepLimits

TICK = 0.05    # s, resolution of timeouts


class RobotReport(NamedTuple):
    """
    How a robot of a fleet is.

    :ivar status: a sentence for people.
    :ivar values: figures of it, as the diagnostics have them.
    :ivar for_goal: whether it has paused for a goal, whose own events say so.
    """

    name: str
    state: RunState
    status: str
    values: Mapping[str, object]
    for_goal: bool = False


class Link(ABC):
    """
    The topics of the robots.

    :ivar loop: makes the steps.
    :ivar profile: what the robot sides have said they are.
    :ivar apart: whether a plan of the exploration does not hold the robots up.
    :ivar after_state: called after each message of a robot side.
    :ivar after_description: called when a robot side has said what it is, before it is driven.
    :ivar reason_to_rest: returns why the robots are to rest by the time in s, or nothing.
    """

    loop: Loop
    profile: RobotProfile
    apart = False
    after_state: Callable[[], None] = staticmethod(lambda: None)
    after_description: Callable[[], None] = staticmethod(lambda: None)
    reason_to_rest: Callable[[float], Reason] = staticmethod(lambda now: '')

    @property
    def declaration(self) -> Declaration:
        """Return where actions may lead, as a robot side declares; empty if none does."""
        return self.profile.declaration

    @property
    def standing_by(self) -> bool:
        """Whether the robots are left to other explorers."""
        return False

    @property
    def last_command(self) -> int | None:
        """Return the last command, as ``WayAnswer`` has it; None for several robots."""
        return None

    def last_seen(self, robot: str = '') -> int | None:
        """Return the state in which the robot, or one of several, was seen last, if any."""
        return None

    @property
    def resting(self) -> Reason:
        """Why a robot without a name goes home to rest, or rests; else nothing."""
        return ''

    @property
    def rests(self) -> Mapping[str, Reason]:
        """Return the same by the name of each robot; '' is that of one without."""
        return {'': self.resting}

    def resets_by_service(self, robot: str = '') -> bool:
        """Whether RESET of the exploration has called ``return_home`` of a robot just now."""
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
        """Check which nodes are there, and watch the times; call it every ``TICK`` seconds."""

    def tick_while_busy(self, limits: StepLimits, now: float) -> None:
        """Do what can be done while a plan is made: nothing if the loop may not be touched."""

    @abstractmethod
    def missing(self, now: float) -> Reason:
        """Return what no node offers although it is needed, or nothing; also during the search."""

    def unanswered(self, now: float) -> float:
        """Return for how many s an answer has been owed, if it usually takes half of it."""
        return 0.0

    def counts(self, exploration: Exploration) -> Mapping[Pair, Mapping[int, int]]:
        """Return all transitions that were made, for a record."""
        return exploration.counts

    def announce(self) -> None:
        """Inform other explorers that this one is there; to be called once a second."""

    def stop(self, reason: Reason, at_once: bool = False) -> None:
        """Pause robots that would go on while a plan is made."""

    def serve_goals(self, wanted: bool) -> None:
        """Take goals of navigators for the robots that are commanded, or give them up."""

    def end_stays(self) -> None:
        """Let robots leave the goals that they have reached."""

    def look_at_declared(self, exploration: Exploration) -> None:
        """End goals that would go against what is declared by now."""

    def leave(self, how: str, limit: float) -> bool:
        """
        Leave robots that are being driven; return whether that is over.

        :param how: as the parameter ``on_shutdown`` has it.
        :param limit: s, that a way home may take.
        """
        return True

    def close(self) -> None:
        """Say how the robots are left, before the topics and services are removed."""
