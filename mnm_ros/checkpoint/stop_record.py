# SPDX-License-Identifier: Apache-2.0

"""A stop of a robot, or a pause of an explorer, on disk: a restart does not end either."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.files import flush_folder, user_path, write_whole
from mnm_ros.topics import ros_domain


class StopRecord:
    """
    A file that is there until the service that has stopped, or paused, the node undoes that.

    Its name has that of the node and the ROS domain: others may run beside it.

    :param folder: that it is in; empty to keep nothing.
    :param node: its full name.
    :param complain: called with a sentence if the disk fails.
    :param kind: ``stopped`` or ``paused``.
    """

    def __init__(self, folder: str, node: str, complain: Callable[[str], object],
                 kind: str = 'stopped') -> None:
        self._complain, self._kind = complain, kind
        name = node.strip('/').replace('/', '.')
        self._path = user_path(folder) / f'{name}.{ros_domain()}.{kind}' if folder else None

    @property
    def kept(self) -> bool:
        """Whether the node was stopped, or paused, and that was not undone since."""
        return self._path is not None and self._path.exists()

    def keep(self, stopped: bool) -> None:
        """Keep whether the node is stopped, or paused."""
        if self._path is None or stopped == self.kept:
            return
        try:
            if stopped:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(self._path, f'{self._kind}\n')
            else:
                self._path.unlink(missing_ok=True)
                flush_folder(self._path.parent)
        except OSError as error:
            self._complain(
                f'a restart would forget that this is {"" if stopped else "no longer "}'
                f'{self._kind}: {error}; expected a folder stop_dir that can be written')
