"""YAML in which every entry knows its line, so that errors can name it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

import yaml

INT64 = range(-2**63, 2**63)


class ScenarioError(ValueError):
    """A file cannot be used; the message names the file, the line and what was expected."""


class Entry:
    """One value of a YAML file and its place.

    Each reader returns the value if it is of the kind asked for. Otherwise it raises
    ScenarioError with the file, the line, what was found and ``what`` was expected.
    """

    def __init__(self, path: Path, node: yaml.Node) -> None:
        self._path = path
        self._node = node

    def error(self, message: str) -> ScenarioError:
        """Return an error at this entry, to be raised."""
        return _error(self._path, self._node.start_mark.line + 1, message)

    def mapping(self, what: str, allowed: tuple[str, ...] = ()) -> Keys:
        """Return the keys of a mapping, which must not repeat; ``allowed`` is empty for any."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self._unexpected(f'{what}, a mapping' if allowed else what)
        result = Keys(self)
        for key_node, value_node in self._node.value:
            key = Entry(self._path, key_node)
            name = key._scalar(f'a name or a number as key of {what}')
            if name in result:
                raise key.error(f'key {name} appears twice, expected distinct keys')
            if allowed and name not in allowed:
                raise key.error(f"unknown key '{name}' in {what}, expected {listed(allowed)}")
            result[name] = key, Entry(self._path, value_node)
        return result

    def sequence(self, what: str, if_empty: str = '') -> list[Entry]:
        """Return the entries of a list; if it is empty, ``if_empty`` or ``what`` was expected."""
        if not isinstance(self._node, yaml.SequenceNode):
            raise self._unexpected(what)
        if not self._node.value:
            raise self.error(f'found an empty list, expected {if_empty or what}')
        return [Entry(self._path, node) for node in self._node.value]

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
            raise self.error(f'{value} does not fit into 64 bits, expected {what}')
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
        if not isinstance(self._node, yaml.ScalarNode):
            raise self._unexpected(what)
        try:
            return yaml.constructor.SafeConstructor().construct_object(self._node)
        # PyYAML raises these for '2020-13-01', '!!bool 3', '!!timestamp 3' or an unknown tag.
        except (yaml.YAMLError, ValueError, LookupError, AttributeError):
            raise self._unexpected(what) from None

    def _unexpected(self, what: str) -> ScenarioError:
        if isinstance(self._node, yaml.ScalarNode):
            quote = "'" if self._node.style or self._node.tag.endswith(':str') else ''
            found = f'{quote}{self._node.value}{quote}' if self._node.value or quote else 'nothing'
        else:
            found = 'a mapping' if isinstance(self._node, yaml.MappingNode) else 'a list'
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
        for item in plan.sequence('a list of strings', 'a list of at least one row'):
            row = item.text(f'a row of cells, in quotes, each {cells}')
            unknown = set(row) - doors - set('.#S')
            if unknown:
                raise item.error(f"found '{min(unknown)}' in row '{row}', expected {cells}")
            rows.append(row)
            if len(row) != len(rows[0]):
                raise item.error(
                    f"row '{row}' has {len(row)} cells, expected {len(rows[0])} as in the first")
        starts = ''.join(rows).count('S')
        if starts != 1:
            raise plan.error(f"found {starts} cells 'S', expected exactly 1")
        return rows


def listed(names: Iterable[str]) -> str:
    """Return the names, separated by commas."""
    return ', '.join(names)


def read(path: Path, what: str = 'scenario') -> Entry:
    """Return the only document of a UTF-8 file; ScenarioError if it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScenarioError(
            f'{path}: cannot be read ({error.strerror}), expected a {what} file') from None
    try:
        text = data.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        line = data[:error.start].count(b'\n') + 1
        raise _error(path, line, f'byte {data[error.start]:#04x} is not UTF-8') from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ' '.join(filter(None, (error.context, error.problem)))
        raise _error(path, mark.line + 1 if mark else 1, f'not YAML: {reason}') from None
    except yaml.reader.ReaderError as error:
        line = text[:error.position].count('\n') + 1
        raise _error(path, line, f'not YAML: {error.reason}') from None
    except RecursionError:
        raise _error(path, 1, f'nested too deeply, expected a {what}') from None
    if node is None:
        raise _error(path, 1, f'the file is empty, expected a {what}')
    return Entry(path, node)


def _error(path: Path, line: int, message: str) -> ScenarioError:
    return ScenarioError(f'{path}:{line}: {message}')
