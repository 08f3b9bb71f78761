# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

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


@pytest.mark.parametrize('linter, paths', [
    ('flake8', CODE), ('pep257', CODE), ('copyright', [*CODE, 'CONTRIBUTING.md', 'LICENSE'])])
def test_the_code_passes(
        linter: str, paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(f'ament_{linter}', reason=f'ament_{linter} is not installed')
    monkeypatch.chdir(ROOT)
    assert importlib.import_module(f'ament_{linter}.main').main(paths) == 0
