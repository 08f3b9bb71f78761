# SPDX-License-Identifier: Apache-2.0

"""Another way to a known state is taken where its policy is doubted."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core import Declaration, Policy, Problem, RESET, Round, settings, Support
from mnm_ros.core.components import BASES
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.watch.watch_phase import WatchPhase
import numpy as np
import pytest
from scripted import HOME, ScriptedBase, sentences
from test_watch_changes import blind, Slow
from test_watch_phase import HORIZON, PROBLEM

RESOLVED = settings(Problem(2, 4.0, 1.0, 0.1))
STATES = (HOME, 1, 2)


def to_one(at_home: int) -> Policy:
    """Return the policy to 1, straight by action 0 or by way of 2."""
    return Policy(1, RESOLVED.steps_horizon, STATES, ((at_home, RESET, 0),))


def to_two() -> Policy:
    return Policy(2, RESOLVED.steps_horizon, STATES, ((1, RESET, RESET),))


def run_with(given: int) -> Disco:
    """Return a run that begins with the policy to 1 that takes this action at home."""
    home = Policy(HOME, RESOLVED.steps_horizon, STATES, ((RESET,) * 3,))
    base = BASES['disco'](RESOLVED, HOME, np.random.default_rng(0),
                          (home, to_one(given), to_two()))
    assert isinstance(base, Disco)
    return base


def finish(base: Disco) -> None:
    """Play to the end of the run where moves succeed in 80% of the steps."""
    rng, here = np.random.default_rng(1), HOME
    while not base.finished:
        action = base.next_action()
        moved = rng.random() < 0.8 and action != RESET
        here = HOME if action == RESET else (
            here if not moved else 1 if action == 0 or here == 2 else 2 if here == HOME else here)
        base.observe(action, here)


@pytest.mark.parametrize('given', [0, 1])
def test_a_run_offers_the_shorter_way_once_it_is_certified(given: int) -> None:
    base = run_with(given)
    assert base.better(to_one(given)) is None    # it knows nothing yet
    finish(base)
    better = base.better(to_one(given))
    if given == 0:
        assert better is None
        return
    assert better is not None and better.action(0, HOME) == 0 and better.target == 1
    assert {policy.target: policy for policy in base.policies}[1] == better
    assert base.better(better) is None


def test_a_way_that_transitions_certify_stays_when_the_test_of_the_one_before_needs_the_map(
        ) -> None:
    base = run_with(1)
    finish(base)
    base.certifier.known.by_place[1] = None
    better = base.better(to_one(1))
    base.support_changed([(2, 1)])
    assert better in base.policies


def test_a_way_that_rests_on_a_declaration_is_dropped_with_it() -> None:
    support = Support(Declaration({0: ((0, 1), (0, 2)), 1: ((1,), (1,)), 2: ((1, 2), (1, 2))}))
    home = Policy(HOME, RESOLVED.steps_horizon, STATES, ((RESET,) * 3,))
    base = BASES['disco'](replace(RESOLVED, problem=replace(RESOLVED.problem, support=support)),
                          HOME, np.random.default_rng(0), (home, to_one(1), to_two()))
    rng, better = np.random.default_rng(1), None
    while better is None:
        for state, action, end in ((HOME, 0, 1), (HOME, 1, 2), (2, 0, 1)):
            base.add_transition(state, action, end if rng.random() < 0.6 else state)
        better = base.better(to_one(1))
    assert better in base.policies and better.action(0, HOME) == 0
    base.support_changed([])
    assert better in base.policies
    # So is one whose test had too little capital without the places that the map has freed.
    assert isinstance(base, Disco)
    base.certifier.known.policies[3] = replace(to_two(), target=3)
    base.certifier.known.estimates[3] = 2.0
    base.certifier.known.by_place[3] = None
    base.support_changed([])
    assert [policy.target for policy in base.policies] == [HOME, 1, 2, 3]
    support.refute(HOME, 0, 7)
    base.support_changed([(HOME, 0)])
    assert [policy.target for policy in base.policies] == [HOME, 2]


class Offering(ScriptedBase):
    """Has another way to 3, by action 7."""

    offered = 0

    def better(self, policy: Policy) -> Policy | None:
        """Return it, once."""
        self.offered += 1
        return Policy(3, HORIZON, (HOME,), ((7,),)) if self.offered == 1 else None


def test_it_is_taken_only_while_the_policy_is_doubted_and_seems_slow() -> None:
    log = ChangeLog()
    base = Offering(0, (HOME, 3, 5))
    checking = WatchPhase(
        Round(1, PROBLEM, lambda problem, policies: base, 10**6, 30, log),
        tuple(Policy(target, HORIZON, (HOME,), ((target or RESET,),)) for target in (HOME, 3, 5)),
        quanta=1)
    blind(checking)
    world = Slow({3: 0.2}, 0)    # five steps, with a radius of four

    def play(steps: int) -> None:
        for _ in range(steps):
            action = checking.next_action()
            after = world.step(action)
            checking.observe(action, 3 if after == 7 else after)
    play(500)
    assert not base.offered and not log.news
    checking.doubts.notice_all()
    before = checking.parts.checks.monitor.detectors[3]
    play(600)
    assert base.offered and sentences(log) == ['round 1: another way is taken to state 3']
    assert checking.policies[1].action(0, HOME) == 7
    assert [policy.target for policy in checking.policies] == [HOME, 3, 5]
    assert checking.parts.checks.monitor.detectors[3] is not before
