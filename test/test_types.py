# SPDX-License-Identifier: Apache-2.0

"""What the type checker knows of rclpy and of messages: it refuses mistakes, and it is true."""

from __future__ import annotations

import ast
from collections.abc import Iterator
import inspect
from pathlib import Path
import re
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
STUBS = ROOT / 'stubs'

CALLS = """
from mnm_ros import messages
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.node_scope import NodeInterface, NodeScope
from rclpy.node import Node
from std_msgs.msg import Int64, String
from std_srvs.srv import SetBool, Trigger

def look() -> None: ...
def take(message: Int64) -> None: ...
def change(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
    return response

def of_node(node: Node) -> None:
    numbers = node.create_publisher(Int64, 'numbers', 10)
    numbers.publish(Int64(data=1))
    numbers.publish(String(data='1'))  # arg-type
    numbers.publish(Int64(datum=1))  # call-arg
    numbers.publish(Int64(data='1'))  # arg-type
    node.create_publisherr(1)  # attr-defined
    node.create_publisher(Int64, 'numbers')  # call-arg
    node.create_subscription(Int64, 'numbers', take, 10)
    node.create_subscription(String, 'numbers', take, 10)  # arg-type
    node.create_timer(1.0, look)
    node.create_timer(1.0, take)  # arg-type
    node.create_service(Trigger, 'change', change)
    node.create_service(SetBool, 'change', change)  # arg-type
    node.create_client(Trigger, 'change').call_async(Trigger.Request())
    node.create_client(Trigger, 'change').call_async(SetBool.Request())  # arg-type
    node.get_logger().information('there')  # attr-defined

def of_part(node: NodeScope) -> None:
    part: NodeInterface = node
    node.create_publisher(Int64, 'numbers', 10).publish(Int64(data=1))
    node.create_publisher(Int64, 'numbers', 10).publish(String())  # arg-type
    part.create_publisher(Int64, 'numbers', 10).publish(String())  # arg-type
    part.create_timer('1.0', look)  # arg-type
    node.get_clock().now().nanosecond  # attr-defined
    whole: Node = node  # assignment
    every(1.0, node, look)
    messages.hear(node, Int64, 'numbers', messages.STEP, messages.decode_count, print)
    messages.hear(node, String, 'numbers', messages.STEP, messages.decode_count)  # arg-type
"""
"""Calls that are right, and those that are refused, with the code of the error."""

IN_STUBS_ALONE = {'rclpy.node.Handle', 'rclpy.type_support.Srv'}
"""What has no such name in rclpy: a class of its C++ side, and a base of all types of services."""


def test_refuses_misspelt_calls_and_wrong_messages(tmp_path, monkeypatch):
    api = pytest.importorskip('mypy.api')
    monkeypatch.chdir(ROOT)    # where the cache is
    monkeypatch.setenv('MYPYPATH', str(ROOT))
    path = tmp_path / 'calls.py'
    path.write_text(CALLS, encoding='utf-8')
    said, broken, _ = api.run(['--config-file', 'pyproject.toml', '--hide-error-context',
                               '--no-pretty', str(path)])
    assert not broken, broken
    found: dict[int, set[str]] = {}
    for line, code in re.findall(r'calls\.py:(\d+): error: .*\[([a-z-]+)\]$', said, re.MULTILINE):
        found.setdefault(int(line), set()).add(code)
    expected = {number: {line.partition('  # ')[2]}
                for number, line in enumerate(CALLS.splitlines(), 1) if '  # ' in line}
    assert found == expected, said


def stubs() -> Iterator[Any]:
    """Yield each class and function of the stubs, with the name of its module."""
    for path in sorted(STUBS.rglob('*.pyi')):
        module = '.'.join(path.relative_to(STUBS).with_suffix('').parts).removesuffix('.__init__')
        for stated in ast.parse(path.read_text(encoding='utf-8')).body:
            if isinstance(stated, (ast.ClassDef, ast.FunctionDef)):
                if f'{module}.{stated.name}' not in IN_STUBS_ALONE:
                    yield pytest.param(module, stated, id=f'{module}.{stated.name}')


@pytest.mark.parametrize(('module', 'stated'), [*stubs()])
def test_says_nothing_that_is_not_so(module, stated):
    there = pytest.importorskip(module)    # Humble has no EventsExecutor
    if isinstance(stated, ast.FunctionDef):
        check_parameters(stated, getattr(there, stated.name))
    else:
        check_class(stated, getattr(there, stated.name))


def check_class(stated: ast.ClassDef, there: Any) -> None:
    fields = getattr(there, 'get_fields_and_field_types', dict)()
    said = {}
    for member in stated.body:
        if isinstance(member, ast.ClassDef):
            check_class(member, getattr(there, member.name))
        elif isinstance(member, ast.FunctionDef):
            # Humble tells no node of parameters that were set, and mnm_ros looks for that.
            if member.name == 'add_post_set_parameters_callback' and not hasattr(
                    there, member.name):
                continue
            assert hasattr(there, member.name), f'{there} has no {member.name}'
            if 'property' not in map(ast.unparse, member.decorator_list):
                check_parameters(member, getattr(there, member.name))
        elif isinstance(member, (ast.Assign, ast.AnnAssign)):
            name = ast.unparse(getattr(member, 'target', None) or member.targets[0])
            if name in fields:
                said[name] = ast.unparse(member.annotation)
            else:
                assert hasattr(there, name) or sets(there, name), f'{there} has no {name}'
    assert said == {name: python_type(fields[name]) for name in said}


def sets(there: type, name: str) -> bool:
    """Return whether a class, or the module of a base of it, sets an attribute of instances."""
    modules = {inspect.getmodule(base) for base in there.__mro__ if base is not object}
    return any(re.search(rf'\bself\.{name}\b.* = ', inspect.getsource(module))
               for module in modules)


def check_parameters(stated: ast.FunctionDef, there: Any) -> None:
    try:
        parameters = inspect.signature(there).parameters
    except ValueError:    # it is of C++
        return
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    positional = [each.arg for each in stated.args.args]
    missing = {each.arg for each in stated.args.kwonlyargs} - parameters.keys()
    assert not missing, f'{there} has no parameter {missing}, expected some of {[*parameters]}'
    assert positional == list(parameters)[:len(positional)]


def python_type(ros: str) -> str:
    """Return what a field of a ROS type is for the type checker."""
    sequence = re.fullmatch(r'sequence<(.+?)(?:, \d+)?>', ros)
    if sequence:    # 64-bit numbers alone are appended to
        kind = 'MutableSequence' if sequence[1] == 'int64' else 'Sequence'
        return f'{kind}[{python_type(sequence[1])}]'
    if ros.startswith('double['):
        return 'NDArray[np.float64]'
    words = {'boolean': 'bool', 'octet': 'bytes', 'string': 'str', 'double': 'float',
             'float': 'float'}
    return words.get(ros) or (
        'int' if re.fullmatch(r'u?int\d+', ros) else ros.rpartition('/')[2])
