# SPDX-License-Identifier: Apache-2.0

"""
The SQLite file of an input log: its tables, how it is read, and how it is renamed.

The file is an SQLite database: its proven journal finds and drops a write that was cut off, and
any SQLite browser, pandas or R opens it. Its tables:

- ``meta``: format, version, identity (what the exploration was asked for) and the resume point,
  as JSON with a SHA-256; an empty point is the very beginning.
- ``inputs``: ``number`` (counts all inputs of the exploration from 1 on); ``kind`` (0 observed,
  1 relocated, 2 interrupted, 3 declared, 4 worked, 5 preferred, 6 look, 7 improved) and
  ``state`` as passed to ``Exploration``; the ``action`` that led there (-1 is RESET), or, for the
  other kinds, the one that was open (-2 if it was RESET, -1 if there was none); and ``chain``, a
  CRC-32 over this row and all before it.
- ``robots``: the ``number`` of an input, and the ``robot`` of several that has made it; there is
  none of a RESET that the exploration has executed without any, and none of a single robot. Of a
  declaration it is what was declared, as JSON, and ``state`` its CRC-32; likewise of an execution
  that others have ordered it is ``[state, action, next state or null, robot, node]``, without the
  node if the robot side has reported it, of a
  look ``[state or null, action]``, and of what is to be improved ``[state, within]``.
- ``writes``: the inputs from number ``first`` on were written at ``time``, in s since 1970, or
  later, by the process that began at ``session``, in the same unit. There is one row in 10 s.

``input_log`` has what the rows mean. SQLite keeps companions beside a file while it is open, which
are renamed and removed with it.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
import re
import sqlite3
import sys
from typing import NamedTuple

from mnm_ros.files import regular

COMPANIONS = ('', '-wal', '-shm', '-journal')

_META = 'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)'
_INPUTS = ('CREATE TABLE inputs (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, '
           'state INTEGER NOT NULL, action INTEGER NOT NULL, chain INTEGER NOT NULL)')
_ROBOTS = 'CREATE TABLE robots (number INTEGER PRIMARY KEY, robot TEXT NOT NULL)'
_WRITES = ('CREATE TABLE writes (first INTEGER PRIMARY KEY, time INTEGER NOT NULL, '
           'session INTEGER NOT NULL)')
TABLES = (_META, _INPUTS, _ROBOTS, _WRITES)

_HARMLESS = re.compile(    # what an SQLite browser may add
    r'CREATE TABLE sqlite_stat\d\([a-z,]+\)|'
    r'CREATE INDEX \w+ (?i:ON) (meta|inputs|robots|writes) ?'
    r'\( ?[a-z]+( ?, ?[a-z]+)* ?\)').fullmatch

Row = tuple[int, int, int, int, int]
"""Of ``inputs``."""

_LONGEST_WAIT = 1.0    # s, to wait for another program that has locked a file


class Tables(NamedTuple):
    """
    The rows of a file.

    :ivar inputs: the row that was asked for, if there, and those later.
    """

    meta: dict[str, str]
    inputs: list[Row]
    robots: list[tuple[int, str]]
    writes: list[tuple[int, int, int]]


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a file for rows that are on the disk once they are committed."""
    database = sqlite3.connect(path, _LONGEST_WAIT, check_same_thread=False)
    database.execute('PRAGMA journal_mode = WAL')
    database.execute('PRAGMA synchronous = FULL')
    database.execute(_WRITES.replace('TABLE', 'TABLE IF NOT EXISTS'))
    return database


def set_aside(path: Path, word: str = 'aside') -> Path:
    """Rename a file and its companions, to keep them from being overwritten; return the path."""
    asides = (path.with_name(f'{path.name}.{word}.{number}') for number in count(1))
    return rename(path, next(
        aside for aside in asides if not any(part.exists() for part in parts(aside))))


def rename(path: Path, name: Path) -> Path:
    """Rename a file and its companions; return the new path."""
    for part, renamed in zip(parts(path), parts(name)):
        if part.exists():
            part.rename(renamed)
    return name


def remove(path: Path) -> None:
    """Remove a file and its companions, if they are there."""
    for part in parts(path):
        part.unlink(missing_ok=True)


def parts(path: Path) -> list[Path]:
    """Return a file and its companions, be they there or not."""
    return [path.with_name(path.name + companion) for companion in COMPANIONS]


def read(path: Path, after: int | None) -> Tables:
    """Return the tables of a file; of ``inputs`` the row ``after``, if there, and those later."""
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError('no such file, or no regular one')
    size = _size(path)
    database = sqlite3.connect(path, _LONGEST_WAIT)
    try:
        if sys.version_info >= (3, 11):    # nothing that is stored is larger than all of it
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(size + 2**20, 2**31 - 1))
        _check_tables(database)
        if after is None:
            finding = database.execute('PRAGMA quick_check').fetchone()[0]
            if finding != 'ok':
                raise sqlite3.DatabaseError(finding)
        from_there = -1 if after is None else after
        meta = dict(database.execute('SELECT key, value FROM meta LIMIT 9').fetchall())
        rows = database.execute(
            'SELECT number, kind, state, action, chain FROM inputs WHERE number >= ? '
            'ORDER BY number LIMIT ?', (from_there, size)).fetchall()
        if not rows and after is not None:
            rows = database.execute(
                'SELECT number, kind, state, action, chain FROM inputs ORDER BY number DESC '
                'LIMIT 1').fetchall()
        robots = database.execute(
            'SELECT number, robot FROM robots WHERE number > ?', (from_there,)).fetchall()
        timed = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'writes'").fetchone()
        writes = database.execute('SELECT first, time, session FROM writes ORDER BY first LIMIT ?',
                                  (size,)).fetchall() if timed else []
    finally:
        database.close()
    return Tables(meta, rows, robots, writes)


def _size(path: Path) -> int:
    """Return the bytes of a file and its companions; OSError where to open one may wait."""
    return sum(regular(part).stat().st_size for part in parts(path) if part.exists())


def _check_tables(database: sqlite3.Connection) -> None:
    """
    Raise sqlite3.DatabaseError if there are other tables than those of ``create``.

    To read what a view or a column computes can take forever, and all memory.
    """
    for name, sql in database.execute('SELECT name, sql FROM sqlite_master'):
        made = ' '.join(str(sql).replace('"', '').split())
        if sql is not None and made not in TABLES and not _HARMLESS(made):
            raise sqlite3.DatabaseError(f'{name!r} is no table of a checkpoint, expected meta, '
                                        'inputs, robots and writes as they were made')


def unreadable(path: Path) -> str:
    """Return why SQLite cannot read a file at all, whatever is in it, or nothing; quickly."""
    try:
        _size(path)
        database = sqlite3.connect(path, _LONGEST_WAIT)
        try:
            database.execute('SELECT name FROM sqlite_master').fetchall()
        finally:
            database.close()
    except (sqlite3.Error, OSError) as error:
        return str(error)
    return ''
