# SPDX-License-Identifier: Apache-2.0

"""Policy evaluation: as printed, and as an anytime-valid test."""

from __future__ import annotations

import math

from binomial import binomial_tail
from mnm_ros.core import Problem
from mnm_ros.core.paper.plug_in import MonteCarloEvaluation
from mnm_ros.core.statistics.evaluation import BettingEvaluation, Decision, Evaluation, longest
import numpy as np
import pytest

PROBLEM = Problem(2, 3.0, 1.0, 0.1)
HORIZON = 12


def judge(evaluation: Evaluation, chance: float, rng: np.random.Generator) -> Decision:
    """Evaluate a policy that arrives with ``chance`` at each step, so ``tau`` is known."""
    for _ in range(100_000):
        length = int(rng.geometric(chance))
        verdict = evaluation.record(min(length, HORIZON), length > HORIZON)
        if verdict is not Decision.UNDECIDED:
            return verdict
    return Decision.UNDECIDED


def chance_for(tau: float) -> float:
    """Return the chance per step with which ``(E len + P(failed)) / (1 - P(failed)) = tau``."""
    low, high = 1e-6, 1.0
    for _ in range(100):
        p = (low + high) / 2
        failed = (1 - p) ** HORIZON
        arrived = (1 - failed) / p
        low, high = (p, high) if (arrived + failed) / (1 - failed) > tau else (low, p)
    return low


def test_lambda_as_printed() -> None:
    # 6 * 8^3 * log(16 / 0.1) = 15590.93; with |K| = 4: 3072 * log(2560) = 24108.1.
    assert MonteCarloEvaluation(PROBLEM, 1 / 8, 1).episodes == 15591
    assert MonteCarloEvaluation(PROBLEM, 1 / 8, 4).episodes == 24109


def test_a_success_round_takes_lambda_episodes() -> None:
    evaluation = MonteCarloEvaluation(PROBLEM, 1 / 8, 1)
    verdicts = [evaluation.record(3, False) for _ in range(15591)]
    assert set(verdicts[:-1]) == {Decision.UNDECIDED} and verdicts[-1] is Decision.GOOD


def test_a_failure_round_ends_as_soon_as_its_inequality_holds() -> None:
    # Episodes of 27 steps that fail: with f of them tau^ = 27 f / 15591, p^ = f / 15591, and
    # (27 x + 0.375 + x + 0.125) / (1 - x - 0.125) > 6 exactly when x > 4.75 / 34, f > 2178.15.
    evaluation = MonteCarloEvaluation(PROBLEM, 1 / 8, 1)
    verdicts = [evaluation.record(27, True) for _ in range(2179)]
    assert set(verdicts[:-1]) == {Decision.UNDECIDED} and verdicts[-1] is Decision.BAD


def test_the_plain_estimate_of_tau() -> None:
    evaluation = BettingEvaluation(HORIZON, 6.0, 3.0, 0.01)
    for length, failed in ((2, False), (4, False), (12, True)):
        evaluation.record(length, failed)
    assert evaluation.mean_steps == (2 + 4 + 12 + 1) / 2


@pytest.mark.parametrize(('tau', 'wrong'), [(6.05, Decision.GOOD), (2.98, Decision.BAD)])
def test_a_wrong_verdict_is_as_rare_as_its_delta_says(tau: float, wrong: Decision) -> None:
    delta, trials = 0.05, 400
    failures = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        evaluation = BettingEvaluation(HORIZON, 6.0, 3.0, delta)
        if judge(evaluation, chance_for(tau), rng) is wrong:
            failures.append(seed)
    assert binomial_tail(trials, delta, len(failures)) > 1e-3, f'failing seeds: {failures}'


def test_a_good_policy_is_certified_in_tens_of_episodes() -> None:
    played = []
    for seed in range(50):
        evaluation = BettingEvaluation(HORIZON, 6.0, 3.0, 1e-4)
        assert judge(evaluation, chance_for(3.0), np.random.default_rng(seed)) is Decision.GOOD
        played.append(evaluation.played)
    assert np.mean(played) < 80, played


def test_a_check_that_stays_open_has_nothing_to_object() -> None:
    evaluation = BettingEvaluation(HORIZON, 6.0, 6.0, 1e-4, most=5)
    verdicts = [evaluation.record(6, False) for _ in range(5)]
    assert verdicts == [Decision.UNDECIDED] * 4 + [Decision.GOOD]


def test_the_stakes_of_one_failed_episode() -> None:
    # m = 6, G = 12: X = 12 + 1 + 6 = 19, the capital of a bet b for the policy is 1 - 13 b with
    # b = f / 13; against it (reject = 3) X = 16 and the capital is 1 + 13 b with b = f / 3.
    evaluation = BettingEvaluation(HORIZON, 6.0, 3.0, 0.01)
    evaluation.record(HORIZON, True)
    fractions = evaluation._FRACTIONS
    stakes = evaluation._WEIGHTS * len(fractions)
    assert stakes.mean() == pytest.approx(1)    # more would be no supermartingale any more
    assert np.exp(evaluation._accept_log) == pytest.approx(stakes * (1 - fractions))
    assert np.exp(evaluation._reject_log) == pytest.approx(1 + 13 * fractions / 3)


def test_what_was_broken_off_is_the_worst_for_the_policy_and_the_best_against_it() -> None:
    broken, failed, arrived = (BettingEvaluation(HORIZON, 6.0, 3.0, 0.01) for _ in range(3))
    for _ in range(3):
        for each in (broken, failed, arrived):
            each.record(1, False)
        broken.break_off(2, HORIZON)
        failed.record(HORIZON, True)
        arrived.record(2, False)
    assert broken.played == failed.played == 6
    assert broken.evidence == pytest.approx(failed.evidence)
    assert broken._reject_log == pytest.approx(arrived._reject_log)


def test_nothing_speaks_for_a_policy_that_fails_and_what_speaks_for_one_that_works_grows() -> None:
    evaluation = BettingEvaluation(20, 6.0, 4.0, 0.01)
    assert evaluation.evidence == (0.0, pytest.approx(math.log(100)))
    evaluation.record(20, True)
    assert evaluation.evidence[0] == 0.0
    evaluation, told = BettingEvaluation(20, 6.0, 4.0, 0.01), [0.0]
    while evaluation.record(1, False) is Decision.UNDECIDED:
        told.append(evaluation.evidence[0])
        assert told[-2] < told[-1] < evaluation.evidence[1]
    assert evaluation.evidence[0] >= evaluation.evidence[1]
    assert evaluation.arrived == evaluation.played == len(told)


@pytest.mark.parametrize('radius, epsilon, horizon, most', [
    (4.0, 1.0, 20, 20), (4.0, 1.0, 5, 12), (4.0, 0.6, 5, 11), (3.0, 3.0, 5, 15)])
def test_an_attempt_that_leaves_within_the_radius_may_still_count(
        radius: float, epsilon: float, horizon: int, most: int) -> None:
    """It counts up to the limit more: so many steps in all, or the horizon."""
    assert longest(horizon, Problem(2, radius, epsilon, 0.1)) == most
