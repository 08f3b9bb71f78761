# SPDX-License-Identifier: Apache-2.0

"""What the page says."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core.progress.activity import Activity, Evidence, Progress
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.language import moment
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view import words
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry
from mnm_ros.view.web import figures
from mnm_ros.view.web.decisions import decisions, decisions_table
from mnm_ros.view.web.panels import events_table, robots_table, Timeline
import pytest

NOON = 1_800_000_000.0    # or another time of the day
DESCRIPTION = RobotDescription(('east', 'west'), 0, names={7: 'door'})


def progressing(done: int, rate: str, aim: str = 'first hypothesis') -> Telemetry:
    report = {'steps_per_second': rate, 'phase': 'building/discovery'}
    pace = Telemetry(report=report).number('steps_per_second')
    return Telemetry(report=report, pace=pace, activity=Activity(
        progress=Progress(aim, done, 2838, 1800, 5000)))


def test_an_aim_that_is_reached_is_not_shown_with_a_newer_phase() -> None:
    """The activity comes less often than the phase."""
    building = progressing(812, '10.0')
    checking = replace(building, phase='checking/evaluation')
    assert figures.bar(replace(building, phase='building/evaluation')) == figures.bar(building)
    assert figures.bar(checking) is None and words.to_go(checking) == ''
    assert checking.steps_left() is None and checking.most_steps_left() is None
    later = replace(progressing(812, '10.0', 'check'), phase='checking/evaluation')
    assert figures.bar(later).share > 0


def test_what_is_left() -> None:
    found = figures.bar(progressing(812, '10.0'))
    assert found.share == pytest.approx(812 / 2838)
    assert found.text == 'about 3 min to the first hypothesis'
    assert found.detail == 'step 812 of about 2,838, usually 1,800 to 5,000'
    assert figures.bar(progressing(812, '0.0')).text == 'about 2,026 steps to the first hypothesis'
    stopped = replace(progressing(812, '10.0'), stopped=frozenset(('',)))
    assert figures.bar(stopped).text == 'about 2,026 steps to the first hypothesis'
    assert figures.bar(progressing(3000, '10.0', 'check')).text == (
        'longer than predicted until all has been checked once more')
    assert figures.bar(progressing(3000, '10.0')).share == 1
    assert figures.bar(progressing(0, '1', 'relearning')).text == (
        'about 47 min until the change is relearnt')
    # At the end of a prediction only the upper end of its range holds; a check is not predicted.
    assert figures.bar(progressing(2000, '10.0')).text == (
        'probably less than 5 min to the first hypothesis')
    assert figures.bar(progressing(2000, '0.0')).text == (
        'probably less than 3,000 steps to the first hypothesis')
    assert words.to_go(progressing(2000, '10.0')) == (
        '70% done, probably less than 5 min to the first hypothesis')
    assert figures.bar(progressing(2000, '10.0', 'check')).text == (
        'about 84 s until all has been checked once more')
    # A prediction of a few seconds may hold for a minute.
    assert figures.bar(progressing(2835, '10.0', 'check')).text == (
        'a few moments until all has been checked once more')
    assert words.to_go(progressing(2835, '10.0', 'check')) == (
        '100% done, a few moments until all has been checked once more')
    assert figures.bar(Telemetry()) is None
    slow = progressing(812, '0.3')
    assert figures.bar(slow).detail.endswith('1,800 to 5,000, 2 h 38 min in all at this pace')
    assert slow.activity.progress is not None
    told = replace(slow, activity=Activity(progress=replace(
        slow.activity.progress, smaller_radius=3.0, smaller_expected=700)))
    assert words.to_go(told).endswith(
        'done, about 1 h 53 min to the first hypothesis, 2 h 38 min in all at this pace; '
        'L = 3 would take about 39 min')
    assert 'L =' not in words.to_go(replace(told, pace=10.0))
    assert figures.bar(progressing(1, 'x', 'tea')).text.endswith('to: tea')


@pytest.mark.parametrize(('seconds', 'text'), [
    (0.004, 'less than 1 s'), (1.2, '1 s'), (89, '89 s'), (90, '2 min'), (3600, '60 min'),
    (7260, '2 h 1 min'), (7200, '2 h'), (91_000, '25 h'), (172_799, '2 days'),
    (3 * 86400, '3 days')])
def test_durations(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


def test_the_pace_of_a_slow_robot_is_the_mean() -> None:
    report = {'steps_per_second': '0.0', 'phase': 'building/discovery'}
    assert words.rate(Telemetry(report=report, pace=0.31)) == ' (0.31 per second)'
    paused = Telemetry(report={**report, 'phase': 'paused'}, pace=0.31)
    assert words.rate(paused) == ' (0 per second)' and words.rate(Telemetry()) == ''


def test_who_is_not_there_is_told() -> None:
    where = 'namespace /, ROS domain 0'
    assert where in figures.presence(Telemetry(), 100.0, where)
    assert figures.presence(Telemetry(heartbeat=99.0), 100.0, where) == ''
    assert 'silent for 12 s' in figures.presence(Telemetry(heartbeat=88.0), 100.0, where)
    gone = Telemetry(heartbeat=99.0, gone=True)    # said at once, as no beat will come
    assert figures.presence(gone, 100.0, where).startswith(
        'The explorer has been gone for 1 s; it')


def test_a_robot_that_hangs_is_told_of() -> None:
    one = Telemetry(heartbeat=99.0, report={'unanswered': '12.4'})
    assert figures.presence(one, 100.0, '') == 'Robot: no answer for 12 s.'
    several = replace(one, robots=(
        RobotTelemetry('r1', 'ok', 'exploring', 20),
        RobotTelemetry('r2', 'ok', '', 14, None, 3.0)))
    assert figures.presence(several, 100.0, '') == 'Robot r2: no answer for 3 s.'
    for heard, robot in ((one, ''), (several, 'r2')):    # it is not to answer
        assert figures.presence(replace(heard, stopped=frozenset((robot,))), 100.0, '') == ''
    assert 'silent' in figures.presence(several, 110.0, '')
    tile = next(tile for tile in figures.tiles(several) if tile[0] == 'steps')
    assert tile == ('steps', '0', 'taken, 34 made by 2 robots; 0 per second')
    assert '<th>steps made</th>' in robots_table(several)


def test_each_robot_of_several_has_a_row() -> None:
    assert robots_table(Telemetry()) == ''
    table = robots_table(Telemetry(description=DESCRIPTION, robots=(
        RobotTelemetry('r1', 'ok', 'exploring', 1234, 7),
        RobotTelemetry('r2', 'error', 'fault: <b>'))))
    assert '<tr class="ok"><td>r1</td><td>1,234</td><td>door</td><td>exploring</td>' in table
    assert '<tr class="error"><td>r2</td><td></td><td></td><td>fault: &lt;b&gt;</td>' in table


def test_figures_to_be_seen_first() -> None:
    heard = Telemetry(known=(0, 1), true_setting=1, exploration_steps=2841, report={
        'steps': '12345', 'steps_per_second': '812.4', 'changes_noticed': '1', 'candidates': '3'})
    assert figures.tiles(heard) == [
        ('known', '2', 'states with a policy'),
        ('candidates', '3', 'places that are not known yet'),
        ('steps', '12,345', '812 per second'),
        ('changes', '1', 'noticed; simulated world: setting 1'),
        ('exploration', '2,841', 'steps without good policies')]
    trust = {state: PolicyTrust(trust, None, None, 0, '') for state, trust in (
        (1, Trust.DOUBTED), (5, Trust.CERTIFIED), (6, Trust.ASSUMED))}
    assert [remark for *_, remark in figures.tiles(replace(heard, trust=trust))[:2]] == [
        '1 doubted', '1 certified, 1 assumed']
    unknown = replace(heard, known=(), trust={**trust, 1: trust[5]})    # said once
    assert [remark for *_, remark in figures.tiles(unknown)[:2]] == ['2 certified', '1 assumed']
    mapped = replace(heard, trust={
        1: PolicyTrust(Trust.PROVEN, 2.5, 8.0, 7, 'of round 1', declared=3)})
    assert figures.tiles(mapped)[0] == ('known', '2', 'states with a policy, if the map is right')
    assert '2 known, if the map is right, 3' in words.progress(mapped)
    assert figures.about(mapped, 1)[-1] == (
        'its policy is proven, if the map is right: of round 1; 3 of its actions are as declared')
    assert [name for name, *_ in figures.tiles(Telemetry())] == [
        'known', 'candidates', 'steps', 'changes']


def test_evidence_against_thresholds() -> None:
    heard = Telemetry(description=DESCRIPTION, activity=Activity(tests=(
        Evidence('policy', 7, None, 3.14159, 5.3), Evidence('transition', 7, 1, 40, 20),
        Evidence('<b>', None, None, 1, 1234.5))))
    assert decisions(heard) == [
        ('policy to door', 'about half of the proof is done', '3.14 of 5.3',
         pytest.approx(0.5928, abs=1e-4)),
        ('west in door', 'enough evidence for a change', '40 of 20', 1.0),
        ('<b>', '1 of 1,234', '1 of 1,234', pytest.approx(1 / 1234.5))]
    table = decisions_table(heard)
    assert '&lt;b&gt;' in table and '<b>' not in table and 'width:59%' in table


@pytest.mark.parametrize(('kind', 'evidence', 'threshold', 'subject', 'said'), [
    ('certificate', 3.0, 9.0, 'certificate of door', '3 of about 9 executions'),
    ('detector', 3.0, 9.2, 'policy to door', 'little evidence against it'),
    ('detector', 6.0, 9.2, 'policy to door', 'some evidence against it'),
    ('detector', 9.1, 9.2, 'policy to door', 'much evidence against it'),
    ('proof', -1.0, 8.0, 'new proof of the policy to door', 'hardly any of the proof is done'),
    ('proof', 7.9, 8.0, 'new proof of the policy to door', 'nearly all of the proof is done')])
def test_evidence_in_words(
        kind: str, evidence: float, threshold: float, subject: str, said: str) -> None:
    told, = decisions(Telemetry(description=DESCRIPTION, activity=Activity(
        tests=(Evidence(kind, 7, None, evidence, threshold),))))
    assert told[:2] == (subject, said)


def test_a_detector_that_says_nothing_more_is_no_row() -> None:
    tests = tuple(Evidence('detector', state, None, evidence, 9.2)
                  for state, evidence in ((7, 0.0), (8, 3.0), (9, 3.0)))
    heard = Telemetry(activity=Activity(tests=tests), trust={
        8: PolicyTrust(Trust.DOUBTED, None, None, 0, ''),    # the map shows that it is doubted
        9: PolicyTrust(Trust.PROVEN, None, None, 0, '')})
    assert [row.subject for row in decisions(heard)] == ['policy to 9']


def test_a_search_shows_its_steps() -> None:
    search, = decisions(Telemetry(activity=Activity(
        tests=(Evidence('rediscovery', None, None, 84.0, 113640.0),))))
    assert search[:2] == ('search for new or changed ways', '84 of at most 113,640 steps')


def test_what_is_known_of_a_state() -> None:
    heard = Telemetry(known=(0, 7), counts={7: {0: {8: 3, 7: 1}, -1: {0: 9}}},
                      description=DESCRIPTION,
                      activity=Activity(home=0, limit=8.0, expected_steps={7: 3.456}))
    assert figures.about(heard, 7) == [
        'known: the robot reaches it reliably, on average within the limit of steps',
        'expected steps of its policy from home: 3.46, limit 8',
        'east, 4 times: 75% to 8, 25% to door']
    slow = replace(heard, trust={state: PolicyTrust(
        Trust.CERTIFIED, 2.5, 7.0, 0, 'seen', expected_seconds=seconds)
        for state, seconds in ((7, 130.0), (9, 0.004))})
    assert figures.about(slow, 7)[1:3] == [
        'expected steps of its policy from home: 3.46, about 2 min, limit 8',
        'its policy is certified: seen']
    assert figures.about(slow, 9) == [
        'certified: reached as reliably as a known place; other places are not decided yet',
        'expected steps of its policy from home: 2.50, limit 8', 'its policy is certified: seen']
    hinted = replace(heard, trust={
        7: PolicyTrust(Trust.DOUBTED, 2.5, None, 0, 'it failed: a hint')})
    assert figures.about(hinted, 7)[0].startswith('doubted: a change, or a hint of')
    assert figures.about(hinted, 7)[2] == 'its policy is doubted: it failed: a hint'
    assert figures.about(heard, 0)[0].startswith('home: RESET')
    assert 'not known yet' in figures.about(heard, 0)[1]
    assert figures.about(heard, 8)[0].startswith('met, but outside the radius')
    assert figures.about(heard, 9) == ['not met yet']


@pytest.mark.parametrize('text', ['nan', 'inf', '-inf', '1e300', 'x'])
def test_figures_that_cannot_be_are_left_out(text: str) -> None:
    heard = Telemetry(report=dict.fromkeys(
        ('steps', 'changes_noticed', 'candidates', 'steps_per_second'), text), reports=1)
    assert [value for _, value, _ in figures.tiles(heard)] == ['0', '0', '0', '\u2013']
    assert not Timeline().update(heard)
    assert figures.bar(progressing(812, text)).text == 'about 2,026 steps to the first hypothesis'


def test_a_time_without_end() -> None:
    assert figures.bar(progressing(0, '5e-324')).text == (
        'about 2,838 steps to the first hypothesis')


def test_the_page_has_the_last_one_first() -> None:
    heard = Telemetry(events=(Event(1, 'home is <here>', time=NOON),
                              Event(9, 'blocked', 'change', time=NOON + 60)))
    table = events_table(heard)
    at, then = (moment(time, '%a %H:%M:%S') for time in (NOON, NOON + 60))
    assert table.index(f'<tr class="change"><td>{then}</td><td>Blocked</td>') < table.index(
        f'<td>{at}</td><td>Home is &lt;here&gt;</td>')


@pytest.mark.parametrize(('name', 'value', 'label'), [
    ('changes', '1', 'change'), ('changes', '2', 'changes'), ('known', '0', 'places known'),
    ('candidates', '1', 'being examined')])
def test_figures_are_named_as_many_as_they_are(name: str, value: str, label: str) -> None:
    assert figures.tile_label(name, value) == label
