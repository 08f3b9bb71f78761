# SPDX-License-Identifier: Apache-2.0

"""The linters of ROS pass as ``colcon test`` runs them; ruff alone knows most of their rules."""

from __future__ import annotations

import importlib
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODE = ['benchmarks', 'examples', 'launch', 'mnm_ros', 'setup.py', 'test']

NO_VERBS = ('a', 'an', 'the', 'this', 'these', 'that', 'what', 'it', 'some', 'same')
"""With which, for ament_pep257, no docstring of a function begins; ruff spares properties."""


@pytest.mark.parametrize('folder', ['benchmarks', 'mnm_ros'])
def test_no_property_begins_as_no_function_may(folder: str) -> None:
    begun = re.compile(r'@(?:cached_)?property\n *def (\w+).*\n *"""\s*(\w+)')
    found = [(path.name, *each) for path in (ROOT / folder).rglob('*.py')
             for each in begun.findall(path.read_text(encoding='utf-8'))]
    assert found and not [each for each in found if each[2].lower() in NO_VERBS]


@pytest.mark.parametrize('folder', [*CODE, 'docs'])
def test_every_file_names_its_license_in_its_first_line(folder: str) -> None:
    found = [ROOT / folder] if folder.endswith('.py') else (ROOT / folder).rglob('*')
    files = [path for path in found if path.suffix in ('.py', '.css', '.js')]
    first = {path: path.read_text(encoding='utf-8').removeprefix('#!/usr/bin/env python3\n')
             for path in files}
    assert files and not [path for path, text in first.items() if not re.match(
        r'(#|//|/\*) SPDX-License-Identifier: Apache-2\.0( \*/)?\n', text)]


@pytest.mark.parametrize('linter', ['flake8', 'pep257'])
def test_the_code_passes(linter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(f'ament_{linter}', reason=f'ament_{linter} is not installed')
    monkeypatch.chdir(ROOT)
    assert importlib.import_module(f'ament_{linter}.main').main(CODE) == 0
