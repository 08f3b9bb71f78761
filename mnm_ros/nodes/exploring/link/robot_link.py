# SPDX-License-Identifier: Apache-2.0

"""
The explorer's end of the step protocol: what it asks of the way to its robots, and to one robot.

A ``Link`` has the topics of the robots; what makes their steps is its ``loop``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
import time
from typing import NamedTuple

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.task.step_task import RunState, StepTask
from mnm_ros.nodes.common.callbacks import hear
from mnm_ros.nodes.common.commanding import step_limits
from mnm_ros.nodes.common.robot_profile import RobotProfile
from mnm_ros.nodes.common.graph_watch import GraphWatch, RobotSides
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.resting import RestTopics
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.advisory_loop import AdvisoryLoop
from mnm_ros.protocol.loop import Loop, StepLimits
from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
from mnm_ros.protocol.step_loop import FleetLoop
from rclpy.subscription import Subscription
from std_msgs.msg import Int64MultiArray

TICK = 0.02    # s, resolution of timeouts
STEADY_TICK = 0.05    # s, the same while no robot is waited for: then hardly anything is urgent
_FIND = 1.0    # s, to find a robot that is there, before it is called missing


class RobotReport(NamedTuple):
    """
    How a robot of a fleet is.

    :ivar status: a sentence for people.
    :ivar values: figures of it, as the diagnostics have them.
    """

    name: str
    state: RunState
    status: str
    values: Mapping[str, object]


class Link(ABC):
    """
    The topics of the robots.

    :ivar loop: makes the steps.
    :ivar profile: what the robot sides have said they are.
    :ivar apart: whether a plan of the exploration does not hold the robots up.
    :ivar after_description: called when a robot side has said what it is, before it is driven.
    """

    loop: Loop | FleetLoop
    profile: RobotProfile
    apart = False
    after_description: Callable[[], None] = staticmethod(lambda: None)

    @property
    def declaration(self) -> Declaration:
        """Return where actions may lead, as a robot side declares; empty if none does."""
        return self.profile.declaration

    @property
    def standing_by(self) -> bool:
        """Whether the robots are left to other explorers."""
        return False

    @property
    def last_order(self) -> int | None:
        """Return the last order, as ``WayAnswer`` has it; None for several robots."""
        return None

    @property
    def resting(self) -> str:
        """Why a robot without a name goes home to rest, or rests; else nothing."""
        return ''

    @property
    def steady(self) -> bool:
        """Whether no robot is waited for, so that a tick every ``STEADY_TICK`` s will do."""
        return False

    @property
    def robots(self) -> Sequence[RobotReport]:
        """Return how each robot of a fleet is; empty for a robot without a name."""
        return ()

    @property
    def faults(self) -> str:
        """Which robots of a fleet are in fault, and why, or nothing."""
        return ''

    @abstractmethod
    def tick(self, limits: StepLimits, now: float) -> None:
        """Look which nodes are there, and watch the times; to be called every ``TICK`` seconds."""

    def tick_while_busy(self, limits: StepLimits, now: float) -> None:
        """Do what can be done while a plan is made: nothing if the loop may not be touched."""

    @abstractmethod
    def missing(self, now: float) -> str:
        """Return what is needed and no node offers, or nothing; also while that is looked for."""

    def unanswered(self, now: float) -> float:
        """Return for how many s an answer has been owed, if it usually takes half of it."""
        return 0.0

    def counts(self, exploration: Exploration) -> Mapping[Pair, Mapping[int, int]]:
        """Return all transitions that were made, for a record."""
        return exploration.counts

    def announce(self) -> None:
        """Tell other explorers that this one is there; to be called once a second."""

    def stop(self, reason: str, at_once: bool = False) -> None:
        """Pause robots that would go on while a plan is made."""

    def leave(self, how: str, limit: float) -> bool:
        """
        Leave robots that are being driven; return whether that is over.

        :param how: as the parameter ``on_shutdown`` has it.
        :param limit: s, that a way home may take.
        """
        return True

    def close(self) -> None:
        """Say how the robots are left, before the topics and services are removed."""


class RobotLink(Link):
    """
    Hears ``state`` and which nodes are there; commands the robot or advises its driver.

    :ivar graph: which nodes are on the other side.
    """

    loop: Loop
    graph: GraphWatch

    def __init__(self, node: NodeInterface, parameters: Parameters, guard: CallbackGuard,
                 single: SingleRobotGuard) -> None:
        self._node = node
        self._guard = guard
        self._single = single
        self._robots = RobotSides(
            node, node.resolve_topic_name('action'), node.resolve_topic_name('state'))
        self.profile = RobotProfile(
            node, parameters['actions'], guard.while_open(self._on_description))
        self._rest = RestTopics(node, parameters, guard)
        self._looked = -float('inf')    # when the graph was looked at last
        self._looking_since = time.monotonic()

    def tick(self, limits: StepLimits, now: float) -> None:
        self.loop.adjust(limits)
        self._watch_graph(now)
        self._arbitrate(now)
        self._guard.call(self.loop.rest, self._rest.reason(now), now)
        self._guard.call(self.loop.tick, now)
        self._rest.tell(self.resting)

    @property
    def resting(self) -> str:
        return self.loop.resting

    def missing(self, now: float) -> str:
        if (self.loop.task.state is not RunState.WAITING_FOR_ROBOT    # else it is not asked for
                or self.standing_by or now < self._looking_since + _FIND):
            return ''
        return self.graph.missing

    def _on_description(self) -> None:
        self.after_description()
        self._arbitrate(time.monotonic())

    def _arbitrate(self, now: float) -> None:
        """Leave the robot to another explorer if there is one that has precedence."""

    def _subscribe(self, topic: str, take: Callable[[int, int], None]) -> Subscription:
        return hear(
            self._node, topic, messages.decode_step, self._guard.for_topic(
                lambda step: take(*step), messages.STEP.depth), messages.STEP)

    def _look_who_answers(self) -> None:
        """Look whether an answer may be that of another robot side, before it counts."""
        if self._robots.changed:
            self._single.look(self._robots.look())

    def _watch_graph(self, now: float, held_up: bool = False) -> None:
        """
        Tell the loop whether nodes have joined or left.

        :param held_up: whether the node has not looked for so long that a robot may have been
            replaced meanwhile. One that was killed is still seen for a while, so a robot
            side that has joined counts as having taken its place.
        """
        self._looked = now
        self._single.look(self._robots.look(now))
        if self._single.several:    # no order may be given again when another one has joined
            self._arbitrate(now)
        joined, left = self.graph.update(now)
        left |= joined and held_up
        if joined or left:
            self._guard.call(self.loop.on_graph_change, joined, left, now)

    def _look_again(self) -> None:
        """Look before a step if planning has held the node up: it may reach another robot."""
        now = time.monotonic()
        if now > self._looked + 2 * STEADY_TICK:
            self._watch_graph(now, held_up=True)


class AdviceLink(RobotLink):
    """
    Hears what a driver commands on ``action``, and advises it on ``advice``.

    :param task: what is explored.
    """

    loop: AdvisoryLoop

    def __init__(self, node: NodeInterface, parameters: Parameters, task: StepTask,
                 guard: CallbackGuard) -> None:
        # It can only go by which nodes are there: it gives no orders.
        super().__init__(node, parameters, guard, SingleRobotGuard(possible=False))
        self._objected = False    # at the last tick
        self._advice = node.create_publisher(Int64MultiArray, 'advice', messages.LATCHED)
        self.loop = AdvisoryLoop(task, step_limits(parameters), self._advise)
        self.loop.before_step = self._look_again
        orders = self._subscribe('action', self._on_order)
        states = self._subscribe('state', self._on_state)
        self.graph = GraphWatch(
            node, self._advice, states, None, orders, self._robots)

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
    def _objection(self) -> str:
        """Why nothing is learnt from what the driver does, or empty."""
        return self.profile.mismatch or self._single.objection(0.0, 0.0)

    def _advise(self, seq: int, action: int) -> None:
        if not self._objection:
            self._advice.publish(messages.encode_step(seq, action))

    def _on_order(self, seq: int, action: int) -> None:
        if not self._objection:
            self._guard.call(self.loop.on_order, seq, action, time.monotonic())

    def _on_state(self, seq: int, state: int) -> None:
        self._look_who_answers()
        if not self._objection:
            self._guard.call(self.loop.on_state, seq, state, time.monotonic())
