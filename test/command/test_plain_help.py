# SPDX-License-Identifier: Apache-2.0

"""Each help, parameter and sentence keeps to the words of the field."""

from __future__ import annotations

import re
from typing import Any

from dialect import BEGINNINGS, WORDS
from mnm_ros.command.main import COMMANDS, main
from mnm_ros.language import LANGUAGES, table
from mnm_ros.parameters import NODES
from mnm_ros.topics import DIAGNOSTICS, SERVICES, TOPICS
import pytest

UNUSED = re.compile(rf'\b({"|".join(WORDS)})\b', re.IGNORECASE)

NAMES = re.compile(r'mnm_ros look|^ *look  .*|\bservice look\b|`look`', re.MULTILINE)
"""The service ``look`` and its command."""

BEGINNING = re.compile(rf'(?:^|\. )(?:{BEGINNINGS})\b', re.MULTILINE)


def unused(text: str) -> list[str]:
    """Return what a text says in words that are not used."""
    text = ' '.join(NAMES.sub('', text).split())
    return [found[0] for found in (*UNUSED.finditer(text), *BEGINNING.finditer(text))]


def test_words_that_are_not_used_are_found() -> None:
    assert unused('It is told anew, and\ngiven. What is seen') == ['told', 'anew', 'given',
                                                                  '. What']
    assert unused('mnm_ros look calls the service look') == []


@pytest.mark.parametrize('words', [
    [], *([name] for name in COMMANDS if name != 'preflight'), *(['run', name] for name in NODES)],
    ids=' '.join)
def test_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status: Any = main([*words, '--help'])
    except SystemExit as end:
        status = end.code
    said = capsys.readouterr().out
    assert not status and len(said) > 100 and not unused(said)


@pytest.mark.parametrize('language', LANGUAGES)
def test_sentences(language: str) -> None:
    for words in table(language).values():
        assert not any(unused(sentence) for sentence in words.values())


def test_what_the_reference_is_generated_from() -> None:
    texts = [*DIAGNOSTICS.values(), *(service.effect for service in SERVICES),
             *(topic.content for topics in TOPICS.values() for topic in topics)]
    assert [text for text in texts if unused(re.sub(r'\(\S+\)', '', text))] == []
