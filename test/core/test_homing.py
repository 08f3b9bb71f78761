# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What counts as being at home after a RESET."""

from __future__ import annotations

from mnm_ros.core.homing import Homing
from mnm_ros.core.problem import RESET


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
