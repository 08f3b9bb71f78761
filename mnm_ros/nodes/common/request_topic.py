# SPDX-License-Identifier: Apache-2.0

"""The topic ``requests``: nodes say there who asks for what, because services do not say it."""

from __future__ import annotations

from typing import Any

from mnm_ros import messages
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.common.request import Request
from rclpy.duration import Duration
from std_msgs.msg import String

SERVICE = 'service '
"""Begins from where something comes if it is not known who has called the service."""

BY_PARAMETERS = f'{SERVICE}set_parameters'
"""From where a change of a parameter comes."""


class RequestTopic:
    """Says what is about to be asked for, or has just been; the explorer keeps a record."""

    def __init__(self, node: NodeInterface) -> None:
        self._name = node.get_name()
        self._publisher = node.create_publisher(String, 'requests', messages.STEP)

    def say(self, what: str, by: str = '', **more: Any) -> None:
        """
        Say it.

        :param by: from where it comes; empty for this node.
        :param more: the other fields of a ``Request``.
        """
        request = Request(what, by or self._name, **more)
        self._publisher.publish(String(data=request.to_json()))

    @property
    def heard(self) -> int:
        """Return how many hear what is said."""
        return self._publisher.get_subscription_count()

    def wait_until_heard(self, seconds: float) -> None:
        """Wait until all that listen have heard the last, for so many seconds at most."""
        self._publisher.wait_for_all_acked(Duration(seconds=seconds))

    def called(self, what: str, service: str, answer: tuple[bool, str],
               language: str = ENGLISH) -> tuple[bool, str]:
        """Say that a service of this node was called, and why in vain; return the answer."""
        success, text = answer
        self.say(what, f'{SERVICE}{service}', text=None if success else phrase(
            'answers.refused', language, why=text))
        return answer

    def setting(self, name: str, before: object, now: object) -> None:
        """Say that a parameter of this node has changed."""
        self.say('setting', BY_PARAMETERS, text=changed(self._name, name, before, now))


def changed(node: str, name: str, before: object, now: object) -> str:
    """Return what is said of a parameter that has changed."""
    return f'{node}: {name} is now {now!r}, before {before!r}'
