# SPDX-License-Identifier: Apache-2.0

"""How far away a state is says why it is out of reach."""

from __future__ import annotations

from mnm_ros.core.progress_estimator import steps_away
import pytest


def test_each_move_is_made_until_it_succeeds() -> None:
    """A corridor, in which one move fails half of the time, and a detour that is longer."""
    counts = {(0, 0): {1: 9}, (1, 0): {2: 5, 1: 5}, (2, 0): {3: 7}, (0, 1): {4: 1},
              (4, 0): {5: 1}, (5, 0): {3: 1}, (7, 0): {8: 2}}
    away = steps_away(0, (3, 5, 8, 0), 2, lambda state, action: counts.get((state, action), {}))
    assert away == pytest.approx({0: 0.0, 5: 2.0, 3: 3.0})
    counts[2, 0] = {2: 7}
    del counts[5, 0]
    assert steps_away(0, (3,), 2, lambda *pair: counts.get(pair, {})) == {}
