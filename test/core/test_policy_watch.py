# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Detectors of policies and their two budgets of error."""

from __future__ import annotations

import math

from mnm_ros.core.policy import Policy
from mnm_ros.core.policy_watch import PolicyWatch
from mnm_ros.core.shares import share
import pytest
from scripted import policy

LIMIT, HORIZON, DELETION, PROOFS = 6.0, 20, 0.04, 0.02


def watch(*targets: int) -> PolicyWatch:
    return PolicyWatch(LIMIT, HORIZON, DELETION, PROOFS, targets)


def nats(budget: float, number: int) -> float:
    return -math.log(share(number) * budget)


def test_each_detector_and_each_proof_has_its_part_of_a_budget() -> None:
    """A proof that was withdrawn before its first episode costs nothing."""
    watched = watch(3, 5)
    assert [detector.threshold for detector in watched.detectors.values()] == [
        pytest.approx(nats(DELETION, number)) for number in (1, 2)]
    watched.notice()
    watched.notice()
    assert watched.unproven_targets == {
        target: pytest.approx(nats(PROOFS, 1)) for target in (3, 5)}
    watched.record(5, 1, False, proving=False)
    assert not watched.detectors[5].proving
    for number, target in ((1, 5), (2, 3)):
        watched.record(target, 1, False, proving=True)
        assert watched.detectors[target].proof[1] == pytest.approx(nats(PROOFS, number))
        watched.record(target, 1, False, proving=True)    # it goes on, under the same number
    shown, needed = watched.detectors[5].proof
    assert watched.unproven_targets[5] == pytest.approx(needed - shown) and shown > 0
    watched.notice()
    assert watched.unproven_targets[5] == pytest.approx(nats(PROOFS, 3))


def test_who_has_proven_that_it_works_lacks_nothing_and_who_is_doubted_is_doubtful() -> None:
    watched = watch(3, 5)
    assert not watched.doubtful and watched.unproven
    watched.doubt([3])
    assert watched.doubtful
    for target in (5, 3):
        assert watched.unproven
        while target in watched.unproven_targets:
            assert not watched.record(target, 1, False, proving=True)
    assert not watched.unproven and not watched.doubtful and not watched.unproven_targets


def test_the_policy_that_fails_has_most_evidence_until_it_raises_the_alarm() -> None:
    assert watch().most_evidence == (0.0, 0.0, 0)
    watched, episodes = watch(3, 5), 1
    while not watched.record(3, 1, True, proving=False):
        episodes += 1
        assert not watched.record(5, 1, False, proving=False)
        assert watched.most_evidence == (
            watched.detectors[3].evidence, watched.detectors[3].threshold, 3)
    # The threshold, and the price of one of seven bets, in the nats of an episode of 1 + 7 steps.
    nats = watched.detectors[3].threshold + math.log(7 * 2 / share(1))
    assert 3 < episodes <= 1 + nats / math.log1p(0.95 / LIMIT * (1 + 7 - LIMIT))
    soon, told = watch(3), 1
    soon.notice()    # somebody has told of a change
    while not soon.record(3, 1, True, proving=False):
        told += 1
    assert told <= episodes


@pytest.mark.parametrize('doubted', [False, True])
def test_a_policy_keeps_its_detector_unless_it_has_changed(doubted: bool) -> None:
    watched = watch(3, 5, 7)
    before = dict(watched.detectors)
    changed = Policy(5, 4, (0, 1), ((1, 5),))
    watched.change([policy(3), policy(5), policy(7)], [policy(3), changed, policy(9)], doubted)
    now = watched.detectors
    assert list(now) == [3, 5, 9] and now[3] is before[3] and now[5] is not before[5]
    assert [now[target].threshold for target in (5, 9)] == [
        pytest.approx(nats(DELETION, number)) for number in (4, 5)]
    assert [now[target].credible for target in (3, 5, 9)] == [True, not doubted, not doubted]


def test_it_goes_on_from_its_state() -> None:
    watched = watch(3, 5)
    for failed in (False, True, False):
        watched.record(3, 2, failed, proving=True)
    again = PolicyWatch(LIMIT, HORIZON, DELETION, PROOFS, (), watched.to_state())
    for each in (watched, again):
        each.record(5, 4, False, proving=True)
        each.change([policy(3), policy(5)], [policy(3), policy(5), policy(9)], True)
        each.record(9, 4, False, proving=True)
    assert again.to_state() == watched.to_state()
