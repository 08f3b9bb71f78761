# SPDX-License-Identifier: Apache-2.0

"""The topics that show an exploration as it is now, and ``way``, which answers ``way/request``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
import math
import os
import pickle
import time
from typing import Generic, NamedTuple, TypeVar

from mnm_ros import messages
from mnm_ros.core.continuation import Continuation
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import over_own_targets
from mnm_ros.core.progress import trust, way_answer
from mnm_ros.core.progress.trust import TrustedPolicy
from mnm_ros.core.task.step_task import RunState
from mnm_ros.core.view import View
from mnm_ros.forked_query import ForkedQuery
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.named import named
from rclpy.serialization import serialize_message
from std_msgs.msg import Int64, Int64MultiArray, String

_MODEL_PERIOD = 1.0       # s, at least between two messages
_ACTIVITY_PERIOD = 0.2    # s
_LATEST = 0.8             # s, after which the activity is published again, though it is the same
_SHARE = 0.02             # of the time, for making copies of the process
_TRUST_PERIOD = 1.0       # s
_MOST_LOOKS = 8           # certificates worked out each time
_LONG = 0.1               # s of computing, for these: among 1,000 states one may take as long
_NICE = 10                # of what may take long
_QUIET = 60.0             # s, between two warnings

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
        begun = time.thread_time()
        result = work()
        taken = time.thread_time() - begun
        self._next = now + max(self._period, taken / self._share)
        return result


class Lookout(Generic[_T]):
    """
    Has something that is shown worked out in copies of the process, one at a time.

    :param node: that logs what goes wrong.
    :param take: called with each answer in the thread of the node.
    :param period, share: as ``Throttle`` has them; the share is of the making of copies.
    """

    def __init__(self, node: NodeInterface, take: Callable[[_T], object], period: float,
                 share: float = _SHARE) -> None:
        self.pace = Throttle(period, share)
        self._node, self._take = node, take
        self._query: ForkedQuery[_T] = ForkedQuery()

    def collect(self) -> bool:
        """Take what has been worked out; return whether something else may be asked."""
        self._attempt(self._collect)
        return not self._query.running

    def ask(self, question: Callable[[], _T], now: float) -> None:
        """Begin to work something out, as ``ForkedQuery`` has it."""
        self._attempt(lambda: self.pace.do(lambda: self._query.ask(question), now))

    def close(self) -> None:
        """End what is under way."""
        self._query.close()

    def _collect(self) -> None:
        answer = self._query.answer()
        if answer is not None:
            self._take(answer)

    def _attempt(self, work: Callable[[], object]) -> None:
        try:
            work()
        except (OSError, RuntimeError) as error:
            self._node.get_logger().warning(
                f'what is shown is not up to date: {error}', throttle_duration_sec=_QUIET)


class Shown(NamedTuple):
    """
    What was worked out for ``LiveTopics``.

    :ivar view: pickled, for the next time.
    :ivar activity: the text of the message; None if it is not wanted, as the next one.
    :ivar model: the message, serialised.
    """

    view: bytes
    activity: str | None
    model: bytes | None


class LiveTopics:
    """
    ``model`` and ``activity``, published only while a node listens.

    The model is published if it has changed, and the activity once a second at least.
    """

    def __init__(self, node: NodeInterface) -> None:
        self._model = node.create_publisher(Int64MultiArray, 'model', messages.LATCHED)
        self._activity = node.create_publisher(String, 'activity', messages.LATCHED)
        self._now = Lookout(node, self._take, _ACTIVITY_PERIOD)
        self._later = Lookout(node, self._played, _ACTIVITY_PERIOD)
        self._model_pace = Throttle(_MODEL_PERIOD)
        self._counted: object = None    # what the last model was of
        self._of: object = None    # the exploration of these:
        self._view, self._continuation = pickle.dumps(View()), Continuation()
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

    def news(self, exploration: Exploration, status: str, names: RobotDescription,
             now: float) -> None:
        """
        Publish what has changed and is due.

        :param status: as it is published.
        :param names: of states and actions.
        """
        self.while_busy(now)
        if exploration is not self._of:
            self.close()
            self._of = exploration
            self._view, self._continuation = pickle.dumps(View()), Continuation()
        counted = (exploration, exploration.steps, exploration.work)
        model = counted != self._counted and self._model_pace.wanted(
            self._model.get_subscription_count(), now)
        activity = self._now.pace.wanted(self._activity.get_subscription_count(), now)
        if self._now.collect() and (model or activity):
            if model:
                self._counted = counted
                self._model_pace.do(lambda: None, now)
            self._now.ask(lambda: _shown(exploration, pickle.loads(self._view), self._continuation,
                                         (status, names) if activity else None, model), now)
        if (activity and self._later.collect() and exploration.hypothesis is None
                and self._continuation.is_due(exploration.steps)):
            self._later.ask(lambda: _played_on(exploration, self._continuation), now)

    def while_busy(self, now: float) -> None:
        """Publish what has been worked out; the activity again if it is about to seem silent."""
        self._now.collect()
        self._later.collect()
        text, when = self._told
        if text and now >= when + _LATEST and self._activity.get_subscription_count():
            self._tell(text)

    def _take(self, shown: Shown) -> None:
        self._view = shown.view
        if shown.model is not None:
            self._model.publish(shown.model)
        if shown.activity not in (None, self._told[0]):
            self._tell(shown.activity)

    def _tell(self, text: str) -> None:
        self._told = text, time.monotonic()
        self._activity.publish(String(data=text))

    def _played(self, continuation: Continuation) -> None:
        self._continuation = continuation


def _shown(exploration: Exploration, view: View, continuation: Continuation,
           activity: tuple[str, RobotDescription] | None, model: bool) -> Shown:
    """Work out what ``LiveTopics`` publishes; ``activity`` is its status, and the names."""
    text = None
    if activity:
        view.continuation = continuation
        status, names = activity
        found = exploration.activity(view)
        text = replace(found, sentence=named(found.sentence, names) if (
            exploration.state is RunState.RUNNING) else status).to_json()
    return Shown(pickle.dumps(view), text, serialize_message(messages.encode_model(
        exploration.steps, exploration.transitions())) if model else None)


def _played_on(exploration: Exploration, continuation: Continuation) -> Continuation:
    """Play on beside all that is more urgent."""
    os.nice(_NICE)
    view = View()
    view.continuation = continuation
    exploration.play_on(view)
    return view.continuation


class Trusted(NamedTuple):
    """
    What was worked out for ``TrustTopics``.

    :ivar memory: pickled ``(view, told)``, for the next time.
    :ivar looks: how many policies may be worked out the next time.
    :ivar provisional: what goals may follow beside the hypothesis.
    :ivar since: as ``TrustLedger.to_state`` has it.
    :ivar told: pickled, by state; with both messages if something has changed.
    """

    memory: bytes
    looks: int
    provisional: tuple[TrustedPolicy, ...]
    since: list[tuple[int, str, int]]
    revision: int
    told: tuple[bytes, bytes, str] | None


class TrustTopics:
    """
    ``provisional_policies`` and ``trust``, published together, only while a node subscribes.

    :param node: that has the topics.
    :param up_to: as ``messages.are_few`` has it.
    :param since: as ``TrustLedger.to_state`` had it before a restart.
    :ivar told: what was said last, by state; pickled.
    :ivar since: as ``TrustLedger.to_state`` has it.
    """

    def __init__(self, node: NodeInterface, up_to: int,
                 since: Iterable[tuple[int, str, int]] = ()) -> None:
        self._up_to = up_to
        self._policies = node.create_publisher(
            Int64MultiArray, 'provisional_policies', messages.LATCHED)
        self._trust = node.create_publisher(String, 'trust', messages.LATCHED)
        self._lookout = Lookout(node, self._take, _TRUST_PERIOD)
        self._revision = 0
        self._looks = 1
        self._of: Exploration | None = None
        self._memory = b''
        self._again = False    # whether it is published though it is the same
        self.since = [*since]
        self.told = pickle.dumps({})

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
            since = [each for each in self.since if each[-1] <= exploration.steps]
            self._of, self._memory = exploration, pickle.dumps((View(since), ()))
        listeners = shown + sum(publisher.get_subscription_count()
                                for publisher in (self._policies, self._trust))
        if self._lookout.collect() and self._lookout.pace.wanted(listeners, now):
            again, self._again = self._again, False
            self._lookout.ask(
                lambda: self._trusted(exploration, dict(seconds), names, again), now)

    def collect(self) -> None:
        """Publish what has been worked out."""
        self._lookout.collect()

    def _trusted(self, exploration: Exploration, seconds: Mapping[int, float],
                 names: RobotDescription, again: bool) -> Trusted:
        view, before = pickle.loads(self._memory)
        begun = time.thread_time()
        told = tuple(replace(each.timed(seconds), why=named(each.why, names))
                     for each in exploration.trust(self._looks, view))
        looks = (min(_MOST_LOOKS, self._looks + 1) if time.thread_time() < begun + _LONG
                 else max(1, self._looks // 2))
        known = exploration.hypothesis.targets if exploration.hypothesis else ()
        # It grows, also from one start of the node to the next, as the steps are kept.
        revision = max(self._revision + 1, exploration.steps)
        return Trusted(
            pickle.dumps((view, told)), looks,
            tuple(each for each in told if each.policy.target not in known),
            view.ledger.to_state(), revision,
            None if not told or told == before and not again
            else self._messages(told, (exploration.round, revision)))

    def _messages(self, told: Sequence[TrustedPolicy],
                  version: tuple[int, int]) -> tuple[bytes, bytes, str]:
        policies = [each.policy for each in told]
        few = messages.are_few(policies, self._up_to)
        return (pickle.dumps({each.policy.target: each for each in told}),
                serialize_message(messages.PolicySet(
                    *version, told[0].policy.horizon,
                    over_own_targets(policies) if few else ()).to_msg()),
                trust.to_json(version, told))

    def _take(self, trusted: Trusted) -> None:
        self._memory, self._looks = trusted.memory, trusted.looks
        self.since = trusted.since
        if self._of is not None:
            self._of.provisional = trusted.provisional
        if trusted.told is not None:
            self._revision = trusted.revision
            self.told, policies, text = trusted.told
            self._policies.publish(policies)
            self._trust.publish(String(data=text))


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
        node.create_subscription(
            Int64, 'way/request', guard.for_topic(self._on_request, 1), messages.STEP)

    def _on_request(self, message: Int64) -> None:
        order = self._last_order()
        # A way is of no use as long as it is not known where the robot is.
        way = None if order is None else self._exploration().direct_way(message.data)
        self._ways.publish(String(data=way_answer.to_json(
            way_answer.WayAnswer(message.data, order, way))))
