# SPDX-License-Identifier: Apache-2.0

"""
One file: a resume point of an exploration, and the inputs that lead on from there.

The core is deterministic: the same inputs lead to the same exploration, bit for bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
import hashlib
import json
import math
import os
from pathlib import Path
import sqlite3
import time
from typing import Any
import zlib

from mnm_ros.checkpoint.database import open_to_write, parts, read, remove, Row, set_aside, TABLES
from mnm_ros.checkpoint.input_rows import decoded, encoded
from mnm_ros.core.errors import CheckpointError, OtherCheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input, Observation, Update, WorkObservation
from mnm_ros.core.model.problem import RESET
from mnm_ros.files import flush_folder

FORMAT = 1

_MOVE_EVERY = 5.0    # s, after which the write-ahead log is moved to the file
_TIME_EVERY = 10.0    # s, after which the time of a write is written again


class LoadCancelled(Exception):
    """What is being loaded is no longer wanted."""


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """
    Refuse a file on any error: a checksum does not show who has written it.

    :raises CheckpointError: instead of anything but OSError and ``LoadCancelled``.
    """
    try:
        yield
    except (CheckpointError, LoadCancelled, OSError):
        raise
    except Exception as error:
        raise CheckpointError(f'{path} is damaged or edited: {error!r}') from error


class InputLog:
    """
    A file that is open for appending, made by ``create`` or ``reopen``.

    Both raise OSError or sqlite3.Error if the disk fails, and so does ``append``.
    """

    def __init__(self, path: Path, number: int, chain: int) -> None:
        self.path = path
        self._number = number
        self._chain = chain
        self._session = int(time.time())
        self._timed = -math.inf    # when the time of a write was written last
        self._database = open_to_write(path)
        self._moved = time.monotonic()

    @classmethod
    def create(cls, path: Path, identity: Mapping[str, Any], point: Mapping[str, Any] | None,
               number: int = 0) -> InputLog:
        """
        Write a new file, whole or not at all: as a draft, which is flushed and renamed.

        :param identity: what the exploration is asked for.
        :param point: the resume point; None is the very beginning.
        :param number: of the inputs before the resume point.
        """
        draft = path.with_name(path.name + '.draft')
        remove(draft)
        # SQLite gives its companions the rights of the file: it is for its owner only.
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        # In pieces, so that other threads run in between; json.dumps lets none.
        text = ''.join(json.JSONEncoder().iterencode({'number': number, 'point': point}))
        database = sqlite3.connect(draft)
        try:
            database.execute('PRAGMA synchronous = OFF')    # it is flushed below, and once
            with database:
                database.execute('BEGIN')
                for table in TABLES:
                    database.execute(table)
                database.executemany('INSERT INTO meta VALUES (?, ?)', (
                    ('format', str(FORMAT)), ('identity', json.dumps(identity, sort_keys=True)),
                    ('point', text), ('sha256', _digest(text))))
        finally:
            database.close()
        with draft.open('rb') as file:
            os.fsync(file.fileno())
        if any(part.exists() for part in parts(path)):
            set_aside(path)    # SQLite would apply the journal of a file that is gone to this one
        draft.rename(path)
        flush_folder(path.parent)
        return cls(path, number, 0)

    @classmethod
    def reopen(cls, saved: SavedInputs) -> InputLog:
        """Open a file that was read, and write to it by what it was extended."""
        log = cls(saved.path, saved.written, saved.chain)
        if saved.number > saved.written:
            log.append(saved.inputs[saved.written - saved.first:])
        return log

    @property
    def number(self) -> int:
        """Return how many inputs there are on the disk, those before its point included."""
        return self._number

    def append(self, inputs: Iterable[Input]) -> None:
        """Write inputs, all of them or none; they are on the disk when this returns."""
        number, chain, rows, named = self._number, self._chain, [], []
        for made in inputs:
            number += 1
            *row, text = encoded(made)
            chain = _link(chain, number, *row)
            rows.append((number, *row, chain))
            if text:
                named.append((number, text))
        now = time.monotonic()
        due = bool(rows) and now >= self._timed + _TIME_EVERY
        with self._database:
            if due:
                self._database.execute('INSERT INTO writes VALUES (?, ?, ?)', (
                    self._number + 1, int(time.time()), self._session))
            self._database.executemany('INSERT INTO inputs VALUES (?, ?, ?, ?, ?)', rows)
            self._database.executemany('INSERT INTO robots VALUES (?, ?)', named)
        self._number, self._chain = number, chain
        self._timed = now if due else self._timed
        if now >= self._moved + _MOVE_EVERY:
            # A slow robot would have minutes of work in the write-ahead log alone. On a full disk
            # they stay there: they are written, and nobody may write them once more.
            with suppress(sqlite3.Error):
                self._database.execute('PRAGMA wal_checkpoint(PASSIVE)')
            self._moved = now

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class SavedInputs:
    """
    The content of a file: all that an exploration has learnt from, one input after the other.

    :param path: the file.
    :param identity: what the exploration at hand is asked for; None to take any.
    :param after: to read no inputs but those after this one, of however many. ``inputs`` then
        begin there, and not at ``point``, and what is before them is not checked.
    :ivar identity: what the exploration was asked for.
    :ivar point: where it begins; None is the very beginning.
    :ivar number: of all its inputs, those before ``point`` included.
    :ivar inputs: those since.
    :ivar chain: the checksum over those in the file.
    :ivar written: the number of the last one in the file, whatever it was extended by.
    :ivar writes: the rows ``first``, ``time`` and ``session`` of ``writes``, in their order.
    :raises CheckpointError: if the file is damaged, or for something else than ``identity``, or
        if it does not have the input ``after``.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any] | None = None,
                 after: int | None = None) -> None:
        self.path = path
        try:
            meta, rows, robots, self.writes = read(path, after)
        except (sqlite3.Error, OSError) as error:
            raise CheckpointError(f'{path} cannot be read: {error}') from None
        if meta.get('format') != str(FORMAT):
            raise CheckpointError(f'{path} has format {meta.get("format")!r}, expected {FORMAT}')
        with refusing(path):
            self._take(meta, rows, dict(robots), identity, after)

    @property
    def first(self) -> int:
        """Return the number of the input before the first of ``inputs``."""
        return self.number - len(self.inputs)

    def made_by(self) -> Counter[str]:
        """Return how many of ``inputs`` each of several robots has made."""
        return Counter(made.robot for made in self.inputs if made.robot)

    @property
    def sources_before(self) -> Counter[str]:
        """How many transitions of each source the resume point holds, without RESETs."""
        return Counter((self.point or {}).get('sources', {}))

    def sources(self) -> Counter[str]:
        """Return how many transitions each source has reported in all, without RESETs."""
        return self.sources_before + Counter(made.source for made in self.inputs if isinstance(
            made, (Observation, WorkObservation)) and made.action != RESET)

    def first_since(self, moment: float) -> int:
        """Return the number of the first input that may be from ``moment``, s since 1970, on."""
        return max((first for first, written, _ in self.writes if written <= moment), default=0)

    def _take(self, meta: Mapping[str, str], rows: list[Row], texts: Mapping[int, str],
              identity: Mapping[str, Any] | None, after: int | None) -> None:
        text = meta['point']
        if not all(type(number) is int for row in self.writes for number in row):
            raise CheckpointError(f'{self.path} is edited: a row of writes is none of integers')
        if meta['sha256'] != _digest(text):
            raise CheckpointError(
                f'{self.path} is damaged: its resume point does not fit its SHA-256')
        self.identity: dict[str, Any] = dict(json.loads(meta['identity']))
        point = json.loads(text)
        self.point: dict[str, Any] | None = point['point']
        self.number: int = point['number']
        if type(self.number) is not int or self.number < 0:
            raise CheckpointError(
                f'{self.path} begins after {self.number!r} inputs, expected a number '
                'of them')
        if identity is not None:
            self._check_identity(json.loads(json.dumps(identity)))
        self.chain = 0
        if after is not None and after != self.number:
            if not rows or rows[0][0] != after:
                raise CheckpointError(
                    f'{self.path} has inputs {self.number + 1} to '
                    f'{rows[-1][0] if rows else self.number}, expected {after} among '
                    'them')
            self.number, *_, self.chain = rows.pop(0)
        self.inputs = [self._decoded(texts, *row) for row in rows]
        self.written = self.number

    def replay(self, exploration: Exploration,
               abandoned: Callable[[], bool] = lambda: False,
               then: Callable[[Update], object] = lambda update: None) -> None:
        """
        Give all inputs to an exploration made from ``point``.

        :param then: called with what has come of each.
        :raises CheckpointError: if it acts otherwise.
        :raises LoadCancelled: once ``abandoned`` says so.
        """
        for made in self.inputs:
            if abandoned():
                raise LoadCancelled
            then(self.give(exploration, made))

    def give(self, exploration: Exploration, made: Input) -> Update:
        """Give an exploration one of ``inputs``; CheckpointError if it acts otherwise."""
        played = made.action if isinstance(made, Observation) else made.asked
        if played is not None and exploration.next_action() != played:
            raise CheckpointError(
                f'{self.path} tells of action {played} at step {exploration.steps}, '
                f'expected {exploration.next_action()}; by version '
                f'{self.identity.get("version")}')
        return exploration.take(made)

    def check_common(self, other: SavedInputs) -> None:
        """Refuse this file if it has other inputs than another from the same one on."""
        common = min(self.number, other.number) - self.first
        if self.first != other.first or not all(
                made == told or encoded(made)[:3] == encoded(told)[:3]    # but for the robot
                for made, told in zip(self.inputs[:common], other.inputs)):
            raise CheckpointError(
                f'{self.path} tells of other inputs than {other.path} among '
                f'{self.first + 1} to {self.first + common}')

    def extend(self, longer: SavedInputs) -> None:
        """Add the inputs that another file with the same ones has after those of this one."""
        self.inputs += longer.inputs[len(self.inputs):]
        self.number = max(self.number, longer.number)

    def _check_identity(self, wanted: Mapping[str, Any]) -> None:
        for name in (*wanted, *self.identity):
            if name not in self.identity and not wanted[name]:
                continue    # an option of a later version, which nobody asks for
            if self.identity.get(name) != wanted.get(name):
                raise OtherCheckpointError(
                    f'{self.path} is for {name} {self.identity.get(name)!r}, '
                    f'expected {wanted.get(name)!r}')

    def _decoded(self, texts: Mapping[int, str], number: int, kind: int, state: int, action: int,
                 chain: int) -> Input:
        self.chain = _link(self.chain, number, kind, state, action)
        if number != self.number + 1 or chain != self.chain:
            raise CheckpointError(
                f'{self.path} is damaged: input {number} does not fit its checksum')
        self.number = number
        return decoded(kind, state, action, texts.get(number, ''))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _link(chain: int, *numbers: int) -> int:
    return zlib.crc32(repr(numbers).encode(), chain)
