"""Sends the robot to known states by the policies that the explorer has published."""

from __future__ import annotations

from collections.abc import Callable
import math
import sys
import time

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger

from mnm_ros import wire
from mnm_ros.core.navigation import Navigation
from mnm_ros.nodes.common.exploration_pause import ExplorationPause
from mnm_ros.nodes.common.graph_watch import GraphWatch
from mnm_ros.nodes.common.home_service import HomeService
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.common.step_limits import step_limits
from mnm_ros.parameters import NAVIGATOR, Parameters
from mnm_ros.protocol.step_loop import StepLoop

_TICK = 0.02     # s, resolution of timeouts
_LEAVE = 1.5     # s, that the answer under way is waited for before the node ends


class Navigator(Node):
    """Goes to one known state at a time, while exploration is paused.

    Raises:
        ParameterError: if a parameter given at start is not allowed.
    """

    def __init__(self) -> None:
        super().__init__('navigator')
        self._given = Parameters(self, NAVIGATOR)
        self._policies: wire.PolicySet | None = None
        self._known: tuple[int, ...] | None = None
        self._goal: int | None = None
        self._next: int | None = None
        self._deadline = math.inf    # for the pause
        self._navigation: Navigation | None = None    # once exploration is paused
        self._loop: StepLoop | None = None    # from the first goal on
        self._leave_by: float | None = None
        self._results = self.create_publisher(String, 'goal_result', wire.LATCHED)
        self._actions = self.create_publisher(Int64MultiArray, 'action', wire.STEP)
        self._states = self.create_subscription(
            Int64MultiArray, 'state', self._on_state, wire.STEP)
        self._home = (HomeService(self, self._on_home)
                      if self._given['reset_mode'] == 'service' else None)
        self._pause = ExplorationPause(self)
        self.create_subscription(
            Int64MultiArray, 'known_states', self._on_known, wire.LATCHED)
        self.create_subscription(
            Int64MultiArray, 'policies', self._on_policies, wire.LATCHED)
        self.create_subscription(Int64, 'goal', self._on_goal, 10)
        self.create_service(Trigger, 'cancel', self._on_cancel)
        self._peers = GraphWatch(self, self._actions, self._states, self._home)
        self.create_timer(_TICK, self._tick, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def leave(self) -> bool:
        """End the goal under way, and the pause; return whether that is over."""
        now = time.monotonic()
        if self._leave_by is None:
            self._leave_by = now + _LEAVE
            self._cancel('the node is ending')
        elif self._navigation and now >= self._leave_by:
            self._navigation.pause('the node is ending')
            self._settle()
        return self._goal is None and self._pause.over

    def close(self) -> None:
        """Make sure that the last result has been heard."""
        self._results.wait_for_all_acked(Duration(seconds=0.5))

    def _on_goal(self, message: Int64) -> None:
        goal = message.data
        refusal = self._refusal(goal)
        if refusal:
            self._say(f'refused {goal}: {refusal}')
        elif self._goal is None:
            self._begin(goal)
        else:
            self._drop_next(f'goal {goal} came')
            self._next = goal
            self._end_goal(f'goal {goal} came')

    def _refusal(self, goal: int) -> str:
        """Return why there is no way to a state at present, or nothing."""
        if self._leave_by is not None:
            return 'the node is ending'
        if self._policies is None:
            return 'no policies heard yet'
        # The two topics may be heard one after the other: a state has to be in both.
        known = goal in self._policies.targets and (self._known is None or goal in self._known)
        return '' if known else 'unknown state'

    def _begin(self, goal: int) -> None:
        self._goal = goal
        self._deadline = time.monotonic() + self._given['pause_timeout']

    def _drive(self, goal: int) -> None:
        """Begin with the present policies, which stay as they are while nobody explores."""
        refusal = self._refusal(goal)
        if refusal or self._policies is None:
            self._end(f'refused {goal}: {refusal}')
            return
        self._navigation = Navigation(self._policies.policy_for(goal), self._policies.targets[0])
        if self._loop is None:
            self._loop = StepLoop(
                self._navigation, step_limits(self._given), time.time_ns(), self._send,
                self._home.call if self._home else None)
        self._loop.drive(self._navigation)
        self._loop.adjust(step_limits(self._given))
        self._peers.update()
        self._do(self._loop.resume)

    def _end(self, result: str) -> None:
        self._say(result)
        self._goal = self._navigation = None
        if self._loop:
            self._loop.running = False    # also if an answer is still outstanding
        following, self._next = self._next, None
        if following is None:
            self._pause.end(time.monotonic())
        else:
            self._begin(following)

    def _say(self, result: str) -> None:
        self.get_logger().info(result)
        self._results.publish(String(data=result))

    def _end_goal(self, reason: str) -> None:
        """End the goal after the step under way."""
        if self._navigation and self._loop:
            self._loop.pause_after_step(reason)
            self._settle()
        else:
            self._end(f'cancelled {self._goal}: {reason}')

    def _drop_next(self, reason: str) -> None:
        if self._next is not None:
            self._say(f'cancelled {self._next}: {reason}')
            self._next = None

    def _cancel(self, reason: str) -> bool:
        """End all goals; return whether there are any."""
        self._drop_next(reason)
        if self._goal is None:
            return False
        self._end_goal(reason)
        return True

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._cancel('service cancel called')
        response.message = (
            'no goal is under way' if not response.success
            else 'cancelled' if self._goal is None else 'cancelling after the current step')
        return response

    def _tick(self) -> None:
        now = time.monotonic()
        if self._navigation and self._loop:
            self._loop.adjust(step_limits(self._given))
            if self._pause.disturbed:
                self._pause.forget()
                self._end_goal('somebody has resumed exploration')
            self._do(self._loop.on_peers, *self._peers.update())
            self._do(self._loop.tick)
        elif self._goal is not None and self._pause.reached(now):
            self._drive(self._goal)
        elif self._goal is not None and now >= self._deadline:
            self._end(f'failed {self._goal}: exploration did not pause')

    def _do(self, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of the loop, and end the goal if that has decided it."""
        method(*arguments, time.monotonic())
        self._settle()

    def _settle(self) -> None:
        if self._navigation and self._navigation.result:
            self._end(self._navigation.result)

    def _send(self, seq: int, action: int) -> None:
        self._actions.publish(wire.encode_step(seq, action))

    def _on_state(self, message: Int64MultiArray) -> None:
        if not self._loop:
            return
        try:
            answer = wire.decode_step(message)
        except wire.WireError as error:
            self.get_logger().warning(f'state ignored: {error}', throttle_duration_sec=5.0)
        else:
            self._do(self._loop.on_state, *answer)

    def _on_home(self, attempt: int, success: bool, text: str) -> None:
        if self._loop:
            self._do(self._loop.on_home_response, attempt, success, text)

    def _on_known(self, message: Int64MultiArray) -> None:
        try:
            _, self._known = wire.decode_known_states(message)
        except ValueError as error:
            self.get_logger().warning(f'known_states ignored: {error}')

    def _on_policies(self, message: Int64MultiArray) -> None:
        try:
            self._policies = wire.PolicySet.from_msg(message)
        except ValueError as error:
            self.get_logger().warning(f'policies ignored: {error}')


def main(args: list[str] | None = None) -> int:
    """Run the node ``navigator``."""
    return run('navigator', Navigator, args)


if __name__ == '__main__':
    sys.exit(main())
