# SPDX-License-Identifier: Apache-2.0

"""The rules of UcbExplore's rounds, with scripted parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from base_runs import finish
from mnm_ros.core import (
    Counts,
    Discovery,
    Homing,
    new_base,
    Optimism,
    OptimisticPolicy,
    Policy,
    Problem,
    RESET,
    settings,
)
from mnm_ros.core.paper import plug_in
from mnm_ros.core.paper.ucb_explore import UcbExplore, UcbParts, UcbPhase
from mnm_ros.core.statistics.evaluation import Decision, Evaluation, longest
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import numpy as np
import pytest

PROBLEM = Problem(1, 4.0, 1.0, 0.1)
HORIZON = 3


class NoDiscovery(Discovery):
    """Is done at once, unless ``owed`` says that states are pending."""

    learns_everywhere = True

    def __init__(self) -> None:
        self.owed: tuple[int, ...] = ()
        self.steps = 0
        self.restarts = 0

    def begin(self, known: Sequence[int], states: Sequence[int], policy: Policy) -> None:
        pass

    def pending(self, known: Sequence[int]) -> tuple[int, ...]:
        return self.owed

    def done(self) -> bool:
        return self.steps == 0

    def action(self, here: int) -> int:
        return 0

    def observe(self, here: int, action: int, state: int) -> None:
        self.steps -= 1

    def restart(self) -> None:
        self.restarts += 1


class Plans(Optimism):
    """Hands out plans in order; None when they are used up."""

    def __init__(self, *plans: OptimisticPolicy | None) -> None:
        self.plans = list(plans)
        self.failed_rounds = 0

    def plan(self, counts: Counts, known: Sequence[int],
             candidates: Sequence[int]) -> OptimisticPolicy | None:
        return self.plans.pop(0) if self.plans else None

    def round_failed(self) -> None:
        self.failed_rounds += 1


class Recorder(Evaluation):
    """Keeps the episodes and says what it was told to after some of them."""

    ends_outside = True

    def __init__(self, after: int, verdict: Decision, continues: bool = True) -> None:
        super().__init__()
        self.episodes: list[tuple[int, bool]] = []
        self.continues = continues
        self._after = after
        self._verdict = verdict

    def _judge(self, length: int, failed: bool) -> Decision:
        self.episodes.append((length, failed))
        return self._verdict if self.played >= self._after else Decision.UNDECIDED


def to(target: int) -> OptimisticPolicy:
    return OptimisticPolicy(target, Policy(target, HORIZON, (0,), ((0,),)))


def start(plans: Plans, evaluations: list[Recorder],
          discovery: NoDiscovery | None = None) -> tuple[UcbExplore, list[tuple[int, int]]]:
    """Return a run that stands at home with state 7 as a candidate, and what it evaluated."""
    asked: list[tuple[int, int]] = []

    def evaluate(known: int, number: int) -> Evaluation:
        asked.append((known, number))
        return evaluations[number - 1]

    counts = Counts()
    base = UcbExplore(PROBLEM, 0, UcbParts(
        HORIZON, counts, plans, discovery or NoDiscovery(), lambda known: 0, evaluate))
    # Ten executions in the past: the next ten double them.
    for _ in range(10):
        base.add_transition(0, 0, 7)
    return base, asked


def ucb(*policies: Policy) -> UcbExplore:
    """Return a run as the checks make it."""
    run = plug_in.ucb_explore(
        settings(PROBLEM), 0, np.random.default_rng(0), policies)
    assert isinstance(run, UcbExplore)
    return run


def walk(base: UcbExplore, states: list[int]) -> list[int]:
    """Return the actions played on the way through ``states``."""
    actions = []
    for state in states:
        actions.append(base.next_action())
        base.observe(actions[-1], state)
    return actions


def test_each_round_has_an_evaluation_of_its_own_number() -> None:
    plans = Plans(to(7), to(7), to(7))
    evaluations = [Recorder(1, decision) for decision in (
        Decision.BAD, Decision.BAD, Decision.GOOD)]
    base, asked = start(plans, evaluations)
    walk(base, [0, 0, 7, 0, 7, 0, 7])
    assert asked == [(1, 1), (1, 2), (1, 3)]
    assert plans.failed_rounds == 2
    assert [policy.target for policy in base.policies] == [0, 7]
    assert base.estimates == {7: 1.0}


def test_a_round_is_skipped_when_the_executions_of_a_pair_have_doubled() -> None:
    plans = Plans(to(7), to(7))
    first, second = Recorder(99, Decision.GOOD, False), Recorder(99, Decision.GOOD, False)
    base, asked = start(plans, [first, second])
    walk(base, [0, 0, *([7, 0] * 9)])
    assert len(asked) == 1 and len(first.episodes) == 9
    walk(base, [7])
    assert len(asked) == 2 and plans.failed_rounds == 0
    assert base.episode_over


def test_a_skip_comes_before_a_success_as_printed() -> None:
    first, second = Recorder(10, Decision.GOOD, False), Recorder(99, Decision.GOOD, False)
    base, asked = start(Plans(to(7), to(7)), [first, second])
    walk(base, [0, 0, *([7, 0] * 9), 7])
    assert len(first.episodes) == 10 and len(asked) == 2
    assert base.state is UcbPhase.EVALUATION


@pytest.mark.parametrize(('plan', 'tests'), [(to(7), 1), (to(8), 2)])
def test_only_the_very_same_policy_goes_on_with_its_test(
        plan: OptimisticPolicy, tests: int) -> None:
    evaluations = [Recorder(99, Decision.GOOD), Recorder(99, Decision.GOOD)]
    base, asked = start(Plans(to(7), plan), evaluations)
    walk(base, [0, 0, *([7, 0] * 10)])
    assert len(asked) == tests


def test_an_episode_goes_on_over_a_skip_with_the_same_policy() -> None:
    evaluation = Recorder(99, Decision.GOOD)
    base, _ = start(Plans(to(7), to(7)), [evaluation])
    walk(base, [0, 0, *([7, 0] * 9), 0, 7])
    assert evaluation.episodes[-1] == (2, False)


def test_nothing_of_an_evaluation_is_left_over_when_the_run_goes_back_to_discovery() -> None:
    discovery = NoDiscovery()
    evaluations = [Recorder(99, Decision.GOOD), Recorder(99, Decision.GOOD)]
    base, asked = start(Plans(to(7), None, to(7)), evaluations, discovery)
    walk(base, [0, 0, *([7, 0] * 9)])
    discovery.owed, discovery.steps = (0,), 2
    walk(base, [0])
    assert base.state is UcbPhase.DISCOVERY
    actions = walk(base, [0, 0, 0, 7])
    assert base.state is UcbPhase.EVALUATION and len(asked) == 2
    assert actions[2] == RESET and evaluations[1].episodes == [(1, False)]


def test_an_interrupted_episode_counts_as_failed_and_discovery_begins_its_way_again() -> None:
    discovery = NoDiscovery()
    evaluation = Recorder(99, Decision.GOOD)
    base, _ = start(Plans(to(7)), [evaluation], discovery)
    walk(base, [0, 0, 0])
    base.interrupt()
    base.interrupt()    # again: there is nothing under way any more
    assert walk(base, [0, 7]) == [RESET, 0]
    assert evaluation.episodes == [(longest(HORIZON, PROBLEM), True), (1, False)]
    assert discovery.restarts == 1


def test_an_episode_begins_only_at_home() -> None:
    evaluation = Recorder(99, Decision.GOOD)
    base, _ = start(Plans(to(7)), [evaluation])
    homing, actions = Homing(0), []
    for state in (0, 5, 5, 0, 7):
        actions.append(base.next_action())
        if not homing.missed(actions[-1], state):
            base.observe(actions[-1], state)
    assert actions == [RESET, RESET, RESET, RESET, 0]
    assert evaluation.episodes == [(1, False)]


def test_a_state_that_becomes_known_brings_the_candidates_seen_from_it() -> None:
    base, _ = start(Plans(to(7)), [Recorder(1, Decision.GOOD)])
    base.add_transition(7, 0, 9)
    assert base.candidates == (7,)
    walk(base, [0, 0, 7])
    assert base.candidates == (9,)


def test_after_a_change_the_run_goes_on_without_what_was_forgotten_or_deleted() -> None:
    base = ucb(to(0).policy, to(1).policy, to(2).policy)
    for state, after in ((0, 1), (0, 2), (1, 9), (2, 8)):
        base.add_transition(state, 0, after)
    assert base.candidates == (9, 8)
    base.forget(1, 0)
    assert base.parts.counts.visits(1, 0) == 0 and base.parts.counts.visits(0, 0) == 2
    assert base.revise((to(0).policy, to(1).policy))
    assert [policy.target for policy in base.policies] == [0, 1]
    assert base.candidates == (2,) and base.parts.counts.visits(2, 0) == 0
    assert not base.finished and base.state is UcbPhase.DISCOVERY


def test_a_test_under_way_is_given_up_when_something_is_forgotten() -> None:
    tests = [Recorder(5, Decision.GOOD), Recorder(1, Decision.GOOD)]
    base, asked = start(Plans(to(7), to(7)), tests)
    walk(base, [0, 0, 0])
    assert base.evaluating and asked == [(1, 1)]
    base.forget(0, 0)
    assert walk(base, [0]) == [RESET] and asked == [(1, 1), (1, 2)]


@pytest.mark.parametrize('changed', [False, True])
def test_what_is_new_after_a_change_is_tested_before_all_is_sampled(changed: bool) -> None:
    base = ucb(to(0).policy, to(1).policy)    # nothing leads to 1, where samples lack
    if changed:
        base.forget(0, 0)
    for _ in range(2 * 8 + 2):
        base.observe(action := base.next_action(), 0 if action == RESET else 7)
    assert base.evaluating == changed and not base.parts.discovery.done()
    assert base.candidates == (7,)


def test_the_delta_is_shared_out_as_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, list[float]] = {}
    parts = {**vars(plug_in)}
    for name, place in (('evaluation', 2), ('KlOptimism', 1), ('OnTheWayDiscovery', 1)):
        def make(*arguments: object, real: Callable = parts[name], name: str = name,
                 place: int = place) -> object:
            given.setdefault(name, []).append(arguments[place])
            return real(*arguments)
        monkeypatch.setattr(plug_in, name, make)
    problem = Problem(2, 4.0, 1.0, 0.1)
    third, base = problem.delta / 3, new_base(
        settings(problem, overrides={'base': 'ucb_explore'}), home=0)
    finish(base, Simulator(load('corridor'), 0), 20_000)
    assert given['KlOptimism'] == given['OnTheWayDiscovery'] == [third]
    assert len(given['evaluation']) > 3 and given['evaluation'] == pytest.approx([
        third / (number * (number + 1)) for number in range(1, len(given['evaluation']) + 1)])


def test_a_policy_is_given_up_above_the_radius_and_in_a_check_above_the_limit() -> None:
    for length, checking, decision in ((6, False, Decision.BAD), (6, True, Decision.GOOD),
                                       (7, True, Decision.GOOD), (9, True, Decision.BAD)):
        evaluation = plug_in.evaluation(settings(PROBLEM), 3, 0.1, checking)
        while (found := evaluation.record(length, False)) is Decision.UNDECIDED:
            assert evaluation.played < 5000
        assert found is decision, (length, checking)


def test_others_may_have_the_robot_unless_an_attempt_that_counts_is_under_way() -> None:
    """And what is told for people is what is being done."""
    base, _ = start(Plans(to(7)), [Recorder(99, Decision.GOOD)])
    assert base.between_attempts and base.activity().doing == 'sampling'
    walk(base, [0])
    assert base.evaluating and base.between_attempts
    doing = base.activity()
    assert (doing.doing, doing.target) == ('testing', 7) and '0 of 0 attempts' in sentence(
        doing.said)
    assert [test.state for test in doing.tests] == [7]
    while base.between_attempts:
        walk(base, [0])
    told = []
    for _ in range(HORIZON):
        told.append(base.between_attempts)
        walk(base, [0])
    assert told[0] is False and base.episode_over and base.between_attempts
    assert '0 of 1 attempts' in sentence(base.activity().said)
