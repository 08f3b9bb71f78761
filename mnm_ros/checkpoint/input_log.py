# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
One file: a resume point of an exploration, and the inputs that lead on from there.

The file is an SQLite database: its proven journal finds and drops a write that was cut off, and
any SQLite browser, pandas or R opens it. Its tables:

- ``meta``: format, version, identity (what the exploration was asked for) and the resume point,
  as JSON with a SHA-256; an empty point is the very beginning.
- ``inputs``: ``number`` (counts all inputs of the exploration from 1 on); ``kind`` (0 observed,
  1 relocated, 2 interrupted) and ``state`` as given to ``Exploration``; the ``action`` that led
  there (-1 is RESET), or, for the other kinds, the one that was broken off (-2 if it was RESET, -1
  if there was none); and ``chain``, a CRC-32 over this row and all before it.
- ``robots``: the ``number`` of an input, and the ``robot`` of several that has made it; there is
  none of a RESET that the exploration has played without any, and none of a single robot.

The core is deterministic: the same inputs lead to the same exploration, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
import hashlib
import json
import os
from pathlib import Path
import sqlite3
import sys
import time
from typing import Any
import zlib

from mnm_ros.core.exploration import Exploration, Input, RESET_OPEN
from mnm_ros.core.problem import RESET

FORMAT = 1
COMPANIONS = ('', '-wal', '-shm', '-journal')

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE inputs (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, state INTEGER NOT NULL,
                     action INTEGER NOT NULL, chain INTEGER NOT NULL);
"""
_ROBOTS = """
CREATE TABLE IF NOT EXISTS robots (number INTEGER PRIMARY KEY, robot TEXT NOT NULL);
"""    # files of a version that knew of one robot alone have none

Entry = tuple[Input, int, int]
"""Kind, state and action of an input."""


_MOVE = 5.0    # s, after which the write-ahead log is moved to the file
_LOOK = 500    # inputs replayed from one look to the next whether to go on


class Refused(ValueError):
    """A file cannot be used; the text names it and says why."""


class Abandoned(Exception):
    """Nobody wants what is being loaded any more."""


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """
    Refuse a file whatever comes of it: a checksum does not tell who has written it.

    :raises Refused: instead of anything but OSError and ``Abandoned``.
    """
    try:
        yield
    except (Refused, Abandoned, OSError):
        raise
    except Exception as error:
        raise Refused(f'{path} is damaged or edited: {error!r}') from error


class InputLog:
    """
    A file that is open for appending, made by ``create`` or ``reopen``.

    Both raise OSError or sqlite3.Error if the disk fails, and so does ``append``.
    """

    def __init__(self, path: Path, number: int, chain: int) -> None:
        self.path = path
        self._number = number
        self._chain = chain
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.execute('PRAGMA journal_mode = WAL')
        self._database.execute('PRAGMA synchronous = FULL')
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
        text = json.dumps({'number': number, 'point': point})
        database = sqlite3.connect(draft)
        try:
            with database:
                database.executescript(_SCHEMA + _ROBOTS)
                database.executemany('INSERT INTO meta VALUES (?, ?)', (
                    ('format', str(FORMAT)), ('identity', json.dumps(identity, sort_keys=True)),
                    ('point', text), ('sha256', _digest(text))))
        finally:
            database.close()
        with draft.open('rb') as file:
            os.fsync(file.fileno())
        draft.rename(path)
        flush_folder(path.parent)
        return cls(path, number, 0)

    @classmethod
    def reopen(cls, saved: Saved) -> InputLog:
        """Open a file that was read, without the inputs that ``saved`` does not have."""
        log = cls(saved.path, saved.number, saved.chain)
        with log._database:
            log._database.execute(_ROBOTS)
            for table in ('inputs', 'robots'):
                log._database.execute(f'DELETE FROM {table} WHERE number > ?', (saved.number,))
        return log

    def append(self, inputs: Iterable[Entry], robots: Iterable[str] = ()) -> None:
        """
        Write inputs, all of them or none; they are on the disk when this returns.

        :param robots: that have made these inputs, one for each; empty where none of several has.
        """
        number, chain, rows = self._number, self._chain, []
        named = [(place, robot) for place, robot in enumerate(robots, number + 1) if robot]
        for kind, state, action in inputs:
            number += 1
            chain = _link(chain, number, kind.value, state, action)
            rows.append((number, kind.value, state, action, chain))
        with self._database:
            self._database.executemany('INSERT INTO inputs VALUES (?, ?, ?, ?, ?)', rows)
            self._database.executemany('INSERT INTO robots VALUES (?, ?)', named)
        self._number, self._chain = number, chain
        if time.monotonic() >= self._moved + _MOVE:
            # A slow robot would have minutes of work in the write-ahead log alone.
            self._database.execute('PRAGMA wal_checkpoint(PASSIVE)')
            self._moved = time.monotonic()

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class Inputs:
    """
    What an exploration has learnt from, one input after the other.

    :param path: where they are from, for messages.
    :param identity: what the exploration was asked for.
    :param point: where it begins; None is the very beginning.
    :ivar number: of all its inputs, those before ``point`` included.
    :ivar inputs: those since.
    :ivar robots: by the number of an input, the robot of several that has made it.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any],
                 point: dict[str, Any] | None) -> None:
        self.path = path
        self.identity = dict(identity)
        self.point = point
        self.number = 0
        self.inputs: list[Entry] = []
        self.robots: dict[int, str] = {}

    def replay(self, exploration: Exploration,
               abandoned: Callable[[], bool] = lambda: False) -> None:
        """
        Give all inputs to an exploration made from ``point``.

        :raises Refused: if it acts otherwise.
        :raises Abandoned: once ``abandoned`` says so.
        """
        for number, (kind, state, action) in enumerate(self.inputs):
            if number % _LOOK == 0 and abandoned():
                raise Abandoned
            if kind is Input.OBSERVED or action != RESET:
                played = RESET if action == RESET_OPEN else action
                if exploration.next_action() != played:
                    raise Refused(
                        f'{self.path} tells of action {played} at step {exploration.steps}, '
                        f'expected {exploration.next_action()}; by version '
                        f'{self.identity.get("version")}')
            exploration.take(kind, state, action)


class Saved(Inputs):
    """
    What a file holds.

    :param path: the file.
    :param identity: what the exploration at hand is asked for; None to take any.
    :ivar chain: the checksum over them.
    :raises Refused: if the file is damaged, or for something else than ``identity``.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any] | None = None) -> None:
        super().__init__(path, {}, None)
        try:
            meta, rows, robots = _read(path)
        except (sqlite3.Error, OSError) as error:
            raise Refused(f'{path} cannot be read: {error}') from None
        if meta.get('format') != str(FORMAT):
            raise Refused(f'{path} has format {meta.get("format")!r}, expected {FORMAT}')
        with refusing(path):
            self._take(meta, rows, identity)
            self.robots = {int(number): sys.intern(robot) for number, robot in robots}

    def _take(self, meta: Mapping[str, str], rows: Iterable[tuple[int, int, int, int, int]],
              identity: Mapping[str, Any] | None) -> None:
        text = meta['point']
        if meta['sha256'] != _digest(text):
            raise Refused(f'{self.path} is damaged: its resume point does not fit its SHA-256')
        self.identity = dict(json.loads(meta['identity']))
        point = json.loads(text)
        self.point = point['point']
        self.number = point['number']
        if identity is not None:
            self._check_identity(json.loads(json.dumps(identity)))
        self.chain = 0
        self.inputs = [self._check_row(*row) for row in rows]

    def forget_after(self, number: int) -> None:
        """Drop the inputs after ``number``; Refused if the file begins later or ends earlier."""
        first = self.number - len(self.inputs)
        if not first <= number <= self.number:
            raise Refused(f'{self.path} has inputs {first + 1} to {self.number}, '
                          f'expected {number} among them')
        del self.inputs[number - first:]
        self.chain, self.number = 0, first
        for kind, state, action in self.inputs:
            self.number += 1
            self.chain = _link(self.chain, self.number, kind.value, state, action)
        self.robots = {place: robot for place, robot in self.robots.items() if place <= number}

    def _check_identity(self, wanted: Mapping[str, Any]) -> None:
        for name in (*wanted, *self.identity):
            if self.identity.get(name) != wanted.get(name):
                raise Refused(f'{self.path} is for {name} {self.identity.get(name)!r}, '
                              f'expected {wanted.get(name)!r}')

    def _check_row(self, number: int, kind: int, state: int, action: int, chain: int) -> Entry:
        self.chain = _link(self.chain, number, kind, state, action)
        if number != self.number + 1 or chain != self.chain:
            raise Refused(f'{self.path} is damaged: input {number} does not fit its checksum')
        self.number = number
        return Input(kind), state, action


def set_aside(path: Path) -> Path:
    """Rename a file and its companions, to keep them from being overwritten; return the path."""
    number = 1
    while (aside := path.with_name(f'{path.name}.aside.{number}')).exists():
        number += 1
    return rename(path, aside)


def rename(path: Path, name: Path) -> Path:
    """Rename a file and its companions; return the new path."""
    for companion in COMPANIONS:
        part = path.with_name(path.name + companion)
        if part.exists():
            part.rename(name.with_name(name.name + companion))
    return name


def flush_folder(folder: Path) -> None:
    """Flush a folder, so that files renamed or removed there stay so after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file and its companions, if they are there."""
    for companion in COMPANIONS:
        path.with_name(path.name + companion).unlink(missing_ok=True)


def _read(path: Path) -> tuple[dict[str, str], Iterator[tuple[int, int, int, int, int]],
                               list[tuple[int, str]]]:
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError('no such file, or no regular one')
    database = sqlite3.connect(path)
    try:
        others = database.execute(
            "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index')").fetchall()
        if others:    # to read a view can take forever
            raise sqlite3.DatabaseError(f'{others[0][0]!r} is no table')
        finding = database.execute('PRAGMA quick_check').fetchone()[0]
        if finding != 'ok':
            raise sqlite3.DatabaseError(finding)
        meta = dict(database.execute('SELECT key, value FROM meta').fetchall())
        rows = database.execute(
            'SELECT number, kind, state, action, chain FROM inputs ORDER BY number').fetchall()
        robots = database.execute('SELECT number, robot FROM robots').fetchall() if (
            database.execute("SELECT 1 FROM sqlite_master WHERE name = 'robots'").fetchone()
        ) else []
    finally:
        database.close()
    return meta, iter(rows), robots


def readable(path: Path) -> bool:
    """Return whether SQLite can read a file at all, whatever is in it; that is quick."""
    try:
        database = sqlite3.connect(path)
        try:
            database.execute('SELECT name FROM sqlite_master').fetchall()
        finally:
            database.close()
    except sqlite3.Error:
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _link(chain: int, *numbers: int) -> int:
    return zlib.crc32(repr(numbers).encode(), chain)
