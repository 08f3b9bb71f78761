# SPDX-License-Identifier: Apache-2.0

"""The bond by which nav2's lifecycle manager notices that the explorer has died."""

from __future__ import annotations

from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node

try:
    from bondpy import bondpy
except ImportError:    # it is no part of ROS 2 itself, and nothing but this needs it
    bondpy = None

TOPIC = 'bond'
_PERIOD = 0.1     # s, as the nodes of nav2 have it
_GOODBYE = 0.2    # s, for the manager to hear that the bond ends
_TIMEOUT = 4.0    # s, of silence of the manager; it has its own, bond_timeout


class ManagerBond:
    """
    Made while the node is active, as the nodes of nav2 do; nothing without ``bondpy``.

    The manager makes its end of the bond once it has activated the node, and knows it by the
    node's name. The bond speaks from a thread of its own: it tells that the process is gone, not
    that its callbacks hang.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._bond: Any = None

    def make(self) -> None:
        """Begin to tell that the node is there."""
        self.end()
        if bondpy is None:
            return
        bond = bondpy.Bond(self._node, TOPIC, self._node.get_name())
        bond.heartbeat_period = _PERIOD
        bond.heartbeat_timeout = _TIMEOUT
        bond.start()
        self._bond = bond

    def end(self) -> None:
        """Tell the manager that this is the end of the bond, if there is one."""
        bond, self._bond = self._bond, None
        if bond is not None:
            bond.break_bond()
            # What is destroyed before it is heard is lost, and the manager would wait in vain.
            bond.pub.wait_for_all_acked(Duration(seconds=_GOODBYE))
            bond.shutdown()
            # The bond destroys both, but the node would keep and serve them.
            self._node.destroy_subscription(bond.sub)
            self._node.destroy_publisher(bond.pub)
