# SPDX-License-Identifier: Apache-2.0

"""What the node ``dashboard`` may do: services and goals, and what came of them."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from mnm_ros.navigator_client import NavigatorClient
from mnm_ros.view.web.panels import CONTROLS
from mnm_ros.view.words import in_time
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

_TIMEOUT = 5.0    # s, for an answer


class CommandOutcome(NamedTuple):
    """
    What came of a control.

    :ivar good: whether it was done; None as long as that is open.
    """

    text: str
    good: bool | None


class Commands:
    """Calls what the controls stand for; any thread may do so."""

    def __init__(self, node: Node) -> None:
        self.outcomes: dict[str, CommandOutcome] = {}
        self._waiting: dict[str, float] = {}    # until when, by control
        self._clients: dict[str, Any] = {
            control.service: node.create_client(
                Trigger if control.data is None else SetBool, control.service)
            for control in CONTROLS.values()}
        self._navigator = NavigatorClient(node)

    @property
    def offered(self) -> frozenset[str]:
        """Return the services that are there."""
        return frozenset(
            name for name, client in self._clients.items() if client.service_is_ready())

    @property
    def outcome_of_goal(self) -> CommandOutcome | None:
        """Return what has become of the goal sent last."""
        goal = self._navigator.goal
        if goal is None:
            return None
        report = goal.report
        left = report.expected_steps_left
        more = '' if left is None else (
            f', about {left:.1f} steps to go{in_time(report.expected_seconds_left)}')
        return CommandOutcome(f'{report.text}{more}', goal.reached if goal.over else None)

    def press(self, name: str) -> None:
        """Call the service of a control."""
        control = CONTROLS[name]
        request = Trigger.Request() if control.data is None else SetBool.Request(data=control.data)
        self.outcomes[name] = CommandOutcome('asked for', None)
        self._waiting[name] = time.monotonic() + _TIMEOUT
        future = self._clients[control.service].call_async(request)
        future.add_done_callback(lambda done: self._on_answer(name, done))

    def go(self, state: int) -> None:
        """Send the robot to a state."""
        self._navigator.go(state)

    def look(self, now: float) -> None:
        """Give up waiting for answers that never come."""
        for name, end in list(self._waiting.items()):
            if now > end and self._waiting.pop(name, 0.0):
                self.outcomes[name] = CommandOutcome(f'no answer after {_TIMEOUT:g} s', False)

    def _on_answer(self, name: str, done: Any) -> None:
        if self._waiting.pop(name, 0.0) and not done.cancelled():
            response = done.result()
            self.outcomes[name] = CommandOutcome(
                response.message or ('done' if response.success else 'refused'),
                response.success)
