"""What robot sides share: the step protocol on ``action`` and ``state``, and ``return_home``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray
from std_srvs.srv import Trigger

from mnm_ros import wire
from mnm_ros.core.problem import RESET
from mnm_ros.protocol import REPORT, Order, StepServer


class RobotSide(Node):
    """A robot that executes one action at a time and says in which state it ended.

    Subclasses set ``action_names`` before the first action arrives and implement ``execute`` and
    ``return_home``. Both return the state the robot ended in, or None if that takes time; the
    subclass then calls ``arrived`` and must not block meanwhile.
    """

    action_names: Sequence[str] = ()

    def __init__(self, name: str, **node_arguments: Any) -> None:
        super().__init__(name, **node_arguments)
        self.steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._server = StepServer()
        self._going_home = False
        self._reports: list[int] = []
        self._state_publisher = self.create_publisher(Int64MultiArray, 'state', wire.STEP)
        self.create_subscription(Int64MultiArray, 'action', self._on_action, wire.STEP)
        self.create_service(Trigger, 'return_home', self._on_return_home)
        self._report_timer = self.create_timer(0.001, self._send_reports, clock=self.steady_clock)
        self._report_timer.cancel()

    def execute(self, action: int) -> int | None:
        """Execute an action other than RESET; return the state, or None if it takes time."""
        raise NotImplementedError

    def return_home(self) -> int | None:
        """Go to the start state, from wherever; return it, or None if it takes time."""
        raise NotImplementedError

    def arrived(self, state: int) -> None:
        """Say where an action, or a way home, that took time has ended."""
        if self._going_home:
            self._going_home = False
        elif self._server.executing:
            self._finish(state)

    def report(self, state: int) -> None:
        """Tell the explorer that the robot has been moved to ``state``."""
        self.send_state(REPORT, state)

    def send_state(self, seq: int, state: int) -> None:
        """Publish ``[seq, state]``."""
        self._state_publisher.publish(wire.encode_step(seq, state))

    def _on_action(self, message: Int64MultiArray) -> None:
        try:
            seq, action = wire.decode_step(message)
        except wire.WireError as error:
            self.get_logger().warning(
                f'action ignored: {error}', throttle_duration_sec=5.0)
            return
        self._receive(seq, action)

    def _receive(self, seq: int, action: int) -> None:
        if action != RESET and not 0 <= action < len(self.action_names):
            self.get_logger().warning(
                f'action {action} ignored: unknown, expected {RESET} for RESET or '
                f'0 .. {len(self.action_names) - 1}', throttle_duration_sec=5.0)
            return
        if self._going_home:
            return    # it is sent again if it still matters
        order = self._server.receive(seq, action)
        if order is Order.REPEAT:
            self.send_state(*self._server.stored())
        elif order is Order.EXECUTE:
            state = self.return_home() if action == RESET else self.execute(action)
            if state is not None:
                self._finish(state)

    def _finish(self, state: int) -> None:
        self.send_state(*self._server.done(state))
        waiting = self._server.next_waiting()
        if waiting:
            self._receive(*waiting)

    def _on_return_home(
            self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = False
        if self._server.executing:
            response.message = 'an action is being executed, call again'
            return response
        state = None if self._going_home else self.return_home()
        if state is None:
            self._going_home = True
            response.message = 'on the way home, call again'
            return response
        self._reports.append(state)
        self._report_timer.reset()    # the report has to come after the response
        response.success = True
        response.message = f'at home in state {state}'
        return response

    def _send_reports(self) -> None:
        self._report_timer.cancel()
        reports, self._reports = self._reports, []
        for state in reports:
            self.report(state)
