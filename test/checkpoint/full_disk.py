# SPDX-License-Identifier: Apache-2.0

"""A disk that is full from a chosen operation on, for one folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import errno
import os
from pathlib import Path
from typing import Any

import pytest
from sqlite_files import watched


class FullDisk:
    """
    Counts the operations that need room, and lets some of them fail.

    :ivar count: operations since ``fill``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        self._failing = range(0)

    def fill(self, first: int, last: int = 10**9) -> None:
        """Let the operations ``first`` to ``last`` from now on fail, counted from 1 on."""
        self.count, self._failing = 0, range(first, last + 1)

    def free(self) -> None:
        """Let all succeed."""
        self._failing = range(0)

    @contextmanager
    def installed(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[FullDisk]:
        """See all of this process, until the context ends."""
        with monkeypatch.context() as patch, watched(fails=self._fails):
            for module, name in ((os, 'fsync'), (os, 'pwrite'), (os, 'posix_fallocate'),
                                 (os, 'open'), (Path, 'rename'), (Path, 'replace')):
                patch.setattr(module, name, self._full(name, getattr(module, name)))
            yield self

    def _full(self, name: str, usual: Any) -> Any:
        def operation(*given: Any, **more: Any) -> Any:
            path = self._path(name, *given)
            if path is not None and self._fails(name, path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            return None if name == 'fsync' else usual(*given, **more)    # no power fails
        return operation

    def _path(self, name: str, target: Any, *given: Any) -> Path | None:
        """Return which file is concerned; None of a file that is opened without being made."""
        if isinstance(target, int):
            return Path(os.readlink(f'/proc/self/fd/{target}'))
        makes = name != 'open' or given[0] & os.O_CREAT and not os.path.lexists(target)
        return Path(target) if makes else None

    def _fails(self, operation: str, path: Path) -> bool:
        if self.folder not in (path, path.parent):
            return False
        self.count += 1
        return self.count in self._failing
