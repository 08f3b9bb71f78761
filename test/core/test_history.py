# SPDX-License-Identifier: Apache-2.0

"""The transitions of an exploration: how often each, which came last, and what still holds."""

from __future__ import annotations

from mnm_ros.core import RESET
from mnm_ros.core.model import history, snapshot
from mnm_ros.core.model.history import History
import pytest

STEPS = [(0, 1, 2), (2, 0, None), (0, 1, 0), (5, 1, 2)]
LIAR = 1


def recorded() -> History:
    """Return these steps, of which the third one is of a source of its own."""
    made = History()
    for number, step in enumerate(STEPS):
        made.add(*step, source=LIAR if number == 2 else 0, step=2 * number + 1)
        made.add(step[2], RESET, 0, step=2 * number + 2)
    return made


def test_the_last_steps_come_in_their_order_or_the_latest_first() -> None:
    made = recorded()
    assert [*made.recorded()] == STEPS and [*made.recorded([LIAR])] == [*STEPS[:2], STEPS[3]]
    assert [*made.latest()] == [(5, 1, 2, 7), (0, 1, 0, 5), (0, 1, 2, 1)]
    assert made.counts.as_dict() == {
        (0, 1): {2: 1, 0: 1}, (5, 1): {2: 1}, (2, RESET): {0: 2}, (0, RESET): {0: 1}}


def test_a_record_that_begins_again_keeps_what_says_when_a_change_began() -> None:
    made = recorded()
    made.begin_record()
    assert [*made.recorded()] == [] and [*made.latest()] == [*recorded().latest()]
    made.add(3, 1, 4, step=20)
    assert [*made.recorded()] == [(3, 1, 4)] and next(made.latest()) == (3, 1, 4, 20)


def test_without_a_source_its_steps_are_left_out_and_all_others_keep_their_numbers() -> None:
    made = recorded()
    made.keep_only([LIAR])
    assert [*made.recorded()] == [*STEPS[:2], STEPS[3]]
    assert [*made.latest()] == [(5, 1, 2, 7), (0, 1, 2, 1)]
    assert made.next_states(0, 1) == {2: 1} and made.next_states(2, RESET) == {0: 2}
    made.add(0, 1, 0, step=30)
    made.keep_only([0])
    assert [*made.latest()] == [] and made.next_states(0, 1) == {}
    made.add(0, 1, 2, step=40)
    assert [*made.latest()] == [(0, 1, 2, 40)]


def test_what_is_kept_is_bounded_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, 'MOST_RECORDED', 100)
    monkeypatch.setattr(history, '_REMEMBERED', 50)
    made = History()
    for step in range(1, 500):
        made.add(0, 0, step, step=step)
        last = [number for _, _, _, number in made.latest()]
        assert 75 <= len(last) <= 100 or len(last) == step
        assert last == [*range(step, step - len(last), -1)] == [
            after for _, _, after in made.recorded()][::-1]
    made.begin_record()
    assert len([*made.latest()]) == 50
    fresh = snapshot.put(snapshot.take(made), History())
    assert [*fresh.latest()] == [*made.latest()] and [*fresh.recorded()] == []
    fresh.add(0, 0, 9, step=505)
    assert next(fresh.latest()) == (0, 0, 9, 505)
