# ruff: noqa: E402
"""With ``use_respawn`` a node that was killed comes back and explores; the launch ends with 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')
packages = pytest.importorskip('ament_index_python.packages', reason='ROS 2 is not installed')

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
    PythonLaunchDescriptionSource(sys.argv[1]),
    launch_arguments={'scenario': 'corridor', 'use_respawn': sys.argv[2]}.items())]))
sys.exit(service.run())
"""


class Launch:
    """A launch in a process of its own, whose output goes to a file."""

    def __init__(self, output: Path, use_respawn: str) -> None:
        self._output = output
        with output.open('w') as file:
            self.process = subprocess.Popen(
                [sys.executable, '-c', LAUNCH, str(SHARE / 'launch' / 'explore.launch.py'),
                 use_respawn], stdout=file, stderr=subprocess.STDOUT)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f'{what}:\n{self._output.read_text()}'
            time.sleep(0.1)

    def explorers(self) -> list[int]:
        return [int(number) for number in re.findall(
            r'explorer-1\]: process started with pid \[(\d+)', self._output.read_text())]

    def exploring(self) -> int:
        return self._output.read_text().count('[explorer]: exploring')


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[[str], Launch]]:
    started: list[Launch] = []

    def start(use_respawn: str) -> Launch:
        started.append(Launch(tmp_path / 'output', use_respawn))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGINT)
        each.process.wait(timeout=DEADLINE)


def test_a_killed_explorer_comes_back(launch: Callable[[str], Launch]) -> None:
    launched = launch('true')
    launched.wait_for(lambda: launched.exploring() == 1, 'exploration')
    os.kill(launched.explorers()[0], signal.SIGKILL)
    launched.wait_for(lambda: launched.exploring() == 2, 'exploration again')
    assert len(launched.explorers()) == 2
    launched.process.send_signal(signal.SIGINT)
    assert launched.process.wait(timeout=DEADLINE) == 0


def test_otherwise_the_launch_ends(launch: Callable[[str], Launch]) -> None:
    launched = launch('false')
    launched.wait_for(lambda: launched.exploring() == 1, 'exploration')
    os.kill(launched.explorers()[0], signal.SIGKILL)
    launched.wait_for(lambda: launched.process.poll() is not None, 'the end')
    assert len(launched.explorers()) == 1
