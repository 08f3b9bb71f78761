# ruff: noqa: E402
"""``trial.launch.py`` keeps a trial whose explorer is killed, and its report tells of it."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import re
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')
packages = pytest.importorskip('ament_index_python.packages', reason='ROS 2 is not installed')

from mnm_ros.trial import report

try:
    SHARE = Path(packages.get_package_share_directory('mnm_ros'))
except packages.PackageNotFoundError:
    pytest.skip('mnm_ros itself is not installed', allow_module_level=True)

DEADLINE = 40.0    # s
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource(sys.argv[1]), launch_arguments={
        'sim': 'true', 'scenario': 'corridor', 'record_bag': 'false',
        'trial_dir': sys.argv[2]}.items())]))
sys.exit(service.run())
"""


def written(log: Path) -> int:
    """Return how many inputs are in a log that somebody is writing."""
    if not log.exists():
        return 0
    database = sqlite3.connect(f'file:{log}?mode=ro', uri=True)
    try:
        return database.execute('SELECT count(*) FROM inputs').fetchone()[0]
    finally:
        database.close()


def test_a_trial_and_its_report(tmp_path: Path) -> None:
    output, folder = tmp_path / 'output', tmp_path / 'trial'
    with output.open('w') as file:
        process = subprocess.Popen(
            [sys.executable, '-c', LAUNCH, str(SHARE / 'launch' / 'trial.launch.py'),
             str(folder)], stdout=file, stderr=subprocess.STDOUT)

    def wait_for(condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f'{what}:\n{output.read_text()}'
            time.sleep(0.1)

    try:
        wait_for(lambda: '[explorer]: exploring' in output.read_text(), 'exploration')
        pid, = re.findall(r'explorer-1\]: process started with pid \[(\d+)', output.read_text())
        wait_for(lambda: written(folder / 'explorer.log.sqlite') > 500, 'steps on the disk')
        os.kill(int(pid), signal.SIGKILL)
        wait_for(lambda: 'going on from' in output.read_text(), 'that it goes on')
        wait_for(lambda: output.read_text().count('[explorer]: exploring') == 2, 'exploration')
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=DEADLINE) == 0
    path, = report.write(folder)
    text = path.read_text(encoding='utf-8')
    assert '- place lost (pause, restart, fault): 1\n' in text
    before, = re.findall(r'going on from .*: step (\d+)', output.read_text())
    steps, = re.findall(r'- steps: ([\d,]+)', text)
    assert int(steps.replace(',', '')) >= int(before) > 0
    assert re.search(r'- time: \d{4}-.* to \d{4}-', text)
