# SPDX-License-Identifier: Apache-2.0

"""What is to be imported of the package is one short list, and nothing else is shown to users."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
import importlib
import inspect
import json
from pathlib import Path
import re
import subprocess
import sys
import typing
from typing import Any

import mnm_ros
import mnm_ros.core
from mnm_ros.core import errors, Exploration
import pytest

ROOT = Path(__file__).resolve().parents[1]
FACES = {face.__name__: face for face in (mnm_ros, mnm_ros.core)}
WITH_ROS = {
    'CmpSim', 'EVENTS', 'Explorer', 'Goal', 'HEARTBEAT', 'LATCHED', 'Model', 'NavigatorClient',
    'PolicyAnswer', 'PolicySet', 'RobotSide', 'STEP', 'decode_known_states', 'decode_model',
    'decode_policy', 'decode_trust', 'decode_way', 'run'}
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md')),
         *sorted((ROOT / 'docs').glob('*.ipynb')), *sorted((ROOT / 'examples').glob('*.py'))]
_IMPORT = re.compile(r'^ *(?:from (mnm_ros[\w.]*) import (\([^)]*\)|.*)|import (mnm_ros[\w.]*))',
                     re.MULTILINE)


def shown(page: Path) -> Iterator[str]:
    """Yield the code in Python on a page."""
    text = page.read_text(encoding='utf-8')
    if page.suffix == '.py':
        yield text
    elif page.suffix == '.ipynb':
        yield from (''.join(cell['source']) for cell in json.loads(text)['cells']
                    if cell['cell_type'] == 'code')
    else:
        yield from re.findall(r'^ *```python\n(.*?)^ *```', text, re.DOTALL | re.MULTILINE)


def imported(page: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of all that code on a page imports of the package."""
    for code in shown(page):
        for module, names, alone in _IMPORT.findall(code):
            if alone:
                yield alone, ''
            for name in re.sub(r'#.*|[()]', '', names).split(','):
                if name.strip():
                    yield module, name.split(' as ')[0].strip()


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_what_users_are_shown_is_imported_from_the_face(page: Path) -> None:
    assert [(module, name) for module, name in imported(page)
            if module not in FACES or name not in FACES[module].__all__] == []


def test_code_of_users_was_found() -> None:
    found = [each for page in PAGES for each in imported(page)]
    assert len({*found}) > 15 and ('mnm_ros', 'RobotSide') in found


@pytest.mark.parametrize('face', FACES)
def test_the_list_is_sorted_and_each_name_is_there(face: str) -> None:
    module = FACES[face]
    assert module.__all__ == sorted({*module.__all__}) and {*module.__all__} <= {*dir(module)}
    tree = ast.parse(Path(module.__file__ or '').read_text(encoding='utf-8'))
    typed: dict[str, tuple[str, str]] = {}
    for block in tree.body:
        if isinstance(block, ast.If):    # what the type checker is told
            typed.update({alias.asname or alias.name: (each.module or '', alias.name)
                          for each in block.body if isinstance(each, ast.ImportFrom)
                          for alias in each.names})
    assert {*typed} == {*module.__all__}
    for name, (home, called) in typed.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), called), name
    with pytest.raises(AttributeError, match=f"module '{face}' has no attribute 'nothing'"):
        module.nothing    # noqa: B018


def test_one_page_documents_the_face_and_nothing_else() -> None:
    text = (ROOT / 'docs' / 'api.rst').read_text(encoding='utf-8')
    documented = re.findall(r'^\.\. (?:auto|py:)\w+:: ([\w.]+)$', text, re.MULTILINE)
    assert sorted(documented) == sorted(
        [f'mnm_ros.core.{name}' for name in mnm_ros.core.__all__]
        + [f'mnm_ros.{name}' for name in mnm_ros.__all__ if name not in mnm_ros.core.__all__])


def test_importing_the_face_imports_nothing_of_what_it_shows() -> None:
    code = ('import sys; before = {*sys.modules}; import mnm_ros, mnm_ros.core; '
            'print(*sorted(name for name in {*sys.modules} - before if name[:3] == "mnm"), '
            '"rclpy" in sys.modules, "numpy" in sys.modules, "importlib.metadata" in sys.modules)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60,
                          check=True, cwd=ROOT)
    assert done.stdout.split() == [
        'mnm_ros', 'mnm_ros.core', 'mnm_ros.version', 'False', 'False', 'False']


def test_what_needs_no_ros_is_had_without() -> None:
    code = ('import sys; sys.modules["rclpy"] = None\nimport mnm_ros\n'
            'for name in mnm_ros.__all__:\n'
            '    try: getattr(mnm_ros, name)\n'
            '    except ImportError: print(name)\n')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          timeout=60, check=True, cwd=ROOT)
    assert {*done.stdout.split()} == WITH_ROS


def test_every_error_is_in_both_faces() -> None:
    tree = {name for name, found in vars(errors).items() if inspect.isclass(found)}
    assert len(tree) > 10
    assert [(face, name) for face, module in FACES.items()
            for name in sorted(tree - {*module.__all__})] == []


def named_in(hint: Any) -> Iterator[type]:
    """Yield the classes that an annotation names, also within others."""
    for each in hint if isinstance(hint, (list, tuple)) else (
            typing.get_origin(hint), *typing.get_args(hint)) if typing.get_args(hint) else ():
        yield from named_in(each)
    if inspect.isclass(hint):
        yield hint


def annotated(name: str, shown: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is annotated of a class or a function: its fields, and its public methods."""
    if inspect.isclass(shown):
        yield name, shown
        for member in dir(shown):
            if member in ('__init__', '__call__') or not member.startswith('_'):
                found = inspect.getattr_static(shown, member)
                for wrapper in ('fget', '__func__', 'func'):    # property, classmethod, cached
                    found = getattr(found, wrapper, None) or found
                if inspect.isfunction(found) and found.__module__.startswith('mnm_ros'):
                    yield f'{name}.{member}', found
    elif inspect.isfunction(shown):
        yield name, shown


def test_the_face_is_closed() -> None:
    """What its methods take and return, and the fields of its classes, are of the face, too."""
    names = {name: getattr(module, name) for module in FACES.values() for name in module.__all__}
    face = [*filter(inspect.isclass, names.values())]
    found = {(where, each.__qualname__) for name, shown in names.items()
             for where, owner in annotated(name, shown)
             for of, hint in typing.get_type_hints(owner, localns=names).items()
             if not of.startswith('_') for each in named_in(hint)
             if each.__module__.startswith('mnm_ros') and each not in face}
    assert sorted(found) == []
    assert ('Exploration.knowledge', Exploration.knowledge) in annotated(
        'Exploration', Exploration)
    hint = typing.get_type_hints(Exploration.knowledge)['names']
    assert {*named_in(hint)} >= {Mapping, int, str}
