# SPDX-License-Identifier: Apache-2.0

"""Who gets which part of delta, by docs/explanation/guarantees.md, and that it is never more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any

from mnm_ros.core import components, Declaration, Policy, Problem, settings, Support
from mnm_ros.core.detection.transition_detector import TransitionDetector
from mnm_ros.core.planning.plausible import budget, Rank
from mnm_ros.core.statistics.delta_spending import (
    EVEN_PARTS,
    round_delta,
    share,
    SHARES,
    stream_delta,
)
from mnm_ros.core.statistics.evaluation import BettingEvaluation, Decision
import numpy as np
import pytest

DELTA = 0.1
Lists = Mapping[int, Sequence[Sequence[int]]]


def test_the_parts_of_streams_and_checks_are_those_of_the_table() -> None:
    for stream, part in ((1, 7 / 8), (2, 1 / 16), (5, 1 / 160)):
        assert stream_delta('summed', DELTA, 1, stream) == pytest.approx(part * 4 * DELTA / 5)
        for number in (2, 3, 7):
            assert stream_delta('summed', DELTA, number, stream) == pytest.approx(
                part * 3 * DELTA / (40 * number * (number - 1)))
    for number in (1, 2, 7):
        assert round_delta(DELTA, number) == pytest.approx(
            3 * DELTA / (4 * math.pi ** 2 * number ** 2))


def test_all_that_may_be_wrong_has_no_more_than_delta_in_all() -> None:
    """However many rounds and streams there are: what is left out converges to 0."""
    numbers = range(1, 400)
    streams = sum(stream_delta('summed', DELTA, number, stream)
                  for number in numbers for stream in numbers)
    checks = sum(round_delta(DELTA, number) for number in numbers)
    assert 0.99 * DELTA < streams + checks <= DELTA
    assert sum(stream_delta('summed', DELTA, 1, stream) for stream in numbers) <= 0.8 * DELTA
    assert sum(SHARES.values()) == pytest.approx(1)


def test_the_first_hypothesis_has_as_much_as_the_page_says() -> None:
    assert stream_delta('summed', DELTA, 1, 1) == pytest.approx(0.7 * DELTA)


@pytest.mark.parametrize(('given', 'declared', 'ruling_out', 'by_model', 'by_attempts'), [
    (False, {}, 1 / 2, 1 / 10, 2 / 5), (False, {0: ((0,), (1,))}, 1 / 3, 1 / 15, 3 / 5),
    (True, {}, 2 / 3, 1 / 6, 1 / 6)])
def test_a_run_of_disco_divides_its_delta_as_the_table_says(
        monkeypatch: pytest.MonkeyPatch, given: bool, declared: Lists, ruling_out: float,
        by_model: float, by_attempts: float) -> None:
    """A rediscovery is given the policies that are known."""
    monkeypatch.setattr(components, 'Disco', lambda *problem, **parts: parts)
    monkeypatch.setattr(components, 'part', lambda kind, name: lambda delta, *others: delta)
    policies = (Policy(0, 5, (0,), ((0,),)),) if given else ()
    parts: Any = components.BASES['disco'](
        settings(Problem(2, 4.0, 1.0, DELTA, Support(Declaration(declared)))), 0,
        np.random.default_rng(0), policies)
    assert parts['planner'] == pytest.approx(ruling_out * DELTA)
    evidence = parts['evidence']
    assert evidence.sets.delta == pytest.approx(by_model * DELTA)
    for place in range(1, 30):
        assert math.exp(-evidence.nats) == pytest.approx(
            by_attempts * DELTA / (place * (place + 1)))
        evidence.new_test(Policy(9, 5, (8,), ((0,),)))


@pytest.mark.parametrize('known', [1, 2, 9, 40])
def test_missing_states_have_the_parts_of_the_table(known: int) -> None:
    states = range(known)
    assert Rank.last(states, (), [99]) == (known + 1, share(known, EVEN_PARTS))
    for given in range(1, known + 1):
        others = known - given + 1
        number, part = Rank.last(states, states[:given], [99])
        assert number == given + others
        assert part == pytest.approx(7 / (8 * others * (others + 1)))


def test_the_budget_of_ruling_out_is_that_of_its_delta() -> None:
    for delta in (0.1, 0.01):
        rank = Rank.last(range(5), (), [99])
        assert budget(rank, delta, 4.0) - budget(rank, 1.0, 4.0) == pytest.approx(
            -math.log(delta))


def test_a_policy_is_rejected_as_soon_as_the_capital_is_one_over_delta_and_no_sooner() -> None:
    """Each attempt takes one step more than the limit of 6."""
    made, fractions = BettingEvaluation(20, 6.0, 6.0, 0.01), BettingEvaluation._FRACTIONS
    for number in range(1, 500):
        decision = made.record(7, False)
        capital = np.mean((1 + fractions / 6) ** number)
        assert (decision is Decision.BAD) == (capital >= 100), number
        if decision is Decision.BAD:
            return
    raise AssertionError('it is never rejected')


def test_a_pair_has_changed_as_soon_as_the_evidence_is_that_of_its_delta() -> None:
    """For many deltas, as each outcome adds more than a nat."""
    for delta in np.geomspace(1e-2, 1e-5, 30):
        made = TransitionDetector(delta)
        for number in range(100):
            made.record(number % 2)
        for _ in range(100):
            assert made.alarm == (made.evidence >= -math.log(delta))
            made.record(2)
        assert made.alarm
