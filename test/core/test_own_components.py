# SPDX-License-Identifier: Apache-2.0

"""What a base or another part of one's own has to have, and what it may leave to the package."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from mnm_ros.core import (
    BaseAlgorithm,
    CheckingPhase,
    components,
    Declaration,
    Discovery,
    Exploration,
    Optimism,
    over_own_targets,
    PhaseActivity,
    Policy,
    Problem,
    ProvisionalPolicy,
    RESET,
    Round,
    settings,
)
from mnm_ros.core.errors import InvalidTypeError
from mnm_ros.core.mnm.capabilities import activity_of, provisional_of, Steered
from mnm_ros.core.mnm.checking_phase import CheckingPhaseFactory
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.phase import Directives, MnmState
from mnm_ros.core.mnm.runs import Runs
from mnm_ros.core.mnm.schedule import Schedule
from mnm_ros.core.progress.said import Sampling
from mnm_ros.core.progress_estimator import ProgressEstimator
from mnm_ros.core.statistics.evaluation import Evaluation
import pytest
from scripted import BareBase, HOME, policy, ScriptedBase
from test_mnm import checking_of, hypothesis_of, PROBLEM

REQUIRED = {
    BaseAlgorithm: (
        'finished', 'evaluating', 'step_bound', 'next_action', 'observe', 'interrupt',
        'policies'),
    CheckingPhase: ('next_action', 'observe', 'interrupt', 'activity', 'figures'),
    Discovery: ('begin', 'pending', 'done', 'action', 'observe'),
    Evaluation: ('_judge',),
    Optimism: ('plan',),
    Schedule: ('_start', '_choose'),
}


@pytest.mark.parametrize('kind', REQUIRED)
def test_what_lacks_something_is_refused_when_it_is_made(kind: type) -> None:
    """By its name, not when it is called after hours."""
    names = REQUIRED[kind]
    for lacking in names:
        own = type('Own', (kind,), {name: None for name in names if name != lacking})
        with pytest.raises(TypeError, match=f'\\b{lacking}\\b'):
            object.__new__(own)
    assert object.__new__(type('Own', (kind,), dict.fromkeys(names)))


def test_a_base_without_capabilities_is_done_without() -> None:
    base = BareBase(0, (HOME, 3))
    members = {name for name in dir(BaseAlgorithm) if not name.startswith('_')} | {'quantum'}
    assert members == {*REQUIRED[BaseAlgorithm], 'quantum'} and len(members) <= 8
    assert activity_of(base) == PhaseActivity('sampling', Sampling())
    assert provisional_of(base) == ([ProvisionalPolicy(policy(3), True, None, None)], None)


def test_such_a_base_is_built_from_and_checked_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens meanwhile: work of others, interruptions, declarations and wishes."""
    monkeypatch.setitem(components.BASES, 'bare', lambda *_: BareBase(6, (HOME, 3)))
    exploration = Exploration(settings(PROBLEM, overrides={'base': 'bare'}), 0)
    for step in range(400):
        action = exploration.next_action()
        exploration.observe(action, HOME if action == RESET else 3 if step < 200 else 4)
        if step % 9 == 5:
            exploration.observe_work(HOME, 3, HOME, '')
        if step % 11 == 5:
            exploration.prefer(3)
            exploration.lose_place()
        if step == 100:
            exploration.declare(Declaration({HOME: tuple(
                (end + 3, HOME) for end in range(PROBLEM.actions))}))
        assert exploration.activity().doing and not exploration.candidates
    assert exploration.hypothesis is not None and exploration.trust()


def test_a_run_in_which_another_package_puts_a_function_begins_again_after_a_restart(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot lacks the function, so that it is taken between two runs alone."""
    disco = components.BASES['disco']

    def counted(*arguments: Any) -> BaseAlgorithm:
        base = disco(*arguments)    # type: ignore[operator]
        observe = base.observe
        base.observe = lambda action, state: observe(action, state)
        return base

    monkeypatch.setitem(components.BASES, 'counted', counted)
    resolved = settings(Problem(2, 2.0, 1.0, 0.5), overrides={'base': 'counted'})
    exploration = Exploration(resolved, 0)
    taken = 0
    while taken < 3:
        action = exploration.next_action()
        exploration.observe(action, HOME if action == RESET else action)
        if not exploration.can_snapshot:
            assert exploration.understudy() is None
        elif exploration.hypothesis is not None:
            taken += 1
            again = Exploration(resolved, 0, resume=exploration.to_state())
            assert again.hypothesis == exploration.hypothesis
            assert again.next_action() == RESET
    assert exploration.steps > 30


class Preferring(BareBase, Steered):
    """Records what it is asked to prefer."""

    auditable = avoid = leave_closed = carry = None    # type: ignore[assignment]

    def prefer(self, states: Sequence[int]) -> None:
        self.preferred = tuple(states)


def test_each_run_that_is_begun_prefers_what_people_do() -> None:
    runs = Runs(settings(PROBLEM), 0, lambda *_: Preferring(6, (HOME, 3)))
    assert not hasattr(runs.new(HOME, PROBLEM), 'preferred')    # nobody prefers anything
    runs.directives = Directives(preferred=(3, 5))
    assert runs.new(HOME, PROBLEM).preferred == (3, 5)


class Attempting(CheckingPhase):
    """Begins with attempts."""

    rediscovering = refuted = False
    interrupt = activity = figures = None    # type: ignore[assignment]

    def __init__(self, round_: Round, policies: tuple[Policy, ...]) -> None:
        self.policies = over_own_targets(policies)
        self.base = round_.new_base(round_.problem, policies)

    def next_action(self) -> int:
        return RESET

    def observe(self, action: int, state: int) -> None:
        self.rediscovering, self.refuted = not self.rediscovering, self.rediscovering


def test_checks_may_begin_with_attempts_and_end_while_they_rediscover() -> None:
    machine = Mnm(settings(PROBLEM), 0, lambda *_: ScriptedBase(1, (HOME, 3)), Attempting)
    states = []
    for _ in range(5):
        machine.observe(machine.next_action(), HOME)
        states.append(machine.state)
    assert states == [MnmState.BUILDING, MnmState.EVALUATION, MnmState.REDISCOVERY,
                      MnmState.BUILDING, MnmState.EVALUATION]
    assert machine.round == 2 and machine.hypothesis is not None


class Forgetful(Attempting):
    """Leaves out an attribute."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        del self.base


@pytest.mark.parametrize(('made', 'said'), [
    (Forgetful, 'a Forgetful, which lacks base'),
    (lambda *_: Problem,
     'a type, which lacks policies, base, rediscovering, refuted, check_steps'),
    (lambda *_: SimpleNamespace(policies=(), base=1, rediscovering=True, refuted=False,
                                check_steps=1), 'a SimpleNamespace, which lacks the base class')])
def test_checks_without_what_they_need_are_refused_by_name(
        made: CheckingPhaseFactory, said: str) -> None:
    machine = Mnm(settings(PROBLEM), 0, lambda *_: ScriptedBase(1, (HOME, 3)), made)
    machine.observe(machine.next_action(), HOME)
    with pytest.raises(InvalidTypeError, match=f'^checks watch have made {said}, expected a Che'):
        machine.observe(machine.next_action(), HOME)


def test_what_checks_leave_out_promises_nothing() -> None:
    """Nobody can say how far they are, and they are not resumed."""
    machine = hypothesis_of((HOME, 3), lambda: ScriptedBase(6, (HOME, 3)))
    checking = checking_of(machine)
    assert not checking.can_snapshot
    assert ProgressEstimator(machine, PROBLEM).progress(100, {}) is None
