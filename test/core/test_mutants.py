# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Rules that a change of one sign or number would break unnoticed by the other tests."""

from __future__ import annotations

import math

from mnm_ros.core.as_printed.monte_carlo import MonteCarloEvaluation
from mnm_ros.core.building_phase import BuildingPhase
from mnm_ros.core.checking_phase import ChangeLog, Round
from mnm_ros.core.counts import Counts
from mnm_ros.core.detector import Detector
from mnm_ros.core.discovery import OnTheWayDiscovery
from mnm_ros.core.episode import Episode
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import Problem, RESET
from mnm_ros.core.streams import StreamSchedule
from mnm_ros.core.watch_phase import WatchPhase
import pytest
from scripted import HOME, policy, ScriptedBase
from test_mnm import mnm, Script

PROBLEM = Problem(actions=9, radius=4.0, epsilon=1.0, delta=0.1)


def test_while_building_it_can_be_resumed_before_the_first_step_only() -> None:
    machine = mnm(Script(rest=lambda: ScriptedBase(0)))
    assert machine.resumable is False
    machine.observe(RESET, HOME)
    assert machine.resumable is True and machine.runs == 1
    other = mnm(Script(rest=lambda: ScriptedBase(0)))
    other._resume(machine.to_state())
    assert other.runs == 1    # the run under way is begun anew, and counted once
    machine.observe(RESET, HOME)
    assert machine.resumable is False


def test_the_steps_of_a_stream_are_those_since_its_start() -> None:
    phase = BuildingPhase(lambda: ScriptedBase(0), StreamSchedule(2), shared=False)
    while len(phase.streams) < 2:
        phase.observe(RESET, HOME)
    for _ in range(3):
        phase.observe(RESET, HOME)
    first, second = phase.streams
    assert phase.steps_of(first) == phase.steps_taken > 3
    assert phase.steps_of(second) == 3


def test_watching_has_as_many_turns_as_rediscovery_while_policies_are_doubted() -> None:
    """And again when nothing but proofs is left to do."""
    log = ChangeLog(lambda sentence: None)
    phase = WatchPhase(
        Round(1, PROBLEM, lambda problem, policies: ScriptedBase(0), 0, 10, log),
        (policy(HOME), policy(1), policy(2)), quanta=4)
    quantum = phase.base.quantum
    assert phase._left == 4 * quantum
    phase._notice()
    phase._begin_quantum()
    assert phase._left == 4 * quantum
    phase._doubt_all()
    phase._begin_quantum()
    assert phase._left == quantum
    for detector in phase._watched.detectors.values():
        detector.credible = True
    phase._begin_quantum()
    assert phase._left == 4 * quantum
    phase._relearning.swept = True
    phase._begin_quantum()
    assert phase._left == quantum


def test_a_printed_evaluation_goes_on_after_the_policy_has_been_left() -> None:
    evaluation = MonteCarloEvaluation(PROBLEM, 0.5, 1)
    episode = Episode(Policy(7, 3, (0,), ((0,),)), evaluation.ends_outside)
    episode.observe(5)    # a state that the policy does not know
    assert not episode.over and episode.action(5) == RESET


def on_the_way(counts: Counts, known: tuple[int, ...]) -> OnTheWayDiscovery:
    """Return a discovery that is to sample home, the first of ``known``."""
    discovery = OnTheWayDiscovery(Problem(1, 3.0, 1.0, 0.1), 0.1, counts)
    discovery.begin(known, (known[0],), Policy(known[-1], 5, known, ((0,) * len(known),)))
    return discovery


def test_home_is_sampled_by_a_reset_where_moves_take_longer() -> None:
    counts = Counts()
    for _ in range(9):
        counts.add(1, 0, 1)
    counts.add(1, 0, 0)    # a tenth of the moves leads home: ten steps, against one by RESET
    assert on_the_way(counts, (0, 1)).action(1) == RESET


def test_new_ways_are_looked_for_when_the_horizon_has_passed_without_a_sample() -> None:
    counts = Counts()
    discovery = on_the_way(counts, (0, 1))
    looked: list[int] = []
    discovery._find_ways = lambda: looked.append(1)    # type: ignore[method-assign]
    for _ in range(5):
        discovery.observe(1, 0, 1)
    assert not looked
    discovery.observe(1, 0, 1)
    assert len(looked) == 1
    discovery.observe(0, 0, 1)    # a sample: the count begins anew
    for _ in range(5):
        discovery.observe(1, 0, 1)
    assert len(looked) == 1


@pytest.mark.parametrize('failed', [False, True])
def test_no_bet_of_a_detector_goes_bankrupt(failed: bool) -> None:
    limit, horizon = 40.0, 60
    detector = Detector(limit, horizon, 1e-4)
    detector.begin_proof(1e-9)
    for _ in range(500):
        detector.record(horizon if failed else 1, failed)
        logs = [*detector._against_logs, *detector._for_logs]
        assert all(math.isfinite(log) for log in logs)
