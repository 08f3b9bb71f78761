# SPDX-License-Identifier: Apache-2.0

"""The pages use the words of the field; the glossary defines the special ones once."""

from __future__ import annotations

from pathlib import Path
import re

from dialect import findings, long_sentences, prose
from pages import DOCS, PAGES, ROOT
import pytest

NAMED = {page.relative_to(ROOT).as_posix(): page for page in PAGES}


@pytest.mark.parametrize('page', [pytest.param(page, id=name) for name, page in NAMED.items()])
def test_a_page_has_no_word_of_the_dialect_and_no_long_sentence(page: Path) -> None:
    assert findings(prose(PAGES[page])) + long_sentences(prose(PAGES[page])) == []


@pytest.mark.parametrize(('text', 'wrong'), [
    ('The robot is told.', 1), ('A map is given, and the robot looks around.', 2),
    ('It begins anew by the\ncounts.', 2), ('What is known is published.', 1),
    ('It stops. Whatever moves, stops.', 1), ('- Which state is home is fixed.', 1),
    ('| column | What it takes. |', 1), ('**Lost.** What is lost counts.', 1),
    ('What happens when a door closes?', 0), ('# What it costs', 0),
    ('The service `look` looks.\n', 1), ('`given` is a key.', 0),
    ('```\ngiven: anew\n```\n', 0), ('Type:\n\n    mnm_ros look\n\nThen wait.', 0),
    ('See [the page](given.md#anew).', 0), ('The robot does what the command says.', 0),
    ('<!-- generated: topics -->\n| told |\n<!-- end -->', 0)])
def test_the_rule(text: str, wrong: int) -> None:
    assert len(findings(prose(text))) == wrong


def test_a_long_sentence_is_found() -> None:
    text = 'One ' + 'word ' * 23
    assert long_sentences(f'# {text * 2}\n\n{text}more.') == []
    assert long_sentences(f'Short. {text}and more.') == [f'{text}and more.']


def test_the_glossary_defines_each_word_once() -> None:
    """A word that no other page uses needs no definition."""
    glossary = DOCS / 'reference' / 'glossary.md'
    terms = [term for term in re.findall(r'^\| ([^|]+?) \|', PAGES[glossary], re.MULTILINE)
             if term != 'term']
    assert len(terms) > 60 and len({*terms}) == len(terms)
    others = ' '.join(text for page, text in PAGES.items() if page != glossary).lower()
    assert [term for term in terms if not re.search(
        rf'\b{re.escape(term.lower())}(?:e?s|ed|ing)?\b', others)] == []


@pytest.mark.parametrize('name', [name for name in NAMED if name.count('/') == 2])
def test_a_page_opens_with_its_use(name: str) -> None:
    title, opening = PAGES[NAMED[name]].split('\n\n')[:2]
    assert title.startswith('# ') and opening.startswith(
        'This page' if '/reference/' in name else ('After this page', 'After this notebook'))
