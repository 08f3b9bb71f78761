# SPDX-License-Identifier: Apache-2.0

"""The events, kept beside the checkpoints: a JSON object in each line, oldest first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import re

from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.progress.events import Event
from mnm_ros.files import (
    append_line,
    make_own,
    read_each,
    read_own,
    unread_lines,
    write_whole,
)
from mnm_ros.robot_description import beside

KEPT = '.events.jsonl'    # after the name of an explorer
_MOST = 20_000            # lines; of more, only the last half is kept,
_MOST_ASKED = 5_000       # and of these so many of what was asked for: no flood of calls pushes
                          # out what was learnt
_ASKED = re.compile(rb'"kind":"(command|setting|goal|stop|free|pause|rest)"')


class EventLog:
    """
    The file of one explorer.

    :param path: made if it does not exist.
    :param warn: called once with a sentence if it cannot be written, and if lines of it cannot be
        read.
    :ivar past: what it held, oldest first.
    """

    def __init__(self, path: Path, warn: Callable[[str], object]) -> None:
        self._path = path
        self._warn: Callable[[str], object] | None = warn
        self.past, unread = read_each(path, Event.from_json)
        if unread:
            warn(unread_lines(path, unread))
        self._lines = len(self.past)
        self._write(lambda: make_own(path))
        if self._lines > _MOST:
            self._write(self._shorten)
            self.past = read(path)

    def append(self, event: Event) -> None:
        """Keep an event; that is no reason to fail."""
        self._write(lambda: self._append(event))

    def _append(self, event: Event) -> None:
        append_line(self._path, event.to_json())
        self._lines += 1
        self._shorten()

    def _shorten(self) -> None:
        if self._lines > _MOST:
            self._lines = _MOST // 2
            lines = read_own(self._path).splitlines(keepends=True)
            asked = [number for number, line in enumerate(lines) if _ASKED.search(line)]
            left_out = {*asked[:-_MOST_ASKED]}
            kept = [line for number, line in enumerate(lines) if number not in left_out]
            kept = kept[-(_MOST // 2):]
            self._lines = len(kept)
            write_whole(self._path, b''.join(kept), own=True)

    def _write(self, work: Callable[[], object]) -> None:
        try:
            work()
        except OSError as error:
            if self._warn is not None:
                self._warn(f'{self._path} is not written: {error}')
                self._warn = None


def read(path: Path) -> list[Event]:
    """Return the events in a file, oldest first; what cannot be read is left out."""
    return read_each(path, Event.from_json)[0]


def read_kept(path: Path) -> tuple[list[Event], str]:
    """
    Return the events of an explorer, oldest first, and a sentence on lines that are left out.

    :param path: a file of the explorer, or the folder with its files.
    :raises CheckpointError: if there are no events, or in a folder those of several explorers.
    """
    if path.is_dir():
        files = sorted(path.glob(f'*{KEPT}'))
        if len(files) != 1:
            names = ', '.join(file.name.removesuffix(KEPT) for file in files)
            raise CheckpointError(
                f'{path} has the events of {len(files)} explorers{names and f": {names}"}, '
                'expected those of one; a file can be named, too')
        path, = files
    elif not path.name.endswith(KEPT):
        path = beside(path, KEPT)
    if not path.is_file():
        raise CheckpointError(
            f'{path}: no such file, expected a file of an explorer in its checkpoint_dir, or that '
            'folder')
    found, unread = read_each(path, Event.from_json)
    return found, unread_lines(path, unread) if unread else ''
