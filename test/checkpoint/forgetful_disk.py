# SPDX-License-Identifier: Apache-2.0

"""
A disk that forgets at a power cut what was not flushed, for one folder.

``ForgetfulDisk`` sees each flush, whoever makes it. A flush of a file puts the content of the file
on the platter, and a flush of a folder the names in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
import os
from pathlib import Path
import stat

import pytest
from sqlite_files import watched


class ForgetfulDisk:
    """
    What a folder would hold after a power cut.

    :ivar after_each_flush: called when a file or a folder was flushed, if it is not None.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._platter: dict[int, bytes] = {}    # by inode
        self._held: dict[int, int] = {}    # what keeps an inode from being given to a new file
        self._names: dict[str, int] = {}
        self._cuts = count()
        self.after_each_flush: Callable[[], object] | None = None

    @contextmanager
    def installed(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForgetfulDisk]:
        """See all flushes of this process, until the context ends."""
        flush = os.fsync

        def fsync(file: int) -> None:
            flush(file)
            self._take(file)

        with monkeypatch.context() as patch, watched(after_flush=self._take_file):
            patch.setattr(os, 'fsync', fsync)
            yield self
        while self._held:
            os.close(self._held.popitem()[1])

    def after_power_cut(self) -> Path:
        """Return a new folder with what is on the platter now."""
        folder = self.folder.with_name(f'{self.folder.name}_{next(self._cuts)}')
        folder.mkdir()
        for name, inode in self._names.items():
            (folder / name).write_bytes(self._platter.get(inode, b''))
        return folder

    def _take(self, file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            if os.path.samestat(os.fstat(file), self.folder.stat()):
                self._names = {path.name: path.stat().st_ino for path in self.folder.iterdir()}
                self._tell()
        else:
            self._take_file(Path(os.readlink(f'/proc/self/fd/{file}')), False)

    def _take_file(self, path: Path, named: bool) -> None:
        """Put a file on the platter; with its name, where SQLite flushes the folder, too."""
        if path.parent == self.folder:
            inode = path.stat().st_ino
            if inode not in self._held:
                self._held[inode] = os.open(path, os.O_PATH)
            self._platter[inode] = path.read_bytes()
            if named:
                self._names[path.name] = inode
            self._tell()

    def _tell(self) -> None:
        if self.after_each_flush is not None:
            self.after_each_flush()
