# SPDX-License-Identifier: Apache-2.0

"""Commands, and who takes part in the step protocol, as the graph shows it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
import math
import time

from mnm_ros import messages
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import BagPlayed, NoPublisher, NoService, NoSubscriber, Reason
from mnm_ros.nodes.common.commanding import HomeService
from mnm_ros.nodes.common.node_scope import NodeInterface
from rclpy.duration import Duration
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.utilities import get_rmw_implementation_identifier
from std_msgs.msg import Int64MultiArray

_PARTICIPANT = 12    # bytes of the id of an endpoint of DDS that its whole participant has
_REPLACED = 0.1      # s, at most, until a node that takes the place of another is noticed
_MATCH = 1.0         # s, until a robot that is there can surely be reached
_PLAYER = 'rosbag2_player'    # part of the name of a node that plays a bag
_ZENOH = 'rmw_zenoh_cpp'    # where the ids of one process have nothing in common


def identities(endpoints: Iterable[TopicEndpointInfo]) -> frozenset[object]:
    """Return the ids of endpoints; a count would not show that one has replaced another."""
    return frozenset(tuple(endpoint.endpoint_gid) for endpoint in endpoints)


def full_name(endpoint: TopicEndpointInfo) -> str:
    """Return the fully qualified name of the node that has an endpoint."""
    return f'{endpoint.node_namespace.rstrip("/")}/{endpoint.node_name}'


def known_name(endpoint: TopicEndpointInfo) -> str:
    """Return the same for people; a node is found some time after its endpoints."""
    return ('a node without a name yet' if endpoint.node_name in messages.NAMELESS
            else full_name(endpoint))


def bag_played(endpoints: Iterable[TopicEndpointInfo]) -> BagPlayed | None:
    """Return why what comes from these publishers may be old: one plays a bag; or None."""
    players = sorted({full_name(each) for each in endpoints if _PLAYER in each.node_name})
    return BagPlayed(', '.join(players)) if players else None


def apart(endpoints: Iterable[TopicEndpointInfo],
          others: Iterable[TopicEndpointInfo]) -> list[str]:
    """Return the names of the nodes that have some of the endpoints and none of the others."""
    near = _by_participant(others)
    return sorted({known_name(endpoint)
                   for participant, found in _by_participant(endpoints).items()
                   if participant not in near for endpoint in found})


class Endpoints:
    """
    The publishers of a topic, or its subscribers.

    They are counted each time that they are asked for, which is cheap, once for each moment. Who
    they are is read from the graph when there are more or fewer than before, and otherwise after
    some time: one may have taken another one's place between two counts.

    :param topic: fully qualified name.
    :param publishers: whether it is they.
    :ivar counted: how many there were when ``known`` or ``ids`` was asked for last.
    """

    def __init__(self, node: NodeInterface, topic: str, publishers: bool) -> None:
        self._topic = topic
        self._handle = node.handle
        self._look_up = (node.get_publishers_info_by_topic if publishers
                         else node.get_subscriptions_info_by_topic)
        # The node's own methods check the name each time, which takes longer than to count.
        self._count = (self._handle.get_count_publishers if publishers
                       else self._handle.get_count_subscribers)
        self._known: tuple[TopicEndpointInfo, ...] = ()
        self._ids: frozenset[object] = frozenset()
        self._asked = self._again = -math.inf    # when; and when they are read again
        self.counted = 0

    @property
    def count(self) -> int:
        """Return how many there are."""
        with self._handle:
            return int(self._count(self._topic))

    def known(self, now: float | None = None) -> tuple[TopicEndpointInfo, ...]:
        """Return who they are; the same object as long as they have not been read again."""
        now = time.monotonic() if now is None else now
        if now == self._asked:
            return self._known
        self._asked, count = now, self.count
        if count != self.counted or now >= self._again:
            self.counted, self._again = count, now + _REPLACED
            self._known = tuple(self._look_up(self._topic))
            self._ids = identities(self._known)
        return self._known

    def ids(self, now: float | None = None) -> frozenset[object]:
        """Return their ids, as ``known`` returns who they are."""
        self.known(now)
        return self._ids


class RobotSides:
    """
    The participants that subscribe ``action`` and publish ``state`` as well.

    Only robot sides do both: who records, commands or watches does one of them at most. Several
    nodes of one participant count as often as it does both. Endpoints belong together by their
    ids, as the names of their nodes are found later.

    A command reaches a robot side, and its answer reaches this node, only after the subscription
    and the publisher have been found. A check before an answer counts shows whose it may be.

    :param actions, states: fully qualified names of the topics.
    :ivar takers, tellers: the subscribers of the one, and the publishers of the other.
    """

    def __init__(self, node: NodeInterface, actions: str, states: str) -> None:
        self.takers = Endpoints(node, actions, publishers=False)
        self.tellers = Endpoints(node, states, publishers=True)
        self._counts = (0, 0)    # of endpoints, when they were examined
        self._known: tuple[object, object] = ((), ())
        self._robots: dict[Hashable, str] = {}

    @property
    def changed(self) -> bool:
        """Whether there are more endpoints, or fewer, than when they were examined."""
        return (self.takers.count, self.tellers.count) != self._counts

    def look(self, now: float | None = None) -> Mapping[Hashable, str]:
        """Return the name of each robot side, by an identity."""
        known = self.takers.known(now), self.tellers.known(now)
        self._counts = self.takers.counted, self.tellers.counted
        if not all(now is before for now, before in zip(known, self._known)):
            self._known = known
            takes, tells = map(_by_participant, known)
            self._robots = {
                tuple(endpoint.endpoint_gid): known_name(endpoint)
                for participant, endpoints in tells.items()
                for endpoint in endpoints[:len(takes.get(participant, ()))]}
        return self._robots


def _by_participant(
        endpoints: Iterable[TopicEndpointInfo]) -> dict[Hashable, Sequence[TopicEndpointInfo]]:
    names = get_rmw_implementation_identifier() == _ZENOH
    found: dict[Hashable, list[TopicEndpointInfo]] = {}
    for endpoint in sorted(endpoints, key=lambda endpoint: list(endpoint.endpoint_gid)):
        participant = (full_name(endpoint) if names
                       else tuple(endpoint.endpoint_gid[:_PARTICIPANT]))
        found.setdefault(participant, []).append(endpoint)
    return dict(found)


class CommandPublisher:
    """
    A publisher of ``action``, there only while the node may command the robot.

    Robot sides take a node that publishes ``action`` for one that may have commanded what is under
    way. A node that stands by must not be among them.

    :ivar topic_name: fully qualified.
    """

    def __init__(self, node: NodeInterface) -> None:
        self.topic_name: str = node.resolve_topic_name('action')
        self._node = node
        self._publisher: Publisher[Int64MultiArray] | None = None
        self._order = messages.StepEncoder()
        self._guarded = messages.StepEncoder(node.get_fully_qualified_name())
        self._opened = -math.inf

    @property
    def reachable(self) -> bool:
        """Whether a command would arrive, as far as that can be known."""
        return self._publisher is not None and (
            bool(self._publisher.get_subscription_count())
            or time.monotonic() >= self._opened + _MATCH)

    def open(self) -> None:    # noqa: A003
        """Publish ``action`` from now on."""
        if self._publisher is None:
            self._publisher = self._node.create_publisher(Int64MultiArray, 'action', messages.STEP)
            self._opened = time.monotonic()

    def close(self) -> None:
        """Publish it no longer."""
        publisher, self._publisher = self._publisher, None
        if publisher is not None:
            self._node.destroy_publisher(publisher)

    def send(self, seq: int, action: int, here: int | None = None, guarded: bool = False) -> None:
        """
        Give a command; a node that stands by gives none.

        :param here: the state that it is meant for.
        :param guarded: whether the robot side is, and heeds that.
        """
        if self._publisher is None:
            return
        if guarded:
            meant = () if here is None or action == RESET else (here,)
            self._publisher.publish(self._guarded.encode(seq, action, *meant))
        else:
            self._publisher.publish(self._order.encode(seq, action))

    def get_subscription_count(self) -> int:
        """Return how many subscribers a command reaches, or would reach."""
        if self.reachable and self._publisher is not None:
            return self._publisher.get_subscription_count()
        return self._node.count_subscribers(self.topic_name)

    def wait_until_heard(self) -> None:
        """Wait until the last command has arrived, 0.5 s at most."""
        if self._publisher is not None:
            self._publisher.wait_for_all_acked(Duration(seconds=0.5))


class GraphWatch:
    """
    Watches ``action``, ``state`` and, if it is used, ``return_home``.

    The partners of a node that commands a robot are the robot sides. Those of a node that only
    listens are the nodes that command it.

    :param actions: the node's publisher of actions, or of advice.
    :param states: its subscription to ``state``.
    :param home: its client of ``return_home``, if it uses one.
    :param overheard: the subscription to ``action`` of a node that only listens.
    :param sides: what is watched anyway on the topics of this node.
    """

    def __init__(
            self, node: NodeInterface, actions: Publisher[Int64MultiArray] | CommandPublisher,
            states: Subscription, home: HomeService | None, overheard: Subscription | None = None,
            sides: RobotSides | None = None) -> None:
        self._actions = actions
        self._home = home
        self._overheard = overheard
        self._partners = (
            Endpoints(node, overheard.topic_name, publishers=True) if overheard
            else sides.takers if sides else Endpoints(
                node, actions.topic_name, publishers=False))
        self._robots = sides.tellers if sides else Endpoints(
            node, states.topic_name, publishers=True)
        self._states = states
        self._seen: frozenset[object] = frozenset()

    @property
    def has_partner(self) -> bool:
        """Whether a node takes the actions of this one, or publishes those it listens to."""
        if self._overheard:
            return bool(self._partners.count)
        return bool(self._actions.get_subscription_count())

    @property
    def has_home_service(self) -> bool:
        """Whether ``return_home`` is used and offered."""
        return bool(self._home and self._home.ready)

    @property
    def missing(self) -> Reason:
        """Return what this node needs and no other offers, or empty."""
        if not self.has_partner and self._overheard:
            return NoPublisher(self._overheard.topic_name)
        if not self.has_partner:
            return NoSubscriber(self._actions.topic_name)
        if not self._robots.count:
            return NoPublisher(self._states.topic_name)
        if self._home and not self.has_home_service:
            return NoService(self._home.name)
        return ''

    def update(self, now: float | None = None) -> tuple[bool, bool]:
        """Return whether a node has joined, and whether one has left, since last time."""
        before, self._seen = self._seen, self._endpoints(now)
        return bool(self._seen - before), bool(before - self._seen)

    def _endpoints(self, now: float | None) -> frozenset[object]:
        seen = {*self._partners.ids(now), *self._robots.ids(now)}
        if not self._overheard:
            # An endpoint is seen before it can be reached: when it can, it counts as new again.
            seen.update(range(self._actions.get_subscription_count()))
        return frozenset(seen | {'home'} if self.has_home_service else seen)
