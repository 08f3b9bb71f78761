# SPDX-License-Identifier: Apache-2.0

"""What counts as being at home after a RESET."""

from __future__ import annotations

from mnm_ros.core import Homing, RESET


def test_home_is_where_the_first_reset_ends() -> None:
    homing = Homing()
    assert not homing.missed(RESET, 7) and homing.home == 7
    assert homing.missed(RESET, 3) and homing.home == 7


def test_misses_are_counted_in_all_and_in_a_row() -> None:
    homing = Homing(7)
    assert [homing.missed(RESET, state) for state in (1, 2, 7, 3)] == [True, True, False, True]
    assert (homing.misses, homing.misses_in_a_row) == (3, 1)
    assert not homing.missed(0, 1)    # another action may lead anywhere
    assert (homing.misses, homing.misses_in_a_row) == (3, 0)
