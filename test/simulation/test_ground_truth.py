# SPDX-License-Identifier: Apache-2.0

"""Ground truth against values worked out by hand, by brute force and by simulation."""

from __future__ import annotations

from itertools import product
from math import inf, sqrt
from pathlib import Path
import random
from statistics import fmean, stdev

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import Cmp, TableCmp
from mnm_ros.simulation.ground_truth import (
    best_time,
    expected_steps,
    ExplorationSteps,
    judge,
    reachable_states,
    Verdict,
)
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import strength

COIN = TableCmp(0, 1, {(0, 0): ((1, 0.5), (2, 0.5))})
"""From 0 to 1 or to 2, which only RESET leaves."""


def corridor(success: float, length: int) -> TableCmp:
    """Return states 0, 1, ... with action 0 ahead and 1 back."""
    outcomes = {}
    for state in range(length):
        for action, after in enumerate((min(state + 1, length - 1), max(state - 1, 0))):
            outcomes[state, action] = (
                ((after, success), (state, 1 - success)) if after != state and success < 1
                else ((after, 1.0),))
    return TableCmp(0, 2, outcomes)


def random_cmp(seed: int, states: int = 5, actions: int = 2) -> TableCmp:
    draw = random.Random(seed)
    outcomes = {}
    for pair in product(range(states), range(actions)):
        after = draw.sample(range(states), draw.randint(1, 3))
        weights = [draw.random() + 0.05 for _ in after]
        outcomes[pair] = tuple(
            (state, weight / sum(weights))
            for state, weight in zip(after, weights, strict=True))
    return TableCmp(0, actions, outcomes)


def random_policy(seed: int, target: int, states: tuple[int, ...], horizon: int) -> Policy:
    draw = random.Random(seed)
    rows = draw.choice((1, horizon))
    return Policy(target, horizon, states, tuple(
        tuple(draw.choice((RESET, 0, 0, 1, 1)) for _ in states) for _ in range(rows)))


def ahead(*targets: int, horizon: int = 12, revision: int = 0) -> Hypothesis:
    """Return the hypothesis that going ahead reaches every target."""
    return Hypothesis(1, revision, horizon, tuple(
        Policy(target, horizon, targets, ((0,) * len(targets),)) for target in targets))


# best_time ---------------------------------------------------------------------------------

@pytest.mark.parametrize('success', (1.0, 0.9, 0.25))
def test_best_time_in_a_corridor(success: float) -> None:
    cmp = corridor(success, 6)
    for target in range(5):
        assert best_time(cmp, range(4), target) == pytest.approx(target / success)
        assert best_time(cmp, range(6), target) == pytest.approx(target / success)


def test_best_time_pays_a_reset_outside_the_members() -> None:
    # V0 = 1 + 0.5 (1 + V0), whether the policy knows state 2 or not.
    assert best_time(COIN, (0,), 1) == pytest.approx(3.0)
    assert best_time(COIN, (0, 2), 1) == pytest.approx(3.0)


def test_best_time_prefers_reset_to_a_long_way_back() -> None:
    # Action 0 in state 1 mostly slides to 9, from where walking back takes 3 steps.
    cmp = TableCmp(0, 1, {
        (0, 0): ((1, 1.0),), (1, 0): ((5, 0.1), (9, 0.9)),
        (9, 0): ((8, 1.0),), (8, 0): ((7, 1.0),), (7, 0): ((1, 1.0),)})
    # V1 = 1 + 0.9 (1 + V0), V0 = 1 + V1.
    assert best_time(cmp, (0, 1, 9, 8, 7), 5) == pytest.approx(29.0)


def test_best_time_of_home_and_of_the_impossible() -> None:
    assert best_time(COIN, (0, 1), 0) == 0
    assert best_time(COIN, (0, 1, 2), 77) == inf


@pytest.mark.parametrize('seed', range(strength(8, 25)))
def test_best_time_agrees_with_value_iteration(seed: int) -> None:
    cmp = random_cmp(seed)
    members = (0, 1, 2)
    for target in range(1, 5):
        values = dict.fromkeys(members, 0.0)
        values[target] = 0.0
        for _ in range(4000):
            before = dict(values)
            for state in members:
                if state != target:
                    values[state] = 1 + min(
                        sum(p * (values[after] if after in values else 1 + values[0])
                            for after, p in cmp.transitions(state, action))
                        for action in (0, 1, RESET))
            if values == before:
                break
        expected = values[0] if values[0] < 1000 else inf
        assert best_time(cmp, members, target) == pytest.approx(expected)


def test_best_time_of_the_very_unlikely() -> None:
    cmp = TableCmp(0, 1, {(0, 0): ((1, 1e-12), (0, 1 - 1e-12))})
    assert best_time(cmp, (0,), 1) == pytest.approx(1e12, rel=1e-3)
    assert best_time(TableCmp(0, 1, {(0, 0): ((1, 1e-30), (0, 1.0))}), (0,), 1) == inf


# reachable_states --------------------------------------------------------------------------

@pytest.mark.parametrize(('radius', 'expected'), [
    (1.0, 1), (1.12, 2), (3.3, 3), (3.34, 4), (100.0, 6)])
def test_reachable_in_a_slippery_corridor(radius: float, expected: int) -> None:
    assert reachable_states(corridor(0.9, 6), radius) == tuple(range(expected))


def test_a_time_that_equals_the_radius_counts() -> None:
    assert reachable_states(corridor(1.0, 9), 4.0) == (0, 1, 2, 3, 4)
    assert reachable_states(corridor(0.1, 3), 10.0) == (0, 1)


def test_what_only_unreachable_states_lead_to_is_not_reachable() -> None:
    # Home leads to one of ten halls at random, and each of them to 99 for sure. With all of
    # the halls known, 99 is two steps away; but none of them is reached within four.
    halls = range(1, 11)
    cmp = TableCmp(0, 1, {
        (0, 0): tuple((hall, 0.1) for hall in halls), **{(h, 0): ((99, 1.0),) for h in halls}})
    assert best_time(cmp, (0, *halls), 99) == pytest.approx(2.0)
    assert reachable_states(cmp, 4.0) == (0,)
    # V0 = 1 + 0.9 (1 + V0).
    assert best_time(cmp, (0,), 1) == pytest.approx(19.0)
    assert set(reachable_states(cmp, 19.0)) == {0, *halls, 99}


@pytest.mark.parametrize('seed', range(15))
def test_closure_on_random_cmps(seed: int) -> None:
    cmp = random_cmp(seed, states=8)
    for radius in (2.0, 4.0, 8.0):
        found = reachable_states(cmp, radius)
        assert found[0] == cmp.start and len(set(found)) == len(found)
        for i, state in enumerate(found):
            assert best_time(cmp, found[:max(i, 1)], state) <= radius + 1e-6
        outside = set(range(8)) - set(found)
        assert all(best_time(cmp, found, state) > radius for state in outside)
        assert set(found) <= set(reachable_states(cmp, radius + 1))


def test_unbounded_cmps_are_explored_lazily() -> None:
    assert set(reachable_states(load('endless_corridor').settings[0].cmp, 30.0)) == set(
        range(-27, 28))
    assert reachable_states(load('endless_tree').settings[0].cmp, 5.0) == tuple(range(1, 32))


# expected_steps ----------------------------------------------------------------------------

@pytest.mark.parametrize(('horizon', 'expected'), [
    (1, (1 + 0.1) / 0.9), (2, (1.1 + 0.01) / 0.99), (60, 1 / 0.9)])
def test_an_exhausted_horizon_costs_a_reset(horizon: int, expected: float) -> None:
    policy = Policy(1, horizon, (0,), ((0,),))
    assert expected_steps(corridor(0.9, 3), policy) == pytest.approx(expected, rel=1e-12)


def test_a_state_that_is_not_listed_costs_a_reset() -> None:
    assert expected_steps(COIN, Policy(1, 9, (0,), ((0,),))) == pytest.approx((1 + 0.5) / 0.5)


def test_a_listed_reset_is_a_step_of_the_attempt() -> None:
    # After the RESET at step 1 the horizon is over, at home: another RESET is due.
    policy = Policy(1, 2, (0, 2), ((0, RESET),))
    assert expected_steps(COIN, policy) == pytest.approx((1.5 + 0.5) / 0.5)


def test_the_step_decides_in_a_policy_with_a_horizon() -> None:
    cmp = corridor(1.0, 4)
    there_and_back_and_there = Policy(3, 5, (0, 1, 2), ((0,) * 3, (1,) * 3, *((0,) * 3,) * 3))
    assert expected_steps(cmp, there_and_back_and_there) == 5
    too_late = Policy(3, 4, (0, 1, 2), there_and_back_and_there.actions[:4])
    assert expected_steps(cmp, too_late) == inf


@pytest.mark.parametrize('policy', [
    Policy(1, 5, (), ((),)), Policy(1, 5, (2,), ((0,),)), Policy(1, 5, (0,), ((RESET,),)),
    Policy(77, 5, (0, 1, 2), ((0, 0, 0),))])
def test_what_never_arrives_takes_for_ever(policy: Policy) -> None:
    assert expected_steps(COIN, policy) == inf


def test_home_takes_no_steps() -> None:
    assert expected_steps(COIN, Policy(0, 5, (), ((),))) == 0


def test_the_very_unlikely_is_exact() -> None:
    cmp = TableCmp(0, 1, {(0, 0): ((1, 1e-30), (0, 1.0))})
    assert expected_steps(cmp, Policy(1, 1, (0,), ((0,),))) == pytest.approx(2e30)


def test_an_action_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match='action is 7, expected'):
        expected_steps(COIN, Policy(1, 5, (0,), ((7,),)))


def arriving(seeds: range) -> list[tuple[Cmp, Policy, float]]:
    cases = []
    for seed in seeds:
        cmp = random_cmp(seed)
        policy = random_policy(seed, 4, (0, 1, 2, 3)[:2 + seed % 3], horizon=3 + seed % 4)
        expected = expected_steps(cmp, policy)
        if 1.01 < expected < 100:
            cases.append((cmp, policy, expected))
    return cases


def test_expected_steps_agree_with_simulation() -> None:
    cases = arriving(range(40))[:strength(10, None)]
    assert len(cases) >= strength(10, 13)
    for seed, (cmp, policy, expected) in enumerate(cases):
        times = play(cmp, policy, seed, strength(2000, 3000))
        assert abs(fmean(times) - expected) <= 4.5 * stdev(times) / sqrt(len(times)), policy


def play(cmp: Cmp, policy: Policy, seed: int, times: int) -> list[int]:
    """Return how long it took from home to the target, as a robot would play the policy."""
    simulator = Simulator(
        Scenario('test', ('a', 'b'), 0, (Setting(cmp, None),), Path('test.yaml')), seed)
    result = []
    for _ in range(times):
        simulator.step(RESET)
        begun, step = simulator.steps, 0
        while simulator.state != policy.target:
            if simulator.state not in policy.states or step == policy.horizon:
                simulator.step(RESET)
                step = 0
            else:
                simulator.step(policy.action(step, simulator.state))
                step += 1
        result.append(simulator.steps - begun)
    return result


# judge -------------------------------------------------------------------------------------

def test_a_good_hypothesis_is_ok() -> None:
    verdict = judge(corridor(0.9, 4), ahead(0, 1, 2, 3), 4.0, 1.0)
    assert verdict == Verdict((), ())
    assert verdict.ok


def test_knowing_nothing_misses_everything() -> None:
    verdict = judge(corridor(0.9, 4), None, 4.0, 1.0)
    assert verdict == Verdict((0, 1, 2, 3), ())
    assert not verdict.ok


def test_a_missing_state_is_named() -> None:
    assert judge(corridor(0.9, 4), ahead(0, 1, 2), 4.0, 1.0) == Verdict((3,), ())


def test_a_slow_policy_is_named_with_its_time() -> None:
    verdict = judge(corridor(0.9, 9), ahead(*range(6), horizon=60), 4.0, 0.25)
    assert verdict == Verdict((), ((5, pytest.approx(5 / 0.9)),))
    assert not verdict.ok


def test_more_states_may_be_known_than_are_reachable() -> None:
    assert judge(corridor(0.9, 9), ahead(*range(6)), 4.0, 1.0).ok


@pytest.mark.parametrize('success', (0.1, 0.2, 0.3, 0.7, 0.9))
def test_a_time_that_equals_the_limit_is_good_enough(success: float) -> None:
    hypothesis = ahead(0, 1, 2, horizon=900)
    assert judge(corridor(success, 3), hypothesis, 1 / success, 1.0).ok
    assert not judge(corridor(success, 3), hypothesis, 1 / success, 0.99).ok


# ExplorationSteps --------------------------------------------------------------------------

def changing() -> Scenario:
    settings = (Setting(corridor(0.9, 3), 100), Setting(corridor(0.9, 4), None))
    return Scenario('test', ('ahead', 'back'), 0, settings, Path('test.yaml'))


def test_exploration_steps_are_counted_against_the_setting_in_force() -> None:
    count = ExplorationSteps(changing(), 4.0, 1.0)
    short, long = ahead(0, 1, 2), ahead(0, 1, 2, 3, revision=1)
    assert [count.count(0, None) for _ in range(3)] == [1, 2, 3]
    assert [count.count(0, short) for _ in range(3)] == [3, 3, 3]
    assert [count.count(1, short) for _ in range(2)] == [4, 5]
    assert [count.count(1, long) for _ in range(2)] == [5, 5]
    assert count.count(0, long) == 6, 'the policy for 3 never arrives there'
    assert count.total == 6


def test_verdicts_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    policies = ahead(0, 1, 2)
    monkeypatch.setattr(
        'mnm_ros.simulation.ground_truth.expected_steps',
        lambda cmp, policy: calls.append(policy.target) or 0.0)
    count = ExplorationSteps(changing(), 4.0, 1.0)
    for _ in range(50):
        count.count(0, policies)
        count.count(1, policies)
    assert calls == [0, 1, 2] * 2


def test_an_explorer_that_restarts_with_the_same_stamp_is_judged_again() -> None:
    count = ExplorationSteps(changing(), 4.0, 1.0)
    before, after = ahead(0, 1, 2), ahead(0, 1)
    assert before.version == after.version
    assert count.count(0, before) == 0
    assert count.count(0, after) == 1
