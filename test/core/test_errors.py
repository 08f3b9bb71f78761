# SPDX-License-Identifier: Apache-2.0

"""The errors of the package are one tree, and say what was found and what was expected."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
import inspect
from pathlib import Path
import re

from mnm_ros.core import (
    errors,
    Hypothesis,
    InvalidTypeError,
    MnmError,
    play,
    Policy,
    Problem,
    RESET,
    UnknownStateError,
)
import pytest
from scripted import ScriptedBase

ROOT = Path(__file__).resolve().parents[2]
TREE = {name: found for name, found in vars(errors).items() if inspect.isclass(found)}
BUILT_IN = {'Exception', 'ImportError', 'KeyError', 'RuntimeError', 'TypeError', 'ValueError'}


def drawn() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each error and those of its bases, as they are drawn."""
    above: list[str] = []
    for indent, name, built_in in re.findall(
            r'^ {4}( *)(\w+Error)(?: \((\w+)\))?(?: {2,}.*)?$', errors.__doc__ or '',
            re.MULTILINE):
        del above[len(indent) // 2:]
        yield name, (*above[-1:], *([built_in] if built_in else []))
        above.append(name)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements of a node, without their expressions, which raise nothing."""
    for name in ('body', 'orelse', 'finalbody', 'handlers', 'cases'):
        for each in getattr(node, name, ()):
            yield each
            yield from statements(each)


@lru_cache(maxsize=None)
def raised() -> tuple[tuple[str, str, str], ...]:
    """Return what is raised in the package: where, the name of the error, and its text as code."""
    return tuple(_raised())


def _raised() -> Iterator[tuple[str, str, str]]:
    for path in sorted([*(ROOT / 'mnm_ros').rglob('*.py'), *(ROOT / 'launch').glob('*.py')]):
        code = path.read_text(encoding='utf-8')
        if not re.search('Error|Exception', code):
            continue
        lines = code.split('\n')
        for node in statements(ast.parse(code)):
            made = node.exc if isinstance(node, ast.Raise) else getattr(node, 'value', None)
            if not isinstance(node, (ast.Raise, ast.Return)) or made is None:
                continue
            name = made.func if isinstance(made, ast.Call) else made
            if isinstance(name, ast.Name) and name.id in {*TREE, *BUILT_IN}:
                yield (f'{path.relative_to(ROOT)}:{node.lineno}', name.id,
                       '\n'.join(lines[made.lineno - 1:made.end_lineno]))


def test_the_tree_is_as_it_is_drawn() -> None:
    found = {name: tuple(base.__name__ for base in kind.__bases__ if base is not Exception)
             for name, kind in TREE.items()}
    assert dict(drawn()) == found and len(found) > 10
    assert all(issubclass(kind, MnmError) for kind in TREE.values())


def test_nothing_else_is_raised_and_each_of_them_is() -> None:
    """Beside errors of the system, and of what is not written yet."""
    found = raised()
    assert [f'{where}: {name}' for where, name, _ in found if name in BUILT_IN] == []
    assert {*TREE} - {name for _, name, _ in found} == {'MnmError'}


def test_a_bad_value_is_refused_with_what_was_expected() -> None:
    """What another error says is passed on as it is; arguments say what is not allowed."""
    assert [f'{where}: {text}' for where, name, text in raised()
            if name in ('InvalidValueError', 'InvalidTypeError', 'MessageError', 'ProtocolError')
            and 'expected' not in text and 'error' not in text
            and not where.startswith(('mnm_ros/console/', 'mnm_ros/command/'))] == []


def test_they_are_caught_as_what_python_has_too() -> None:
    hypothesis = Hypothesis(1, 0, 1, (Policy(3, 1, (3,), ((RESET,),)),))
    with pytest.raises(KeyError) as unknown:
        hypothesis.policy_for(7)
    assert type(unknown.value) is UnknownStateError
    assert str(unknown.value) == 'state 7 has no policy, expected one of [3]'
    with pytest.raises(TypeError, match="the robot returned after action -1 is 'x'") as wrong:
        play(ScriptedBase(0), lambda _: 'x', 1)    # type: ignore[arg-type,return-value]
    assert type(wrong.value) is InvalidTypeError
    for kind in (ValueError, MnmError):
        with pytest.raises(kind, match=r'delta is 2, expected a number in \(0, 1\)'):
            Problem(1, 2.0, 1.0, 2)
