# SPDX-License-Identifier: Apache-2.0

"""
A dock of nav2 or of an iRobot Create: on it for the battery, and off it before the next order.

Once the explorer has sent the robot home to rest for its battery, what stands there is handed over
to an action server, and taken back by another one. Whatever comes of that, the robot waits, says
so, and tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
import math
import time
from typing import Any, NamedTuple

from action_msgs.msg import GoalStatus
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.core.task.rest_rules import asked_by
from mnm_ros.driving.pose import Pose
from mnm_ros.parameters import Parameters
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String

# By the steady clock, as an action server does not answer sooner in simulated time:
_ANSWER = 5.0      # s, in which a server answers a request if it is there at all
AGAIN = 10.0       # s, after which what has failed is tried again
_CARRIED = 1.0     # m, by which nothing moves on a dock


class DockKind(NamedTuple):
    """
    The actions of one kind of dock.

    :ivar packages: one of them has the types.
    :ivar actions: names and types of the action that docks, and of the one that undocks.
    :ivar has_ended: whether a result of either is what was wanted, given whether to dock.
    """

    packages: tuple[str, ...]
    actions: tuple[tuple[str, str], tuple[str, str]]
    has_ended: Callable[[Any, bool], bool]


KINDS = {
    'nav2': DockKind(
        ('nav2_msgs', 'opennav_docking_msgs'),    # since Jazzy, and before
        (('dock_robot', 'DockRobot'), ('undock_robot', 'UndockRobot')),
        lambda result, dock: bool(result.success)),
    'irobot': DockKind(
        ('irobot_create_msgs',), (('dock', 'Dock'), ('undock', 'Undock')),
        lambda result, dock: bool(result.is_docked) is dock)}


class DockState(Enum):
    """Where the robot is."""

    FREE = 'free'
    DOCKING = 'docking'
    DOCKED = 'docked'
    UNDOCKING = 'undocking'


class Docking:
    """
    Leads the robot onto its dock and off it.

    :param given: ``docking`` is the kind, ``dock_id`` that of nav2's, and ``home_timeout`` what
        each goal may take in s.
    :param tell: is told how each goal has ended.
    :ivar detail: why it is not where it is to be; empty if it is, or on the way there.
    :raises ParameterError: if no package with the types is installed.
    """

    def __init__(self, node: Node, given: Parameters, tell: Callable[[str], None]) -> None:
        self._node = node
        self._given = given
        self._tell = tell
        self._kind = KINDS[given['docking']]
        self.detail = ''
        self._state = DockState.FREE
        self._resting = ''        # why the robot rests, as the explorer says
        self._tried = False       # since it came home: it may have left it on the way to the dock
        self._number = 0          # of the goal; what is said of earlier ones is ignored
        self._handle: Any = None
        self._sent = False        # whether there is an answer to come, or a result
        self._next = 0.0          # s by the steady clock, when something is done again
        self._docked_at: Pose | None = None
        self._types = [_action_type(self._kind, given['docking'], kind)
                       for _, kind in self._kind.actions]
        self._clients = [ActionClient(node, kind, name)
                         for kind, (name, _) in zip(self._types, self._kind.actions)]
        node.create_subscription(String, 'rest', self._on_rest, messages.LATCHED)

    @property
    def free(self) -> bool:
        """Whether it may be driven."""
        return self._state is DockState.FREE

    @property
    def away(self) -> bool:
        """Whether where it is, is no matter of the driver."""
        return not self.free or self._tried

    def tick(self, pose: Pose | None, at_home: bool, ordered: bool, stopped: bool) -> None:
        """
        Do what is due; to be called now and then.

        :param pose: of the robot, as far as it is known.
        :param at_home: whether it stands at home, and nothing is to be driven.
        :param ordered: whether something is to be driven.
        :param stopped: whether it is to stand wherever it is.
        """
        now = time.monotonic()
        if not self._resting:
            self._tried = False
        self._look_where(pose)
        if stopped:
            self.stop()
        elif self._state in (DockState.DOCKING, DockState.UNDOCKING):
            if ordered and self._state is DockState.DOCKING:
                self.stop()    # the result says whether it is on the dock by then
            if now >= self._next:
                self._time_out()
        elif now < self._next:
            return
        elif ordered and self._state is DockState.DOCKED:
            self._begin(DockState.UNDOCKING)
        elif (not ordered and self._resting and self._state is DockState.FREE
              and (at_home or self._tried)):
            self._begin(DockState.DOCKING)

    def _look_where(self, pose: Pose | None) -> None:
        """Take note of a robot that somebody has carried away from the dock."""
        if self._state is not DockState.DOCKED or pose is None:
            self._docked_at = None
            return
        self._docked_at = self._docked_at or pose
        if math.dist(pose[:2], self._docked_at[:2]) > _CARRIED:
            self._node.get_logger().warning('the robot is on its dock no more')
            self._state, self._next, self.detail = DockState.FREE, 0.0, ''

    def stop(self) -> None:
        """Have the server give up what it does, even if it accepts it only later."""
        if self._handle is not None:
            self._handle.cancel_goal_async()
            self._handle = None    # once
            self._next = min(self._next, time.monotonic() + _ANSWER)

    def _begin(self, state: DockState) -> None:
        dock = state is DockState.DOCKING
        client = self._clients[not dock]
        self._tried = self._tried or dock
        if not client.server_is_ready():
            name = self._node.resolve_service_name(self._kind.actions[not dock][0])
            self._fail(state, f'action server {name} is not there')
            return
        self._number += 1
        number, self._state, self.detail = self._number, state, ''
        self._next = time.monotonic() + _ANSWER
        client.send_goal_async(self._goal(dock)).add_done_callback(
            lambda future: self._on_response(number, future))

    def _goal(self, dock: bool) -> Any:
        goal = self._types[not dock].Goal()
        if dock and hasattr(goal, 'dock_id'):
            goal.use_dock_id, goal.dock_id = True, self._given['dock_id']
        return goal

    def _on_response(self, number: int, future: Future[Any]) -> None:
        handle = future.result()
        if number != self._number:
            if handle.accepted:
                handle.cancel_goal_async()
        elif not handle.accepted:
            self._end(False, 'refused')
        else:
            self._handle = handle
            self._next = time.monotonic() + self._given['home_timeout']
            handle.get_result_async().add_done_callback(
                lambda done: self._on_result(number, done.result()))

    def _on_result(self, number: int, ended: Any) -> None:
        if number != self._number:
            return
        reached = ended.status == GoalStatus.STATUS_SUCCEEDED and self._kind.has_ended(
            ended.result, self._state is DockState.DOCKING)
        code, text = getattr(ended.result, 'error_code', 0), getattr(ended.result, 'error_msg', '')
        words = [f'given up with status {ended.status}', *([f'error_code {code}'] if code else []),
                 *([text] if text else [])]
        self._end(reached, '' if reached else ', '.join(words))

    def _time_out(self) -> None:
        """Take it that nothing comes of the goal."""
        answered = self._handle is not None
        if answered:
            self._handle.cancel_goal_async()
        self._end(False, f'not over after {self._given["home_timeout"]:g} s' if answered else
                  'the action server does not answer')

    def _end(self, reached: bool, problem: str) -> None:
        self._handle = None
        self._number += 1
        before = self._state
        if not reached:
            self._fail(before, problem)
            return
        self._state = DockState.DOCKED if before is DockState.DOCKING else DockState.FREE
        self._tried = self._tried and self._state is DockState.DOCKED
        self._next, self.detail = 0.0, ''
        self._tell(f'{before.value}: reached')

    def _fail(self, tried: DockState, problem: str) -> None:
        """Wait, and try again: on the dock it stays on it, beside it beside."""
        docking = tried is DockState.DOCKING
        self._state = DockState.FREE if docking else DockState.DOCKED
        self._next = time.monotonic() + AGAIN
        self.detail = f'{tried.value}: {problem}'
        self._node.get_logger().warning(
            f'{self.detail}; the robot waits, and tries again in {AGAIN:g} s')
        self._tell(self.detail)

    def _on_rest(self, message: String) -> None:
        self._resting = message.data if asked_by(message.data) == 'battery' else ''


def _action_type(kind: DockKind, docking: str, name: str) -> Any:
    """Return the type of an action; ParameterError if no package has it."""
    for package in kind.packages:
        try:
            return getattr(import_module(f'{package}.action'), name)
        except (ImportError, AttributeError):
            continue
    raise ParameterError(
        f"parameter 'docking' is {docking!r}, which needs the package "
        f'{" or ".join(kind.packages)}; expected that it is installed, or none')
