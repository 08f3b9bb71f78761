# SPDX-License-Identifier: Apache-2.0

"""The CSV file of a batch of trials: a line for each, written as they end."""

from __future__ import annotations

from collections.abc import Sequence
import csv
import fcntl
import io
import os
from pathlib import Path
from typing import TextIO

Row = dict[str, str]


class BatchError(Exception):
    """What ends a batch, in one line."""


class Table:
    """
    A CSV file from which a batch goes on; nothing is read or written without a path.

    :ivar found: the rows that were there, by the values of their first columns.
    """

    def __init__(self, path: Path | None, heads: Sequence[Row], versions: int) -> None:
        """
        Read what is there.

        :param heads: the first columns of each row that the batch is to make.
        :param versions: how many of them, at the beginning, tell which code makes the rows.
        :raises BatchError: if the file cannot be used, has anything in it that the batch would not
            make, or is written by another one.
        """
        self.found: dict[tuple[str, ...], Row] = {}
        self._path, self._heads, self._versions = path, heads, versions
        self._file: TextIO | None = None
        if path is None:
            return
        try:
            self._file = path.open('a+', newline='', encoding='utf-8')
            self._read(self._file)
        except BlockingIOError:
            self._file.close()    # type: ignore[union-attr]
            raise BatchError(f'{path} is being written by another run') from None
        except (OSError, UnicodeDecodeError) as error:
            raise BatchError(f'{path}: {error}') from error
        except BatchError:
            self._file.close()    # type: ignore[union-attr]
            raise

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def _read(self, file: TextIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.seek(0)
        text = file.read()
        whole = text[:text.rfind('\n') + 1]    # a run that was killed may leave half a line
        reader = csv.DictReader(io.StringIO(whole))
        names = list(self._heads[0])
        if whole and list(reader.fieldnames or ())[:len(names)] != names:
            raise BatchError(f'{self._path} does not begin with the columns {", ".join(names)}; '
                             'name another file')
        expected = {tuple(head.values()) for head in self._heads}
        for number, row in enumerate(reader, 2):
            self._check(number, row, expected)
            self.found[tuple(row.values())[:len(names)]] = row
        if len(whole) < len(text):
            file.truncate(len(whole.encode()))
            file.seek(0, os.SEEK_END)

    def _check(self, number: int, row: Row, expected: set[tuple[str, ...]]) -> None:
        first = self._heads[0]
        head = tuple(row.values())[:len(first)]
        if None in row or None in row.values():
            raise BatchError(f'{self._path}, line {number}: expected as many values as columns')
        for name, wanted in list(first.items())[:self._versions]:
            if row[name] != wanted:
                raise BatchError(f'{self._path}, line {number}: made by {name} {row[name]}, this '
                                 f'is {wanted}; go on with that one or name another file')
        if head not in expected:
            told = ', '.join(f'{name} {value}' for name, value in zip(first, head))
            raise BatchError(f'{self._path}, line {number}: not asked for ({told}); '
                             'repeat the command that made it or name another file')

    def add(self, row: Row) -> None:
        """Write the line of one trial, at once."""
        if self._file is None:
            return
        if not self._file.tell():
            self._file.write(_line(list(row)))
        self._file.write(_line(list(row.values())))
        self._file.flush()

    def put_in_order(self, rows: Sequence[Row]) -> None:
        """Write all anew in the order in which a single process would have; all or nothing."""
        if self._path is None or not rows:
            return
        beside = self._path.with_name(f'{self._path.name}.new')
        beside.write_text(''.join(map(_line, (list(rows[0]), *(list(row.values())
                                                               for row in rows)))), 'utf-8')
        os.replace(beside, self._path)


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerow(cells)
    return text.getvalue()
