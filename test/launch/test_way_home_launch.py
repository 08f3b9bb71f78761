# SPDX-License-Identifier: Apache-2.0

# ruff: noqa: E402
"""With ``on_shutdown: reset`` a launch waits for the way home longer than for other nodes."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launched import DEADLINE, Launch  # noqa: E402, I100

PARAMETERS = """
/**/explorer:
  ros__parameters:
    actions: [east, west]
    on_shutdown: reset
    step_timeout: 30.0
"""


def test_the_way_home_takes_longer_than_launch_waits_for_other_nodes(tmp_path: Path) -> None:
    path = tmp_path / 'params.yaml'
    path.write_text(PARAMETERS, encoding='utf-8')
    with (tmp_path / 'robot').open('w') as file:    # apart: the launch would end it, too
        robot = subprocess.Popen(
            [sys.executable, '-m', 'mnm_ros.nodes.cmp_sim', '--ros-args', '-p',
             'scenario:=corridor', '-p', 'latency:=7.0'], stdout=file, stderr=subprocess.STDOUT)
    launched = Launch(tmp_path / 'output', 'explore', sim='false', params_file=path)
    try:
        launched.wait_for(lambda: launched.exploring() == 1, 'exploration')
        for pid in (*launched.explorers(), launched.process.pid):    # as a terminal does it
            os.kill(pid, signal.SIGINT)
        assert launched.process.wait(timeout=DEADLINE) == 0, launched.output
    finally:
        if launched.process.poll() is None:
            for pid in (*launched.explorers(), launched.process.pid):
                os.kill(pid, signal.SIGTERM)
        launched.process.wait(timeout=DEADLINE)
        robot.send_signal(signal.SIGINT)
        robot.wait(timeout=DEADLINE)
    assert 'going home before the node ends' in launched.output
    assert 'the robot is at home' in launched.output, launched.output
