# SPDX-License-Identifier: Apache-2.0

"""That a robot was stopped, on disk: who starts its robot side again has not freed it."""

from __future__ import annotations

import os

from mnm_ros.files import flush_folder, user_path, write_whole
from mnm_ros.nodes.common.node_scope import NodeInterface


class StopRecord:
    """
    A file that is there as long as the robot is stopped by the service ``stop``.

    Its name has that of the node and the ROS domain: others may run beside it.

    :param folder: that it is in; empty to keep nothing.
    """

    def __init__(self, node: NodeInterface, folder: str) -> None:
        self._node = node
        name = node.get_fully_qualified_name().strip('/').replace('/', '.')
        domain = os.environ.get('ROS_DOMAIN_ID') or '0'
        self._path = user_path(folder) / f'{name}.{domain}.stopped' if folder else None

    @property
    def stopped(self) -> bool:
        """Whether the robot was stopped and not freed since."""
        return self._path is not None and self._path.exists()

    def keep(self, stopped: bool) -> None:
        """Keep whether the robot is stopped; a disk that fails is told in the log."""
        if self._path is None or stopped == self.stopped:
            return
        try:
            if stopped:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(self._path, 'stopped\n')
            else:
                self._path.unlink(missing_ok=True)
                flush_folder(self._path.parent)
        except OSError as error:
            self._node.get_logger().error(
                f'a restart would forget that the robot {"is stopped" if stopped else "is free"}: '
                f'{error}')
