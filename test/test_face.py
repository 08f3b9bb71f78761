# SPDX-License-Identifier: Apache-2.0

"""The names that the package offers are there and documented."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
import re

import mnm_ros
import mnm_ros.core
from mnm_ros.core import errors
from pages import DOCS, ROOT
import pytest

FACES = {face.__name__: face for face in (mnm_ros, mnm_ros.core)}


@pytest.mark.parametrize('face', FACES)
def test_a_name_is_what_the_type_checker_takes_it_for(face: str) -> None:
    module = FACES[face]
    block, = (block for block in ast.parse(inspect.getsource(module)).body
              if isinstance(block, ast.If))
    typed = {alias.asname or alias.name: (each.module or '', alias.name) for each in block.body
             if isinstance(each, ast.ImportFrom) for alias in each.names}
    assert {*typed} == {*module.__all__} <= {*dir(module)}
    assert {name for name, found in vars(errors).items() if inspect.isclass(found)} < {*typed}
    for name, (home, called) in typed.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), called), name
    with pytest.raises(AttributeError, match=f"module '{face}' has no attribute 'nothing'"):
        module.nothing    # noqa: B018


def documented(part: str) -> list[str]:
    return re.findall(r'^\.\. (?:auto|py:)\w+:: ([\w.]+)$', part, re.MULTILINE)


STABLE, UNSTABLE = map(documented, (DOCS / 'api.rst').read_text(encoding='utf-8').split(
    '\nNot yet stable\n'))


def test_one_page_documents_all_of_it() -> None:
    assert sorted([*STABLE, *UNSTABLE]) == sorted([
        *(f'mnm_ros.core.{name}' for name in mnm_ros.core.__all__),
        *(f'mnm_ros.{name}' for name in {*mnm_ros.__all__} - {*mnm_ros.core.__all__})])


def test_the_stable_names_are_few() -> None:
    of_the_core = sum(name.startswith('mnm_ros.core.') for name in STABLE)
    assert of_the_core <= 30 and len(STABLE) - of_the_core <= 30


@pytest.mark.parametrize('example', sorted(ROOT.glob('examples/*.py')), ids=lambda path: path.name)
def test_an_example_uses_stable_names_alone(example: Path) -> None:
    names = {name.rpartition('.')[2] for name in STABLE}
    used = {alias.name for node in ast.walk(ast.parse(example.read_text(encoding='utf-8')))
            if isinstance(node, ast.ImportFrom) and node.module in FACES for alias in node.names}
    assert used and used <= names
