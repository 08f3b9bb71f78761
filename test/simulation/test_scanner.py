# SPDX-License-Identifier: Apache-2.0

"""The simulated scanner against points along its rays."""

from __future__ import annotations

import math
from random import Random

from mnm_ros.driving.pose import Pose
from mnm_ros.simulation.scanner import Scanner
from mnm_ros.simulation.world import load
import numpy as np
import pytest
from tiers import strength

WORLD = load('two_room_flat')
STEP = 0.002


@pytest.mark.parametrize('seed', range(strength(1, 5)))
@pytest.mark.parametrize('is_open', [True, False])
def test_a_ray_ends_where_something_begins(seed: int, is_open: bool) -> None:
    random = Random(seed)
    closed = WORLD.closed({'D': is_open})
    scanner = Scanner(WORLD, 36, 10.0, 0.0, seed)
    free = [(column, row) for column in range(7) for row in range(5)
            if not WORLD.is_wall((column, row)) and (column, row) not in closed]
    for _ in range(5):
        x, y = WORLD.centre(random.choice(free))
        pose = Pose(x + random.uniform(-0.2, 0.2), y + random.uniform(-0.2, 0.2),
                    random.uniform(-3, 3))
        for number, found in enumerate(scanner.scan(pose, closed)):
            angle, far = pose.yaw + number * math.tau / 36, 0.0
            while WORLD.is_free(pose.x + far * math.cos(angle), pose.y + far * math.sin(angle),
                                1e-9, closed):
                far += STEP
            assert far - 2 * STEP <= found <= far + STEP, (seed, pose, number)


def test_range_and_noise() -> None:
    pose = Pose(*WORLD.centre(WORLD.home), 0.0)
    exact = Scanner(WORLD, 360, 10.0, 0.0, 0).scan(pose, frozenset())
    near = Scanner(WORLD, 360, 1.0, 0.0, 0).scan(pose, frozenset())
    assert np.array_equal(near, np.where(exact <= 1.0, exact, math.inf)) and np.isinf(near).any()
    noisy = Scanner(WORLD, 360, 10.0, 0.02, 0)
    errors = np.concatenate([noisy.scan(pose, frozenset()) - exact for _ in range(100)])
    # 36,000 of them: their mean and deviation are off by five standard errors once in a million.
    assert abs(errors.mean()) < 5 * 0.02 / math.sqrt(len(errors))
    assert abs(errors.std() / 0.02 - 1) < 5 / math.sqrt(2 * len(errors))
