# SPDX-License-Identifier: Apache-2.0

"""
The lock of an exploration's files, which also notes how many inputs are kept in them.

``Generations`` holds it as long as it may write. That the journal of SQLite is missing cannot be
seen in a file itself, so the note alone shows that inputs were lost. What is in a file that is no
lock of this version is not touched, and so is one that has another name, too.
"""

from __future__ import annotations

from collections.abc import Mapping
import fcntl
import hashlib
import json
import os
from pathlib import Path
import re
from typing import Any

from mnm_ros.files import open_own

_LEAST_ROOM = 2**18    # bytes on the disk, without which SQLite cannot even read
_MARK = re.compile(rb'(\d{16}) ([0-9a-f]{16})\n')


class FolderLock:
    """
    A lock that no other process can have meanwhile.

    :param path: of the file.
    :param identity: what the exploration is asked for.
    :raises OSError: if another process has it.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self._file = _locked(path)
        self._path = path
        self._digest = hashlib.sha256(
            json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def remarks(self) -> list[str]:
        """Return what is wrong with it, in sentences."""
        return [] if self._held() is not None else [
            f'{self._path} holds something else than how many inputs are saved: it is '
            'left as it is, and whether any are missing cannot be seen']

    def mark(self, number: int) -> list[str]:
        """Note how many inputs are kept; return in sentences if there were more."""
        held = self._held()
        if held is None:
            return []
        found, lost = _MARK.fullmatch(held), []
        if found and found[2].decode() == self._digest and int(found[1]) > number:
            lost = [f'{self._path.parent}: the inputs {number + 1:,} to {int(found[1]):,} '
                    'were saved, and are in no file that can be used']
        try:
            os.pwrite(self._file, f'{number:016d} {self._digest}\n'.encode(), 0)
        except OSError:    # the disk is full; it is only for telling
            pass
        return lost

    def check_room(self) -> None:
        """Raise OSError if the disk is full: no file can be read then, however good it is."""
        size = os.fstat(self._file).st_size
        os.posix_fallocate(self._file, size, _LEAST_ROOM)
        os.ftruncate(self._file, size)

    def close(self) -> None:
        """Let other processes have it."""
        os.close(self._file)

    def _held(self) -> bytes | None:
        """Return what is in the lock; None if it is not one of this version, with one name."""
        held = os.pread(self._file, 64, 0)
        own = os.fstat(self._file).st_nlink == 1 and (not held or _MARK.fullmatch(held))
        return held if own else None


def _locked(path: Path) -> int:
    """Return the descriptor of a file that no other process can lock; closing it frees it."""
    lock = open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise OSError(f'another explorer of this name has locked {path}') from None
    return lock
