# SPDX-License-Identifier: Apache-2.0

"""What each QoS profile promises to those who subscribe late, are slow, or hear of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
import time

import pytest

rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from mnm_ros import messages  # noqa: E402, I100
from rclpy.context import Context  # noqa: E402
from rclpy.duration import Duration  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.publisher import Publisher  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from std_msgs.msg import Int64  # noqa: E402

try:
    from rclpy.event_handler import SubscriptionEventCallbacks  # noqa: TID251
except ImportError:    # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

DEADLINE = 60.0    # s
NAMES = [name for name, value in vars(messages).items() if isinstance(value, QoSProfile)]


class Pair:
    """Two nodes, each in a context of its own: one publishes, the other one hears."""

    def __init__(self) -> None:
        self._contexts = Context(), Context()
        for context in self._contexts:
            rclpy.init(context=context)
        self.sender, self.hearer = (
            Node(name, context=context) for name, context in zip(('a', 'b'), self._contexts))
        self.heard: list[int] = []
        self._executor = SingleThreadedExecutor(context=self._contexts[1])
        self._executor.add_node(self.hearer)

    def publishers(self, profile: QoSProfile, number: int = 1) -> list[Publisher]:
        return [self.sender.create_publisher(Int64, 'topic', profile) for _ in range(number)]

    def subscribe(self, profile: QoSProfile, *publishers: Publisher) -> None:
        """Hear what they publish, and wait until they know it."""
        self.hearer.create_subscription(
            Int64, 'topic', lambda message: self.heard.append(message.data), profile)
        self.wait_for(lambda: all(each.get_subscription_count() == 1 for each in publishers))

    def take(self, *publishers: Publisher) -> list[int]:
        """Return all that was heard, once all that was published has arrived."""
        for publisher in publishers:
            assert publisher.wait_for_all_acked(Duration(seconds=DEADLINE))
        before = -1
        while before < len(self.heard):
            before = len(self.heard)
            self._executor.spin_once(timeout_sec=0.3)
        return sorted(self.heard)

    def wait_for(self, condition: Callable[[], object], spin: bool = False) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, 'waited in vain'
            if spin:
                self._executor.spin_once(timeout_sec=0.05)
            else:
                time.sleep(0.005)

    def close(self) -> None:
        self._executor.shutdown()
        for node, context in zip((self.sender, self.hearer), self._contexts):
            node.destroy_node()
            context.try_shutdown()


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.close()


def send(publishers: Sequence[Publisher], numbers: Iterable[int]) -> None:
    for number in numbers:
        publishers[number % len(publishers)].publish(Int64(data=number))


def test_each_profile_is_tested_here() -> None:
    assert {*NAMES} == {
        'LATCHED', 'LATCHED_BY_MANY', 'EVENTS', 'STEP', 'TRANSFORMS', 'STATIC_TRANSFORMS',
        'HEARTBEAT', 'HEARTBEATS', 'REQUESTS'}


@pytest.mark.quick
@pytest.mark.parametrize(('name', 'kept'), [
    ('LATCHED', 1), ('LATCHED_BY_MANY', 10), ('EVENTS', 50), ('STATIC_TRANSFORMS', 100),
    ('STEP', 0), ('TRANSFORMS', 0), ('REQUESTS', 0), ('HEARTBEATS', 0)])
def test_a_late_subscriber_gets_what_is_kept_for_it(pair: Pair, name: str, kept: int) -> None:
    profile = getattr(messages, name)
    publishers = pair.publishers(profile)
    send(publishers, range(120))
    pair.subscribe(profile, *publishers)
    assert pair.take(*publishers) == [*range(120 - kept, 120)]


@pytest.mark.quick
@pytest.mark.parametrize(('name', 'depth'), [
    ('STEP', 10), ('TRANSFORMS', 100), ('REQUESTS', 1000)])
def test_a_subscriber_that_is_busy_misses_nothing_of_a_burst(
        pair: Pair, name: str, depth: int) -> None:
    publishers = pair.publishers(QoSProfile(depth=depth))
    pair.subscribe(getattr(messages, name), *publishers)
    send(publishers, range(depth))
    assert pair.take(*publishers) == [*range(depth)]


@pytest.mark.quick
@pytest.mark.parametrize(('of', 'to_hear'), [
    ('LATCHED', 'LATCHED_BY_MANY'), ('HEARTBEAT', 'HEARTBEATS')])
def test_no_publisher_takes_the_place_of_another_one(
        pair: Pair, of: str, to_hear: str) -> None:
    publishers = pair.publishers(getattr(messages, of), 10)
    pair.subscribe(getattr(messages, to_hear), *publishers)
    send(publishers, range(10))
    assert pair.take(*publishers) == [*range(10)]


def test_a_node_that_hangs_is_noticed_although_its_middleware_lives(pair: Pair) -> None:
    """Nothing of it ends or goes away: it has only ceased to publish."""
    alive: list[int] = []
    publisher, = pair.publishers(messages.HEARTBEAT)
    pair.hearer.create_subscription(
        Int64, 'topic', lambda message: pair.heard.append(message.data), messages.HEARTBEAT,
        event_callbacks=SubscriptionEventCallbacks(
            liveliness=lambda event: alive.append(event.alive_count)))
    pair.wait_for(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(Int64(data=1))
    pair.wait_for(lambda: pair.heard and alive and alive[-1] == 1, spin=True)
    pair.wait_for(lambda: alive[-1] == 0, spin=True)
    assert publisher.get_subscription_count() == 1
