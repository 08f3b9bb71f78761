"""YAML whose every entry knows its line, so that errors can point at it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

INT64 = range(-2**63, 2**63)


class ScenarioError(ValueError):
    """A file that cannot be used: its name, the line and what was expected there."""


class Entry:
    """One value of a YAML file and where it stands.

    The readers below return the value if it is of the kind asked for, and otherwise raise
    ScenarioError with the file, the line, ``what`` was expected and what was found.
    """

    def __init__(self, path: Path, node: yaml.Node) -> None:
        self._path = path
        self._node = node

    def error(self, message: str) -> ScenarioError:
        """Return an error at this entry, to be raised."""
        return _error(self._path, self._node.start_mark.line + 1, message)

    def mapping(self, what: str) -> dict[Any, tuple[Entry, Entry]]:
        """Return the entries of the key and of the value per key; no key may repeat."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self._unexpected(what)
        result: dict[Any, tuple[Entry, Entry]] = {}
        for key_node, value_node in self._node.value:
            key = Entry(self._path, key_node)
            name = key._scalar(f'a name or a number as key of {what}')
            if name in result:
                raise key.error(f'key {name} appears twice, expected distinct keys')
            result[name] = key, Entry(self._path, value_node)
        return result

    def sequence(self, what: str) -> list[Entry]:
        """Return the entries of a list."""
        if not isinstance(self._node, yaml.SequenceNode):
            raise self._unexpected(what)
        return [Entry(self._path, node) for node in self._node.value]

    def text(self, what: str) -> str:
        """Return a string that is not empty."""
        value = self._scalar(what)
        if not isinstance(value, str) or not value:
            raise self._unexpected(what)
        return value

    def integer(self, what: str) -> int:
        """Return an integer that fits into int64."""
        value = self._scalar(what)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._unexpected(what)
        if value not in INT64:
            raise self.error(f'{value} does not fit into 64 bits, expected {what}')
        return value

    def number(self, what: str, minimum: float, maximum: float) -> float:
        """Return a number between the bounds, which are included."""
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
        # What PyYAML raises for '2020-13-01', '!!bool 3', '!!timestamp 3' or an unknown tag.
        except (yaml.YAMLError, ValueError, LookupError, AttributeError):
            raise self._unexpected(what) from None

    def _unexpected(self, what: str) -> ScenarioError:
        if isinstance(self._node, yaml.ScalarNode):
            quote = "'" if self._node.style or self._node.tag.endswith(':str') else ''
            found = f'{quote}{self._node.value}{quote}' if self._node.value or quote else 'nothing'
        else:
            found = 'a mapping' if isinstance(self._node, yaml.MappingNode) else 'a list'
        return self.error(f'found {found}, expected {what}')


Mapping = dict[str, tuple[Entry, Entry]]


def keys_of(entry: Entry, what: str, allowed: tuple[str, ...]) -> Mapping:
    """Return the mapping of an entry that has no other keys than those allowed."""
    keys = entry.mapping(f'{what}, a mapping')
    for name, (key, _) in keys.items():
        if name not in allowed:
            raise key.error(f"unknown key '{name}' in {what}, expected {listed(allowed)}")
    return keys


def required(entry: Entry, keys: Mapping, name: str, what: str) -> Entry:
    """Return the value of a key that has to be there; ``what`` was expected."""
    if name not in keys:
        raise entry.error(f'{name} is missing, expected {what}')
    return keys[name][1]


def listed(names: Iterable[str]) -> str:
    """Return names for people."""
    return ', '.join(names)


def read(path: Path, what: str = 'scenario') -> Entry:
    """Return the only document of a UTF-8 file; ScenarioError if there is none."""
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
