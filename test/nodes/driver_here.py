# SPDX-License-Identifier: Apache-2.0

"""A driver in the process of a test: it starts at once, and takes turns with its robot."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from driven_robot import DrivenRobot, FAST
from mnm_ros.nodes.grid_driver import GridDriver
from mnm_ros.nodes.route_driver import RouteDriver
from node_here import NodeHere
from node_processes import Peer
import pytest
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


class DriverHere(NodeHere[Any]):
    """A driver in the process of a test."""

    def __init__(self, peer: Peer, capfd: pytest.CaptureFixture[str], node: str,
                 **parameters: object) -> None:
        super().__init__(_DRIVERS[node], peer, capfd, **parameters)


def driving_here(
        peer: Peer, capfd: pytest.CaptureFixture[str]) -> Callable[..., DrivenRobot]:
    """Return a function that makes a driver of ``node``, with the robot that it drives."""
    def make(node: str = 'grid_driver', **parameters: object) -> DrivenRobot:
        platform = UnicycleHere(
            peer, parameters.get('pose_source', 'odom'), parameters.get('stamped', False))
        return DrivenRobot(
            peer, DriverHere(peer, capfd, node, **{**FAST, **parameters}), platform)
    return make
