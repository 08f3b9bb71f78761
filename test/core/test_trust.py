# SPDX-License-Identifier: Apache-2.0

"""How far policies may be trusted, before the first hypothesis and after a change."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any, cast

from binomial import binomial_tail
from mnm_ros.core import (
    Declaration,
    Exploration,
    Hypothesis,
    Policy,
    PolicyTrust,
    Problem,
    RESET,
    settings,
    Support,
    Trust,
    TrustedPolicy,
    View,
)
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.progress.said import NotProvenSince
from mnm_ros.core.progress.trust import from_json, LEAST, may_follow, to_json
from mnm_ros.core.trust_ledger import TrustLedger
from mnm_ros.simulation.ground_truth import expected_steps, reachable_states
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from tiers import strength, thorough

RADIUS, EPSILON, DELTA = 4.0, 1.0, 0.1
EVERY = 20    # steps


class Run:
    """An exploration of a scenario, at which somebody looks from time to time."""

    def __init__(self, name: str, seed: int, radius: float = RADIUS, base: str = '',
                 delta: float = DELTA) -> None:
        scenario = load(name)
        self.simulator = Simulator(scenario, seed)
        self.exploration = Exploration(settings(
            Problem(len(scenario.actions), radius, EPSILON, delta),
            overrides={'base': base}), seed)

    def step(self) -> int:
        action = self.exploration.next_action()
        self.exploration.observe(action, self.simulator.step(action))
        return action

    def until_hypothesis(self, every: int = EVERY) -> list[tuple[int, tuple[TrustedPolicy, ...]]]:
        """Return what was told every so many steps until the first hypothesis."""
        told = []
        while self.exploration.hypothesis is None:
            self.step()
            if self.exploration.steps % every == 0 and self.exploration.hypothesis is None:
                told.append((self.exploration.steps, self.exploration.trust()))
        return told


def targets(told: tuple[TrustedPolicy, ...], trust: Trust) -> list[int]:
    return [each.policy.target for each in told if each.trust is trust]


@pytest.mark.parametrize('base', ['disco', 'ucb_explore'])
def test_what_is_certified_on_the_way_keeps_to_its_limit(base: str) -> None:
    broken, runs, looked = [], strength(4, 12), 0
    world = strength('corridor', 'grid_3x3')
    for seed in range(runs):
        run = Run(world, seed, 3.0, base)
        for _, told in run.until_hypothesis(every=strength(100, 60)):
            for each in told:
                if each.trust is Trust.CERTIFIED:
                    looked += 1
                    assert each.at_most_steps is not None
                    assert each.at_most_steps <= (1 + EPSILON) * 3.0
                    if expected_steps(run.simulator.cmp, each.policy) > each.at_most_steps:
                        broken.append(seed)
    assert looked >= runs
    assert binomial_tail(runs, DELTA, len({*broken})) > 1e-3, f'seeds {sorted({*broken})}'


def test_the_near_ones_come_early() -> None:
    """In steps, as the run is the longer, the more it takes to rule out what is missing."""
    firsts, halves = [], []
    runs = strength(1, 4)
    for seed in range(runs):
        run, counts = Run('two_rooms', seed), [(0, 0)]
        half = (len(reachable_states(run.simulator.cmp, RADIUS)) - 1) / 2
        while counts[-1][1] < half:
            for _ in range(60):
                run.step()
            certified = targets(run.exploration.trust(), Trust.CERTIFIED)
            counts.append((run.exploration.steps, len(certified)))
        firsts.append(next(step for step, count in counts if count))
        halves.append(counts[-1][0])
    assert sum(firsts) / runs <= 450 and sum(halves) / runs <= 925, (firsts, halves)


def test_a_policy_takes_the_time_of_its_actions() -> None:
    run = Run('corridor', 0)
    run.until_hypothesis(every=10_000)
    *_, last = run.exploration.trust()
    assert last.plays is not None and last.expected_seconds is None
    assert last.expected_steps == pytest.approx(sum(last.plays.values()))
    assert last.timed({}).expected_seconds is None
    seconds = {RESET: 20.0, **dict.fromkeys(range(2), 2.0)}
    resets = last.plays.get(RESET, 0.0)
    expected = 20.0 * resets + 2.0 * (last.expected_steps - resets)
    assert last.timed(seconds).expected_seconds == pytest.approx(expected)
    assert last.timed({RESET: 2.0}).expected_seconds == pytest.approx(2 * last.expected_steps)
    version, told = from_json(to_json((1, 9), [last.timed(seconds)]))
    assert version == (1, 9)
    assert told[last.policy.target].expected_seconds == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(('trust', 'known', 'least'), [
    (None, True, Trust.PROVEN), (None, False, None), (Trust.PROVEN, True, Trust.PROVEN),
    (Trust.PROVEN, False, None), (Trust.CERTIFIED, True, Trust.PROVEN),
    (Trust.KEPT, True, Trust.PROVEN), (Trust.KEPT, False, None),
    (Trust.CERTIFIED, False, Trust.CERTIFIED), (Trust.ASSUMED, False, Trust.ASSUMED),
    (Trust.DOUBTED, True, Trust.DOUBTED), (Trust.DOUBTED, False, Trust.DOUBTED)])
def test_how_much_may_be_asked_for_to_follow_a_policy(
        trust: Trust | None, known: bool, least: Trust | None) -> None:
    """None is for never; what was told as proven of a state not known is of before."""
    told = trust and PolicyTrust(trust, None, None, 0, '')
    assert [each for each in LEAST if may_follow(told, known, each)] == (
        [] if least is None else [*LEAST[least.rank:]])


@thorough('core/test_queries.py::test_no_query_has_an_effect')
def test_to_look_changes_nothing() -> None:
    looked, alone = Run('grid_3x3', 1), Run('grid_3x3', 1)
    for _ in range(2000):    # beyond the first hypothesis
        assert looked.step() == alone.step()
        looked.exploration.trust(at_most=2)
    assert alone.exploration.hypothesis is not None


@thorough('core/test_front.py::test_the_example_of_trust')
def test_trust_grows_and_is_lost_with_a_change() -> None:
    run, view = Run('two_rooms', 0, RADIUS, delta=DELTA), View()
    on_the_way = run.until_hypothesis(every=200)
    assert any(targets(told, Trust.ASSUMED) for _, told in on_the_way)
    proven = run.exploration.trust(None, view)
    assert {each.trust for each in proven} == {Trust.PROVEN}
    assert proven[0].policy.target == run.exploration.home and not proven[0].at_most_steps
    assert {each.at_most_steps for each in proven[1:]} == {(1 + EPSILON) * RADIUS}
    run.simulator.change()
    while not run.exploration.mnm.log.open:
        run.step()
    told = run.exploration.trust(None, view)
    doubted = targets(told, Trust.DOUBTED)
    assert doubted and all('change' in sentence(each.said) and each.at_most_steps is None
                           for each in told if each.trust is Trust.DOUBTED)
    since = {each.policy.target: each.since_step for each in told}
    run.step()
    told = run.exploration.trust(None, view)
    assert {each.policy.target: each.since_step for each in told} == since
    while run.exploration.mnm.log.open:
        run.step()
    assert {each.trust for each in run.exploration.trust(None, view)} == {Trust.PROVEN}


@pytest.mark.parametrize('trust', [Trust.CERTIFIED, Trust.PROVEN])
def test_since_when_a_policy_is_trusted_is_kept(trust: Trust) -> None:
    """Issue: after each restart it was since then."""
    run, view = Run('broken_wheel', 0, strength(2.0, RADIUS)), View()
    told: tuple[TrustedPolicy, ...] = ()
    while len(targets(told, trust)) < 2 or run.exploration.steps % 60:
        run.step()
        if run.exploration.steps % EVERY == 0:
            told = run.exploration.trust(None, view)
    since = {each.policy.target: each.since_step for each in told if each.trust is trust}
    run.step()
    assert max(since.values()) < run.exploration.steps
    again = View(pickle.loads(pickle.dumps(view.ledger.to_state())))
    run.exploration.trust(0, again)    # as from the explorer, which looks at some in their turn
    assert {each.policy.target: each.since_step for each in run.exploration.trust(None, again)
            if each.policy.target in since} == since


def test_what_a_proof_takes_from_the_map_is_told_with_it() -> None:
    """Of the pairs that a policy may come to, those that are declared; of no other trust any."""
    ends = {0: ((0, 1), (4,)), 1: ((1, 2), (0,)), 4: ((4,), (4,))}    # nothing of 2
    problem = Problem(2, RADIUS, EPSILON, DELTA, Support(Declaration(ends)))
    states = 0, 1, 2, 3, 4
    moves = {0: (RESET,) * 5, 1: (0, RESET, 0, 0, 0), 2: (0, 0, RESET, 0, 0),
             3: (0, 0, 0, RESET, 1), 4: (1, 0, 0, 0, RESET)}
    mnm = SimpleNamespace(
        home=0, round=1, phase=SimpleNamespace(
            numbered={}, nearly_best={}, doubted={4: NotProvenSince()}, kept=()),
        support=problem.support, hypothesis=Hypothesis(1, 3, 20, tuple(
            Policy(target, 20, states, (played,)) for target, played in moves.items())))
    ledger = TrustLedger()
    following = {(2, 0): {3: 1}}

    def told() -> dict[int, tuple[Trust, int]]:
        found = ledger.policies(cast(Any, mnm), settings(problem), 5, dict.fromkeys(states),
                                lambda *pair: following.get(pair, {}))
        _, heard = from_json(to_json((1, 3), found))
        assert {each.policy.target: each.declared for each in found} == {
            target: each.declared for target, each in heard.items()}
        assert '"given": {"declared": 0}' not in to_json((1, 3), found)
        return {target: (each.trust, each.declared) for target, each in heard.items()}
    assert {state: told()[state] for state in (0, 3, 4)} == {
        0: (Trust.PROVEN, 0), 3: (Trust.PROVEN, 2), 4: (Trust.DOUBTED, 0)}
    problem.support.declared = problem.support.declared.audited()
    problem.support.refute(1, 0, 4)
    assert told()[3] == (Trust.PROVEN, 3)    # it may come to 4 now, and go on from there
    mnm.phase.doubted = {}
    assert told()[4] == (Trust.PROVEN, 1)
    with pytest.raises(ValueError, match='declared'):
        from_json('{"version": [1, 3], "states": {"3": {"trust": "proven", "given": '
                  '{"declared": "many"}}}}')


def test_a_policy_that_is_doubted_is_told_before_one_that_is_only_declared() -> None:
    """As while a hypothesis is made anew: a declaration has a policy for each of its states."""
    ends = {0: ((1,), (0,)), 1: ((2,), (0,)), 2: ((2,), (0,))}
    problem = Problem(2, RADIUS, EPSILON, DELTA, Support(Declaration(ends)))
    doubted = Policy(1, 20, (0, 1), ((0, RESET),))
    hypothesis = Hypothesis(1, 3, 20, (Policy(0, 20, (0, 1), ((RESET, RESET),)), doubted))
    hypothesis = Hypothesis(1, 3, 20, (Policy(0, 20, (0, 1), ((RESET, RESET),)), doubted))
    mnm = SimpleNamespace(
        home=0, round=1, support=problem.support, hypothesis=hypothesis,
        phase=SimpleNamespace(numbered={}, doubted={1: 'why'}, kept=()))
    told = TrustLedger().policies(
        cast(Any, mnm), settings(problem), 5, {1: None}, lambda state, action: {})
    assert {each.policy.target: each.trust for each in told} == {
        0: Trust.PROVEN, 1: Trust.DOUBTED, 2: Trust.ASSUMED}
    assert told[1].policy is doubted


def test_what_rests_on_what_was_forgotten_is_dropped() -> None:
    run = Run('grid_3x3', 0)
    certified: list[int] = []
    while len(certified) < 4:
        for _ in range(3 * EVERY):
            run.step()
        certified = targets(run.exploration.trust(), Trust.CERTIFIED)
    building, home = run.exploration.mnm.phase, run.exploration.home
    assert isinstance(building, BuildingPhase) and home is not None
    stream = building.streams[0]
    for state in certified:    # that other pairs have grown since does not hide it
        for _ in range(50):
            stream.add_transition(state, 0, state)
    for action in range(4):
        stream.forget(home, action)
    assert not targets(run.exploration.trust(), Trust.CERTIFIED)
