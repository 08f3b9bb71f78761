"""Who is on the other side of the step protocol, as far as the middleware tells."""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from mnm_ros.nodes.common.home_service import HomeService


def identities(endpoints: Iterable[TopicEndpointInfo]) -> frozenset[object]:
    """Tell endpoints apart: by number, one that takes another's place would go unnoticed."""
    return frozenset(tuple(endpoint.endpoint_gid) for endpoint in endpoints)


class GraphWatch:
    """Watches ``action``, ``state`` and, if it is used, ``return_home``.

    orders: the subscription to ``action`` of a node that only listens; its partners are those
        who command the robot, not those who are commanded.
    """

    def __init__(
            self, node: Node, actions: Publisher, states: Subscription,
            home: HomeService | None, orders: Subscription | None = None) -> None:
        self._node = node
        self._actions = actions
        self._states = states
        self._home = home
        self._orders = orders
        self._seen: frozenset[object] = frozenset()

    @property
    def partner(self) -> bool:
        """Whether there is somebody to exchange actions with."""
        if self._orders:
            return bool(self._node.count_publishers(self._orders.topic_name))
        return bool(self._actions.get_subscription_count())

    @property
    def server(self) -> bool:
        """Whether home is offered by a service."""
        return bool(self._home and self._home.ready)

    @property
    def missing(self) -> str:
        """What a robot side, or a driver, would have to offer and nobody does; or nothing."""
        if not self.partner and self._orders:
            return f'nobody publishes {self._orders.topic_name}'
        if not self.partner:
            return f'nobody subscribes to {self._actions.topic_name}'
        if not self._node.count_publishers(self._states.topic_name):
            return f'nobody publishes {self._states.topic_name}'
        if self._home and not self.server:
            return f'nobody offers {self._home.name}'
        return ''

    def look(self) -> tuple[bool, bool]:
        """Return whether somebody has joined, and has left, since the last look."""
        before, self._seen = self._seen, self._look()
        return bool(self._seen - before), bool(before - self._seen)

    def _look(self) -> frozenset[object]:
        partners = (
            self._node.get_publishers_info_by_topic(self._orders.topic_name) if self._orders
            else self._node.get_subscriptions_info_by_topic(self._actions.topic_name))
        robots = self._node.get_publishers_info_by_topic(self._states.topic_name)
        seen = set(identities((*partners, *robots)))
        if not self._orders:
            # An endpoint is known before it can be reached: being reached is news once more.
            seen.update(range(self._actions.get_subscription_count()))
        return frozenset(seen | {'home'} if self.server else seen)
