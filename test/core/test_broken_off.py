# SPDX-License-Identifier: Apache-2.0

"""
Interruptions that tell something: whoever breaks off what takes long must not flatter a policy.

A person frees a robot that does not move, or an answer is lost more often where it did not move.
What is broken off counts as the worst it could have become where a policy is accepted, and as the
best where it is found wanting.
"""

from __future__ import annotations

from collections.abc import Callable

from binomial import binomial_tail
from families import draw
from mnm_ros.core import (
    Detector,
    Exploration,
    new_base,
    Problem,
    RESET,
    Round,
    settings,
)
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.schedule import StreamSchedule
from mnm_ros.core.paper.plug_in import MonteCarloEvaluation
from mnm_ros.core.presets import new_mnm
from mnm_ros.core.statistics.evaluation import BettingEvaluation, Decision, Evaluation
from mnm_ros.core.watch.watch_phase import WatchPhase
from mnm_ros.simulation.cmp import Cmp, TableCmp
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.methods import found_by
import numpy as np
import pytest
from scripted import building_phase, HOME, policy, ScriptedBase
from tiers import strength, thorough

RADIUS, DELTA, TARGETS = 4.0, 0.1, 8
LIMIT, HORIZON = 8.0, 12
SIGNIFICANCE = 1e-3


def star(chance: float) -> Cmp:
    """Return home with eight targets: action ``a`` reaches target ``a + 1`` with ``chance``."""
    table = {(HOME, action): ((action + 1, chance), (HOME, 1 - chance))
             for action in range(TARGETS)}
    back = {(target, action): ((HOME, 1.0),)
            for target in range(1, TARGETS + 1) for action in range(TARGETS)}
    return TableCmp(HOME, TARGETS, table | back)


def keeps_its_promise(chance: float, epsilon: float, patience: int, lost: float,
                      seed: int) -> bool:
    """
    Explore the star with UcbExplore, and return whether what it finds is right.

    :param patience: after so many steps without movement a helper moves the robot; 0 for never.
    :param lost: how often the answer is lost when the robot has not moved.
    """
    cmp, rng = star(chance), np.random.default_rng(seed)
    base = new_base(settings(Problem(TARGETS, RADIUS, epsilon, DELTA), overrides={
        'base': 'ucb_explore'}), HOME, seed)
    here, still = HOME, 0
    for _ in range(300_000):
        if base.finished:
            break
        action = base.next_action()
        before, here = here, HOME
        if action != RESET:
            states, chances = zip(*cmp.transitions(before, action))
            here = states[int(rng.random() >= chances[0])] if len(states) > 1 else states[0]
        moved = action == RESET or here != before
        if not moved and rng.random() < lost:
            base.interrupt()
            still = 0
            continue
        base.observe(action, here)
        still = 0 if moved else still + 1
        if patience and still >= patience:
            base.interrupt()
            still = 0
    assert base.finished, f'seed {seed} takes more than 300,000 steps'
    return judge(cmp, found_by(base), RADIUS, epsilon).ok


_KEPT = 'core/test_broken_off.py::test_the_promise_is_kept_whatever_is_broken_off'


@pytest.mark.parametrize(('chance', 'epsilon', 'patience', 'lost', 'seeds'), [
    (0.126, 1.0, 3, 0.0, strength(5, 30)), (0.126, 1.0, 0, 0.3, strength(4, 12)),
    pytest.param(0.21, 0.15, 3, 0.0, 6, marks=thorough(_KEPT)),
    pytest.param(0.1, 1.0, 0, 0.3, 12, marks=thorough(_KEPT))])
def test_the_promise_is_kept_whatever_is_broken_off(
        chance: float, epsilon: float, patience: int, lost: float, seeds: int) -> None:
    broken = [seed for seed in range(seeds)
              if not keeps_its_promise(chance, epsilon, patience, lost, seed)]
    assert binomial_tail(seeds, DELTA, len(broken)) > SIGNIFICANCE, f'broken with seeds {broken}'


def lengths(chance: float, seed: int, attempts: int) -> list[int]:
    """Return the steps after which attempts arrive, which do so with ``chance`` at each step."""
    return [int(n) for n in np.random.default_rng(seed).geometric(chance, size=attempts)]


def test_a_policy_over_the_limit_passes_as_rarely_as_its_delta_says() -> None:
    """All attempts that are not over after three steps are broken off half of the time."""
    delta, trials, passed = 0.05, strength(20, 300), []
    for seed in range(trials):
        evaluation: Evaluation = BettingEvaluation(HORIZON, LIMIT, RADIUS, delta)
        coins = np.random.default_rng([seed, 1]).random(400)
        for length, coin in zip(lengths(0.126, seed, 400), coins):
            if length > 3 and coin < 0.5:
                evaluation.break_off(3, HORIZON)
            elif evaluation.record(min(length, HORIZON), length > HORIZON) is Decision.GOOD:
                passed.append(seed)
                break
    assert binomial_tail(trials, delta, len(passed)) > SIGNIFICANCE, f'passed with {passed}'


def watched(detector: Detector, chance: float, seed: int, broken: Callable[[int], bool]) -> bool:
    """Watch 800 attempts, of which some are broken off, and return whether there was an alarm."""
    for length in lengths(chance, seed, 800):
        if broken(length):
            detector.break_off(min(length - 1, 3))
        else:
            detector.record(min(length, HORIZON), length > HORIZON)
        if detector.alarm:
            return True
    return False


def test_no_alarm_because_attempts_that_go_well_are_broken_off() -> None:
    delta, trials = 0.1, strength(10, 150)
    alarms = [seed for seed in range(trials) if watched(
        Detector(LIMIT, HORIZON, delta), 0.129, seed, lambda length: length <= 4)]
    assert binomial_tail(trials, delta, len(alarms)) > SIGNIFICANCE, f'alarms with {alarms}'


def test_no_proof_because_attempts_that_take_long_are_broken_off() -> None:
    delta, trials, proven = 0.05, strength(20, 150), []
    for seed in range(trials):
        detector = Detector(LIMIT, HORIZON, 1e-9)
        detector.begin_proof(delta)
        watched(detector, 0.12, seed, lambda length: length > 4)
        proven += [seed] * detector.proven
    assert binomial_tail(trials, delta, len(proven)) > SIGNIFICANCE, f'proven with {proven}'


def test_a_policy_that_always_fails_is_noticed_although_some_attempts_are_broken_off() -> None:
    assert watched(Detector(LIMIT, HORIZON, 1e-4), 1e-9, 0, lambda length: length % 3 == 0)


def test_an_interruption_of_the_watch_counts() -> None:
    phase = WatchPhase(
        Round(1, Problem(9, RADIUS, 1.0, DELTA), lambda problem, known: ScriptedBase(0), 0, 10,
              ChangeLog()),
        (policy(HOME), policy(1)), quanta=1)
    while phase.rediscovering:
        phase.observe(phase.next_action(), HOME)
    detector = phase.parts.checks.monitor.detectors[1]
    phase.interrupt()
    assert detector.to_state()['episodes'] == 0    # it was on its way home, no attempt had begun
    phase.observe(RESET, HOME)
    phase.interrupt()
    phase.interrupt()
    assert detector.to_state()['episodes'] == 1 and detector.evidence < 0


@pytest.mark.parametrize(('checking', 'decision'), [(False, Decision.BAD), (True, Decision.GOOD)])
def test_the_printed_evaluation_takes_a_broken_off_episode_for_the_worst_unless_it_checks(
        checking: bool, decision: Decision) -> None:
    evaluation = MonteCarloEvaluation(Problem(2, 3.0, 1.0, 0.1), 1 / 2, 1, checking)
    for _ in range(evaluation.episodes):
        evaluation.break_off(1, 9)
    assert evaluation.record(1, False) is decision


@pytest.mark.parametrize('family', ['random_tree', pytest.param(
    'confusing_chain', marks=thorough(
        'core/test_broken_off.py::test_streams_that_take_turns_break_nothing_off'))])
def test_streams_that_take_turns_break_nothing_off(
        family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken: list[int] = []
    monkeypatch.setattr(BettingEvaluation, 'break_off',
                        lambda self, length, horizon: broken.append(length))
    for seed in range(strength(1, 2)):
        scenario = draw(family, seed, 3.0)
        simulator = Simulator(scenario, seed)
        machine = new_mnm(settings(
            Problem(len(scenario.actions), 3.0, 1.0, DELTA),
            overrides={
                'base': 'ucb_explore', 'streams': 'printed', 'stream_exponent': 2.0}), seed)
        while machine.hypothesis is None and simulator.steps < strength(2_000, 20_000):
            action = machine.next_action()
            machine.observe(action, simulator.step(action))
        assert isinstance(machine.phase, BuildingPhase) and len(machine.phase.streams) > 10
    assert not broken


class Clinging(ScriptedBase):
    """Is between two attempts at every ``pause``-th step only."""

    def __init__(self, pause: int) -> None:
        super().__init__(0)
        self._pause = pause

    @property
    def between_attempts(self) -> bool:
        """Whether no attempt is under way."""
        return self.steps % self._pause == 0


@pytest.mark.parametrize(('pause', 'quantum'), [(1, 4), (5, 5), (7, 7), (1000, 16)])
def test_a_quantum_waits_for_the_end_of_an_attempt_but_not_for_ever(
        pause: int, quantum: int) -> None:
    phase = building_phase(lambda number: Clinging(pause), StreamSchedule(2), shared=False)
    steps = 0
    while phase.schedule.quanta == 1:
        phase.observe(phase.next_action(), HOME)
        steps += 1
    assert steps == quantum


def test_streams_miss_what_another_one_has_lost() -> None:
    """What they witness would be a choice of the steps made: a pit that nobody answers from."""
    # Printed streams begin sooner, so that what the others witness does harm by step 2,045.
    (streams, steps), seeds = strength((('printed', 2_400), 1), (('', 26_000), 2))
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        exploration = Exploration(settings(
            Problem(1, RADIUS, 1.0, DELTA), overrides={'streams': streams}), seed)
        here = 0
        for _ in range(steps):
            action = exploration.next_action()
            if action == RESET:
                here = 0
            elif here == 0 and rng.random() >= 0.2:
                exploration.lose_place()
                continue
            else:
                here = 1
            exploration.observe(action, here)
            # The policy for state 1 takes 9 steps, as 4 of 5 attempts end in the pit.
            assert exploration.hypothesis is None or 1 not in exploration.hypothesis.targets
        mnm = exploration.understudy()
        building = mnm.phase if mnm is not None else None
        assert isinstance(building, BuildingPhase) and len(building.streams) > 1


def test_a_rediscovery_misses_the_steps_of_attempts_that_were_broken_off() -> None:
    runs: list[ScriptedBase] = []

    def new_base(problem: Problem, policies: object) -> ScriptedBase:
        runs.append(ScriptedBase(0, (HOME, 3)))
        return runs[-1]

    log = ChangeLog()
    checking = WatchPhase(
        Round(1, Problem(8, RADIUS, 1.0, DELTA), new_base, 0, 30, log), (policy(HOME), policy(3)))
    while checking.next_action() == RESET:
        checking.observe(RESET, HOME)
    assert not checking.rediscovering and checking.next_action() == 3
    checking.interrupt()
    assert runs[0].missed == [(HOME, 3)] and not checking.can_snapshot
    assert checking.next_action() == RESET
    checking.interrupt()
    checking.observe(checking.next_action(), HOME)
    checking.interrupt()    # no step was asked for
    assert runs[0].missed == [(HOME, 3)]
