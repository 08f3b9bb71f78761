# SPDX-License-Identifier: Apache-2.0

"""
Look up the phrases of a language, and write numbers, times and lists as the language has them.

``config/words`` has a table for each language. The view, the page, the terminal and the editors of
plans take their words from there, by names. Another language is another file there, and an entry
of ``LANGUAGES``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
import errno
from functools import lru_cache
from string import Formatter
import time
from typing import Any, Union

from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.files import config_file
import yaml

LANGUAGES = ('en', 'de')
"""Languages that have a table, the default first."""

ENGLISH = LANGUAGES[0]
_MOST_NAMED, _NAMED = 6, 5    # texts in a list, and how many of a longer one
_DISK = {
    errno.ENOSPC: 'full', errno.EDQUOT: 'full',
    errno.EACCES: 'forbidden', errno.EPERM: 'forbidden', errno.EROFS: 'read_only',
    errno.ENOENT: 'no_folder', errno.ENOTDIR: 'no_folder',
    errno.EISDIR: 'folder', errno.ELOOP: 'link', errno.EIO: 'broken'}
"""The phrases of errors of the disk while a file is written."""
_LOADER: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)

Table = Mapping[str, Mapping[str, str]]


@lru_cache(maxsize=None)
def table(language: str) -> Table:
    """
    Return the phrases of a language by section and name.

    :raises FileError: if there is no such table, or one that cannot be read.
    """
    path = config_file(f'words/{language}.yaml')
    try:
        found: Table = yaml.load(path.read_text(encoding='utf-8'), _LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise FileError(f'{path}: {" ".join(str(error).split())}, expected a table of '
                        'words') from None
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise FileError(f'{path}: no sections of phrases, expected a table of words')
    return found


def check(language: str) -> None:
    """
    Check that no phrase of a table fails when it is needed.

    The other tables say which phrases there have to be, and with which words in braces.

    :raises FileError: with the first phrase that is missing or has a fault.
    """
    found, path = table(language), config_file(f'words/{language}.yaml')
    for other in LANGUAGES:
        expected: Table = {}
        with suppress(FileError):    # of a language that nobody has asked for
            expected = table(other)
        for section, phrases in expected.items():
            for key, like in phrases.items():
                template: object = found.get(section, {}).get(key)
                fields, known = _fields(template), _fields(like)
                if fields is None:
                    raise FileError(f'{path}: the phrase {section}.{key} is {template!r}, '
                                    'expected a text with pairs of braces')
                if known is not None and fields - known:
                    raise FileError(f'{path}: the phrase {section}.{key} has {fields - known} in '
                                    f'braces, expected only {known or "text"}')


def _fields(template: object) -> set[str] | None:
    """Return the words in braces of a phrase; None if it is none, or cannot be filled."""
    return _fields_of(template) if isinstance(template, str) else None


@lru_cache(maxsize=None)
def _fields_of(template: str) -> set[str] | None:
    """Return the words in braces of a text, which several nodes of a process may check."""
    try:
        return {name for _, name, *_ in Formatter().parse(template) if name is not None}
    except ValueError:
        return None


def phrase(name: str, language: str, /, **fields: object) -> str:
    """
    Return a phrase.

    :param name: section and name, ``page.title``.
    :param fields: what stands for the words in braces; a number is written as the language has it.
    """
    section, _, key = name.partition('.')
    return fill(table(language)[section][key], language, fields)


class Spoken:
    """What is said in a language that is not known yet."""

    def in_language(self, language: str) -> str:
        """Return the text."""
        raise NotImplementedError


@dataclass(frozen=True)
class Phrase(Spoken):
    """A phrase of the tables; ``fields`` may have ``Text``, too."""

    name: str
    fields: tuple[tuple[str, object], ...]

    @classmethod
    def of(cls, name: str, /, **fields: object) -> Phrase:
        """Return the phrase of a name."""
        return cls(name, tuple(fields.items()))

    def in_language(self, language: str) -> str:
        """Return the phrase as text."""
        return phrase(self.name, language, **{
            name: text_in(language, found) if isinstance(found, (Spoken, tuple)) else found
            for name, found in self.fields})


Text = Union[str, Spoken, tuple['Text', ...]]
"""A text that stands for itself, a phrase, or a list of both."""


class PhraseError(InvalidValueError):
    """
    A value is not allowed, as a phrase says; the text of the error is in English.

    :ivar said: the phrase, for people who read another language.
    """

    def __init__(self, said: Text) -> None:
        super().__init__(text_in(ENGLISH, said))
        self.said = said


class FilePhraseError(PhraseError, FileError):
    """A file cannot be used, as a phrase says."""


def said_by(error: Exception) -> Text:
    """Return the phrase of an error, or its text if it has none."""
    if isinstance(error, OSError) and error.errno in _DISK and error.filename:
        return Phrase.of(f'disk.{_DISK[error.errno]}', file=str(error.filename))
    return error.said if isinstance(error, PhraseError) else str(error)


def text_in(language: str, said: Text) -> str:
    """Return a phrase as text, a list with commas; a text stands for itself."""
    if isinstance(said, tuple):
        return ', '.join(text_in(language, each) for each in said)
    return said if isinstance(said, str) else said.in_language(language)


def few(texts: Sequence[Text], most: int) -> Text:
    """Return so many texts, and how many more there are."""
    first, more = tuple(texts[:most]), len(texts) - most
    return first if more <= 0 else Phrase.of('words.more', first=first, count=more)


def phrase_or(name: str, language: str, other: str) -> str:
    """Return a phrase, or another text for a name that a newer explorer has published."""
    section, _, key = name.partition('.')
    return table(language)[section].get(key, other)


def section(name: str, language: str) -> dict[str, str]:
    """Return the phrases of a section by name."""
    return dict(table(language)[name])


def fill(template: str, language: str, fields: Mapping[str, Any]) -> str:
    """Return a phrase of the table with its fields."""
    return template.format(**{
        name: Number(found, language) if isinstance(found, (int, float, type(None))) else found
        for name, found in fields.items()})


def number(value: float | None, language: str, spec: str = ',') -> str:
    """Return a number as the language has it, ``-`` for None; ``spec`` as for ``format``."""
    return format(Number(value, language), spec)


@dataclass(frozen=True)
class Number:
    """A number, or None, as a language has it; ``{:one|several}`` chooses between two words."""

    value: float | None
    language: str

    def __format__(self, spec: str) -> str:
        one, either, several = spec.partition('|')
        if either:
            return one if self.value == 1 else several
        if self.value is None:
            return '-'
        words = table(self.language)['words']
        marks = {',': words['comma'], '.': words['point'], '%': words['percent']}
        return ''.join(marks.get(each, each) for each in format(self.value, spec))


def moment(seconds: float, form: str = '%a %H:%M', language: str = ENGLISH) -> str:
    """Return the day of the week and the time of the day; of s since 1970."""
    then = time.localtime(seconds)
    day = table(language)['words']['days'].split()[then.tm_wday]
    return time.strftime(form.replace('%a', day), then)


def listed(texts: Sequence[str], language: str) -> str:
    """Return a few texts with commas, or the first ones and how many more there are."""
    return ', '.join(texts) if len(texts) <= _MOST_NAMED else phrase(
        'words.more', language, first=', '.join(texts[:_NAMED]), count=len(texts) - _NAMED)


def enumerated(texts: Sequence[str], language: str) -> str:
    """Return the same as people list them, with a word before the last of a few."""
    if len(texts) > _MOST_NAMED:
        return listed(texts, language)
    if len(texts) < 2:
        return ''.join(texts)
    return phrase('words.both', language, first=', '.join(texts[:-1]), last=texts[-1])
