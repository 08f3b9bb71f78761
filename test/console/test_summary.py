# SPDX-License-Identifier: Apache-2.0

"""The last lines of a run tell what was learnt, and what was seen beyond it."""

from __future__ import annotations

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import Problem
from mnm_ros.simulation import scenario
from mnm_ros.view.telemetry import Telemetry
import pytest

live_run = pytest.importorskip('mnm_ros.console.live_run', reason='ROS 2 is not installed')


def learnt(*known: int) -> Telemetry:
    counts = {state: {0: {state + 1: 1}} for state in known}
    return Telemetry(known=known, counts=counts, hypothesis=Hypothesis(1, 0, 9, tuple(
        Policy(state, 9, known, ((0,) * len(known),)) for state in known)))


def lines(heard: Telemetry, radius: float) -> str:
    corridor = scenario.load('corridor')
    problem = Problem(len(corridor.actions), radius, 1.0, 0.1)
    found = live_run.verdict(heard, corridor, problem)
    return '\n'.join(live_run.summary(heard, corridor, problem, found, 1.0))


def test_a_state_that_was_seen_but_is_too_far_away_is_named() -> None:
    text = lines(learnt(0, 1, 2), 2.5)
    assert '\nmissing         none\n' in text
    assert '\ntoo far         3 (seen, but not within the radius 2.5)\n' in text


def test_one_that_is_missing_is_not_too_far_away() -> None:
    text = lines(learnt(0, 1, 2), 4.0)
    assert '\nmissing         3\n' in text and 'too far' not in text


def test_without_the_truth_there_is_no_verdict() -> None:
    text = '\n'.join(live_run.learnt(learnt(0, 1, 2), 1.0))
    assert '\nknown           3: 0 1 2\n' in text and 'right.' in text.splitlines()[-1]
    assert 'depending on base and seed' in text
    assert 'The hypothesis is' not in text and '\nmissing' not in text
