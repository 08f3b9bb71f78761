# SPDX-License-Identifier: Apache-2.0

"""The state machine, the timeline, the controls, and the picture of a map."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
import struct
from xml.etree import ElementTree
import zlib

from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.said import Because, GoalUnderWay, Said, StaysAtGoal
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.core.queries import Phase
from mnm_ros.topics import SERVICES
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry
from mnm_ros.view.web.layers import picture
from mnm_ros.view.web.panels import (
    bar_line,
    CONTROLS,
    machine,
    MOST,
    refusal,
    refusal_to_go,
    stopped,
    Timeline,
)
import pytest


@pytest.mark.parametrize('phase', Phase)
def test_each_phase_has_its_place_in_the_machine_and_is_lit(phase: Phase) -> None:
    drawn = ElementTree.fromstring(machine(phase.value))
    lit = [group for group in drawn if group.get('class', '').endswith('lit')]
    boxes = [group for group in lit if group.get('class').startswith('phase')]
    assert len(boxes) == 1 and phase.value.partition('/')[0] in boxes[0].get('class')
    assert len(lit) == 1 + ('/' in phase.value)


def test_a_phase_of_a_later_version_does_no_harm() -> None:
    drawn = ElementTree.fromstring(machine('<dreaming>&'))
    assert not [group for group in drawn if group.get('class', '').endswith('lit')]


def reported(number: int, steps: int, known: int = 0, **more: object) -> Telemetry:
    report = {'steps': str(steps), 'candidates': '2', 'changes_noticed': str(
        more.pop('noticed', 0))}
    return Telemetry(report=report, reports=number, known=tuple(range(known)), **more)


def test_the_timeline_has_a_point_for_each_report_and_lines_for_changes() -> None:
    timeline = Timeline()
    assert not timeline.update(Telemetry())
    assert timeline.update(reported(1, 100, 3, true_setting=0, exploration_steps=90))
    assert not timeline.update(reported(1, 150, 3))    # the same report
    assert timeline.update(reported(2, 200, 4, true_setting=1, exploration_steps=95))
    assert timeline.update(reported(3, 300, 2, true_setting=1, noticed=1, exploration_steps=99))
    series = {entry['name']: entry for entry in timeline.options()['series']}
    assert series['known']['data'] == [[100, 3], [200, 4], [300, 2]]
    assert series['candidates']['data'][0] == [100, 2]
    assert series['exploration steps (right)']['data'][-1] == [300, 99]
    assert series['true change']['markLine']['data'] == [{'xAxis': 200}]
    assert series['change noticed']['markLine']['data'] == [{'xAxis': 300}]


def test_the_timeline_stays_small_and_begins_again_with_the_explorer() -> None:
    timeline = Timeline()
    for number in range(5 * MOST):
        timeline.update(reported(number + 1, 10 * number, 1))
    points = timeline.options()['series'][0]['data']
    assert len(points) <= MOST and points[0][0] == 0 and points[-1][0] == 10 * (5 * MOST - 1)
    timeline.update(reported(10**6, 5, 0))
    assert timeline.options()['series'][0]['data'] == [[5, 0]]
    assert timeline.options()['legend']['data'] == ['known', 'candidates']


EVERYTHING = frozenset(control.service for control in CONTROLS.values())


@pytest.mark.parametrize(('name', 'phase', 'why'), [
    ('pause', 'checking/evaluation', ''), ('pause', 'paused', 'the exploration is paused already'),
    ('pause', 'fault', 'the phase is fault'), ('resume', 'paused', ''),
    ('resume', 'building/discovery', 'the explorer is exploring already'),
    ('recover', 'fault', ''),
    ('recover', 'paused', 'there is no fault'), ('load', 'checking/evaluation', 'pause first'),
    ('load', 'paused', ''), ('save', 'paused', ''), ('change', 'paused', ''),
    *(('stop', phase, '') for phase in ('checking/rediscovery', 'paused', 'fault', '')),
    *(('home', phase, '') for phase in ('checking/rediscovery', 'paused', 'fault', ''))])
def test_a_control_says_why_it_is_of_no_use(name: str, phase: str, why: str) -> None:
    assert refusal(name, Telemetry(phase=phase, offered=EVERYTHING, heartbeat=10.0), 11.0) == why


@pytest.mark.parametrize('why', [StaysAtGoal(7, 60.0), GoalUnderWay(7)])
def test_a_pause_of_the_navigator_can_be_made_one_that_holds(why: Said) -> None:
    heard = Telemetry(phase='paused', activity=Activity(said=Because('paused', why)),
                      offered=EVERYTHING, heartbeat=10.0)
    assert refusal('pause', heard, 11.0) == ''
    assert refusal('pause', replace(heard, phase='fault'), 11.0) == 'the phase is fault'


def test_a_robot_that_is_stopped_can_be_freed_whatever_the_explorer_does() -> None:
    exploring = Telemetry(phase='building/discovery', offered=EVERYTHING, heartbeat=10.0)
    for heard in (exploring, Telemetry()):
        assert refusal('resume', heard, 99.0)
        freed = replace(heard, stopped=frozenset(('',)))
        assert refusal('resume', freed, 99.0) == ''
        assert 'at rest until Go on' in bar_line(freed, 99.0, '')
        assert stopped(freed) == 'stopped' and stopped(heard) == ''
    fleet = Telemetry(stopped=frozenset(('r2', 'r1')), robots=tuple(
        RobotTelemetry(name, 'ok', '') for name in ('r1', 'r2', 'r3')))
    assert stopped(fleet) == 'r1 r2 stopped'
    assert stopped(replace(fleet, robots=fleet.robots[:2])) == 'stopped'


def test_below_the_bar_stands_what_came_of_it_and_what_is_missing() -> None:
    heard = Telemetry(phase='paused', offered=EVERYTHING, heartbeat=10.0)
    assert bar_line(heard, 10.0, 'Pause: paused') == 'Pause: paused'
    assert bar_line(heard, 10.0, 'Home: \u2713', 'on the way') == 'Home: \u2713 \u00b7 on the way'
    assert bar_line(Telemetry(), 10.0, '') == (
        'Stop needs a robot side: no node offers stop \u00b7 '
        'Home needs a robot side: no node offers return_home')


def test_nothing_is_saved_without_a_folder() -> None:
    heard = Telemetry(phase='paused', offered=EVERYTHING, heartbeat=10.0,
                      report={'checkpoint': 'off'})
    assert {name for name in CONTROLS if 'no checkpoint_dir' in refusal(name, heard, 11.0)} == {
        'save', 'load'}


def test_it_is_looked_again_at_what_is_closed() -> None:
    heard = Telemetry(phase='checking/evaluation', offered=EVERYTHING, heartbeat=10.0)
    assert refusal('look', heard, 11.0) == 'no way is closed'
    closed = replace(heard, report={'closed': 'door D closed'})
    assert refusal('look', closed, 11.0) == ''
    assert refusal('look', replace(closed, phase='done'), 11.0) == 'the phase is done'


def test_a_control_needs_the_node_that_offers_its_service() -> None:
    assert refusal('change', Telemetry(), 0.0) == 'needs a simulator: no node offers change'
    silent = Telemetry(phase='paused', offered=EVERYTHING, heartbeat=10.0)
    assert refusal('resume', silent, 20.0) == 'the explorer is silent'
    assert refusal('change', silent, 20.0) == ''
    assert {control.service for control in CONTROLS.values()} == {
        service.name for service in SERVICES if 'dashboard' in service.clients.split()}


def test_the_robot_is_sent_to_known_and_certified_states_only() -> None:
    heard = Telemetry(known=(0, 7), navigator=True)
    assert refusal_to_go(7, heard) == ''
    assert refusal_to_go(8, heard) == 'state 8 is neither known nor certified'
    certified = replace(heard, trust={8: PolicyTrust(Trust.CERTIFIED, None, None, 0, '')})
    assert refusal_to_go(8, certified) == ''
    assert [*certified.knowledge.goals] == [0, 7, 8]
    early = replace(certified, known=(), activity=Activity(home=0))
    assert [*early.knowledge.goals] == [8]    # home, once a policy to it is told
    assert refusal_to_go(0, early) == 'state 0 is neither known nor certified'
    doubted = replace(heard, trust={7: PolicyTrust(Trust.DOUBTED, None, None, 0, '')})
    assert refusal_to_go(7, doubted) == 'state 7 is doubted'
    assert refusal_to_go(None, heard) == 'choose a place first'
    assert refusal_to_go(7, Telemetry(known=(7,))) == 'needs a navigator, which is not running'


def test_a_map_becomes_a_picture_with_its_first_row_at_the_bottom() -> None:
    url = picture([100, 0, -1, 0, 49, 50], 3, 2)
    png = b64decode(url.removeprefix('data:image/png;base64,'))
    assert png[:8] == b'\x89PNG\r\n\x1a\n' and struct.unpack('>II', png[16:24]) == (3, 2)
    length, = struct.unpack('>I', png[33:37])
    rows = zlib.decompress(png[41:41 + length])
    assert [rows[7 * row + 2:7 * row + 7:2] for row in range(2)] == [
        bytes([0, 0, 200]), bytes([200, 0, 0])]
    assert picture([], 0, 0) == picture([1], 2, 2) == ''


def test_the_axes_of_the_timeline_write_numbers_as_the_language_does() -> None:
    chart = Timeline().options('de')
    axes = (chart['xAxis'], *chart['yAxis'])
    assert {axis['axisLabel'][':formatter'] for axis in axes} == {
        'value => value.toLocaleString("de")'}
