"""Keeps an exploration on disk in two generations, without ever holding up a step.

A generation is an ``InputLog``: a resume point and all inputs since. The transition log is another
one that has all inputs since the beginning. A thread of its own writes what has gathered twice
a second, so a crash loses the last second at most, and never half a step. Print what a file
holds: ``python3 -m mnm_ros.checkpoint FILE``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import fcntl
from itertools import takewhile
import os
from pathlib import Path
import sqlite3
import threading
import time
from typing import IO, Any

from mnm_ros.checkpoint.input_log import (
    Entry,
    InputLog,
    Refused,
    Saved,
    flush_folder,
    remove,
    set_aside,
)
from mnm_ros.core.exploration import Exploration, Input

BETWEEN = 2000     # inputs, at least, from one resume point to the next
_PERIOD = 0.5      # s, between two writes
_GENERATIONS = 2
_SLOW = 0.5        # s, that a write may hold up a load
_BACKLOG = 1_000_000    # inputs kept in memory while the disk takes none
_ROOM = 2**18      # bytes on the disk, without which SQLite cannot even read

Begin = tuple[int, Mapping[str, Any] | None]


class Store:
    """The generations of one exploration in a folder, which is made if need be.

    identity: what the exploration is asked for; files for anything else are refused.
    transition_log: whether to keep all inputs since the beginning, too, in ``NAME.log.sqlite``.

    problem: why nothing can be written at the moment, or empty.
    refusals: what the last ``load`` has set aside and why.

    Raises OSError if the folder cannot be made, or if another process keeps the same there.
    """

    def __init__(self, folder: Path, name: str, identity: Mapping[str, Any],
                 transition_log: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._claim = _claimed(folder / f'{name}.lock')
        self._folder = folder
        self._name = name
        self._identity = dict(identity)
        self._log: InputLog | None = None
        self._all: InputLog | None = None
        self._all_path = folder / f'{name}.log.sqlite' if transition_log else None
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._pending: list[Entry | Begin] = []
        self._wake = threading.Event()
        self._written = threading.Condition()
        self._turns = 0
        self._closing = False
        self._gap = ''    # why inputs are left out until the next generation
        self.problem = ''
        self.refusals: list[str] = []
        self._thread = threading.Thread(target=self._run, name='store', daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path | None:
        """The file of the present generation."""
        return self._log.path if self._log else None

    def load(self, revive: Callable[[Saved], Exploration]) -> tuple[Saved, Exploration] | None:
        """Revive the newest generation that can be gone on from, and go on writing there.

        Files that cannot be used are set aside, never overwritten. What could not be written
        yet is dropped: it does not follow on what is loaded. Raises Refused if the disk is slow,
        OSError if it is too full to be read.
        """
        if not self._writing.acquire(timeout=_SLOW):
            raise Refused(f'{self._folder}: the disk is too slow')
        try:
            return self._load(revive)
        finally:
            self._writing.release()

    def _load(self, revive: Callable[[Saved], Exploration]) -> tuple[Saved, Exploration] | None:
        self.refusals = []
        for path in reversed(self._generations()):
            try:
                saved = Saved(path, self._identity)
                exploration = revive(saved)
                self._go_on(saved)
                return saved, exploration
            except Exception as error:    # whatever a file leads to, the node goes on without it
                self._make_sure_of_room()
                self._refuse(path, error)
        if self._log is not None and not self._log.path.exists():
            self._gap = 'nothing is kept until the next resume point: all files were refused'
        return None

    def _make_sure_of_room(self) -> None:
        """A file is not to blame for a disk on which there is no room for its companions."""
        os.posix_fallocate(self._claim.fileno(), 0, _ROOM)
        os.ftruncate(self._claim.fileno(), 0)

    def _refuse(self, path: Path, error: Exception) -> None:
        reason = error if isinstance(error, Refused) else f'{path}: {error!r}'
        try:
            kept = f'kept as {set_aside(path).name}'
        except OSError as problem:
            kept = f'left where it is: {problem}'
        self.refusals.append(f'{reason}; {kept}')

    def _go_on(self, saved: Saved) -> None:
        before, self._log = (self._log, self._all), InputLog.reopen(saved)
        self._all = None
        with self._lock:
            self._pending.clear()
        self._gap = ''
        for log in before:
            if log is not None:
                log.close()
        self._reopen_all(saved)

    def _reopen_all(self, saved: Saved) -> None:
        """Go on with the transition log where the generation ends.

        It is written second, so a crash may have left it without the last inputs.
        """
        path = self._all_path
        if path is None or not path.exists():
            return
        try:
            log = Saved(path, self._identity)
            missing = min(max(saved.number - log.number, 0), len(saved.inputs))
            log.forget_after(saved.number - missing)
            self._all = InputLog.reopen(log)
            self._all.append(saved.inputs[len(saved.inputs) - missing:])
        except (Refused, OSError, sqlite3.Error) as error:
            self._refuse(path, error)

    def follow(self, exploration: Exploration, number: int = 0, between: int = BETWEEN,
               since: int = 0) -> None:
        """Keep all inputs of an exploration from now on, and resume points.

        number: of its inputs so far. between: inputs from one resume point to the next, at least.
        since: of the inputs so far, those since the last resume point.
        """
        point = number - since

        def keep(kind: Input, state: int, action: int) -> None:
            nonlocal number, point
            number += 1
            self.append(kind, state, action)
            if number - point >= between and exploration.resumable:
                point = number
                self.begin(number, exploration.to_state())

        exploration.on_input = keep

    def append(self, kind: Input, state: int, action: int) -> None:
        """Keep an input."""
        with self._lock:
            self._pending.append((kind, state, action))

    def begin(self, number: int, point: Mapping[str, Any] | None) -> None:
        """Begin a generation at a resume point, after so many inputs; None is the beginning."""
        with self._lock:
            self._pending.append((number, point))

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything so far is on the disk; return whether it is."""
        deadline = time.monotonic() + timeout
        with self._written:
            wanted = self._turns + 2    # the turn under way may have begun before
            self._wake.set()
            while self._turns < wanted and time.monotonic() < deadline:
                self._written.wait(0.05)
                self._wake.set()
            return self._turns >= wanted and not self.problem

    def close(self) -> None:
        """Write what is left and stop."""
        self._closing = True
        self._wake.set()
        self._thread.join(timeout=5.0)

    def _generations(self) -> list[Path]:
        return sorted(self._folder.glob(f'{self._name}.{"[0-9]" * 8}.sqlite'))

    def _run(self) -> None:
        while not self._closing:
            self._wake.wait(_PERIOD)
            self._wake.clear()
            self._write()
        self._write()
        for log in (self._log, self._all):
            if log is not None:
                log.close()
        self._claim.close()

    def _write(self) -> None:
        """Write what has gathered; what cannot be written now is kept for later."""
        with self._writing:
            self._write_pending()
        with self._written:
            self._turns += 1
            self._written.notify_all()

    def _write_pending(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, []
        try:
            while pending:
                del pending[:self._write_run(pending)]
            self.problem = self._gap
        except Exception as error:    # whatever it is, it is told, and tried again
            self.problem = f'{self._folder}: {error}'
            self._skip_to_last_point(pending)
            with self._lock:
                self._pending = pending + self._pending
                if len(self._pending) > _BACKLOG:
                    self._pending = []
                    self._gap = f'nothing is kept until the next resume point: {self.problem}'

    def _write_run(self, pending: list[Entry | Begin]) -> int:
        """Write one new generation, or the inputs before the next one; return how many."""
        if len(pending[0]) == 2:
            self._create(*pending[0])
            return 1
        inputs = [*takewhile(lambda entry: len(entry) == 3, pending)]
        if self._gap:
            self._end_transition_log()
            return len(inputs)
        if self._log is not None:
            self._log.append(inputs)  # type: ignore[arg-type]
        if self._all is not None:
            try:
                self._all.append(inputs)  # type: ignore[arg-type]
            except (OSError, sqlite3.Error):
                self._end_transition_log()
        return len(inputs)

    def _skip_to_last_point(self, pending: list[Entry | Begin]) -> None:
        """Drop inputs that a resume point, which begins another file, has made superfluous."""
        points = [index for index, entry in enumerate(pending) if len(entry) == 2]
        if points and points[-1] > 0:
            del pending[:points[-1]]
            self._end_transition_log()

    def _end_transition_log(self) -> None:
        """It has a gap now; the next generation begins another one."""
        if self._all is not None:
            self._all.close()
            self._all = None

    def _create(self, number: int, point: Mapping[str, Any] | None) -> None:
        before = self._generations()
        last = int(before[-1].name.split('.')[-2]) if before else 0
        path = self._folder / f'{self._name}.{last + 1:08d}.sqlite'
        log = InputLog.create(path, self._identity, point, number)
        if self._log is not None:
            self._log.close()
        self._log, self._gap = log, ''
        if self._all is None and self._all_path is not None:
            if self._all_path.exists():
                set_aside(self._all_path)
            self._all = InputLog.create(self._all_path, self._identity, point, number)
        for old in before[:-(_GENERATIONS - 1)]:
            remove(old)
        flush_folder(self._folder)


def _claimed(path: Path) -> IO[str]:
    """Return an open file that no other process can have; the end of this one frees it."""
    file = path.open('w', encoding='utf-8')
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise OSError(f'another explorer of this name keeps {path}') from None
    return file
