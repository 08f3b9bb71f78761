# SPDX-License-Identifier: Apache-2.0

"""Checks that are valid at every moment, on their own and with a scripted base algorithm."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
import json

from binomial import binomial_tail
from mnm_ros.core import BaseAlgorithm, Detector, over_own_targets, Policy, Problem, RESET, Round
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.model import snapshot
from mnm_ros.core.statistics.delta_spending import share
from mnm_ros.core.watch.policy_monitor import PolicyMonitor
from mnm_ros.core.watch.watch_phase import WatchPhase
import numpy as np
import pytest
from scripted import alarm, HOME, policy, ScriptedBase, sentences
from tiers import strength

PROBLEM = Problem(actions=9, radius=4.0, epsilon=1.0, delta=0.0076)
LIMIT, HORIZON = 8.0, 12


def record(detector: Detector, chance: float, episodes: int, rng: np.random.Generator) -> None:
    """Watch a policy that arrives with ``chance`` at each step."""
    for length in rng.geometric(chance, size=episodes):
        detector.record(min(int(length), HORIZON), length > HORIZON)
        if detector.alarm:
            return


def tau(chance: float) -> float:
    """Return ``(E len + P(failed)) / (1 - P(failed))``."""
    failed = (1 - chance) ** HORIZON
    return ((1 - failed) / chance + failed) / (1 - failed)


def test_a_policy_at_the_limit_raises_the_alarm_as_rarely_as_its_delta_says() -> None:
    delta, trials = strength((0.5, 30), (0.1, 200))
    chance = 0.129
    assert 0.97 * LIMIT < tau(chance) <= LIMIT
    alarms = []
    for seed in range(trials):
        detector = Detector(LIMIT, HORIZON, delta)
        record(detector, chance, 1500, np.random.default_rng(seed))
        if detector.alarm:
            alarms.append(seed)
    assert binomial_tail(trials, delta, len(alarms)) > 1e-3, f'alarms with seeds {alarms}'


@pytest.mark.parametrize('past', [0, 100, 5000])
def test_a_long_good_past_hardly_delays_the_alarm(past: int) -> None:
    detector = Detector(LIMIT, HORIZON, 1e-4)
    record(detector, 0.4, past, np.random.default_rng(0))
    assert not detector.alarm
    failures = 0
    while not detector.alarm:
        detector.record(HORIZON, True)
        failures += 1
    # The threshold, and the price of one of seven bets, begun last, over 0.93 nats per failure.
    nats = np.log(1e4 * 7 * 2) - np.log(share(past + 1))
    assert failures <= 1 + nats / 0.93


def test_a_policy_is_proven_by_attempts_that_go_well_and_never_by_bad_ones() -> None:
    good, bad = Detector(LIMIT, HORIZON, 1e-4), Detector(LIMIT, HORIZON, 1e-9)
    for detector in (good, bad):
        detector.begin_proof(0.01)
    record(good, 0.4, 60, np.random.default_rng(0))
    record(bad, 0.12, 2000, np.random.default_rng(0))
    assert tau(0.12) > LIMIT
    assert good.proven and not bad.proven


def test_a_detector_goes_on_from_its_state_bit_for_bit() -> None:
    first = Detector(LIMIT, HORIZON, 1e-4)
    record(first, 0.3, 500, np.random.default_rng(1))
    second = Detector.from_state(LIMIT, HORIZON, json.loads(json.dumps(first.to_state())))
    for detector in (first, second):
        record(detector, 0.15, 100, np.random.default_rng(2))
    assert first.to_state() == second.to_state()


class World:
    """From home, action ``a`` leads to state ``a`` unless the way is closed."""

    def __init__(self) -> None:
        self.closed: set[int] = set()

    def step(self, action: int) -> int:
        return HOME if action == RESET or action in self.closed else action


class Script:
    """Makes runs that find ``targets`` within ``life`` steps, and remembers them."""

    def __init__(self, targets: tuple[int, ...], life: int = 10) -> None:
        self.targets = targets
        self.life = life
        self.runs: list[ScriptedBase] = []
        self.given: list[tuple[int, ...]] = []
        self.deltas: list[float] = []

    def __call__(self, problem: Problem, policies: tuple[Policy, ...]) -> BaseAlgorithm:
        self.runs.append(ScriptedBase(self.life, self.targets))
        self.given.append(tuple(policy.target for policy in policies))
        self.deltas.append(problem.delta)
        return self.runs[-1]


def watching(script: Script, targets: tuple[int, ...]) -> tuple[WatchPhase, ChangeLog]:
    log = ChangeLog()
    checking = WatchPhase(
        Round(1, PROBLEM, script, check_steps=0, steps_taken=30, log=log),
        tuple(policy(target) for target in targets), quanta=1)
    return checking, log


def run(checking: WatchPhase, world: World, until: Callable[[], bool],
        limit: int = 20_000) -> int:
    for step in range(limit):
        if until():
            return step
        action = checking.next_action()
        assert checking.next_action() == action
        checking.observe(action, world.step(action))
    raise AssertionError(f'not within {limit} steps')


def known(checking: WatchPhase) -> tuple[int, ...]:
    return tuple(policy.target for policy in checking.policies)


@pytest.mark.quick
def test_in_a_world_without_change_nothing_is_decided() -> None:
    script = Script((HOME, 3, 5))
    checking, log = watching(script, (HOME, 3, 5))
    policies = checking.policies
    run(checking, World(), lambda: len(script.runs) == 300)
    assert checking.policies is policies and not checking.refuted
    assert (log.noticed, log.relearnt, sentences(log)) == (0, 0, [])
    assert set(script.given) == {(HOME, 3, 5)}
    assert sum(script.deltas) < PROBLEM.delta / 3


def test_a_policy_that_stops_working_is_deleted_after_a_few_attempts() -> None:
    script = Script((HOME, 3, 5))
    checking, log = watching(script, (HOME, 3, 5))
    world = World()
    run(checking, world, lambda: len(script.runs) == 5)
    world.closed = {3}
    script.targets = (HOME, 5)
    assert run(checking, world, lambda: known(checking) == (HOME, 5)) < 200
    assert 'state 3' in sentences(log)[-1]
    assert (log.noticed, log.relearnt) == (1, 0)
    assert script.given[-1] == (HOME, 5) and script.runs[-1].steps == 0
    run(checking, world, lambda: log.relearnt == 1)
    assert script.runs[-2].finished


def test_a_new_state_is_added_as_soon_as_it_is_certified_and_watched_from_then_on() -> None:
    script = Script((HOME, 3, 5))
    checking, log = watching(script, (HOME, 3))
    world = World()
    steps = run(checking, world, lambda: known(checking) == (HOME, 3, 5))
    assert steps < 2 * script.life + 10
    assert len(sentences(log)) == 1 and 'state 5' in sentences(log)[0]
    assert log.noticed == 0
    assert run(checking, world, lambda: log.noticed == 1) < 300
    assert len(sentences(log)) == 2 and 'state 5' in sentences(log)[1]
    run(checking, world, lambda: log.relearnt == 1)
    world.closed = {5}
    script.targets = (HOME, 3)
    run(checking, world, lambda: known(checking) == (HOME, 3))


def test_a_new_state_beyond_the_radius_tells_of_no_change() -> None:
    class Far(ScriptedBase):
        estimates = {5: 4.5}

    script = Script((HOME, 3, 5))
    checking, log = watching(script, (HOME, 3))
    checking.parts.rediscovery.base = Far(script.life, script.targets)
    run(checking, World(), lambda: known(checking) == (HOME, 3, 5))
    assert log.noticed == 0


def factors(tells: int, way: tuple[int, ...], resumed: bool) -> tuple[float, float]:
    """
    Make an attempt for 5 while no change is open; a pair's alarm comes if it leads to ``tells``.

    Return the capital against the policy, and that of its proof.
    """
    policies = tuple(Policy(target, HORIZON, (HOME, 1, 2, 5), ((4, 5, 5, 5),))
                     for target in (HOME, 1, 2, 5))
    log = ChangeLog()
    checking = WatchPhase(
        Round(1, PROBLEM, Script((HOME,)), check_steps=0, steps_taken=30, log=log), policies)
    checking.parts.transitions.record = (    # type: ignore[method-assign]
        lambda *seen: alarm(*seen) if (seen[0], seen[2]) == (HOME, tells) else None)
    checking.parts.transitions.suspect = lambda pair, policies: None    # type: ignore[method-assign]
    checks = checking.parts.checks
    checking.rediscovering = False
    checks.begin(5, checking.policies)
    for state in (HOME, *way):
        checking.observe(checking.next_action(), state)
        if resumed:
            vars(checks).update(vars(snapshot.put(json.loads(json.dumps(
                snapshot.take(checks))), deepcopy(checks))))
    detector = checks.monitor.detectors[5]
    kept = detector.to_state()
    assert log.open == (tells in way) and kept['episodes'] == 1
    return np.exp(detector.evidence), np.exp(kept['shown'])


@pytest.mark.parametrize('resumed', [False, True])
@pytest.mark.parametrize('tells', [1, 2])
def test_bets_and_proofs_begin_with_the_attempt_after_the_one_that_has_told(
        tells: int, resumed: bool) -> None:
    """
    Issue: an attempt that a pair's alarm had told of counted in the bet and the proof begun by it.

    It arrives after 2 steps or leaves after 5, by the toss of a coin, which is the limit of 8.
    """
    against, proofs = zip(*(factors(tells, way, resumed) for way in ((1, 5), (2, 2, 2, 2, 9))))
    # A bet has begun with the attempt, and in one of two cases a second one with the alarm.
    stakes = share(1) / 2 + 1 / 2 * 1 / 4
    assert sum(against) / 2 <= stakes * (1 + 1e-9)
    assert sum(proofs) / 2 <= 1 + 1e-9


def test_a_policy_keeps_its_detector_when_others_come_and_go() -> None:
    via_three = Policy(5, 4, (HOME, 3), ((3, 5),))
    monitor = PolicyMonitor(LIMIT, HORIZON, 0.01, 0.01, (3, 5))
    now = over_own_targets(map(policy, (HOME, 3, 5)))

    def keeps(target: int, *policies: Policy) -> bool:
        """Return whether the policy for a target keeps its detector with these ones."""
        nonlocal now
        before, kept = now, monitor.detectors[target]
        now = over_own_targets(policies)
        monitor.change(before, now[1:], False)
        return monitor.detectors[target] is kept
    assert keeps(3, *now, policy(7))
    assert keeps(3, *now[:2])
    assert keeps(3, *now, via_three)
    assert not keeps(5, now[0], now[2])


def test_rediscoveries_that_never_end_refute_the_round() -> None:
    script = Script((HOME, 3), life=0)
    checking, log = watching(script, (HOME, 3))
    run(checking, World(), lambda: checking.refuted)
    # k cut-offs have probability at most (delta / 3)^k: two are enough so early. The first may
    # take 4 times the 30 steps of the building phase, the second twice that.
    assert [base.steps for base in script.runs] == [120, 240]
    assert checking.parts.rediscovery.limit.cut_offs == 2
    assert log.noticed == 1 and '240 steps' in sentences(log)[0]


def test_a_hypothesis_of_home_alone_only_rediscovers() -> None:
    script = Script((HOME,))
    checking, log = watching(script, (HOME,))
    run(checking, World(), lambda: len(script.runs) == 50)
    assert checking.rediscovering and log.noticed == 0


def test_a_robot_that_was_moved_spoils_no_episode() -> None:
    script = Script((HOME, 3, 5))
    checking, _ = watching(script, (HOME, 3, 5))
    world = World()
    for _ in range(500):
        run(checking, world, lambda: checking.next_action() == 3)
        checking.interrupt()
        assert checking.next_action() == RESET
        checking.observe(RESET, HOME)
        action = checking.next_action()
        checking.observe(action, world.step(action))
    assert known(checking) == (HOME, 3, 5)
