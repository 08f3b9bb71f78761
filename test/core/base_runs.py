# SPDX-License-Identifier: Apache-2.0

"""Runs of a base algorithm to their end."""

from __future__ import annotations

from mnm_ros.core import BaseAlgorithm
from mnm_ros.simulation.simulator import Simulator


def finish(base: BaseAlgorithm, simulator: Simulator, limit: int) -> int:
    """Run to the end and return the steps."""
    for step in range(limit):
        if base.finished:
            return step
        action = base.next_action()
        base.observe(action, simulator.step(action))
    raise AssertionError(f'not finished within {limit} steps')
