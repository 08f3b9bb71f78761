# SPDX-License-Identifier: Apache-2.0

"""Links, names and tables of the pages agree with the files and the code that they name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
import json
from pathlib import Path
import re

from mnm_ros.command.main import COMMANDS
from mnm_ros.export.formats import FORMATS
from mnm_ros.simulation import scenario, world
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
            assert defined(target, named[1]), f'{link} defines no {text}'


def defined(path: Path, name: str) -> bool:
    """Return whether a file defines a function, a class, or a method (``Class.method``)."""
    found: list[ast.AST] = [ast.parse(path.read_text(encoding='utf-8'))]
    for part in name.split('.'):
        found = [node for scope in found for node in getattr(scope, 'body', ())
                 if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == part]
    return bool(found)


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


def body(path: str) -> list[ast.stmt]:
    return ast.parse((ROOT / path).read_text(encoding='utf-8')).body


def keys(path: str, name: str) -> Iterator[str]:
    """Yield the keys of a dictionary in a module, with those that it takes from another one."""
    found = next(node.value for node in body(path)
                 if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name)
    assert isinstance(found, ast.Dict)
    for key, value in zip(found.keys, found.values):
        if key is not None:
            yield ast.literal_eval(key)
        else:
            yield from keys('mnm_ros/launching.py', ast.unparse(value))


def test_tables_list_what_there_is() -> None:
    assert shown('policies.md', '| format |') == {*FORMATS}
    assert shown('trials.md', '| argument |') == {*keys('launch/trial.launch.py', 'ARGUMENTS')}
    assert shown('robot_sides.md', '| test |') == {
        node.name.removeprefix('test_') for node in body('mnm_ros/contract/clauses.py')
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_')}
    robot_side, = (node for node in body('mnm_ros/nodes/robot_side.py')
                   if isinstance(node, ast.ClassDef) and node.name == 'RobotSide')
    offered = {node.name for node in robot_side.body if isinstance(node, ast.FunctionDef)
               and not node.name.startswith('_')}
    # Those of the package's own robot sides are not for users, and two are attributes.
    assert shown('robot_sides.md', '| | what it is for |') == (
        offered - {'send_state', 'leave'} | {'action_names', 'action_timeout'})


def test_every_shipped_scenario_and_world_is_there() -> None:
    for page, shipped in (('getting_started', scenario.shipped()), ('robots', world.shipped())):
        text = (ROOT / 'docs' / f'{page}.md').read_text(encoding='utf-8')
        assert [name for name in shipped if f'`{name}`' not in text] == []
