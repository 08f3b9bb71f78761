# SPDX-License-Identifier: Apache-2.0

"""The explorer's end of the step protocol where another node drives the robot, and is advised."""

from __future__ import annotations

import time

from mnm_ros import messages
from mnm_ros.core.progress.said import Reason
from mnm_ros.core.task.step_task import StepTask
from mnm_ros.nodes.common.commanding import step_limits
from mnm_ros.nodes.common.graph_watch import bag_played, GraphWatch
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.robot_link import RobotLink
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.advisory_loop import AdvisoryLoop
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
from std_msgs.msg import Int64MultiArray


class AdviceLink(RobotLink):
    """
    Hears what a driver commands on ``action``, and advises it on ``advice``.

    :param task: what is explored.
    """

    loop: AdvisoryLoop

    def __init__(self, node: NodeInterface, parameters: Parameters, task: StepTask,
                 guard: CallbackGuard) -> None:
        # It can only go by which nodes are there: it gives no commands.
        super().__init__(node, parameters, guard, SingleRobotGuard(possible=False))
        self._objected = False    # at the last tick
        self._advice = node.create_publisher(Int64MultiArray, 'advice', messages.LATCHED)
        self.loop = AdvisoryLoop(task, step_limits(parameters), self._advise)
        self.loop.aside, self.loop.before_step = self._guard.aside, self._look_again
        commands = self._subscribe('action', self._on_command,
                                 lambda message: messages.decode_command(message)[:2])
        states = self._subscribe('state', self._on_state)
        self.graph = GraphWatch(
            node, self._advice, states, None, commands, self._robots)

    def tick(self, limits: StepLimits, now: float) -> None:
        """Do so unless this is another robot, or several."""
        self.profile.objection(now)
        self._single.look(self._robots.look())
        objection, before = self._objection, self._objected
        self._objected = bool(objection)
        if objection:
            self.loop.adjust(limits)
            self._guard.call(self.loop.task.robot_lost, objection)
            return
        super().tick(limits, now)
        if before:
            self._guard.call(self.loop.on_graph_change, True, True, now)

    @property
    def _objection(self) -> Reason:
        """Why nothing is learnt from what the driver does, or empty."""
        return (self.profile.mismatch or self._single.objection(0.0, 0.0)
                or bag_played(self._robots.tellers.known()) or '')

    def _advise(self, seq: int, action: int) -> None:
        if not self._objection:
            self._advice.publish(messages.encode_step(seq, action))

    def _on_command(self, step: tuple[int, int]) -> None:
        if not self._objection:
            self._guard.call(self.loop.on_order, *step, time.monotonic())

    def _on_state(self, step: tuple[int, int]) -> None:
        self._seen = step[1]
        self._look_who_answers()
        if not self._objection:
            self._guard.call(self.loop.on_state, *step, time.monotonic())
        self.after_state()
