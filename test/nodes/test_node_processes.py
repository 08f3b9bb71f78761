# SPDX-License-Identifier: Apache-2.0

"""What starts nodes for tests."""

from __future__ import annotations

from pathlib import Path

from node_processes import cpu_time, NodeProcess

BUSY = """
import time
while time.process_time() < 0.3:
    pass
"""


def test_what_a_node_has_used_is_counted(tmp_path: Path) -> None:
    """So a test is charged with it."""
    script = tmp_path / 'busy.py'
    script.write_text(BUSY)
    before = cpu_time()
    assert NodeProcess(str(script), tmp_path / 'output.txt', []).wait() == 0
    assert cpu_time() - before >= 0.3
