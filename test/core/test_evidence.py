# SPDX-License-Identifier: Apache-2.0

"""How the delta of a run is dealt out to its certificates."""

from __future__ import annotations

from dataclasses import replace
import math
from typing import Any

from binomial import binomial_tail
from mnm_ros.core import (
    Declaration,
    OptimisticPlanner,
    Policy,
    Problem,
    RESET,
    settings,
    Support,
)
from mnm_ros.core.components import BASES
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.disco.evidence import CertificateEvidence, floors
from mnm_ros.core.paper import plug_in
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
from mnm_ros.core.statistics.evaluation import Decision
import numpy as np
import pytest
from tiers import strength

PROBLEM = Problem(actions=2, radius=4.0, epsilon=1.0, delta=0.1)
ANY = Policy(9, 20, (8,), ((0,),))    # of which nothing is declared


@pytest.mark.parametrize('by_model', [1 / 2, 1 / 5])
def test_a_part_is_for_the_model_and_the_rest_for_all_tests_together(by_model: float) -> None:
    evidence = CertificateEvidence(PROBLEM, delta=0.08, by_model=by_model)
    evidence.sets.add(0, 0, 1)
    evidence.sets.add(0, 0, 1)
    _, radius = evidence.sets.ball(0, 0)    # of the first pair
    assert radius == pytest.approx(
        -math.log(share(1, EVEN_PARTS) * 0.08 * by_model) - math.log(3 / 4))
    spent, rest = 0.0, 0.08 * (1 - by_model)
    for number in range(1, 40):
        told, (_, nats) = evidence.nats, evidence.new_test(ANY).evidence
        assert nats == told == pytest.approx(math.log(number * (number + 1) / rest))
        spent += math.exp(-nats)
    assert 0.9 * rest < spent < rest


def drives_of(problem: Problem, end: int) -> CertificateEvidence:
    """Return evidence where two places are declared, the second of which may lead to ``end``."""
    declared = Support(Declaration({0: ((1, 0), ()), 1: ((end, 1), (0,))}))
    return CertificateEvidence(replace(problem, support=declared), delta=0.08)


def test_the_first_test_of_drives_has_most_of_the_part_for_all_tests_together() -> None:
    """All places together have no more than without drives, and the order falls."""
    whole, beyond = drives_of(PROBLEM, 0), drives_of(PROBLEM, 7)
    assert beyond.nats == pytest.approx(math.log(2 / 0.04))    # 7 is not declared
    parts = []
    for _ in range(200):
        parts.append(math.exp(-whole.nats) / 0.04)
        whole.new_test(ANY)
    assert parts[:3] == [pytest.approx(part) for part in (3 / 4, 1 / 12, 1 / 24)]
    assert parts == sorted(parts, reverse=True) and 0.99 < sum(parts) < 1


def test_attempts_and_pairs_of_a_test_of_drives_divide_its_part() -> None:
    evidence = drives_of(PROBLEM, 0)
    policy = Policy(1, 20, (0,), ((0,),))
    test = evidence.new_test(policy)
    pairs, attempts = evidence.nats_of_pairs([test]), test.evidence[1]
    assert pairs < attempts
    assert math.exp(-pairs) + math.exp(-attempts) == pytest.approx(0.75 * 0.04)


def test_floors_leave_a_policy_of_drives_well_within_the_limit() -> None:
    support = Support(Declaration({state: ((state + 1, state), (0, state + 2)) for state in
                                   range(9)}))
    problem = replace(PROBLEM, support=support)
    for length in range(1, 8):
        found = floors([(state, 0) for state in range(length)], problem)
        assert [floor.end for floor in found.values()] == [*range(1, length + 1)]
        steps = sum(1 / floor.chance for floor in found.values())
        assert length < steps < (length + problem.limit) / 2
    assert not floors([(state, 0) for state in range(8)], problem)    # takes 8 at best
    assert not floors([(0, 0), (1, 1)], problem)    # the latter may lead to two


def test_where_a_policy_is_certified_all_later_tests_move_up_by_one() -> None:
    evidence = CertificateEvidence(PROBLEM, delta=0.08)
    tests = [evidence.new_test(ANY) for _ in range(4)]
    for number in (2, 0):
        evidence.release(tests[number])
        evidence.release(tests[number])    # it has no place any more
    for place, test in enumerate((tests[1], tests[3], evidence.new_test(ANY)), 1):
        assert test.evidence[1] == pytest.approx(math.log(place * (place + 1) / 0.04))


def test_tests_that_left_given_the_map_are_in_place_again_where_it_was_false() -> None:
    evidence = CertificateEvidence(PROBLEM, delta=0.08)

    def takes(place: int) -> Any:
        return pytest.approx(math.log(place * (place + 1) / 0.04))
    tests = [evidence.new_test(ANY) for _ in range(4)]
    evidence.release(tests[1], given=True)
    assert [test.evidence[1] for test in tests] == [takes(place) for place in (1, 2, 2, 3)]
    assert evidence.nats == takes(4)
    evidence.release(tests[0])    # of which no map has told
    evidence.release(tests[1], given=True)    # which has left
    evidence.release(CertificateEvidence(PROBLEM, 0.08).new_test(ANY), given=True)
    assert [test.evidence[1] for test in tests[2:]] == [takes(1), takes(2)]
    tests += [evidence.new_test(ANY)]
    assert tests[4].evidence[1] == takes(3)
    while tests[4].lacking > 0:
        tests[4].record(2, False)
    # In the place that it would have without the map, the fourth, it lacks a little.
    assert evidence.needs_map(tests[4])
    while evidence.needs_map(tests[4]):
        tests[4].record(2, False)
    assert tests[4].evidence[1] - tests[4].lacking >= math.log(20 / 0.04)
    evidence.restore()
    assert [test.evidence[1] for test in tests[1:]] == [takes(place) for place in (1, 2, 3, 4)]
    assert evidence.nats == takes(5)
    evidence.release(tests[1])
    assert tests[2].evidence[1] == takes(1)


@pytest.mark.parametrize('told', [True, False])
def test_after_a_false_map_few_tests_are_ever_wrong(told: bool) -> None:
    """
    It certifies every policy that its test has not certified, and is then found to be false.

    What tests have certified with less capital than they need without it is dropped then. Were it
    not told that a map has freed the places, far more would be wrong than delta / 2 of the runs.
    """
    delta, trials, wrong = 0.4, strength(25, 150), []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        evidence = CertificateEvidence(PROBLEM, delta=delta)
        for number in range(24):
            if number == 16:
                evidence.restore()
            test, said = evidence.new_test(ANY), Decision.UNDECIDED
            # With the limit 8, E[X] is 8.07: nothing but luck certifies it.
            for length in rng.choice((5, 20), p=(0.872, 0.128), size=60).tolist():
                said = test.record(length, length == 20)
                if said is not Decision.UNDECIDED:
                    break
            if said is Decision.GOOD and not evidence.needs_map(test):
                wrong.append(seed)
                break
            if number < 16:
                evidence.release(test, given=told)
    assert wrong, 'it is so hard to be wrong here that nothing is shown'
    assert (binomial_tail(trials, delta / 2, len(wrong)) > 1e-3) == told, (len(wrong), wrong)


def test_of_tests_that_share_attempts_and_end_at_any_time_few_are_ever_wrong() -> None:
    """As many are certified as possible, in whatever order, each by the same attempts."""
    delta, trials, wrong = 0.4, strength(16, 150), []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        evidence = CertificateEvidence(PROBLEM, delta=delta)
        # With the limit 8, E[X] is 3, 5 or 8.07: nothing but luck certifies the last ones.
        left = {number: evidence.new_test(ANY) for number in range(6)}
        bad = {2, 4, 5}
        for luck in rng.random(250).tolist():
            for number, test in left.items():
                failed = number in bad and luck < 0.128
                test.record(20 if failed else 5 if number in (*bad, 3) else 3, failed)
            for number in [number for number, test in left.items() if test.lacking <= 0]:
                evidence.release(left.pop(number))
        if bad - {*left}:
            wrong.append(seed)
        assert {*left} <= bad
    assert wrong, 'it is so hard to be wrong here that nothing is shown'
    assert binomial_tail(trials, delta / 2, len(wrong)) > 1e-3, wrong


def test_among_tests_that_come_and_go_few_are_ever_wrong() -> None:
    """Most policies are certified and leave their place; no more than delta / 2 is to be wrong."""
    delta, trials, wrong = 0.4, strength(16, 150), []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        evidence = CertificateEvidence(PROBLEM, delta=delta)
        for _ in range(25):
            good = rng.random() < 0.7
            # With the limit 8, E[X] is 3 or 8.07: nothing but luck certifies the latter.
            ends, chances = ((2, 4), (0.5, 0.5)) if good else ((5, 20), (0.872, 0.128))
            test, said = evidence.new_test(ANY), Decision.UNDECIDED
            for length in rng.choice(ends, p=chances, size=100).tolist():
                said = test.record(length, length == 20)
                if said is not Decision.UNDECIDED:
                    break
            if said is Decision.GOOD:
                evidence.release(test)
                if not good:
                    wrong.append(seed)
                    break
    assert wrong, 'it is so hard to be wrong here that nothing is shown'
    assert binomial_tail(trials, delta / 2, len(wrong)) > 1e-3, wrong


def test_what_is_forgotten_is_evidence_no_more() -> None:
    evidence = CertificateEvidence(PROBLEM, delta=0.08)
    for state in (0, 1):
        for _ in range(5):
            evidence.sets.add(state, 0, 7)
    evidence.sets.add_censored(0, 0)
    evidence.sets.forget(0, 0)
    assert evidence.sets.counts.as_dict() == {(1, 0): {7: 5}}
    assert evidence.sets.counts.lost(0, 0) == 0 and evidence.sets.ball(0, 0)[1] == math.inf
    evidence.sets.add(0, 0, 3)    # and it can be learnt anew
    evidence.sets.add(0, 0, 3)
    assert evidence.sets.ball(0, 0)[0] == [1.0, 0.0]


@pytest.mark.parametrize(('given', 'part'), [(False, 1 / 2), (True, 2 / 3)])
def test_a_run_gives_a_part_to_ruling_out_and_the_rest_to_certificates(
        given: bool, part: float) -> None:
    """Together no more than its delta."""
    policies = (Policy(0, 12, (0,), ((RESET,),)),) if given else ()
    run = BASES['disco'](settings(PROBLEM), 0, np.random.default_rng(0), policies)
    assert isinstance(run, Disco)
    planner, = run.replaceable
    assert isinstance(planner, OptimisticPlanner)
    evidence = run.certifier.evidence[0]
    ruling_out, certificates = planner._delta, evidence.sets.delta + evidence._delta
    assert ruling_out == pytest.approx(part * PROBLEM.delta)
    assert ruling_out + certificates == pytest.approx(PROBLEM.delta)


@pytest.mark.parametrize('epsilon, episodes', [(1.0, 40), (3.0, 40), (0.5, 80)])
def test_a_check_of_a_policy_ends_without_an_objection_and_its_first_test_does_not(
        epsilon: float, episodes: int) -> None:
    """After so many episodes for each step of the horizon."""
    resolved = settings(Problem(actions=2, radius=4.0, epsilon=epsilon, delta=0.1))
    check, test = (plug_in.evaluation(resolved, 3, 0.01, checking)
                   for checking in (True, False))
    length = round(resolved.problem.limit)    # at the limit nothing speaks for it or against it
    for number in range(1, episodes * resolved.steps_horizon + 1):
        decision = check.record(length, False)
        assert (decision is Decision.GOOD) == (number == episodes * resolved.steps_horizon)
        assert test.record(length, False) is not Decision.GOOD
