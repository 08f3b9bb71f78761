# SPDX-License-Identifier: Apache-2.0

"""What each tier runs, what the last line says was left out, and who runs in which ROS domain."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import re
import subprocess
import sys
from typing import NamedTuple

import pytest
import tiers
from tiers import strength, thorough

HERE = Path(__file__).parent
TESTS = {
    'core/test_promise.py': """
import os, pathlib, pytest, time
from tiers import strength, thorough

@pytest.mark.parametrize('seed', range(strength(2, 3)))
def test_few(seed):
    pass

@thorough(shown_by='core/test_promise.py::test_few')
def test_many():
    pass

def test_expensive():
    pass

@pytest.mark.quick
def test_promised():
    pass

@pytest.mark.parametrize('part', range(4))
def test_domain(part):
    pathlib.Path(os.environ['ROS_DOMAIN_ID'] + '.domain').touch()
    time.sleep(0.5)
""",
    'nodes/test_steps.py': 'def test_steps(): pass',
    'test_absent.py': 'import pytest; pytest.importorskip("absent", reason="not there")',
}
COSTS = """{"functions": {"core/test_promise.py::test_expensive": 9.0,
                          "core/test_promise.py::test_promised": 9.0},
            "files": {"core/test_long.py": 30.0, "nodes/test_longest.py": 40.0}}"""


def run(folder: Path, workers: int, *arguments: str) -> list[str]:
    """Run pytest on a few tests, and return its last two lines."""
    return [re.sub(r' in .*', '', line)
            for line in printed(folder, TESTS, workers, *arguments).splitlines()[-2:]]


def printed(folder: Path, tests: dict[str, str], workers: int, *arguments: str) -> str:
    """Run pytest with the conftest.py of this folder, and return what it has printed."""
    own = {name: (HERE / name).read_text(encoding='utf-8') for name in ('conftest.py', 'tiers.py')}
    own['tiers.py'] = own['tiers.py'].replace('20_000_000', '20_000')    # any machine is quick
    for path, code in {**tests, **own, 'costs.json': COSTS}.items():
        file = folder / 'test' / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
    distribution = ['-p', 'xdist', '-n', str(workers)] if workers else []
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '--rootdir', folder, *distribution, *arguments,
         'test'], cwd=folder, capture_output=True, text=True, timeout=240, env={
            # Without all other plug-ins, it begins twice as soon.
            **os.environ, 'MNM_LEFT_OUT': '', 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1'})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(ids='{} workers'.format, params=[0, pytest.param(2, marks=thorough(
    'test_selection.py::test_what_is_thorough_or_skipped_is_named '
    'test_selection.py::test_a_worker_has_a_domain_of_its_own_and_the_last_line_names_its_tests'
))])
def workers(request: pytest.FixtureRequest) -> int:
    if request.param:
        pytest.importorskip('xdist', reason='pytest-xdist is not installed')
    return request.param


def test_what_is_thorough_or_skipped_is_named(tmp_path: Path, workers: int) -> None:
    assert run(tmp_path, workers) == [
        '9 passed, 2 skipped', 'left out: test/test_absent.py (not there), 1 tests (--all runs '
        'it)']
    assert len([*tmp_path.glob('*.domain')]) == max(1, workers)


def test_all_runs_what_is_thorough_at_full_strength(tmp_path: Path) -> None:
    assert run(tmp_path, 0, '--all') == [
        '11 passed, 1 skipped', 'left out: test/test_absent.py (not there)']


def test_quick_leaves_out_nodes_and_what_costs_much(tmp_path: Path) -> None:
    assert run(tmp_path, 0, '--quick') == [
        '7 passed, 3 skipped',
        'left out: test/benchmarks, test/console, test/contract, test/launch, test/nodes '
        '(not quick), test/test_absent.py (not there), 1 tests (--all runs it), 1 tests (more '
        'than 0.25 s of CPU time)']


CODE = """
import os, pathlib, pytest, time
from tiers import thorough
def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
@pytest.fixture(scope='module')
def shared(): compute(0.4)
@pytest.mark.parametrize('case', [1, 2])
def test_it(case): compute(0.3)
@pytest.mark.parametrize('case', [1, 2])
def test_first(shared, case): pass
def test_second(shared): pass
def test_nothing(): pass
@thorough(shown_by='core/test_a.py::test_it')
def test_many(): pass
def test_domain(): pathlib.Path(os.environ['ROS_DOMAIN_ID'] + '.domain').touch()
"""


class Recorded(NamedTuple):
    """What a run has printed and recorded, and the ROS domains of its tests."""

    said: str
    costs: tiers.Costs
    domains: list[str]


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Run several files with one worker."""
    pytest.importorskip('xdist', '3.7', reason='pytest-xdist is not installed, or before 3.7')
    folder = tmp_path_factory.mktemp('recorded')
    names = ['core/test_b.py', 'core/test_long.py', 'nodes/test_c.py', 'nodes/test_d.py',
             'nodes/test_longest.py']
    said = printed(
        folder, {'core/test_a.py': CODE, **dict.fromkeys(names, 'def test_it(): pass')}, 1,
        '-vv', '--dist', 'loadfile', '--no-loadscope-reorder', '--record-costs')
    return Recorded(said, tiers.recorded(folder / 'test' / 'costs.json'),
                    [path.stem for path in folder.glob('*.domain')])


def test_costs_are_recorded(recorded: Recorded) -> None:
    costs = recorded.costs.functions
    assert {*costs} == {f'core/test_a.py::test_{name}' for name in ('it', 'first', 'second')}
    assert all(0.6 <= seconds < 8 if name.endswith('it') else 0.4 <= seconds < 0.8
               for name, seconds in costs.items()), costs


def test_a_worker_has_a_domain_of_its_own_and_the_last_line_names_its_tests(
        recorded: Recorded) -> None:
    domain, = recorded.domains
    assert domain != os.environ['ROS_DOMAIN_ID']    # which the worker has inherited
    assert recorded.said.count('left out: ') == 1
    assert recorded.said.splitlines()[-1] == 'left out: 1 tests (--all runs it)'


@pytest.mark.parametrize('part', strength(
    [('-k', 'it')], [('-k', 'it'), ('--quick',), ('--all',)]))
def test_costs_of_a_part_are_not_recorded(tmp_path: Path, part: tuple[str, ...]) -> None:
    """Those of all other tests would be lost."""
    with pytest.raises(AssertionError, match='expected no other option'):
        printed(tmp_path, {'core/test_a.py': 'def test_it(): pass'}, 0, '--record-costs', *part)


def test_long_files_begin_and_those_that_wait_take_turns_with_those_that_compute(
        recorded: Recorded) -> None:
    begun = re.findall(r'PASSED test/(\S+)::', recorded.said)
    assert [*dict.fromkeys(begun)] == [
        'nodes/test_longest.py', 'core/test_long.py', 'core/test_a.py', 'nodes/test_c.py',
        'core/test_b.py', 'nodes/test_d.py']


def marked(path: Path) -> tuple[list[str], dict[str, bool]]:
    """Return what the marks of a file name, and which of its tests are thorough as a whole."""
    code = path.read_text(encoding='utf-8')
    if 'thorough(' not in code:    # nor is it read as a tree, which takes a second for all files
        return [], dict.fromkeys(re.findall(r'^def (test_\w+)', code, re.MULTILINE), False)
    tree = ast.parse(code)
    texts = {statement.targets[0].id: statement.value for statement in tree.body
             if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)}

    def is_mark(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'thorough'

    named = []
    for mark in filter(is_mark, ast.walk(tree)):
        value = (mark.args or [keyword.value for keyword in mark.keywords])[0]
        named += ast.literal_eval(texts.get(getattr(value, 'id', ''), value)).split()
    return named, {node.name: any(map(is_mark, node.decorator_list)) for node in tree.body
                   if isinstance(node, ast.FunctionDef)}


def test_what_only_all_runs_is_shown_by_tests_of_the_default_tier() -> None:
    found = {path.relative_to(HERE).as_posix(): marked(path) for path in HERE.rglob('test_*.py')
             if path != Path(__file__)}
    assert sum(len(named) for named, _ in found.values()) > 50
    for path, (named, _) in found.items():
        for shown in named:
            file, _, test = shown.partition('::')
            thorough = found.get(file, ([], {}))[1].get(test)
            assert thorough is not None, f'{path} names {shown}, which is not there'
            assert not thorough, f'{path} names {shown}, which only --all runs'


def test_folders_with_nodes_are_there() -> None:
    assert all((HERE / folder).is_dir() for folder in tiers.WITH_NODES)


def test_help_is_that_of_the_command() -> None:
    done = subprocess.run([str(HERE.parent / 'scripts' / 'test'), '--help'], capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 0 and done.stdout.startswith('usage: scripts/test [--quick | --all]')
    assert not done.stderr
