# SPDX-License-Identifier: Apache-2.0

"""Files that declare successors: what they say, and the line of what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
import re

from mnm_ros.core.errors import FileError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.declaration_file import load
import pytest

DOOR = Declaration({0: ((0, 1), ()), -7: ((2**63 - 1,), (0, -7))}, {0: ((0.25, 0.75), ())})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'flat.yaml'


def test_yaml(path: Path) -> None:
    path.write_text("""
successors:
  0: [[0, 1], []]    # never the second one
  -7:
    - [9223372036854775807]
    - [0, -7]
chances: {0: [[0.25, 0.75], []]}
""")
    assert load(path, 2) == DOOR


def test_json(path: Path) -> None:
    path.write_text(json.dumps(DOOR.to_json()))
    assert load(path, 2) == DOOR
    path.write_text('{"successors": {}}')
    assert load(path, 2) == Declaration()


@pytest.mark.parametrize('text, line, complaint', [
    ('', 1, 'found nothing, expected a declaration'),
    ('chances: {}', 1, 'successors is missing'),
    ('successors: {}\nways: {}', 2, "unknown key 'ways' in a declaration, expected successors"),
    ('successors:\n  0: [[1], [0]]\n  1: [[0]]', 3, 'successors of state 1 has 1 lists, expected'),
    ('successors:\n  0: [[1],\n      7]', 3, 'found 7, expected a list'),
    ('successors:\n  0: 7', 2, 'found 7, expected one list for each action'),
    ('successors:\n  0: [[1],\n      [one]]', 3, "found 'one', expected a state"),
    ('successors:\n  0: [[1],\n      [9223372036854775808]]', 3, 'does not fit into 64 bits'),
    ('successors:\n  home: [[1], [0]]', 2, 'successors has the entry "home", expected the number'),
    ('successors:\n  1.5: [[1], [0]]', 2, 'found 1.5, expected a state'),
    ('successors:\n  0: [[1], [0]]\n  "0": [[1], [0]]', 3, 'state 0 appears twice, expected it'),
    ('successors:\n  0: [[1], [0]]\n  1: [[1], [0, 0]]', 3,
     'successors of state 1, action 1: [0, 0], expected distinct states'),
    ('successors:\n  0: [[1], [0]]\nchances:\n  0: [[1], [0.9]]', 4,
     'chances of state 0, action 1: sum to 0.9, expected 1'),
    ('successors:\n  0: [[1], [0]]\nchances:\n  0: [[1],\n      [2]]', 5, 'found 2, expected a'),
    ('successors:\n  0: [[1], [0]]\nchances:\n  1: [[1], [1]]', 4,
     'chances of state 1 without its successors, expected both'),
])
def test_what_is_wrong_has_its_line(path: Path, text: str, line: int, complaint: str) -> None:
    path.write_text(text)
    with pytest.raises(FileError, match=re.escape(f'{path}:{line}: ') + '.*'
                       + re.escape(complaint)):
        load(path, 2)


def test_no_file(path: Path) -> None:
    with pytest.raises(FileError, match='cannot be read .*, expected a declaration file'):
        load(path, 2)
