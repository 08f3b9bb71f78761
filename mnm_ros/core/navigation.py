"""The way to a known state by its published policy, driven one step at a time."""

from __future__ import annotations

from mnm_ros.core.episode import Attempts
from mnm_ros.core.homing import Homing
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET
from mnm_ros.core.step_task import RunState, StepTask


class Navigation(StepTask):
    """Attempts to reach the target of a policy until one succeeds, or until it is ended.

    It begins with a RESET, because the robot may be anywhere. An attempt that leaves the known
    states, or has not arrived after the horizon, is followed by a RESET and the next one.

    Args:
        policy: how to reach the target.
        home: the state that RESET leads to.

    Attributes:
        steps: taken since the robot was first at home, RESETs included. Their expectation is
            the ``expected_steps`` of the policy, which ``(1 + epsilon) * radius`` limits.
        result: what came of it, beginning with ``reached``, ``cancelled`` or ``failed``; ''
            as long as it is under way.
    """

    def __init__(self, policy: Policy, home: int) -> None:
        self.state = RunState.RUNNING
        self.steps = 0
        self.homing = Homing(home)
        self.last_state = None
        self.result = ''
        self._target = policy.target
        self._attempts = Attempts(policy, ends_outside=True)
        self._begun = False    # whether the robot has been at home

    def next_action(self) -> int:
        """Return the action to play; the same until ``observe`` is called."""
        if self.last_state is None:
            return RESET
        return self._attempts.action(self.last_state)

    def observe(self, action: int, state: int) -> None:
        """Take note of the state that the action has led to."""
        self.steps += self._begun
        self.last_state = state
        if state == self._target:
            self._end(f'reached {state} in {self.steps} steps')
        elif self.homing.missed(action, state):
            self._attempts.interrupt()
        else:
            self._attempts.observe(state)
            self._begun = True

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

    def _end(self, result: str) -> None:
        self.result = self.result or result
        self.state = RunState.DONE
