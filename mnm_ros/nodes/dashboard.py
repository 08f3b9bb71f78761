# SPDX-License-Identifier: Apache-2.0

"""
Serve a web page that shows and operates a running exploration.

With the parameter ``log`` the page shows a transition log instead.

Only this node needs NiceGUI, which the extra ``dashboard`` installs.
"""

from __future__ import annotations

import sys
from threading import Thread
import time
from typing import Any

from mnm_ros.core.errors import ParameterError
from mnm_ros.files import user_path
from mnm_ros.language import check
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.spin import run
from mnm_ros.page.commands import Commands
from mnm_ros.page.page_subscriptions import PageSubscriptions, SharedLayers
from mnm_ros.page.played_log import PlayedLog
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.topics import ros_domain
from mnm_ros.trial.scenes import Scenes
from rclpy.node import Node

_TICK = 0.1    # s


class Dashboard(Node):
    """
    Listens to an explorer in its own namespace, or plays a log, and serves the page in a thread.

    :raises ParameterError: if a parameter is not allowed, the log cannot be read, the address
        cannot be bound, or NiceGUI is not installed.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('dashboard', **node_arguments)
        given = Parameters(self, NODES['dashboard'])
        check(given['language'])    # a table with a fault is to fail here, not later
        try:
            from mnm_ros.page.page import Page
            from mnm_ros.page.web_server import WebServer
        except ModuleNotFoundError as error:
            if (error.name or '').partition('.')[0] == 'mnm_ros':
                raise
            raise ParameterError(
                f"{error}, expected NiceGUI: pip install 'nicegui>=3.4,<4' (the extra dashboard)"
                ) from None
        self._ended = False
        self._player: Thread | None = None    # of a log
        self._shared = self._played(given['log']) if given['log'] else self._live(
            given['read_only'])
        self._server = WebServer(
            lambda: Page(self._shared, given['language']), given['host'], given['port'])
        self._server.start()
        if self._player:
            self._player.start()
        self.get_logger().info(f'the page is at {self._server.address}')

    def close(self) -> None:
        """End the server."""
        self._ended = True
        self._server.stop()

    def _live(self, read_only: bool) -> SharedLayers:
        """Show and operate a running exploration."""
        explorer = PageSubscriptions(self)
        commands = None if read_only else Commands(self, lambda: explorer.heard)
        shared = SharedLayers(explorer, commands, {
            'namespace': self.get_namespace(), 'domain': ros_domain()})

        def look() -> None:
            now = time.monotonic()
            if commands:
                commands.look()
            explorer.look(now, commands.offered if commands else frozenset)
            shared.remember(now)
        every(_TICK, self, look)
        return shared

    def _played(self, path: str) -> SharedLayers:
        """Show a log, which is replayed as fast as possible."""
        log = PlayedLog()
        shared = SharedLayers(log, None, {'log': path})
        try:
            scenes = Scenes(user_path(path))
        except (ValueError, OSError) as error:
            raise ParameterError(f"parameter 'log' is {path!r}: {error}") from None

        def play() -> None:
            try:
                scenes.play(shared.play, lambda: self._ended)
            except (ValueError, OSError) as error:
                log.refused = str(error)
                self.get_logger().error(f'no more can be shown: {error}')
        self._player = Thread(target=play, name='log', daemon=True)
        return shared


def main(args: list[str] | None = None) -> int:
    """Run the node ``dashboard``."""
    return run('dashboard', Dashboard, args)


if __name__ == '__main__':
    sys.exit(main())
