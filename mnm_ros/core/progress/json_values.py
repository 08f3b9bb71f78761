# SPDX-License-Identifier: Apache-2.0

"""Reads JSON that any node may have published: what does not fit is refused by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, fields, MISSING
from enum import Enum
from functools import cache, partial
import json
import re
import sys
from typing import Annotated, Any, get_args, get_origin, get_type_hints, TypeVar, Union

from mnm_ros.core.errors import InvalidValueError

_T = TypeVar('_T')
Reader = Callable[[str, Any], Any]
"""Takes what a value is of, for the error, and the value."""


def load(what: str, text: str, distinct: bool = False) -> Any:
    """
    Return what a text of JSON holds; ValueError unless it is JSON with finite numbers.

    :param distinct: refuse an object with two entries of one name; else the last one counts.
    """
    def no_constant(name: str) -> None:
        raise InvalidValueError(f'{what}: found {name}, expected finite numbers')

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, each in pairs:
            if key in found:
                raise InvalidValueError(
                    f'{what}: the entry {json.dumps(key)[:100]} appears twice, expected it once')
            found[key] = each
        return found
    try:
        return json.loads(
            text, parse_constant=no_constant, object_pairs_hook=once if distinct else None)
    except json.JSONDecodeError as error:
        raise InvalidValueError(f'{what}: no JSON: {error}, expected a JSON object') from None
    except RecursionError:
        raise InvalidValueError(f'{what}: nested too deeply, expected a JSON object') from None
    except ValueError as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(    # Python refuses to read an integer of so many digits
            f'{what}: found an integer of thousands of digits, expected finite numbers') from None


_MOST = sys.float_info.max
_HALF = re.compile('[\ud800-\udfff]')    # what JSON may hold, but no text that is sent on


def read_object(what: str, found: Any, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Return the entries that are known and there, each as its reader has it."""
    if not isinstance(found, dict):
        raise wrong(what, found, 'a JSON object')
    return {key: reader(f'{what}: {key}', found[key])
            for key, reader in readers.items() if key in found}


def one_line(told: Any, **given: Any) -> str:
    """
    Return what a dataclass holds, but for None, as one JSON object without line breaks.

    :param given: entries that are written in another way than ``asdict`` has them.
    """
    return json.dumps({key: each for key, each in {**asdict(told), **given}.items()
                       if each is not None},
                      separators=(',', ':'), allow_nan=False)


def wrong(what: str, found: Any, expected: str) -> ValueError:
    """Return the error of a value that is not what was expected."""
    shown = json.dumps(found)
    return InvalidValueError(f'{what} is {shown[:100]}, expected {expected}')


def integer(what: str, found: Any) -> int:
    """Read an integer of 64 bits."""
    if type(found) is int and -2**63 <= found < 2**63:
        return found
    raise wrong(what, found, 'an integer of 64 bits')


def number(what: str, found: Any) -> float:
    """Read a number."""
    if type(found) in (int, float) and abs(found) <= _MOST:
        return float(found)
    raise wrong(what, found, 'a number')


def boolean(what: str, found: Any) -> bool:
    """Read true or false."""
    if isinstance(found, bool):
        return found
    raise wrong(what, found, 'true or false')


def text(what: str, found: Any) -> str:
    """Read a text."""
    if isinstance(found, str) and not _HALF.search(found):
        return found
    raise wrong(what, found, 'a text')


def one_of(names: Collection[str], what: str, found: Any) -> str:
    """Read one of some names."""
    if isinstance(found, str) and found in names:
        return found
    raise wrong(what, found, f'one of {", ".join(names)}')


def maybe(reader: Callable[[str, Any], _T]) -> Callable[[str, Any], Union[_T, None]]:
    """Return what reads the same, or null as None."""
    return lambda what, found: None if found is None else reader(what, found)


def listed(reader: Callable[[str, Any], _T]) -> Callable[[str, Any], tuple[_T, ...]]:
    """Return what reads a list of them."""
    def read(what: str, found: Any) -> tuple[_T, ...]:
        if not isinstance(found, list):
            raise wrong(what, found, 'a list')
        return tuple(reader(what, entry) for entry in found)
    return read


def by_state(kind: str, reader: Callable[[str, Any], _T]) -> Callable[[str, Any], dict[int, _T]]:
    """Return what reads an object with an entry for each state of a kind, by its id."""
    def read(what: str, found: Any) -> dict[int, _T]:
        if not isinstance(found, dict):
            raise wrong(what, found, f'a JSON object with an entry for each {kind}')
        try:
            return {int(state): reader(f'{what}: {state}', each) for state, each in found.items()}
        except ValueError as error:
            raise InvalidValueError(f'{what}: {error}') from None
    return read


def read_json(kind: type[_T], what: str, message: str) -> _T:
    """
    Return the dataclass that a JSON object describes, by the types of its fields.

    Unknown entries are ignored. A missing one takes its default, or else is empty or 0.

    :raises ValueError: says which entry is wrong and what was expected.
    """
    named: Any = kind
    found: _T = reader_of(named)(what, load(what, message))
    return found


@cache
def reader_of(kind: Any) -> Reader:
    """Return what reads a type; ``Annotated[type, reader]`` names a reader of its own."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return inner[1]
    if origin is Union:
        return maybe(reader_of(inner[0]))
    if origin is tuple:
        return listed(reader_of(inner[0]))
    if origin is Mapping:
        return by_state('state', reader_of(inner[1]))
    if issubclass(kind, Enum):
        return partial(_member, kind)
    return _SCALARS[kind] if kind in _SCALARS else _record(kind)


def _member(kind: type[Enum], what: str, found: Any) -> Enum:
    """Read a member of an Enum by its value, a text."""
    return kind(one_of([each.value for each in kind], what, found))


_SCALARS: Mapping[type, Reader] = {int: integer, float: number, bool: boolean, str: text}


def _record(kind: Any) -> Reader:
    """Return what reads the fields of a dataclass."""
    types = get_type_hints(kind, include_extras=True)
    readers = {each.name: reader_of(types[each.name]) for each in fields(kind)}
    empty = {each.name: _empty(types[each.name]) for each in fields(kind)
             if each.default is each.default_factory is MISSING}

    def read(what: str, found: Any) -> Any:
        given = {**empty, **read_object(what, found, readers)}
        for key, each in given.items():
            if each is MISSING:
                raise wrong(what, found, f'an entry "{key}"')
        return kind(**given)
    return read


def _empty(kind: Any) -> Any:
    """Return what stands for a value that is not there; ``MISSING`` if nothing can."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _empty(get_args(kind)[0])
    if origin in (Union, Mapping, tuple):
        return {Union: None, Mapping: {}, tuple: ()}[origin]
    return kind() if kind in _SCALARS else MISSING
