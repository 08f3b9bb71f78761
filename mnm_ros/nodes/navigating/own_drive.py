# SPDX-License-Identifier: Apache-2.0

"""How the navigator commands the robot itself, to one goal at a time, without an explorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time

from mnm_ros import messages
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.support import Support
from mnm_ros.core.progress.said import OtherCommander, Reason
from mnm_ros.core.task.navigation import EarlierWays, GoalReport, GoalStatus, Navigation
from mnm_ros.nodes.common.callbacks import seconds_of
from mnm_ros.nodes.common.commanding import HomeService, step_limits
from mnm_ros.nodes.common.graph_watch import CommandPublisher, GraphWatch
from mnm_ros.nodes.common.request_topic import RequestTopic
from mnm_ros.nodes.common.whereabouts import Whereabouts
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.exchange import REPORT, SequenceNumbers
from mnm_ros.protocol.step_loop import StepLoop
from mnm_ros.robot_description import RobotDescription
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String


class OwnDrive:
    """
    Executes policies on the robot, one after the other.

    :param parameters: of the navigator.
    :param requests: where it is said that the robot is sent home for a goal.
    :param commands: publishes the commands, while it is open.
    :param whereabouts: where the robot is; it hears what the robot side answers.
    :param on_end: called with the outcome of a drive, and why. It has to call ``stop``.
    :ivar way: under way; None if there is none.
    """

    def __init__(self, node: Node, parameters: Parameters, requests: RequestTopic,
                 commands: CommandPublisher, whereabouts: Whereabouts,
                 on_end: Callable[[GoalStatus, Reason], None]) -> None:
        self._node = node
        self._parameters = parameters
        self._commands = commands
        self._whereabouts = whereabouts
        self._on_end = on_end
        self._numbers: SequenceNumbers | None = None    # from the first drive on
        self.way: Navigation | None = None
        self._loop: StepLoop | None = None    # from the first drive on
        self._ways = EarlierWays()
        self._forbidden = frozenset[Pair]()    # as a robot side has declared last
        self._guarded = False    # as it says
        states = messages.hear(
            node, Int64MultiArray, 'state', messages.STEP, messages.decode_step, self._on_step)
        messages.hear(node, String, 'step_report', messages.STEP, messages.decode_step_report,
                      self._on_step_report)
        self._home = (HomeService(node, self._on_home, requests=requests)
                      if parameters['reset_mode'] == 'service' else None)
        self._graph = GraphWatch(node, commands, states, self._home)

    @property
    def seconds(self) -> Mapping[int, float]:
        """Return the mean time of each action, as far as it is measured."""
        return self._loop.seconds if self._loop else {}

    def report(self, goal: GoalReport) -> GoalReport:
        """Return the report of a goal with the figures of the drive under way, if any."""
        return goal.on(self.way, self.seconds)

    def plan(self, policy: Policy) -> Navigation:
        """Return the way by a policy, from where the robot is."""
        here = self._whereabouts.here(self._loop.last_command if self._loop else None)
        return Navigation(policy, policy.states[0], self._ways.by(policy),
                          here if self._parameters['direct'] else None)

    def objection(self, way: Navigation) -> Reason:
        """Return why a way may not be taken, or nothing."""
        return way.objection(self._forbidden)

    def begin(self, way: Navigation) -> None:
        """Command the robot on a way."""
        self.way = way
        if self._loop is None:
            self._numbers = SequenceNumbers(time.time_ns())
            self._loop = StepLoop(
                way, step_limits(self._parameters), self._numbers, self._send,
                self._home.call if self._home else None, seconds_of(self._node))
        self._loop.drive(way)
        self._loop.adjust(step_limits(self._parameters))
        self._graph.update()
        self._do(self._loop.resume)

    def stop(self) -> None:
        """Command nothing more, also if an answer is still outstanding."""
        self.way = None
        if self._loop:
            self._loop.running = False

    def end_after_step(self, reason: Reason) -> bool:
        """End the drive after the step under way; return whether that is still to come."""
        way = self.way
        assert way is not None and self._loop is not None
        self._loop.pause_after_step(reason)
        self._settle()
        return self.way is way

    def give_way(self, reason: Reason) -> None:
        """End the drive at once: nothing is sent again."""
        assert self._loop is not None
        self._loop.pause(reason)
        self._settle()

    def heed(self, description: RobotDescription) -> Reason:
        """Take what the robot side says it is; return why the drive has to end, or nothing."""
        self._guarded = description.guarded
        if self._parameters['ignore_declared']:
            return ''
        if description.declaration:
            self._forbidden = Support(description.declaration).all_forbidden
        way = self.way
        reason = self.objection(way) if way else ''
        if way and reason and (way.last_state, way.next_action()) in self._forbidden:
            self.give_way(reason)
            return ''
        return reason

    def look(self) -> None:
        """Record whether other robot sides have come: then the robot may be anywhere."""
        if any(self._graph.update()):
            self._whereabouts.heard = None

    def tick(self) -> None:
        """Send again what is not answered in time."""
        assert self._loop is not None
        self._loop.adjust(step_limits(self._parameters))
        self._do(self._loop.on_graph_change, *self._graph.update())
        self._do(self._loop.tick)

    def _do(self, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of the loop, and end the drive if that has decided it."""
        method(*arguments, time.monotonic())
        self._settle()

    def _settle(self) -> None:
        if self.way and self.way.outcome:
            self._on_end(*self.way.outcome)

    def _send(self, seq: int, action: int) -> None:
        self._commands.send(
            seq, action, self.way.last_state if self.way else None, self._guarded)

    def _on_step_report(self, report: messages.StepReport) -> None:
        """End the drive if the robot side takes commands of another node alone."""
        another = report.commander not in ('', self._node.get_fully_qualified_name())
        if another and self.way and self._numbers and (
                report.seq == REPORT or self._numbers.sent(report.seq)):
            self._on_end(GoalStatus.FAILED, OtherCommander(report.commander))

    def _on_step(self, answer: tuple[int, int]) -> None:
        self._whereabouts.heard = answer
        if self._loop:
            self._do(self._loop.on_state, *answer)

    def _on_home(self, attempt: int, success: bool, text: str) -> None:
        if self._loop:
            self._do(self._loop.on_home_response, attempt, success, text)
