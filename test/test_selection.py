# SPDX-License-Identifier: Apache-2.0

"""What --quick runs, what the last line says was left out, and who runs in which ROS domain."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

HERE = Path(__file__).parent
CONSTANTS = {
    statement.targets[0].id: statement.value
    for statement in ast.parse((HERE / 'conftest.py').read_text(encoding='utf-8')).body
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)}
WITH_NODES = ast.literal_eval(CONSTANTS['WITH_NODES'])
SLOW = ast.literal_eval(CONSTANTS['SLOW'])
LONG = ast.literal_eval(CONSTANTS['LONG'])

TESTS = {
    'core/test_promise.py': """
import os, pathlib, pytest, time

@pytest.mark.parametrize('seed', range(2))
def test_the_promise_is_kept(seed):
    pass

@pytest.mark.parametrize('part', range(4))
def test_domain(part):
    pathlib.Path(os.environ['ROS_DOMAIN_ID'] + '.domain').touch()
    time.sleep(0.5)
""",
    'nodes/test_steps.py': 'def test_steps(): pass',
    'test_absent.py': 'import pytest; pytest.importorskip("absent", reason="not there")',
}


def run(folder: Path, workers: int, *arguments: str) -> list[str]:
    """Run pytest on a few tests, and return its last two lines."""
    return [re.sub(r' in .*', '', line)
            for line in printed(folder, TESTS, workers, *arguments).splitlines()[-2:]]


def printed(folder: Path, tests: dict[str, str], workers: int, *arguments: str) -> str:
    """Run pytest with the conftest.py of this folder, and return what it has printed."""
    for path, code in {**tests, 'conftest.py': (HERE / 'conftest.py').read_text()}.items():
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


def test_everything_is_run_and_what_was_skipped_is_named(tmp_path: Path, workers: int) -> None:
    assert run(tmp_path, workers) == [
        '7 passed, 1 skipped', 'left out: test/test_absent.py (not there)']
    assert len([*tmp_path.glob('*.domain')]) == max(1, workers)


def test_quick_leaves_out_nodes_and_slow_tests_and_names_them(
        tmp_path: Path, workers: int) -> None:
    assert run(tmp_path, workers, '--quick') == [
        '4 passed, 3 skipped',
        'left out: test/benchmarks, test/console, test/contract, test/launch, test/nodes '
        '(not quick), test/core/test_promise.py x2 (slow), test/test_absent.py (not there)']


def test_long_files_begin_and_those_that_wait_take_turns_with_those_that_compute(
        tmp_path: Path) -> None:
    pytest.importorskip('xdist', '3.7', reason='pytest-xdist is not installed, or before 3.7')
    names = ['core/test_a.py', 'core/test_b.py', f'core/{LONG[0]}', 'nodes/test_c.py',
             'nodes/test_d.py']
    said = printed(tmp_path, dict.fromkeys(names, 'def test_it(): pass'), 1, '-vv', '--dist',
                   'loadfile', '--no-loadscope-reorder')
    assert re.findall(r'PASSED test/(\S+)::', said) == [
        names[2], names[0], names[3], names[1], names[4]]


def test_what_is_selected_is_there() -> None:
    assert all((HERE / folder).is_dir() for folder in WITH_NODES)
    assert all(len([*HERE.rglob(name)]) == 1 for name in LONG)
    for name, tests in SLOW.items():
        path, = HERE.rglob(name)
        missing = [test for test in tests if f'def {test}(' not in path.read_text('utf-8')]
        assert not missing, f'{path} has no {missing}; SLOW in test/conftest.py names them'


def test_help_is_that_of_the_command() -> None:
    done = subprocess.run([str(HERE.parent / 'scripts' / 'test'), '--help'], capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 0 and done.stdout.startswith('usage: scripts/test [--quick]')
    assert len(done.stdout.splitlines()) == 5 and not done.stderr
