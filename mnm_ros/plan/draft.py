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
from mnm_ros.language import Phrase, PhraseError, said_by, Text
from mnm_ros.plan.plan_file import is_name

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
    said: Text = ''
    saved: _T = field(init=False)
    _before: list[_T] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.saved = self.now

    def take(self, edit: object) -> bool:
        """Do an edit, or say in ``said`` why not."""
        try:
            after = self.edited(self.now, edit)
        except InvalidValueError as error:
            self.said = said_by(error)
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
            raise PhraseError(Phrase.of('objections.no_edit', value=shown(given)))
        self.given: Mapping[str, Any] = given
        self.kind: str = given['edit']
        if self.kind not in kinds:
            raise PhraseError(Phrase.of(
                'objections.no_kind', kind=self.kind, kinds=', '.join(kinds)))

    def __contains__(self, key: str) -> bool:
        """Whether a key has a value."""
        return self.given.get(key) is not None

    def refused(self, name: str, /, **fields: object) -> PhraseError:
        """Return the error of a name; its phrase has what kind of edit is refused, too."""
        return PhraseError(Phrase.of(
            f'objections.{name}', edit=Phrase.of(f'edits.{self.kind}'), **fields))

    def wrong(self, key: str, expected: str, /, **limits: object) -> PhraseError:
        """
        Return the error that says what was found, and what was expected.

        :param expected: the name of a phrase, ``limits`` its fields.
        """
        return self.refused(
            'value', key=Phrase.of(f'edit_keys.{key}'), value=_found(self.given.get(key)),
            expected=Phrase.of(f'expected.{expected}', **limits))

    def number(self, key: str, expected: str, low: float, high: float) -> float:
        """Return a number within limits."""
        value: Any = self.given.get(key)
        if type(value) not in (int, float) or not low <= value <= high:
            raise self.wrong(key, expected, low=low, high=high)
        return float(value)

    def truth(self, key: str) -> bool:
        """Return true or false, which is what a missing one means."""
        value = self.given.get(key, False)
        if type(value) is not bool:
            raise self.wrong(key, 'truth')
        return value

    def point(self, key: str) -> Point:
        """Return a point in m."""
        return self.points(key, 'point', 1, 1, [self.given.get(key)])[0]

    def points(self, key: str, expected: str, least: int, most: int,
               values: object = None) -> tuple[Point, ...]:
        """Return a list of points in m of a length within limits."""
        found = self.given.get(key) if values is None else values
        if not isinstance(found, list) or not least <= len(found) <= most or not all(
                isinstance(each, list) and len(each) == 2 and all(
                    type(at) in (int, float) and abs(at) <= FARTHEST for at in each)
                for each in found):
            raise self.wrong(key, expected)
        return tuple((float(x), float(y)) for x, y in found)

    def name(self, key: str) -> str:
        """Return a name, see ``is_name``."""
        value = self.given.get(key)
        if not isinstance(value, str) or not is_name(value):
            raise self.wrong(key, 'name')
        return value.strip()


def _found(value: object) -> object:
    """Return a value as a phrase has it, which writes numbers as the language does."""
    if value is None or value == '':
        return Phrase.of('expected.nothing')
    return value if type(value) in (int, float) else shown(value)


def shown(value: object) -> str:
    """Return a value for people, shortened."""
    text = repr(value)
    return text if len(text) <= 100 else f'{text[:100]}...'
