# SPDX-License-Identifier: Apache-2.0

"""Links, names and tables of the pages agree with the files and the code that they name."""

from __future__ import annotations

import json
from pathlib import Path
import re
from types import FunctionType

import mnm_ros
from mnm_ros.command.main import COMMANDS
from mnm_ros.contract import clauses
import mnm_ros.core
from mnm_ros.export.formats import FORMATS
from mnm_ros.simulation import scenario, world
import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / 'docs').glob('*.md'))
NOTEBOOKS = sorted((ROOT / 'docs').glob('*.ipynb'))
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *DOCS, *NOTEBOOKS]
TESTS: dict[str, str] = {}    # two folders may have a file of the same name
for path in (ROOT / 'test').rglob('*.py'):
    TESTS[path.stem] = TESTS.get(path.stem, '') + path.read_text(encoding='utf-8')
# `test_module::test_function`, where ... stands for the rest of a name, [case] for a case of it
TEST_NAME = r'`(test_\w+)?(?:::(test_\w+?)(\.\.\.)?)?(?:\[(\w+)\])?`'

every_page = pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)


def text_of(page: Path) -> str:
    """Return a page, or the text between the code of a notebook."""
    text = page.read_text(encoding='utf-8')
    if page.suffix != '.ipynb':
        return text
    return '\n\n'.join(''.join(cell['source']) for cell in json.loads(text)['cells']
                       if cell['cell_type'] == 'markdown')


def without_code(page: Path) -> str:
    return re.sub(r'^( *)```.*?^ *```', '', text_of(page), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r'^#+ (.*)$', without_code(page), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def links(page: Path) -> list[tuple[str, str]]:
    """Return the text and the target of each link."""
    return re.findall(r'\[([^\]]*)\]\(([^)\s]+)\)', without_code(page))


@every_page
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for text, link in links(page):
        path, _, anchor = link.partition('#')
        target = (page.parent / path).resolve() if path else page
        if '://' not in link:
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link
        named = re.fullmatch(r'`([A-Za-z_.]+)`', text)
        if target.suffix == '.py' and named and not text.endswith('.py`'):
            code = target.read_text(encoding='utf-8')
            for name in named[1].split('.'):
                assert re.search(rf'^ *(class|def) {name}\b', code, re.MULTILINE), (link, text)


def test_the_index_leads_to_every_page() -> None:
    linked = {link.split('#')[0] for _, link in links(ROOT / 'docs' / 'index.md')}
    pages = {page.name for page in (*DOCS, *NOTEBOOKS, *(ROOT / 'docs').glob('*.rst'))}
    assert pages - {'index.md'} <= linked


@every_page
def test_commands_that_are_mentioned_exist(page: Path) -> None:
    text = text_of(page)
    scripts = re.findall(r'(?<![\w/])(?:scripts|benchmarks|examples)/[a-z]\w+(?:\.py)?\b', text)
    assert [name for name in scripts if not (ROOT / name).is_file()] == []
    code = ''.join(re.findall(r'^ *```\n(.*?)^ *```', text, re.DOTALL | re.MULTILINE))
    words = re.findall(r'^ *(?:\$ )?(?:python3 -m |\.venv/bin/)?mnm_ros ([a-z]\w+)\b(?!\.)', code,
                       re.MULTILINE)
    words += re.findall(r'`(?:python3 -m )?mnm_ros ([a-z]\w+)\b(?!\.)[^`]*`', text)
    assert [word for word in words if word not in COMMANDS] == []


@every_page
def test_files_and_tests_that_are_mentioned_exist(page: Path) -> None:
    """Files of the package may be named from ``mnm_ros`` on."""
    text = page.read_text(encoding='utf-8')
    files = re.findall(r'`((?:[a-z_]+/)*[a-z_]+/[a-z_]+\.py)(?:::\w+)?`', text)
    files += re.findall(r'`(mnm_ros/[\w/]+\.\w+(?:\.\w+)?)`', text)
    assert [path for path in files
            if not any((folder / path).exists() for folder in (ROOT, ROOT / 'mnm_ros'))] == []
    module = ''
    for name, function, rest, case in re.findall(TEST_NAME, text):
        module = name or module
        if name or function:
            assert module in TESTS
            assert re.search(rf'def {function}' if rest else rf'def {function}\b' if function
                             else '', TESTS[module]), (module, function)
            assert case in TESTS[module], (module, case)


def shown(page: str, head: str) -> set[str]:
    """Return the names in the first cells of the table that begins with a row."""
    table = (ROOT / 'docs' / page).read_text(encoding='utf-8').split(f'\n{head}')[1]
    rows = table.split('\n\n')[0].splitlines()[2:]
    return {name for row in rows for name in re.findall(r'`([\w-]+)', row.split(' | ')[0])}


def test_tables_list_what_there_is() -> None:
    assert shown('policies.md', '| format |') == {*FORMATS}
    assert shown('robot_sides.md', '| test |') == {
        name.removeprefix('test_') for name in vars(clauses) if name.startswith('test_')}
    # Those of the package's own robot sides are not for users, and two are attributes.
    offered = {name for name, value in vars(mnm_ros.RobotSide).items()
               if isinstance(value, (FunctionType, property)) and not name.startswith('_')}
    assert shown('robot_sides.md', '| | what it is for |') == (
        offered - {'send_state', 'leave'} | {'action_names', 'action_timeout'})
    arguments = ''.join(
        (ROOT / path).read_text(encoding='utf-8').split(f'\n{name} = {{')[1].split('\n}')[0]
        for path, name in (('launch/trial.launch.py', 'ARGUMENTS'),
                           ('mnm_ros/launching.py', 'VIEWERS')))
    assert shown('trials.md', '| argument |') == {
        *re.findall(r"^    '(\w+)':", arguments, re.MULTILINE)}
    for page, shipped in (('getting_started', scenario.shipped()), ('robots', world.shipped())):
        text = (ROOT / 'docs' / f'{page}.md').read_text(encoding='utf-8')
        assert [name for name in shipped if f'`{name}`' not in text] == []


@pytest.mark.parametrize(
    'page', [*PAGES, *sorted(ROOT.glob('examples/*.py'))], ids=lambda page: page.name)
def test_the_code_shown_imports_what_the_package_offers(page: Path) -> None:
    text = page.read_text(encoding='utf-8')
    blocks = [text] if page.suffix == '.py' else re.findall(
        r'^ *```python\n(.*?)^ *```', text, re.DOTALL | re.MULTILINE)
    if page.suffix == '.ipynb':
        blocks = [''.join(cell['source']) for cell in json.loads(text)['cells']
                  if cell['cell_type'] == 'code']
    faces = {face.__name__: {*face.__all__} for face in (mnm_ros, mnm_ros.core)}
    for module, names, alone in (found for code in blocks for found in re.findall(
            r'^ *(?:from (mnm_ros[\w.]*) import (\([^)]*\)|.*)|import (mnm_ros[\w.]*))', code,
            re.MULTILINE)):
        used = {name.split(' as ')[0].strip()
                for name in re.sub(r'#.*|[()]', '', names).split(',')} - {''}
        assert used <= faces[alone or module]
