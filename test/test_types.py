# SPDX-License-Identifier: Apache-2.0

"""The types of rclpy and of messages in ``stubs`` agree with the installed packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
import inspect
import os
from pathlib import Path
import re
import subprocess
import sys
from typing import Any

from pages import ROOT
import pytest
from tiers import thorough

DIFFERENT = (    # on purpose: the stubs have few of the parameters, and names for the C++ side
    'stub does not have', 'metaclass differs', 'implementation is not a type',
    'rclpy.clock.Clock.__init__', 'rclpy.lifecycle.LifecycleNode.__init__',
    'rclpy.node.Handle', 'rclpy.type_support.Srv', '"clock" is not keyword-only')


@pytest.mark.parametrize('path', sorted((ROOT / 'stubs' / 'rclpy').rglob('*.pyi')),
                         ids=lambda path: path.stem)
def test_what_the_stubs_state_of_rclpy_is_there(path: Path) -> None:
    """Each class and function, with the arguments that the stubs give it."""
    name = '.'.join(path.relative_to(ROOT / 'stubs').with_suffix('').parts)
    module = pytest.importorskip(name.removesuffix('.__init__'))    # Humble lacks one
    wrong = [*misstated(ast.parse(path.read_text(encoding='utf-8')), module)]
    assert [each for each in wrong if each not in ('Handle', 'Srv')] == []    # of the C++ side


def misstated(stated: ast.Module | ast.ClassDef, there: Any) -> Iterator[str]:
    """Yield the names that are not there, or that take other arguments."""
    for member in stated.body:
        if not isinstance(member, (ast.ClassDef, ast.FunctionDef)):
            continue
        found = getattr(there, member.name, None)
        if found is None:
            yield member.name
        elif isinstance(member, ast.ClassDef):
            yield from misstated(member, found)
        elif callable(found) and not any(
                getattr(each, 'id', '') == 'overload' for each in member.decorator_list):
            with suppress(ValueError):    # what is made of C has no signature
                if not takes(found, member.args):
                    yield member.name


def takes(function: Any, stated: ast.arguments) -> bool:
    """Say whether a function can be called as its stub says; ``self`` is on one side alone."""
    real = {name: each for name, each in inspect.signature(function).parameters.items()
            if name not in ('self', 'cls')}
    by_place, by_name = ([arg.arg for arg in args if arg.arg not in ('self', 'cls')]
                         for args in (stated.args, stated.kwonlyargs))
    places = [name for name, each in real.items()
              if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    any_name = any(each.kind is each.VAR_KEYWORD for each in real.values())
    needed = [name for name, each in real.items()
              if each.default is each.empty and each.kind not in (
                  each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    return (by_place == places[:len(by_place)] and {*needed} <= {*by_place, *by_name}
            and (any_name or {*by_name} <= {*real}))


@thorough('test_types.py::test_what_the_stubs_state_of_rclpy_is_there '
          'test_types.py::test_a_message_has_the_fields_that_the_stubs_state')
def test_the_stubs_state_what_is_installed() -> None:
    for module in ('mypy.stubtest', 'rclpy.experimental'):    # Humble has no EventsExecutor
        pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, '-m', 'mypy.stubtest', '--ignore-missing-stub', '--concise',
         '--mypy-config-file', 'pyproject.toml', *os.listdir(ROOT / 'stubs')],
        cwd=ROOT, env={**os.environ, 'MYPYPATH': 'stubs'}, capture_output=True, text=True,
        timeout=240)
    assert not done.stderr and 'rclpy.' in done.stdout, done.stderr
    assert [line for line in done.stdout.splitlines()
            if not any(known in line for known in DIFFERENT)] == []


@pytest.mark.parametrize('path', [*(ROOT / 'stubs').glob('*/*.pyi')],
                         ids=lambda path: f'{path.parent.name}.{path.stem}')
def test_a_message_has_the_fields_that_the_stubs_state(path: Path) -> None:
    """``stubtest`` does not see fields."""
    module = pytest.importorskip(f'{path.parent.name}.{path.stem}')
    check_fields(ast.parse(path.read_text(encoding='utf-8')), module)


def check_fields(stated: ast.Module | ast.ClassDef, there: Any) -> None:
    fields = getattr(there, 'get_fields_and_field_types', dict)()
    for member in stated.body:
        if isinstance(member, ast.ClassDef) and hasattr(there, member.name):
            check_fields(member, getattr(there, member.name))
        elif isinstance(member, ast.AnnAssign) and fields:
            name = ast.unparse(member.target)
            if not name.isupper():    # a constant is no field
                assert ast.unparse(member.annotation) == python_type(fields[name]), (there, name)


def python_type(ros: str) -> str:
    """Return what a field of a ROS type is for the type checker."""
    sequence = re.fullmatch(r'sequence<(.+?)(?:, \d+)?>', ros)
    if sequence:    # 64-bit numbers alone are appended to
        kind = 'MutableSequence' if sequence[1] == 'int64' else 'Sequence'
        return f'{kind}[{python_type(sequence[1])}]'
    words = {'boolean': 'bool', 'octet': 'bytes', 'string': 'str', 'double': 'float',
             'double[36]': 'NDArray[np.float64]'}
    return words.get(ros) or re.sub(r'^u?int\d+$', 'int', ros.rpartition('/')[2])
