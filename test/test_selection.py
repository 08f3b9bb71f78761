# SPDX-License-Identifier: Apache-2.0

"""What each tier runs, what the last line says was left out, and who runs in which ROS domain."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest
import tiers

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

@pytest.mark.parametrize('part', range(4))
def test_domain(part):
    pathlib.Path(os.environ['ROS_DOMAIN_ID'] + '.domain').touch()
    time.sleep(0.5)
""",
    'nodes/test_steps.py': 'def test_steps(): pass',
    'test_absent.py': 'import pytest; pytest.importorskip("absent", reason="not there")',
}
COSTS = """{"functions": {"core/test_promise.py::test_expensive": 9.0},
            "files": {"core/test_long.py": 30.0, "nodes/test_longest.py": 40.0}}"""
MARK = re.compile(r"thorough\(\s*(?:shown_by=)?((?:'[^']*'\s*)+)\)")


def run(folder: Path, workers: int, *arguments: str) -> list[str]:
    """Run pytest on a few tests, and return its last two lines."""
    return [re.sub(r' in .*', '', line)
            for line in printed(folder, TESTS, workers, *arguments).splitlines()[-2:]]


def printed(folder: Path, tests: dict[str, str], workers: int, *arguments: str) -> str:
    """Run pytest with the conftest.py of this folder, and return what it has printed."""
    own = {name: (HERE / name).read_text(encoding='utf-8') for name in ('conftest.py', 'tiers.py')}
    for path, code in {**tests, **own, 'costs.json': COSTS}.items():
        file = folder / 'test' / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
    distribution = ['-n', str(workers)] if workers else ['-p', 'no:xdist']
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '--rootdir', folder, *distribution, *arguments,
         'test'], cwd=folder, env={**os.environ, 'MNM_LEFT_OUT': ''}, capture_output=True,
        text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(params=[0, 2], ids='{} workers'.format)
def workers(request: pytest.FixtureRequest) -> int:
    if request.param:
        pytest.importorskip('xdist', reason='pytest-xdist is not installed')
    return request.param


def test_what_is_thorough_or_skipped_is_named(tmp_path: Path, workers: int) -> None:
    assert run(tmp_path, workers) == [
        '8 passed, 2 skipped', 'left out: test/test_absent.py (not there), 1 tests (--all runs '
        'it)']
    assert len([*tmp_path.glob('*.domain')]) == max(1, workers)


def test_all_runs_what_is_thorough_at_full_strength(tmp_path: Path) -> None:
    assert run(tmp_path, 0, '--all') == [
        '10 passed, 1 skipped', 'left out: test/test_absent.py (not there)']


def test_quick_leaves_out_nodes_and_what_costs_much(tmp_path: Path) -> None:
    assert run(tmp_path, 0, '--quick') == [
        '6 passed, 3 skipped',
        'left out: test/benchmarks, test/console, test/contract, test/launch, test/nodes '
        '(not quick), test/test_absent.py (not there), 1 tests (--all runs it), 1 tests (more '
        'than 0.7 s of CPU time)']


def test_costs_are_recorded(tmp_path: Path) -> None:
    pytest.importorskip('xdist', reason='pytest-xdist is not installed')
    code = """
import time, pytest
@pytest.mark.parametrize('case', [1, 2])
def test_it(case):
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
def test_nothing(): pass
"""
    printed(tmp_path, {'core/test_a.py': code}, 2, '--all', '--record-costs')
    (name, seconds), = tiers.recorded(tmp_path / 'test' / 'costs.json').functions.items()
    assert name == 'core/test_a.py::test_it' and 0.8 <= seconds < 8


def test_long_files_begin_and_those_that_wait_take_turns_with_those_that_compute(
        tmp_path: Path) -> None:
    pytest.importorskip('xdist', '3.7', reason='pytest-xdist is not installed, or before 3.7')
    names = ['core/test_a.py', 'core/test_b.py', 'core/test_long.py', 'nodes/test_c.py',
             'nodes/test_d.py', 'nodes/test_longest.py']
    said = printed(tmp_path, dict.fromkeys(names, 'def test_it(): pass'), 1, '-vv', '--dist',
                   'loadfile', '--no-loadscope-reorder')
    assert re.findall(r'PASSED test/(\S+)::', said) == [names[number] for number in (
        5, 2, 0, 3, 1, 4)]


def functions(path: Path) -> dict[str, str]:
    """Return the source of each test function of a file, with its decorators."""
    text = path.read_text(encoding='utf-8')
    lines = text.splitlines()
    return {node.name: '\n'.join(lines[min(
        [node.lineno, *(each.lineno for each in node.decorator_list)]) - 1:node.body[0].lineno])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_')}


def test_what_only_all_runs_is_shown_by_tests_of_the_default_tier() -> None:
    found = {path.relative_to(HERE).as_posix(): functions(path)
             for path in HERE.rglob('test_*.py') if path != Path(__file__)}
    named = {(path, function, shown) for path, tests in found.items()
             for function, head in tests.items() for mark in MARK.findall(head)
             for shown in ''.join(re.findall(r"'([^']*)'", mark)).split()}
    assert named or not any('thorough(' in head for tests in found.values()
                            for head in tests.values())
    for path, function, shown in named:
        file, _, test = shown.partition('::')
        head = found.get(file, {}).get(test)
        assert head is not None, f'{path}::{function} names {shown}, which is not there'
        assert not head.startswith('@thorough('), f'{shown}, of {path}::{function}, is thorough'


def test_folders_with_nodes_are_there() -> None:
    assert all((HERE / folder).is_dir() for folder in tiers.WITH_NODES)


def test_help_is_that_of_the_command() -> None:
    done = subprocess.run([str(HERE.parent / 'scripts' / 'test'), '--help'], capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 0 and done.stdout.startswith('usage: scripts/test [--quick | --all]')
    assert not done.stderr
