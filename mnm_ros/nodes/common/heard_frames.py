# SPDX-License-Identifier: Apache-2.0

"""Where frames are in each other, as heard on ``tf`` and ``tf_static``."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.driving.pose import FrameLink, Frames, FrameTransform, Transform
from rclpy.node import Node

try:
    from tf2_msgs.msg import TFMessage
except ImportError:    # the wheels of ROS have no such package
    TFMessage = None

__all__ = ['HeardFrames', 'TFMessage', 'TOPIC']

TOPIC, _STATIC_TOPIC = 'tf', 'tf_static'


class HeardFrames:
    """
    The last transform of each frame.

    Without the package tf2_msgs nothing is heard.

    :param changed: called when something was heard, once for all that has waited.
    """

    def __init__(self, node: Node, changed: Callable[[], None] = lambda: None) -> None:
        self._node = node
        self._changed = changed
        self._frames = Frames()
        self._topics = [] if TFMessage is None else [
            node.create_subscription(
                TFMessage, TOPIC, lambda message: self._hear_all(message, False),
                messages.TRANSFORMS),
            node.create_subscription(
                TFMessage, _STATIC_TOPIC, lambda message: self._hear_all(message, True),
                messages.STATIC_TRANSFORMS)]
        self.topic = str(self._topics[False].topic_name) if self._topics else TOPIC

    def find(self, frame: str, reference: str) -> FrameTransform | None:
        """Return where ``frame`` is in ``reference``; None if they are not connected."""
        return self._frames.find(frame.lstrip('/'), reference.lstrip('/'))

    def _hear_all(self, message: Any, static: bool) -> None:
        """
        Take a message and all that wait behind it.

        A pose that has waited behind a newer one is worthless. Answered one after the other, such
        poses would change the velocity by what the limits allow for each of them, all at once.
        """
        self._hear(message, static)
        for _ in range(messages.TRANSFORMS.depth):
            taken = self._topics[static].handle.take_message(TFMessage, False)
            if taken is None:
                break
            self._hear(taken[0], static)
        self._changed()

    def _hear(self, message: Any, static: bool) -> None:
        now = time.monotonic()
        for each in message.transforms:
            place, turn, stamp = (
                each.transform.translation, each.transform.rotation, each.header.stamp)
            transform = Transform.of(
                place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w)
            if transform is None:
                self._node.get_logger().warning(
                    f"transform of '{each.child_frame_id}' ignored: expected finite numbers and a "
                    'quaternion that is not zero', throttle_duration_sec=5.0)
                continue
            self._frames.hear(each.child_frame_id.lstrip('/'), FrameLink(
                each.header.frame_id.lstrip('/'), transform,
                None if static else stamp.sec * 10**9 + stamp.nanosec, now))
