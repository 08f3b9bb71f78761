# SPDX-License-Identifier: Apache-2.0

"""What the watch phase says of what is left to do."""

from __future__ import annotations

import math

from mnm_ros.core import Detector, Evidence, PhaseActivity, Problem, Round
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.progress_estimator import steps_until_modelled, steps_until_proven
from mnm_ros.core.watch.watch_phase import WatchPhase
from mnm_ros.view.sentences import sentence
import pytest
from scripted import HOME, policy, ScriptedBase

LIMIT, HORIZON = 8.0, 16


def test_each_attempt_costs_its_steps_a_reset_and_a_quantum_of_rediscovery() -> None:
    """All policies lack a proof, so that no attempt is spent on others."""
    for takes in (2.0, 5.0):
        left = steps_until_proven({1: 5.0}, 1, {1: takes}, LIMIT, HORIZON)
        count, rest = divmod(left, takes + 1 + HORIZON)
        assert rest == 0 and count > 1
        twice = steps_until_proven({1: 10.0}, 1, {1: takes}, LIMIT, HORIZON)
        assert twice == pytest.approx(2 * left, abs=takes + 1 + HORIZON)
        both = steps_until_proven({1: 5.0, 2: 5.0}, 2, {1: takes, 2: takes}, LIMIT, HORIZON)
        assert both == 2 * left


def test_attempts_of_proven_policies_come_in_between() -> None:
    """Every other attempt is theirs, but for the turns of those without a proof."""
    alone = steps_until_proven({1: 5.0}, 1, {1: 2.0}, LIMIT, HORIZON)
    for watched in (2, 4, 1000):
        left = steps_until_proven({1: 5.0}, watched, {1: 2.0}, LIMIT, HORIZON)
        assert left == math.ceil(alone / (0.5 + 0.5 / watched))


def test_a_policy_that_is_not_known_yet_counts_as_half_of_the_limit() -> None:
    assert steps_until_proven({1: 5.0}, 3, {1: None}, LIMIT, HORIZON) == steps_until_proven(
        {1: 5.0}, 3, {}, LIMIT, HORIZON) == steps_until_proven(
        {1: 5.0}, 3, {1: 0.5 * LIMIT}, LIMIT, HORIZON)
    # One that seems to be too slow may still be proven, but that takes long.
    assert steps_until_proven({1: 5.0}, 3, {1: 3 * LIMIT}, LIMIT, HORIZON) == steps_until_proven(
        {1: 5.0}, 3, {1: 0.9 * LIMIT}, LIMIT, HORIZON)


def test_models_of_drives_take_steps_for_each_pair_and_never_none() -> None:
    first, later, last = (steps_until_modelled(50, made) for made in (0, 400, 10_000))
    assert first - later == 400 and steps_until_modelled(100, 0) == 2 * first
    assert last == first / 4


def watching(run: PhaseActivity, detectors: dict[int, Detector]) -> WatchPhase:
    base = ScriptedBase(0)
    base.activity = lambda: run    # type: ignore[method-assign]
    phase = WatchPhase(
        Round(1, Problem(9, 4.0, 1.0, 0.1), lambda problem, policies: base, 0, 10, ChangeLog()),
        tuple(policy(target) for target in (HOME, 3, 5, 7)))
    phase.parts.checks.monitor.detectors = {**detectors}
    return phase


def test_what_speaks_against_the_policy_under_watch_and_for_it_is_told(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """For it only as long as it has something to prove, and all of it in figures, too."""
    detectors = {3: Detector(LIMIT, HORIZON, 1e-3), 5: Detector(LIMIT, HORIZON, 1e-4)}
    monkeypatch.setattr(
        TransitionMonitor, 'evidence', [Evidence('transition', 3, 1, 1.0, 9.0)])
    phase = watching(PhaseActivity('sampling', ''), detectors)
    phase.rediscovering = False
    for _ in range(5):
        detectors[5].record(HORIZON, True)
    against = round(detectors[5].evidence, 1)
    assert against > 0

    def told(target: int) -> PhaseActivity:
        phase.parts.checks.begin(target, phase.policies)
        return phase.activity()
    assert sentence(told(7).said) == 'checking that the policy to 7 still works'
    assert sentence(told(3).said) == (
        'checking that the policy to 3 still works: evidence against it 0.0 of 6.9')
    assert sentence(told(5).said).endswith(f': evidence against it {against} of 9.2')
    detectors[5].begin_proof(1e-5)
    assert sentence(told(5).said).endswith(f'against it {against} of 9.2, for it 0.0 of 11.5')
    doing = told(5)
    assert (doing.doing, doing.target, doing.action) == ('watching', 5, None)
    assert [(test.kind, test.state) for test in doing.tests] == [
        ('detector', 3), ('detector', 5), ('proof', 5), ('transition', 3), ('rediscovery', None)]
    assert (doing.tests[-1].evidence, doing.tests[-1].threshold) == (0.0, phase.check_steps)
    assert phase.check_steps > 0
    detectors[5].proven = True
    assert 'for it' not in sentence(told(5).said) and len(told(5).tests) == 4


def test_a_rediscovery_is_told_by_its_number_and_what_it_does() -> None:
    run = PhaseActivity(
        'sampling', 'sampling 4', 4, 2, (Evidence('certificate', 4, None, 1.0, 2.0),))
    phase = watching(run, {})
    phase.parts.rediscovery.number = 2
    doing = phase.activity()
    assert (doing.doing, doing.target, doing.action) == ('sampling', 4, 2)
    assert sentence(doing.said) == (
        'searching for new or changed ways (rediscovery 2): sampling 4')
    assert [test.kind for test in doing.tests] == ['certificate', 'rediscovery']
