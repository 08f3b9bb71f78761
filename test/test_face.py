# SPDX-License-Identifier: Apache-2.0

"""The names that the package offers are there and documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import mnm_ros
import mnm_ros.core
from mnm_ros.core import errors
from pages import DOCS
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


def test_one_page_documents_all_of_it() -> None:
    text = (DOCS / 'api.rst').read_text(encoding='utf-8')
    assert {*re.findall(r'^\.\. (?:auto|py:)\w+:: ([\w.]+)$', text, re.MULTILINE)} == {
        *(f'mnm_ros.core.{name}' for name in mnm_ros.core.__all__),
        *(f'mnm_ros.{name}' for name in {*mnm_ros.__all__} - {*mnm_ros.core.__all__})}
