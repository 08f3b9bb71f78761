# SPDX-License-Identifier: Apache-2.0

"""
Read a YAML file into entries that know their lines, within limits.

PyYAML would build everything that a file asks for, at any depth and of any size. What it parses is
put together here, without recursion, and aliases are counted as what they repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import gc
from pathlib import Path
from typing import Any

from mnm_ros.simulation.located_yaml import Entry, error_at, ScenarioError
import yaml

MOST_BYTES = 32 * 2 ** 20
"""Of a file, which would take a minute at this size if its values are short."""
_DEEPEST = 100    # levels of nesting

# The one in C is many times as fast, where PyYAML was built with it.
_LOADER: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


def read(path: Path, what: str = 'scenario') -> Entry:
    """Return the only document of a UTF-8 file; ScenarioError if it cannot be read."""
    text = _text(path, what)
    try:
        with _without_garbage_collection():
            root = _Composer(path, what).compose(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ' '.join(filter(None, (error.context, error.problem)))
        raise error_at(path, mark.line + 1 if mark else 1, f'not YAML: {reason}') from None
    except yaml.YAMLError as error:
        raise error_at(path, 1, f'not YAML: {error}') from None
    if root is None:
        raise error_at(path, 1, f'the file is empty, expected a {what}')
    return root


def _text(path: Path, what: str) -> str:
    """Return what is in a file, if all of it may stand in YAML."""
    try:
        with path.open('rb') as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ScenarioError(
            f'{path}: cannot be read ({error.strerror}), expected a {what} file') from None
    if len(data) > MOST_BYTES:
        raise ScenarioError(f'{path}: the file has more than {MOST_BYTES:,} bytes, expected a '
                            f'{what} of at most as many')
    try:
        text = data.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        line = data[:error.start].count(b'\n') + 1
        raise error_at(path, line, f'byte {data[error.start]:#04x} is not UTF-8') from None
    control = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if control:
        line = text[:control.start()].count('\n') + 1
        raise error_at(path, line, 'not YAML: special characters are not allowed')
    return text


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Look for no cycles, as there are none: that would take longer than all the rest."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class _Composer:
    """Puts the events of a parser together to entries."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        self._what = what
        self._open: list[Entry] = []
        self._anchors: dict[str, Entry] = {}
        self._root: Entry | None = None

    def compose(self, events: Iterator[yaml.Event]) -> Entry | None:
        """Return the only document; None if there is none."""
        for event in events:
            if isinstance(event, yaml.ScalarEvent):
                self._add(self._made(event, event.value, str), event.anchor)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                kind = dict if isinstance(event, yaml.MappingStartEvent) else list
                self._begin(self._made(event, [], kind), event.anchor)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                self._add(self._open.pop())
            elif isinstance(event, yaml.AliasEvent):
                self._add(self._repeated(event))
            elif isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
                raise self._error(event, 'not YAML: expected a single document in the stream but '
                                  'found another document')
        return self._root

    def _made(self, event: Any, content: str | list[Entry], kind: type) -> Entry:
        plain = kind is str and event.implicit[0]
        return Entry(self._path, event.start_mark.line + 1, content, kind, event.tag, plain)

    def _begin(self, entry: Entry, anchor: str | None) -> None:
        if len(self._open) == _DEEPEST:
            raise entry.error(f'nested more than {_DEEPEST} levels deep, expected a {self._what}')
        self._name(entry, anchor)
        self._open.append(entry)

    def _add(self, entry: Entry, anchor: str | None = None) -> None:
        self._name(entry, anchor)
        if self._open:
            self._open[-1].add(entry)
        else:
            self._root = entry

    def _name(self, entry: Entry, anchor: str | None) -> None:
        if anchor in self._anchors:
            raise entry.error(f'not YAML: anchor {anchor} appears twice, expected distinct ones')
        if anchor is not None:
            self._anchors[anchor] = entry

    def _repeated(self, event: Any) -> Entry:
        entry = self._anchors.get(event.anchor)
        if entry is None:
            raise self._error(event, f"not YAML: found undefined alias '{event.anchor}'")
        if any(entry is each for each in self._open):
            raise self._error(event, f"alias '{event.anchor}' stands for what it is in, expected "
                              'an earlier entry')
        return entry

    def _error(self, event: Any, message: str) -> ScenarioError:
        return error_at(self._path, event.start_mark.line + 1, message)
