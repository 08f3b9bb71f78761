# SPDX-License-Identifier: Apache-2.0

"""How nodes tick and answer."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Protocol, TypeVar

from mnm_ros.language import ENGLISH
from mnm_ros.nodes.common.allowance import Allowance, TOO_MANY
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.view.sentences import sentence
from rclpy.clock import Clock, ClockType, ROSClock
from rclpy.timer import Timer


class _Answer(Protocol):
    success: bool
    message: str


_RequestT = TypeVar('_RequestT')
_AnswerT = TypeVar('_AnswerT', bound=_Answer)


def every(seconds: float, node: NodeInterface, callback: Callable[[], None]) -> Timer:
    """Return a timer by the steady clock, which does not follow simulated time."""
    return node.create_timer(seconds, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


def seconds_of(node: NodeInterface) -> Callable[[], float]:
    """Return what measures s for people: by simulated time, 0.0 before there is any, if asked."""
    def seconds() -> float:
        clock = node.get_clock()
        simulated = isinstance(clock, ROSClock) and clock.ros_time_is_active
        return clock.now().nanoseconds * 1e-9 if simulated else time.monotonic()
    return seconds


def answering(
        answer: Callable[[_RequestT], tuple[bool, str]],
        allowance: Allowance | None = None, service: str = '',
        anyway: Callable[[_RequestT], bool] = lambda request: False,
        language: str = ENGLISH) -> Callable[[_RequestT, _AnswerT], _AnswerT]:
    """
    Make what returns success and a sentence for a request a service's callback.

    :param allowance: for the calls of a ``service``; what is more is refused, unless ``anyway``.
    :param language: of the refusal.
    """
    limited = answer if allowance is None else allowance.limited(
        f'service {service}', answer,
        lambda request: (False, sentence(TOO_MANY, language=language)), anyway)

    def respond(request: _RequestT, response: _AnswerT) -> _AnswerT:
        response.success, response.message = limited(request)
        return response
    return respond
