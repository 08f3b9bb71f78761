# SPDX-License-Identifier: Apache-2.0

"""Many moves that work less often raise a hint, and the best known of them are looked at."""

from __future__ import annotations

import random
from statistics import mean

from mnm_ros.core.detection.pooled_hint import PooledHint

PAIRS = [(state, 0) for state in range(9)]


def record(hint: PooledHint, chance: float, executions: int, generator: random.Random,
           pairs: list[tuple[int, int]] = PAIRS) -> int | None:
    """Return after how many executions moves are to be looked at, which worked 95 of 100 times."""
    for number in range(executions):
        if hint.record(generator.choice(pairs), generator.random() < chance, 95, 100):
            return number + 1
    return None


def test_many_moves_that_fail_more_often_are_told_soon_and_one_alone_is_not() -> None:
    took = []
    for seed in range(20):
        generator = random.Random(seed)
        found = record(PooledHint(), 0.6, 1_000, generator)
        assert found is not None, f'seed {seed}'
        took.append(found)
        assert record(PooledHint(), 0.0, 1_000, generator, PAIRS[:2]) is None
    assert mean(took) < 40, took    # 12 with the laws known: log(1000) / KL(0.6, 0.95)


def test_moves_that_work_more_often_are_told_too() -> None:
    hint, generator = PooledHint(), random.Random(0)
    assert any(hint.record(generator.choice(PAIRS), True, 60, 100) for _ in range(100))


def test_what_is_looked_at_is_the_best_known_and_ends() -> None:
    hint = PooledHint()
    hint.look_at(PAIRS)
    first, times = hint.due, 0
    assert first == PAIRS[0]
    while hint.due == first:
        hint.executed(PAIRS[0])
        times += 1
    assert times > 20 and hint.due == PAIRS[1]
    hint.leave(PAIRS[1])
    assert hint.due is None
