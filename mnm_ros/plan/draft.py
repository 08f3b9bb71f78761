# SPDX-License-Identifier: Apache-2.0

"""
A draft that pages edit: it is changed by one edit after the other, and may be undone.

An edit is a JSON object with a key ``edit``; ``edits`` has those of a plan with cells,
``place_edits`` those of a place graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.grid import FARTHEST
from mnm_ros.driving.occupancy import Point
from mnm_ros.plan.plan_file import is_name, NAME

_POINT = 'a point, [x, y] in m'

_T = TypeVar('_T')


@dataclass
class Draft(Generic[_T]):
    """
    A plan or a place graph that is being edited.

    :ivar now: as it is now.
    :ivar edited: returns it after an edit, or raises InvalidValueError.
    :ivar said: what came of the last edit; '' if it was done.
    :ivar saved: as it was read, or saved last.
    """

    now: _T
    edited: Callable[[_T, object], _T]
    said: str = ''
    saved: _T = field(init=False)
    _before: list[_T] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.saved = self.now

    def take(self, edit: object) -> bool:
        """Do an edit, or say in ``said`` why not."""
        try:
            after = self.edited(self.now, edit)
        except InvalidValueError as error:
            self.said = str(error)
            return False
        self._before.append(self.now)
        self.now, self.said = after, ''
        return True

    def undo(self) -> None:
        """Take back the last edit."""
        if self._before:
            self.now, self.said = self._before.pop(), ''


class Edit:
    """A JSON object whose values are asked for with what is expected of them."""

    def __init__(self, given: object, kinds: Collection[str]) -> None:
        """
        Take what a page has sent.

        :param kinds: of edits that there are.
        :raises InvalidValueError: as all methods do, with the edit, the key and its value, and
            what was expected.
        """
        if not isinstance(given, Mapping) or not isinstance(given.get('edit'), str):
            raise InvalidValueError(
                f"{shown(given)} is no edit, expected an object with a key 'edit'")
        self.given: Mapping[str, Any] = given
        self.kind: str = given['edit']
        if self.kind not in kinds:
            raise InvalidValueError(
                f"edit is '{self.kind}', expected one of {', '.join(kinds)}")

    def __contains__(self, key: str) -> bool:
        """Whether a key has a value."""
        return self.given.get(key) is not None

    def wrong(self, key: str, expected: str) -> InvalidValueError:
        """Return the error that says what was found, and what was expected."""
        return InvalidValueError(f"edit '{self.kind}': '{key}' is {shown(self.given.get(key))}, "
                                 f'expected {expected}')

    def number(self, key: str, what: str, low: float, high: float) -> float:
        """Return a number within limits."""
        value: Any = self.given.get(key)
        if type(value) not in (int, float) or not low <= value <= high:
            raise self.wrong(key, f'{what}, from {low:g} to {high:g}')
        return float(value)

    def truth(self, key: str) -> bool:
        """Return true or false, which is what a missing one means."""
        value = self.given.get(key, False)
        if type(value) is not bool:
            raise self.wrong(key, 'true or false')
        return value

    def point(self, key: str) -> Point:
        """Return a point in m."""
        return self.points(key, _POINT, 1, 1, [self.given.get(key)])[0]

    def points(self, key: str, what: str, least: int, most: int,
               values: object = None) -> tuple[Point, ...]:
        """Return a list of points in m of a length within limits."""
        found = self.given.get(key) if values is None else values
        if not isinstance(found, list) or not least <= len(found) <= most or not all(
                isinstance(each, list) and len(each) == 2 and all(
                    type(at) in (int, float) and abs(at) <= FARTHEST for at in each)
                for each in found):
            raise self.wrong(key, what)
        return tuple((float(x), float(y)) for x, y in found)

    def name(self, key: str) -> str:
        """Return a name, see ``NAME``."""
        value = self.given.get(key)
        if not isinstance(value, str) or not is_name(value):
            raise self.wrong(key, NAME)
        return value.strip()


def shown(value: object) -> str:
    """Return a value for people, shortened."""
    text = repr(value)
    return text if len(text) <= 100 else f'{text[:100]}...'
