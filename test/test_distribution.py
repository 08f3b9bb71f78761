# SPDX-License-Identifier: Apache-2.0

"""The source distribution and the wheel have all that an installation needs, and work."""

from __future__ import annotations

from collections.abc import Iterator
from configparser import ConfigParser
from email import message_from_string
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tarfile
from zipfile import ZipFile

import mnm_ros
from pages import ROOT
import pytest
from tiers import thorough

BUILD = "from setuptools import build_meta; print(build_meta.build_{}('.'))"


def run(*words: str | Path, cwd: Path) -> str:
    """Return what a program prints that knows nothing of this source tree."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('PYTHONPATH', 'PYTHONDONTWRITEBYTECODE')}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, text=True,
                          capture_output=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope='module')
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel that is built from the source distribution of what Git has."""
    clone = tmp_path_factory.mktemp('clone')
    if not shutil.which('git') or not (ROOT / '.git').exists():
        pytest.skip('this is no clone, or there is no Git')
    listed = subprocess.run(['git', 'ls-files', '-z'], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split('\0')):
        if (ROOT / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name, follow_symlinks=False)
    source = clone / run(sys.executable, '-c', BUILD.format('sdist'), cwd=clone).split()[-1]
    folder = tmp_path_factory.mktemp('source')
    with tarfile.open(source) as archive:
        archive.extractall(folder)
    unpacked, = folder.iterdir()
    return unpacked / run(
        sys.executable, '-c', BUILD.format('wheel'), cwd=unpacked).split()[-1]


def of_package() -> Iterator[str]:
    for path in sorted((ROOT / 'mnm_ros').rglob('*')):
        if path.is_file() and path.suffix != '.pyc':
            yield str(path.relative_to(ROOT))


def test_the_wheel_has_what_an_installation_needs(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        about, = (name for name in names if name.endswith('.dist-info/METADATA'))
        metadata = message_from_string(archive.read(about).decode())
        entries = ConfigParser()
        entries.read_string(archive.read(about.replace('METADATA', 'entry_points.txt')).decode())
    assert {*of_package()} == {name for name in names if name.startswith('mnm_ros/')}
    shared = {name.partition('/data/')[2] for name in names if '/data/' in name}
    for folder, pattern in (('config', '*'), ('examples', '*.py'), ('launch', '*.launch.py')):
        files = [path for path in (ROOT / folder).rglob(pattern) if path.is_file()]
        assert files and {f'share/mnm_ros/{path.relative_to(ROOT)}' for path in files} <= shared
    assert {name.split('/')[0] for name in names} == {
        'mnm_ros', *(f'mnm_ros-{mnm_ros.__version__}.{kind}' for kind in ('data', 'dist-info'))}
    executables = {path.name for path in (ROOT / 'executables').iterdir()}
    assert {*entries['console_scripts']} == {'mnm_ros', *executables}
    assert metadata['Name'] == 'mnm_ros' and metadata['Version'] == mnm_ros.__version__
    assert {'gym', 'ros', 'study'} <= {*metadata.get_all('Provides-Extra')}
    assert metadata.get_payload().startswith('# ')


@thorough(shown_by='test_distribution.py::test_the_wheel_has_what_an_installation_needs')
def test_it_is_installed_into_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, '-m', 'venv', tmp_path / 'env', cwd=tmp_path)
    python = tmp_path / 'env' / 'bin' / 'python3'
    run(python, '-m', 'pip', 'install', '-q', f'{wheel}[gym]', cwd=tmp_path)
    told = run(tmp_path / 'env' / 'bin' / 'mnm_ros', '--version', cwd=tmp_path)
    assert told == f'mnm_ros {mnm_ros.__version__}\n'
    examples = tmp_path / 'env' / 'share' / 'mnm_ros' / 'examples'
    told = run(python, examples / 'gymnasium_lake.py', cwd=tmp_path)
    assert 'in state 15 after 6 steps' in told
    assert re.search(r"pandas cannot be imported: .*'\.\[study\]'", told)
    told = run(python, '-c', "import mnm_ros; print(mnm_ros.load_scenario('two_rooms').actions)",
               cwd=tmp_path)
    assert "'north'" in told
