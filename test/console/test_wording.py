# SPDX-License-Identifier: Apache-2.0

"""What the lines say where the output is no terminal, and what snapshots know."""

from __future__ import annotations

from dataclasses import replace
import json

from mnm_ros.console.options import StopCondition
from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.progress.activity import Activity, Progress
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.telemetry import as_json, Telemetry
from mnm_ros.view.web.figures import tiles
from mnm_ros.view.words import changed, clip, clock, known, numbered, progress, robots
import pytest
from snapshots import BUILDING, FLEET, FULL


def test_changed_tells_what_is_new_once() -> None:
    assert changed(Telemetry(), FULL, 2) == [
        'phase checking/evaluation', 'round 2', 'known 2: 0 1',
        'status: round 2: state 17 added', 'simulated world: setting 1 (of 0..1)']
    assert changed(FULL, FULL, 2) == []


def test_robots_as_json() -> None:
    found = json.loads(as_json(FLEET))
    assert found['robots'][1] == {
        'name': 'deck/r2', 'level': 'warning', 'steps': 12, 'place': None,
        'status': 'waiting for robot: no node publishes /deck/r2/state', 'unanswered': 0.0}
    assert found['current'] is None and json.loads(as_json(BUILDING))['current'] == 3
    assert json.loads(as_json(BUILDING))['robots'] == []


def test_each_robot_has_a_line_and_those_that_do_nothing_come_first() -> None:
    assert robots(FULL, 3) == []
    assert robots(FLEET, 3) == [
        'r1: 1,406 steps, in 3, exploring',
        'deck/r2: 12 steps, place unknown, waiting for robot: no node publishes '
        '/deck/r2/state', 'r3: 1,399 steps, in 6, exploring']
    assert [line.split()[0] for line in robots(FLEET, 2)] == ['deck/r2:', 'and']
    assert robots(FLEET, 2)[-1] == 'and 2 more' and robots(FLEET, 0) == []


def test_what_keeps_a_robot_is_told_once() -> None:
    assert 'robot r1: exploring' in changed(BUILDING, FLEET, 2)
    back = replace(FLEET, robots=(*FLEET.robots[:1], replace(
        FLEET.robots[1], level='ok', status='exploring', steps=13, place=1), FLEET.robots[2]))
    assert changed(FLEET, back, 2) == ['robot deck/r2: exploring']


def test_changed_ignores_the_detail_of_the_phase_and_the_counters() -> None:
    later = replace(
        FULL, phase='checking/rediscovery', report={**FULL.report, 'steps': '123457'})
    assert changed(FULL, later, 2) == []


def test_phases_are_told_by_their_names() -> None:
    for text, group in (('paused', 'paused'), ('dreaming/idly', 'dreaming')):
        heard = Telemetry(phase=text)
        assert heard.phase_group == group
        assert changed(Telemetry(), heard, 2) == [f'phase {text}']


def test_progress_is_one_line() -> None:
    assert progress(FULL) == (
        'checking/evaluation, 2 known, 3 candidates, 123,456 steps (4,321 per second), '
        '4,500 exploration steps')
    assert progress(BUILDING).endswith(', 29% done, about 20 s to the first hypothesis')
    assert '1 known, 1 candidate, ' in progress(
        Telemetry(known=(0,), report={'candidates': '1'}))
    assert progress(Telemetry()).startswith('starting, 0 known, - candidates')
    # What is met again while all is settled is no news, wherever it is counted.
    settled = replace(FULL, activity=Activity(candidates=(4, 5), current=1, limit=8.0))
    assert '2 known, 0 candidates, ' in progress(settled)
    assert tiles(settled)[1][:2] == ('candidates', '0')
    # Before the first hypothesis, what is certified can be used.
    usable = Telemetry(trust={
        state: PolicyTrust(Trust.CERTIFIED, 2.0, 7.0, 9, '') for state in (3, 4)})
    assert progress(usable).startswith('starting, 0 known, 2 certified, - candidates')
    assert known(usable) == '2 certified' and known(Telemetry()) == '-'
    assert tiles(usable)[0] == ('known', '0', '2 certified')


@pytest.mark.parametrize('states, width, text', [
    ((4, 7), 80, '2: 4 7'), (range(9), 17, '9: 0 1 and 7 more'),
    (range(9), 20, '9: 0 1 2 and 6 more'), (range(5000), 20, '5,000'), (range(3), 1, '3')])
def test_states_are_listed_as_far_as_there_is_room(
        states: range, width: int, text: str) -> None:
    assert numbered(states, width) == text


def test_places_with_names_are_listed_by_them() -> None:
    house = RobotDescription(('go',), names={3: 'hall', 5: 'store room'})
    assert numbered((3, 5, 7), description=house) == '3: hall, store room, 7'
    assert numbered((3, 5, 7), 24, house) == '3: hall and 2 more'
    assert numbered((7, 8), description=house) == '2: 7 8'


def test_clip_makes_one_line_of_limited_width() -> None:
    assert clip('a\nb  c', 80) == 'a b c'
    assert clip('abcdefgh', 6) == 'abc...'
    assert len(clip('abcdefgh', 2)) <= 2


def test_duration() -> None:
    assert clock(59.9) == '0:00:59'
    assert clock(36000) == '10:00:00'


def test_what_is_not_known_is_a_candidate_or_beyond_the_radius() -> None:
    def found(heard: Telemetry) -> tuple[tuple[int, ...], ...]:
        return tuple(heard.knowledge.of(kind) for kind in (StateKind.CANDIDATE, StateKind.BEYOND))

    assert found(BUILDING) == ((5, 6), ())
    # Rediscovery meets again and again what is too far away: that is no news.
    met = replace(FULL, activity=Activity(candidates=(4, 5), current=1))
    assert found(met) == ((), (4,))
    revised = replace(met, activity=replace(met.activity, revising=True))
    assert found(revised) == ((4, 5), ())
    lost = replace(FULL, activity=Activity(lost=(4,)))
    assert found(lost) == ((), ()) and lost.knowledge.of(StateKind.LOST) == (4,)


def test_time_left_needs_a_pace_and_a_robot_that_moves() -> None:
    assert BUILDING.seconds_left() == pytest.approx(20.26)
    assert replace(BUILDING, pace=None).seconds_left() is None
    assert replace(BUILDING, report={**BUILDING.report, 'phase': 'paused'}).seconds_left() is None
    hangs = replace(BUILDING, report={**BUILDING.report, 'unanswered': '12'})
    assert hangs.seconds_left() is None
    assert progress(hangs).endswith(
        ', no answer for 12 s, 29% done, about 2,026 steps to the first hypothesis')
    assert changed(BUILDING, hangs, 2) == ['no answer for 12 s']
    assert changed(hangs, replace(hangs, report={**hangs.report, 'unanswered': '13'}), 2) == []
    # Nobody can wait for years, and of the last steps only the most is known.
    for pace, done, end in (
            (1e-12, 812, 'about 2,026 steps to'), (100.0, 2000, 'probably less than 30 s to'),
            (100.0, 2838, 'longer than predicted to')):
        late = replace(BUILDING, pace=pace, activity=replace(
            BUILDING.activity, progress=Progress('first hypothesis', done, 2838, 1800, 5000)))
        assert late.seconds_left() is None
        assert progress(late).endswith(f'% done, {end} the first hypothesis')


def test_what_a_fleet_has_made_and_what_is_taken() -> None:
    assert '812 steps taken (101 per second), 2,817 made by 3 robots' in progress(FLEET)


def test_goal_awaits_a_hypothesis_and_then_changes() -> None:
    assert StopCondition().awaited(Telemetry()) == 'the first message of the explorer'
    assert StopCondition().awaited(Telemetry(phase='building/discovery')) == 'the first hypothesis'
    assert not StopCondition().reached(Telemetry(phase='building/discovery'))
    assert StopCondition().reached(FULL)
    waiting = replace(FULL, report={**FULL.report, 'changes_relearnt': '0'})
    assert not StopCondition(1).reached(waiting)
    assert StopCondition(1).awaited(waiting) == (
        'a change to be noticed and relearnt (0 of 1 so far)')
    assert StopCondition(1).reached(FULL)


def test_machines_get_a_whole_object_in_a_line() -> None:
    said = json.loads(as_json(FULL))
    assert (said['phase'], said['hypothesis'], said['known'], said['beyond']) == (
        'checking/evaluation', [2, 1], [0, 1], [4])
    building = json.loads(as_json(BUILDING))
    assert (building['doing'], building['target'], building['action']) == ('testing', 7, None)
    assert building['candidates'] == [5, 6] and building['progress']['expected'] == 2838
    assert building['tests'][0]['kind'] == 'policy' and '\n' not in as_json(BUILDING)
    nothing = json.loads(as_json(Telemetry()))
    assert set(nothing) == set(said) and nothing['phase'] is None
