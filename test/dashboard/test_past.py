# SPDX-License-Identifier: Apache-2.0

"""The moments to which one can look back: how many, and which of too many."""

from __future__ import annotations

import random

from mnm_ros.core.progress.events import Event
from mnm_ros.view.past import CHANGE, DECISION, Moment, MOST, MOST_BYTES, NOTHING, Past
import pytest


def at(step: int, weight: int = NOTHING, size: int = 1) -> Moment:
    return Moment(step, 1e9 + step, None, weight, bytes(size))


def test_of_too_many_those_are_left_that_are_spread_over_all_of_it() -> None:
    past = Past()
    for step in range(20 * MOST):
        past.add(at(step))
    steps = [moment.step for moment in past.moments]
    assert len(steps) == MOST and steps == sorted(steps)
    assert steps[0] == 0 and steps[-1] == 20 * MOST - 1
    gaps = [after - before for before, after in zip(steps, steps[1:-1])]
    assert max(gaps) <= 3 * 20    # 20 on average


def test_what_was_decided_is_kept_longer() -> None:
    rng = random.Random(1)
    past = Past(most=40)
    decided = {rng.randrange(1000): weight for weight in [DECISION] * 6 + [CHANGE] * 3}
    for step in range(1000):
        past.add(at(step, decided.get(step, NOTHING)))
    kept = {moment.step for moment in past.moments}
    assert len(kept) == 40 and {step for step in decided if decided[step] == CHANGE} <= kept
    assert len(decided.keys() & kept) >= 8


def test_they_take_no_more_bytes_than_allowed() -> None:
    past = Past()
    for step in range(30):
        past.add(at(step, size=MOST_BYTES // 10))
    assert [moment.step for moment in past.moments][::9] == [0, 29]
    assert len(past.moments) == 10
    past.add(at(30, size=2 * MOST_BYTES))
    assert [moment.step for moment in past.moments] == [30]


def test_long_texts_count_too() -> None:
    past = Past()
    for step in range(30):
        past.add(at(step)._replace(event=Event(step, 'x' * (MOST_BYTES // 10))))
    assert len(past.moments) == 9


@pytest.mark.parametrize('most', [1, 2, 3])
def test_the_last_one_is_always_there(most: int) -> None:
    past = Past(most)
    for step in range(9):
        past.add(at(step, CHANGE if step == 4 else NOTHING))
        assert past.moments[-1].step == step and len(past.moments) == min(step + 1, most)


def test_an_exploration_that_begins_again_has_no_past() -> None:
    past = Past()
    for step in (5, 9, 9, 2):
        past.add(at(step))
    assert [moment.step for moment in past.moments] == [2]
