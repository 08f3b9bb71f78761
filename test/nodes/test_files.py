# SPDX-License-Identifier: Apache-2.0

"""Files that nodes leave behind."""

from __future__ import annotations

import json
from pathlib import Path

from mnm_ros.nodes.common.spin import write_json
import pytest


def test_a_file_is_replaced_as_a_whole_and_readable_like_any_other(tmp_path: Path) -> None:
    ordinary = tmp_path / 'ordinary'
    ordinary.touch()
    path = tmp_path / 'new' / 'record'
    for steps in (1, 2):
        assert write_json(path, {'steps': steps}) == path
        assert json.loads(path.read_text()) == {'steps': steps}
    assert path.stat().st_mode == ordinary.stat().st_mode
    with pytest.raises(TypeError):
        write_json(path, {'steps': object()})
    assert json.loads(path.read_text()) == {'steps': 2} and list(path.parent.iterdir()) == [path]
