# SPDX-License-Identifier: Apache-2.0

"""A driver in the process of a test: it starts at once, and takes turns with its robot."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from driven_robot import DrivenRobot, FAST
from mnm_ros.nodes.grid_driver import GridDriver
from mnm_ros.nodes.route_driver import RouteDriver
from node_processes import Peer
import pytest
from rclpy.parameter import Parameter
from unicycle import Unicycle

_LOOKS = 3    # after which the driver has heard the pose, and the robot what it has commanded
_DRIVERS = {'grid_driver': GridDriver, 'route_driver': RouteDriver}


class UnicycleHere(Unicycle):
    """
    A robot of the executor of its driver: what is due there is done between two looks.

    So it never moves on before its pose was answered, however busy the machine is, and need not
    wait long for an answer that does not come.
    """

    def __init__(self, *arguments: Any) -> None:
        self._looks = 0    # since the last tick
        super().__init__(*arguments)

    def _go_on(self) -> None:
        self._looks += 1
        if ((self._commanded or self._looks > _LOOKS)
                and time.monotonic() >= self._ticked + self.pause):
            self._looks = 0
            self.tick()


class DriverHere:
    """
    A driver that a peer spins, as if it were a process of its own.

    It keeps no stop after its end, unless ``stop_dir`` says where.
    """

    def __init__(self, peer: Peer, capfd: pytest.CaptureFixture[str], node: str,
                 **parameters: object) -> None:
        self._peer, self._capfd, self._output = peer, capfd, ''
        self.node = _DRIVERS[node](context=peer.context, parameter_overrides=[
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
        self._peer.spin_without(self.node)
        self.node.destroy_node()


def driving_here(
        peer: Peer, capfd: pytest.CaptureFixture[str]) -> Callable[..., DrivenRobot]:
    """Return a function that makes a driver of ``node``, with the robot that it drives."""
    def make(node: str = 'grid_driver', **parameters: object) -> DrivenRobot:
        platform = UnicycleHere(
            peer, parameters.get('pose_source', 'odom'), parameters.get('stamped', False))
        return DrivenRobot(
            peer, DriverHere(peer, capfd, node, **{**FAST, **parameters}), platform)
    return make
