# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What the watch phase says of what is left to do."""

from __future__ import annotations

import math

from mnm_ros.core.watch_activity import attempts_left
import pytest

LIMIT, HORIZON = 8.0, 16


def test_each_attempt_costs_its_steps_a_reset_and_a_quantum_of_rediscovery() -> None:
    """All policies lack a proof, so that no attempt is spent on others."""
    for takes in (2.0, 5.0):
        left = attempts_left({1: 5.0}, 1, {1: takes}, LIMIT, HORIZON)
        count, rest = divmod(left, takes + 1 + HORIZON)
        assert rest == 0 and count > 1
        twice = attempts_left({1: 10.0}, 1, {1: takes}, LIMIT, HORIZON)
        assert twice == pytest.approx(2 * left, abs=takes + 1 + HORIZON)
        both = attempts_left({1: 5.0, 2: 5.0}, 2, {1: takes, 2: takes}, LIMIT, HORIZON)
        assert both == 2 * left


def test_attempts_of_proven_policies_come_in_between() -> None:
    """Every other attempt is theirs, but for the turns of those without a proof."""
    alone = attempts_left({1: 5.0}, 1, {1: 2.0}, LIMIT, HORIZON)
    for watched in (2, 4, 1000):
        left = attempts_left({1: 5.0}, watched, {1: 2.0}, LIMIT, HORIZON)
        assert left == math.ceil(alone / (0.5 + 0.5 / watched))


def test_a_policy_that_is_not_known_yet_counts_as_half_of_the_limit() -> None:
    assert attempts_left({1: 5.0}, 3, {1: None}, LIMIT, HORIZON) == attempts_left(
        {1: 5.0}, 3, {}, LIMIT, HORIZON) == attempts_left(
        {1: 5.0}, 3, {1: 0.5 * LIMIT}, LIMIT, HORIZON)
    # One that seems to be too slow may still be proven, but that takes long.
    assert attempts_left({1: 5.0}, 3, {1: 3 * LIMIT}, LIMIT, HORIZON) == attempts_left(
        {1: 5.0}, 3, {1: 0.9 * LIMIT}, LIMIT, HORIZON)
