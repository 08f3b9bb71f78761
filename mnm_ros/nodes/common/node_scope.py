# SPDX-License-Identifier: Apache-2.0

"""What parts of a node use of it, and how what a part has made is removed again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TYPE_CHECKING, TypeVar

from rclpy.client import Client
from rclpy.clock import Clock
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from rclpy.topic_endpoint_info import TopicEndpointInfo

if TYPE_CHECKING:    # some are in the stubs alone
    from rclpy.executors import Executor
    from rclpy.impl.rcutils_logger import RcutilsLogger
    from rclpy.node import Handle
    from rclpy.type_support import Srv

_T = TypeVar('_T')
_MsgT = TypeVar('_MsgT')
_RequestT = TypeVar('_RequestT')
_ResponseT = TypeVar('_ResponseT')


class NodeInterface(Protocol):
    """What a part of a node may use of it: a ``Node`` of rclpy has it, and a ``NodeScope``."""

    @property
    def executor(self) -> Executor | None: ...

    @property
    def handle(self) -> Handle: ...

    def get_name(self) -> str: ...
    def get_fully_qualified_name(self) -> str: ...
    def get_clock(self) -> Clock: ...
    def get_logger(self) -> RcutilsLogger: ...
    def resolve_topic_name(self, topic: str, /) -> str: ...
    def resolve_service_name(self, service: str, /) -> str: ...
    def count_publishers(self, topic: str, /) -> int: ...
    def count_subscribers(self, topic: str, /) -> int: ...
    def get_publishers_info_by_topic(self, topic: str, /) -> list[TopicEndpointInfo]: ...
    def get_subscriptions_info_by_topic(self, topic: str, /) -> list[TopicEndpointInfo]: ...

    def create_publisher(
        self, kind: type[_MsgT], topic: str, qos: QoSProfile | int, /) -> Publisher[_MsgT]: ...

    def create_subscription(
        self, kind: type[_MsgT], topic: str, callback: Callable[[_MsgT], object],
        qos: QoSProfile | int, /) -> Subscription: ...

    def create_client(
        self, kind: type[Srv[_RequestT, _ResponseT]], service: str, /,
        ) -> Client[_RequestT, _ResponseT]: ...

    def create_service(
        self, kind: type[Srv[_RequestT, _ResponseT]], service: str,
        callback: Callable[[_RequestT, _ResponseT], _ResponseT], /, *,
        qos_profile: QoSProfile) -> Service[_RequestT, _ResponseT]: ...

    def create_timer(
        self, seconds: float, callback: Callable[[], object], /, *,
        clock: Clock | None = None) -> Timer: ...

    def destroy_publisher(self, publisher: Publisher[Any], /) -> bool: ...
    def destroy_subscription(self, subscription: Subscription, /) -> bool: ...
    def destroy_client(self, client: Client[Any, Any], /) -> bool: ...
    def destroy_service(self, service: Service[Any, Any], /) -> bool: ...
    def destroy_timer(self, timer: Timer, /) -> bool: ...


class NodeScope:
    """
    A node as a part of it sees it: what is made by it can be removed all at once.

    :param namespace: in which relative names of topics and clients begin; empty for the node's.
    """

    def __init__(self, node: NodeInterface, namespace: str = '') -> None:
        self._node = node
        self._namespace = namespace
        self._made: list[Callable[[], bool]] = []    # how each is removed
        # What is the same for all parts.
        self.get_name = node.get_name
        self.get_fully_qualified_name = node.get_fully_qualified_name
        self.get_clock = node.get_clock
        self.get_logger = node.get_logger
        self.count_publishers = node.count_publishers
        self.count_subscribers = node.count_subscribers
        self.get_publishers_info_by_topic = node.get_publishers_info_by_topic
        self.get_subscriptions_info_by_topic = node.get_subscriptions_info_by_topic
        self.destroy_publisher = node.destroy_publisher
        self.destroy_subscription = node.destroy_subscription
        self.destroy_client = node.destroy_client
        self.destroy_service = node.destroy_service
        self.destroy_timer = node.destroy_timer

    @property
    def executor(self) -> Executor | None:
        return self._node.executor

    @property
    def handle(self) -> Handle:
        return self._node.handle

    def resolve_topic_name(self, topic: str, /) -> str:
        return self._node.resolve_topic_name(self._name(topic))

    def resolve_service_name(self, service: str, /) -> str:
        return self._node.resolve_service_name(self._name(service))

    def create_publisher(
            self, kind: type[_MsgT], topic: str, qos: QoSProfile | int, /) -> Publisher[_MsgT]:
        return self._keep(self._node.create_publisher(kind, self._name(topic), qos),
                          self._node.destroy_publisher)

    def create_subscription(
            self, kind: type[_MsgT], topic: str, callback: Callable[[_MsgT], object],
            qos: QoSProfile | int, /) -> Subscription:
        return self._keep(self._node.create_subscription(kind, self._name(topic), callback, qos),
                          self._node.destroy_subscription)

    def create_client(
            self, kind: type[Srv[_RequestT, _ResponseT]], service: str, /,
            ) -> Client[_RequestT, _ResponseT]:
        return self._keep(self._node.create_client(kind, self._name(service)),
                          self._node.destroy_client)

    def create_service(
            self, kind: type[Srv[_RequestT, _ResponseT]], service: str,
            callback: Callable[[_RequestT, _ResponseT], _ResponseT], /, *,
            qos_profile: QoSProfile) -> Service[_RequestT, _ResponseT]:
        return self._keep(
            self._node.create_service(kind, service, callback, qos_profile=qos_profile),
            self._node.destroy_service)

    def create_timer(
            self, seconds: float, callback: Callable[[], object], /, *,
            clock: Clock | None = None) -> Timer:
        return self._keep(self._node.create_timer(seconds, callback, clock=clock),
                          self._node.destroy_timer)

    def destroy_all(self) -> None:
        """Remove all that was made; what was removed before stays so."""
        made, self._made = self._made, []
        for destroy in reversed(made):
            destroy()

    def _keep(self, made: _T, destroy: Callable[[_T], bool]) -> _T:
        self._made.append(partial(destroy, made))
        return made

    def _name(self, name: str) -> str:
        within = self._namespace and not name.startswith(('/', '~'))
        return f'{self._namespace}/{name}' if within else name
