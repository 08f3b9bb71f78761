# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

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
