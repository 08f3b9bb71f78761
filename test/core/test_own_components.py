# SPDX-License-Identifier: Apache-2.0

"""What a base or another part of one's own has to have, and what it may leave to the package."""

from __future__ import annotations

import math

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.building_phase import Schedule
from mnm_ros.core.mnm.checking_phase import CheckingPhase
from mnm_ros.core.paper.discovery import Discovery
from mnm_ros.core.paper.optimism import Optimism
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.said import Sampling
from mnm_ros.core.progress_estimator import ProgressEstimator
from mnm_ros.core.statistics.evaluation import Evaluation
import pytest
from scripted import HOME, policy, ScriptedBase
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


def test_what_a_base_leaves_out_promises_nothing() -> None:
    base = ScriptedBase(0)
    assert base.may_plan(0, HOME) and base.between_attempts and not base.episode_over
    assert (base.candidates, base.estimates, base.outlook) == ((), {}, None)
    assert base.load_transitions([(HOME, 1, 2)]) is False and base.revise((policy(HOME),)) is False
    assert base.lower_bound(policy(3)) == -math.inf
    assert base.activity() == PhaseActivity('sampling', Sampling())


def test_what_checks_leave_out_promises_nothing() -> None:
    """Nobody can say how far they are, and they are not resumed."""
    machine = hypothesis_of((HOME, 3), lambda: ScriptedBase(6, (HOME, 3)))
    checking = checking_of(machine)
    assert checking.cut_offs == 0 and not checking.at_restart_point and not checking.can_snapshot
    with pytest.raises(NotImplementedError):
        checking.to_state()
    assert ProgressEstimator(machine, PROBLEM).progress(100, {}) is None
