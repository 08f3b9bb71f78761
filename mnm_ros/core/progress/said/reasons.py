# SPDX-License-Identifier: Apache-2.0

"""Why the exploration does not go on."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.core.progress.said.value import Nested, Said


@dataclass(frozen=True)
class Because(Said):
    """The exploration does not go on; ``what`` it does meanwhile, and why."""

    what: str
    said: Nested


@dataclass(frozen=True)
class Idle(Said):
    """The exploration does not go on, for no reason that is worth a word; see ``Because``."""

    what: str


@dataclass(frozen=True)
class ExploreCalled(Said):
    """The service ``explore`` was called to pause. ``PausedBy`` says by whom, once it is known."""


@dataclass(frozen=True)
class ExploreCalledBefore(Said):
    """The exploration has been paused since before the node was started again."""


@dataclass(frozen=True)
class PausedBy(Said):
    """Somebody has the exploration paused: a page, a command, or another node."""

    by: str


@dataclass(frozen=True)
class PausedToGoHomeBy(PausedBy):
    """The same, so that the robot goes home."""


@dataclass(frozen=True)
class BatteryLow(Said):
    """The battery is below ``low`` percent; the robot rests until it has ``until``."""

    percent: int
    low: float
    until: float


@dataclass(frozen=True)
class BatteryCharging(BatteryLow):
    """The battery was below ``low`` percent, and has not reached ``until`` yet."""


@dataclass(frozen=True)
class OutsideHours(Said):
    """It is not the time of day to explore in; that begins at ``until``."""

    between: str
    until: str


@dataclass(frozen=True)
class OutsideHoursToo(OutsideHours):
    """The same, beside what is wrong with the battery."""

    said: Nested


@dataclass(frozen=True)
class WorkComesFirst(Said):
    """The robot rests for goals, until there was none for ``after`` seconds."""

    after: float


@dataclass(frozen=True)
class MaxSteps(Said):
    """The steps that are allowed have been made."""

    steps: int


@dataclass(frozen=True)
class MaxDuration(Said):
    """The time that is allowed is over."""


@dataclass(frozen=True)
class TooManyStates(Said):
    """More states were met than ``most``, which is allowed."""

    count: int
    most: int


@dataclass(frozen=True)
class LoadedFromDisk(Said):
    """Somebody has loaded what was on the disk."""


@dataclass(frozen=True)
class NodeDeactivated(Said):
    """The node of the explorer was deactivated."""


@dataclass(frozen=True)
class HomeFailed(Said):
    """The service ``return_home`` has failed; ``why`` in the words of the robot side."""

    times: int
    why: str


@dataclass(frozen=True)
class HomeMissed(Said):
    """RESET led to a state, several times in a row, and not home, which is ``target``."""

    state: int
    target: int
    times: int


@dataclass(frozen=True)
class LastHomeMissed(Said):
    """The last RESET led to a state, and not home, which is ``target``."""

    state: int
    target: int


@dataclass(frozen=True)
class GoalUnderWay(Said):
    """The robot is on the way to a goal."""

    target: int


@dataclass(frozen=True)
class StaysAtGoal(Said):
    """The robot stays at a goal for some seconds."""

    target: int
    seconds: float


# Why a goal was refused, or is lost.

@dataclass(frozen=True)
class NoPolicyYet(Said):
    """No policy for the goal was heard, before the first hypothesis: one may come any time."""


@dataclass(frozen=True)
class NoPoliciesHeard(NoPolicyYet):
    """The same, and nothing was heard of an explorer at all."""


@dataclass(frozen=True)
class NoPolicy(Said):
    """The hypothesis has no policy for the goal."""


@dataclass(frozen=True)
class RobotRests(Said):
    """The explorer lets the robot rest, and why."""

    said: Nested


@dataclass(frozen=True)
class NoNavigator(Said):
    """There is no navigator, as a client of one says."""


@dataclass(frozen=True)
class NavigatorSilent(Said):
    """The navigator has not answered for long."""


@dataclass(frozen=True)
class GoalForgotten(Said):
    """The navigator does not know a goal any more that it has accepted."""


@dataclass(frozen=True)
class NoNames(Said):
    """No robot side has published the names of states, of which the goal is one."""
