# SPDX-License-Identifier: Apache-2.0

"""The types of rclpy and of messages in ``stubs`` agree with the installed packages."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import re
import subprocess
import sys
from typing import Any

from pages import ROOT
import pytest

DIFFERENT = (    # on purpose: the stubs have few of the parameters, and names for the C++ side
    'stub does not have', 'metaclass differs', 'implementation is not a type',
    'rclpy.clock.Clock.__init__', 'rclpy.lifecycle.LifecycleNode.__init__',
    'rclpy.node.Handle', 'rclpy.type_support.Srv', '"clock" is not keyword-only')


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
