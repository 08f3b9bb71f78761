# SPDX-License-Identifier: Apache-2.0

"""An explorer in the process of a test: it starts at once, and takes turns with its robot."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.nodes.explorer import Explorer
from node_processes import Peer
import pytest
from rclpy.parameter import Parameter


class ExplorerHere:
    """
    An explorer that a peer spins, as if it were a process of its own.

    It keeps no pause after its end, unless ``stop_dir`` says where.
    """

    running = True

    def __init__(self, peer: Peer, capfd: pytest.CaptureFixture[str],
                 **parameters: object) -> None:
        self._peer, self._capfd, self._output = peer, capfd, ''
        self._node = Explorer(context=peer.context, parameter_overrides=[
            Parameter(name, value=value)
            for name, value in {'stop_dir': '', **parameters}.items()])
        self._node.autostart()
        peer.spin_also(self._node)

    @property
    def output(self) -> str:
        """Return what was logged so far, by other nodes of this process, too."""
        self._output += self._capfd.readouterr().err
        return self._output

    def stop(self) -> int:
        """Leave the robot and close the node, as after a signal; return the exit status."""
        self._peer.wait_for(self._node.leave, 'that the robot is left')
        self._node.close()
        self._peer.spin_without(self._node)
        self._node.destroy_node()
        self.running = False
        return 0


def exploring_here(
        peer: Peer, capfd: pytest.CaptureFixture[str]) -> Callable[..., ExplorerHere]:
    """Return a function that makes an explorer of a corridor with two actions."""
    return lambda **parameters: ExplorerHere(
        peer, capfd, **{'actions': ['east', 'west'], **parameters})
