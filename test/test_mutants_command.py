# SPDX-License-Identifier: Apache-2.0

"""``scripts/mutants``: which tests belong to a module, and what it reports."""

from __future__ import annotations

from pathlib import Path
import re
import shutil

import mutants
from promises import PROFILES, Promise, PROMISES
import pytest
from tiers import strength

ROOT = Path(__file__).resolve().parents[1]


def test_every_path_of_the_table_exists() -> None:
    for module, tests in mutants.TESTS.items():
        assert (ROOT / module).exists()
        assert all((ROOT / word).exists() for word in tests.split() if not word.startswith('-'))


@pytest.mark.parametrize('module, tests', [
    ('mnm_ros/core/mnm/mnm.py', 'test/core'),
    ('mnm_ros/core/task/navigation.py', 'test/core/test_navigation.py'),
    ('mnm_ros/messages/goals.py', 'test/test_messages.py'), ('mnm_ros/nodes/explorer.py', None)])
def test_the_nearest_tests_are_taken(module: str, tests: str | None) -> None:
    assert mutants.tests_of(module) == tests


def test_tests_that_import_the_module_come_first_and_then_the_quickest(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    durations = {'test/core/test_fleet.py': 30.0, 'test/core/test_disco.py': 9.0,
                 'test/core/test_mnm.py': 1.5, 'test/core/test_turns.py': 0.5}
    assert mutants.stages('mnm_ros/core/disco/disco.py', durations) == [
        ['test/core/test_disco.py'], ['test/core/test_turns.py', 'test/core/test_mnm.py'],
        ['test/core/test_fleet.py']]
    assert mutants.stages('mnm_ros/core/model/counts.py', durations)[0] == [
        'test/core/test_turns.py', 'test/core/test_mnm.py']


@pytest.mark.parametrize('promise', PROMISES, ids=lambda promise: promise.promise)
def test_the_code_that_keeps_a_promise_stands_once(promise: Promise) -> None:
    """Who changes the code changes its mutant, too."""
    assert (ROOT / 'mnm_ros' / promise.module).read_text(encoding='utf-8').count(
        promise.code) == 1
    assert all((ROOT / 'test' / path).exists() for path in promise.tests.split())


def test_each_profile_has_a_mutant() -> None:
    code = (ROOT / 'mnm_ros' / 'messages' / 'profiles.py').read_text(encoding='utf-8')
    profiles = re.findall(r'^([A-Z_]+) = _reliable\(', code, re.MULTILINE)
    assert {promise.promise.split(':')[0] for promise in PROFILES} == {*profiles} > {'STEP'}


def test_a_broken_promise_that_no_test_notices_survives(
        tmp_path: Path, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PYTEST_DISABLE_PLUGIN_AUTOLOAD', '1')    # it begins twice as soon
    (tmp_path / 'mnm_ros').mkdir()
    (tmp_path / 'test').mkdir()
    (tmp_path / 'mnm_ros' / 'half.py').write_text('def half(x):\n    return x / 2\n')
    (tmp_path / 'test' / 'conftest.py').write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--quick', action='store_true')\n")
    (tmp_path / 'test' / 'test_half.py').write_text(
        'import sys\nsys.path.insert(0, "mnm_ros")\nfrom half import half\n\n\n'
        'def test_half():\n    assert half(4) == 2\n')
    promises = [Promise('half', 'half.py', 'x / 2', mutant, 'test_half.py')
                for mutant in ('x / 3', 'x * 0.5')]
    assert mutants.break_promises(tmp_path, promises) == 1
    said = capsys.readouterr().out
    assert '1/2 killed half.py: half' in said and '2/2 SURVIVED half.py: half' in said
    with pytest.raises(SystemExit, match="half.py has 'absent' 0 times"):
        mutants.is_noticed(tmp_path, promises[0]._replace(code='absent'))
    if strength(True, False):    # as pytest ends if it cannot import a module
        monkeypatch.setattr(mutants, 'tested', lambda *_: (2, ''))
    with pytest.raises(SystemExit, match='no test can be run'):
        mutants.is_noticed(tmp_path, promises[0]._replace(mutant=')'))


def test_a_folder_stands_for_its_modules_without_those_ignored() -> None:
    core = mutants.files_of('test/core --ignore test/core/test_fleet.py')
    assert 'test/core/test_mnm.py' in core and 'test/core/test_fleet.py' not in core
    assert mutants.files_of('test/test_messages.py') == ['test/test_messages.py']


@pytest.mark.parametrize('wanted', ['mnm_ros/nodes', 'mnm_ros/core/absent.py', 'absent'])
def test_what_has_no_tests_is_refused(wanted: str) -> None:
    with pytest.raises(SystemExit, match=wanted):
        mutants.modules(ROOT, [wanted])


def test_a_change_that_no_test_notices_is_shown(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip('cosmic_ray', reason='cosmic-ray is not installed')
    (tmp_path / 'half.py').write_text('def half(x):\n    return x / 2\n')
    (tmp_path / 'pyproject.toml').write_text('')
    (tmp_path / 'conftest.py').write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--quick', action='store_true')\n")
    test = tmp_path / 'test_half.py'
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mutants, 'TESTS', {'half.py': 'test_half.py'})
    for checked, survivors in strength(
            (('half(0) == 0', 2),), (('half(4) == 2', 0), ('half(0) == 0', 2))):
        test.write_text(f'from half import half\n\n\ndef test_half():\n    assert {checked}\n')
        shutil.rmtree(tmp_path / '__pycache__', ignore_errors=True)
        assert mutants.run(tmp_path, ['half.py'], sample=9, seed=1) == survivors
        assert f'{2 - survivors} of 2 killed' in capsys.readouterr().out
