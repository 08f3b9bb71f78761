# SPDX-License-Identifier: Apache-2.0

"""One budget for all pairs of a policy: never wrong beyond its delta, and sooner than balls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
import math

from binomial import binomial_tail
from mnm_ros.core import Declaration, Policy, Problem, Support
from mnm_ros.core.disco.evidence import CertificateEvidence, declared_pairs
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.statistics.certificate import ConfidenceSets, PolicyModel
from mnm_ros.core.statistics.joint import Floor, JointEvidence, JointModel, UNITS
from mnm_ros.core.statistics.joint_rows import shares
from mnm_ros.core.statistics.predictions import Predictions
from mnm_ros.simulation.cmp import Outcomes, support, TableCmp
from mnm_ros.simulation.ground_truth import expected_steps
import numpy as np
import pytest
from tiers import strength, thorough

HORIZON, LIMIT = 24, 12.0


def ring(rng: np.random.Generator, states: int, most: int) -> TableCmp:
    """Return a CMP of one action, that leads on, and now and then elsewhere."""
    table: dict[tuple[int, int], Outcomes] = {}
    for state in range(states):
        size = int(rng.integers(0, min(most, states + 1)))
        others = rng.choice(states, size=size, replace=False).tolist()
        ends = [state + 1, *(other for other in others if other != state + 1)]
        chances = rng.dirichlet([6.0, *(1.0,) * (len(ends) - 1)])
        table[state, 0] = tuple(zip(ends, chances.tolist()))
    table[states, 0] = ((states, 1.0),)
    return TableCmp(0, 1, table)


def policy_of(states: int, horizon: int = HORIZON) -> Policy:
    """Return the policy to what is behind these states."""
    return Policy(states, horizon, tuple(range(states)), ((0,) * states,))


def executed(cmp: TableCmp, rng: np.random.Generator, states: int, times: int,
             nats: float) -> tuple[ConfidenceSets, JointEvidence, Support]:
    """Execute the pairs by turns; from a random moment on there is evidence for a policy."""
    declared = Support(support(cmp))
    sets = ConfidenceSets(math.exp(-nats), declared)
    evidence = JointEvidence(sets, declared_pairs(policy_of(states), declared))
    begin = rng.integers(0, times)
    for number in range(times):
        if number == begin:
            evidence = JointEvidence(sets, declared_pairs(policy_of(states), declared))
        for state in range(states):
            ends, chances = zip(*cmp.transitions(state, 0))
            sets.add(state, 0, int(rng.choice(ends, p=chances)))
    return sets, evidence, declared


@pytest.mark.parametrize(('most', 'floors'), [(2, False), (2, True), pytest.param(
    4, False, marks=thorough('core/test_joint.py::test_what_it_says_is_hardly_ever_wrong')),
    pytest.param(
    4, True, marks=thorough('core/test_joint.py::test_what_it_says_is_hardly_ever_wrong'))])
def test_what_it_says_is_hardly_ever_wrong(most: int, floors: bool) -> None:
    """
    The bound is below the truth at any of many looks in hardly more than delta of the runs.

    Floors may be anywhere, above and below the true chances.

    Were it so in 0.6 of 60 runs, or in 0.85 of 16, this would fail in 9 of 10 cases.
    """
    delta, runs, wrong = 0.3, strength(16, 60), 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        states = int(rng.integers(1, strength(3, 4)))
        cmp, policy = ring(rng, states, most), policy_of(states)
        truth = expected_steps(cmp, policy)
        declared = Support(support(cmp))
        sets = ConfidenceSets(delta, declared)
        evidence = JointEvidence(sets, declared_pairs(policy, declared), {
            (state, 0): Floor(state + 1, float(rng.uniform(0.2, 0.95)))
            for state in range(states) if floors})
        missed = False
        for _ in range(8):
            for state in np.repeat(range(states), 2).tolist():
                ends, chances = zip(*cmp.transitions(state, 0))
                sets.add(state, 0, int(rng.choice(ends, p=chances)))
            # tau <= m exactly when E[X] <= m: at a limit just below the truth it must not hold.
            limit = truth * (1 - 1e-9)
            model = JointModel(
                evidence.balls(-math.log(delta)), policy, limit, declared)
            missed = missed or model.bound <= limit
        wrong += missed
    assert binomial_tail(runs, delta, wrong) > 1e-3, wrong


def test_one_budget_takes_fewer_executions_than_one_for_each_pair() -> None:
    states, nats = 8, 8.0
    policy, cmp = policy_of(states), TableCmp(0, 1, {
        (state, 0): ((state + 1, 0.95), (state, 0.05)) for state in range(9)})
    sets, evidence, declared = executed(
        cmp, np.random.default_rng(0), states, 26, nats)
    evidence.before = dict.fromkeys(evidence.before)    # all of them count
    alone = PolicyModel(sets, policy, LIMIT, declared).bound
    joint = JointModel(evidence.balls(nats), policy, LIMIT, declared).bound
    assert joint < LIMIT < alone, (joint, alone)


def test_more_evidence_and_a_larger_chance_to_err_never_raise_the_bound() -> None:
    for seed in range(strength(2, 10)):
        rng = np.random.default_rng(seed)
        cmp = ring(rng, 4, 4)
        _, evidence, declared = executed(cmp, rng, 4, 20, 3.0)
        bounds = [JointModel(evidence.balls(nats), policy_of(4), LIMIT,
                             declared).bound for nats in (1.0, 2.0, 4.0, 8.0)]
        assert bounds == sorted(bounds), (seed, bounds)


def test_a_few_units_of_the_budget_decide_nothing_that_many_would_not() -> None:
    sides = Counter[bool]()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        states = int(rng.integers(1, 5))
        cmp, policy = TableCmp(0, 1, {
            (state, 0): ((state + 1, 0.9), (state, 0.1)) for state in range(states + 1)
        }), policy_of(states)
        _, evidence, declared = executed(cmp, rng, states, 8, 3.0)
        model = JointModel(evidence.balls(3.0), policy, LIMIT, declared)
        alone = model._drives_alone()
        rows = model.rows(alone[-1])
        # Each row alone is at worst as in the model without the short way.
        assert np.array(alone) == pytest.approx(np.array(model._alone))
        least = model._together(alone, rows, shares(6), least=True)
        most = model._together(alone, rows, shares(6))
        bound = model._together(alone, rows, shares(UNITS))
        assert least <= bound + 1e-9 and bound <= most + 1e-9
        assert (model.bound <= LIMIT) == (min(bound, float(alone[-1][0])) <= LIMIT)
        sides.update([least > LIMIT, most > LIMIT] if states > 1 else [])
    assert min(sides.values()) > 2 and len(sides) == 2, sides


@pytest.mark.quick
def test_whatever_the_nats_leave_plausible_with_floors_is_within_the_bound() -> None:
    """By their definition: only pairs below their floor take nats, and their excess is theirs."""
    nats, chain = 2.0, Support(Declaration({state: ((state + 1, state),) for state in range(3)}))
    for seed in range(strength(4, 8)):
        rng = np.random.default_rng(seed)
        sets = ConfidenceSets(0.1, chain)
        floors = {(state, 0): Floor(state + 1, float(rng.uniform(0.4, 0.9)))
                  for state in range(3)}
        evidence = JointEvidence(sets, [*floors], floors)
        for state in rng.integers(3, size=24).tolist():
            sets.add(state, 0, state + int(rng.random() < 0.8))
        records = [*map(evidence.record, floors)]
        on, stayed = np.array([[record.tally.get(state + far, 0) for state, record in enumerate(
            records)] for far in (1, 0)])
        paid = np.array([record.paid for record in records])
        # At the floor, just below it, as often as it was seen, and anywhere.
        least = np.array([floor.chance for floor in floors.values()])
        chances = np.choose(rng.integers(4, size=(60_000, 3)), [
            least, least - 1e-9, np.clip(on / (on + stayed), 0.01, 0.99),
            rng.random((60_000, 3))])
        takes = -paid - on * np.log(chances) - stayed * np.log(1 - chances)
        plausible = chances[(takes * (chances < least)).sum(axis=1) <= nats]
        steps = np.full((len(plausible), 4), 1 + LIMIT) * [1, 1, 1, 0]    # E[X] of an attempt
        for _ in range(HORIZON):
            steps[:, :-1] = 1 + plausible * steps[:, 1:] + (1 - plausible) * steps[:, :-1]
        worst = steps[:, 0].max()
        model = JointModel(evidence.balls(nats), policy_of(3), LIMIT, chain)
        alone = model._drives_alone()
        bound = model._together(alone, model.rows(alone[-1]), shares(UNITS))
        assert 0.85 * bound < worst <= bound + 1e-9, (seed, worst, bound)


def test_predictions_are_probabilities_whatever_was_seen() -> None:
    """All that may come, one chance for what was not declared included, has 1 together."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        ends = tuple(rng.choice(6, size=int(rng.integers(1, 4)), replace=False).tolist())
        history = [(int(rng.integers(3)), came if came < 6 else None)
                   for came in rng.integers(0, 7, size=20).tolist()]
        chances = {}
        for came in (*range(6), None):
            predictions = Predictions()
            for state, before in history:
                predictions.add((state, 0), ends, before)
            record = predictions.record((0, 0))
            before_that = record.paid if record else 0.0
            tally = record.tally if record else {}
            predictions.add((0, 0), ends, came)
            after = predictions.record((0, 0))
            assert after is not None
            known = came is None or came in ends or came in tally
            chances[came if known else -1] = math.exp(before_that - after.paid)
        chances.setdefault(-1, 0.0)    # all has been seen
        assert sum(chances.values()) <= 1 + 1e-9, chances


def test_two_records_that_follow_each_other_are_together_what_one_of_both_is() -> None:
    predictions, records = Predictions(), []
    for came in ([1, None, 2], [None, 1, None, 2]):
        for each in came:
            predictions.add((0, 0), (1, 2), each)
        records.append(predictions.record((0, 0)))
    first, both = records
    later = both.since(first)
    assert (first.lost, later.lost, later.made) == (1, 2, 4)
    again = first.plus(later)
    assert (again.tally, again.lost) == (both.tally, 3)
    assert again.paid == pytest.approx(both.paid)


def test_an_end_that_was_missing_counts_as_certain_when_it_comes_first() -> None:
    """The support knows it by then, and predictions must not."""
    declared = Support(Declaration({0: ((1,),)}))
    sets = ConfidenceSets(0.1, declared)
    evidence = JointEvidence(sets, [(0, 0)])
    declared.refute(0, 0, 5)
    sets.add(0, 0, 5)
    record = sets.predictions.record((0, 0))
    assert record is not None and record.paid > 1 and not sum(record.tally.values())
    sets.add(0, 0, 5)
    assert evidence.executions == (1,)


def test_only_what_is_declared_as_a_whole_is_tested_by_its_pairs() -> None:
    problem = Problem(1, 6.0, 1.0, 0.1, Support(Declaration({0: ((1, 0),), 1: ((2, 1),)})))
    evidence = CertificateEvidence(problem, 0.05)
    tests = [evidence.new_test(policy_of(states)) for states in (2, 3)]
    assert [test.declared for test in tests] == [True, False]
    nats = [test.evidence[1] for test in tests]
    evidence.release(tests[0], given=True)
    assert tests[1].evidence[1] < nats[1]
    evidence.restore()
    assert [test.evidence[1] for test in tests] == nats


def test_pairs_certify_with_three_quarters_of_the_delta_of_their_test() -> None:
    """They do once the bound is within the limit at that budget, and not an execution sooner."""
    delta, declared = 0.05, Support(Declaration({0: ((1, 0),)}))
    problem, policy = Problem(1, 2.0, 1.0, 0.1, declared), policy_of(1)
    evidence = CertificateEvidence(problem, delta, by_model=0.5)
    test = evidence.new_test(policy)
    assert test.declared
    # The first place has half of what is for tests, and its pairs three quarters of that.
    nats = math.log(1 * 2 / (delta * 0.5) / 0.75)
    when: dict[str, int] = {}
    for number in range(60):
        evidence.sets.add(0, 0, int(number % 4 > 0))
        bound = JointModel(test.pairs.balls(nats), policy, problem.limit, declared).bound
        if test.certified_by_pairs():
            when.setdefault('certified', number)
        if bound <= problem.limit:
            when.setdefault('within', number)
    assert when['certified'] == when['within'] > 5, when


@pytest.mark.parametrize('floors', [{}, {(0, 0): Floor(1, 0.75)}])
def test_a_step_that_was_broken_off_may_have_led_anywhere(
        floors: Mapping[Pair, Floor]) -> None:
    declared = Support(Declaration({0: ((1, 0),)}))
    bounds = []
    for broken in (0, 3):
        sets = ConfidenceSets(0.1, declared)
        evidence = JointEvidence(sets, [(0, 0)], floors)
        for number in range(30):
            if number < broken:
                sets.add_censored(0, 0)
            sets.add(0, 0, 1)
        bounds.append(JointModel(evidence.balls(3.0), policy_of(1), 4.0,
                                 declared).bound)
    assert bounds[0] < 1.5 < bounds[1], bounds
