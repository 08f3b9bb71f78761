# SPDX-License-Identifier: Apache-2.0

"""Rules that a change of one sign or number would break unnoticed by the other tests."""

from __future__ import annotations

from dataclasses import replace
import math

from mnm_ros.core import Counts, Detector, Policy, Problem, RESET, Round, settings
from mnm_ros.core.components import BASES, empirical_step_bound
from mnm_ros.core.detection.transition_detector import TransitionDetector
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.schedule import StreamSchedule
from mnm_ros.core.model.episode import Episode
from mnm_ros.core.model.history import History
from mnm_ros.core.paper.discovery import OnTheWayDiscovery
from mnm_ros.core.paper.plug_in import MonteCarloEvaluation
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.core.watch.policy_checks import WatchSchedule
from mnm_ros.core.watch.watch_phase import WatchPhase
from mnm_ros.view.sentences import sentence
import numpy as np
import pytest
from scripted import building_phase, HOME, policy, QUANTUM, ScriptedBase
from test_mnm import mnm, Script

PROBLEM = Problem(actions=9, radius=4.0, epsilon=1.0, delta=0.1)


def test_while_building_it_can_be_resumed_before_the_first_step_only() -> None:
    machine = mnm(Script(rest=lambda: ScriptedBase(0)))
    assert machine.can_snapshot is False
    machine.observe(RESET, HOME)
    assert machine.can_snapshot is True and machine.runs.made == 1
    other = mnm(Script(rest=lambda: ScriptedBase(0)), resume=machine.to_state())
    assert other.runs.made == 1    # the run under way begins again, and is counted once
    machine.observe(RESET, HOME)
    assert machine.can_snapshot is False


def test_the_steps_of_a_stream_are_those_since_its_start() -> None:
    phase = building_phase(lambda number: ScriptedBase(0), StreamSchedule(2), shared=False)
    while len(phase.streams) < 2:
        phase.observe(RESET, HOME)
    for _ in range(3):
        phase.observe(RESET, HOME)
    first, second = phase.streams
    assert phase.steps_of(first) == phase.steps_taken > 3
    assert phase.steps_of(second) == 3


def test_which_stream_has_the_robot_is_told_once_there_are_several() -> None:
    phase = building_phase(lambda number: ScriptedBase(0), StreamSchedule(2), shared=False)
    told = []
    while phase.schedule.quanta < 30:
        phase.observe(RESET, HOME)
        said = sentence(phase.activity().said).removeprefix(
            sentence(ScriptedBase(0).activity().said))
        number = [stream is phase.base for stream in phase.streams].index(True) + 1
        several = len(phase.streams) > 1
        assert said == (f' (stream {number} of {len(phase.streams)})' if several else '')
        told.append(said)
    assert told[0] == '' and {' (stream 1 of 2)', ' (stream 2 of 2)'} < set(told)


def test_attempts_have_as_many_turns_as_rediscovery_while_policies_are_doubted() -> None:
    """And again when nothing but proofs is left to do."""
    log = ChangeLog()
    round_ = Round(1, PROBLEM, lambda problem, policies: ScriptedBase(0), 0, 10, log)
    phase = WatchPhase(round_, (policy(HOME), policy(1), policy(2)), quanta=4)
    assert phase.parts.rediscovery.turn == 4 * phase.base.quantum
    schedule = WatchSchedule(phase.parts, 4)
    phase.doubts.notice()
    assert schedule.quanta == 4
    phase.doubts.doubt_all()    # anything may have changed, and is found by the rediscovery
    assert schedule.quanta == 4
    phase.doubts.doubt([1])
    assert schedule.quanta == 1
    for detector in phase.parts.checks.monitor.detectors.values():
        detector.credible = True
    assert schedule.quanta == 4
    phase.parts.relearning.swept = True
    assert schedule.quanta == 1


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
        kept = detector.to_state()
        logs = [*kept['against'], *kept['for']]
        assert all(math.isfinite(log) for log in logs)


def test_a_detector_of_transitions_looks_rarely_while_nothing_changes() -> None:
    looks: list[int] = []

    class Looking(TransitionDetector):

        def _look(self, likelihood: float) -> None:
            looks.append(self.executions)
            super()._look(likelihood)
    detector, rng = Looking(1e-6), np.random.default_rng(0)
    for after in rng.integers(0, 2, 2000).tolist():
        detector.record(after)
    assert 0 < len(looks) < 2000 / 16 and not detector.alarm
    for _ in range(60):    # a look does not come late either
        detector.record(0)
    assert detector.alarm


class Evaluating(ScriptedBase):
    """Evaluates policies, and no episode ever ends."""

    evaluating = True


def test_a_stream_that_evaluates_has_the_robot_for_the_way_home_and_one_attempt() -> None:
    """For two quanta, as nobody can say that an episode has ended; at once if one has."""
    phase = building_phase(lambda number: Evaluating(0), StreamSchedule(2), shared=False)
    for _ in range(2 * QUANTUM):
        phase.observe(RESET, HOME)
        assert phase.schedule.quanta == 1
    phase.observe(RESET, HOME)
    assert phase.schedule.quanta == 2
    phase.base.episode_over = True
    phase.observe(RESET, HOME)
    assert phase.schedule.quanta == 3


def test_a_base_that_never_gives_the_robot_back_has_it_for_four_quanta() -> None:
    class Busy(ScriptedBase):
        between_attempts = False
    phase = building_phase(lambda number: Busy(0), StreamSchedule(2), shared=False)
    for _ in range(4 * QUANTUM - 1):
        phase.observe(RESET, HOME)
    assert phase.schedule.quanta == 1
    phase.observe(RESET, HOME)
    assert phase.schedule.quanta == 2


def test_streams_witness_and_miss_what_others_do_but_no_reset() -> None:
    phase = building_phase(lambda number: ScriptedBase(0), StreamSchedule(2), shared=True)
    while len(phase.streams) < 2:
        phase.observe(RESET, HOME)
    active, other = phase.base, next(
        stream for stream in phase.streams if stream is not phase.base)
    assert isinstance(active, ScriptedBase) and isinstance(other, ScriptedBase)
    before = len(other.seen)
    phase.observe(3, 5)    # nobody knows from where
    phase.observe(RESET, HOME)
    assert len(other.seen) == before or other.seen[-1] == (HOME, 3, 5)
    phase.observe(2, 7)
    assert other.seen[-1] == (HOME, 2, 7) and not active.seen
    phase.interrupt()    # no step was open
    assert not other.missed and active.interruptions > 0


def test_what_was_counted_before_a_change_is_told_no_more_but_kept() -> None:
    observed = History()
    observed.add(None, 1, 5)    # nobody knows where it began
    for after in (1, 1, 2):
        observed.add(0, 3, after)
    observed.add(0, RESET, 0)
    observed.add(4, 3, 0)
    assert observed.met == {0, 1, 2, 4, 5} and observed.next_states(0, 3) == {1: 2, 2: 1}
    observed.outdate(0, None)
    assert observed.next_states(0, 3) == {} and observed.next_states(4, 3) == {0: 1}
    observed.add(0, 3, 2)
    observed.add(0, 3, 6)
    assert observed.next_states(0, 3) == {2: 1, 6: 1}
    assert list(observed.rows()) == [
        (0, RESET, 0, 1), (0, 3, 2, 1), (0, 3, 6, 1), (4, 3, 0, 1)]
    observed.outdate(None, 3)
    assert list(observed.rows()) == [(0, RESET, 0, 1)]
    assert observed.counts.next_states(0, 3) == {1: 2, 2: 2, 6: 1}


@pytest.mark.parametrize('radius, epsilon', [(4.0, 1.0), (4.0, 0.1), (30.0, 1.0), (2.0, 3.0)])
def test_disco_looks_a_little_beyond_the_radius_but_not_near_the_limit(
        radius: float, epsilon: float) -> None:
    """Where a state can hardly be certified, to try takes longer than to rule it out."""
    problem = Problem(4, radius, epsilon, 0.1)
    run = BASES['disco'](settings(problem), HOME, np.random.default_rng(0), ())
    assert isinstance(run, Disco)
    beyond = run.ruling_out.reach - radius
    assert 0 < beyond <= max(1.0, 0.17 * radius)
    assert beyond <= (problem.limit - radius) / 4
    assert run.step_bound(5) == 3 * empirical_step_bound(settings(problem), 5)


def test_a_goal_is_over_unless_it_waits_or_is_under_way() -> None:
    report = GoalReport(3, 7, GoalStatus.UNDER_WAY, 'going', expected_steps_left=2.0)
    assert report.steps == report.attempts == report.accepted == 0 and report.ended is None
    ended = replace(report, steps=4).over(GoalStatus.REACHED, 'in 4 steps', ended=99)
    assert (ended.id, ended.target, ended.steps, ended.ended) == (3, 7, 4, 99)
    assert ended.status is GoalStatus.REACHED and ended.text == 'reached 7 in 4 steps'
    assert ended.expected_steps_left is None
    assert [status for status in GoalStatus if not status.over] == [
        GoalStatus.WAITING, GoalStatus.UNDER_WAY]
