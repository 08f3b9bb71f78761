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
from typing import NamedTuple

from packaging.markers import default_environment
from packaging.requirements import Requirement
import pytest

ROOT = Path(__file__).resolve().parents[1]
SETS = {'explore': ('ros',), 'page': ('dashboard',), 'physics': ('physics',),
        'test': ('test', 'docs', 'benchmarks')}
PYTHONS = ('3.10', '3.11', '3.12', '3.13')


class Pin(NamedTuple):
    """A line of requirements/, and the hashes of the files that it allows."""

    requirement: Requirement
    hashes: tuple[str, ...]


def is_for(requirement: Requirement, python: str) -> bool:
    """Return whether a requirement is one with a Python on Linux."""
    marker = requirement.marker
    return marker is None or marker.evaluate({
        **default_environment(), 'python_version': python,
        'python_full_version': f'{python}.4', 'sys_platform': 'linux'})


def pins(name: str) -> Iterator[Pin]:
    """Yield the pins of a set."""
    text = (ROOT / 'requirements' / f'{name}.txt').read_text(encoding='utf-8')
    for line in text.replace('\\\n', ' ').splitlines():
        if not line.startswith('#'):
            requirement, *hashes = line.split(' --hash=')
            yield Pin(Requirement(requirement), tuple(each.strip() for each in hashes))


def wanted(*extras: str) -> list[Requirement]:
    """Return what setup.py names, always and for extras."""
    code = ("import setuptools; setuptools.setup = lambda **given: print([given[key] for key in ("
            "'install_requires', 'extras_require')]); exec(open('setup.py').read())")
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, check=True, capture_output=True,
                          text=True, timeout=240)
    always, by_extra = ast.literal_eval(done.stdout)
    return [Requirement(text) for text in [*always, *(
        text for extra in extras for text in by_extra[extra])]]


def normal(name: str) -> str:
    return re.sub('[-_.]+', '-', name).lower()


@pytest.mark.parametrize('python', PYTHONS)
def test_all_that_setup_names_is_pinned_in_a_version_that_it_allows(python: str) -> None:
    pinned: dict[str, str] = {}
    for name, extras in SETS.items():
        for pin in pins(name):
            if is_for(pin.requirement, python):
                version = str(pin.requirement.specifier)
                assert pinned.setdefault(normal(pin.requirement.name), version) == version
        for requirement in wanted(*extras):
            if not is_for(requirement, python):
                continue
            version = pinned[normal(requirement.name)].removeprefix('==')
            assert requirement.specifier.contains(version), f'{requirement}: {version}'


@pytest.mark.parametrize('name', SETS)
def test_a_pin_is_one_version_with_hashes_from_wherever(name: str) -> None:
    found = list(pins(name))
    assert found
    for pin in found:
        assert re.fullmatch(r'==[\w.+!]+', str(pin.requirement.specifier)) and pin.hashes, pin
        assert all(re.fullmatch('sha256:[0-9a-f]{64}', each) for each in pin.hashes), pin
        assert pin.requirement.url is None
    assert '://' not in (ROOT / 'requirements' / f'{name}.txt').read_text(encoding='utf-8')


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


def test_a_set_is_installed_when_it_is_needed_and_once(clone: Path) -> None:
    assert installed(clone) == ['explore', 'clone']
    assert installed(clone) == []
    assert installed(clone, '_mnm_install page') == ['page']
    assert installed(clone, '_mnm_install page test') == ['test']
    assert installed(clone, '_mnm_install page test') == []


def test_a_set_that_is_pinned_anew_is_installed_anew(clone: Path) -> None:
    installed(clone, '_mnm_install page test')
    with (clone / 'requirements' / 'test.txt').open('a') as file:
        file.write('# another\n')
    assert installed(clone, '_mnm_install page test') == ['test']
    with (clone / 'requirements' / 'explore.txt').open('a') as file:
        file.write('# another\n')
    assert installed(clone) == ['explore', 'clone']
    assert installed(clone, '_mnm_install page') == ['page']


def test_what_failed_is_installed_the_next_time(
        clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('FAILING', 'explore.txt')
    assert installed(clone, status=1) == ['explore']
    monkeypatch.setenv('FAILING', 'page.txt')
    assert installed(clone, '_mnm_install page', status=1) == ['explore', 'clone', 'page']
    monkeypatch.delenv('FAILING')
    assert installed(clone, '_mnm_install page') == ['page']


def test_nothing_is_installed_into_an_environment_that_is_not_ours(
        clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / '.venv').mkdir()
    assert installed(clone, status=1) == []
    monkeypatch.setenv('MNM_PYTHON', str(clone.parent / 'bin' / 'python3'))
    assert installed(clone, '_mnm_install page test') == []
