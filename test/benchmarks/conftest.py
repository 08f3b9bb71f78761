# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Lets the tests import the benchmarks, which are programs and no package."""

from __future__ import annotations

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'benchmarks'))


@pytest.fixture
def early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``broken_wheel`` change after a tenth of its steps, in this process."""
    from mnm_ros.simulation import config_files
    text = config_files.find('broken_wheel', 'scenario').read_text(encoding='utf-8')
    assert 'until: 60000' in text
    folder = tmp_path / 'scenarios'
    folder.mkdir()
    (folder / 'broken_wheel.yaml').write_text(text.replace('until: 60000', 'until: 6000'), 'utf-8')
    monkeypatch.setattr(config_files, '_directories', lambda kind: iter([folder]))
