# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The parameters that explorer and navigator share, as what the step protocol takes."""

from __future__ import annotations

import math

from mnm_ros.parameters import Parameters
from mnm_ros.protocol.loop import StepLimits


def step_limits(given: Parameters, deadline: float = math.inf) -> StepLimits:
    """Return how long to wait for the robot, and when to stop."""
    return StepLimits(
        given['step_timeout'], given['step_retries'], given['reset_retries'],
        given['max_steps'], deadline)
