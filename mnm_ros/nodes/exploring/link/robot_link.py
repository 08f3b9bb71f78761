# SPDX-License-Identifier: Apache-2.0

"""
The explorer's end of the step protocol with one robot: the common part of two ends.

The explorer commands the robot by ``command_link.py``, as long as no other explorer does, or
advises the node that drives the robot by ``advice_link.py``.
"""

from __future__ import annotations

from collections.abc import Callable
import time

from mnm_ros import messages
from mnm_ros.core.progress.said import Reason
from mnm_ros.core.task.step_task import RunState
from mnm_ros.nodes.common.graph_watch import GraphWatch, RobotSides
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.common.robot_profile import RobotProfile
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.link import Link, TICK
from mnm_ros.nodes.exploring.link.rest_topics import RestTopics
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.loop import RobotLoop, StepLimits
from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
from rclpy.subscription import Subscription
from std_msgs.msg import Int64MultiArray

_FIND = 1.0    # s, to find a robot that is there, before it is called missing


class RobotLink(Link):
    """
    Hears ``state`` and which nodes are there; commands the robot or advises its driver.

    :ivar graph: which nodes are on the other side.
    """

    loop: RobotLoop
    graph: GraphWatch

    def __init__(self, node: NodeInterface, parameters: Parameters, guard: CallbackGuard,
                 single: SingleRobotGuard) -> None:
        self._node = node
        self._guard = guard
        self._single = single
        self._robots = RobotSides(
            node, node.resolve_topic_name('action'), node.resolve_topic_name('state'))
        self.profile = RobotProfile(
            node, parameters['actions'], guard.while_open(self._on_description), guard.allowance)
        self._rest = RestTopics(node, parameters, guard)
        self._seen: int | None = None    # the state that was reported last
        self._looked = -float('inf')    # when the graph was examined last
        self._looking_since = time.monotonic()

    def tick(self, limits: StepLimits, now: float) -> None:
        self.loop.adjust(limits)
        self._watch_graph(now)
        self._arbitrate(now)
        reason = self._rest.reason(now) or self.reason_to_rest(now)
        self._guard.call(self.loop.rest, reason, now)
        self._guard.call(self.loop.tick, now)
        self._rest.tell(self.resting)

    @property
    def resting(self) -> Reason:
        return self.loop.resting

    def last_seen(self, robot: str = '') -> int | None:
        return self._seen

    def missing(self, now: float) -> Reason:
        if (self.loop.task.state is not RunState.WAITING_FOR_ROBOT    # else it is not asked for
                or self.standing_by or now < self._looking_since + _FIND):
            return ''
        return self.graph.missing

    def _on_description(self) -> None:
        self.after_description()
        self._arbitrate(time.monotonic())

    def _arbitrate(self, now: float) -> None:
        """Leave the robot to another explorer if there is one that has precedence."""

    def _subscribe(
            self, topic: str, take: Callable[[tuple[int, int]], None],
            read: Callable[[Int64MultiArray], tuple[int, int]] = messages.decode_step,
            ) -> Subscription:
        return messages.hear(
            self._node, Int64MultiArray, topic, messages.STEP, read,
            self._guard.for_topic(take, messages.STEP.depth))

    def _look_who_answers(self) -> None:
        """Check whether an answer may be that of another robot side, before it counts."""
        if self._robots.changed:
            self._single.look(self._robots.look())

    def _watch_graph(self, now: float, held_up: bool = False) -> None:
        """
        Inform the loop of nodes that have joined or left.

        :param held_up: whether the node has not checked for so long that a robot may have been
            replaced meanwhile. One that was killed is still seen for a while, so a robot
            side that has joined counts as having taken its place.
        """
        self._looked = now
        self._single.look(self._robots.look(now))
        if self._single.several:    # no command may be sent again when another one has joined
            self._arbitrate(now)
        joined, left = self.graph.update(now)
        left |= joined and held_up
        if joined or left:
            self._guard.call(self._on_graph_change, joined, left, now)

    def _on_graph_change(self, joined: bool, left: bool, now: float) -> None:
        self.loop.on_graph_change(joined, left, now)

    def _look_again(self) -> None:
        """Check before a step if planning has held the node up: it may reach another robot."""
        now = time.monotonic()
        if now > self._looked + 2 * TICK:
            self._watch_graph(now, held_up=True)
