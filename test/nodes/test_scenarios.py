# SPDX-License-Identifier: Apache-2.0

"""
Shipped scenarios over real topics: the first hypothesis is right.

``test_promise`` has all of them, without nodes. Here is one of each kind: a table, a floor plan,
and a world without an end, whose states are found as the robot meets them.
"""

from __future__ import annotations

import subprocess
import sys

from node_processes import DEADLINE
import pytest


@pytest.mark.parametrize('scenario', ['broken_wheel', 'grid_3x3', 'endless_tree'])
def test_the_first_hypothesis_is_right(scenario: str) -> None:
    done = subprocess.run(
        [sys.executable, '-m', 'mnm_ros.console', scenario, '--once', '--timeout', str(DEADLINE)],
        capture_output=True, text=True, timeout=2 * DEADLINE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'The hypothesis is right.' in done.stdout
