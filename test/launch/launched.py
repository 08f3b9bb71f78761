# SPDX-License-Identifier: Apache-2.0

"""
The installed launch files, in a process of their own.

Skips the module that asks for them where they are not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import re
import subprocess
import sys
import time

import pytest

packages = pytest.importorskip('ament_index_python.packages', reason='ROS 2 is not installed')

try:
    SHARE = Path(packages.get_package_share_directory('mnm_ros'))
except packages.PackageNotFoundError:
    pytest.skip('mnm_ros itself is not installed', allow_module_level=True)

DEADLINE = 240.0    # s
_LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource(sys.argv[1]),
    launch_arguments=[each.split(':=', 1) for each in sys.argv[2:]])]))
sys.exit(service.run())
"""


class Launch:
    """A launch in a process of its own, whose output goes to a file."""

    def __init__(self, output: Path, name: str, **arguments: object) -> None:
        self._output = output
        with output.open('w') as file:
            self.process = subprocess.Popen(
                [sys.executable, '-c', _LAUNCH, str(SHARE / 'launch' / f'{name}.launch.py'),
                 *(f'{key}:={value}' for key, value in arguments.items())],
                stdout=file, stderr=subprocess.STDOUT)

    @property
    def output(self) -> str:
        return self._output.read_text()

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f'{what}:\n{self.output}'
            time.sleep(0.1)

    def explorers(self) -> list[int]:
        return [int(number) for number in re.findall(
            r'explorer-1\]: process started with pid \[(\d+)', self.output)]

    def exploring(self) -> int:
        return self.output.count('[explorer]: exploring')
