# SPDX-License-Identifier: Apache-2.0

"""The files in which one exploration is kept: two generations, and perhaps a transition log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
import re
import sqlite3
from typing import Any, NamedTuple

from mnm_ros.checkpoint.database import remove, rename, set_aside, unreadable
from mnm_ros.checkpoint.folder_lock import FolderLock
from mnm_ros.checkpoint.input_log import InputLog, LoadCancelled, SavedInputs
from mnm_ros.core.errors import CheckpointError, OtherCheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input
from mnm_ros.files import flush_folder

_GENERATIONS_KEPT = 2


class _Found(NamedTuple):
    """What was read and can be gone on from; ``log`` if the transition log goes on with it."""

    saved: SavedInputs
    exploration: Exploration
    log: SavedInputs | None


class Generations:
    """
    The files of a ``Store``, which are locked; for use by one thread at a time.

    :ivar refusals: the files that the last ``load`` has set aside, and why.
    :ivar repairs: what it has taken from the transition log, as a generation lacked it.
    :ivar losses: what is missing for good, in sentences; the caller removes what it reports.
    :ivar remarks: what is wrong with the lock, in sentences; the caller removes what it reports.
    :ivar begins: the number of inputs before the newest generation.
    :ivar gap: why inputs are left out until the next generation begins, or empty.
    :ivar log_problem: why inputs wait for the transition log, or empty.
    """

    def __init__(self, folder: Path, name: str, identity: Mapping[str, Any],
                 transition_log: bool, backlog: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = FolderLock(folder / f'{name}.lock', identity)
        self._folder = folder
        self._name = name
        self._identity = dict(identity)
        self._backlog = backlog
        self._newest: InputLog | None = None
        self.begins = 0
        self._left_out = self._told = 0    # inputs, since the newest generation ends
        self._transitions: InputLog | None = None
        self._late: list[Input] = []    # that the transition log has yet to get
        self._ended: int | None = None    # the last input of a transition log that lacks some
        self._log_path = folder / f'{name}.log.sqlite'
        self._logging = transition_log
        self.gap = self.log_problem = ''
        self.refusals: list[str] = []
        self.repairs: list[str] = []
        self.losses: list[str] = []
        self.remarks = self._lock.remarks

    @property
    def path(self) -> Path | None:
        """Return the file of the present generation."""
        return self._newest.path if self._newest else None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to load."""
        return not (self._paths() or self._log_path.is_file() or self._set_aside())

    def load(self, rebuild: Callable[[SavedInputs], Exploration],
             ) -> tuple[SavedInputs, Exploration] | None:
        """
        Return the newest generation that can be used; what is appended follows on it.

        What only the transition log has is added to it, and the log alone will do. Files that
        cannot be used are set aside, never overwritten. If there is none that can be used, one
        that was set aside when something else was asked for is taken back. OSError if the disk is
        full, or if another program has a file for itself.
        """
        self.refusals, self.repairs = [], []
        for path in [*reversed(self._paths()), *[self._log_path] * self._log_path.is_file()]:
            try:
                found = self._read(path, rebuild)
            except (LoadCancelled, OSError):    # this one is of the disk, and no fault of the file
                raise
            except Exception as error:    # whatever a file leads to, the node goes on without it
                if path != self._log_path or not (
                        self.refusals and isinstance(error, OtherCheckpointError)):
                    self._refuse(path, error)    # else that was reported of the generations
            else:
                return self._reopen(found)
        found_aside = self._read_aside(rebuild)
        if found_aside is not None:
            return self._reopen(found_aside)
        if self._newest is not None and not self._newest.path.exists():
            self.leave_gap('all files were refused')
        return None

    def create(self, number: int, point: Mapping[str, Any] | None) -> None:
        """Begin a generation at a resume point, after ``number`` inputs; None is the beginning."""
        before = self._paths()
        if not self.log_problem:    # a crash must not leave a log that ends before the generation
            self.write_late()
        log = InputLog.create(self._next_path(), self._identity, point, number)
        if self._newest is not None:
            self._newest.close()
        self._newest, self.gap, self.begins = log, '', number
        self._left_out = self._told = 0
        self.losses += self._lock.mark(number)
        if self._transitions is None and self._logging:
            self._begin_log(number, point)
        for old in before[:-(_GENERATIONS_KEPT - 1)]:
            remove(old)
        flush_folder(self._folder)

    def append(self, inputs: Sequence[Input]) -> None:
        """Write inputs, unless there is a gap before them."""
        if self.gap:
            self._left_out += len(inputs)
            return
        if self._newest is not None:
            self._newest.append(inputs)
            self.losses += self._lock.mark(self._newest.number)
        self.append_late(inputs)

    def append_late(self, inputs: Sequence[Input]) -> None:
        """Let the transition log have inputs at the next ``write_late``."""
        if self._transitions is not None:
            self._late += inputs

    def write_late(self) -> None:
        """Write what the transition log lacks; what cannot be written now waits, if it fits."""
        if self._transitions is None or not self._late:
            return
        try:
            self._transitions.append(self._late)
        except Exception as error:    # whatever it is, the generations go on
            self.log_problem = f'{self._log_path}: {error}'
            passing = isinstance(error, (OSError, sqlite3.OperationalError))
            if not passing or len(self._late) > self._backlog:
                self._end_log()
        else:
            self._late.clear()
            self.log_problem = ''

    def leave_gap(self, reason: str, inputs: int = 0, point: int | None = None) -> None:
        """
        Leave out so many inputs, and all others until the next generation begins.

        :param point: after which they come; None for the last one that was not left out.
        """
        self.gap = f'nothing is saved until the next resume point: {reason}'
        self._leave_out(inputs, point)
        self._tell_left_out(reason)
        self._end_log()

    def close(self, waiting: int, reason: str, point: int | None = None) -> None:
        """
        Close all files and let other processes use the folder.

        :param waiting: inputs that could not be written.
        :param reason: why not.
        :param point: after which they come; None for the last one that was written.
        """
        self._leave_out(waiting, point)
        self._tell_left_out(reason)
        self._tell_lacking(reason)
        for log in (self._newest, self._transitions):
            if log is not None:
                log.close()
        self._lock.close()

    def _leave_out(self, inputs: int, point: int | None) -> None:
        if point is not None:
            self._left_out = max(self._left_out, point - self._last)
        self._left_out += inputs

    @property
    def _last(self) -> int:
        return self._newest.number if self._newest else 0

    def _tell_left_out(self, reason: str) -> None:
        if self._left_out > self._told:
            last = self._last
            self.losses.append(f'the inputs {last + self._told + 1:,} to '
                               f'{last + self._left_out:,} could not be saved: {reason}')
            self._told = self._left_out

    def _tell_lacking(self, reason: str) -> None:
        """Report what the transition log lacks, if that is more than the generation lacks."""
        has = self._ended if self._transitions is None else self._transitions.number
        if has is not None and has < self._last:
            self.losses.append(
                f'{self.log_problem or f"{self._log_path}: {reason}"}; the inputs {has + 1:,} to '
                f'{self._last + self._left_out:,} are missing')

    def _end_log(self) -> None:
        """Close the transition log, which lacks inputs; the next generation begins another."""
        if self._transitions is not None:
            self._ended = self._transitions.number
            self._transitions.close()
            self._transitions = None
            self._late.clear()

    def _begin_log(self, number: int, point: Mapping[str, Any] | None) -> None:
        """Begin a transition log; if that fails, the next generation tries again."""
        aside = ''
        try:
            if self._log_path.exists():
                aside = f', kept as {set_aside(self._log_path).name},'
            self._transitions = InputLog.create(self._log_path, self._identity, point, number)
        except (OSError, sqlite3.Error) as error:
            self.log_problem = f'{self._log_path}: {error}'
            self._ended = number if self._ended is None else self._ended
            return
        self.log_problem = ''
        if self._ended is not None and self._ended < number:
            self.losses.append(
                f'{self._log_path} begins after {number:,} inputs, and the one before{aside} ends '
                f'at {self._ended:,}: the inputs {self._ended + 1:,} to {number:,} are in neither')
        self._ended = None

    def _paths(self) -> list[Path]:
        numbered = re.compile(rf'{re.escape(self._name)}\.\d{{8,}}\.sqlite')
        return sorted((path for path in self._folder.glob('*.sqlite')
                       if numbered.fullmatch(path.name)), key=_generation)

    def _next_path(self) -> Path:
        before = self._paths()
        last = _generation(before[-1]) if before else 0
        return self._folder / f'{self._name}.{last + 1:08d}.sqlite'

    def _set_aside(self) -> list[Path]:
        """Return the generations that were set aside, those written last first."""
        named = re.compile(rf'{re.escape(self._name)}\.\d{{8,}}\.sqlite\.aside\.\d+')
        return sorted((path for path in self._folder.glob('*.aside.*')
                       if named.fullmatch(path.name)),
                      key=lambda path: path.stat().st_mtime, reverse=True)

    def _refuse(self, path: Path, error: Exception) -> None:
        self._lock.check_room()
        if path.is_file() and 'locked' in (problem := unreadable(path)):
            raise OSError(f'{path}: {problem} by another program')
        reason = error if isinstance(error, CheckpointError) else f'{path}: {error!r}'
        try:
            kept = f'kept as {set_aside(path).name}'
        except OSError as problem:
            kept = f'left where it is: {problem}'
        self.refusals.append(f'{reason}; {kept}')

    def _read(self, path: Path, rebuild: Callable[[SavedInputs], Exploration]) -> _Found:
        """Read a generation, and what the transition log has after it; or the log alone."""
        saved = SavedInputs(path, self._identity)
        log, trouble = self._read_log(saved)
        if log is not None:
            saved.extend(log)
        try:
            exploration = rebuild(saved)
        except LoadCancelled:
            raise
        except Exception as error:
            if saved.number == saved.written:
                raise
            saved, log, trouble = SavedInputs(path, self._identity), None, error
            exploration = rebuild(saved)
        if trouble is not None and self._logging:
            self._refuse(self._log_path, trouble)
            self.losses.append(f'{self._log_path} begins anew after {saved.first:,} inputs: '
                               f'{trouble}')
        if saved.number > saved.written:
            self.repairs.append(
                f'{path} lacked the inputs {saved.written + 1:,} to {saved.number:,}; they were '
                f'taken from {self._log_path}')
        return _Found(saved, exploration, log)

    def _read_aside(self, rebuild: Callable[[SavedInputs], Exploration]) -> _Found | None:
        """Take back a generation that was set aside when something else was asked for."""
        for aside in self._set_aside():
            try:
                rebuild(SavedInputs(aside, self._identity))
                return self._read(rename(aside, self._next_path()), rebuild)
            except (LoadCancelled, OSError):
                raise
            except Exception:    # it was refused before, and nothing depends on it
                self._lock.check_room()
        return None

    def _read_log(self, saved: SavedInputs) -> tuple[SavedInputs | None, Exception | None]:
        """Return the end of the transition log, if it goes on with a generation, or why not."""
        if saved.path == self._log_path:
            return saved, None
        if not self._log_path.exists():
            return None, None
        try:
            log = SavedInputs(self._log_path, self._identity, saved.first)
            log.check_common(saved)
        except CheckpointError as error:
            return None, error
        return log, None

    def _reopen(self, found: _Found) -> tuple[SavedInputs, Exploration]:
        """
        Go on with what was read.

        :raises OSError: if the disk does not take what it lacks.
        """
        saved, exploration, _ = found
        for log in (self._newest, self._transitions):
            if log is not None:
                log.close()
        self._newest = self._transitions = None
        self.gap = self.log_problem = ''
        self._late, self._ended, self.begins = [], None, saved.first
        self._left_out = self._told = 0
        try:
            if saved.path == self._log_path:
                self.repairs.append(f'there is no generation that can be used; one was made from '
                                    f'{self._log_path}')
                self._newest = InputLog.create(
                    self._next_path(), self._identity, saved.point, saved.first)
                self._newest.append(saved.inputs)
            else:
                self._newest = InputLog.reopen(saved)
            if self._logging:
                self._reopen_log(found)
        except sqlite3.Error as error:
            raise OSError(f'{self._folder}: {error}') from None
        self.losses += self._lock.mark(saved.number)
        return saved, exploration

    def _reopen_log(self, found: _Found) -> None:
        """
        Let the transition log end where the generation ends.

        It is written after the generation, so a crash may have left it without the last inputs.
        """
        saved, _, log = found
        if log is not None:
            self._transitions = InputLog.reopen(log)
        else:
            self._begin_log(saved.first, saved.point)
        if self._transitions is not None:
            last = self._transitions.number
            self.append_late(saved.inputs[last - saved.first:])
            self.write_late()


def _generation(path: Path) -> int:
    return int(path.name.split('.')[-2])
