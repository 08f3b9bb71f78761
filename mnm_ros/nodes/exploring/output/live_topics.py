# SPDX-License-Identifier: Apache-2.0

"""The topics that show an exploration as it is now, and ``way``, which answers ``way/request``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import math
import pickle
import time
from typing import NamedTuple, TypeVar

from mnm_ros import messages
from mnm_ros.core.continuation import Continuation
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import over_own_targets
from mnm_ros.core.progress import trust, way_answer
from mnm_ros.core.progress.activity import ClosedWay
from mnm_ros.core.progress.trust import TrustedPolicy
from mnm_ros.core.view import View
from mnm_ros.lookout import Lookout, Throttle
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.explored import Explored
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.link import Link
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view import live
from rclpy.serialization import serialize_message
from std_msgs.msg import Int64, Int64MultiArray, String

_MODEL_PERIOD = 1.0       # s, at least between two messages
_ACTIVITY_PERIOD = 0.2    # s
_LATEST = 0.8             # s, after which the activity is published again, though it is the same
_TRUST_PERIOD = 1.0       # s
_QUIET = 60.0             # s, between two warnings
_SHARE = 0.005            # of the time, for copies of the process; the activity has twice as much

_T = TypeVar('_T')


def lookout(node: NodeInterface, take: Callable[[_T], object], period: float,
            share: float = _SHARE) -> Lookout[_T]:
    """Return what has something worked out for a node, which logs what goes wrong."""
    return Lookout(take, lambda text: node.get_logger().warning(
        text, throttle_duration_sec=_QUIET), period, share)


class LiveTopics:
    """
    ``model`` and ``activity``, published only while a node listens.

    The model is published if it has changed, and the activity once a second at least.
    """

    def __init__(self, node: NodeInterface, language: str) -> None:
        self._language = language
        self._model = node.create_publisher(Int64MultiArray, 'model', messages.LATCHED)
        self._activity = node.create_publisher(String, 'activity', messages.LATCHED)
        self._now = lookout(node, self._take, _ACTIVITY_PERIOD, 2 * _SHARE)
        self._later = lookout(node, self._played, _ACTIVITY_PERIOD)
        self._model_pace = Throttle(_MODEL_PERIOD)
        self._counted: object = None    # what the last model was of
        self._of: Exploration | None = None    # the exploration of these:
        self._view, self._continuation = b'', Continuation()
        self._told = '', -math.inf    # and when

    def close(self) -> None:
        """End what is under way."""
        self._now.close()
        self._later.close()

    def republish(self) -> None:
        """Publish both again as soon as possible, for subscribers that lost them."""
        self._counted, self._told = None, ('', -math.inf)
        self._now.pace.hurry()
        self._model_pace.hurry()

    def news(self, exploration: Exploration, status: str, closed: tuple[ClosedWay, ...],
             names: RobotDescription, seen: int | None, now: float) -> None:
        """
        Publish what has changed and is due.

        :param status: as it is published.
        :param closed: the ways that are closed.
        :param names: of states and actions.
        :param seen: the last state that the robot has reported, if any.
        """
        if exploration is not self._of:
            self.close()
            self._of, self._view = exploration, pickle.dumps(View())
            self._continuation = Continuation()
        self.while_busy(now)
        counted = (exploration, exploration.steps, exploration.work)
        model = counted != self._counted and self._model_pace.wanted(
            self._model.get_subscription_count(), now)
        listened = self._now.pace.wanted(self._activity.get_subscription_count(), now)
        if self._now.collect() and (model or listened):
            if model:
                self._counted = counted
                self._model_pace.do(lambda: None, now)
            self._now.ask(lambda: self._look(
                exploration, (status, closed, names, seen) if listened else None, model), now)
        if (listened and self._later.collect() and exploration.hypothesis is None
                and self._continuation.is_due(exploration.steps)):
            self._later.ask(lambda: live.played_on(exploration, self._continuation), now)

    def while_busy(self, now: float) -> None:
        """Publish what has been worked out; the activity again if it is about to seem silent."""
        self._now.collect()
        self._later.collect()
        text, when = self._told
        if text and now >= when + _LATEST and self._activity.get_subscription_count():
            self._tell(text)

    def _look(self, exploration: Exploration,
              said: tuple[str, tuple[ClosedWay, ...], RobotDescription, int | None] | None,
              model: bool) -> tuple[bytes, str, bytes]:
        """Return the view, pickled, and the text and the message that are published, if any."""
        view: View = pickle.loads(self._view)
        view.continuation = self._continuation
        text = live.activity(exploration, view, *said, self._language) if said else ''
        return (pickle.dumps(view), text, serialize_message(messages.encode_model(
            exploration.steps, exploration.history.rows())) if model else b'')

    def _take(self, found: tuple[bytes, str, bytes]) -> None:
        self._view, text, model = found
        if model:
            self._model.publish(model)
        if text and text != self._told[0]:
            self._tell(text)

    def _tell(self, text: str) -> None:
        self._told = text, time.monotonic()
        self._activity.publish(String(data=text))

    def _played(self, continuation: Continuation) -> None:
        self._continuation = continuation


class Trusted(NamedTuple):
    """
    The values worked out for ``TrustTopics``.

    :ivar view: pickled, for the next time.
    :ivar others: the policies that are of no hypothesis.
    :ivar since: as ``TrustLedger.to_state`` has it.
    :ivar said: if it is news, its revision, what is said by state, pickled, and both messages.
    """

    view: bytes
    others: tuple[TrustedPolicy, ...]
    since: list[tuple[int, str, int]]
    said: tuple[int, bytes, bytes, str] | None


class TrustTopics:
    """
    ``provisional_policies`` and ``trust``, published together, only while a node subscribes.

    :param node: that has the topics.
    :param up_to: as ``messages.are_few`` has it.
    :param language: of the sentences.
    :param since: as ``TrustLedger.to_state`` had it before a restart.
    :ivar since: as it has it now.
    :ivar told: what was published last, by state; pickled.
    """

    def __init__(self, node: NodeInterface, up_to: int, language: str,
                 since: Iterable[tuple[int, str, int]] = ()) -> None:
        self._up_to, self._language = up_to, language
        self._policies = node.create_publisher(
            Int64MultiArray, 'provisional_policies', messages.LATCHED)
        self._trust = node.create_publisher(String, 'trust', messages.LATCHED)
        self._lookout = lookout(node, self._take, _TRUST_PERIOD)
        self._revision = 0
        self._of: Exploration | None = None
        self._view = b''
        self._again = False    # whether it is published though it is the same
        self.since, self.told = [*since], pickle.dumps({})
        self._kept = self.since    # a query before it is restored has nothing to go on from

    def close(self) -> None:
        """End what is under way."""
        self._lookout.close()

    def republish(self) -> None:
        """Publish both again as soon as possible, for those who lost them."""
        self._again = True
        self._lookout.pace.hurry()

    def news(self, exploration: Exploration, seconds: Mapping[int, float],
             names: RobotDescription, shown: bool, now: float) -> None:
        """
        Publish what has changed and is due.

        :param seconds: mean time of each action, as far as it is known.
        :param names: of states and actions.
        :param shown: whether ``told`` is wanted though no node may subscribe.
        :param now: time in seconds.
        """
        if exploration is not self._of:
            self._lookout.close()
            self._of, self._view = exploration, pickle.dumps(View(
                each for each in self.since or self._kept if each[-1] <= exploration.steps))
        listeners = shown + sum(publisher.get_subscription_count()
                                for publisher in (self._policies, self._trust))
        if self._lookout.collect() and self._lookout.pace.wanted(listeners, now):
            again, self._again = self._again, False
            self._lookout.ask(lambda: self._look(exploration, seconds, names, again), now)

    def collect(self) -> None:
        """Publish what has been worked out."""
        self._lookout.collect()

    def _look(self, exploration: Exploration, seconds: Mapping[int, float],
              names: RobotDescription, again: bool) -> Trusted:
        view: View = pickle.loads(self._view)
        before, view.told = view.told, live.trusted(
            exploration, view, seconds, names, self._language)
        known = exploration.hypothesis.targets if exploration.hypothesis else ()
        return Trusted(
            pickle.dumps(view),
            tuple(each for each in view.told if each.policy.target not in known),
            view.ledger.to_state(),
            self._said(exploration, view.told) if view.told and (
                again or view.told != before) else None)

    def _said(self, exploration: Exploration,
              told: tuple[TrustedPolicy, ...]) -> tuple[int, bytes, bytes, str]:
        # It grows, also from one start of the node to the next, as the steps are kept.
        version = exploration.mnm.round, max(self._revision + 1, exploration.steps)
        policies = [each.policy for each in told]
        few = messages.are_few(policies, self._up_to)
        return (version[1], pickle.dumps({each.policy.target: each for each in told}),
                serialize_message(messages.PolicySet(
                    *version, told[0].policy.horizon,
                    over_own_targets(policies) if few else ()).to_msg()),
                trust.to_json(version, told))

    def _take(self, found: Trusted) -> None:
        self._view, others, self.since, said = found
        if self._of is not None:
            self._of.provisional = others
        if said is not None:
            self._revision, self.told, policies, text = said
            self._policies.publish(policies)
            self._trust.publish(String(data=text))


class WayTopic:
    """
    Says how a state is reached from elsewhere than home, and whether the robot is at rest.

    :param explored: what knows the ways.
    :param link: to the robots.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard,
                 explored: Explored, link: Link) -> None:
        self._explored = explored
        self._link = link
        self._ways = node.create_publisher(String, 'way', messages.STEP)
        node.create_subscription(Int64, 'way/request', guard.limited(
            'way/request', guard.for_topic(self._on_request, 1)), messages.STEP)

    def _on_request(self, message: Int64) -> None:
        command = self._link.last_command
        # A way is of no use as long as it is not known where the robot is.
        way = None if command is None else self._explored.exploration.direct_way(message.data)
        self._ways.publish(String(data=way_answer.to_json(
            way_answer.WayAnswer(message.data, command, way))))
