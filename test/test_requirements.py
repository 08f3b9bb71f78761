# SPDX-License-Identifier: Apache-2.0

"""What the scripts install: pinned and hashed in requirements/, a set of it when it is needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
import os
from pathlib import Path
import re
import subprocess
import sys

from packaging.markers import default_environment
from packaging.requirements import Requirement
import pytest

ROOT = Path(__file__).resolve().parents[1]
SETS = {'explore': ('ros',), 'page': ('dashboard',), 'physics': ('physics',),
        'test': ('test', 'docs', 'benchmarks')}
PYTHONS = ('3.10', '3.11', '3.12', '3.13')


def is_for(requirement: Requirement, python: str) -> bool:
    """Return whether a requirement is one with a Python on Linux."""
    marker = requirement.marker
    return marker is None or marker.evaluate({
        **default_environment(), 'python_version': python,
        'python_full_version': f'{python}.4', 'sys_platform': 'linux'})


def pins(name: str) -> Iterator[tuple[Requirement, list[str]]]:
    """Yield the pins of a set, each with the hashes of the files that it allows."""
    text = (ROOT / 'requirements' / f'{name}.txt').read_text(encoding='utf-8')
    for line in text.replace('\\\n', ' ').splitlines():
        if not line.startswith('#'):
            requirement, *hashes = line.split(' --hash=')
            yield Requirement(requirement), [each.strip() for each in hashes]


@pytest.fixture(scope='module')
def wanted() -> dict[str, list[Requirement]]:
    """Return what setup.py names, always and for each extra."""
    code = ("import setuptools; setuptools.setup = lambda **given: print([given[key] for key in ("
            "'install_requires', 'extras_require')]); exec(open('setup.py').read())")
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, check=True, capture_output=True,
                          text=True, timeout=240)
    always, by_extra = ast.literal_eval(done.stdout)
    return {name: [*map(Requirement, texts)] for name, texts in {'': always, **by_extra}.items()}


@pytest.mark.parametrize('python', PYTHONS)
def test_all_that_setup_names_is_pinned_in_a_version_that_it_allows(
        wanted: dict[str, list[Requirement]], python: str) -> None:
    pinned: dict[str, str] = {}
    for name, extras in SETS.items():
        for requirement, _ in pins(name):
            if is_for(requirement, python):
                version = str(requirement.specifier).removeprefix('==')
                assert pinned.setdefault(normal(requirement.name), version) == version
        for requirement in (each for extra in ('', *extras) for each in wanted[extra]):
            if is_for(requirement, python):
                version = pinned[normal(requirement.name)]
                assert requirement.specifier.contains(version), f'{requirement}: {version}'


def normal(name: str) -> str:
    return re.sub('[-_.]+', '-', name).lower()


def test_a_pin_is_one_version_with_hashes_from_wherever() -> None:
    for requirement, hashes in (pin for name in SETS for pin in pins(name)):
        assert re.fullmatch(r'==[\w.+!]+', str(requirement.specifier)), requirement
        assert hashes and all(re.fullmatch('sha256:[0-9a-f]{64}', each) for each in hashes)
        assert requirement.url is None


def test_what_getting_started_types_is_installed_by_its_first_script() -> None:
    """``mnm_ros contract`` runs its clauses with pytest."""
    assert {'pytest', 'pluggy', 'iniconfig'} <= {
        requirement.name for requirement, _ in pins('explore')}


def test_nothing_is_installed_by_the_name_of_the_package() -> None:
    """It is on no registry, so that anyone could take the name there."""
    files = [path for folder in ('mnm_ros', 'docs', 'examples', 'launch')
             for path in (ROOT / folder).rglob('*') if path.suffix in ('.py', '.md', '.ipynb')]
    found = [f'{path}: {line}' for path in (*files, *ROOT.glob('*.md'))
             for line in path.read_text(encoding='utf-8').splitlines()
             if re.search(r"""pip3? install [^`]*?['" ]mnm_ros\b""", line)]
    assert not found


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
