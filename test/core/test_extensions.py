# SPDX-License-Identifier: Apache-2.0

"""Policies that are led on behind their targets, so that an attempt counts for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from mnm_ros.core import (
    Counts,
    Declaration,
    EmpiricalModel,
    Exploration,
    Policy,
    Problem,
    settings,
    Support,
    TransitionRows,
)
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.disco.evidence import CertificateEvidence
from mnm_ros.core.disco.examiner import Examiner
from mnm_ros.core.disco.policy_tests import PolicyTests
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest

PROBLEM = Problem(actions=2, radius=4.0, epsilon=1.0, delta=0.1)
NEAR = {1: 1.2, 2: 2.4, 3: 3.6, 4: 1.2}


class Corridor:
    """From 0 over 1 and 2 to 3 by action 0, and to 4 by action 1, which else leads home."""

    def __init__(self, declared: bool) -> None:
        ends = {(0, 0): 1, (1, 0): 2, (2, 0): 3, (0, 1): 4, (1, 1): 0, (2, 1): 0}
        counts = self.counts = Counts()
        self.problem = PROBLEM if not declared else replace(PROBLEM, support=Support(Declaration({
            state: ((state, ends[state, 0]), (ends[state, 1],)) for state in range(3)})))
        self.rows = TransitionRows(counts, 2, self.problem.support)
        for state in (0, 1, 2, 3, 4):
            self.rows.enter(state)
        for (state, action), end in ends.items():
            for after in ([] if declared and state else [end] * 9 + [state]):
                counts.add(state, action, after)
                self.rows.add(state, action, after)
        self.latest = CertificateEvidence(self.problem, 0.06)
        self.tests = PolicyTests(self.problem, cast(Examiner, self))

    def model(self, states: tuple[int, ...]) -> EmpiricalModel:
        return EmpiricalModel.of(self.rows, states)

    def led_on(self, near: dict[int, float]) -> list[Policy]:
        first = self.tests.offered(Policy(1, 12, (0,), ((0,),)), 1.2)
        return [offer.policy for offer in self.tests.lead_on(first, (0,), near)]


@pytest.mark.parametrize('declared', [False, True])
def test_a_policy_is_led_on_along_what_lacks_a_certificate(declared: bool) -> None:
    """What is declared is taken to be so before it was tried."""
    assert [(each.target, each.states, each.actions[0]) for each in Corridor(declared).led_on(
        NEAR)] == [(1, (0,), (0,)), (2, (0, 1), (0, 0)), (3, (0, 1, 2), (0, 0, 0))]


def test_it_is_not_led_on_a_long_way_round_nor_to_what_needs_no_certificate() -> None:
    corridor = Corridor(False)
    assert [each.target for each in corridor.led_on({**NEAR, 2: 1.0})] == [1]
    assert [each.target for each in corridor.led_on({1: 1.2, 3: 3.6})] == [1]


def test_a_test_that_has_begun_goes_on_if_it_passes_there() -> None:
    corridor = Corridor(False)
    for offer in (Policy(2, 12, (0, 1), ((0, 0),)), Policy(3, 12, (0, 1, 2), ((1, 0, 0),))):
        corridor.tests.begin(corridor.tests.offered(offer, 2.4))
    found = corridor.led_on(NEAR)
    assert [each.target for each in found] == [1, 2]
    assert found[1] is corridor.tests.begun[2].policy


def test_a_state_is_known_only_once_all_is_that_its_policy_goes_through() -> None:
    """An attempt counts for several of them on the way there."""
    scenario = load('grid_3x3')
    simulator = Simulator(scenario, 0)
    exploration, shared = Exploration(settings(replace(PROBLEM, actions=4)), 0), 0
    while exploration.hypothesis is None:
        assert exploration.steps < 4000
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        run = exploration.mnm.phase.base
        if isinstance(run, Disco):
            shared = max(shared, len(run.certifier.attempts.passed)
                         if run.certifier.attempts else 0)
            known = {policy.target for policy in run.policies}
            assert all(state in known for policy in run.policies for state in policy.states)
    assert shared > 1
    assert judge(simulator.cmp, exploration.hypothesis, PROBLEM.radius, PROBLEM.epsilon).ok
