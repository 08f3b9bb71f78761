# SPDX-License-Identifier: Apache-2.0

"""
Serves a web page that shows a running exploration live, and from which it can be operated.

Only this node needs NiceGUI, which the extra ``dashboard`` installs.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.showing.commands import Commands
from mnm_ros.nodes.showing.page_subscriptions import PageSubscriptions
from mnm_ros.parameters import NODES, ParameterError, Parameters
from rclpy.node import Node

_TICK = 0.1    # s


class Dashboard(Node):
    """
    Listens to an explorer in its own namespace, and serves the page in a thread.

    :raises ParameterError: if a parameter is not allowed, the address cannot be bound, or NiceGUI
        is not installed.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('dashboard', **node_arguments)
        given = Parameters(self, NODES['dashboard'])
        try:
            from mnm_ros.nodes.showing.web_server import WebServer
        except ModuleNotFoundError as error:
            if (error.name or '').partition('.')[0] == 'mnm_ros':
                raise
            raise ParameterError(
                f"{error}, expected NiceGUI: pip install 'nicegui>=3.4,<4' (the extra dashboard)"
                ) from None
        self._explorer = PageSubscriptions(self)
        self._commands = None if given['read_only'] else Commands(
            self, lambda: self._explorer.heard)
        self._server = WebServer(
            self._explorer, self._commands, given['host'], given['port'],
            f'namespace {self.get_namespace()}, ROS domain {os.environ.get("ROS_DOMAIN_ID") or 0}')
        every(_TICK, self, self._look)
        self._server.start()
        self.get_logger().info(f'the page is at {self._server.address}')

    def close(self) -> None:
        """End the server."""
        self._server.stop()

    def _look(self) -> None:
        now = time.monotonic()
        if self._commands:
            self._commands.look()
        self._explorer.look(now, self._commands.offered if self._commands else frozenset)
        self._server.remember(now)


def main(args: list[str] | None = None) -> int:
    """Run the node ``dashboard``."""
    return run('dashboard', Dashboard, args)


if __name__ == '__main__':
    sys.exit(main())
