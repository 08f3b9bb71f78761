"""The way to a known state by its published policy, driven one step at a time. No ROS."""

from __future__ import annotations

from mnm_ros.core.episode import Attempts
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET

_UNDER_WAY, _OVER = 'navigating', 'done'


class Navigation:
    """Attempts to reach the target of ``policy`` until one succeeds, or until it is ended.

    It begins with a RESET: the robot may be anywhere. An attempt that leaves the known states or
    has not arrived after the horizon is followed by a RESET and the next one.

    home: the state that RESET leads to.

    steps: taken since the robot was at home first, RESETs included. This is what
        ``expected_steps`` is the expectation of, and what ``(1 + epsilon) * radius`` limits.
    misses_in_a_row: how often RESET has ended elsewhere since it last led home.
    result: what came of it, beginning with ``reached``, ``cancelled`` or ``failed``; '' as long
        as it is under way.
    """

    def __init__(self, policy: Policy, home: int) -> None:
        self.home = home
        self.steps = 0
        self.misses_in_a_row = 0
        self.result = ''
        self.last_state: int | None = None
        self._target = policy.target
        self._attempts = Attempts(home, policy, ends_outside=True)
        self._begun = False

    @property
    def phase(self) -> str:
        """Whether it is over, in the words of the phases of an exploration."""
        return _OVER if self.result else _UNDER_WAY

    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""
        if self.last_state is None:
            return RESET
        return self._attempts.action(self.last_state)

    def observe(self, state: int) -> None:
        """Take note of the state that the last ``next_action`` led to."""
        missed = self.next_action() == RESET and state != self.home
        self.steps += self._begun
        self.last_state = state
        if state == self._target:
            self._end(f'reached {state} in {self.steps} steps')
        elif missed:
            self.misses_in_a_row += 1
            self._attempts.interrupt()
        else:
            self.misses_in_a_row = 0
            self._attempts.observe(state)
            self._begun = self._begun or state == self.home

    def relocate(self, state: int) -> None:
        """The robot was moved to ``state``: the next attempt begins, with a RESET."""
        self.lose_place()
        self.last_state = state

    def lose_place(self) -> None:
        """The robot may be anywhere: the next attempt begins, with a RESET."""
        self.last_state = None
        self._attempts.interrupt()

    def pause(self, reason: str) -> None:
        """End it between two steps; there is no going on."""
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

    def resume(self) -> None:
        """It has not begun yet: nothing to do."""

    def recover(self) -> None:
        """What is over stays over."""

    def robot_answers(self) -> None:
        """That is what was expected."""

    def _end(self, result: str) -> None:
        self.result = self.result or result
