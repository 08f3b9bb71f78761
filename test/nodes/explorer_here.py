# SPDX-License-Identifier: Apache-2.0

"""An explorer in the process of a test: it starts at once, and takes turns with its robot."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.nodes.explorer import Explorer
from node_here import NodeHere
from node_processes import Peer
import pytest


class ExplorerHere(NodeHere[Explorer]):
    """An explorer in the process of a test."""

    running = True

    def __init__(self, peer: Peer, capfd: pytest.CaptureFixture[str],
                 **parameters: object) -> None:
        super().__init__(Explorer, peer, capfd, **parameters)
        self.node.autostart()

    def stop(self) -> int:
        """Leave the robot and close the node, as after a signal; return the exit status."""
        self._peer.wait_for(self.node.leave, 'that the robot is left')
        self.node.close()
        self.vanish()
        self.running = False
        return 0


def exploring_here(
        peer: Peer, capfd: pytest.CaptureFixture[str]) -> Callable[..., ExplorerHere]:
    """Return a function that makes an explorer of a corridor with two actions."""
    return lambda **parameters: ExplorerHere(
        peer, capfd, **{'actions': ['east', 'west'], **parameters})
