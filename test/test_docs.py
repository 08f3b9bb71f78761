# SPDX-License-Identifier: Apache-2.0

"""Links between the pages lead somewhere, and so do the names of tests that they mention."""

from __future__ import annotations

import ast
from collections import defaultdict
import json
from pathlib import Path
import re

from mnm_ros.command.main import COMMANDS
from mnm_ros.export.formats import FORMATS
import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / 'docs').glob('*.md'))
NOTEBOOKS = sorted((ROOT / 'docs').glob('*.ipynb'))
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *DOCS, *NOTEBOOKS]
TESTS: defaultdict[str, str] = defaultdict(str)    # two folders may have one of the same name
for path in (ROOT / 'test').rglob('*.py'):
    TESTS[path.stem] += path.read_text(encoding='utf-8')
# `test_module::test_function`, where ... stands for the rest of a name, [case] for a case of it
TEST_NAME = r'`(test_\w+)?(?:::(test_\w+?)(\.\.\.)?)?(?:\[(\w+)\])?`'


def text_of(page: Path) -> str:
    """Return a page, or the text between the code of a notebook."""
    text = page.read_text(encoding='utf-8')
    if page.suffix != '.ipynb':
        return text
    return '\n\n'.join(''.join(cell['source']) for cell in json.loads(text)['cells']
                       if cell['cell_type'] == 'markdown')


def without_code(text: str) -> str:
    return re.sub(r'^( *)```.*?^ *```', '', text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r'^#+ (.*)$', without_code(text_of(page)), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def links(page: Path) -> list[str]:
    return re.findall(r'\]\(([^)\s]+)\)', without_code(text_of(page)))


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if '://' in link:
            continue
        path, _, anchor = link.partition('#')
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_index_leads_to_every_page() -> None:
    linked = {link.split('#')[0] for link in links(ROOT / 'docs' / 'index.md')}
    pages = {page.name for page in (*DOCS, *NOTEBOOKS, *(ROOT / 'docs').glob('*.rst'))}
    assert pages - {'index.md'} <= linked


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_commands_that_are_mentioned_exist(page: Path) -> None:
    text = text_of(page)
    scripts = re.findall(r'(?<![\w/])(?:scripts|benchmarks|examples)/[a-z]\w+(?:\.py)?\b', text)
    assert [name for name in scripts if not (ROOT / name).is_file()] == []
    code = ''.join(re.findall(r'^ *```\n(.*?)^ *```', text, re.DOTALL | re.MULTILINE))
    words = re.findall(r'^ *(?:\$ )?(?:python3 -m |\.venv/bin/)?mnm_ros ([a-z]\w+)\b(?!\.)', code,
                       re.MULTILINE)
    words += re.findall(r'`(?:python3 -m )?mnm_ros ([a-z]\w+)\b(?!\.)[^`]*`', text)
    assert [word for word in words if word not in COMMANDS] == []


@pytest.mark.parametrize('page', DOCS, ids=lambda page: page.name)
def test_tests_that_are_mentioned_exist(page: Path) -> None:
    module = ''
    for name, function, rest, case in re.findall(TEST_NAME, page.read_text(encoding='utf-8')):
        module = name or module
        if name or function:
            assert module in TESTS
            assert re.search(rf'def {function}' if rest else rf'def {function}\b' if function
                             else '', TESTS[module]), (module, function)
            assert case in TESTS[module], (module, case)


def defined(path: Path, name: str) -> bool:
    """Return whether a file defines a function, a class, or a method (``Class.method``)."""
    found: list[ast.AST] = [ast.parse(path.read_text(encoding='utf-8'))]
    for part in name.split('.'):
        found = [node for scope in found for node in getattr(scope, 'body', ())
                 if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == part]
    return bool(found)


def test_the_life_of_a_policy_names_what_does_each_thing() -> None:
    text = (ROOT / 'docs' / 'algorithm.md').read_text(encoding='utf-8')
    life = text.split('## Life of a policy')[1].split('\n## ')[0]
    links = re.split(r'^\d+\. ', life, flags=re.MULTILINE)[1:]
    assert len(links) == 10
    for link in links:
        named = re.findall(r'\[`([\w.]+)`\]\(\.\./(mnm_ros/[\w/]+\.py)\)', link)
        assert named, link
        assert [name for name, path in named if not defined(ROOT / path, name)] == []


def test_each_of_the_twelve_changes_names_files_that_exist() -> None:
    text = (ROOT / 'docs' / 'extending.md').read_text(encoding='utf-8')
    table = text.split('## Twelve changes')[1].split('|---|---|\n')[1].split('\n\n')[0]
    rows = table.splitlines()
    assert len(rows) == 12
    for row in rows:
        files = re.findall(r'`(mnm_ros/[\w/]+\.\w+(?:\.\w+)?)`', row)
        assert files, row
        assert [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_files_of_the_package_that_are_mentioned_exist(page: Path) -> None:
    """Those in tables of the plan are named from ``mnm_ros`` on."""
    mentioned = re.findall(r'`((?:mnm_ros/)?[a-z_]+(?:/[a-z_]+)*/[a-z_]+\.py)(?:::\w+)?`',
                           page.read_text(encoding='utf-8'))
    missing = [path for path in mentioned
               if not any((folder / path).exists() for folder in (ROOT, ROOT / 'mnm_ros'))]
    assert missing == []


def test_every_format_of_an_export_is_described() -> None:
    text = (ROOT / 'docs' / 'policies.md').read_text(encoding='utf-8')
    table = text.split('| format | what is written |\n|---|---|\n')[1].split('\n\n')[0]
    assert re.findall(r'^\| `(.*?)` \| \S', table, re.MULTILINE) == [*FORMATS]


def test_the_picture_of_the_terminal_needs_no_other_file() -> None:
    picture = (ROOT / 'docs' / 'figures' / 'terminal.svg').read_text(
        encoding='utf-8').replace('&#160;', ' ')
    assert 'The hypothesis is right.' in picture
    assert re.findall(r'https?://[^"]*', picture) == ['http://www.w3.org/2000/svg']


def test_the_moving_picture_moves_and_is_small() -> None:
    picture = ROOT / 'docs' / 'figures' / 'exploration.gif'
    assert picture.read_bytes().count(b'\x21\xf9\x04') > 50    # of each frame
    assert picture.stat().st_size < 400_000


def test_the_pages_are_short_enough_to_be_read() -> None:
    """What is added takes the place of something that is said twice."""
    words = {page.name: len(re.findall(r'\S*\w\S*', page.read_text(encoding='utf-8')))
             for page in DOCS}    # the strokes of tables are none
    assert sum(words.values()) <= 25_500, words
