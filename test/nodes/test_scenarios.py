# SPDX-License-Identifier: Apache-2.0

"""
Shipped scenarios over real topics: the first hypothesis is right.

``test_promise`` has all of them, without nodes, and ``test_live_run`` the smallest with nodes.
Here is one of each kind: a world without an end, whose states are found as the robot meets them,
a table and a floor plan.
"""

from __future__ import annotations

import subprocess
import sys

from node_processes import DEADLINE
import pytest
from tiers import thorough


@thorough(shown_by=(
    'core/test_promise.py::test_the_promise_is_kept '
    'console/test_live_run.py::test_the_real_nodes'))
@pytest.mark.parametrize('scenario', ['endless_tree', 'broken_wheel', 'grid_3x3'])
def test_the_first_hypothesis_is_right(scenario: str) -> None:
    done = subprocess.run(
        [sys.executable, '-m', 'mnm_ros.console', scenario, '--once', '--timeout', str(DEADLINE),
         '--radius', '4'],
        capture_output=True, text=True, timeout=2 * DEADLINE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'The hypothesis is right.' in done.stdout
