# SPDX-License-Identifier: Apache-2.0

"""A node of the project in the process of a test, which a peer spins."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from node_processes import Peer
import pytest
from rclpy.parameter import Parameter

_NodeT = TypeVar('_NodeT')


class NodeHere(Generic[_NodeT]):
    """
    A node that a peer spins, as if it were a process of its own.

    It keeps no stop and no pause after its end, unless ``stop_dir`` says where.
    """

    def __init__(self, kind: Any, peer: Peer, capfd: pytest.CaptureFixture[str],
                 **parameters: object) -> None:
        self._peer, self._capfd, self._output = peer, capfd, ''
        self.node: _NodeT = kind(context=peer.context, parameter_overrides=[
            Parameter(name, value=value)
            for name, value in {'stop_dir': '', **parameters}.items()])
        peer.spin_also(self.node)

    @property
    def output(self) -> str:
        """Return what was logged so far, by other nodes of this process, too."""
        self._output += self._capfd.readouterr().err
        return self._output

    def vanish(self) -> None:
        """End as a process that is killed: nothing is called any more."""
        self._peer.destroy(self.node)
