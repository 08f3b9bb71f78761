# SPDX-License-Identifier: Apache-2.0

"""Optimistic planning: the printed recursion and the KL planner, against plain references."""

from __future__ import annotations

import math

from binomial import binomial_tail
from mnm_ros.core import Counts, Problem, RESET
from mnm_ros.core.paper.kl_optimism import _Model, KlOptimism
from mnm_ros.core.paper.optimism import DealtCounts, SplitSamples
from mnm_ros.core.statistics.kl_ball import least_mean
import numpy as np
import pytest
from tiers import strength, thorough

PROBLEM = Problem(2, 3.0, 1.0, 0.1)


def split_samples(horizon: int = 27) -> SplitSamples:
    return SplitSamples(PROBLEM, 1 / 8, horizon, np.random.default_rng(0))


def test_sigma_k_as_printed() -> None:
    # k = 1: sqrt(log(2 * 3 * 2 * 4 * 27 * 8^4 / 0.1)); k = 2: the same with 2^5 in it.
    optimism = split_samples()
    assert optimism.deviation(known=4, candidates=2) == pytest.approx(4.2175098265, rel=1e-9)
    optimism.round_failed()
    assert optimism.deviation(known=4, candidates=2) == pytest.approx(4.6101111743, rel=1e-9)


def printed_recursion(counts: DealtCounts, known: list[int], target: int, candidates: int,
                      optimism: SplitSamples) -> tuple[float, list[list[int]]]:
    """Return the equations of Lim & Auer, section 3.2, written out state by state."""
    horizon = optimism.sets
    sigma = optimism.deviation(len(known), candidates)
    u = [dict.fromkeys(known, 0.0)]

    def value(i: int, state: int) -> float:
        if state == target:
            return i
        if state in u[i]:
            return u[i][state]
        return value(i - 1, known[0]) if i else 0.0

    rows = []
    for i in range(1, horizon + 1):
        best = {}
        for state in known:
            options = [(value(i - 1, known[0]), RESET)]
            for action in range(PROBLEM.actions):
                part = list(counts.dealt(state, action))[i % horizon]
                mean = (sum(n * value(i - 1, s) for s, n in part.items()) / sum(part.values())
                        if part else i)
                bonus = (sigma * (PROBLEM.radius + 1) * math.sqrt(horizon)
                         / math.sqrt(max(1, counts.visits(state, action))))
                options.append((min(i, mean + bonus), action))
            best[state] = max(options, key=lambda o: (o[0], o[1] != RESET, -o[1]))
        u.append({state: q for state, (q, _) in best.items()})
        rows.append([action for _, action in best.values()])
    return u[horizon][known[0]], rows[::-1]


def test_the_printed_planner_agrees_with_its_equations() -> None:
    rng = np.random.default_rng(5)
    optimism = split_samples(horizon=9)
    known, candidates = [0, 4], (7, 8)
    counts = DealtCounts(9)
    # So many samples that the bonus does not drown the frequencies.
    for state, ends in ((0, (0, 4, 7)), (4, (0, 7, 8))):
        for action in range(2):
            chances = (0.3, 0.3 + action / 10, 0.4 - action / 10)
            for end in rng.choice(ends, size=40_000, p=chances):
                counts.add(state, action, int(end))
    plan = optimism.plan(counts, known, candidates)
    values = {t: printed_recursion(counts, known, t, 2, optimism) for t in candidates}
    best = max(values, key=lambda t: values[t][0])
    assert values[7][0] != pytest.approx(values[8][0])
    assert plan is not None and plan.target == best
    assert [list(row) for row in plan.policy.actions] == values[best][1]


def test_what_is_neither_known_nor_a_candidate_is_no_way_to_a_candidate() -> None:
    """It has a column of its own, the last one."""
    counts = DealtCounts(9)
    for state, end, times in ((0, 7, 9), (0, 55, 27), (4, 56, 9), (4, 57, 9)):
        for _ in range(times):
            counts.add(state, 0, end)
    fractions, visits = split_samples(horizon=9)._model(counts, [0, 4], (8, 7))
    assert fractions.shape == (9, 2, PROBLEM.actions, 5)
    assert fractions[:, 0, 0].sum(axis=0) == pytest.approx([0, 0, 0, 9 / 4, 27 / 4], abs=1)
    assert (fractions[:, 1, 0] == [0, 0, 0, 0, 1]).all()
    assert visits[:, 0].tolist() == [36, 18] and not fractions[:, :, 1].any()


def test_the_printed_planner_stops_when_no_candidate_is_within_the_radius() -> None:
    counts = DealtCounts(2)
    optimism = SplitSamples(Problem(2, 1.0, 1.0, 0.1), 1 / 8, 2, np.random.default_rng(0))
    for action in range(2):
        for _ in range(2000):
            counts.add(0, action, 0)
    assert optimism.plan(counts, [0], (9,)) is None


def favourable(fractions: np.ndarray, values: np.ndarray,
               radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return least_mean(fractions, values, radius, np.full(len(radius), np.nan))


def test_the_distribution_is_plausible_and_no_other_is_better() -> None:
    rng = np.random.default_rng(0)
    for _ in range(strength(50, 150)):
        size = int(rng.integers(1, 4))
        p, v = rng.dirichlet(np.ones(size)), rng.uniform(0, 5, size)
        v[0] *= rng.random() < 0.7
        radius = 10 ** rng.uniform(-3, 0.5)
        rows, expected = favourable(p[None], v[None], np.array([radius]))
        q = rows[0]
        assert q.sum() <= 1 + 1e-9
        assert (p * np.log(p / q)).sum() <= radius * (1 + 1e-6) + 1e-9
        others = rng.dirichlet(np.append(30 * p + 0.01, 0.5), 5000)
        divergences = (p * np.log(p / np.maximum(others[:, :size], 1e-300))).sum(axis=1)
        plausible = others[divergences <= radius]
        assert all(expected[0] <= plausible[:, :size] @ v + 1e-9)


def corridor_counts(rng: np.random.Generator, length: int, visits: int) -> Counts:
    """Sample a corridor in which a move succeeds with 0.9."""
    counts = Counts()
    for state in range(length):
        for action, move in enumerate((1, -1)):
            for _ in range(visits):
                moved = rng.random() < 0.9
                counts.add(state, action, max(0, state + move) if moved else state)
    return counts


def value_of(counts: Counts, known: int, target: int, delta: float = 0.03) -> float:
    planner = KlOptimism(Problem(2, 100.0, 1.0, 0.1), delta, 300)
    assert planner.plan(counts, range(known), [target]) is not None
    return planner._last_value[target]


@thorough(
    'core/test_optimism.py::test_the_kl_planner_agrees_with_value_iteration_on_random_counts '
    'core/test_optimism.py::test_the_distribution_is_plausible_and_no_other_is_better')
def test_the_kl_planner_is_never_more_pessimistic_than_the_truth() -> None:
    # Such a delta allows one failure in 33 corridors; tau to state 3 is 3 / 0.9.
    trials = 200
    failures = [seed for seed in range(trials)
                if value_of(corridor_counts(np.random.default_rng(seed), 3, 40), 3, 3) > 3 / 0.9]
    assert binomial_tail(trials, 0.03, len(failures)) > 1e-3, f'failing seeds: {failures}'


def test_the_kl_planner_finds_the_truth_with_many_samples() -> None:
    counts = corridor_counts(np.random.default_rng(1), 3, 20_000)
    assert value_of(counts, 3, 3) == pytest.approx(3 / 0.9, rel=0.03)


def test_the_kl_planner_agrees_with_value_iteration() -> None:
    counts = corridor_counts(np.random.default_rng(2), 3, 30)
    values = np.array([1.0, 1.0, 1.0])
    for _ in range(2000):
        following = values.copy()
        for state in range(3):
            options = [1 + values[0]] if state else []
            for action in range(2):
                nexts = counts.next_states(state, action)
                visits = sum(nexts.values())
                radius = (math.log(3 ** 2 * 4 / 0.03) + math.log1p(visits)) / visits
                v = np.array([[0.0 if s == 3 else values[s] for s in nexts]])
                p = np.array([list(nexts.values())]) / visits
                options.append(1 + favourable(p, v, np.array([radius]))[1][0])
            following[state] = min(options)
        before, values = values, following
        if np.abs(values - before).max() < 1e-12:
            break
    assert value_of(counts, 3, 3) == pytest.approx(values[0], rel=1e-6)


def test_the_kl_planner_gives_up_a_candidate_that_is_out_of_reach() -> None:
    counts = corridor_counts(np.random.default_rng(3), 5, 300)
    assert KlOptimism(PROBLEM, 0.03, 9).plan(counts, range(5), [5]) is None
    assert KlOptimism(PROBLEM, 0.03, 9).plan(counts, range(2), [2]) is not None


def test_an_action_without_samples_may_lead_anywhere() -> None:
    plan = KlOptimism(PROBLEM, 0.03, 9).plan(Counts(), [0], [5])
    assert plan is not None and plan.target == 5


COMPARED = 500    # steps; value iteration takes too long to find greater values


def value_iteration(model: _Model, target: int, sweeps: int = 4000) -> float:
    """Return the least fixed point of the operator that ``_Model.solve`` finds."""
    known = model._known
    values = np.full(len(model._column), 1e-9)
    goal = model._column.get(target)
    for _ in range(sweeps):
        before = values.copy()
        if goal is not None:
            values[goal] = 0.0
        expected = favourable(model._fractions, values[model._next], model._radius)[1]
        steps = 1 + expected.reshape(known, -1).min(axis=1)
        following = np.append(steps[:1], np.minimum(steps[1:], 1 + steps[0]))
        values = np.concatenate([following, np.full(len(values) - known, 1 + steps[0])])
        if np.array_equal(values, before) or values[0] >= COMPARED:
            break    # the values only grow
    return float(values[0])


@pytest.mark.parametrize('seed', strength((0, 2, 3, 4, 5, 6), range(40)))
def test_the_kl_planner_agrees_with_value_iteration_on_random_counts(seed: int) -> None:
    """Few successors, some unknown, and many samples: here policies may fail to arrive."""
    rng = np.random.default_rng(seed)
    known, actions, target = int(rng.integers(1, 5)), int(rng.integers(1, 3)), 99
    counts = Counts()
    for state in range(known):
        for action in range(actions):
            ends = rng.choice([*range(known), 50, 51, target], size=rng.integers(1, 4))
            for end in rng.choice(ends, size=int(10 ** rng.uniform(0, 3))):
                counts.add(state, action, int(end))
    model = _Model(counts, range(known), Problem(actions, 4.0, 1.0, 0.1), 0.03)
    value, played = model.solve(target)
    assert np.isfinite(value) and value >= 1 and len(played) == known
    reference = value_iteration(model, target)
    if reference < COMPARED:
        assert value == pytest.approx(reference, rel=1e-4)
