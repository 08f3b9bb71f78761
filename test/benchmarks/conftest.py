# SPDX-License-Identifier: Apache-2.0

"""A scenario that changes early."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``broken_wheel`` change after a tenth of its steps, in this process."""
    from mnm_ros.simulation import config_files
    text = config_files.find('broken_wheel', 'scenario').read_text(encoding='utf-8')
    assert 'until: 60000' in text
    folder = tmp_path / 'scenarios'
    folder.mkdir()
    (folder / 'broken_wheel.yaml').write_text(text.replace('until: 60000', 'until: 6000'), 'utf-8')
    monkeypatch.setattr(config_files, 'config_folders', lambda kind: iter([folder]))
