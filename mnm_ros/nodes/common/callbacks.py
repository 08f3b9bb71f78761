# SPDX-License-Identifier: Apache-2.0

"""How nodes tick, hear and answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, overload, Protocol, TypeVar

from mnm_ros import messages
from mnm_ros.nodes.common.node_scope import NodeInterface
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from std_msgs.msg import Int64MultiArray


class _Answer(Protocol):
    success: bool
    message: str


_T = TypeVar('_T')
_MsgT = TypeVar('_MsgT')
_NodeT = TypeVar('_NodeT')
_RequestT = TypeVar('_RequestT')
_AnswerT = TypeVar('_AnswerT', bound=_Answer)


def every(seconds: float, node: NodeInterface, callback: Callable[[], None]) -> Timer:
    """Return a timer by the steady clock, which does not follow simulated time."""
    return node.create_timer(seconds, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


@overload
def hear(node: NodeInterface, topic: str, decode: Callable[[Int64MultiArray], _T],
         take: Callable[[_T], object], profile: QoSProfile) -> Subscription: ...


@overload
def hear(node: NodeInterface, topic: str, decode: Callable[[_MsgT], _T],
         take: Callable[[_T], object], profile: QoSProfile, kind: type[_MsgT]) -> Subscription: ...


def hear(node: NodeInterface, topic: str, decode: Callable[[Any], _T],
         take: Callable[[_T], object], profile: QoSProfile,
         kind: type[Any] = Int64MultiArray) -> Subscription:
    """
    Subscribe to a topic; a message that is malformed is ignored with a warning.

    :param decode: returns what a message says, or raises ValueError.
    :param take: called with what it says.
    """
    return node.create_subscription(
        kind, topic, messages.dropping(node, topic, decode, take), profile)


def answering(
        answer: Callable[[_NodeT, _RequestT], tuple[bool, str]],
        ) -> Callable[[_NodeT, _RequestT, _AnswerT], _AnswerT]:
    """Make a method that returns success and a sentence for a request a service's callback."""
    def respond(node: _NodeT, request: _RequestT, response: _AnswerT) -> _AnswerT:
        response.success, response.message = answer(node, request)
        return response
    update_wrapper(respond, answer)
    return respond
