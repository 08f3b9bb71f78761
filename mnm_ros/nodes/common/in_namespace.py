# SPDX-License-Identifier: Apache-2.0

"""A node seen from one of the namespaces below it."""

from __future__ import annotations

from typing import Any, cast

from rclpy.node import Node


class _InNamespace:

    def __init__(self, node: Node, namespace: str) -> None:
        self._node = node
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def create_publisher(self, kind: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        return self._node.create_publisher(kind, self._name(topic), *arguments, **named)

    def create_subscription(self, kind: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        return self._node.create_subscription(kind, self._name(topic), *arguments, **named)

    def create_client(self, kind: Any, service: str, *arguments: Any, **named: Any) -> Any:
        return self._node.create_client(kind, self._name(service), *arguments, **named)

    def resolve_topic_name(self, topic: str, **named: Any) -> str:
        return self._node.resolve_topic_name(self._name(topic), **named)

    def resolve_service_name(self, service: str, **named: Any) -> str:
        return self._node.resolve_service_name(self._name(service), **named)

    def _name(self, name: str) -> str:
        return name if name.startswith(('/', '~')) else f'{self._namespace}/{name}'


def in_namespace(node: Node, namespace: str) -> Node:
    """Return the node, for which relative names of topics and clients begin in a namespace."""
    return cast(Node, _InNamespace(node, namespace))
