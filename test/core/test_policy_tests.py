# SPDX-License-Identifier: Apache-2.0

"""Which test goes on, and which begins."""

from __future__ import annotations

from typing import cast

from mnm_ros.core import Counts, EmpiricalModel, Policy, Problem, TransitionRows
from mnm_ros.core.disco.evidence import CertificateEvidence
from mnm_ros.core.disco.examiner import Examiner
from mnm_ros.core.disco.policy_tests import PolicyTests
import pytest

PROBLEM = Problem(actions=2, radius=4.0, epsilon=1.0, delta=0.1)
HORIZON, TARGET = 12, 2


def to(*moves: int) -> Policy:
    return Policy(TARGET, HORIZON, tuple(range(len(moves))), (moves,))


class Begun:
    """From home 0 to 1 and on to the target, by two actions; a test of action 0 has begun."""

    def __init__(self, slips: int = 10) -> None:
        self.rows = TransitionRows(Counts(), 2)
        for state in (0, 1):
            self.rows.enter(state)
            for action in (0, 1):
                self.add(state, action, state + 1, 50)
        for state in (0, 1):
            self.add(state, 0, state, slips)
        self.evidence = self.latest = CertificateEvidence(PROBLEM, 0.06)
        self.asked: list[Policy] = []
        self.tests = PolicyTests(PROBLEM, cast(Examiner, self))
        first = self.tests.offer(to(0, 0), 2.0)
        assert first.policy == to(0, 0) and first.test is None
        self.tests.begin(first)
        self.test = self.tests.begun[TARGET]

    def add(self, state: int, action: int, after: int, times: int) -> None:
        for _ in range(times):
            self.rows.add(state, action, after)

    def model(self, states: tuple[int, ...]) -> EmpiricalModel:
        return EmpiricalModel.of(self.rows, states)

    def certifies(self, policy: Policy) -> bool:
        """Return True from the second time on."""
        self.asked.append(policy)
        return len(self.asked) > 1

    def needs_map(self, policy: Policy) -> bool:
        return False

    def goes_on(self) -> bool:
        """Return whether the test does, now that action 1 is the better one."""
        offer = self.tests.offer(to(1, 1), 2.0)
        assert (offer.test is self.test) == (offer.policy == to(0, 0))
        return offer.test is self.test


def test_a_test_goes_on_although_another_policy_is_a_little_better() -> None:
    begun = Begun()
    for _ in range(4):
        begun.test.record(2, False)
    assert begun.goes_on()
    before = begun.evidence.nats
    begun.tests.begin(begun.tests.offer(to(1, 1), 2.0))
    assert begun.tests.begun[TARGET] is begun.test and begun.test.policy == to(0, 0)
    assert begun.evidence.nats == before


@pytest.mark.parametrize('slips', [60, 400])
def test_not_if_the_other_one_is_much_better(slips: int) -> None:
    """As 60 slips double the steps; with 400 they are beyond the limit."""
    assert not Begun(slips).goes_on()


def test_a_test_that_loses_is_given_up() -> None:
    begun = Begun()
    while begun.goes_on():
        begun.test.record(HORIZON, True)
    assert 0 < begun.test.played < 20


def test_each_attempt_that_arrives_makes_the_offer_cheaper() -> None:
    begun = Begun()
    offers = []
    for _ in range(5):
        offers.append(begun.tests.offer(to(0, 0), 2.2))
        begun.test.record(2, False)
    assert all(later.attempts < earlier.attempts and later.steps < earlier.steps
               for earlier, later in zip(offers, offers[1:]))
    assert offers[0].steps / offers[0].attempts == pytest.approx(3.4, rel=0.2)    # and RESET


def test_the_offer_is_not_far_from_what_it_takes() -> None:
    begun = Begun(0)
    offer = begun.tests.offer(to(0, 0), 2.0)
    while begun.test.lacking > 0:
        begun.test.record(2, False)
    assert begun.test.played == pytest.approx(offer.attempts, rel=0.25)


@pytest.mark.parametrize('policy, place', [
    (to(0, 0), 1), (to(0, 0, -1), 2), (to(0, 1), 2), (None, 2)])
def test_only_a_test_of_what_was_certified_leaves_its_place(
        policy: Policy | None, place: int) -> None:
    """What plays the same over more states is another policy: there, attempts go on."""
    begun = Begun()
    free = CertificateEvidence(PROBLEM, 0.06)
    for _ in range(place - 1):
        free.new_test(to(0, 0))
    if policy is None:
        del begun.tests.begun[TARGET]
    else:
        begun.tests.certified(policy, begun.evidence)
    assert TARGET not in begun.tests.begun and begun.evidence.nats == free.nats


def test_what_other_evidence_has_certified_frees_no_place() -> None:
    """As the other one may be wrong more often than this one's delta says."""
    begun, other = Begun(), CertificateEvidence(PROBLEM, 0.06)
    before = begun.evidence.nats
    begun.tests.certified(to(0, 0), other)
    assert not begun.tests.begun and begun.evidence.nats == before


@pytest.mark.parametrize('certified_first', [False, True])
def test_a_test_that_was_given_up_leaves_its_place_once_the_model_certifies_its_policy(
        certified_first: bool) -> None:
    """Whether another policy has been certified meanwhile, or is under test."""
    begun = Begun(400)
    second, first = begun.evidence.nats, CertificateEvidence(PROBLEM, 0.06).nats
    if certified_first:
        begun.tests.certified(to(1, 1), begun.evidence)
    else:
        begun.tests.begin(begun.tests.offer(to(1, 1), 2.0))
    before = begun.evidence.nats
    begun.tests.settle()
    assert begun.evidence.nats == before
    begun.tests.settle()
    # The other test moves up to the first place.
    assert begun.evidence.nats == (first if certified_first else second)
    begun.tests.settle()
    assert begun.asked == [to(0, 0)] * 2


def test_a_test_that_has_told_of_a_bad_policy_keeps_its_place() -> None:
    begun = Begun()
    del begun.tests.begun[TARGET]
    begun.asked.append(to(0, 0))    # from now on, the model certifies all
    begun.tests.settle()
    begun.tests.clear()
    assert begun.evidence.nats > CertificateEvidence(PROBLEM, 0.06).nats


def test_all_end_at_once() -> None:
    begun = Begun()
    begun.tests.clear()
    assert not begun.tests.begun and not begun.goes_on()
