# SPDX-License-Identifier: Apache-2.0

"""How messages of others are heard: strictly, without an end of the node that hears them."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, hypot, inf
import time
from typing import Protocol, TYPE_CHECKING, TypeVar

from geometry_msgs.msg import Quaternion
from mnm_ros.core.errors import MessageError
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

if TYPE_CHECKING:
    from rclpy.impl.rcutils_logger import RcutilsLogger

NAMELESS = ('', '_NODE_NAME_UNKNOWN_')
"""What a node is called that is not found yet: its endpoints are found before it."""

MOST_SAID = 300
"""Characters of a text of another node that are kept."""

_QUIET = 10.0       # s, between two warnings about a topic
_SHORTEST = 1e-3    # length of a quaternion; what is shorter, or longer than 1000, is no rotation
_T = TypeVar('_T')
_MsgT = TypeVar('_MsgT')


class _Hearing(Protocol):
    def get_logger(self) -> RcutilsLogger: ...

    def create_subscription(
        self, kind: type[_MsgT], topic: str, callback: Callable[[_MsgT], object],
        qos: QoSProfile | int, /) -> Subscription: ...


def hear(node: _Hearing, kind: type[_MsgT], topic: str, qos: QoSProfile,
         read: Callable[[_MsgT], _T],
         take: Callable[[_T], object] = lambda said: None) -> Subscription:
    """Subscribe a topic; ``read`` and ``take`` are as for ``dropping``."""
    return node.create_subscription(kind, topic, dropping(node, topic, read, take), qos)


def dropping(node: _Hearing, topic: str, read: Callable[[_MsgT], _T],
             take: Callable[[_T], object] = lambda said: None) -> Callable[[_MsgT], None]:
    """
    Return what gives each message that can be read to ``take``.

    :param read: returns what a message says; its ValueErrors become a warning, of which there is
        one in 10 s.
    """
    warned = -inf

    def taken(message: _MsgT) -> None:
        nonlocal warned
        try:
            said = read(message)
        except ValueError as error:    # MessageError among them
            if (now := time.monotonic()) > warned + _QUIET:
                warned = now
                text = str(error)
                node.get_logger().warning(f'{topic} ignored: ' + (
                    text if len(text) <= MOST_SAID else f'{text[:MOST_SAID]}...'))
        else:
            take(said)
    return taken


def unpack(data: bytes, kind: type[_MsgT]) -> _MsgT:
    """Return a message as it was sent; MessageError if it is torn."""
    try:
        return deserialize_message(data, kind)
    except RuntimeError as error:    # of rclpy
        raise MessageError(f'{len(data)} bytes, expected a {kind.__name__}: {error}') from None


def plain(text: str) -> str:
    """Return a text of any node as one line that a terminal shows and does not obey."""
    return text if text.isprintable() else ''.join(
        each if each.isprintable() else ' ' for each in text)


def yaw_of(turn: Quaternion) -> float | None:
    """Return the yaw of a rotation in rad; None of what is too short or too long to be one."""
    if not _SHORTEST < hypot(turn.x, turn.y, turn.z, turn.w) < 1 / _SHORTEST:
        return None
    return atan2(2 * (turn.w * turn.z + turn.x * turn.y),    # of any length
                 turn.w * turn.w + turn.x * turn.x - turn.y * turn.y - turn.z * turn.z)
