# SPDX-License-Identifier: Apache-2.0

"""The types of rclpy and of messages in ``stubs`` agree with the installed packages."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]
DIFFERENT = (    # on purpose: the stubs have few of the parameters, and names for the C++ side
    'stub does not have', 'metaclass differs', 'implementation is not a type',
    'rclpy.clock.Clock.__init__', 'rclpy.lifecycle.LifecycleNode.__init__',
    'rclpy.node.Handle', 'rclpy.type_support.Srv', '"clock" is not keyword-only')


def test_the_stubs_state_what_is_installed() -> None:
    for module in ('mypy.stubtest', 'rclpy.experimental'):    # Humble has no EventsExecutor
        pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, '-m', 'mypy.stubtest', '--ignore-missing-stub', '--concise',
         '--mypy-config-file', 'pyproject.toml', *os.listdir(ROOT / 'stubs')],
        cwd=ROOT, env={**os.environ, 'MYPYPATH': 'stubs'}, capture_output=True, text=True,
        timeout=240)
    assert not done.stderr and 'rclpy.' in done.stdout, done.stderr
    assert [line for line in done.stdout.splitlines()
            if not any(known in line for known in DIFFERENT)] == []
