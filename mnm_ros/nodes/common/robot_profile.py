# SPDX-License-Identifier: Apache-2.0

"""The topic ``robot_side``, on which a robot side says what it is: its publisher, its readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
import math
import time

from mnm_ros import messages
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.progress.said import (
    as_said,
    Because,
    NoActions,
    NoActionsYet,
    NotDescribed,
    NotDescribedOn,
    Reason,
    Said,
)
from mnm_ros.core.queries import Phase
from mnm_ros.nodes.common.allowance import Allowance, PROBE
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.graph_watch import Endpoints
from mnm_ros.nodes.common.node_scope import NodeInterface, NodeScope
from mnm_ros.places.graph_change import GraphChange
from mnm_ros.robot_description import difference, RobotDescription, UNDESCRIBED
from mnm_ros.topics import ros_domain
from mnm_ros.view.sentences import sentence
from rclpy.subscription import Subscription
from std_msgs.msg import String

_TOPIC = 'robot_side'
_EARLY = 1.0      # s, that a description may arrive before its publisher is seen,
_LATE = 2.0       # and after that
_LOOK = 0.1       # s, between two checks whether it has come, and whether a robot side is there


class DescriptionTopic:
    """
    Publishes what a robot side is, once, and again when that has changed.

    The names and the positions of states stay published, also of states that are there no more: a
    late subscriber draws places that were lost, and asks for them, too.

    :param node: the robot side.
    :param describe: returns what it is at present.
    :ivar described: what was published last.
    """

    def __init__(self, node: NodeInterface, describe: Callable[[], RobotDescription]) -> None:
        self._node = node
        self._describe = describe
        self._publisher = node.create_publisher(String, _TOPIC, messages.LATCHED)
        self._actions: tuple[str, ...] = ()
        self.described: RobotDescription = UNDESCRIBED
        self._said = ''

    def keep_up(self, actions: Sequence[str]) -> None:
        """Publish once there are actions, and when they have changed; cheap otherwise."""
        if tuple(actions) != self._actions:
            self._actions = tuple(actions)
            self.publish()

    def publish(self) -> None:
        """
        Publish unless nothing has changed.

        A description that is wrong is logged instead: the robot can do without one.
        """
        try:
            described = self._describe().after(self.described)
            text = described.to_text()
        except ValueError as error:
            self._node.get_logger().error(f'nothing is published on {_TOPIC}: {error}')
            return
        self.described = described
        if text != self._said:
            self._said = text
            self._publisher.publish(String(data=text))


class RobotProfile:
    """
    The description of the robot side, and whether it is what the explorer expects.

    :param node: the explorer.
    :param actions: the names that it has for the actions.
    :param on_news: called with each description, when its verdict stands.
    :param allowance: for descriptions that differ; of too many the last one counts, later.
    :ivar description: ``UNDESCRIBED`` if there is none, or if no publisher of one is left.
    :ivar names: what states and actions are called, as far as that was ever said.
    :ivar text: the last one that was right, with these names, as JSON; empty before.
    :ivar mismatch: why it is not the robot that is expected, or empty.
    """

    def __init__(self, node: NodeInterface, actions: Sequence[str],
                 on_news: Callable[[], None], allowance: Allowance) -> None:
        self._node = node
        self._actions = tuple(actions)
        self._on_news = on_news
        self._unread: String | None = None
        self._take_soon = allowance.limited(
            node.resolve_topic_name(_TOPIC).lstrip('/'), self._take, self._keep)
        self.description: RobotDescription = UNDESCRIBED
        self.names: RobotDescription = replace(UNDESCRIBED, actions=self._actions)
        self.mismatch = self.text = ''
        self._publishers: frozenset[object] = frozenset()
        self._heard = self._wait_until = -math.inf
        self._subscription = self._subscribe()
        self._endpoints = Endpoints(node, self._subscription.topic_name, publishers=True)

    @property
    def declaration(self) -> Declaration:
        """Return where actions may lead, as the robot says that is expected; else nothing."""
        return Declaration() if self.mismatch else self.description.declaration

    def objection(self, now: float) -> Reason:
        """Return why the robot must not be driven, or nothing."""
        seen = self._endpoints.ids(now)
        joined, left = seen - self._publishers, self._publishers - seen
        self._publishers = seen
        if joined and now > self._heard + _EARLY:
            self._wait_until = now + _LATE
        if left and seen:    # whose message came last is unknown: hear those that are left
            self._node.destroy_subscription(self._subscription)
            self._subscription = self._subscribe()
        elif left:
            self.description, self.mismatch, self._wait_until = UNDESCRIBED, '', -math.inf
            self._unread = None
        if self._unread and now > self._heard + PROBE:
            self._take_soon(self._unread)
        if self.mismatch:
            return self.mismatch
        return NotDescribed() if now < self._wait_until else ''

    def recall(self, before: RobotDescription) -> None:
        """Take what a robot side has published before the node began, if its actions fit."""
        said = before.names or before.positions or before.moves
        if said and not difference(before, self._actions):
            self.names = before

    def _subscribe(self) -> Subscription:
        return self._node.create_subscription(
            String, _TOPIC, self._on_description, messages.LATCHED_BY_MANY)

    def _on_description(self, message: String) -> None:
        self._heard = time.monotonic()
        self._take_soon(message)

    def _keep(self, message: String) -> None:
        self._unread = message

    def _take(self, message: String) -> None:
        self._unread, self._wait_until = None, -math.inf
        try:
            said = RobotDescription.from_text(message.data)
            self.description = said.after(self.names)
        except ValueError as error:
            self.description = UNDESCRIBED
            mismatch = f'what it says on {self._subscription.topic_name} is wrong: {error}'
        else:
            mismatch = difference(self.description, self._actions) or self._other_graph(said)
            if not mismatch:
                self.names = self.description
                with suppress(ValueError):    # it may be too long with names from before
                    self.text = message.data
                    if self.names != said:
                        self.text = self.names.to_text()
        if mismatch and mismatch != self.mismatch:
            self._node.get_logger().error(f'the robot is not driven: {mismatch}')
        self.mismatch = mismatch
        self._on_news()

    def _other_graph(self, said: RobotDescription) -> str:
        """Return how places or ways have changed that have been learnt, or nothing."""
        change = GraphChange.between(self.names, said)
        return '' if change is None or change.keeps_numbers else (
            f'the graph has changed ({change.text}); start the explorer again, which keeps what '
            'it has learnt of the same places and ways')


class AwaitedDescription:
    """
    Waits for the first description of a robot side, and says so on ``phase`` and ``status``.

    :param node: the explorer; all that is made here is made by it.
    :param robots: the same, once for each robot, as it has the topics of that robot.
    :param all_set: returns whether what is to be found in it has been set meanwhile.
    :param language: of ``status``.
    :param begin: called with what the robot side says it is, once that is there, and with what is
        known of no robot side if all is set; returns why it cannot begin, or nothing.
    """

    def __init__(self, node: NodeScope, robots: Sequence[NodeScope], all_set: Callable[[], bool],
                 begin: Callable[[RobotDescription], Reason], language: str) -> None:
        self.node = node
        self._language = language
        self._all_set = all_set
        self._begin = begin
        self._description: RobotDescription | None = None
        self._wrong: Reason = ''
        self._told: Said | None = None
        self._there_since: float | None = None
        self._phase = node.create_publisher(String, 'phase', messages.LATCHED)
        self._status = node.create_publisher(String, 'status', messages.LATCHED)
        heard = [robot.create_subscription(
            String, _TOPIC, self._on_description, messages.LATCHED_BY_MANY) for robot in robots]
        self._topics = ', '.join(said.topic_name for said in heard)
        self._state_topics = [robot.resolve_topic_name('state') for robot in robots]
        every(_LOOK, node, self._look)
        self._phase.publish(String(data=Phase.WAITING_FOR_ROBOT.value))
        self._tell(self._missing())

    def _on_description(self, message: String) -> None:
        try:
            self._description, self._wrong = RobotDescription.from_text(message.data), ''
        except ValueError as error:
            self._wrong = f'what it says on {self._topics} is wrong: {error}'

    def _look(self) -> None:
        if self._description or self._all_set():
            wrong = self._begin(self._description or UNDESCRIBED)
            if not wrong:
                return
            self._description, self._wrong = None, wrong
        self._tell(self._wrong or self._missing())

    def _missing(self) -> Reason:
        now = time.monotonic()
        if not any(map(self.node.count_publishers, self._state_topics)):
            self._there_since = None
            return NotDescribedOn(self._topics, ros_domain())
        if self._there_since is None:
            self._there_since = now
        if now < self._there_since + _LATE:
            return NoActionsYet()
        return NoActions(self._topics)

    def _tell(self, reason: Reason) -> None:
        said = as_said(reason)
        if said is not None and said != self._told:
            self._told = said
            waiting = Because('waiting for the robot', said)
            self._status.publish(String(data=sentence(waiting, language=self._language)))
            self.node.get_logger().info(sentence(waiting))
