# SPDX-License-Identifier: Apache-2.0

"""
YAML files in which every entry knows its line, so that errors can name it, read within limits.

PyYAML would build everything that a file asks for, at any depth and of any size. The events of its
parser are put together here, without recursion, and aliases are counted as what they repeat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import gc
from pathlib import Path
import re
from typing import Any

from mnm_ros.core.errors import FileError
from mnm_ros.file_kinds import refuse_content
from mnm_ros.files import read_regular
import yaml

MOST_BYTES = 32 * 2 ** 20    # of a file, which would take a minute if its values are short
MOST_VALUES = 5_000_000    # with those that aliases repeat: reading takes seconds and some 100 MB
DEEPEST = 100    # levels of nesting
LONGEST = 1000    # characters of a number; PyYAML may need minutes for 1:2:3 and so on
INT64 = range(-2**63, 2**63)

_INTEGER = re.compile(r'-?(0|[1-9][0-9]{0,17})')
_DECIMAL = re.compile(r'-?[0-9]{1,18}\.[0-9]{0,18}')
_PREFIX = 'tag:yaml.org,2002:'
_TAGS = {_PREFIX + kind for kind in ('str', 'int', 'float', 'bool', 'null')}
_resolver = yaml.resolver.Resolver()

# The one in C is many times as fast, where PyYAML was built with it.
_LOADER: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class WithExponents(yaml.SafeLoader):
    """Reads 1e-2 and the like as numbers, as ROS does."""


WithExponents.add_implicit_resolver(
    f'{_PREFIX}float', re.compile(r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'),
    list('-+.0123456789'))


class Entry:
    """
    One value of a YAML file and its place.

    Its methods return the value if it is of the kind asked for. Otherwise they raise FileError
    with the file, the line, what was found and ``what`` was expected.

    :ivar line: of the file, from 1.
    :ivar content: the text of a scalar, or the entries of a list, or those of a mapping, each key
        followed by its value.
    :ivar kind: ``dict`` for a mapping, ``list``, or ``str`` for a scalar.
    :ivar size: the entries in it, those that aliases repeat included, and itself.
    """

    __slots__ = ('_path', '_plain', '_tag', 'content', 'kind', 'line', 'size')

    def __init__(self, path: Path, line: int, content: Any, kind: type,
                 tag: str | None = None, plain: bool = False) -> None:
        self._path = path
        self.line = line
        self.content = content
        self.kind = kind
        self._tag = tag    # as in the file, None if there is none
        self._plain = plain    # neither quotes nor a tag
        self.size = 1

    def without_entries(self) -> Entry:
        """Return an empty mapping in the place of this value."""
        return Entry(self._path, self.line, [], dict)

    def add(self, entry: Entry) -> None:
        """Put an entry at the end of a list, or a key or a value at the end of a mapping."""
        self.content.append(entry)
        self.size += entry.size
        if self.size > MOST_VALUES:
            raise self.error(f'with all that its aliases repeat, the file has more than '
                             f'{MOST_VALUES:,} values, expected fewer')

    def error(self, message: str) -> FileError:
        """Return an error at this entry, to be raised."""
        return FileError(f'{self._path}:{self.line}: {message}')

    def unexpected(self, what: str) -> FileError:
        """Return the error that something else was expected."""
        return self.error(f'found {self.found}, expected {what}')

    @property
    def found(self) -> str:
        """Return in a few words what this is."""
        if self.kind is not str:
            return 'a mapping' if self.kind is dict else 'a list'
        in_quotes = self._scalar_tag().endswith(':str') or self._tag is None and not self._plain
        text, quote = self.content, "'" if in_quotes else ''
        if not text.isprintable():
            text = repr(text)[1:-1]
        if len(text) > 60:
            text = f'{text[:40]}... ({len(text):,} characters)'
        return f'{quote}{text}{quote}' if text or quote else 'nothing'

    @property
    def names(self) -> set[str]:
        """Return the keys of a mapping as they stand there; none of anything else."""
        return {key.content for key in self.content[::2] if key.kind is str} if (
            self.kind is dict) else set()

    def pairs(self, what: str) -> Iterator[tuple[Entry, Entry]]:
        """Return the keys of a mapping, which may repeat, each with its value."""
        if self.kind is not dict:
            raise self.unexpected(what)
        entries = iter(self.content)
        return zip(entries, entries)

    def mapping(self, what: str, allowed: tuple[str, ...] = ()) -> Keys:
        """Return the keys of a mapping, which must not repeat; ``allowed`` is empty for any."""
        result = Keys(self)
        for key, value in self.pairs(f'{what}, a mapping' if allowed else what):
            name = key.scalar(f'a name or a number as key of {what}')
            if name in result:
                raise key.error(f'key {name} appears twice, expected distinct keys')
            if allowed and name not in allowed:
                raise key.error(f"unknown key '{name}' in {what}, expected " + ', '.join(allowed))
            result[name] = key, value
        return result

    def sequence(self, what: str, if_empty: str = '') -> list[Entry]:
        """Return the entries of a list; if it is empty, ``if_empty`` or ``what`` was expected."""
        if self.kind is not list:
            raise self.unexpected(what)
        if not self.content:
            raise self.error(f'found an empty list, expected {if_empty or what}')
        return list(self.content)

    def text(self, what: str) -> str:
        """Return a string that is not empty."""
        value = self.scalar(what)
        if not isinstance(value, str) or not value:
            raise self.unexpected(what)
        return value

    def integer(self, what: str, minimum: int = INT64.start) -> int:
        """Return an integer that fits into int64 and is not less than ``minimum``."""
        value = self.scalar(what)
        if type(value) is not int or INT64.start <= value < minimum:
            raise self.unexpected(what)
        if value not in INT64:
            raise self.error(f'{self.found} does not fit into 64 bits, expected {what}')
        return value

    def number(self, what: str, minimum: float, maximum: float) -> float:
        """Return a number from ``minimum`` to ``maximum``."""
        value = self.scalar(what)
        if type(value) not in (int, float) or not minimum <= value <= maximum:
            raise self.unexpected(what)
        return float(value)

    def scalar(self, what: str) -> Any:
        """Return text, a number, a truth value or None."""
        if self.kind is not str:
            raise self.unexpected(what)
        if self._plain:    # nearly all of a large file, and much faster so
            if _INTEGER.fullmatch(self.content):
                return int(self.content)
            if _DECIMAL.fullmatch(self.content):
                return float(self.content)
        tag = self._scalar_tag()
        if tag == _PREFIX + 'str':
            return self.content
        if tag not in _TAGS or len(self.content) > LONGEST:
            raise self.unexpected(what)
        try:
            return yaml.constructor.SafeConstructor().construct_object(
                yaml.ScalarNode(tag, self.content))
        # PyYAML raises such as these for '!!bool 3' and the like.
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError):
            raise self.unexpected(what) from None

    def _scalar_tag(self) -> str:
        """Return the tag that the file states, else that of what the text seems to be."""
        if self._tag not in (None, '!'):
            return str(self._tag)
        return str(_resolver.resolve(
            yaml.ScalarNode, self.content, (self._plain, not self._plain)))


class Keys(dict[Any, tuple[Entry, Entry]]):
    """The keys of a mapping, with the entries of the key and of its value."""

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self._entry = entry

    def listed(self, name: str) -> list[Entry]:
        """Return the entries of a list, none if its key is missing or it is empty."""
        if name not in self or self[name][1].content in ([], ''):
            return []
        return self[name][1].sequence(f'a list of {name}')

    def required(self, name: str, what: str) -> Entry:
        """Return the value of a key that must be there; ``what`` was expected."""
        if name not in self:
            raise self._entry.error(f'{name} is missing, expected {what}')
        return self[name][1]


def read(path: Path, what: str = 'scenario') -> Entry:
    """Return the only document of a file, an empty text if it has none; or raise FileError."""
    data = read_regular(path, what, MOST_BYTES)
    refuse_content(path, data, what)
    return parsed(data, path, what)


def parsed(data: bytes, path: Path, what: str) -> Entry:
    """Return the same of the bytes of a file that is, or is to be, at a path."""
    collecting = gc.isenabled()
    gc.disable()    # there are no cycles, and to search for them would double the time
    try:
        return _composed(path, what, yaml.parse(data, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        reason = ' '.join(filter(None, (error.context, error.problem)))
    except yaml.reader.ReaderError as error:
        line, reason = data[:error.position].count(b'\n') + 1, error.reason
    finally:
        if collecting:
            gc.enable()
    raise FileError(f'{path}:{line}: not YAML: {reason}')


def _composed(path: Path, what: str, events: Iterable[Any]) -> Entry:
    """Return the only document of a parser's events; an empty text if there is none."""
    stream = Entry(path, 1, [], list)
    stream.size = 0
    within = [stream]    # what has not ended yet
    anchors: dict[str, Entry] = {}
    for event in events:
        if isinstance(event, yaml.NodeEvent):
            entry = _begun(path, event, anchors, within)
            if not isinstance(event, yaml.CollectionStartEvent):
                within[-1].add(entry)
            elif len(within) > DEEPEST:
                raise entry.error(f'nested more than {DEEPEST} levels deep, expected a {what}')
            else:
                within.append(entry)
        elif isinstance(event, yaml.CollectionEndEvent):
            entry = within.pop()
            within[-1].add(entry)
        elif isinstance(event, yaml.DocumentStartEvent) and stream.content:
            mark: Any = event.start_mark
            raise yaml.composer.ComposerError(
                'expected a single document', None, 'but found another', mark)
    return stream.content[0] if stream.content else Entry(path, 1, '', str, plain=True)


def _begun(path: Path, event: Any, anchors: dict[str, Entry], within: list[Entry]) -> Entry:
    """Return the entry that an event begins, or the one that an alias stands for."""
    line, anchor = event.start_mark.line + 1, event.anchor
    if isinstance(event, yaml.ScalarEvent):
        entry = Entry(path, line, event.value, str, event.tag, event.implicit[0])
    else:
        entry = Entry(path, line, [], dict if isinstance(event, yaml.MappingStartEvent) else list)
    if isinstance(event, yaml.AliasEvent):
        if anchor not in anchors:
            raise entry.error(f"not YAML: found undefined alias '{anchor}'")
        if any(anchors[anchor] is each for each in within):
            raise entry.error(
                f"alias '{anchor}' stands for what it is in, expected an earlier entry")
        return anchors[anchor]
    if anchor in anchors:
        raise entry.error(f'not YAML: anchor {anchor} appears twice, expected distinct ones')
    if anchor is not None:
        anchors[anchor] = entry
    return entry
