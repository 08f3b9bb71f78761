# SPDX-License-Identifier: Apache-2.0

"""A change of all moves is noticed earlier than by the detector of a single move."""

from __future__ import annotations

import random
from statistics import mean

from mnm_ros.core.detection.pooled_hint import PooledHint
from mnm_ros.simulation.cmp import grid_cmp
from test_change import Explored, MOVES
from tiers import strength

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


def test_a_change_of_all_moves_is_noticed_sooner_than_by_single_ones() -> None:
    """Without it the first alarm comes after 492 steps in the mean of ten seeds."""
    took = []
    for seed in range(strength(3, 10)):
        world = Explored(*(grid_cmp(['...', '.S.', '...'], slip, MOVES) for slip in (0.05, 0.4)),
                         seed=seed)
        world.step(2_500)
        assert not world.mnm.log.noticed
        world.simulator.change()
        steps = 0
        while not world.mnm.log.noticed:
            world.step(20)
            steps += 20
        took.append(steps)
    assert mean(took) < 350, took
