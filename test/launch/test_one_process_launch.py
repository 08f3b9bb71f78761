# SPDX-License-Identifier: Apache-2.0

"""All nodes of a robot in one process, as users launch them."""

from __future__ import annotations

from contextlib import suppress
import os
from pathlib import Path
import re
import signal

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launched import DEADLINE, Launch  # noqa: E402, I100


@pytest.mark.parametrize('name', ['explore', 'robot'])
def test_it_explores_and_ends_at_once(name: str, tmp_path: Path) -> None:
    given = {'scenario': 'corridor'} if name == 'explore' else {'world': 'one_room'}
    launch = Launch(tmp_path / 'output.txt', name, one_process='true', namespace='r', **given)
    try:
        launch.wait_for(lambda: 'r.explorer]: exploring' in launch.output, 'exploring')
        assert len(re.findall('process started with pid', launch.output)) == 1
        launch.process.send_signal(signal.SIGINT)
        assert launch.process.wait(timeout=DEADLINE) == 0, launch.output
        assert 'Traceback' not in launch.output
        assert 'is ignored' not in launch.output
    finally:
        if launch.process.poll() is None:
            for number in re.findall(r'started with pid \[(\d+)', launch.output):
                with suppress(ProcessLookupError):
                    os.kill(int(number), signal.SIGKILL)
        launch.process.kill()
