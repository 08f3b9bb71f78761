# SPDX-License-Identifier: Apache-2.0

"""MNM with a scripted base algorithm: streams, rounds and the three decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
from typing import Any

from mnm_ros.core import (
    BaseAlgorithm,
    Policy,
    Problem,
    Recollection,
    Recollects,
    RESET,
    Round,
    Settings,
    settings,
)
from mnm_ros.core.components import CHECKS
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.capabilities import Step
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Value
from mnm_ros.core.mnm.phase import MnmState
from mnm_ros.core.mnm.schedule import StreamSchedule
from mnm_ros.core.paper.window_phase import WindowPhase
from mnm_ros.core.statistics.delta_spending import round_delta, SHARES, stream_delta
import numpy as np
import pytest
from scripted import HOME, QUANTUM, ScriptedBase, ScriptedEvaluation, sentences
from tiers import strength
from transitions import MachineError

PROBLEM = Problem(actions=9, radius=4.0, epsilon=1.0, delta=0.1)
SEED = 5
WINDOW = 20
checked: list[Problem] = []
evaluations: list[ScriptedEvaluation] = []


class World:
    """From home, action ``a`` leads to state ``a`` unless the way is closed."""

    def __init__(self) -> None:
        self.closed: set[int] = set()

    def step(self, action: int) -> int:
        return HOME if action == RESET or action in self.closed else action


class Script:
    """Hands out scripted base runs and keeps them."""

    def __init__(self, *runs: ScriptedBase, rest: Callable[[], ScriptedBase]) -> None:
        self.runs: list[ScriptedBase] = []
        self.problems: list[Problem] = []
        self._first = list(runs)
        self._rest = rest

    def __call__(self, settings: Settings, home: int, rng: np.random.Generator,
                 policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
        assert home == HOME
        number = len(self.runs) + 1
        assert rng.random() == np.random.default_rng([SEED, number]).random()
        run = self._first.pop(0) if self._first else self._rest()
        self.runs.append(run)
        self.problems.append(settings.problem)
        return run


def mnm(script: Script, exponent: float = 2, window: int = WINDOW, printed: bool = False,
        resume: Mapping[str, Any] | None = None, **options: Value) -> Mnm:
    """Return MNM; ``checked`` and ``evaluations`` keep what its checks are made of."""
    checked.clear()
    evaluations.clear()

    def new_evaluation(problem: Problem, known: int) -> ScriptedEvaluation:
        evaluations.append(ScriptedEvaluation())
        return evaluations[-1]

    def checking(round_: Round, policies: tuple[Policy, ...]) -> WindowPhase:
        checked.append(round_.problem)
        return WindowPhase(round_, policies, window=window, printed_addition=printed,
                           new_evaluation=new_evaluation)

    return Mnm(settings(PROBLEM, 'paper', {'stream_exponent': float(exponent), **options}), SEED,
               script, checking, resume=resume)


def checking_of(machine: Mnm) -> WindowPhase:
    assert isinstance(machine.phase, WindowPhase)
    return machine.phase


def run(machine: Mnm, world: World, until: Callable[[], bool], limit: int = 200_000) -> int:
    """Drive until the condition holds and return the steps taken."""
    for step in range(limit):
        if until():
            return step
        action = machine.next_action()
        machine.observe(action, world.step(action))
    raise AssertionError(f'not within {limit} steps, in phase {machine.state}')


def check_runs(machine: Mnm, world: World, runs: int) -> None:
    """Drive through so many check-runs."""
    for _ in range(runs):
        before = checking_of(machine).runner
        run(machine, world, lambda before=before: (
            machine.state is MnmState.BUILDING or checking_of(machine).runner is not before))


def test_the_first_step_is_a_reset_that_tells_where_home_is() -> None:
    machine = mnm(Script(rest=lambda: ScriptedBase(0)))
    assert machine.next_action() == RESET and machine.state is MnmState.HOMING
    machine.observe(RESET, HOME)
    assert machine.state is MnmState.BUILDING
    assert machine.home == HOME and machine.hypothesis is None and not machine.under_revision


@pytest.mark.parametrize('exponent', [2, 4])
def test_streams_get_their_quanta_for_thousands_of_them(exponent: int) -> None:
    script, quanta = Script(rest=lambda: ScriptedBase(0)), strength(2_000, 10_000)
    machine = mnm(script, exponent)
    world = World()
    machine.observe(RESET, HOME)
    assert isinstance(machine.phase, BuildingPhase)
    reference = StreamSchedule(exponent)
    previous = None
    interruptions: dict[int, int] = {}
    for quantum in range(1, quanta + 1):
        chosen = reference.next()
        assert machine.phase.schedule.quanta == quantum
        active = script.runs[chosen]
        assert machine.phase.base is active
        assert active.interruptions == interruptions.get(chosen, 0) + (active is not previous)
        interruptions[chosen] = active.interruptions
        before = active.steps
        for _ in range(QUANTUM):
            assert machine.phase.base is active
            action = machine.next_action()
            machine.observe(action, world.step(action))
        assert active.steps == before + QUANTUM
        previous = active
    assert len(script.runs) == math.ceil(round((quanta + 1) ** (1 / exponent), 9))
    assert sum(base.steps for base in script.runs) == quanta * QUANTUM


def test_streams_learn_from_their_own_steps_or_from_all_since_their_start() -> None:
    for shared in (False, True):
        script = Script(rest=lambda: Mover(0))
        machine = mnm(script, stream_data='shared' if shared else 'own')
        machine.observe(RESET, HOME)
        run(machine, World(), lambda runs=script.runs: len(runs) == 3)
        first, second, third = script.runs
        assert len(first.seen) == (second.steps if shared else 0)
        assert len(second.seen) == (QUANTUM if shared else 0)
        assert third.seen == []


class Mover(ScriptedBase):
    """Plays action 1 all the time."""

    def next_action(self) -> int:
        return 1


class Asked(Mover):
    """Remembers what it was asked for and what it was told."""

    def __init__(self, life: int, targets: tuple[int, ...]) -> None:
        super().__init__(life, targets)
        self.asked: list[int] = []
        self.told: list[int] = []

    def next_action(self) -> int:
        self.asked.append(super().next_action())
        return self.asked[-1]

    def observe(self, action: int, state: int) -> None:
        super().observe(action, state)
        self.told.append(action)


def test_a_run_is_asked_once_for_each_step_and_told_what_was_played() -> None:
    script = Script(rest=lambda: Asked(3 * QUANTUM, (HOME, 3)))
    machine = mnm(script)
    run(machine, World(), lambda: machine.hypothesis is not None)
    check_runs(machine, World(), 2)
    assert len(script.runs) > 3
    for base in script.runs:
        assert isinstance(base, Asked)
        assert base.told == base.asked == [1] * base.steps


def test_the_output_of_the_first_stream_that_finishes_is_the_hypothesis() -> None:
    script = Script(ScriptedBase(2 * QUANTUM + 1, (HOME, 3, 5)), rest=lambda: ScriptedBase(0))
    machine = mnm(script)
    steps = run(machine, World(), lambda: machine.hypothesis is not None)
    # The stream gets quanta 1, 3 and, after five of the third and second, 7.
    assert steps == 1 + 6 * QUANTUM + 1
    assert machine.hypothesis is not None
    assert machine.hypothesis.targets == (HOME, 3, 5) and machine.hypothesis.version == (1, 0)
    assert machine.state is machine.phase.kind is MnmState.REDISCOVERY
    assert script.problems[0].delta == round_delta(0.1, 1)


def test_streams_and_checks_of_all_rounds_together_have_delta_and_no_more() -> None:
    assert stream_delta('summed', 0.1, 1, 1) == pytest.approx(0.07)
    rounds, streams = range(1, 1000), range(1, 1000)
    total = math.fsum(stream_delta('summed', 0.1, r, p) for r in rounds for p in streams)
    assert 0.999 * 0.1 * 7 / 8 < total < 0.1 * 7 / 8
    # What the first round has may be wrong with the first hypothesis.
    assert math.fsum(stream_delta('summed', 0.1, 1, p) for p in streams) < 0.08
    total += math.fsum(share * round_delta(0.1, r) for r in rounds for share in SHARES.values())
    assert 0.999 * 0.1 < total < 0.1
    assert {stream_delta('printed', 0.1, 3, p) for p in (1, 2, 9)} == {round_delta(0.1, 3)}


def test_the_checks_of_all_rounds_together_have_an_eighth_of_delta() -> None:
    assert math.fsum(round_delta(0.1, r) for r in range(1, 20_000)) == pytest.approx(
        0.1 / 8, rel=1e-4)


class Recalling(ScriptedBase, Recollects):
    """Keeps what it is told to recall."""

    recalled: tuple[Step, ...] | None = None

    def load_transitions(self, steps: Sequence[Step]) -> None:
        self.recalled = tuple(steps)


@pytest.mark.parametrize('home', [HOME, 7])
def test_only_the_first_stream_of_all_begins_with_what_is_remembered(home: int) -> None:
    """Later ones are there for a change, and of another home nothing holds."""
    runs: list[Recalling] = []

    def new_base(settings: Settings, home: int, rng: np.random.Generator,
                 policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
        runs.append(Recalling(9 if len(runs) == 2 else 0, bound=10))
        return runs[-1]

    steps: tuple[Step, ...] = ((HOME, 1, 2), (2, 1, None))
    resolved = settings(PROBLEM, 'onboard', {
        'check_steps': 10, 'streams': 'printed', 'stream_exponent': 2.0})
    machine = Mnm(resolved, SEED, new_base, CHECKS['watch'](resolved),
                  recollection=Recollection(home, steps))
    run(machine, World(), lambda: machine.round == 2)
    began = len(runs)
    run(machine, World(), lambda: len(runs) > began + 2)
    assert [each.recalled for each in runs] == [
        steps if home == HOME else None, *[None] * (len(runs) - 1)]
    assert ('2 steps of a log' if home == HOME else 'no warm start') in ' '.join(
        sentences(machine.log))


@pytest.mark.parametrize('budget', ['summed', 'printed'])
def test_each_stream_has_the_delta_of_its_number_and_the_checks_have_their_own(
        budget: str) -> None:
    script = Script(ScriptedBase(0), ScriptedBase(0), ScriptedBase(5 * QUANTUM, (HOME, 3)),
                    rest=lambda: ScriptedBase(0))
    machine = mnm(script, budget=budget)
    run(machine, World(), lambda: machine.hypothesis is not None)
    assert [problem.delta for problem in script.problems[:3]] == [
        stream_delta(budget, 0.1, 1, p) for p in (1, 2, 3)]
    assert [problem.delta for problem in checked] == [round_delta(0.1, 1)]


def test_a_change_while_building_leaves_a_clean_stream_that_finishes() -> None:
    """Streams that began before it never end; those that start later need 400 quanta."""
    change, needed = 1500, 400
    script = Script(ScriptedBase(0), ScriptedBase(0),
                    rest=lambda: ScriptedBase(needed * QUANTUM, (HOME, 3)))
    machine = mnm(script, streams='doubling')
    steps = run(machine, World(), lambda: machine.hypothesis is not None)
    start, streams = 2000, 3
    assert start <= 2 * change and len(script.runs) - 1 == streams    # one more run checks
    assert QUANTUM * (start + needed) < steps <= QUANTUM * (start + needed * streams)


def hypothesis_of(targets: tuple[int, ...], rest: Callable[[], ScriptedBase],
                  **options: object) -> Mnm:
    """Return MNM in the checking phase of round 1."""
    machine = mnm(Script(ScriptedBase(1, targets), rest=rest), **options)  # type: ignore
    run(machine, World(), lambda: machine.hypothesis is not None)
    return machine


def test_a_check_run_is_a_rediscovery_and_one_evaluation_of_each_policy() -> None:
    machine = hypothesis_of((HOME, 3, 5), lambda: ScriptedBase(7, (HOME, 3, 5)))
    world = World()
    for _ in range(7):
        assert machine.state is MnmState.REDISCOVERY
        action = machine.next_action()
        machine.observe(action, world.step(action))
    played = []
    while machine.state is MnmState.EVALUATION:
        played.append(machine.next_action())
        machine.observe(played[-1], world.step(played[-1]))
    assert played == [RESET, 3, RESET, 5]
    assert machine.state is MnmState.REDISCOVERY


def test_w_r_cuts_a_rediscovery_off() -> None:
    machine = hypothesis_of((HOME, 3), lambda: ScriptedBase(0, bound=11))
    assert checking_of(machine).check_steps == 11
    machine = hypothesis_of((HOME, 3), lambda: ScriptedBase(0), check_steps=11)
    assert run(machine, World(), lambda: machine.state is MnmState.EVALUATION) == 11
    check_runs(machine, World(), 1)
    assert checking_of(machine).window[0].cut_off and checking_of(machine).window[0].found == {}


# delta_1 = 0.0076 and |K| = 2, A = 10: alpha = sqrt(4.88 / (2 * 9.262^3)) = 0.0554; with a window
# of 20, one failure (0.05) is below alpha + delta_1 = 0.063 and two (0.1) are above.
@pytest.mark.parametrize(('cut', 'refuted'), [(1, False), (2, True)])
def test_decision_one_a_new_round_after_too_many_cut_off_runs(cut: int, refuted: bool) -> None:
    lives = [1] + [0] * cut + [1] * (WINDOW - cut)
    machine = hypothesis_of(
        (HOME, 3), lambda: ScriptedBase(lives.pop(0) if lives else 1, (HOME, 3)), check_steps=10)
    check_runs(machine, World(), WINDOW)
    assert machine.round == 1
    check_runs(machine, World(), 1)
    assert machine.round == (2 if refuted else 1)
    assert machine.log.noticed == int(refuted)
    assert machine.hypothesis is not None and machine.hypothesis.version == (1, 0)
    assert machine.under_revision == refuted
    if refuted:
        run(machine, World(), lambda: not machine.under_revision)
        assert machine.hypothesis.version == (2, 0)


@pytest.mark.parametrize(('failures', 'deleted'), [(1, False), (2, True)])
def test_decision_two_a_policy_that_fails_too_often_is_deleted(
        failures: int, deleted: bool) -> None:
    machine = hypothesis_of((HOME, 3, 5), lambda: ScriptedBase(1, (HOME, 5)))
    world = World()
    check_runs(machine, world, 1)
    world.closed = {3}
    check_runs(machine, world, failures)
    world.closed = set()
    check_runs(machine, world, WINDOW - failures - 1)
    assert machine.hypothesis is not None and machine.hypothesis.version == (1, 0)
    check_runs(machine, world, 1)
    assert machine.hypothesis.targets == ((HOME, 5) if deleted else (HOME, 3, 5))
    assert machine.hypothesis.version == ((1, 1) if deleted else (1, 0))
    assert machine.log.noticed == int(deleted)


@pytest.mark.parametrize(('missed', 'printed', 'added'), [
    (1, False, True), (2, False, False), (0, True, False)])
def test_decision_three_a_state_seen_often_enough_is_added(
        missed: int, printed: bool, added: bool) -> None:
    outputs = [(HOME, 3)] * missed + [(HOME, 3, 5)]
    machine = hypothesis_of(
        (HOME, 3),
        lambda: ScriptedBase(1, outputs.pop() if outputs else (HOME, 3, 5)),
        printed=printed)
    check_runs(machine, World(), WINDOW)
    assert machine.hypothesis is not None and machine.hypothesis.targets == (HOME, 3)
    check_runs(machine, World(), 1)
    assert machine.hypothesis is not None
    assert machine.hypothesis.targets == ((HOME, 3, 5) if added else (HOME, 3))


def test_an_added_state_tells_of_a_change_once_it_is_seen_within_the_radius() -> None:
    machine = hypothesis_of((HOME, 3), lambda: ScriptedBase(1, (HOME, 3, 5)), window=3)
    check_runs(machine, World(), 4)
    assert machine.hypothesis is not None and machine.hypothesis.targets == (HOME, 3, 5)
    # One attempt with each policy and check-run tells little, and is not taken for much.
    check_runs(machine, World(), 4)
    assert machine.log.noticed == 0
    world = World()
    runs = 8
    while not machine.log.noticed:
        check_runs(machine, world, 1)
        runs += 1
    assert machine.log.noticed == 1 and machine.log.relearnt == 0 and runs < 40
    check_runs(machine, world, 2)
    assert (machine.log.noticed, machine.log.relearnt) == (1, 1)


def test_a_deleted_state_comes_back_once_it_is_found_often_enough() -> None:
    found = [(HOME, 3)]
    machine = hypothesis_of((HOME, 3), lambda: ScriptedBase(1, found[0]), window=3)
    world = World()
    # What a check-run finds is settled as soon as the one before is over.
    check_runs(machine, world, 2)
    found[0] = (HOME,)
    check_runs(machine, world, 1)
    # One failure among three check-runs is above alpha + delta_1.
    world.closed = {3}
    check_runs(machine, world, 1)
    assert machine.hypothesis is not None and machine.hypothesis.targets == (HOME,)
    assert (machine.log.noticed, machine.log.relearnt) == (1, 0)
    check_runs(machine, world, 3)
    assert machine.log.relearnt == 1
    world.closed, found[0] = set(), (HOME, 3)
    check_runs(machine, world, 3)
    assert machine.hypothesis.targets == (HOME,)
    check_runs(machine, world, 1)
    assert machine.hypothesis.targets == (HOME, 3) and machine.hypothesis.version == (1, 2)
    check_runs(machine, world, 4)
    assert machine.hypothesis.version == (1, 2)
    assert (machine.log.noticed, machine.log.relearnt) == (1, 1)
    check_runs(machine, world, 40)
    assert (machine.log.noticed, machine.log.relearnt) == (2, 2)


def test_a_robot_that_was_moved_starts_again_from_home_and_nothing_is_lost() -> None:
    machine = hypothesis_of((HOME, 3, 5), lambda: ScriptedBase(1, (HOME, 3, 5)))
    world = World()
    run(machine, world, lambda: machine.next_action() == 3)
    runner, begun = checking_of(machine).runner, len(evaluations)
    machine.interrupt()
    assert machine.next_action() == RESET
    run(machine, world, lambda: len(evaluations) > begun)
    check_runs(machine, world, 1)
    # The attempt to reach 3 that was broken off counts as one that failed at the horizon.
    assert runner.result is checking_of(machine).window[0] and not runner.result.failed
    assert [made.mean_steps for made in evaluations[begun - 1:begun + 1]] == [QUANTUM + 2, 1]


def test_a_trigger_that_the_table_does_not_have_changes_nothing() -> None:
    machine = mnm(Script(rest=lambda: ScriptedBase(0)))
    with pytest.raises(MachineError):
        machine.trigger('rediscover')
    assert machine.state is MnmState.HOMING
