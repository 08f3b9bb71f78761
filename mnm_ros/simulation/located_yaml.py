# SPDX-License-Identifier: Apache-2.0

"""YAML in which every entry knows its line, so that errors can name it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

from mnm_ros.simulation.yaml_scalars import tag_of, value_of

INT64 = range(-2**63, 2**63)
MOST_VALUES = 5_000_000
MOST_CELLS = 250_000
MOST_CELLS_IN_ALL = 500_000
"""Of a file, with those that aliases repeat, of a floor plan, and of the grids of all settings,
with those that aliases repeat: no file that people write comes near these limits, and below them
reading takes seconds and some 100 MB."""


class ScenarioError(ValueError):
    """A file cannot be used; the message names the file, the line and what was expected."""


class Entry:
    """
    One value of a YAML file and its place.

    Each reader returns the value if it is of the kind asked for. Otherwise it raises
    ScenarioError with the file, the line, what was found and ``what`` was expected.

    :param line: of the file, from 1.
    :param content: the text of a scalar, or the entries of a list, or those of a mapping, each key
        followed by its value.
    :param kind: ``dict`` for a mapping, ``list``, or ``str`` for a scalar.
    :param tag: of a scalar, as in the file.
    :param plain: whether a scalar has neither quotes nor a tag.
    """

    __slots__ = ('_content', '_kind', '_path', '_plain', '_tag', 'line', 'size')

    def __init__(self, path: Path, line: int, content: str | list[Entry], kind: type,
                 tag: str | None = None, plain: bool = False) -> None:
        self._path = path
        self.line = line
        self._content = content
        self._kind = kind
        self._tag = tag
        self._plain = plain
        self.size = 1    # the entries in it, those that aliases repeat included, and itself

    def add(self, entry: Entry) -> None:
        """Put an entry at the end of a list, or a key or a value at the end of a mapping."""
        self._entries().append(entry)
        self.size += entry.size
        if self.size > MOST_VALUES:
            raise self.error(f'with all that its aliases repeat, the file has more than '
                             f'{MOST_VALUES:,} values, expected fewer')

    def _entries(self) -> list[Entry]:
        assert isinstance(self._content, list)
        return self._content

    def error(self, message: str) -> ScenarioError:
        """Return an error at this entry, to be raised."""
        return error_at(self._path, self.line, message)

    def warning(self, message: str) -> str:
        """Return what is odd about this entry, with its place."""
        return str(self.error(message))

    def mapping(self, what: str, allowed: tuple[str, ...] = ()) -> Keys:
        """Return the keys of a mapping, which must not repeat; ``allowed`` is empty for any."""
        if self._kind is not dict:
            raise self._unexpected(f'{what}, a mapping' if allowed else what)
        result = Keys(self)
        entries = iter(self._entries())
        for key, value in zip(entries, entries):
            name = key._scalar(f'a name or a number as key of {what}')
            if name in result:
                raise key.error(f'key {name} appears twice, expected distinct keys')
            if allowed and name not in allowed:
                raise key.error(f"unknown key '{name}' in {what}, expected {listed(allowed)}")
            result[name] = key, value
        return result

    def sequence(self, what: str, if_empty: str = '') -> list[Entry]:
        """Return the entries of a list; if it is empty, ``if_empty`` or ``what`` was expected."""
        if self._kind is not list:
            raise self._unexpected(what)
        if not self._content:
            raise self.error(f'found an empty list, expected {if_empty or what}')
        return list(self._entries())

    def text(self, what: str) -> str:
        """Return a string that is not empty."""
        value = self._scalar(what)
        if not isinstance(value, str) or not value:
            raise self._unexpected(what)
        return value

    def integer(self, what: str, minimum: int = INT64.start) -> int:
        """Return an integer that fits into int64 and is not less than ``minimum``."""
        value = self._scalar(what)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._unexpected(what)
        if value not in INT64:
            raise self.error(f'{shortened(str(value))} does not fit into 64 bits, expected {what}')
        if value < minimum:
            raise self._unexpected(what)
        return value

    def number(self, what: str, minimum: float, maximum: float) -> float:
        """Return a number from ``minimum`` to ``maximum``."""
        value = self._scalar(what)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not minimum <= value <= maximum:
            raise self._unexpected(what)
        return float(value)

    def _scalar(self, what: str) -> Any:
        if self._kind is not str:
            raise self._unexpected(what)
        try:
            return value_of(str(self._content), self._tag, self._plain)
        except ValueError:
            raise self._unexpected(what) from None

    def _unexpected(self, what: str) -> ScenarioError:
        if self._kind is str:
            text = str(self._content)
            in_quotes = tag_of(text, self._tag, self._plain).endswith(':str')
            quote = "'" if in_quotes or self._tag is None and not self._plain else ''
            found = f'{quote}{shortened(text)}{quote}' if text or quote else 'nothing'
        else:
            found = 'a mapping' if self._kind is dict else 'a list'
        return self.error(f'found {found}, expected {what}')


class Keys(dict[Any, tuple[Entry, Entry]]):
    """The keys of a mapping, with the entries of the key and of its value."""

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self._entry = entry

    def required(self, name: str, what: str) -> Entry:
        """Return the value of a key that must be there; ``what`` was expected."""
        if name not in self:
            raise self._entry.error(f'{name} is missing, expected {what}')
        return self[name][1]

    def plan(self, doors: Set[str] = frozenset()) -> list[str]:
        """Return the ``rows`` of a floor plan, of equal length, with one ``S``, and ``doors``."""
        plan = self.required('rows', 'a list of strings')
        cells = "'.', '#', 'S' or a door, another capital letter" if doors else "'.', '#' or 'S'"
        rows: list[str] = []
        items = plan.sequence('a list of strings', 'a list of at least one row')
        for item in items:
            row = item.text(f'a row of cells, in quotes, each {cells}')
            unknown = set(row) - doors - set('.#S')
            if unknown:
                raise item.error(f"found '{min(unknown)}' in row '{row}', expected {cells}")
            rows.append(row)
            if len(row) != len(rows[0]):
                raise item.error(
                    f"row '{row}' has {len(row)} cells, expected {len(rows[0])} as in the first")
            if len(row) * len(items) > MOST_CELLS:
                raise item.error(f'the plan has {len(row) * len(items):,} cells, expected at most '
                                 f'{MOST_CELLS:,}')
        starts = ''.join(rows).count('S')
        if starts != 1:
            raise plan.error(f"found {starts} cells 'S', expected exactly 1")
        return rows


def listed(names: Iterable[str]) -> str:
    """Return the names, separated by commas."""
    return ', '.join(names)


def shortened(text: str) -> str:
    """Return a text as it can stand in a message."""
    return text if len(text) <= 60 else f'{text[:40]}... ({len(text):,} characters)'


def error_at(path: Path, line: int, message: str) -> ScenarioError:
    """Return an error at a line of a file, to be raised."""
    return ScenarioError(f'{path}:{line}: {message}')
