# SPDX-License-Identifier: Apache-2.0

"""Why the exploration does not go on, and why a policy is trusted, or not."""

from __future__ import annotations

from mnm_ros.core.progress.said.value import Nested, Reason, Said


class Because(Said):
    """The exploration does not go on; ``what`` it does meanwhile, and why."""

    what: str
    said: Nested


class Idle(Said):
    """The exploration does not go on, for no reason that is worth a word; see ``Because``."""

    what: str


class ExploreCalled(Said):
    """The service ``explore`` was called to pause. ``PausedBy`` says by whom, once it is known."""


class ExploreCalledBefore(Said):
    """The exploration has been paused since before the node was started again."""


class PausedBy(Said):
    """Somebody has the exploration paused: a page, a command, or another node."""

    by: str


class PausedToGoHomeBy(PausedBy):
    """The same, so that the robot goes home."""


class BatteryLow(Said):
    """The battery is below ``low`` percent; the robot rests until it has ``until``."""

    percent: int
    low: float
    until: float


class BatteryCharging(BatteryLow):
    """The battery was below ``low`` percent, and has not reached ``until`` yet."""


class OutsideHours(Said):
    """It is not the time of day to explore in; that begins at ``until``."""

    between: str
    until: str


class OutsideHoursToo(OutsideHours):
    """The same, beside what is wrong with the battery."""

    said: Nested


class WorkComesFirst(Said):
    """The robot rests for goals, until there was none for ``after`` seconds."""

    after: float


class MaxSteps(Said):
    """The steps that are allowed have been made."""

    steps: int


class MaxDuration(Said):
    """The time that is allowed is over."""


class TooManyStates(Said):
    """More states were met than ``most``, which is allowed."""

    count: int
    most: int


class LoadedFromDisk(Said):
    """Somebody has loaded what was on the disk."""


class NodeDeactivated(Said):
    """The node of the explorer was deactivated."""


class HomeFailed(Said):
    """The service ``return_home`` has failed; ``why`` in the words of the robot side."""

    times: int
    why: str


class HomeMissed(Said):
    """RESET led to a state, several times in a row, and not home, which is ``target``."""

    state: int
    target: int
    times: int


class LastHomeMissed(Said):
    """The last RESET led to a state, and not home, which is ``target``."""

    state: int
    target: int


class GoalUnderWay(Said):
    """The robot is on the way to a goal."""

    target: int


class StaysAtGoal(Said):
    """The robot stays at a goal for some seconds."""

    target: int
    seconds: float


def is_for_goal(reason: Reason) -> bool:
    """Return whether a goal has the robot, in a pause that ends by itself."""
    return isinstance(reason, Because) and isinstance(reason.said, (GoalUnderWay, StaysAtGoal))


class NotProvenSince(Said):
    """A change was noticed, and the policy was not proven since."""


class KeptSince(Said):
    """The policy was proven before a change, and nothing of its actions speaks against it."""


class Hinted(Said):
    """A hint concerns the policy, see ``HintRaised``."""

    state: int
    action: int
    failures: int


class CertifiedBefore(Said):
    """The policy was certified, and what was seen since speaks against it."""


class OfReset(Said):
    """RESET leads there."""


class CertifiedSoFar(Said):
    """The policy is certified while the first hypothesis is built."""


class BestSoFar(Said):
    """No policy is better as estimated from the counts."""


class AsDeclared(Said):
    """The policy rests on what is declared."""


class OfHypothesis(Said):
    """The policy is of the hypothesis of a round."""

    round: int    # noqa: A003


class OfHypothesisNearlyBest(OfHypothesis):
    """The same, and it is proven to be nearly the best."""

    within: float
