# SPDX-License-Identifier: Apache-2.0

"""The rows of arrays, against the counts that they repeat."""

from __future__ import annotations

import random

from mnm_ros.core import Counts, Declaration, Support, TransitionRows
import pytest
from tiers import strength


def as_counts(rows: TransitionRows) -> dict[tuple[int, int], dict[int, int]]:
    """Return what the rows say, in the form of the counts."""
    states = list(rows.places)
    found: dict[tuple[int, int], dict[int, int]] = {}
    for row, (places, tally) in enumerate(zip(rows.next.tolist(), rows.tally.tolist())):
        counted = {states[place]: int(n) for place, n in zip(places, tally) if n}
        assert len(counted) == sum(n > 0 for n in tally)    # no state has two slots
        if counted:
            found[rows.states[row // rows.actions], row % rows.actions] = counted
    return found


@pytest.mark.parametrize('seed', range(strength(6, 20)))
def test_the_rows_say_what_the_counts_say(seed: int) -> None:
    rng, actions, size = random.Random(seed), 3, 90
    counts = Counts()
    rows = TransitionRows(counts, actions)
    rows.enter(7)
    for _ in range(3000):
        state, action, following = (rng.randrange(size), rng.randrange(actions),
                                    int(rng.expovariate(0.1)) + 1000 * rng.randrange(2))
        draw = rng.random()
        if draw < 0.02 and state not in rows.numbers:
            rows.enter(state)    # what was counted there before counts, too
        elif draw < 0.04:
            counts.forget(state, action)
            rows.forget(state, action)
        else:
            counts.add(state, action, following)
            rows.add(state, action, following)
    entered = set(rows.states)
    assert as_counts(rows) == {
        pair: nexts for pair, nexts in counts.as_dict().items() if pair[0] in entered}
    assert rows.states[0] == 7 and rows.places[7] == 0
    assert [list(rows.places)[place] for place in rows.entered] == rows.states
    assert [rows.numbers[state] for state in rows.states] == list(range(len(rows.states)))
    assert len(rows.next) == len(rows.tally) == actions * len(rows.states)


def test_what_was_forgotten_is_counted_again() -> None:
    counts = Counts()
    rows = TransitionRows(counts, 1)
    rows.enter(0)
    for following in (5, 6, 6):
        counts.add(0, 0, following)
        rows.add(0, 0, following)
    counts.forget(0, 0)
    rows.forget(0, 0)
    assert as_counts(rows) == {} and not rows.tally.any() and 5 not in rows.numbers
    counts.add(0, 0, 6)
    rows.add(0, 0, 6)
    assert as_counts(rows) == {(0, 0): {6: 1}}


def test_a_pair_with_kept_samples_that_was_forbidden_for_a_while_keeps_them() -> None:
    counts, support = Counts(), Support(Declaration({0: ((1,), (0, 1))}))
    rows = TransitionRows(counts, 2, support)
    rows.enter(0)
    rows.carry({(0, 1): {0: 20}})
    rows.look()
    for ends, kept in ((((1,), ()), {}), (((1,), (0, 1)), {(0, 1): {0: 20}})):
        support.declare(Declaration({0: ends}), counts)
        rows.declare_again()
        rows.look()
        assert as_counts(rows) == kept
    counts.add(0, 1, 1)
    rows.add(0, 1, 1)
    rows.look()
    assert as_counts(rows) == {(0, 1): {0: 20, 1: 1}}


def test_kept_samples_of_a_state_that_is_entered_later_are_predicted_like_others() -> None:
    paid = []
    for entered_first in (True, False):
        rows = TransitionRows(Counts(), 1, Support())
        if entered_first:
            rows.enter(0)
        rows.carry({(0, 0): {0: 20, 1: 2}})
        if not entered_first:
            rows.enter(0)
        rows.look()
        paid.append(rows.predictions.paid.tolist())
    assert paid[0] == paid[1] != [0.0]
