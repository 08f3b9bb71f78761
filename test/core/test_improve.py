# SPDX-License-Identifier: Apache-2.0

"""Policies that were asked for become nearly the best, which is proven, and right."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from binomial import binomial_tail
from mnm_ros.core import (
    Exploration,
    ImproveInput,
    InvalidTypeError,
    InvalidValueError,
    Observation,
    PairChange,
    Policy,
    Problem,
    RESET,
    settings,
    Support,
    TrustedPolicy,
    UnknownStateError,
)
from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.improve.improvements import Improvements, LeastSteps
from mnm_ros.core.inputs import Input
from mnm_ros.core.mnm import mnm
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.phase import Directives
from mnm_ros.core.progress.said import (
    BetterProvenNearlyBest,
    Improving,
    OfHypothesisNearlyBest,
    ProvenNearlyBest,
    ToImproveAgain,
)
from mnm_ros.core.statistics.certificate import ConfidenceSets, PolicyModel
from mnm_ros.core.statistics.reach import Reach
from mnm_ros.simulation.cmp import Cmp, grid_cmp, support, TableCmp
from mnm_ros.simulation.ground_truth import best_time, expected_steps
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from test_fleet import still, World
from tiers import strength, thorough

ACTIONS = ('east', 'north', 'west', 'south')
ROOM = ('S..', '...')
FAR = 5    # of the room: two moves east and one north
MOST = 60_000


def scenario_of(*cmps: Cmp) -> Scenario:
    return Scenario('', ACTIONS[:cmps[0].actions], cmps[0].start, tuple(
        Setting(cmp, None) for cmp in cmps), Path())


class Run:
    """An exploration of one CMP after the other, by its map or without."""

    def __init__(self, *cmps: Cmp, seed: int = 0, declared: bool = False,
                 radius: float = 3.5, delta: float = strength(0.5, 0.1)) -> None:
        self.simulator = Simulator(scenario_of(*cmps), seed)
        self.settings = settings(Problem(cmps[0].actions, radius, 1.0, delta))
        self.exploration = Exploration(self.settings, seed)
        self.inputs: list[Input] = []
        self.follow()
        if declared:
            self.exploration.declare(support(cmps[0]))
        while self.exploration.hypothesis is None:
            self.explore(1)

    def follow(self) -> None:
        self.exploration.listeners.append(
            lambda update: self.inputs.append(update.input))

    def explore(self, steps: int) -> None:
        for _ in range(steps):
            action = self.exploration.next_action()
            self.exploration.observe(action, self.simulator.step(action))

    def told(self, target: int) -> TrustedPolicy:
        return next(told for told in self.exploration.trust() if told.policy.target == target)

    def proven(self, target: int) -> bool:
        return any(isinstance(told.said, OfHypothesisNearlyBest)
                   for told in self.exploration.trust() if told.policy.target == target)

    def until_proven(self, target: int, most: int = MOST) -> int:
        begun = self.exploration.steps
        while not self.proven(target):
            self.explore(strength(60, 20))
            assert self.exploration.steps < begun + most, self.exploration.activity().said
        return self.exploration.steps - begun


# The bounds ---------------------------------------------------------------------------------


def random_cmp(seed: int, states: int = 4, actions: int = 2) -> TableCmp:
    """Return a CMP in which each pair leads to one to three states."""
    rng, outcomes = np.random.default_rng([seed, 7]), {}
    for state in range(states):
        for action in range(actions):
            ends = rng.choice(states, int(rng.integers(1, 4)), replace=False)
            chances = rng.dirichlet(np.ones(len(ends)))
            outcomes[state, action] = tuple(zip(ends.tolist(), chances.tolist()))
    return TableCmp(0, actions, outcomes)


@pytest.mark.parametrize('declared', [False, True])
def test_no_bound_is_wrong_more_often_than_with_delta(declared: bool) -> None:
    """Each of many looks on the way at all targets has to be right, of the best and of any."""
    delta, seeds, wrong, tight = 0.2, range(strength(5, 40)), [], 0
    for seed in seeds:
        cmp = random_cmp(seed)
        known, rng = (0, 1, 2), np.random.default_rng([seed, 8])
        told = Support(support(cmp)) if declared else Support()
        sets = ConfidenceSets(delta)
        state, failed = 0, False
        least: dict[int, dict[int, float]] = {1: {}, 3: {}}
        looks = strength((16, 128, 512), (8, 32, 128, 512))
        for step in range(1, 513):
            action = int(rng.integers(-1 if state == 3 else 0, 2))
            ends, chances = zip(*cmp.transitions(state, action))
            after = int(rng.choice(ends, p=chances))
            if action != RESET and state in known:
                if rng.random() < 0.1:
                    sets.add_censored(state, action)
                else:
                    sets.add(state, action, after)
            state = 0 if state == 3 else after
            if step not in looks:
                continue
            for target, before in least.items():
                best = best_time(cmp, known, target)
                found = LeastSteps(sets, known, 2, target, told, before=before)
                least[target] = found.by_state
                policy = Policy(target, 40, known, (tuple(
                    int(action) for action in rng.integers(0, 2, 3)),))
                bound = PolicyModel(sets, policy, 20.0, told).bound
                failed |= found.steps > best + 1e-9
                failed |= bound <= 20.0 < expected_steps(cmp, policy)
                tight += found.steps > 0.8 * best
        wrong += [seed] if failed else []
    assert tight > len(seeds) / 4    # the bounds say something
    assert binomial_tail(len(seeds), delta, len(wrong)) > 1e-3, wrong


def test_what_was_never_executed_may_lead_to_the_target_unless_that_is_declared() -> None:
    cmp = grid_cmp(ROOM, 0.0, ACTIONS)
    sets = ConfidenceSets(0.1)
    known = tuple(range(6))
    free = LeastSteps(sets, known, 4, FAR, Support())
    told = Support(support(cmp))
    assert free.steps == 1 and LeastSteps(sets, known, 4, FAR, told).steps == 3
    barred = LeastSteps(sets, known, 4, FAR, told, without=[(0, 0), (3, 0)])
    assert barred.steps > 900    # no policy arrives
    assert LeastSteps(sets, known, 4, FAR, told, without=[(0, 0)]).steps == 3
    assert {*barred.moves} <= {RESET, 0, 1, 2, 3}


def test_a_reset_is_the_move_from_where_no_action_takes_less() -> None:
    room, nothing = Support(support(grid_cmp(ROOM, 0.0, ACTIONS))), ConfidenceSets(0.1)
    at_one = [(1, action) for action in range(4)]
    found = LeastSteps(nothing, range(6), 4, FAR, room, without=at_one)
    assert found.moves[1] == RESET != found.moves[0]
    assert found.steps == 3 and found.by_state[1] == 1 + 3 and found.by_state[4] == 1


@pytest.mark.parametrize('scheduled', [True, False])
def test_the_way_around_a_closed_pair_is_the_best_if_a_caller_schedules_its_re_checks(
        scheduled: bool) -> None:
    """Else the pair is tried as any other, and may lead on again."""
    cmp, known = grid_cmp(('S.', '..'), 0.0, ACTIONS), tuple(range(4))
    reach, pairs = Reach(3.5, 0.1), PairWatch()
    for pair in ((state, action) for state in known for action in range(4)):
        (after, _), = cmp.transitions(*pair)
        for _ in range(3 if pair == (0, 0) else 400):
            reach.add_transition(*pair, 0 if pair == (0, 0) else after)
    pairs.change(PairChange(0, 0, {1: 40}, {0: 3}))
    pairs.scheduled = scheduled
    around, = (action for action in range(4) if cmp.transitions(0, action)[0][0] == 2)
    back, = (action for action in range(4) if cmp.transitions(3, action)[0][0] == 1)
    policies = (Policy(0, 12, known, ((RESET,) * 4,)),
                Policy(1, 12, known, ((around, RESET, 0, back),)))
    held: Any = SimpleNamespace(parts=SimpleNamespace(
        pairs=pairs, reach=reach, policies=policies,
        round=SimpleNamespace(number=1, problem=Problem(4, 3.5, 1.0, 0.1), log=ChangeLog())))
    improvements = Improvements(held)
    improvements.ask(1, 0.2)
    assert improvements.begin(9) is not scheduled
    assert [round(proof.at_least) for proof in improvements.proven.values()] == [3] * scheduled


def test_what_is_proven_of_a_policy_that_goes_by_the_step_is_true_of_what_is_published() -> None:
    """Its first row leads on, and the others stay: only the first has a model."""
    cmp, known = grid_cmp(ROOM, 0.0, ACTIONS), tuple(range(6))
    reach = Reach(3.5, 0.1)
    for state in known:
        for action in range(4):
            (after, _), = cmp.transitions(state, action)
            for _ in range(400):
                reach.add_transition(state, action, after)
    first, others = (0, 0, 3, 0, 0, 0), (2, 2, 2, 2, 2, 2)
    old = Policy(FAR, 12, known, (first, *[others] * 11))
    home = Policy(0, 12, known, ((RESET,) * 6,))
    improvements = Improvements(cast(Any, None))    # asked for what it finds alone
    improvements.ask(FAR, 0.5)
    found = improvements.look((home, old), (), Problem(4, 3.5, 1.0, 0.1), reach)
    assert found is not None and found.old is old
    assert expected_steps(cmp, found.new) <= found.proof.at_most < 4 < expected_steps(cmp, old)
    slow = Policy(FAR, 12, known, (others, *[first] * 11))
    assert not reach.too_slow(slow, 7.0)[0]    # it takes four steps
    assert reach.too_slow(Policy(FAR, 12, known, (others,)), 7.0)[0]


# All together -------------------------------------------------------------------------------


@pytest.mark.parametrize(('slip', 'declared'), [(0.0, False), pytest.param(
    0.1, True, marks=thorough(
        'core/test_improve.py::test_a_policy_becomes_nearly_the_best_and_that_is_right '
        'core/test_improve.py::test_no_bound_is_wrong_more_often_than_with_delta'))])
def test_a_policy_becomes_nearly_the_best_and_that_is_right(slip: float, declared: bool) -> None:
    rows, far = strength((('S.', '..'), 3), (ROOM, FAR))
    for seed in range(1 if declared else strength(1, 2)):
        run = Run(grid_cmp(rows, slip, ACTIONS), seed=seed, declared=declared)
        update = run.exploration.improve(far)
        assert update.input == ImproveInput(far, 0.1, run.inputs[-1].asked)
        assert not run.proven(far) and run.told(far).at_most_steps == 7.0
        run.until_proven(far)
        hypothesis = run.exploration.hypothesis
        assert hypothesis is not None
        best = best_time(run.simulator.cmp, hypothesis.targets, far)
        takes = expected_steps(run.simulator.cmp, hypothesis.policy_for(far))
        at_most = run.told(far).at_most_steps
        assert at_most is not None and takes <= at_most <= 1.1 * best and takes <= 1.1 * best
        said = next(each.said for each in reversed(run.exploration.events)
                    if isinstance(each.said, ProvenNearlyBest))
        assert (said.round, said.target) == (1, far) and said.within <= 0.1
        assert not run.proven(2)    # nobody has asked for that


def test_others_have_their_steps_meanwhile() -> None:
    run = Run(grid_cmp(ROOM, 0.1, ACTIONS))
    run.exploration.improve(FAR, 0.01)
    doing = []
    for _ in range(strength(250, 1500)):
        run.explore(1)
        doing.append(run.exploration.activity().said)
    improving = sum(isinstance(said, Improving) for said in doing)
    assert 0.6 * len(doing) < improving < 0.72 * len(doing)
    assert {said.target for said in doing if isinstance(said, Improving)} == {FAR}
    assert not run.exploration.changes_noticed
    run.exploration.improve_no_more()
    run.explore(1)    # which was asked for
    for _ in range(strength(100, 300)):
        run.explore(1)
        assert not isinstance(run.exploration.activity().said, Improving)
    assert run.exploration.mnm.runs.directives == Directives()


def test_what_goes_on_from_a_log_or_a_resume_point_does_the_same() -> None:
    rows, far, other = strength((('S.', '..'), 3, 1), (ROOM, FAR, 2))
    run = Run(grid_cmp(rows, strength(0.0, 0.1), ACTIONS), seed=1)
    run.exploration.improve(far, strength(0.9, 0.5))
    run.exploration.improve(other, 0.02)
    run.explore(strength(300, 1200))
    again = Exploration(run.settings, 1)
    for made in run.inputs:
        if isinstance(made, Observation):
            assert again.next_action() == made.action
        again.take(made)
    resumed = Exploration(run.settings, 1, json.loads(json.dumps(run.exploration.to_state())))
    for each in (again, resumed):
        each.robot_answers()
    for _ in range(strength(200, 1500)):
        action = run.exploration.next_action()
        state = run.simulator.step(action)
        for each in (again, resumed):
            assert each.next_action() == action
            each.observe(action, state)
        run.exploration.observe(action, state)
    for each in (again, resumed):
        assert each.hypothesis == run.exploration.hypothesis
        assert each.activity().said == run.exploration.activity().said
        assert [told.said for told in each.trust()] == [
            told.said for told in run.exploration.trust()]
    assert run.proven(far) and not run.proven(other)


def test_a_change_withdraws_what_was_proven_and_it_is_proven_again() -> None:
    """The way by one of the corridors is blocked, so that the best is another one."""
    rows, radius, target = strength(
        ((('S..', '...'), ('S#.', '...')), 4.0, 5), ((('S...', '....'), ('S.#.', '....')), 5.0, 7))
    before, after = (grid_cmp(each, 0.0, ACTIONS) for each in rows)
    run = Run(before, after, radius=radius)
    run.exploration.improve(target, strength(0.9, 0.3))
    run.until_proven(target)
    run.simulator.change()
    noticed = run.exploration.changes_noticed
    while run.exploration.changes_noticed == noticed:
        run.explore(1)
    assert not run.proven(target)
    assert any(isinstance(event.said, ToImproveAgain) and event.said.states == (target,)
               for event in run.exploration.events)
    run.until_proven(target)
    assert not run.exploration.revising
    assert type(run.exploration.events[-1].said) is ProvenNearlyBest    # the policy is as it was


def test_a_shorter_way_that_has_opened_takes_the_place_of_one_within_the_limit(
        monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('_FOR_PROOFS', '_PROOFS_ALONE'):    # else the next round might find it
        monkeypatch.setattr(mnm, name, 10**6)
    rows, radius, target = strength(    # which is the last state of the row of home
        ((('S#.', '...'), ('S..', '...')), 4.0, 2), ((('S.#.', '....'), ('S...', '....')), 5.0, 3))
    before, after = (grid_cmp(each, 0.0, ACTIONS) for each in rows)
    run = Run(before, after, radius=radius)

    def takes() -> float:
        assert run.exploration.hypothesis is not None
        return expected_steps(after, run.exploration.hypothesis.policy_for(target))
    run.simulator.change()
    while not run.exploration.changes_relearnt:
        run.explore(1)
    assert takes() == target + 2.0    # as it was before, which is good enough
    run.exploration.improve(target, strength(0.9, 0.3))
    run.until_proven(target)
    assert takes() == target
    said = run.exploration.events[-1].said
    assert isinstance(said, BetterProvenNearlyBest)
    assert (round(said.before, 2), round(said.likely, 2)) == (target + 2.0, target)


def test_several_robots_improve_a_policy_together() -> None:
    world = World(still(strength('row', 'corridor')), strength(2, 3)).explore()
    within = strength(0.9, 0.1)
    world.exploration.improve(1, within)
    world.go_on(lambda: 1 in world.exploration.mnm.phase.nearly_best)
    proof = world.exploration.mnm.phase.nearly_best[1]
    assert proof.at_least <= 10 / 9 <= proof.at_most <= (1 + within) * proof.at_least
    assert world.right


def test_what_cannot_be_improved_is_refused() -> None:
    exploration = Exploration(settings(Problem(4, 3.5, 1.0, 0.1)))
    with pytest.raises(InvalidValueError, match='state 5 has no policy yet: there is no hypoth'):
        exploration.improve(5)
    run = Run(grid_cmp(ROOM, 0.1, ACTIONS))
    number = len(run.inputs)
    with pytest.raises(UnknownStateError, match=r'state 77 has no policy, expected one of \[0, '):
        run.exploration.improve(77)
    with pytest.raises(InvalidValueError, match='state 0 is home'):
        run.exploration.improve(0)
    with pytest.raises(InvalidTypeError, match="state is 'kitchen'"):
        run.exploration.improve('kitchen')    # type: ignore[arg-type]
    for within in (0.0, -1.0, 1.5, float('nan')):
        with pytest.raises(InvalidValueError, match=r'within is .*, expected a number in \(0, 1'):
            run.exploration.improve(FAR, within)
    assert len(run.inputs) == number
