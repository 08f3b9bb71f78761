# SPDX-License-Identifier: Apache-2.0

"""The bets of a policy's detector, written out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
import math

from mnm_ros.core import Detector
from mnm_ros.core.statistics.delta_spending import share
import pytest

LIMIT, HORIZON = 6.0, 20


def detector(delta: float = 0.01) -> Detector:
    return Detector(LIMIT, HORIZON, delta)


def capital(episodes: tuple[int, ...], proving: bool = False) -> float:
    """Return the capital after episodes that have arrived after so many steps."""
    made = detector()
    if proving:
        made.begin_proof(1e-9)
    for length in episodes:
        made.record(length, False)
    return math.exp(made.to_state()['shown'] if proving else made.evidence)


def test_a_failure_counts_as_the_limit_and_one_step_more() -> None:
    failing, arriving = detector(), detector()
    for each in (failing, arriving):
        each.begin_proof(1e-3)
    failing.record(5, True)
    arriving.record(5 + 1 + int(LIMIT), False)
    assert (failing.evidence, failing.proof) == (arriving.evidence, arriving.proof)
    assert math.exp(failing.evidence) > capital((5,)) > 0


@pytest.mark.parametrize('length', [1, 5, HORIZON])
def test_what_was_broken_off_is_the_best_for_the_alarm_and_the_worst_for_the_proof(
        length: int) -> None:
    broken, arrived, failed = detector(), detector(), detector()
    for each in (broken, arrived, failed):
        each.begin_proof(1e-3)
    broken.break_off(length)
    arrived.record(length, False)
    failed.record(HORIZON, True)
    assert broken.evidence == pytest.approx(arrived.evidence)
    assert broken.to_state()['shown'] == pytest.approx(failed.to_state()['shown'])


@pytest.mark.parametrize('proving', [False, True])
def test_at_the_limit_the_capital_is_expected_to_stay_below_one(proving: bool) -> None:
    """Episodes of 2 and of 10 steps alternate by chance: 6 on average."""
    for number in (1, 3, 8):
        expected = sum(capital(episodes, proving) for episodes in product(
            (2, 10), repeat=number)) / 2 ** number
        assert expected == pytest.approx(1) if proving else 0 < expected < 1
        # The weights of the bets begun so far sum up to less than a half.
        assert proving or expected == pytest.approx(
            sum(map(share, range(1, number + 1))) / 2)


def test_whatever_tells_of_a_change_begins_a_bet_with_its_own_weight() -> None:
    made = detector()
    for notice in range(1, 5):
        made.suspect()
        made.begin()
        against = made.to_state()['against'][0]
        assert math.exp(against) == pytest.approx(0.5 * (1 - 1 / (notice + 1)))


def until(happens: Callable[[Detector], bool], made: Detector, length: int,
          failed: bool = False) -> int:
    """Return after how many such episodes it happens."""
    for number in range(1, 500):
        made.record(length, failed)
        if happens(made):
            return number
    raise AssertionError('it never happens')


@pytest.mark.parametrize('delta', [0.1, 0.001])
def test_alarm_and_proof_come_when_the_capital_has_reached_one_over_delta(delta: float) -> None:
    made = detector(delta)
    assert made.threshold == pytest.approx(math.log(1 / delta)) and not made.alarm
    before = made.evidence
    while not made.alarm:
        assert before < math.log(1 / delta)
        made.record(HORIZON, failed=True)
        before = made.evidence
    assert before >= math.log(1 / delta)
    made = detector()
    assert not made.proving and made.proof == (0.0, 0.0)
    made.begin_proof(delta)
    for length in (10, 1) * 5:    # neither good nor bad
        made.record(length, False)
        shown, needed = made.proof
        assert needed == pytest.approx(math.log(1 / delta)) and shown < needed
        assert made.proving and not made.proven
    until(lambda each: each.proven, made, 1)
    assert made.proof[0] >= made.proof[1] > capital((1,), proving=True) - 1
    made.record(HORIZON, True)
    assert made.proven    # it stays


@pytest.mark.parametrize('episodes', [20, 2000])
@pytest.mark.parametrize('delta', [0.1, 1e-4])
def test_a_policy_that_stops_working_is_noticed_as_soon_as_the_docstring_says(
        delta: float, episodes: int) -> None:
    made = detector(delta)
    for _ in range(episodes):
        made.record(1, False)
    failures = until(lambda each: each.alarm, made, HORIZON, failed=True)
    each = math.log(1 + 0.95 * (HORIZON + 1) / LIMIT)    # nats of the boldest bet
    assert failures == pytest.approx(
        (math.log(1 / delta) + 3 + 1.5 * math.log(episodes)) / each, abs=2)


def test_who_was_doubted_is_credible_again_with_a_hundred_to_one_from_all_proofs() -> None:
    made = detector()
    assert made.credible
    made.doubt()
    assert not made.credible
    made.begin_proof(1e-30)
    once = until(lambda each: each.credible, made, 1)
    assert made.proof[0] >= math.log(100) and not made.proven
    made = detector()
    made.doubt()
    made.begin_proof(1e-30)
    for _ in range(once // 2):
        made.record(1, False)
    made.withdraw_proof()    # what was shown counts on
    first = made.to_state()['credit']
    made.begin_proof(1e-30)
    assert not made.credible and until(lambda each: each.credible, made, 1) < once
    assert made.proof[0] < math.log(100) <= first + made.proof[0]
    made.doubt()
    assert not made.credible and made.to_state()['credit'] == 0
