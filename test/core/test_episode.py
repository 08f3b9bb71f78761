# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""When an attempt is over."""

from __future__ import annotations

from mnm_ros.core.episode import Episode
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET
import pytest

POLICY = Policy(7, 3, (0, 1, 2), ((4, 5, RESET),))


def play(states: list[int], ends_outside: bool) -> Episode:
    episode = Episode(POLICY, ends_outside)
    for state in states:
        assert not episode.over
        episode.observe(state)
    return episode


@pytest.mark.parametrize(('states', 'ends_outside', 'over', 'failed'), [
    ([1, 7], True, True, False),
    ([1, 1, 7], True, True, False),
    ([1, 1], True, False, False),
    ([1, 1, 1], True, True, True),
    ([9], True, True, True),
    ([9], False, False, False),
    ([9, 0, 1], False, True, True),
    ([9, 0, 7], False, True, False),
    ([2, 0], True, False, False),
])
def test_an_attempt_ends_at_the_target_the_horizon_or_outside(
        states: list[int], ends_outside: bool, over: bool, failed: bool) -> None:
    episode = play(states, ends_outside)
    assert (episode.over, episode.failed, episode.length) == (over, failed, len(states))


def test_it_plays_its_policy() -> None:
    episode = play([1], ends_outside=False)
    assert [episode.action(state) for state in (0, 1, 2, 9)] == [4, 5, RESET, RESET]
