# SPDX-License-Identifier: Apache-2.0

"""
A dock of nav2 or of an iRobot Create: on it for the battery, and off it before the next command.

Once the explorer has sent the robot home to rest for its battery, what stands there is handed over
to an action server, and taken back by another one. Whatever comes of that, the robot waits, says
so, and tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
import math
import time
from typing import Any, NamedTuple

from action_msgs.msg import GoalStatus
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.core.progress.said import Reason
from mnm_ros.driving.pose import Pose
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.rest_rules import asked_by
from rclpy.action import ActionClient
from rclpy.node import Node
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
    :ivar has_ended: whether a result of either is what was wanted, called with whether to dock.
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


class Docking:
    """
    Leads the robot onto its dock and off it.

    A goal is over when its server says so, or has gone: until then nothing else may drive.

    :param given: ``docking`` is the kind, ``dock_id`` that of nav2's, and ``home_timeout`` what
        each goal may take in s.
    :param tell: called with how each goal has ended, or what keeps it from ending.
    :ivar detail: why the robot is not where it is to be; empty if it is, or on the way there.
    :raises ParameterError: if no package with the types is installed.
    """

    def __init__(self, node: Node, given: Parameters, tell: Callable[[str], None]) -> None:
        self._node = node
        self._given = given
        self._tell = tell
        self._kind = KINDS[given['docking']]
        self.detail = ''
        self._docked = False
        self._resting = False     # because of its battery, as the explorer says
        self._tried = False       # since it came home: it may have left it on the way to the dock
        self._docks = False       # whether the last goal docks
        self._number = 0          # of the last goal
        self._goals: dict[int, Any] = {}    # without a result: None until they are accepted
        self._cancelled = False   # whether they are to end
        self._next = 0.0          # s by the steady clock, when something is done again,
        self._until = math.inf    # until when the last goal may take,
        self._seen = 0.0          # and when there was a server
        self._docked_at: Pose | None = None
        self._types = [_action_type(self._kind, given['docking'], kind)
                       for _, kind in self._kind.actions]
        self._clients = [ActionClient(node, kind, name)
                         for kind, (name, _) in zip(self._types, self._kind.actions)]
        messages.hear(node, String, 'rest/reason', messages.LATCHED, messages.decode_reason,
                      self._on_rest)

    @property
    def free(self) -> bool:
        """Whether it may be driven."""
        return not (self._goals or self._docked)

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
        if self._goals:
            self._watch(now, stopped or ordered and self._docks)
        elif stopped or now < self._next:
            return
        elif ordered and self._docked:
            self._begin(False, now)
        elif not (ordered or self._docked) and self._resting and (at_home or self._tried):
            self._begin(True, now)

    def _look_where(self, pose: Pose | None) -> None:
        """Record a robot that somebody has moved away from the dock."""
        if self._goals or not self._docked or pose is None:
            self._docked_at = None
            return
        self._docked_at = self._docked_at or pose
        if math.dist(pose[:2], self._docked_at[:2]) > _CARRIED:
            self._node.get_logger().warning('the robot is on its dock no more')
            self._docked, self._next, self.detail = False, 0.0, ''

    def _watch(self, now: float, unwanted: bool) -> None:
        """Cancel a goal that is unwanted, or takes too long, and ask for what is not said."""
        if self._clients[not self._docks].server_is_ready():
            self._seen = now
        elif now >= self._seen + _ANSWER:
            self._goals.clear()
            self._fail(self._docks, 'the action server has gone')
            return
        if unwanted:
            self.stop()
        if now < min(self._next, self._until):
            return
        self._next, accepted = now + AGAIN, self._goals.get(self._number)
        if accepted is None:
            if not self._say('the action server does not answer'):
                self._send()    # the request may have been lost
            return
        late = now >= self._until
        self._until = math.inf if late else self._until
        if self._cancelled:
            self._say('cancelled, but the action server does not end it')
        elif late:
            self._say(f'not over after {self._given["home_timeout"]:g} s')
            self.stop()
        self._ask(self._number, self._docks, accepted)

    def stop(self) -> None:
        """Have the server abandon what it does, even if it accepts it only later."""
        if not self._cancelled:
            self._cancelled = True
            for handle in filter(None, self._goals.values()):
                handle.cancel_goal_async()

    def _begin(self, dock: bool, now: float) -> None:
        self._docks, self._tried = dock, self._tried or dock
        if not self._clients[not dock].server_is_ready():
            name = self._node.resolve_service_name(self._kind.actions[not dock][0])
            self._fail(dock, f'action server {name} is not there')
            return
        self.detail, self._cancelled, self._seen = '', False, now
        self._next, self._until = now + _ANSWER, math.inf
        self._send()

    def _send(self) -> None:
        self._number += 1
        number, dock = self._number, self._docks
        self._goals[number] = None
        goal = self._types[not dock].Goal()
        if dock and hasattr(goal, 'dock_id'):
            goal.use_dock_id, goal.dock_id = True, self._given['dock_id']
        self._clients[not dock].send_goal_async(goal).add_done_callback(
            lambda future: self._on_response(number, dock, future.result()))

    def _on_response(self, number: int, dock: bool, handle: Any) -> None:
        for lost in [each for each in self._goals if each < number and self._goals[each] is None]:
            del self._goals[lost]    # answers come in order
        if not handle.accepted:
            self._end(number, dock, False, 'refused')
            return
        self._goals[number] = handle
        self._ask(number, dock, handle)
        if number != self._number or self._cancelled:
            handle.cancel_goal_async()
        if number == self._number:
            now = time.monotonic()
            self._next, self._until = now + AGAIN, now + self._given['home_timeout']

    def _ask(self, number: int, dock: bool, handle: Any) -> None:
        """Ask for the result; a server that was started since says that it knows none."""
        handle.get_result_async().add_done_callback(
            lambda done: self._on_result(number, dock, done.result()))

    def _on_result(self, number: int, dock: bool, ended: Any) -> None:
        reached = ended.status == GoalStatus.STATUS_SUCCEEDED and self._kind.has_ended(
            ended.result, dock)
        code, text = getattr(ended.result, 'error_code', 0), getattr(ended.result, 'error_msg', '')
        words = [f'given up with status {ended.status}', *([f'error_code {code}'] if code else []),
                 *([text] if text else [])]
        self._end(number, dock, reached, ', '.join(words))

    def _end(self, number: int, dock: bool, reached: bool, problem: str) -> None:
        """Record the end of a goal, which may be known already."""
        if number not in self._goals:
            return
        del self._goals[number]
        if reached:
            self._docked, self._tried = dock, self._tried and dock
        if self._goals:
            return
        if not reached:
            self._fail(dock, problem)
            return
        self._next, self.detail = 0.0, ''
        self._tell(f'{_word(dock)}: reached')

    def _fail(self, dock: bool, problem: str) -> None:
        """Wait, and try again: on the dock it stays on it, beside it beside."""
        self._docks, self._next = dock, time.monotonic() + AGAIN
        self._say(problem)

    def _say(self, problem: str) -> bool:
        """Report what is wrong with the last goal; return whether that is news."""
        before, self.detail = self.detail, f'{_word(self._docks)}: {problem}'
        self._node.get_logger().warning(
            f'{self.detail}; the robot waits, and tries again in {AGAIN:g} s')
        if self.detail != before:
            self._tell(self.detail)
        return self.detail != before

    def _on_rest(self, reason: Reason) -> None:
        self._resting = bool(reason) and asked_by(reason) == 'battery'


def _word(dock: bool) -> str:
    return 'docking' if dock else 'undocking'


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
