# SPDX-License-Identifier: Apache-2.0

"""Why a goal was refused, has ended before it was reached, or is lost."""

from __future__ import annotations

from mnm_ros.core.progress.said.value import Nested, Said


class NoPolicyYet(Said):
    """No policy for the goal was heard, before the first hypothesis: one may come any time."""


class NoPoliciesHeard(NoPolicyYet):
    """The same, and nothing was heard of an explorer at all."""


class NoPolicy(Said):
    """The hypothesis has no policy for the goal."""


class RobotRests(Said):
    """The explorer lets the robot rest, and why."""

    said: Nested


class NoNavigator(Said):
    """There is no navigator, as a client of one says."""


class NavigatorSilent(Said):
    """The navigator has not answered for long."""


class GoalForgotten(Said):
    """The navigator does not know a goal any more that it has accepted."""


class NoNames(Said):
    """No robot side has published the names of states, of which the goal is one."""


class LittleTrust(Said):
    """The policy for the goal has less trust than is ``wanted``, and why, in words."""

    trust: str
    wanted: str
    why: str


class RobotStopped(Said):
    """The service ``stop`` keeps the robot at rest, until somebody frees it."""


class PlaysForbidden(Said):
    """The policy for the goal plays an action that is never to be commanded in the state."""

    state: int
    action: int


class PlaysClosed(Said):
    """The policy for the goal plays an action in a state where it is a closed way."""

    state: int
    action: int


class NextGoalCame(Said):
    """Another goal has come, to ``target``."""

    target: int


class ClientCancelled(Said):
    """The client that has sent the goal has cancelled it."""


class CancelledEarly(Said):
    """The request to cancel the goal has come, and the goal itself has not."""


class CancelCalled(Said):
    """The service ``cancel`` was called."""


class ExplorerCommands(Said):
    """An explorer has come, and commands the robot from now on."""


class ExplorerInactive(Said):
    """The explorer, which commands the robot, is not active."""


class ExplorerEnding(Said):
    """The explorer, which commands the robot, is ending."""


class ExplorerGone(Said):
    """The explorer, which had the goal, is not there any more."""


class GoalNotBegun(Said):
    """The explorer has not begun the goal within ``seconds``."""

    seconds: float


class NothingSaidOfGoal(Said):
    """The explorer has said nothing of the goal for ``seconds``."""

    seconds: float


class TooManyGoals(Said):
    """More than ``each`` goals a second have come; another one may come after ``wait`` seconds."""

    each: float
    wait: float


class OtherCommander(Said):
    """The robot side takes commands of another node alone."""

    node: str


class NavigatorGone(Said):
    """The navigator, which had sent the goal to the explorer, does not ask for it any more."""


class NavigatorCancelled(Said):
    """The navigator, which had sent the goal to the explorer, has cancelled it."""


class PolicyNotHeard(Said):
    """The policy for the goal was not heard within ``seconds``."""

    seconds: float
