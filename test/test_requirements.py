# SPDX-License-Identifier: Apache-2.0

"""What the scripts install: pinned and hashed in requirements/, a set of it when it is needed."""

from __future__ import annotations

import os
from pathlib import Path
import re
import runpy
import subprocess
import sys
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
import pytest

ROOT = Path(__file__).resolve().parents[1]
SETS = {'explore': ('ros',), 'page': ('dashboard',), 'physics': ('physics',),
        'test': ('test', 'docs', 'benchmarks')}
PYTHONS = ('3.10', '3.11', '3.12', '3.13')


def pins(name: str, python: str) -> dict[str, str]:
    """Return the version of each package that a set pins for a Python on Linux."""
    lines = (ROOT / 'requirements' / f'{name}.txt').read_text(encoding='utf-8').splitlines()
    found = [Requirement(line.rstrip(' \\')) for line in lines if re.match(r'\w', line)]
    return {normal(each.name): str(each.specifier).removeprefix('==') for each in found
            if is_for(each, python)}


def is_for(requirement: Requirement, python: str) -> bool:
    """Return whether a requirement is one with a Python on Linux."""
    return requirement.marker is None or requirement.marker.evaluate({
        **default_environment(), 'python_version': python,
        'python_full_version': f'{python}.4', 'sys_platform': 'linux'})


def normal(name: str) -> str:
    return re.sub('[-_.]+', '-', name).lower()


def test_all_that_setup_names_is_pinned_in_a_version_that_it_allows(
        monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr('setuptools.setup', lambda **arguments: given.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py')
    for python in PYTHONS:
        pinned: dict[str, str] = {}
        for name, extras in SETS.items():
            found = pins(name, python)
            assert all(pinned.get(each, version) == version for each, version in found.items())
            pinned |= found
            for text in (*given['install_requires'],
                         *(text for extra in extras for text in given['extras_require'][extra])):
                wanted = Requirement(text)
                assert not is_for(wanted, python) or wanted.specifier.contains(
                    pinned[normal(wanted.name)]), f'{wanted}, Python {python}'
        # ``mnm_ros contract`` runs its clauses with pytest, and the first script installs it.
        assert 'pytest' in pins('explore', python)


def test_no_page_installs_a_stranger_by_the_name_of_the_package() -> None:
    """It is on no registry, so that anyone could take the name there."""
    pages = [*ROOT.glob('*.md'), *(ROOT / 'docs').iterdir(), *(ROOT / 'mnm_ros').rglob('*.py')]
    assert not [page for page in pages if page.is_file() and re.search(
        r"""pip3? install [^`\n]*?['" ]mnm_ros\b""", page.read_text(encoding='utf-8'))]


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
    sets = (f'requirements/{name}.txt' for name in SETS)
    for name in ('scripts/_environment', 'setup.py', *sets):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes((ROOT / name).read_bytes())
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
