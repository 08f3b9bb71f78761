# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

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
