# SPDX-License-Identifier: Apache-2.0

"""Optimistic planning with the unseen state, against value iteration state by state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import math

from mnm_ros.core import (
    Counts,
    Declaration,
    EmpiricalModel,
    OptimisticPlanner,
    RESET,
    Support,
    TransitionRows,
)
from mnm_ros.core.planning.optimistic_planner import _Kept, _seers
from mnm_ros.core.planning.plausible import (
    budget,
    confidence_region,
    IDLE,
    IDLE_IF_ALL_KNOWN,
    LEVELS,
    Rank,
)
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
from mnm_ros.core.statistics.kl_ball import least_mean
import numpy as np
import pytest
from random_models import OUTSIDE, RandomModel, TARGET
from tiers import strength, thorough

DELTA = 0.05
COMPARED = 40    # steps; value iteration takes too long to find greater values
MASSES = strength(10, 60)    # on the target that the reference tries
RADIUS = 0.5    # whatever is farther away is ruled out, so that plans are made to the end
TARGETS = pytest.mark.parametrize('target', [None, TARGET])


def new_planner(delta: float = DELTA) -> OptimisticPlanner:
    return OptimisticPlanner(delta, RADIUS)


def least(values: np.ndarray, weights: np.ndarray, floor: np.ndarray, radius: np.ndarray,
          masses: np.ndarray, tilt: np.ndarray) -> np.ndarray:
    """
    Return the least mean, row by row, over some masses on the target.

    :param values: as [row, next], with the same weights in each row.
    :param masses: as [row, mass].
    :param tilt: what the solver begins with, and ends with.
    """
    rows, tries = masses.shape
    _, means = least_mean(
        np.tile(weights / weights.sum(), (rows * tries, 1)),
        np.repeat(values - floor[:, None], tries, axis=0),
        np.maximum(0.0, radius[:, None] + np.log1p(-masses)).ravel(), tilt)
    return ((1 - masses) * (floor[:, None] + means.reshape(rows, tries))).min(axis=1)


class Way(RandomModel):
    """A way of some states to the target, on which moves slip, lead back, or get lost."""

    def __init__(self, seed: int) -> None:
        self.begin(seed, (3, 6), (1, 3))
        for state in range(self.known):
            onward = state + 1 if state + 1 < self.known else TARGET
            for action in range(self.actions):
                times = self.rng.integers([20, 0, 0, 0], [200, 30, 30, 10])
                for after, number in zip((onward, state, max(0, state - 1), OUTSIDE), times):
                    self.add(state, action, after, int(number))


class Reference:
    """What the planner looks for, by value iteration and by the formulas of ``plausible.py``."""

    def __init__(self, made: RandomModel, target: int | None, radius: float = RADIUS) -> None:
        self.made, self.target = made, target
        states = range(made.known)
        self.saw = {(s, a) for s in states for a in range(made.actions)
                    if target in made.counts.next_states(s, a)}
        self.bets, self.even_bets = min(1 / 8, 5.5 / radius), 0.1 / made.known
        self.budget = (-math.log(share(made.known, EVEN_PARTS) * DELTA)
                       + 0.1 + self.bets * min(made.known, radius)
                       + len({state for state, _ in self.saw}) * math.log(2))
        self.tilts: dict[tuple[int, int, int], np.ndarray] = {}

    def through(self, state: int, action: int, spent: np.ndarray,
                bets: np.ndarray, ahead: Callable[[int], np.ndarray],
                floor: np.ndarray) -> np.ndarray:
        """Return the least steps of a pair, row by row, that is charged so much."""
        nexts = self.made.counts.next_states(state, action)
        visits = sum(nexts.values())
        if not visits:
            return np.ones(len(spent))    # it may lead to the target at once
        odds = (0.5 if (state, action) in self.saw else 1) / bets
        excess = (self.made.model.excess.unseen[state * self.made.actions + action]
                  + 0.5 * ((state, action) in self.saw))
        whole = np.array([max(0.0, math.log(math.expm1(nats) * each) + excess) if nats else 0.0
                          for nats, each in zip(spent, odds)])
        values = np.array([np.zeros(len(spent)) if end == self.target else ahead(end)
                           for end in nexts]).T
        weights = np.array(list(nexts.values()), float)
        if (state, action) in self.saw:
            floor, masses = 0 * floor, np.zeros((len(spent), 1))
        else:
            jump = np.log((np.exp(spent) - 0.5) / 0.5)
            most = -np.expm1(-np.minimum(jump, whole) / visits)
            masses = most[:, None] * np.linspace(0.0, 1.0, MASSES)
        tilt = self.tilts.setdefault((state, action, len(spent)), np.full(masses.size, np.nan))
        return 1 + least(values, weights, floor, whole / visits, masses, tilt)

    def fixed_point(self, best: Callable[[np.ndarray, int], float]) -> np.ndarray:
        """Return the values; ``best`` gives that of a state from all values."""
        values = np.ones(self.made.known)
        for _ in range(4000):
            before = values.copy()
            for state in reversed(range(self.made.known)):    # what is ahead comes first
                found = best(values, state)
                values[state] = min(found, 1 + values[0]) if state else found
            if np.abs(values - before).max() < 1e-7 * values.max() or values[0] > COMPARED:
                break
        return values

    def alone(self, spent: Sequence[float] | None = None) -> float:
        """Return the steps if each state is charged so much, by default more than the budget."""
        def best(values: np.ndarray, state: int) -> float:
            nats = np.array([self.budget if spent is None else spent[state]])
            bets = np.array([self.even_bets if spent is None else self.bets])
            return float(min(self.through(
                state, action, nats, bets,
                lambda end: values[[end]] if end < self.made.known else 1 + values[[0]],
                values.min(keepdims=True))[0] for action in range(self.made.actions)))
        return float(self.fixed_point(best)[0])

    def together(self, multiplier: float) -> float:
        """Return the bound at a multiplier."""
        lows = np.array([*(level for level in LEVELS if level < self.budget), self.budget])
        highs = np.append(lows[1:], self.budget)
        bets = np.append(np.full(len(lows) - 1, self.bets), self.even_bets)

        def best(values: np.ndarray, state: int) -> float:
            back = np.maximum(0.0, values[state] - multiplier * lows)
            return float(min((multiplier * lows + self.through(
                state, action, highs, bets,
                lambda end: np.minimum(values[end], back) if end < self.made.known else (
                    1 + np.minimum(values[0], back)),
                np.minimum(back, values.min()))).min() for action in range(self.made.actions)))
        return float(self.fixed_point(best)[0]) - multiplier * self.budget


@TARGETS
@pytest.mark.parametrize('seed', range(strength(3, 12)))
def test_it_agrees_with_value_iteration(seed: int, target: int | None) -> None:
    made = RandomModel(seed, most=2.0, target=target is not None)
    found, reference = new_planner().plan(made.model, target), Reference(made, target).alone()
    assert len(found.moves) == len(found.gains) == made.known
    if reference < COMPARED:
        # The reference tries only some masses, so that it may be a little above the minimum.
        assert reference * (1 - 0.01) <= found.steps <= reference * (1 + 1e-4)
    else:
        assert found.steps > COMPARED / 2


def with_multiplier(made: RandomModel, target: int | None, multiplier: float) -> float:
    """Return what the planner finds when the pairs share the budget at a multiplier."""
    model = made.model
    hits = model.hits(TARGET) & (target is not None)
    planner = new_planner()
    leads = model.leads(target)
    shared = confidence_region(model, hits, leads, _seers(model, hits), Rank.last(
        model.states, (), [target]), DELTA, RADIUS)
    return planner._solve(
        _Kept(), 'together', model, hits, leads, shared, multiplier)[0].steps


@TARGETS
@pytest.mark.parametrize('seed', strength((3,), range(4)))
def test_what_pairs_spend_together_agrees_with_value_iteration(
        seed: int, target: int | None) -> None:
    models = RandomModel(seed, most=2.0), Way(seed)
    for made in strength(models[target is not None:][:1], models):    # with each target another
        for multiplier in strength((0.06,), (0.02, 0.2)):
            # As above, the reference may be a little above the minimum.
            reference = Reference(made, target).together(multiplier)
            found = with_multiplier(made, target, multiplier)
            assert reference - 0.02 <= found <= reference + 1e-3, (multiplier, found)


@pytest.mark.parametrize('target', [TARGET, pytest.param(None, marks=thorough(
    'core/test_optimistic_planner.py::'
    'test_a_chain_that_spends_the_budget_anyhow_is_not_sooner_there'))])
@pytest.mark.parametrize('seed', range(strength(1, 8)))
def test_a_chain_that_spends_the_budget_anyhow_is_not_sooner_there(
        seed: int, target: int | None) -> None:
    """However it is shared out, the most favourable chain takes no fewer steps than the bound."""
    made, rng = Way(seed), np.random.default_rng(seed)
    reference = Reference(made, target)
    bound = max(with_multiplier(made, target, multiplier)
                for multiplier in strength((0.02, 0.2), (0.02, 0.06, 0.2)))
    for concentration in strength((0.05,), (0.05, 0.2, 1.0, 5.0)):
        shares = rng.dirichlet(np.full(made.known, concentration))
        steps = reference.alone((reference.budget * shares).tolist())
        assert bound <= steps * (1 + 1e-6), (bound, steps, shares)


def test_the_bound_is_no_less_than_without_sharing_where_it_is_of_use() -> None:
    """On a long way with slips, all of whose pairs would have to be very lucky."""
    counts, rows = Counts(), TransitionRows(Counts(), 1)
    for state in range(9):
        rows.enter(state)
        for after, times in ((state + 1, 90), (state, 10)):
            for _ in range(times):
                counts.add(state, 0, after)
                rows.add(state, 0, after)
    model = EmpiricalModel.of(rows, range(9))
    alone = OptimisticPlanner(DELTA, 1.0).plan(model, 9).steps
    planner = OptimisticPlanner(DELTA, 9.0)
    together = [planner.plan(model, 9).steps for _ in range(20)][-1]
    assert alone + 0.5 < together < 10.0


SEERS = range(1, strength(61, 151))
FAN = {(0, seer): 25 for seer in SEERS} | {
    (seer, after): times for seer in SEERS for after, times in ((TARGET, 22), (seer, 3))}
BACK = {(state, after): times for state in range(5)
        for after, times in ((state + 1 if state < 4 else TARGET, 85), (0, 15))}


@pytest.mark.parametrize('transitions, times, radius', [
    pytest.param(FAN, 6, 2.0, id='many have seen it, which adds to the budget'),
    pytest.param(BACK, 1, 6.0, id='much leads back')])
def test_with_enough_samples_whatever_is_too_far_is_ruled_out(
        transitions: dict[tuple[int, int], int], times: int, radius: float) -> None:
    rows = TransitionRows(Counts(), 1)
    known = range(1 + max(state for state, _ in transitions))
    for state in known:
        rows.enter(state)
    for (state, after), number in transitions.items():
        for _ in range(number):
            rows.add(state, 0, after)
    model, planner = EmpiricalModel.of(rows, known), OptimisticPlanner(DELTA, radius)
    few = replace(model, tally=times * model.tally)
    assert planner.plan(few, TARGET).steps <= radius
    many = replace(few, tally=1e4 * few.tally)
    assert any(planner.plan(many, TARGET).steps > radius for _ in range(60))


@pytest.mark.parametrize('radius', [1.0, 4.0, 13.0, 50.0, 90.0, 1000.0])
@pytest.mark.parametrize('given', [0, 1, 2, 21, 22, 23, 200])
def test_the_budget_grows_with_the_rank(radius: float, given: int) -> None:
    """Otherwise a missing state of a lower rank would have more of it than is counted with."""
    for seers in (0, 3):
        budgets = [budget(Rank.last(range(known), range(given), [None]), DELTA, radius, seers)
                   for known in range(max(1, given), strength(120, 1500))]
        assert all(one < next_ for one, next_ in zip(budgets, budgets[1:]))


@pytest.mark.parametrize('given', [0, 1, 5])
def test_all_that_may_be_missing_together_have_delta_and_no_more(given: int) -> None:
    """Each state that was given may get lost, and states outside come one after the other."""
    end = strength(1000, 4000)
    known = range(max(1, given), end)
    total = math.fsum(Rank.last(range(n), range(given), [None]).part for n in known)
    for lost in range(given):
        rest = [state for state in range(given) if state != lost]
        total += math.fsum(Rank.last(
            [*rest, *range(given, n)], range(given), [lost]).part for n in known)
    left = math.sqrt(11 / (end + 10)) if not given else 1 / end
    assert 1 - 1.5 * left < total < 1


def test_what_is_given_leaves_no_doubt_about_the_rank_until_something_is_new() -> None:
    given = range(9)
    assert Rank.last(given, given, [None]) == (10, 7 / 16)
    assert Rank.last([*given, 30, 31], given, [40]) == (12, pytest.approx(7 / 8 / 12))
    # One that was given and is lost may be what was not seen since then, too.
    for targets in ([8], [None], [40, 8]):
        assert Rank.last([*range(8), 30], given, targets) == (11, pytest.approx(1 / 72 / 6))
    assert Rank.last([*range(8), 30], given, [40]) == (11, pytest.approx(7 / 8 / 6))


@TARGETS
@pytest.mark.parametrize('seed', range(strength(4, 25)))
def test_to_rule_out_more_surely_is_to_expect_more(seed: int, target: int | None) -> None:
    made = RandomModel(seed, target=target is not None)
    steps = [new_planner(delta).plan(made.model, target).steps
             for delta in (1e-6, 1e-3, 0.01, 0.1, 0.5)]
    assert all(one <= next_ * (1 + 1e-6) for one, next_ in zip(steps, steps[1:]))
    assert steps[0] >= 1


@TARGETS
@pytest.mark.parametrize('seed', range(strength(2, 25)))
def test_it_does_not_matter_where_it_begins(seed: int, target: int | None) -> None:
    made, planner = RandomModel(seed, target=target is not None), new_planner()
    for _ in range(6):
        warm, cold = (each.plan(made.model, target)
                      for each in (planner, new_planner()))
        assert warm.steps == pytest.approx(cold.steps, rel=1e-5)
        made.sample(2.0, target is not None)
    planner.forget(TARGET)
    fresh = new_planner().plan(made.model, TARGET)
    assert planner.plan(made.model, TARGET).steps == fresh.steps


@pytest.mark.parametrize('seed', range(strength(5, 25)))
def test_a_state_that_is_ruled_out_with_others_is_ruled_out_alone(seed: int) -> None:
    made = RandomModel(seed, most=2.0)
    planner = new_planner()
    alone = {target: planner.plan(made.model, target).steps for target in (TARGET, OUTSIDE, None)}
    together = planner.plan_for_any(made.model, (TARGET, OUTSIDE)).steps
    assert together <= min(alone.values()) * (1 + 1e-6)
    # One that nothing leads to is as well ruled out with what was never seen.
    assert planner.plan_for_any(made.model, (12345,)).steps == pytest.approx(
        planner.plan(made.model, 12345).steps)


def test_where_another_one_followed_a_pair_may_do_no_less() -> None:
    """Two pairs of home were tried eight times each, and each has led to another target once."""
    counts = Counts()
    rows = TransitionRows(counts, 2)
    rows.enter(0)
    for action, target in ((0, TARGET), (1, OUTSIDE)):
        for after in (0,) * 7 + (target,):
            counts.add(0, action, after)
            rows.add(0, action, after)
    model = EmpiricalModel.of(rows, [0])
    hits = [model.hits(target) for target in (TARGET, OUTSIDE)]
    rank = Rank.last(model.states, (), [TARGET, OUTSIDE])
    one, other, both = (confidence_region(
        model, each, model.leads(TARGET), 1, rank, DELTA, RADIUS, several=several)
        for each, several in ((hits[0], False), (hits[1], False), (hits[0] | hits[1], True)))
    assert (both.radius >= np.maximum(one.radius, other.radius)).all()
    assert (both.whole.radius >= np.maximum(one.whole.radius, other.whole.radius)).all()


def test_a_plan_leads_home_from_where_nothing_leads_on_and_says_what_its_pairs_owe() -> None:
    """Home leads to 1, and 1 to the target; 2 leads nowhere, by any action."""
    counts = Counts()
    rows = TransitionRows(counts, 2)
    for state in range(3):
        rows.enter(state)
    for state, action, after in ((0, 0, 1), (0, 1, 2), (1, 0, TARGET), (1, 1, 2), (2, 0, 2),
                                 (2, 1, 2)):
        for _ in range(3000):
            counts.add(state, action, after)
            rows.add(state, action, after)
    outlook = new_planner().plan(EmpiricalModel.of(rows, range(3)), TARGET)
    assert outlook.moves.tolist() == [0, 0, RESET]
    assert 1.9 < outlook.steps <= 2
    # What the counts say is certain is 2 steps; optimism hopes to skip some of them.
    assert outlook.gains.sum() == pytest.approx(2 - outlook.steps, abs=1e-3)
    assert outlook.gains[2] == 0 and (outlook.gains >= 0).all()


@pytest.mark.parametrize('idle', [IDLE, IDLE_IF_ALL_KNOWN])
def test_room_is_that_of_the_text(idle: float) -> None:
    """Who saw the target adds to the budget, and what a pair may do follows from what it spent."""
    made = RandomModel(3)
    hits, visits = made.model.hits(TARGET), made.model.visits
    executed = visits > 0
    reference = Reference(made, TARGET)
    for seers in range(3):
        found = confidence_region(
            made.model, hits, made.model.leads(TARGET), seers,
            Rank.last(made.model.states, (), [TARGET]), DELTA, RADIUS, idle=idle)
        base = reference.budget - len({state for state, _ in reference.saw}) * math.log(2)
        assert found.budget == pytest.approx(base - seers * math.log(idle))
        most = np.append(found.spent[1:], found.budget)
        nats = -np.log1p(-found.mass[:, executed]) * visits[executed]
        assert nats == pytest.approx(np.broadcast_to(
            np.log((np.exp(most) - idle) / (1 - idle))[:, None], nats.shape), rel=1e-6)
        bets = np.append(np.full(len(most) - 1, reference.bets), reference.even_bets)
        whole = np.maximum(0.0, np.log(
            (np.expm1(most) / bets)[:, None] * np.where(found.saw, idle, 1.0))
            + made.model.excess.unseen + 0.5 * found.saw)[:, executed]
        assert found.radius[:, executed] * visits[executed] == pytest.approx(whole)
        assert found.rest[:, executed] * visits[executed] == pytest.approx(
            np.maximum(0.0, whole - nats), abs=1e-6)


def test_what_is_charged_at_first_visits_is_no_more_than_what_is_spent() -> None:
    """And leaves as much room as the bets of a pair do that is visited with any chance."""
    bets, rng = 1 / 8, np.random.default_rng(0)
    for _ in range(1000):
        chance, even = rng.random() ** 3, 10 ** rng.uniform(-4, -1)
        spent = 10 ** rng.uniform(-3, 1)
        weight = bets * chance + even    # w / (1 - w)
        charged = math.log1p(math.expm1(spent) / min(1.0, chance + even / bets))
        assert chance * charged <= spent * (1 + 1e-9) and charged >= spent * (1 - 1e-9)
        assert math.expm1(charged) / bets >= math.expm1(spent) / weight * (1 - 1e-9)


def test_where_the_fewest_moves_lead_round_and_round_another_way_is_found() -> None:
    """State 6 may be one move from 2, but what it has done twice seems better, and only stays."""
    counts = Counts()
    rows = TransitionRows(counts, 2, Support(Declaration({
        0: ((0, 4), (1, 0)), 1: ((1, 0, 5), (2, 1, 0)), 2: ((2, 1, 6), (3, 2, 1)),
        5: ((5,), (5,)), 6: ((2, 5, 10), (7, 2, 5))})))
    known = (0, 1, 5, 2, 6)
    for state in known:
        rows.enter(state)
    for step in ((2, 1, 3), (2, 1, 2), (2, 1, 1), (6, 0, 5), (6, 0, 10), (6, 1, 7)):
        counts.add(*step)
        rows.add(*step)
    plan = OptimisticPlanner(DELTA, 7.0).plan(EmpiricalModel.of(rows, known), 3)
    # By the target, and as never tried moves may always succeed, it takes three moves.
    assert 3 <= plan.steps <= 7 and [*plan.moves[[0, 1, 3]]] == [1, 1, 1]
