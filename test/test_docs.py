# SPDX-License-Identifier: Apache-2.0

"""Links, names and tables of the pages agree with the files and the code that they name."""

from __future__ import annotations

import ast
from pathlib import Path
import re
from types import FunctionType

import mnm_ros
from mnm_ros.command.main import COMMANDS
from mnm_ros.contract import clauses
import mnm_ros.core
from mnm_ros.export.formats import FORMATS
from mnm_ros.simulation import scenario, world
from pages import blocks, DOCS, PAGES, ROOT
import pytest

every_page = pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)


@every_page
def test_every_link_leads_to_a_file_and_to_the_code_that_it_names(page: Path) -> None:
    """``test_site.py`` checks headings, and that the first page leads to all others."""
    text = re.sub(r'^( *)```.*?^ *```', '', PAGES[page], flags=re.DOTALL | re.MULTILINE)
    for name, link in re.findall(r'\[([^\]]*)\]\((?!\w+://)([^)\s#]+)', text):
        target = page.parent / link
        assert target.exists(), link
        if target.suffix == '.py' and re.fullmatch(r'`[A-Za-z_.]+(?<!\.py)`', name):
            code = target.read_text(encoding='utf-8')
            for part in name.strip('`').split('.'):
                assert re.search(rf'^ *(class|def) {part}\b', code, re.MULTILINE), (link, name)


@every_page
def test_what_is_named_exists(page: Path) -> None:
    """Files of the package may be named from ``mnm_ros`` on."""
    text = PAGES[page]
    files = re.findall(r'(?<![\w/])(?:scripts|benchmarks|examples)/[a-z]\w+(?:\.py)?\b', text)
    files += re.findall(r'`((?:\w+/)+\w+\.py|mnm_ros/[\w/]+(?:\.\w+)+)(?:::\w+)?`', text)
    assert [name for name in files
            if not any((folder / name).is_file() for folder in (ROOT, ROOT / 'mnm_ros'))] == []
    words = re.findall(r'^ *(?:\$ )?(?:python3 -m |\.venv/bin/)?mnm_ros ([a-z]\w+)\b(?!\.)',
                       ''.join(blocks(page)), re.MULTILINE)
    words += re.findall(r'`(?:python3 -m )?mnm_ros ([a-z]\w+)\b(?!\.)[^`]*`', text)
    assert [word for word in words if word not in COMMANDS] == []
    for module, test in re.findall(r'`(test_\w+)::(test_\w+)`', text):
        path, = (ROOT / 'test').rglob(f'{module}.py')
        assert f'def {test}(' in path.read_text(encoding='utf-8')


def test_the_pages_that_code_names_exist() -> None:
    named = {(path.name, page) for folder in ('mnm_ros', 'config', 'launch', 'test', 'benchmarks')
             for path in (ROOT / folder).rglob('*') if path.suffix in ('.py', '.yaml', '.xml')
             for page in re.findall(r'\bdocs/[\w/]+\.(?:md|ipynb|rst)',
                                    path.read_text(encoding='utf-8'))}
    assert len(named) > 10
    assert [(name, page) for name, page in sorted(named) if not (ROOT / page).is_file()] == []


def shown(page: str, head: str) -> set[str]:
    """Return the names in the first cells of the table that begins with a row."""
    rows = PAGES[DOCS / page].split(f'\n{head}')[1].split('\n\n')[0].splitlines()[2:]
    return {name for row in rows for name in re.findall(r'`([\w-]+)', row.split(' | ')[0])}


def test_tables_list_what_there_is() -> None:
    assert shown('howto/print_and_export.md', '| format |') == {*FORMATS}
    assert shown('reference/robot_side.md', '| test |') == {
        name.removeprefix('test_') for name in vars(clauses) if name.startswith('test_')}
    # Those of the package's own robot sides are not for users, and two are attributes.
    offered = {name for name, value in vars(mnm_ros.RobotSide).items()
               if isinstance(value, (FunctionType, property)) and not name.startswith('_')}
    assert shown('howto/robot_side.md', '| | what it is for |') == (
        offered - {'send_state', 'leave'} | {'action_names', 'action_timeout'})
    tables = (('launch/trial.launch.py', 'ARGUMENTS'), ('mnm_ros/launching.py', 'VIEWERS'))
    assert shown('howto/trial.md', '| argument |') == {name for path, table in tables for name in
        re.findall(r"^    '(\w+)':", (ROOT / path).read_text(encoding='utf-8').split(
            f'\n{table} = {{')[1].split('\n}')[0], re.MULTILINE)}
    for page, shipped in (('tutorials/first_exploration', scenario.shipped()),
                          ('howto/simulate', world.shipped())):
        assert [name for name in shipped if f'`{name}`' not in PAGES[DOCS / f'{page}.md']] == []


@pytest.mark.parametrize(
    'page', [*PAGES, *sorted(ROOT.glob('examples/*.py'))], ids=lambda page: page.name)
def test_the_code_shown_imports_what_the_package_offers(page: Path) -> None:
    code = '\n'.join(blocks(page, 'python')) if page in PAGES else page.read_text('utf-8')
    faces = {face.__name__: {*face.__all__} for face in (mnm_ros, mnm_ros.core)}
    for statement in re.findall(
            r'^ *((?:from|import) mnm_ros\b[^(\n]*(?:\([^)]*\))?)', code, re.MULTILINE):
        node, = ast.parse(statement).body
        names = {alias.name for alias in node.names}
        assert names <= (faces[node.module] if isinstance(node, ast.ImportFrom) else {*faces})
