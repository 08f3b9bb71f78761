# SPDX-License-Identifier: Apache-2.0

"""Every shipped scenario over real topics: the first hypothesis is right."""

from __future__ import annotations

import subprocess
import sys

from mnm_ros.simulation.scenario import shipped
import pytest

DEADLINE = 120    # s


@pytest.mark.parametrize('scenario', shipped())
def test_the_first_hypothesis_is_right(scenario: str) -> None:
    done = subprocess.run(
        [sys.executable, '-m', 'mnm_ros.console', scenario, '--once', '--timeout', str(DEADLINE)],
        capture_output=True, text=True, timeout=DEADLINE + 30)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'The hypothesis is right.' in done.stdout
