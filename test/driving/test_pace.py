# SPDX-License-Identifier: Apache-2.0

"""What moves and ways home take, by the speeds of the driver."""

from __future__ import annotations

import math

from mnm_ros.driving.drive import Limits
from mnm_ros.driving.grid import Grid, Ways
from mnm_ros.driving.pace import Pace
from mnm_ros.driving.pose import Pose
import pytest

LIMITS = Limits(0.2, 1.0, 0.5, 2.0, 0.05, 0.1, 2.0)
EAST, NORTH, WEST = range(3)


def pace(limits: Limits = LIMITS) -> Pace:
    return Pace(Ways(Grid(0.0, 0.0, 0.5, 5, 3)), limits, Pose(0.25, 0.25, 0.0), 0.2)


def test_moves_straight_on_take_as_long_as_a_cell_is_driven() -> None:
    told = pace()
    first, *rest = (told.seconds(cell, EAST, cell + 1) for cell in range(4))
    assert rest == pytest.approx([0.5 / 0.2] * 3, abs=0.5) and first < rest[0]


def test_turns_take_longer_the_farther_they_are() -> None:
    took = []
    for action, there in ((EAST, 2), (NORTH, 6), (WEST, 0)):
        told = pace()
        told.seconds(0, EAST, 1)
        took.append(told.seconds(1, action, there))
    straight, quarter, half = took
    assert straight < quarter < half
    assert half - straight < (math.pi / 1.0 + 1.0) + 1.0


def test_a_move_that_fails_takes_longer_and_one_into_a_wall_nothing() -> None:
    assert pace().seconds(0, EAST, 0) > pace().seconds(0, EAST, 1) + LIMITS.blocked_after
    assert pace().seconds(0, WEST, 0) == 0.0


def test_ways_home_are_driven_in_one_go() -> None:
    near, far = pace().seconds(1, None, 0), pace().seconds(4, None, 0)
    assert far == pytest.approx(near + 3 * 0.5 / 0.2, abs=1.0)
    assert pace().seconds(0, None, 0) < 1.0    # it is there


def test_who_is_faster_takes_less() -> None:
    fast = pace(LIMITS.__class__(**{**LIMITS.__dict__, 'speed': 0.4}))
    assert [fast.seconds(cell, EAST, cell + 1) for cell in (0, 1)][1] < 0.5 / 0.2 - 0.5
