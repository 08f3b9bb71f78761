# SPDX-License-Identifier: Apache-2.0

"""
Sends a robot to known states from Python, by the topics of the node ``navigator``.

In a script::

    rclpy.init()
    client = NavigatorClient(Node('errand'))
    result = client.go(7).wait(timeout=60.0)
    print(result.text if result else 'not there yet')

In a node that is spun elsewhere, ``go`` and ``cancel`` return at once as well, and
``goal.over``, ``goal.report`` and ``goal.result`` may be examined whenever it suits, from a timer
or from the tick of a behaviour tree.
"""

from __future__ import annotations

from dataclasses import replace
import math
from threading import Event, Lock
import time

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.progress.said import (
    GoalForgotten,
    NavigatorSilent,
    NoNames,
    NoNavigator,
    Said,
)
from mnm_ros.core.progress.trust import Trust
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.sentences import sentence
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import Int64, Int64MultiArray, String

_REPEAT = 0.5   # s, after which what has not been heard is said again
_LOOK = 0.1     # s, between two checks whether there is something to do


class Goal:
    """
    A goal that a client has sent; made by ``NavigatorClient.go``.

    :ivar id: distinguishes it from all other goals.
    :ivar target: the state to go to; None as long as only its name is known.
    :ivar name: that was used in place of the state; else empty.
    :ivar report: the last that was heard of it: its status, the steps and attempts so far, and how
        many more steps are expected.
    """

    def __init__(self, client: NavigatorClient, goal_id: int, target: int | None,
                 name: str = '') -> None:
        self.id = goal_id
        self.target = target
        self.name = name
        self.report = GoalReport(
            goal_id, target, GoalStatus.WAITING, 'not heard by the navigator yet')
        self.acknowledged = False        # these five are for the client
        self.cancelled = False
        self.ended = Event()
        self.heard_at = time.monotonic()
        self.said_at = -math.inf
        self._client = client

    @property
    def over(self) -> bool:
        """Whether it has ended, in any way."""
        return self.report.status.over

    @property
    def reached(self) -> bool:
        """Whether the robot has arrived."""
        return self.report.status is GoalStatus.REACHED

    @property
    def result(self) -> GoalReport | None:
        """Return what has become of it; None as long as it is not over."""
        return self.report if self.over else None

    def wait(self, timeout: float | None = None) -> GoalReport | None:
        """
        Wait until it is over and return the result; None if that takes longer.

        The node is spun meanwhile unless an executor has it. Then another thread has to spin
        that executor, so that this must not be called from a callback of the node.

        :param timeout: s; None for as long as it takes.
        """
        self._client.wait_for(self, timeout)
        return self.result

    def cancel(self) -> None:
        """Have it abandoned after the step under way; returns at once. Others are not touched."""
        if not self.over:
            self._client.give_up(self)


class NavigatorClient:
    """
    Sends goals to the navigator and hears what becomes of each.

    A goal that the navigator has not heard is sent again; with the same id it is the same goal.

    :param node: whose topics and timer are used.
    :param namespace: of the navigator, if it is not that of the node.
    :param least_trust: that a policy needs, such as ``assumed``; '' for what the navigator asks.
    :param patience: s, after which a goal is lost if there is no navigator, or none that answers.
    :ivar goal: the one sent last; None before the first one.
    """

    def __init__(self, node: Node, namespace: str = '', patience: float = 10.0,
                 least_trust: str = '') -> None:
        self.goal: Goal | None = None
        self._node = node
        self._patience = patience
        self._least = Trust(least_trust) if least_trust else None
        self._open: dict[int, Goal] = {}
        self._last_id = 0
        self._looked = time.monotonic()
        self._lock = Lock()    # of goals, which any thread may send
        self._description = UNDESCRIBED
        self._names: Subscription | None = None    # until it is asked for a name
        within = f'{namespace.rstrip("/")}/' if namespace else ''
        self._robot_side, topic = f'{within}robot_side', f'{within}goal'
        self._requests = node.create_publisher(
            Int64MultiArray, f'{topic}/request', messages.STEP)
        self._cancels = node.create_publisher(Int64, f'{topic}/cancel', messages.STEP)
        self._statuses = messages.hear(
            node, DiagnosticArray, f'{topic}/status', messages.LATCHED, self._on_status)
        self._timer = node.create_timer(
            _LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def there(self) -> bool:
        """Whether there is a navigator."""
        return bool(self._node.count_publishers(self._statuses.topic_name))

    def go(self, state: int | str) -> Goal:
        """
        Send the robot to a known state and return the goal at once.

        It replaces the goal under way, by whichever client.

        :param state: its id, or the name that the robot side gives it. The goal is sent once the
            robot side has said its names, and refused if it is not one of them.
        """
        target, name = (None, state) if isinstance(state, str) else (state, '')
        with self._lock:
            self._last_id = max(time.time_ns(), self._last_id + 1)
            goal = self.goal = self._open[self._last_id] = Goal(
                self, self._last_id, target, name)
            if target is None and self._names is None:
                self._names = messages.hear(
                    self._node, String, self._robot_side, messages.LATCHED,
                    lambda message: RobotDescription.from_text(message.data), self._on_names)
        self._find(goal)
        self._say(goal)
        return goal

    @property
    def result(self) -> GoalReport | None:
        """Return what has become of the goal sent last; None as long as it is not over."""
        return self.goal.result if self.goal else None

    def wait(self, timeout: float | None = None) -> GoalReport | None:
        """Wait for the goal sent last, as ``Goal.wait`` does."""
        return self.goal.wait(timeout) if self.goal else None

    def cancel(self) -> None:
        """Cancel the goal sent last."""
        if self.goal:
            self.goal.cancel()

    def destroy(self) -> None:
        """Remove publishers, subscription and timer from the node."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_subscription(self._statuses)
        if self._names is not None:
            self._node.destroy_subscription(self._names)
        self._node.destroy_publisher(self._requests)
        self._node.destroy_publisher(self._cancels)

    def give_up(self, goal: Goal) -> None:
        """Say that a goal is to be cancelled, until that has been heard."""
        goal.cancelled = True
        self._say(goal)

    def wait_for(self, goal: Goal, timeout: float | None) -> None:
        """Wait until a goal is over, for ``timeout`` s at most."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        others = self._node.executor
        if others is not None and self._node in others.get_nodes():
            while not goal.over and time.monotonic() < end and self._node.context.ok():
                goal.ended.wait(max(0.0, min(_LOOK, end - time.monotonic())))
            return
        executor = SingleThreadedExecutor(context=self._node.context)
        executor.add_node(self._node)
        try:
            while not goal.over and time.monotonic() < end and self._node.context.ok():
                executor.spin_once(timeout_sec=max(0.0, min(_LOOK, end - time.monotonic())))
        finally:
            self._node.executor = None    # free for the next that spins it
            executor.shutdown()

    def _say(self, goal: Goal) -> None:
        goal.said_at = time.monotonic()
        if goal.cancelled:
            self._cancels.publish(Int64(data=goal.id))
        elif goal.target is not None:
            self._requests.publish(messages.encode_request(goal.id, goal.target, self._least))

    def _look(self) -> None:
        """Say again what has not been heard, and abandon what never will be."""
        now = time.monotonic()
        pause, self._looked = now - self._looked, now
        there = self.there
        for goal in self._under_way():
            if pause > 10 * _LOOK or there and goal.acknowledged:
                goal.heard_at = now    # also if nothing could be heard, as the node was not spun
            if now > goal.heard_at + self._patience:
                self._lose(goal, NoNames() if goal.target is None else
                           NavigatorSilent() if there else NoNavigator())
            elif (goal.cancelled or not goal.acknowledged) and now > goal.said_at + _REPEAT:
                self._say(goal)

    def _on_names(self, description: RobotDescription) -> None:
        self._description = description
        for goal in self._under_way():
            if goal.target is None:
                goal.heard_at = time.monotonic()    # the navigator's time begins now
                self._find(goal)
                self._say(goal)

    def _find(self, goal: Goal) -> None:
        """Find the state that the name of a goal means, if names were heard."""
        if goal.target is not None or goal.over:
            return
        try:
            goal.target = self._description.state(goal.name)
        except ValueError as error:
            if self._description is not UNDESCRIBED:
                self._take(goal, replace(goal.report, status=GoalStatus.REFUSED,
                                         text=f'refused {goal.name}: {error}'))
        else:
            goal.report = replace(goal.report, target=goal.target)

    def _on_status(self, message: DiagnosticArray) -> None:
        reports = {report.id: report for report in messages.decode_goals(message)}
        for goal in self._under_way():
            if goal.id in reports:
                goal.acknowledged = True
                self._take(goal, reports[goal.id])
            elif goal.acknowledged:
                self._lose(goal, GoalForgotten())

    def _lose(self, goal: Goal, reason: Said) -> None:
        self._cancels.publish(Int64(data=goal.id))    # in case that it is heard after all
        self._take(goal, goal.report.over(GoalStatus.LOST, sentence(reason), None, reason))

    def _take(self, goal: Goal, report: GoalReport) -> None:
        goal.report = report
        if goal.over:
            with self._lock:
                self._open.pop(goal.id, None)
            goal.ended.set()

    def _under_way(self) -> list[Goal]:
        with self._lock:
            return list(self._open.values())
