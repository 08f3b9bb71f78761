# SPDX-License-Identifier: Apache-2.0

"""The topics that show an exploration as it is now, and ``way``, which answers ``way/request``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
import math
import time
from typing import TypeVar

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import over_own_targets
from mnm_ros.core.progress import trust, way_answer
from mnm_ros.core.progress.trust import TrustedPolicy
from mnm_ros.core.task.step_task import RunState
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.named import named
from std_msgs.msg import Int64, Int64MultiArray, String

_MODEL_PERIOD = 1.0       # s, at least between two messages
_ACTIVITY_PERIOD = 0.2    # s
_SHARE = 0.01             # of the time that each of the two may take
_TRUST_PERIOD = 1.0       # s
_MOST_LOOKS = 8           # certificates worked out each time
_LONG = 0.02              # s, for these: among 1,000 states one may take as long

_T = TypeVar('_T')


class Throttle:
    """
    Keeps what it is asked about to a period and to a small share of the time.

    :param period: in seconds, at least between two times.
    :param share: of the time, at most.
    """

    def __init__(self, period: float, share: float = 0.02) -> None:
        self._period = period
        self._share = share
        self._next = -math.inf
        self._listeners = 0

    def wanted(self, listeners: int, now: float) -> bool:
        """Return whether a node listens and it is due: at once for a new one."""
        if listeners > self._listeners:
            self.hurry()
        self._listeners = listeners
        return listeners > 0 and self.due(now)

    def due(self, now: float) -> bool:
        """Return whether it may be done."""
        return now >= self._next

    def hurry(self) -> None:
        """Let it be due at once."""
        self._next = -math.inf

    def do(self, work: Callable[[], _T], now: float) -> _T:
        """Do it, and return what it returns; what has taken long is not due again soon."""
        begun = time.monotonic()
        result = work()
        taken = time.monotonic() - begun
        self._next = now + max(self._period, taken / self._share)
        return result


class LiveTopics:
    """``model`` and ``activity``, published only while a node listens, and only if changed."""

    def __init__(self, node: NodeInterface) -> None:
        self._model = node.create_publisher(Int64MultiArray, 'model', messages.LATCHED)
        self._activity = node.create_publisher(String, 'activity', messages.LATCHED)
        self._paces = {
            self._model: Throttle(_MODEL_PERIOD, _SHARE),
            self._activity: Throttle(_ACTIVITY_PERIOD, _SHARE)}
        self._counted: object = None    # what the last model was of
        self._told = ''

    def republish(self) -> None:
        """Publish both again as soon as possible, for subscribers that lost them."""
        self._counted, self._told = None, ''
        for pace in self._paces.values():
            pace.hurry()

    def news(self, exploration: Exploration, status: str, names: RobotDescription,
             now: float) -> None:
        """
        Publish what has changed and is due.

        :param status: as it is published.
        :param names: of states and actions.
        """
        if self._paces[self._model].wanted(self._model.get_subscription_count(), now):
            counted = (exploration, exploration.steps, exploration.work)
            if counted != self._counted:
                self._counted = counted
                self._paces[self._model].do(lambda: self._publish_model(exploration), now)
        if self._paces[self._activity].wanted(self._activity.get_subscription_count(), now):
            self._paces[self._activity].do(
                lambda: self._publish_activity(exploration, status, names), now)

    def _publish_model(self, exploration: Exploration) -> None:
        self._model.publish(messages.encode_model(exploration.steps, exploration.transitions()))

    def _publish_activity(self, exploration: Exploration, status: str,
                          names: RobotDescription) -> None:
        activity = exploration.activity()
        text = replace(activity, sentence=named(activity.sentence, names) if (
            exploration.state is RunState.RUNNING) else status).to_json()
        if text != self._told:
            self._told = text
            self._activity.publish(String(data=text))


class TrustTopics:
    """
    ``provisional_policies`` and ``trust``, published together, only while a node subscribes.

    :param node: that has the topics.
    :param up_to: as ``messages.are_few`` has it.
    :ivar told: what was said last, by state.
    """

    def __init__(self, node: NodeInterface, up_to: int) -> None:
        self._up_to = up_to
        self._policies = node.create_publisher(
            Int64MultiArray, 'provisional_policies', messages.LATCHED)
        self._trust = node.create_publisher(String, 'trust', messages.LATCHED)
        self._pace = Throttle(_TRUST_PERIOD)
        self._revision = 0
        self._looks = 1
        self._published: tuple[TrustedPolicy, ...] = ()
        self.told: dict[int, TrustedPolicy] = {}

    def republish(self) -> None:
        """Publish both again as soon as possible, for those who lost them."""
        self._published = ()
        self._pace.hurry()

    def news(self, exploration: Exploration, seconds: Mapping[int, float],
             names: RobotDescription, shown: bool, now: float) -> None:
        """
        Publish what has changed and is due.

        :param seconds: mean time of each action, as far as it is known.
        :param names: of states and actions.
        :param shown: whether ``told`` is wanted though no node may subscribe.
        :param now: time in seconds.
        """
        listeners = shown + sum(publisher.get_subscription_count()
                                for publisher in (self._policies, self._trust))
        if self._pace.wanted(listeners, now):
            self._pace.do(lambda: self._publish(exploration, seconds, names), now)

    def _publish(self, exploration: Exploration, seconds: Mapping[int, float],
                 names: RobotDescription) -> None:
        begun = time.monotonic()
        told = tuple(replace(each.timed(seconds), why=named(each.why, names))
                     for each in exploration.trust(self._looks))
        self._looks = (min(_MOST_LOOKS, self._looks + 1) if time.monotonic() < begun + _LONG
                       else max(1, self._looks // 2))
        if told == self._published:
            return
        self._published, self.told = told, {each.policy.target: each for each in told}
        if not told:
            return
        # It grows, also from one start of the node to the next, as the steps are kept.
        self._revision = max(self._revision + 1, exploration.steps)
        version = exploration.round, self._revision
        policies = [each.policy for each in told]
        few = messages.are_few(policies, self._up_to)
        self._policies.publish(messages.PolicySet(
            *version, told[0].policy.horizon,
            over_own_targets(policies) if few else ()).to_msg())
        self._trust.publish(String(data=trust.to_json(version, told)))


class WayTopic:
    """
    Says how a state is reached from elsewhere than home, and whether the robot is at rest.

    :param exploration: returns the present one.
    :param last_order: returns what ``WayAnswer`` has.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard,
                 exploration: Callable[[], Exploration],
                 last_order: Callable[[], int | None]) -> None:
        self._exploration = exploration
        self._last_order = last_order
        self._ways = node.create_publisher(String, 'way', messages.STEP)
        node.create_subscription(Int64, 'way/request', guard.limited(
            'way/request', guard.for_topic(self._on_request, 1)), messages.STEP)

    def _on_request(self, message: Int64) -> None:
        order = self._last_order()
        # A way is of no use as long as it is not known where the robot is.
        way = None if order is None else self._exploration().direct_way(message.data)
        self._ways.publish(String(data=way_answer.to_json(
            way_answer.WayAnswer(message.data, order, way))))
