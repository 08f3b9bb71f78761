# SPDX-License-Identifier: Apache-2.0

"""What the values have in common: a name, plain data for JSON, and how that is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, cast, ClassVar, TYPE_CHECKING, Union

from mnm_ros.core.progress.json_values import maybe, reader_of, wrong

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:
    def dataclass_transform(**options: Any) -> Callable[[type], type]:
        return lambda kind: kind

States = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Said:
    """
    A value of which a sentence can be made; each kind is a frozen dataclass without saying so.

    :cvar KINDS: all kinds of values by name, but for those that only have fields for others.
    """

    KINDS: ClassVar[dict[str, type[Said]]] = {}

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
        if not cls.__name__.startswith('_'):
            Said.KINDS[cls.__name__] = cls

    def to_plain(self) -> dict[str, Any]:
        """Return its name and its fields, for JSON."""
        return {'name': type(self).__name__, **{
            each.name: _plain(getattr(self, each.name)) for each in fields(self)}}


def _plain(found: Any) -> Any:
    return found.to_plain() if isinstance(found, Said) else (
        [_plain(each) for each in found] if isinstance(found, tuple) else found)


def read_said(what: str, found: Any) -> Said | None:
    """
    Read what ``to_plain`` has returned; None if its name is not known here.

    :raises ValueError: says which entry is wrong and what was expected.
    """
    if not isinstance(found, dict) or not isinstance(found.get('name'), str):
        raise wrong(what, found, 'a JSON object with a name')
    kind = Said.KINDS.get(found['name'])
    if kind is None:
        return None
    missing = [each.name for each in fields(kind) if each.name not in found]
    if missing:
        raise wrong(what, found, f'an entry "{missing[0]}"')
    said: Said = reader_of(cast(Any, kind))(what, found)
    return said


def known_said(what: str, found: Any) -> Said:
    """Read the same of a name that is known; ValueError otherwise."""
    said = read_said(what, found)
    if said is None:
        raise wrong(what, found, 'a name that is known')
    return said


Nested = Annotated[Said, known_said]
maybe_said = maybe(read_said)
Reason = Union[str, Said]
"""Why it does not go on: a text is in the words of who has stopped it."""


class InWords(Said):
    """A statement of a part of another package, in its own words."""

    words: str


def as_said(reason: Reason) -> Said | None:
    """Return a reason as a value; None for an empty text."""
    return reason if isinstance(reason, Said) else InWords(reason) if reason else None
