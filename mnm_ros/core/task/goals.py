# SPDX-License-Identifier: Apache-2.0

"""What the navigator says about a goal: which one it is, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class GoalStatus(Enum):
    """
    How far a goal is.

    A sentence about a goal that is over begins with the value of its status.
    """

    WAITING = 'waiting'        # until exploration has paused and the goal before it is over
    UNDER_WAY = 'under_way'
    REACHED = 'reached'
    REFUSED = 'refused'        # nothing was moved for it
    CANCELLED = 'cancelled'
    FAILED = 'failed'
    LOST = 'lost'              # said by a client alone: the navigator does not answer any more

    @property
    def over(self) -> bool:
        """Whether the goal has ended."""
        return self not in (GoalStatus.WAITING, GoalStatus.UNDER_WAY)


@dataclass(frozen=True)
class GoalReport:
    """
    A goal and how far it is.

    :ivar id: tells it from all other goals.
    :ivar target: the state to go to; None if that was never heard.
    :ivar status: how far it is.
    :ivar text: the same as a sentence for people.
    :ivar steps: taken since the robot was first at home, RESETs included.
    :ivar attempts: begun so far.
    :ivar expected_steps_left: the mean, over earlier ways that have arrived, of the steps that
        were still to come; None without such a way, and when the goal is over.
    :ivar accepted: when the navigator has heard of it, in ns by the clock of the navigator.
    :ivar ended: when it was over; None before that.
    """

    id: int    # noqa: A003
    target: int | None
    status: GoalStatus
    text: str
    steps: int = 0
    attempts: int = 0
    expected_steps_left: float | None = None
    accepted: int = 0
    ended: int | None = None

    def over(self, result: str, ended: int) -> GoalReport:
        """Return the report of its end; ``result`` begins with the status."""
        return replace(self, status=GoalStatus(result.split()[0].rstrip(':')), text=result,
                       expected_steps_left=None, ended=ended)
