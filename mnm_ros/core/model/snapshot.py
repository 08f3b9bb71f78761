# SPDX-License-Identifier: Apache-2.0

"""
Snapshots: what objects of the core hold, as plain data, in the middle of whatever they do.

A snapshot is put into fresh objects, made with the same settings: they give what is no data, their
functions, and all else is replaced. Objects that are not there in the fresh ones, and those that
are frozen, are made by the name of their class, without running any of its code, and only of
classes of the core. So a snapshot from elsewhere may hold nonsense, but cannot run anything.

It is for any moment, and for the version that has taken it: a class that is divided otherwise
later refuses it. A class names in ``left_to_fresh`` the attributes that are never saved.

What is the same object stays the same object, dictionaries keep their order and numbers their
type and every bit, so that what goes on from a snapshot does the same as the original would.
"""

from __future__ import annotations

from array import array
import base64
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property, partial
from itertools import chain
import sys
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any
import zlib

from mnm_ros.core.errors import SnapshotError
import numpy as np

_CORE = 'mnm_ros.core.'
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, partial)
_PLAIN = {type(None), bool, int, float, str}
_FEW = 64    # numbers, which are written as they are more quickly than packed
_WIDTHS = ('<i1', '<i2', '<i4', '<i8')
_READ = {'d': 'dictionary', 'r': 'again', 'k': 'function', 'e': 'enumerated', 'n': 'number',
         'a': 'array', 'b': 'compact', 'g': 'generator', 'o': 'object', 'u': 'given'}
_SEVERAL = {'l': list, 't': tuple, 's': set, 'q': deque}


def covers(thing: object) -> bool:
    """
    Return whether an object is of a class of the core, so that a snapshot can be taken.

    So have to be the parts that it says are ``replaceable``, and none may hold a function: another
    package has put it there, and a snapshot of the object lacks it.
    """
    return (_is_of_core(thing)
            and not any(isinstance(each, _FUNCTIONS) for each in _held(thing).values())
            and all(map(covers, getattr(thing, 'replaceable', ()))))


def take(thing: Any, given: Iterable[object] = ()) -> Any:
    """
    Return all that an object of the core holds as plain data, for JSON.

    :param given: objects that the fresh one has at the same place, which are not saved.
    :raises SnapshotError: if it holds anything that is not of the core and not plain either.
    """
    return _Writer(given).value(thing)


def put(snapshot: Any, fresh: Any = None) -> Any:
    """
    Return what a snapshot was taken of, made from a fresh object where there is one.

    :raises SnapshotError: if it does not fit.
    """
    try:
        return _Reader().value(snapshot, fresh)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SnapshotError):
            raise
        raise SnapshotError(f'a snapshot does not fit: {error!r}') from None


class _Writer:

    def __init__(self, given: Iterable[object]) -> None:
        self._numbers: dict[int, int] = {}    # of what was met, by its id
        self._given = {*map(id, given)}

    def value(self, thing: Any) -> Any:
        kind = type(thing)
        if kind in _PLAIN:
            return thing
        found = self._never_shared(thing, kind)
        if found is None:
            number = self._numbers.get(id(thing))
            if number is not None:
                return ['r', number]
            self._numbers[id(thing)] = len(self._numbers)
            found = self._first(thing, kind)
        return found

    def _never_shared(self, thing: Any, kind: type) -> Any:
        """Return what never changes, or has one holder: whether it is the same does not matter."""
        if kind is tuple:
            return ['t', self.column(thing)]
        if isinstance(thing, _FUNCTIONS):
            return ['k']
        if isinstance(thing, Enum):
            return ['e', _name(kind), thing.name]
        if isinstance(thing, np.generic):
            return ['n', thing.dtype.str, _text(thing.tobytes())]
        if kind is array:
            return ['b', thing.typecode, _text(zlib.compress(thing.tobytes(), 1))]
        return None

    def _first(self, thing: Any, kind: type) -> Any:
        """Return what is met for the first time."""
        if kind is dict:
            return ['d', self.column(list(thing)), self.column(list(thing.values()))]
        for tag, several in _SEVERAL.items():
            if kind is several and getattr(thing, 'maxlen', None) is None:
                return [tag, self.column(list(thing))]
        if kind is np.ndarray and thing.dtype.kind in 'biuf':
            order = 'C' if thing.flags.c_contiguous or not thing.flags.f_contiguous else 'F'
            return ['a', thing.dtype.str, list(thing.shape), order, _text(thing.tobytes(order))]
        if kind is np.random.Generator:
            return ['g', thing.bit_generator.state]
        if id(thing) in self._given:
            return ['u']
        if _is_of_core(thing):
            return ['o', _name(kind), {name: self.value(each)
                                       for name, each in _held(thing).items()}]
        raise SnapshotError(f'no snapshot of {kind.__module__}.{kind.__name__}')

    def column(self, things: Sequence[Any]) -> Any:
        """Return several values; many numbers of one kind are packed, which is far quicker."""
        kinds = set(map(type, things))
        if kinds <= _PLAIN and len(things) < _FEW:
            return ['v', list(things)]
        if kinds == {int}:
            return _packed(things) or ['v', list(things)]
        if kinds == {float}:
            return ['f', _text(np.array(things, '<f8').tobytes())]
        if kinds == {tuple}:
            widths = set(map(len, things))
            flat = list(chain.from_iterable(things))
            if len(widths) == 1 and set(map(type, flat)) == {int}:
                return ['p', widths.pop(), self.column(flat)]
        if kinds == {dict}:
            keys = list(chain.from_iterable(things))
            values = list(chain.from_iterable(map(dict.values, things)))
            if set(map(type, keys)) == set(map(type, values)) == {int}:
                # Counts by state, of which there are many: nothing else holds them.
                return ['m', self.column(list(map(len, things))), self.column(keys),
                        self.column(values)]
        return ['v', [self.value(each) for each in things]]


class _Reader:

    def __init__(self) -> None:
        self._met: list[Any] = []
        self._used: set[int] = set()    # ids of what was taken from the fresh objects

    def value(self, data: Any, fresh: Any = None) -> Any:
        if not isinstance(data, list):
            return data
        tag, *rest = data
        if tag in _SEVERAL:
            return self._several(_SEVERAL[tag], rest[0], fresh)
        read: Callable[..., Any] | None = getattr(self, f'_{_READ.get(tag)}', None)
        if read is None:
            raise SnapshotError(f'a snapshot has the unknown tag {tag!r}')
        return read(*rest, fresh=fresh)

    def _several(self, kind: Any, data: Any, fresh: Any) -> Any:
        if kind is tuple:
            return tuple(self.column(data))
        several = kind()
        self._met.append(several)
        things = self.column(data, fresh if isinstance(fresh, list) else ())
        (several.update if kind is set else several.extend)(things)
        return several

    def _dictionary(self, keys: Any, values: Any, fresh: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        self._met.append(found)
        read = self.column(keys)    # before the values, as they were written
        found.update(zip(read, self.column(values)))
        return found

    def _again(self, number: int, fresh: Any) -> Any:
        return self._met[number]

    def _function(self, fresh: Any) -> Any:
        if not isinstance(fresh, _FUNCTIONS):
            raise SnapshotError('a snapshot lacks a function')
        return fresh

    def _given(self, fresh: Any) -> Any:
        self._met.append(fresh)
        return fresh

    def _enumerated(self, kind: str, name: str, fresh: Any) -> Enum:
        found: Enum = _class(kind, Enum)[name]
        return found

    def _number(self, dtype: str, text: str, fresh: Any) -> Any:
        return np.frombuffer(_bytes(text), dtype)[0]

    def _array(self, dtype: str, shape: list[int], order: Any, text: str, fresh: Any) -> Any:
        array = np.frombuffer(_bytes(text), dtype).reshape(shape, order=order).copy(order)
        self._met.append(array)
        return array

    def _compact(self, typecode: str, text: str, fresh: Any) -> array[Any]:
        found: array[Any] = array(typecode)
        try:
            found.frombytes(zlib.decompress(_bytes(text)))
        except zlib.error as error:
            raise SnapshotError(f'a snapshot has damaged numbers: {error}') from None
        return found

    def _generator(self, state: dict[str, Any], fresh: Any) -> np.random.Generator:
        generator = np.random.default_rng()
        generator.bit_generator.state = state
        self._met.append(generator)
        return generator

    def _object(self, name: str, held: Mapping[str, Any], fresh: Any) -> Any:
        kind = _class(name, object)
        given = _held(fresh) if type(fresh) is kind else {}
        lacking = [each for each, value in given.items()
                   if each not in held and not isinstance(value, _FUNCTIONS)]
        if lacking:    # it was divided otherwise then, and would be half of it now
            raise SnapshotError(
                f'a snapshot of {name} lacks {lacking[0]}, expected one of this version')
        thing = fresh
        if type(fresh) is not kind or id(fresh) in self._used or _is_frozen(kind):
            thing = object.__new__(kind)
        self._used.add(id(thing))
        self._met.append(thing)
        values = {attribute: self.value(data, given.get(attribute))
                  for attribute, data in held.items()}
        for attribute, value in values.items():
            object.__setattr__(thing, attribute, value)    # some are frozen
        return thing

    def column(self, data: Any, fresh: Sequence[Any] = ()) -> Iterable[Any]:
        tag, *rest = data
        if tag == 'p':
            return zip(*[iter(self.column(rest[1]))] * rest[0])
        if tag == 'm':
            pairs = zip(self.column(rest[1]), self.column(rest[2]))
            return [dict(next(pairs) for _ in range(size)) for size in self.column(rest[0])]
        if tag == 'v':
            return [self.value(each, fresh[index] if index < len(fresh) else None)
                    for index, each in enumerate(rest[0])]
        dtype = '<f8' if tag == 'f' else tag
        if dtype not in ('<f8', *_WIDTHS):
            raise SnapshotError(f'a snapshot has the unknown tag {tag!r}')
        numbers: list[Any] = np.frombuffer(_bytes(rest[0]), dtype).tolist()
        return numbers


def _packed(numbers: Sequence[int]) -> list[str] | None:
    """Return integers in as many bytes as the longest takes; None if that is more than eight."""
    try:
        whole = np.array(numbers, '<i8')
    except OverflowError:
        return None
    least, most = int(whole.min()), int(whole.max())
    width = next(each for each in _WIDTHS
                 if np.iinfo(each).min <= least and most <= np.iinfo(each).max)
    return [width, _text(whole.astype(width).tobytes())]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode('ascii')


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _held(thing: Any) -> dict[str, Any]:
    """
    Return the attributes of an object, in slots or not.

    Those that are worked out again are left out, and those that its class leaves to fresh ones.
    """
    left_out = getattr(type(thing), 'left_to_fresh', ())
    slots = {name: getattr(thing, name) for kind in type(thing).__mro__
             for name in vars(kind).get('__slots__', ()) if hasattr(thing, name)}
    return {**slots, **{name: value for name, value in getattr(thing, '__dict__', {}).items()
                        if name not in left_out
                        and not isinstance(getattr(type(thing), name, None), cached_property)}}


def _is_of_core(thing: object) -> bool:
    return type(thing).__module__.startswith(_CORE)


def _is_frozen(kind: type) -> bool:
    """Return whether objects of a class never change, so that any of them may be in use."""
    parameters = getattr(kind, '__dataclass_params__', None)
    return parameters is not None and parameters.frozen


def _name(kind: type) -> str:
    return f'{kind.__module__}:{kind.__qualname__}'


def _class(name: str, of: type) -> Any:
    """Return a class of the core by its name; nothing is imported."""
    module, _, named = name.partition(':')
    found = getattr(sys.modules.get(module), named, None)
    if not (name.startswith(_CORE) and isinstance(found, type) and issubclass(found, of)
            and found.__module__ == module):
        raise SnapshotError(f'a snapshot has the unknown class {name!r}')
    return found
