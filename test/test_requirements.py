# SPDX-License-Identifier: Apache-2.0

"""What the scripts install: pinned and hashed in requirements/, a set of it when it is needed."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import packages_distributions
import os
from pathlib import Path
import re
import runpy
import shutil
import subprocess
import sys
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pages import PAGES, ROOT
import pytest
from test_layers import CODE, IMPORTED, ROS
from test_release import PACKAGE

SETS = {'explore': ('ros',), 'page': ('dashboard',), 'physics': ('physics',),
        'test': ('test', 'docs', 'benchmarks')}


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return what setup.py names for each extra, and always, which is for the extra ''."""
    found: dict[str, Any] = {}
    monkeypatch.setattr('setuptools.setup', lambda **arguments: found.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py')
    return {'': found['install_requires'], **found['extras_require']}


def versions(texts: Iterable[str], python: str) -> dict[str, SpecifierSet]:
    """Return the versions of each package that requirements name for a Python on Linux."""
    environment = {**default_environment(), 'python_version': python,
                   'python_full_version': f'{python}.4', 'sys_platform': 'linux'}
    return {canonicalize_name(each.name): each.specifier for each in map(Requirement, texts)
            if each.marker is None or each.marker.evaluate(environment)}


@pytest.mark.parametrize('python', ['3.10', '3.11', '3.12', '3.13'])
def test_all_that_setup_names_is_pinned_in_a_version_that_it_allows(
        named: dict[str, list[str]], python: str) -> None:
    pinned: dict[str, str] = {}
    for name, extras in SETS.items():
        text = (ROOT / 'requirements' / f'{name}.txt').read_text(encoding='utf-8')
        for package, pin in versions(re.findall(r'^\w[^\\\n]*', text, re.M), python).items():
            version = str(pin).removeprefix('==')
            assert pinned.setdefault(package, version) == version, package
        for text in (text for extra in ('', *extras) for text in named[extra]):
            for package, allowed in versions([text], python).items():
                assert allowed.contains(pinned[package]), text


def test_all_that_is_imported_is_asked_for(named: dict[str, list[str]]) -> None:
    """A condition is for what only nav2 needs: a variable that is not set is empty."""
    asked = {each.text: each.get('condition') for each in PACKAGE.iter('exec_depend')}
    assert {name: condition for name, condition in asked.items() if condition} == (
        dict.fromkeys(('bondpy', 'nav2_msgs'), '$MNM_ROS_NAV2 == true'))
    assert 'ARG MNM_ROS_NAV2=\n' in (ROOT / 'Dockerfile').read_text(encoding='utf-8')
    assert {*ROS} - {*asked} == {'rmf_fleet_msgs'}    # the command that needs them says so
    assert {'python3-' + {'PyYAML': 'yaml'}.get(name, name) for text in named['']
            if (name := Requirement(text).name) != 'setuptools'} <= {*asked}
    homes = packages_distributions()
    known = {*versions((text for texts in named.values() for text in texts), '3.13')}
    of_others = {'fastapi', 'uvicorn', 'typing_extensions'}    # of nicegui, and of mypy
    assert [name for name in IMPORTED - {*ROS, 'mnm_ros', *of_others}
            if not known.intersection(map(canonicalize_name, homes.get(name, known)))] == []


def test_no_page_installs_a_stranger_by_the_name_of_the_package() -> None:
    """It is on no registry, so that anyone could take the name there."""
    assert not re.search(r"""pip3? install\b[^`\n]*?['" ]mnm_ros\b""",
                         '\n'.join([*PAGES.values(), CODE]))


_PYTHON = r"""#!/bin/bash
case "$1 $2" in
    '-m venv') mkdir -p "$3/bin"; cp "$0" "$3/bin/python3" ;;
    '-m pip') echo "$@" >>"$CALLS"; [[ "$*" != *"${FAILING:-nothing}"* ]] ;;
    *) exec PYTHON "$@" ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a clone with the scripts alone, and a Python whose pip writes down what is asked."""
    root, python = tmp_path / 'clone', tmp_path / 'bin' / 'python3'
    for folder in ('scripts', 'requirements'):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / 'setup.py', root)
    python.parent.mkdir()
    python.write_text(_PYTHON.replace('PYTHON', sys.executable))
    python.chmod(0o755)
    monkeypatch.setenv('PATH', f'{python.parent}:{os.environ["PATH"]}')
    monkeypatch.setenv('CALLS', str(tmp_path / 'calls'))
    for name in ('MNM_PYTHON', 'ROS_DISTRO'):
        monkeypatch.delenv(name, raising=False)
    return root


def installed(clone: Path, command: str = '', status: int = 0) -> list[str]:
    """Run a command after scripts/_environment; return what it made pip install."""
    calls = Path(os.environ['CALLS'])
    calls.write_text('')
    done = subprocess.run(['bash', '-euc', f'. scripts/_environment; {command}'], cwd=clone,
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == status, done.stderr
    return [Path(line.split()[-1]).stem for line in calls.read_text().splitlines()]


def test_a_set_is_installed_when_it_is_needed_and_once(
        clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('FAILING', 'explore.txt')
    assert installed(clone, status=1) == ['explore']
    monkeypatch.setenv('FAILING', 'page.txt')
    assert installed(clone, '_mnm_install page', status=1) == ['explore', 'clone', 'page']
    monkeypatch.delenv('FAILING')
    assert installed(clone, '_mnm_install page') == ['page']
    assert installed(clone, '_mnm_install page test') == ['test']
    assert installed(clone, '_mnm_install page test') == []
    with (clone / 'requirements' / 'explore.txt').open('a') as file:
        file.write('# pinned anew\n')
    monkeypatch.setenv('PATH', f'{clone / ".venv" / "bin"}:{os.environ["PATH"]}')    # activated
    assert installed(clone) == ['explore', 'clone']


def test_nothing_is_installed_into_an_environment_that_is_not_ours(
        clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / '.venv').mkdir()
    assert installed(clone, status=1) == []
    monkeypatch.setenv('MNM_PYTHON', str(clone.parent / 'bin' / 'python3'))
    assert installed(clone, '_mnm_install page test') == []
