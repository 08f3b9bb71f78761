# SPDX-License-Identifier: Apache-2.0

"""Predictions of rows: what they pay is a bet that nobody wins in the mean, whoever looks when."""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math

from binomial import binomial_tail
from mnm_ros.core import Counts, Declaration, EmpiricalModel, Support, TransitionRows
from mnm_ros.core.model.row_predictions import _rising, RowPredictions
import numpy as np
import pytest
from tiers import strength

ENDS = 3    # of a row, beside to stay


class World:
    """Some states with one action each, and what was seen there."""

    def __init__(self, states: int = 1) -> None:
        self.counts = Counts()
        self.rows = TransitionRows(self.counts, 1, Support())
        for state in range(states):
            self.rows.enter(state)

    def add(self, state: int, after: int) -> None:
        self.counts.add(state, 0, after)
        self.rows.add(state, 0, after)

    @property
    def paid(self) -> float:
        self.rows.look()
        return float(self.rows.predictions.paid.sum())


def taught(seed: int) -> World:
    """Return a world in which the row of state 0 was not tried, and others were at random."""
    world, rng = World(4), np.random.default_rng(seed)
    for state in (1, 2, 3):
        chances = rng.dirichlet(np.full(ENDS + 1, 0.5))
        for after in rng.choice(ENDS + 1, size=30, p=chances):
            world.add(state, 100 + int(after) if after else state)
    world.rows.look()
    return world


def told_apart(sequence: Sequence[int]) -> bool:
    """Return whether ends other than 0 come in the order of their numbers."""
    firsts = [end for end in dict.fromkeys(sequence) if end]
    return firsts == [*range(1, len(firsts) + 1)]


@pytest.mark.parametrize('seed', range(strength(1, 6)))
@pytest.mark.parametrize('carried', [False, True])
def test_the_chances_of_all_that_may_come_are_one(seed: int, carried: bool) -> None:
    """What is new is told apart by its order alone; who looks when has been drawn before."""
    length = 4
    looks = np.random.default_rng(seed).random(length) < 0.5
    free = not carried    # the first execution costs nothing
    for first in (0, 1) if free else (None,):
        total = 0.0
        for sequence in itertools.product(range(length + 1), repeat=length):
            if not told_apart(sequence) or first is not None and sequence[0] != first:
                continue
            world = taught(seed)
            if carried:
                world.rows.carry({(0, 0): {}})
            before = world.paid
            for end, look in zip(sequence, looks):
                world.add(0, 100 + end if end else 0)
                if look:
                    world.rows.look()
            total += math.exp(before - world.paid)
        assert total == pytest.approx(1.0, abs=1e-9)


def test_what_came_between_two_looks_costs_the_same_in_any_order() -> None:
    sequence = [0, 0, 101, 101, 0, 102, 101]
    costs = []
    for seed in range(8):
        world = taught(0)
        world.add(0, 0)
        for after in np.random.default_rng(seed).permutation(sequence):
            world.add(0, int(after))
        costs.append(world.paid)
    assert costs == pytest.approx([costs[0]] * 8)


def too_far(seed: int, begin: bool, nats: float) -> bool:
    """Return whether the truth of three rows is ever so far away, as they are tried at will."""
    rng, world = np.random.default_rng(seed), World(3)
    truth = [rng.dirichlet([9, 1, 0.3, 0.2]) for _ in range(3)]

    def step(state: int) -> None:
        after = int(rng.choice(4, p=truth[state]))
        world.add(state, 100 + after if after != 1 else state)
    if begin:
        for state in (0, 1, 2, 0, 1, 2):
            step(state)
        world.rows.start_again()
    for _ in range(25):
        model = EmpiricalModel.for_ruling_out(world.rows, range(3))
        for state in (*[int(model.excess.unseen.argmax())] * 3, int(rng.integers(3))):
            step(state)    # mostly what seems to be against the truth most
        model = EmpiricalModel.for_ruling_out(world.rows, range(3))
        states = {place: state for state, place in model.place_of.items()}
        evidence = -world.paid
        for row, slot in zip(*np.nonzero(model.tally)):
            after, count = states[int(model.places[row, slot])], model.tally[row, slot]
            chance = truth[row][1 if after == row else after - 100]
            evidence -= count * math.log(chance)
        if evidence >= nats:
            return True
    return False


@pytest.mark.parametrize('begin', [False, True])
def test_hardly_ever_is_the_truth_too_far_away(begin: bool) -> None:
    """In several rows together, whichever is tried next because of what came, at any time."""
    delta, runs = strength((0.5, 14), (0.2, 150))
    wrong = sum(too_far(seed, begin, -math.log(delta)) for seed in range(runs))
    assert binomial_tail(runs, delta, wrong) > 1e-3, wrong


def test_where_moves_hardly_ever_fail_that_is_soon_known_of_all() -> None:
    world, rng = World(40), np.random.default_rng(0)
    for state in range(40):
        for _ in range(3):
            world.add(state, state if rng.random() < 0.1 else state + 1)
    world.rows.start_again()
    for state in range(40):
        for _ in range(30):
            world.add(state, state if rng.random() < 0.1 else state + 1)
        if state % 10 == 0:
            world.rows.look()
    model = EmpiricalModel.for_ruling_out(world.rows, range(40))
    assert model.visits.sum() == pytest.approx(40 * 30, abs=4)
    # Of two ends, half a nat is what the best of all chances gains in the mean; log(31) / 2 = 1.7
    # nats and more it costs to know nothing of a row.
    assert model.excess.unseen.mean() < 1.0


def test_begun_again_only_what_follows_counts_and_what_was_forgotten_begins_again() -> None:
    world = World(2)
    for after in (1, 1, 0):
        world.add(0, after)
    world.rows.start_again()
    model = EmpiricalModel.for_ruling_out(world.rows, range(2))
    assert not model.visits.any() and not model.hits(1).any() and not world.paid
    assert EmpiricalModel.of(world.rows, range(2)).visits.tolist() == [3, 0]
    for after in (1, 7, 7):
        world.add(0, after)
    model = EmpiricalModel.for_ruling_out(world.rows, range(2))
    assert model.hits(1).any() and model.hits(7).any() and not model.hits(0).any()
    assert model.visits.tolist() == [2, 0]    # 7 was new once
    assert world.rows.aside((0, 0)) == 4
    world.counts.forget(0, 0)
    world.rows.forget(0, 0)
    world.add(0, 1)
    model = EmpiricalModel.for_ruling_out(world.rows, range(2))
    assert model.hits(1).any() and not model.visits.any()    # the first one is not predicted
    late = World(1)
    late.rows.start_again()
    late.counts.add(5, 0, 6)
    late.rows.enter(5)    # what was seen there before nobody asked for
    assert not EmpiricalModel.for_ruling_out(late.rows, (0, 5)).visits.any()


def test_what_is_carried_costs_the_same_whoever_looks_when() -> None:
    costs = []
    for looks in (1, 4):
        world = taught(looks)
        world.rows.carry({(0, 0): {0: 20, 101: 2}})
        for after in (0, 0, 102, 101):
            world.add(0, after)
            if looks > 1:
                world.rows.look()
        world.rows.look()
        costs.append(float(world.rows.predictions.paid[0]))
    assert costs[0] == pytest.approx(costs[1])
    world.rows.carry({})    # from now on it is one like the others
    assert not EmpiricalModel.for_ruling_out(world.rows, (0,)).visits.any()


def test_what_came_before_a_row_was_entered_is_predicted_by_nothing_learnt_since() -> None:
    paid = []
    for learnt in (True, False):
        world = World(4)
        for state in (1, 2, 3) * 30 * learnt:
            world.add(state, state)
        world.rows.look()
        for _ in range(5):
            world.counts.add(9, 0, 9)
        world.rows.enter(9)
        world.rows.look()
        at_once = float(world.rows.predictions.paid[4])
        for _ in range(5):
            world.add(9, 9)
        world.rows.look()
        paid.append((at_once, float(world.rows.predictions.paid[4]) - at_once))
    (with_others, since_with), (alone, since_alone) = paid
    assert with_others == pytest.approx(alone) and alone > 0
    assert since_with < since_alone    # what comes from then on, by what all rows did


@pytest.mark.parametrize('late', [False, True])
def test_an_end_that_was_added_because_it_came_was_not_to_be_expected(late: bool) -> None:
    """An exploration adds it to the support first, and counts it then."""
    support, counts = Support(Declaration({9: ((5, 9),)}, audit=0.0)), Counts()
    rows = TransitionRows(counts, 1, support)
    for state in (0,) if late else (0, 9):
        rows.enter(state)
    for after in (5, 5, 5, 7, 5, 7):
        if support.refuted_by(9, 0, after):
            support.refute(9, 0, after)
            rows.declare_again()
        counts.add(9, 0, after)
        rows.add(9, 0, after)
    if late:
        rows.enter(9)
    rows.look()
    aside = dict(zip(rows.next[1].tolist(), rows.predictions.aside[1].tolist()))
    assert aside[rows.places[7]] == 1.0 and sum(aside.values()) == 1.0


def test_a_row_that_is_declared_need_not_be_tried_to_know_its_ends() -> None:
    predictions = RowPredictions()
    tally, stays = np.zeros((1, 2)), np.array([[False, True]])
    predictions.look(tally, stays, np.array([[True, True]]), lambda row: 0)
    tally[0, 0] = 1.0
    predictions.look(tally, stays, np.array([[True, True]]), lambda row: 0)
    assert not predictions.aside.any() and 0 < predictions.paid[0] < math.log(4)


def test_the_gamma_function_is_that_of_the_standard_library() -> None:
    values = np.array([1e-3, 0.02, 0.5, 1.0, 2.5, 7.9, 8.1, 100.0, 12345.6, 1e7])
    assert _rising(np.ones_like(values), values - 1) == pytest.approx(
        [math.lgamma(value) for value in values], rel=1e-9, abs=1e-9)
