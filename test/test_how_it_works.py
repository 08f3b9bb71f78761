# SPDX-License-Identifier: Apache-2.0

"""The page that explains how the program works names methods that call each other as shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
import re

from pages import blocks, DOCS, ROOT
import pytest

PAGE = DOCS / 'extending.md'
LOOP = blocks(PAGE, 'python')[0]
CHAINS = ''.join(blocks(PAGE, 'text')).splitlines()
STEPS = sorted({(one, other) for chain in CHAINS
                for one, other in zip(chain.split(' > '), chain.split(' > ')[1:])})


@lru_cache(maxsize=None)
def classes() -> dict[str, list[tuple[str, ast.ClassDef]]]:
    """Return the classes that the page names, each with the file that has it."""
    found: dict[str, list[tuple[str, ast.ClassDef]]] = {}
    named = re.compile(r'class ({})\b'.format('|'.join({
        *re.findall(r'class (\w+)', LOOP), *re.findall(r'\b[A-Z]\w+', ' '.join(CHAINS))})))
    for path in sorted((ROOT / 'mnm_ros').rglob('*.py')):
        code = path.read_text(encoding='utf-8')
        for node in ast.walk(ast.parse(code if named.search(code) else '')):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append((str(path.relative_to(ROOT)), node))
    return found


def method(name: str) -> ast.FunctionDef:
    """Return the only method of this name, which is written as ``Class.method``."""
    owner, _, called = name.partition('.')
    (_, node), = classes()[owner]
    found, = (each for each in node.body
              if isinstance(each, ast.FunctionDef) and each.name == called)
    return found


def calls(node: ast.AST) -> Iterator[str]:
    """Yield the names of the functions that are called."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            yield each.func.attr if isinstance(each.func, ast.Attribute) else each.func.id


def uses(node: ast.AST) -> set[str]:
    """Return the names that are called, or handed on as functions."""
    return {*calls(node), *(each.attr for each in ast.walk(node)
                            if isinstance(each, ast.Attribute))}


def test_the_loop_fits_on_a_page() -> None:
    assert 20 <= len(LOOP.splitlines()) <= 36


@pytest.mark.parametrize('shown', ast.parse(LOOP).body, ids=lambda node: node.name)
def test_the_loop_calls_what_the_code_calls(shown: ast.ClassDef) -> None:
    (path, _), = classes()[shown.name]
    assert re.search(rf'^class {shown.name}: +# {path}$', LOOP, re.MULTILINE)
    for each in shown.body:
        real = method(f'{shown.name}.{each.name}')
        assert [arg.arg for arg in each.args.args] == [
            arg.arg for arg in real.args.args][:len(each.args.args)], each.name
        assert uses(each) <= uses(real), each.name


@pytest.mark.parametrize(('one', 'other'), STEPS)
def test_one_method_calls_the_other(one: str, other: str) -> None:
    assert method(other)
    assert other.partition('.')[2] in uses(method(one))


def test_the_questions_have_chains_of_calls() -> None:
    assert len(blocks(PAGE, 'text')) == 3 and len(STEPS) > 15
