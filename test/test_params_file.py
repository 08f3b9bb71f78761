# SPDX-License-Identifier: Apache-2.0

"""What is wrong with a parameter file is said with its line."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.core.errors import ParameterError
from mnm_ros.parameters.params_file import check
import pytest


@pytest.mark.parametrize('text, gaps, complaint', [
    ('/**:\n  ros__parameters:\n    - radius\n', False, ':2: found a list below ros__parameters'),
    ('/**:\n  ros__parameters:\n    # radius: 4.0\n', False,
     ':2: found nothing below ros__parameters, expected a mapping from names to values '
     '(with every line below it'),
    ('/**:\n  ros__parameters: 4.0\n', False, ':2: found 4.0 below ros__parameters'),
    ('a:\n  b:\n', False, ":2: found nothing below 'b', expected ros__parameters there"),
    ('a:\n  b:\n  c: [1]\n', True, ":3: found a list below 'c', expected ros__parameters there"),
    ('- explorer\n', False, ':1: found a list, expected a mapping from names of nodes'),
    ('a:\n  ros__parameters:\n    radius:\n', False, ":3: found nothing for 'radius'"),
    ('a:\n  b: 1\n    c: 2\n', False, ':3: not YAML: mapping values are not allowed'),
    ('a:\n  b: "1\n', False, ':3: not YAML: while scanning a quoted scalar'),
    ('a: 1\nb: \x01\n', False, ':2: not YAML: '),
])
def test_what_is_wrong_is_said_with_its_line(
        tmp_path: Path, text: str, gaps: bool, complaint: str) -> None:
    path = tmp_path / 'params.yaml'
    path.write_text(text)
    with pytest.raises(ParameterError) as raised:
        check(path, gaps)
    assert str(raised.value).startswith(f'{path}{complaint}')


def test_what_is_right_is_returned(tmp_path: Path) -> None:
    path = tmp_path / 'params.yaml'
    path.write_text('/**:\n  explorer:\n    ros__parameters: {radius: 4.0}\nother:\n')
    assert check(path, gaps=True) == {
        '/**': {'explorer': {'ros__parameters': {'radius': 4.0}}}, 'other': None}
    path.write_text('')
    assert check(path) == {}


def test_values_are_those_of_ros_where_yaml_knows_more(tmp_path: Path) -> None:
    path = tmp_path / 'params.yaml'
    path.write_text('/**:\n  ros__parameters: {day: 2026-11-22, 1: [yes, 0x10], "n": {2: ~a}}\n')
    assert check(path) == {'/**': {'ros__parameters': {
        'day': '2026-11-22', '1': [True, 16], 'n': {'2': '~a'}}}}


@pytest.mark.parametrize('text', [
    '[/**]: {ros__parameters: {}}', '/**: {ros__parameters: {[radius]: 4.0}}',
    '/**: {ros__parameters: {tables: {{}: 4.0}}}'])
def test_a_name_is_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / 'params.yaml'
    path.write_text(text)
    with pytest.raises(ParameterError, match='params.yaml:1: found a .*, expected a name'):
        check(path)
