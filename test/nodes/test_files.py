# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Files that nodes leave behind."""

from __future__ import annotations

import json
from pathlib import Path

from mnm_ros.nodes.common.files import write_json
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
