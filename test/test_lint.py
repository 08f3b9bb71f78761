# SPDX-License-Identifier: Apache-2.0

"""The linters of ROS pass as ``colcon test`` runs them, and every file names its licence."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODE = ['benchmarks', 'examples', 'launch', 'mnm_ros', 'setup.py', 'test']


def test_every_file_names_its_licence() -> None:
    files = [path for folder in (*CODE, 'docs') for path in (ROOT / folder).rglob('*')
             if path.suffix in ('.py', '.css', '.js')]
    assert files and not [path for path in files if 'SPDX-License-Identifier: Apache-2.0'
                          not in path.read_text(encoding='utf-8')[:99]]


@pytest.mark.parametrize('linter', ['flake8', 'pep257'])
def test_the_code_passes(linter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(f'ament_{linter}', reason=f'ament_{linter} is not installed')
    monkeypatch.chdir(ROOT)
    assert importlib.import_module(f'ament_{linter}.main').main(CODE) == 0
