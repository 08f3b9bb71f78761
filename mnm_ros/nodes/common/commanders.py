# SPDX-License-Identifier: Apache-2.0

"""Whether those who command a robot are well, as ``heartbeat`` and the ROS graph show it."""

from __future__ import annotations

import time

from mnm_ros import messages
from mnm_ros.nodes.common.graph_watch import full_name
from rclpy.node import Node
from std_msgs.msg import Header

_KNOWN = 1.0      # s, from an order until its sender is surely known
_HELD_UP = 1.0    # s without a look, after which heartbeats may be waiting to be heard


class CommanderWatch:
    """
    Watches the nodes that publish ``action`` and are heard on ``heartbeat`` by their names.

    Only these are explorers that may have ordered what is under way. One that stands by, or
    advises, publishes no ``action``; a navigator does, but has no heartbeat.

    :param node: the robot side.
    :param topic: fully qualified name of its topic ``action``.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node = node
        self._topic = topic
        self._beats: dict[str, float] = {}    # when each node was last heard
        self._commanders: frozenset[str] = frozenset()
        self._looked = time.monotonic()
        node.create_subscription(Header, 'heartbeat', self._on_beat, messages.HEARTBEATS)

    def look(self, now: float, began: float | None) -> str:
        """
        Return why what is under way has lost its commander, or nothing.

        :param now: steady time in seconds.
        :param began: when what is under way was ordered; None if nothing is.
        """
        held_up, self._looked = now > self._looked + _HELD_UP, now
        self._beats = {name: now if held_up else beat for name, beat in self._beats.items()
                       if held_up or now < beat + messages.LEASE}
        publishers = frozenset(
            map(full_name, self._node.get_publishers_info_by_topic(self._topic)))
        well = publishers & self._beats.keys()
        lost = frozenset() if began is None else self._commanders - well
        # Whoever is found long after the order has not given it.
        late = began is not None and now > began + _KNOWN
        self._commanders = self._commanders & well if late else well
        if not lost:
            return ''
        return ('whoever commanded it is gone' if lost - publishers
                else 'the heartbeat of the explorer has stopped')

    def _on_beat(self, message: Header) -> None:
        self._beats[message.frame_id] = time.monotonic()
