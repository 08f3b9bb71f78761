# SPDX-License-Identifier: Apache-2.0

"""Where the robot is, as far as a node that commands it knows."""

from __future__ import annotations

from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.protocol.exchange import REPORT


class Whereabouts:
    """
    Says where the robot is, by the ``state`` message that was heard last.

    The robot is there if that answers the last order of this node, no other node commands the
    robot, and the robot sides have been the same since.

    :param actions: fully qualified name of the topic ``action``.
    :ivar heard: that message, ``(seq, state)``; None if the robot may have been moved since.
    """

    def __init__(self, node: NodeInterface, actions: str) -> None:
        self._node = node
        self._actions = actions
        self.heard: tuple[int, int] | None = None

    @property
    def last_seen(self) -> int | None:
        """Return the last state heard, which the robot may have left; None if it was lost."""
        return self.heard[1] if self.heard else None

    def here(self, command: int | None) -> int | None:
        """
        Return where the robot is; None if that is not certain.

        :param command: the last one of this node; None if it may be open.
        """
        alone = self._node.count_publishers(self._actions) == 1
        certain = alone and self.heard and command and self.heard[0] == command != REPORT
        return self.heard[1] if certain and self.heard else None
