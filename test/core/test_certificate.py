# SPDX-License-Identifier: Apache-2.0

"""Certificates by the model: never below the truth beyond their delta, and not far above it."""

from __future__ import annotations

import math

from binomial import binomial_tail
from mnm_ros.core import Counts, EmpiricalModel, Policy, RESET, TransitionRows
from mnm_ros.core.statistics.certificate import ConfidenceSets, PolicyModel
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
from mnm_ros.simulation.cmp import Outcomes, TableCmp
from mnm_ros.simulation.ground_truth import expected_steps
import numpy as np
import pytest
from tiers import strength, thorough

# By chance a true statement fails its test once in a thousand.
SIGNIFICANCE = 1e-3
ACTIONS, HORIZON, LIMIT = 2, 9, 6.0


def random_cmp(rng: np.random.Generator, states: int) -> TableCmp:
    """Return a CMP whose pairs have one to four next states, some of them rare."""
    table: dict[tuple[int, int], Outcomes] = {}
    for state in range(states):
        for action in range(ACTIONS):
            size = int(rng.integers(1, 5))
            after = rng.choice(states, size=size, replace=False)
            chances = rng.dirichlet(np.full(size, 0.5))
            table[state, action] = tuple(
                (int(s), float(p)) for s, p in zip(after, chances) if p > 0)
    return TableCmp(0, ACTIONS, table)


def sample(cmp: TableCmp, rng: np.random.Generator, known: range, delta: float, most: int
           ) -> ConfidenceSets:
    """Execute every pair of the known states up to ``most`` times."""
    sets = ConfidenceSets(delta)
    for state in known:
        for action in range(ACTIONS):
            after, chances = zip(*cmp.transitions(state, action))
            for number in rng.choice(len(after), size=rng.integers(1, most), p=chances):
                sets.add(state, action, after[number])
    return sets


def planned(counts: Counts, known: range, target: int) -> tuple[int, ...]:
    """Return the actions of a policy that the counts suggest."""
    rows = TransitionRows(counts, ACTIONS)
    for state in known:
        rows.enter(state)
    moves, _ = EmpiricalModel.of(rows, known).smoothed_plan(target, LIMIT)
    return tuple(int(move) for move in moves)


def attempt_cost(cmp: TableCmp, policy: Policy) -> float:
    """Return the exact ``E[X]`` of an attempt of a published policy."""
    cost, here = 0.0, {cmp.start: 1.0}
    for step in range(policy.horizon):
        there: dict[int, float] = {}
        for state, weight in here.items():
            if not policy.covers(state):
                cost += weight * (1 + LIMIT)
                continue
            cost += weight
            for after, chance in cmp.transitions(state, policy.action(step, state)):
                if after != policy.target:
                    there[after] = there.get(after, 0.0) + weight * chance
        here = there
    return cost + sum(here.values()) * (1 + LIMIT)


def test_a_set_ever_misses_its_distribution_with_no_more_than_its_probability() -> None:
    delta, runs, missed = 0.5, 300, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        chances = rng.dirichlet(np.full(rng.integers(1, 6), 0.5))
        sets = ConfidenceSets(delta)
        outside = False
        for state in rng.choice(len(chances), size=150, p=chances):
            sets.add(0, 0, int(state))
            fractions, radius = sets.ball(0, 0)
            outside = outside or math.fsum(
                f * math.log(f / chances[s])
                for f, s in zip(fractions, sets.counts.next_states(0, 0)) if f) > radius
        missed += outside
    assert binomial_tail(runs, delta / 2, missed) > SIGNIFICANCE, missed
    assert missed > 0, 'the sets are needlessly large'


def test_the_jth_pair_gets_its_part_of_the_delta() -> None:
    sets = ConfidenceSets(0.1)
    for state in range(3):
        sets.add(state, 0, 7)
        sets.add(state, 0, 7)
        # Two of a kind: W = 1, and "not new" was predicted with 1 - 1/4.
        assert sets.ball(state, 0) == ([1.0, 0.0], pytest.approx(
            -math.log(share(state + 1, EVEN_PARTS) * 0.1) - math.log(3 / 4)))
    assert sets.ball(9, 0) == ([0.0], math.inf)


@pytest.mark.parametrize('most', [6, pytest.param(60, marks=thorough(
    'core/test_certificate.py::'
    'test_a_bound_is_below_the_truth_with_no_more_than_its_probability')), 600])
def test_a_bound_is_below_the_truth_with_no_more_than_its_probability(most: int) -> None:
    """For policies that are chosen after the data, and however they are published later."""
    delta, runs, broken = 0.2, strength(12, 40), 0
    states, known = 6, range(4)
    for seed in range(runs):
        rng = np.random.default_rng([most, seed])
        cmp = random_cmp(rng, states)
        sets = sample(cmp, rng, known, delta, most)
        wrong = False
        for target in (4, 5):
            other = tuple(int(a) for a in rng.integers(RESET, ACTIONS, size=len(known)))
            for actions in (planned(sets.counts, known, target), other):
                policy = Policy(target, HORIZON, tuple(known), (actions,))
                model = PolicyModel(sets, policy, LIMIT)
                bound = model.bound * (1 + 1e-9)
                wrong |= model.lower_bound() > attempt_cost(cmp, policy) * (1 + 1e-9)
                for published in (policy, policy.on(range(5)), policy.on(range(states))):
                    wrong |= bound < attempt_cost(cmp, published)
                    wrong |= bound <= LIMIT * (1 - 1e-9) < expected_steps(cmp, published) / (
                        1 + 1e-9)
        broken += wrong
    assert binomial_tail(runs, delta, broken) > SIGNIFICANCE, broken


def test_with_many_samples_the_bound_comes_close_to_the_truth() -> None:
    cmp = TableCmp(0, ACTIONS, {
        (0, 0): ((1, 0.8), (0, 0.2)), (1, 0): ((4, 0.7), (2, 0.3)), (2, 0): ((1, 1.0),)})
    rng = np.random.default_rng(0)
    sets = ConfidenceSets(0.1)
    for state in range(3):
        for action in range(ACTIONS):
            after, chances = zip(*cmp.transitions(state, action))
            for number in rng.choice(len(after), size=30_000, p=chances):
                sets.add(state, action, after[number])
    actions = planned(sets.counts, range(3), 4)
    policy = Policy(4, HORIZON, (0, 1, 2), (actions,))
    model = PolicyModel(sets, policy, LIMIT)
    assert attempt_cost(cmp, policy) - 0.15 < model.lower_bound() < attempt_cost(cmp, policy)
    assert actions[:2] == (0, 0)
    assert attempt_cost(cmp, policy) < model.bound < attempt_cost(cmp, policy) + 0.15
    assert model.empirical == pytest.approx(attempt_cost(cmp, policy), abs=0.05)
    assert model.steps == pytest.approx(expected_steps(cmp, policy), abs=0.05)


def test_the_bound_of_one_sure_step_written_out() -> None:
    sets = ConfidenceSets(0.1)
    for _ in range(50):
        sets.add(0, 0, 1)
    # Never *new*: the product of 1 - 1/(t+1)^2 for t = 1 .. 49 is 51/100.
    arrives = math.exp((math.log(share(1, EVEN_PARTS) * 0.1) + math.log(51 / 100)) / 49)
    home = outside = 1 + LIMIT
    for _ in range(HORIZON):
        home, outside = 1 + (1 - arrives) * max(home, outside), max(1 + LIMIT, 1 + home)
    certificate = PolicyModel(sets, Policy(1, HORIZON, (0,), ((0,),)), LIMIT)
    assert certificate.bound == pytest.approx(home, rel=1e-9)
    assert certificate.empirical == pytest.approx(1.0)
    assert certificate.steps == 1.0
    assert list(certificate.weights) == [(0, 0)]


def test_nothing_is_certified_without_samples() -> None:
    sets = ConfidenceSets(0.1)
    sets.add(0, 0, 1)
    certificate = PolicyModel(sets, Policy(1, HORIZON, (0,), ((0,),)), LIMIT)
    assert certificate.bound > 1 + LIMIT and certificate.weights


def test_a_step_that_was_broken_off_may_have_led_anywhere() -> None:
    """The lost steps of state 0 had led to the target, and state 1 is known well."""
    sets = ConfidenceSets(0.1)
    policy = Policy(2, 12, (0, 1), ((0, 0),))
    for _ in range(400):
        sets.add(0, 0, 1)
        for _ in range(3):
            sets.add_censored(0, 0)
        sets.add(1, 0, 1)
        sets.add(1, 0, 3)
    model = PolicyModel(sets, policy, 3.0)
    arriving = 1 - 0.25
    assert model.lower_bound() < arriving + 0.25 * (2 + 4)
    assert model.bound > 1 + (1 + 3.0) * arriving


def test_the_counts_as_the_truth_written_out() -> None:
    """A fifth of the moves leaves the policy's states, which ends an attempt as failed."""
    cmp = TableCmp(0, ACTIONS, {
        (0, 0): ((1, 0.5), (2, 0.3), (5, 0.2)), (1, 0): ((4, 0.8), (5, 0.2)),
        (2, 0): ((2, 1.0),)})
    sets = ConfidenceSets(0.1)
    for state in range(3):
        for after, chance in cmp.transitions(state, 0):
            for _ in range(round(10 * chance)):
                sets.add(state, 0, after)
    policy = Policy(4, 40, (0, 1, 2), ((0, 0, RESET),))
    model = PolicyModel(sets, policy, LIMIT)
    assert model.empirical == pytest.approx(attempt_cost(cmp, policy))
    assert model.steps == pytest.approx(expected_steps(cmp, policy))
    # A RESET leaves nothing open.
    assert set(model.weights) == {(0, 0), (1, 0)}


@pytest.mark.parametrize('shown', [0, 3])
def test_mass_never_seen_is_on_the_target_in_the_lower_bound(shown: int) -> None:
    """Without doubt the counts are the truth, but for what was never executed."""
    sets = ConfidenceSets(0.1)
    for _ in range(shown):
        sets.add(0, 0, 1)
    for after in (0, 2, 2, 0, 5, 5):
        sets.add(1, 0, after)
    model = PolicyModel(sets, Policy(2, 60, (0, 1), ((0, 0),)), LIMIT)
    sure, doubted = model.lower_bound(doubt=False), model.lower_bound()
    assert 1 <= doubted <= sure
    if not shown:
        assert sure == doubted == 1    # the first step may arrive
    else:
        assert sure > 2


def test_the_lower_bound_of_one_pair_written_out() -> None:
    """A third of the moves leaves the policy's states: that is over, or a RESET and a new try."""
    sets = ConfidenceSets(0.1)
    for after, times in ((1, 21), (5, 11)):    # one execution each may have been chance
        for _ in range(times):
            sets.add(0, 0, after)
    model = PolicyModel(sets, Policy(1, 9, (0,), ((0,),)), LIMIT)
    home = outside = 1 + LIMIT
    for _ in range(9):
        home, outside = 1 + outside / 3, min(1 + LIMIT, 1 + home)
    assert model.lower_bound(doubt=False) == pytest.approx(home)
    assert 1 <= model.lower_bound() < home


class Exact:
    """Balls that hold the truth alone: a bound that rests on them has no room to be wrong."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    def ball(self, state: int, action: int) -> tuple[list[float], float]:
        times = self.counts.next_states(state, action).values()
        return [*(each / sum(times) for each in times), 0.0], 0.0


def test_a_reset_that_is_published_later_is_no_free_step() -> None:
    """Half of the attempts leave the policy's states when just one more step is left."""
    cmp = TableCmp(0, 1, {(0, 0): ((1, 1.0),), (1, 0): ((2, 0.5), (3, 0.5)), (3, 0): ((3, 1.0),)})
    counts = Counts()
    for pair, after in (((0, 0), 1), ((1, 0), 2), ((1, 0), 3)):
        counts.add(*pair, after)
    policy = Policy(2, 3, (0, 1), ((0, 0),))
    bound = PolicyModel(Exact(counts), policy, LIMIT).bound
    failed_there, reset_there = attempt_cost(cmp, policy), attempt_cost(cmp, policy.on((0, 1, 3)))
    assert failed_there == 2 + (1 + LIMIT) / 2 and reset_there == failed_there + 1 / 2
    assert bound == pytest.approx(reset_there)


def test_the_price_of_each_prediction_written_out() -> None:
    """What is new costs more the later it comes; a step that was broken off is one more symbol."""
    sets = ConfidenceSets(0.1)
    for after in (1, 2, 1, 1, 2):
        sets.add(0, 0, after)
    sets.add_censored(0, 0)
    chances = [1 / 4, (1 - 1 / 9) / 2, (1 - 1 / 16) * 2 / 3, (1 - 1 / 25) / 4, 1 / 36]
    price = -math.log(share(1, EVEN_PARTS) * 0.1) - math.fsum(map(math.log, chances))
    fractions, radius = sets.ball(0, 0)
    assert fractions == pytest.approx([2 / 3, 1 / 3, 0])
    entropy = math.log(3) - 2 / 3 * math.log(2)
    assert radius == pytest.approx(price / 3 - entropy)
