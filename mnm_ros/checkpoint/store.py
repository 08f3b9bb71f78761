# SPDX-License-Identifier: Apache-2.0

"""
Keeps an exploration on disk, without ever holding up a step.

Files are kept in two generations. Each is an ``InputLog``: a resume point and all inputs since.
The transition log is another one, with all inputs since the beginning. A thread of its own writes
the inputs gathered so far twice a second, so a crash loses about the last second, and never half
a step. ``python3 -m mnm_ros.checkpoint FILE`` prints what a file holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import takewhile
from pathlib import Path
import threading
import time
from typing import Any, NamedTuple, TypeVar, Union

from mnm_ros.checkpoint.generations import Generations
from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input, Update

LEAST_BETWEEN_POINTS = 2000
"""Inputs from one resume point to the next."""

MOST_REPLAYED = 1.0
"""Seconds of computing that a restart may have to repeat, after which fewer inputs do.

The computing of the whole process is measured: replaying takes less.
"""

LEAST_COMPUTING_PER_POINT = 20
"""Making resume points takes at most one part in so many of the computing."""

_WRITE_EVERY = 0.5      # s
_LONGEST_WRITE = 0.5    # s, that a write may hold up a load
_MOST_WAITING = 1_000_000    # inputs kept in memory while the disk takes none

_T = TypeVar('_T')


class ResumePoint(NamedTuple):
    """Where the next generation begins: after ``number`` inputs; None is the beginning."""

    number: int
    point: Mapping[str, Any] | None


Pending = list[Union[Input, ResumePoint]]


class ResumeSchedule:
    """
    Makes resume points: often enough for quick restarts, and so rarely that it is cheap.

    :param number: of its inputs so far.
    :param since: of these, those since the last resume point.
    :param spent: seconds that it takes to replay them.
    :param between: as ``LEAST_BETWEEN_POINTS``.
    """

    def __init__(self, exploration: Exploration, number: int, since: int, spent: float,
                 between: int) -> None:
        self._exploration = exploration
        self._between = between
        self._number = number
        self._last = number - since
        self._began = time.process_time() - spent
        self._cost = 0.0

    def point(self) -> tuple[int, Mapping[str, Any]] | None:
        """Record an input; return its number and a resume point if one is due."""
        self._number += 1
        if not self._is_time() or not self._exploration.can_snapshot:
            return None
        began = time.process_time()
        point = self._exploration.to_state()
        self._began = time.process_time()
        self._cost = self._began - began
        self._last = self._number
        return self._number, point

    def _is_time(self) -> bool:
        """Return whether it is time for a resume point, if one can be made."""
        spent = time.process_time() - self._began
        return spent >= LEAST_COMPUTING_PER_POINT * self._cost and (
            self._number - self._last >= self._between or spent >= MOST_REPLAYED)


class Store:
    """
    Keeps one exploration in a folder.

    :param folder: made if it does not exist.
    :param name: how the names of all files begin.
    :param identity: what the exploration is asked for; files for anything else are refused.
    :param transition_log: whether to keep all inputs since the beginning in ``NAME.log.sqlite``,
        too.
    :ivar problem: why not everything can be written at the moment, or empty.
    :ivar reading: whether ``load`` is under way, so that nothing is written.
    :raises OSError: if the folder cannot be made, or if another process keeps the same there.
    """

    def __init__(self, folder: Path, name: str, identity: Mapping[str, Any],
                 transition_log: bool = False) -> None:
        self._open = partial(
            Generations, folder, name, identity, transition_log, _MOST_WAITING)
        self._files = self._open()
        self._files_lock = threading.Lock()
        self.reading = False
        self._folder = folder
        self._pending: Pending = []
        self._pending_lock = threading.Lock()
        self._wake = threading.Event()
        self._written = threading.Condition()
        self._begun = self._writes = 0    # writes, and those that are done
        self._closing = False
        self.problem = ''
        self._thread = threading.Thread(target=self._run, name='store', daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path | None:
        """Return the file of the present generation."""
        return self._files.path

    @property
    def empty(self) -> bool:
        """Whether there is nothing to load."""
        return self._files.empty

    @property
    def begins(self) -> int:
        """Return how many inputs there are before the present generation."""
        return self._files.begins

    @property
    def refusals(self) -> list[str]:
        """Return the files that the last ``load`` has set aside, and why."""
        return self._files.refusals

    @property
    def repairs(self) -> list[str]:
        """Return what the last ``load`` has taken from the transition log."""
        return self._files.repairs

    def losses(self) -> list[str]:
        """Return what is missing for good and was not yet reported, in sentences."""
        losses = self._files.losses
        return [losses.pop(0) for _ in range(len(losses))]

    def remarks(self) -> list[str]:
        """Return what is wrong with the lock and was not yet reported, in sentences."""
        remarks = self._files.remarks
        return [remarks.pop(0) for _ in range(len(remarks))]

    def load(self, rebuild: Callable[[SavedInputs], Exploration],
             ) -> tuple[SavedInputs, Exploration] | None:
        """
        Return the newest generation that can be used, and go on writing there.

        What could not be written so far is dropped: it does not follow on what is loaded.

        :param rebuild: makes the exploration from the resume point and the inputs of a file. A
            file with which it raises an exception is set aside, like any that cannot be used.
        :raises CheckpointError: if the disk is too slow.
        :raises OSError: if the disk is too full for files to be read.
        """
        if not self._files_lock.acquire(timeout=_LONGEST_WRITE):
            raise CheckpointError(f'{self._folder}: the disk is too slow')
        self.reading = True
        try:
            loaded = self._files.load(rebuild)
            if loaded is not None:
                with self._pending_lock:
                    pending, self._pending = self._pending, []
                if inputs := len(_inputs(pending)):
                    self._files.losses.append(
                        f'{inputs:,} inputs that could not be written before loading are dropped')
            return loaded
        finally:
            self.reading = False
            self._files_lock.release()

    def rewrite(self, write: Callable[[], _T]) -> _T:
        """
        Let a function write other files, such as ``forget``; ``load`` has to follow.

        :raises CheckpointError: if not everything can be written before.
        """
        if not self.flush():
            raise CheckpointError(self.problem or f'{self._folder}: the disk is too slow')
        with self._files_lock:
            self._files.close(0, '')
            try:
                return write()
            finally:
                self._files = self._open()

    def attach(self, exploration: Exploration, number: int = 0,
               between: int = LEAST_BETWEEN_POINTS, since: int = 0, spent: float = 0.0) -> None:
        """
        Keep all inputs of an exploration from now on, and resume points.

        :param exploration: whose listeners this joins.
        :param number: of its inputs so far.
        :param between: inputs from one resume point to the next, at least.
        :param since: of the inputs so far, those since the last resume point.
        :param spent: seconds that it takes to replay these.
        """
        schedule = ResumeSchedule(exploration, number, since, spent, between)

        def keep(update: Update) -> None:
            self.append(update)
            point = schedule.point()
            if point is not None:
                self.begin_generation(*point)

        exploration.listeners.append(keep)

    def append(self, update: Update) -> None:
        """Keep an input."""
        with self._pending_lock:
            self._pending.append(update.input)

    def begin_generation(self, number: int, point: Mapping[str, Any] | None) -> None:
        """Begin another file at a resume point, after ``number`` inputs; None is the beginning."""
        with self._pending_lock:
            self._pending.append(ResumePoint(number, point))

    def flush(self, timeout: float = 60.0) -> bool:
        """Wait until everything so far is on the disk; return whether it is."""
        end = time.monotonic() + timeout
        for _ in range(2):    # what has failed is tried once more, from the last resume point
            wanted = self.hurry()
            self._wait(wanted, end - time.monotonic())
            if self.has_written(wanted):
                return True
        return False

    def _wait(self, wanted: int, seconds: float) -> None:
        with self._written:
            self._written.wait_for(lambda: self._writes >= wanted, seconds)

    def hurry(self) -> int:
        """Let everything so far be written at once; return what ``has_written`` is asked with."""
        with self._pending_lock:
            wanted = self._begun + 1    # the write under way may have begun before
        self._wake.set()
        return wanted

    def has_written(self, wanted: int) -> bool:
        """Return whether all that there was when ``hurry`` was called is on the disk."""
        return self._writes >= wanted and not self.problem

    def close(self) -> None:
        """Write what is left and stop."""
        self._closing = True
        self._wake.set()
        self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while not self._closing:
            self._wake.wait(_WRITE_EVERY)
            self._wake.clear()
            self._write()
        self._write()
        inputs, point = _left(self._pending)
        self._files.close(inputs, self.problem, point)

    def _write(self) -> None:
        with self._files_lock:
            self._write_pending()
        with self._written:
            self._writes += 1
            self._written.notify_all()

    def _write_pending(self) -> None:
        """Write what has gathered; what cannot be written now is kept for later."""
        with self._pending_lock:
            self._begun += 1
            pending, self._pending = self._pending, []
        try:
            while pending:
                del pending[:self._write_first(pending)]
            problem = self._files.gap
        except Exception as error:    # whatever it is, it is reported, and tried again
            problem = f'{self._folder}: {error}'
            self._skip_to_last_point(pending)
            with self._pending_lock:
                self._pending = pending + self._pending
                if len(self._pending) > _MOST_WAITING:
                    self._files.leave_gap(problem, *_left(self._pending))
                    self._pending = []
        self._files.write_late()
        self.problem = problem or self._files.log_problem

    def _write_first(self, pending: Pending) -> int:
        """Write a resume point, or the inputs before the next one; return how many entries."""
        if isinstance(pending[0], ResumePoint):
            self._files.create(*pending[0])
            return 1
        made = _inputs(takewhile(lambda entry: not isinstance(entry, ResumePoint), pending))
        self._files.append(made)
        return len(made)

    def _skip_to_last_point(self, pending: Pending) -> None:
        """Drop the inputs before the last resume point, which only the transition log needs."""
        points = [index for index, entry in enumerate(pending) if isinstance(entry, ResumePoint)]
        if points and points[-1] > 0:
            self._files.append_late(_inputs(pending[:points[-1]]))
            del pending[:points[-1]]


def _inputs(pending: Iterable[Input | ResumePoint]) -> list[Input]:
    return [entry for entry in pending if not isinstance(entry, ResumePoint)]


def _left(pending: Pending) -> tuple[int, int | None]:
    """Return how many inputs there are since the last resume point, and its number, if any."""
    after = list(takewhile(lambda entry: not isinstance(entry, ResumePoint), reversed(pending)))
    point = pending[-1 - len(after)] if len(after) < len(pending) else None
    return len(after), point.number if isinstance(point, ResumePoint) else None
