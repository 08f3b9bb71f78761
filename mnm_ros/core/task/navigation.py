# SPDX-License-Identifier: Apache-2.0

"""The way to a known state by its published policy, and what is said about it as a goal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from mnm_ros.core.model.episode import Attempts
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.task.step_task import Homing, RunState, StepTask

_MOST_REMEMBERED = 20    # ways, about as many as a mean is taken of


class StepsToGo:
    """
    How many steps ways to the target of a policy still took, from each place on them.

    The places are the known states on an attempt, and None where RESET is next. Only ways that
    have arrived are taken into account, and the last ones most.

    :param policy: by which all these ways were made.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._means: dict[int | None, tuple[int, float]] = {}    # ways, and their mean

    def expected(self, place: int | None) -> float | None:
        """Return the mean; None if no way that has arrived came through the place."""
        found = self._means.get(place)
        return found[1] if found else None

    def arrived(self, visits: dict[int | None, list[int]], steps: int) -> None:
        """
        Take note of a way.

        :param visits: for each place how often it was visited, and the sum of the steps so far.
        :param steps: of the whole way.
        """
        for place, (times, total) in visits.items():
            ways, mean = self._means.get(place, (0, 0.0))
            ways = min(ways + 1, _MOST_REMEMBERED)
            self._means[place] = ways, mean + (steps - total / times - mean) / ways


class Navigation(StepTask):
    """
    Attempts to reach the target of a policy until one succeeds, or until it is ended.

    It begins with a RESET, because the robot may be anywhere. An attempt that leaves the known
    states, or has not arrived after the horizon, is followed by a RESET and the next one.

    :param policy: how to reach the target.
    :param home: the state that RESET leads to.
    :param steps_to_go: of earlier ways by this policy; this way is added once it has arrived.
    :ivar steps: taken since the robot was first at home, RESETs included. Their expectation is
        the ``expected_steps`` of the policy, which ``(1 + epsilon) * radius`` limits.
    :ivar attempts: begun so far.
    :ivar result: what came of it, beginning with ``reached``, ``cancelled`` or ``failed``; ''
        as long as it is under way.
    """

    def __init__(self, policy: Policy, home: int, steps_to_go: StepsToGo | None = None) -> None:
        self.state = RunState.RUNNING
        self.steps = 0
        self.attempts = 0
        self.homing = Homing(home)
        self.last_state = None
        self.result = ''
        self._home = home
        self._target = policy.target
        self._steps_to_go = steps_to_go or StepsToGo(policy)
        self._attempts = Attempts(policy, ends_outside=True)
        self._visits: dict[int | None, list[int]] = {}    # as ``StepsToGo.arrived`` takes them

    @property
    def expected_steps_left(self) -> float | None:
        """Return the mean of what earlier ways by this policy took from here; None without any."""
        # What comes before the robot is first at home does not count as steps.
        return None if self.result else self._steps_to_go.expected(
            self._place if self.attempts else self._home)

    def next_action(self) -> int:
        if self.last_state is None:
            return RESET
        return self._attempts.action(self.last_state)

    def observe(self, action: int, state: int) -> None:
        self.steps += self.attempts > 0
        self.last_state = state
        if state == self._target:
            self._steps_to_go.arrived(self._visits, self.steps)
            self._end(f'reached {state} in {self.steps} steps')
        elif self.homing.missed(action, state):
            self._attempts.interrupt()
        else:
            self.attempts += not self._attempts.under_way
            self._attempts.observe(state)
        if self.attempts and not self.result:
            visits = self._visits.setdefault(self._place, [0, 0])
            visits[0] += 1
            visits[1] += self.steps

    def relocate(self, state: int) -> None:
        """Take note that the robot was moved to ``state``: the next attempt begins."""
        self.lose_place()
        self.last_state = state

    def lose_place(self) -> None:
        """Take note that the robot may be anywhere: the next attempt begins."""
        self.last_state = None
        self._attempts.interrupt()

    def pause(self, reason: str) -> None:
        """End it between two steps; it cannot be resumed."""
        self._end(f'cancelled {self._target}: {reason}')

    def robot_lost(self, reason: str) -> None:
        """End it because the robot does not answer."""
        self._end(f'failed {self._target}: {reason}')

    def fail(self, reason: str, recoverable: bool = True) -> None:
        """End it because of a fault."""
        self._end(f'failed {self._target}: {reason}')

    def finish(self, reason: str) -> None:
        """End it because of a limit."""
        self._end(f'failed {self._target}: {reason}')

    @property
    def _place(self) -> int | None:
        """Where the attempt under way has got to; None if RESET is next."""
        return self.last_state if self._attempts.under_way else None

    def _end(self, result: str) -> None:
        self.result = self.result or result
        self.state = RunState.DONE


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
    :ivar least_trust: that its policy needs; None for what the navigator asks for.
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
    least_trust: str | None = None

    def over(self, result: str, ended: int) -> GoalReport:
        """Return the report of its end; ``result`` begins with the status."""
        return replace(self, status=GoalStatus(result.split()[0].rstrip(':')), text=result,
                       expected_steps_left=None, ended=ended)
