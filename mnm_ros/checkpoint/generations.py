# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The files in which one exploration is kept: two generations, and perhaps a transition log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import fcntl
import os
from pathlib import Path
import sqlite3
import stat
from typing import Any

from mnm_ros.checkpoint.input_log import (
    Abandoned,
    Entry,
    flush_folder,
    InputLog,
    readable,
    Refused,
    remove,
    rename,
    Saved,
    set_aside,
)
from mnm_ros.core.exploration import Exploration

_KEPT = 2         # generations
_ROOM = 2**18     # bytes on the disk, without which SQLite cannot even read


class Generations:
    """
    The files of a ``Store``, which are locked; for use by one thread at a time.

    :ivar refusals: the files that the last ``load`` has set aside, and why.
    :ivar gap: why inputs are left out until the next generation begins, or empty.
    """

    def __init__(self, folder: Path, name: str, identity: Mapping[str, Any],
                 transition_log: bool) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _locked(folder / f'{name}.lock')
        self._folder = folder
        self._name = name
        self._identity = dict(identity)
        self._newest: InputLog | None = None
        self._transitions: InputLog | None = None
        self._transitions_path = folder / f'{name}.log.sqlite' if transition_log else None
        self.gap = ''
        self.refusals: list[str] = []

    @property
    def path(self) -> Path | None:
        """Return the file of the present generation."""
        return self._newest.path if self._newest else None

    @property
    def empty(self) -> bool:
        """
        Whether there is nothing to load.

        :raises OSError: if there is, and the disk is too full for it to be read.
        """
        paths = self._paths()
        if paths and not readable(paths[-1]):
            self._check_room()
        return not (paths or self._set_aside())

    def load(self, rebuild: Callable[[Saved], Exploration]) -> tuple[Saved, Exploration] | None:
        """
        Return the newest generation that can be used; what is appended follows on it.

        Files that cannot be used are set aside, never overwritten. If there is none that can be
        used, one that was set aside when something else was asked for is taken back. OSError if
        the disk is full.
        """
        self.refusals = []
        for path in reversed(self._paths()):
            try:
                saved = Saved(path, self._identity)
                exploration = rebuild(saved)
                self._reopen(saved)
                return saved, exploration
            except Abandoned:
                raise
            except Exception as error:    # whatever a file leads to, the node goes on without it
                self._check_room()
                self._refuse(path, error)
        for aside in self._set_aside():
            try:
                rebuild(Saved(aside, self._identity))
                saved = Saved(rename(aside, self._next_path()), self._identity)
                exploration = rebuild(saved)
                self._reopen(saved)
                return saved, exploration
            except Abandoned:
                raise
            except Exception:    # it was refused before, and nothing depends on it
                self._check_room()
        if self._newest is not None and not self._newest.path.exists():
            self.leave_gap('all files were refused')
        return None

    def create(self, number: int, point: Mapping[str, Any] | None) -> None:
        """Begin a generation at a resume point, after ``number`` inputs; None is the beginning."""
        before = self._paths()
        log = InputLog.create(self._next_path(), self._identity, point, number)
        if self._newest is not None:
            self._newest.close()
        self._newest, self.gap = log, ''
        if self._transitions is None and self._transitions_path is not None:
            if self._transitions_path.exists():
                set_aside(self._transitions_path)
            self._transitions = InputLog.create(
                self._transitions_path, self._identity, point, number)
        for old in before[:-(_KEPT - 1)]:
            remove(old)
        flush_folder(self._folder)

    def append(self, inputs: Sequence[Entry], robots: Sequence[str] = ()) -> None:
        """Write inputs, and which robots have made them, unless there is a gap before them."""
        if self.gap:
            self.end_transition_log()
            return
        if self._newest is not None:
            self._newest.append(inputs, robots)
        if self._transitions is not None:
            try:
                self._transitions.append(inputs, robots)
            except (OSError, sqlite3.Error):
                self.end_transition_log()

    def leave_gap(self, reason: str) -> None:
        """Leave out all inputs until the next generation begins."""
        self.gap = f'nothing is kept until the next resume point: {reason}'

    def end_transition_log(self) -> None:
        """Close the transition log, which lacks inputs; the next generation begins another."""
        if self._transitions is not None:
            self._transitions.close()
            self._transitions = None

    def close(self) -> None:
        """Close all files and let other processes use the folder."""
        for log in (self._newest, self._transitions):
            if log is not None:
                log.close()
        os.close(self._lock)

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob(f'{self._name}.{"[0-9]" * 8}.sqlite'))

    def _next_path(self) -> Path:
        before = self._paths()
        last = int(before[-1].name.split('.')[-2]) if before else 0
        return self._folder / f'{self._name}.{last + 1:08d}.sqlite'

    def _set_aside(self) -> list[Path]:
        """Return the generations that were set aside, those written last first."""
        found = self._folder.glob(f'{self._name}.{"[0-9]" * 8}.sqlite.aside.*')
        return sorted((path for path in found if path.suffix[1:].isdigit()),
                      key=lambda path: path.stat().st_mtime, reverse=True)

    def _check_room(self) -> None:
        """Raise OSError if the disk is full: no file can be read then, however good it is."""
        size = os.fstat(self._lock).st_size
        os.posix_fallocate(self._lock, size, _ROOM)
        os.ftruncate(self._lock, size)

    def _refuse(self, path: Path, error: Exception) -> None:
        reason = error if isinstance(error, Refused) else f'{path}: {error!r}'
        try:
            kept = f'kept as {set_aside(path).name}'
        except OSError as problem:
            kept = f'left where it is: {problem}'
        self.refusals.append(f'{reason}; {kept}')

    def _reopen(self, saved: Saved) -> None:
        before, self._newest = (self._newest, self._transitions), InputLog.reopen(saved)
        self._transitions = None
        self.gap = ''
        for log in before:
            if log is not None:
                log.close()
        self._reopen_transition_log(saved)

    def _reopen_transition_log(self, saved: Saved) -> None:
        """
        Let the transition log end where the generation ends.

        It is written after the generation, so a crash may have left it without the last inputs.
        """
        path = self._transitions_path
        if path is None or not path.exists():
            return
        try:
            log = Saved(path, self._identity)
            missing = min(max(saved.number - log.number, 0), len(saved.inputs))
            log.forget_after(saved.number - missing)
            self._transitions = InputLog.reopen(log)
            self._transitions.append(
                saved.inputs[len(saved.inputs) - missing:],
                [saved.robots.get(saved.number - missing + place + 1, '')
                 for place in range(missing)])
        except (Refused, OSError, sqlite3.Error) as error:
            self._refuse(path, error)


def _locked(path: Path) -> int:
    """
    Return the descriptor of a file that no other process can lock; closing it frees the file.

    The file is opened without following a link, waiting for a pipe or changing what is in it.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise OSError(f'{path} is no regular file')
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OSError(f'another explorer of this name keeps {path}') from None
    except OSError:
        os.close(lock)
        raise
    return lock
