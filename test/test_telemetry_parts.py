# SPDX-License-Identifier: Apache-2.0

"""What has been heard of an explorer."""

from __future__ import annotations

from mnm_ros.core.progress.activity import Activity, Progress
from mnm_ros.view.telemetry import RobotsMet, RobotTelemetry, StepRate, Telemetry
from mnm_ros.view.words import late, made
import pytest


@pytest.mark.parametrize('text, number, count', [
    ('2', 2.0, 2), ('2.7', 2.7, 2), ('-1', -1.0, -1), ('many', None, None), ('inf', None, None),
    ('1e300', None, None), ('nan', None, None), ('', None, None)])
def test_numbers_of_the_diagnostics_may_be_garbled(
        text: str, number: float | None, count: int | None) -> None:
    heard = Telemetry(report={'steps': text})
    assert (heard.number('steps'), heard.count('steps')) == (number, count)
    assert heard.number('round') is None and heard.count('round') is None


def test_several_robots_are_met_once_and_have_reached_what_the_last_of_them_has() -> None:
    met = RobotsMet()
    assert met.new(['r1', 'r2', 'r1']) == ['r1', 'r2'] and met.new(['r2', 'r3']) == ['r3']
    assert [met.reached('r1', 1), met.reached('r2', 0), met.reached('r2', 1)] == [1, 0, 1]


def test_a_pause_does_not_change_the_pace() -> None:
    """Ten steps a second, before and after a pause of an hour."""
    pace, now, steps = StepRate(), 0.0, 0
    assert pace.update(steps, True, now) is None
    for length, exploring in ((60, True), (3600, False), (3, True)):
        for _ in range(length):
            now += 1.0
            steps += 10 * exploring
            found = pace.update(steps, exploring, now)
            assert found == pytest.approx(10.0) or now < 2.0
    heard = Telemetry(report={'phase': 'building/discovery'}, pace=found, activity=Activity(
        progress=Progress('first hypothesis', 600, 2600, 2000, 3000)))
    assert heard.seconds_left() == pytest.approx(200.0)
    nearly = Telemetry(report={'phase': 'checking/rediscovery'}, pace=100.0, activity=Activity(
        progress=Progress('check', 1380, 1400, 1000, 2000)))
    assert nearly.seconds_left() == 1.0    # not 0, while something is to be done


def test_a_slow_robot_has_an_even_pace() -> None:
    """One step in 3 s, of which a report each second says nothing or a step."""
    pace = StepRate()
    found = [pace.update(second // 3, True, float(second)) for second in range(120)]
    assert all(each == pytest.approx(1 / 3, rel=0.2) for each in found[30:])


def test_who_owes_an_answer_and_what_is_made() -> None:
    assert (late(Telemetry()), made(Telemetry())) == ('', '')
    assert Telemetry(report={'unanswered': '0.0'}).late == ()
    assert Telemetry(report={'unanswered': 'nan'}).late == ()
    fleet = Telemetry(report={'unanswered': '1200'}, robots=(
        RobotTelemetry('r1', 'ok', '', 1000, 0, 1200.0), RobotTelemetry('r2', 'ok', '', None, 0)))
    assert late(fleet) == 'r1: no answer for 1,200 s' and made(fleet) == (
        '1,000 made by 2 robots')
    assert made(Telemetry(robots=fleet.robots[:1])) == '1,000 made by 1 robot'
