# SPDX-License-Identifier: Apache-2.0

"""A change of all moves is noticed by their pooled executions, and rarely without a change."""

from __future__ import annotations

import math
import random
from statistics import mean

from binomial import binomial_tail
from mnm_ros.core import MovesChange
from mnm_ros.core.detection import pooled_detector
from mnm_ros.core.detection.pooled_detector import PooledDetector
from mnm_ros.core.model.counts import Floats
from mnm_ros.core.statistics.delta_spending import round_delta, share, SHARES
from mnm_ros.simulation.cmp import grid_cmp
import numpy as np
import pytest
from test_change import Explored, MOVES
from tiers import strength, thorough

DELTA = round_delta(0.1, 1) * SHARES['pooled']
PAIRS = [(state, action) for state in range(6) for action in range(4)]
LEARNT = 1_800    # executions before a change


def record(detector: PooledDetector, chances: dict[tuple[int, int], float], executions: int,
           generator: random.Random) -> tuple[int, MovesChange] | None:
    """Return after how many executions the alarm is raised, and the change that it tells."""
    pairs = [*chances]
    for number in range(executions):
        pair = generator.choice(pairs)
        arrives = generator.random() < chances[pair]
        found = detector.record(pair, 100 + pair[0] if arrives else pair[0])
        if found is not None:
            return number + 1, found
    return None


def cusum(before: float, now: float, generator: random.Random) -> int:
    """Return after how many executions a CUSUM with the same threshold notices the change."""
    needed, drift, number = -math.log(DELTA * share(1)), 0.0, 0
    while drift < needed:
        arrives = generator.random() < now
        drift = max(0.0, drift + (math.log(now / before) if arrives
                                  else math.log((1 - now) / (1 - before))))
        number += 1
    return number


@pytest.mark.parametrize(('before', 'now'), [
    (0.95, 0.6), (0.6, 0.95), pytest.param(0.95, 0.3, marks=thorough(
        'core/test_pooled_detector.py::test_a_change_of_all_moves_is_noticed_nearly_as_soon_as_'
        'by_a_test_that_knows_the_laws'))])
def test_a_change_of_all_moves_is_noticed_nearly_as_soon_as_by_a_test_that_knows_the_laws(
        before: float, now: float) -> None:
    took, reliable = [], []
    for seed in range(strength(4, 40)):
        detector, generator = PooledDetector(DELTA), random.Random(seed)
        assert record(detector, dict.fromkeys(PAIRS, before), LEARNT, generator) is None
        found = record(detector, dict.fromkeys(PAIRS, now), 1_000, generator)
        assert found is not None, f'seed {seed}'
        took.append(found[0])
        assert found[1].action is None and len(found[1].moves) >= 5
        reliable.append(found[1].reliable)
    assert np.mean(reliable, axis=0) == pytest.approx((before, now), abs=0.1)
    known = mean(cusum(before, now, random.Random(seed)) for seed in range(strength(200, 400)))
    assert mean(took) < 3.3 * known, (known, took)    # of many seeds: 2.7 to 2.9 times


def test_few_executions_before_a_change_suffice() -> None:
    for seed in range(strength(4, 40)):
        detector, generator = PooledDetector(DELTA), random.Random(seed)
        assert record(detector, dict.fromkeys(PAIRS, 0.95), 500, generator) is None
        assert record(detector, dict.fromkeys(PAIRS, 0.6), 400, generator), f'seed {seed}'


@pytest.mark.parametrize('rises', [False, True])
def test_no_chances_have_less_evidence_than_the_least(rises: bool) -> None:
    """Chances drawn at random, and those of all executions, which are near the least."""
    generator = np.random.default_rng(0)
    for _ in range(strength(8, 200)):
        executed, after = generator.integers(0, [[200], [20]], size=(2, 5))
        failed, failed_after = (generator.binomial(times, generator.random(5)).astype(float)
                                for times in (executed, after))
        counts = failed, executed.astype(float), failed_after, after.astype(float)
        least = pooled_detector._least(*counts, rises)
        assert np.isfinite(least).all()
        likely = (failed + failed_after + 0.5) / (executed + after + 1)
        for chances in (likely, *generator.random((50, 5))):
            assert (least <= martingale(chances, *counts, rises) + 1e-9).all()


def martingale(chances: Floats, failed: Floats, executed: Floats, failed_after: Floats,
               after: Floats, rises: bool) -> Floats:
    """Return the logs of ``M_kab(p)`` as the module defines it, by pairs ``a``, ``b``."""
    def tilts(tilt: float, failed: Floats, executed: Floats) -> Floats:
        return np.asarray(tilt * failed - executed * np.log1p(chances * math.expm1(tilt)))

    share_of_tilted, sign = pooled_detector._TILTED, 1 if rises else -1
    return np.array([np.sum(np.log1p(share_of_tilted * np.expm1(
        tilts(-sign * before, failed, executed))) + tilts(tilt, failed_after, after))
        for before in pooled_detector._BEFORE for tilt in pooled_detector._AFTER
        if tilt * sign > 0])


def test_the_alarm_is_false_at_most_as_often_as_promised_whatever_comes_next() -> None:
    """Pairs are chosen by what has happened: one that has failed is tried again."""
    delta, alarms, runs = 0.7, 0, strength(25, 400)
    for seed in range(runs):
        detector, generator = PooledDetector(delta), random.Random(seed)
        chances = {pair: generator.choice([1.0, 0.95, 0.8, 0.5]) for pair in PAIRS}
        pair, again = PAIRS[0], 0
        for _ in range(strength(1_000, 10_000)):
            if not again:
                pair = generator.choice(PAIRS)
            arrives = generator.random() < chances[pair]
            again = again - 1 if again else 3 * (not arrives)
            if detector.record(pair, 100 if arrives else pair[0]) is not None:
                alarms += 1
                break
    assert binomial_tail(runs, delta * share(1), alarms) > 1e-3, alarms


def test_a_door_that_closes_is_no_matter_of_all_moves() -> None:
    for seed in range(strength(5, 40)):
        detector, generator = PooledDetector(DELTA), random.Random(seed)
        chances = dict.fromkeys(PAIRS, 0.95)
        assert record(detector, chances, LEARNT, generator) is None
        assert record(detector, {**chances, PAIRS[0]: 0.0, PAIRS[5]: 0.0}, LEARNT,
                      generator) is None, f'seed {seed}'


def test_what_stays_is_no_move_whatever_it_does_later() -> None:
    detector, generator = PooledDetector(DELTA), random.Random(0)
    assert record(detector, dict.fromkeys(PAIRS, 0.0), LEARNT, generator) is None
    assert record(detector, dict.fromkeys(PAIRS, 1.0), LEARNT, generator) is None


def test_each_beginning_has_a_part_of_delta() -> None:
    detector, spent = PooledDetector(DELTA), 0.0
    for _ in range(100):
        spent += math.exp(-detector._threshold)
        detector.start_again()
    assert 0.8 * DELTA < spent < DELTA


@thorough('core/test_change.py::test_a_change_of_all_moves_is_relearnt_as_one')
@pytest.mark.parametrize(('before', 'now', 'most'), [
    (0.05, 0.4, 170), (0.4, 0.05, 200)])
def test_a_change_of_all_moves_is_noticed_sooner_than_by_single_ones(
        before: float, now: float, most: int) -> None:
    """By the detectors of single pairs alone it takes some 500 steps."""
    took = []
    for seed in range(10):
        world = Explored(*(grid_cmp(['...', '.S.', '...'], slip, MOVES) for slip in (before, now)),
                         seed=seed)
        world.step(2_500)
        assert not world.mnm.log.noticed
        world.simulator.change()
        steps = 0
        while not world.mnm.log.noticed:
            world.step(10)
            steps += 10
        took.append(steps)
    assert mean(took) < most, took
