# SPDX-License-Identifier: Apache-2.0

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
