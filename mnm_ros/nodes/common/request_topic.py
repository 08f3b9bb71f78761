# SPDX-License-Identifier: Apache-2.0

"""The topic ``requests``: nodes say there who asks for what, because services do not say it."""

from __future__ import annotations

import math
from typing import Any

from mnm_ros import messages
from mnm_ros.core.progress.said import InWords, Refused, Said
from mnm_ros.language import ENGLISH
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.request import Request
from mnm_ros.view.sentences import sentence
from rclpy.duration import Duration
from std_msgs.msg import String

SERVICE = 'service '
"""Begins from where something comes if it is not known who has called the service."""

BY_PARAMETERS = f'{SERVICE}set_parameters'
"""From where a change of a parameter comes."""

_IN_A_ROW = 0.2    # s, between two ways home by the service that nobody has called by hand


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
               language: str = ENGLISH, why: Said | None = None) -> tuple[bool, str]:
        """
        Say that a service of this node was called, and why in vain; return the answer.

        :param language: of the text that is published.
        :param why: it was refused, if that is known as a value.
        """
        success, text = answer
        refused = None if success else Refused(why or InWords(text))
        self.say(what, f'{SERVICE}{service}', said=refused,
                 text=sentence(refused, language=language) or None)
        return answer

    def setting(self, name: str, before: object, now: object) -> None:
        """Say that a parameter of this node has changed."""
        self.say('setting', BY_PARAMETERS, text=changed(self._name, name, before, now))


def changed(node: str, name: str, before: object, now: object) -> str:
    """Return what is said of a parameter that has changed."""
    return f'{node}: {name} is now {now!r}, before {before!r}'


class HomeRecord:
    """
    Says on ``requests`` that the service ``return_home`` begins to lead home, and what follows.

    One of many in a row is not reported: these are an explorer's, whose RESET the service is. Nor
    is a call that asks what has come of the last one.
    """

    def __init__(self, requests: RequestTopic) -> None:
        self._requests = requests
        self._told = self._led_home = False
        self._begun_at = -math.inf

    def begins(self, asks: bool, now: float) -> None:
        asks = asks and self._led_home
        self._told, self._begun_at = not asks and now > self._begun_at + _IN_A_ROW, now
        if self._told:
            self._requests.say('home', f'{SERVICE}return_home')

    def ends(self, problem: str) -> None:
        self._led_home = not problem
        if self._told:
            self._told = False
            self._requests.say('not_home' if problem else 'at_home', f'{SERVICE}return_home',
                               text=problem or None)
