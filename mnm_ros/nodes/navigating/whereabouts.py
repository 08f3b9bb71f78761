# SPDX-License-Identifier: Apache-2.0

"""Where a goal may begin: where the robot is, if that is certain, and the way from there."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from mnm_ros import messages
from mnm_ros.core.model.direct_way import DirectWay
from mnm_ros.core.progress.way_answer import WayAnswer
from mnm_ros.protocol.exchange import REPORT
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import Int64, Int64MultiArray, String

_REPEAT = 0.2    # s, after which the explorer is asked again
_WAIT = 2.0      # s, for its answer, and for the last state


class GoalStart(NamedTuple):
    """
    Where a goal begins.

    :ivar here: the state of the robot; None if it has to go home first.
    :ivar way: from there, if one is known.
    :ivar reason: why it has to go home.
    """

    here: int | None
    way: DirectWay | None
    reason: str


class Whereabouts:
    """
    Finds out where the robot is, and asks the explorer for the way from there.

    The last state that was heard is where the robot is if it answers the last order of this node
    or of the explorer, none of theirs is open, no other node commands the robot, and the robot
    sides have been the same since.

    :param actions: the publisher of orders of this node.
    """

    def __init__(self, node: Node, actions: Publisher[Int64MultiArray]) -> None:
        self._node = node
        self._actions = actions
        self._heard: tuple[int, int] | None = None
        self._lost = 'the robot was not heard yet'
        self._goal: int | None = None    # the id of that which was asked for
        self._target: int | None = None
        self._answer: WayAnswer | None = None
        self._ask_at = self._ask_until = 0.0
        messages.hear(node, String, 'way', messages.STEP, messages.decode_way, self._on_way)
        self._requests = node.create_publisher(Int64, 'way/request', messages.STEP)

    @property
    def last_seen(self) -> int | None:
        """Return the last state heard, which the robot may have left; None if it was lost."""
        return self._heard[1] if self._heard else None

    def heard(self, seq: int, state: int) -> None:
        """Take a ``state`` message."""
        self._heard = seq, state

    def lose(self, reason: str) -> None:
        """Take note that the robot may be anywhere, until it is heard again."""
        self._heard, self._lost = None, reason

    def beginning(self, goal_id: int, target: int, order: int | None,
                  now: float) -> GoalStart | None:
        """
        Return where a goal begins; None while that is being found out.

        :param order: the last of this node, 0 if there is none, None if it may be open.
        """
        if self._heard == (order, target) and self._alone:
            return GoalStart(target, None, '')
        reason = self._obstacle(order)
        if reason:
            return GoalStart(None, None, reason)
        if goal_id != self._goal:
            self._goal, self._target, self._answer = goal_id, target, None
            self._ask_at, self._ask_until = now, now + _WAIT
        answer, late = self._answer, now >= self._ask_until
        if answer is None and late:
            return GoalStart(None, None, 'the explorer has not answered what way there is')
        if answer is None:
            self._ask(target, now)
            return None
        if answer.last_order is None:
            return GoalStart(None, None, 'the explorer may have an order open')
        return self._by(answer, (order or 0, answer.last_order), late)

    @property
    def _alone(self) -> bool:
        """Whether no other node commands the robot, nor an explorer."""
        return self._node.count_publishers(self._actions.topic_name) == 1

    def _obstacle(self, order: int | None) -> str:
        if self._heard is None:
            return self._lost
        if self._heard[0] == REPORT:
            return 'the robot was moved, or led home by the service'
        if order is None:
            return 'an order was not answered'
        if not self._requests.get_subscription_count():
            return 'no explorer is there that knows another way'
        # The explorer that answers commands the robot, too.
        if self._node.count_publishers(self._actions.topic_name) > 2:
            return 'another node may command the robot'
        return ''

    def _by(self, answer: WayAnswer, orders: Collection[int], late: bool) -> GoalStart | None:
        assert self._heard
        seq, state = self._heard
        if seq in orders:
            return GoalStart(state, answer.way, '')
        # The answer to the last order may be on its way.
        return GoalStart(None, None, 'another node has commanded the robot') if late else None

    def _ask(self, target: int, now: float) -> None:
        if now >= self._ask_at:
            self._ask_at = now + _REPEAT
            self._requests.publish(Int64(data=target))

    def _on_way(self, answer: WayAnswer) -> None:
        if answer.target == self._target:    # others ask, too
            self._answer = answer
