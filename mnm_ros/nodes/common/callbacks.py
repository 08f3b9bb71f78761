# SPDX-License-Identifier: Apache-2.0

"""How nodes tick, hear and answer, and how what a part of one has made is removed again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from mnm_ros import messages
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from std_msgs.msg import Int64MultiArray

_T = TypeVar('_T')


def every(seconds: float, node: Node, callback: Callable[[], None]) -> Timer:
    """Return a timer by the steady clock, which does not follow simulated time."""
    return node.create_timer(seconds, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


def hear(node: Node, topic: str, decode: Callable[[Any], _T], take: Callable[[_T], object],
         profile: QoSProfile, kind: type = Int64MultiArray) -> Subscription:
    """
    Subscribe to a topic; a message that is malformed is ignored with a warning.

    :param decode: returns what a message says, or raises ValueError.
    :param take: called with what it says.
    """
    return node.create_subscription(
        kind, topic, messages.dropping(node, topic, decode, take), profile)


def answering(answer: Callable[[Any, Any], tuple[bool, str]]) -> Callable[[Any, Any, Any], Any]:
    """Make a method that returns success and a sentence for a request a service's callback."""
    @wraps(answer)
    def respond(node: Any, request: Any, response: Any) -> Any:
        response.success, response.message = answer(node, request)
        return response
    return respond


class NodeScope:
    """
    A node as a part of it sees it: what is made by it can be removed all at once.

    :param namespace: in which relative names of topics and clients begin; empty for the node's.
    """

    def __init__(self, node: Node, namespace: str = '') -> None:
        self._node = node
        self._namespace = namespace
        self._made: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def create_publisher(self, kind: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        return self._make('publisher', kind, self._name(topic), *arguments, **named)

    def create_subscription(self, kind: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        return self._make('subscription', kind, self._name(topic), *arguments, **named)

    def create_client(self, kind: Any, service: str, *arguments: Any, **named: Any) -> Any:
        return self._make('client', kind, self._name(service), *arguments, **named)

    def create_service(self, *arguments: Any, **named: Any) -> Any:
        return self._make('service', *arguments, **named)

    def create_timer(self, *arguments: Any, **named: Any) -> Any:
        return self._make('timer', *arguments, **named)

    def resolve_topic_name(self, topic: str, **named: Any) -> str:
        return str(self._node.resolve_topic_name(self._name(topic), **named))

    def resolve_service_name(self, service: str, **named: Any) -> str:
        return str(self._node.resolve_service_name(self._name(service), **named))

    def destroy_all(self) -> None:
        """Remove all that was made; what was removed before stays so."""
        made, self._made = self._made, []
        for what, entity in reversed(made):
            getattr(self._node, f'destroy_{what}')(entity)

    def _make(self, what: str, *arguments: Any, **named: Any) -> Any:
        entity = getattr(self._node, f'create_{what}')(*arguments, **named)
        self._made.append((what, entity))
        return entity

    def _name(self, name: str) -> str:
        within = self._namespace and not name.startswith(('/', '~'))
        return f'{self._namespace}/{name}' if within else name
