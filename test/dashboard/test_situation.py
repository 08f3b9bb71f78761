# SPDX-License-Identifier: Apache-2.0

"""The page says first what follows from a change, and what the explorer is doing."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core.progress.activity import Activity, ClosedWay
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import (
    BatteryCharging,
    Because,
    CheckingAgainst,
    ExploreCalled,
    GoalUnderWay,
    PausedBy,
    PausedToGoHomeBy,
    SamplingStates,
    StaysAtGoal,
)
from mnm_ros.language import moment
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.web.situation import consequences, doing, phase_words
import pytest

FLAT = RobotDescription(
    ('go',), 0, names={0: 'dock', 3: 'kitchen 1', 4: 'kitchen 2', 5: 'study 1', 6: 'balcony'},
    rooms={'hall': (0, 1), 'kitchen': (3, 4), 'study': (5,), 'balcony': (6,)},
    doors={'hall-kitchen': ((1, 0),)})
AT = 1_800_000_000.0
PAGE = 'page 192.0.2.7'


@pytest.mark.parametrize(('lost', 'known', 'expected'), [
    ((), (0, 1), ''),
    ((3, 4, 6), (0, 1), 'Kitchen and balcony out of reach.'),
    ((4, 5), (0, 1, 3), 'Study and kitchen 2 out of reach.'),
    ((3, 4, 5, 6, 98, 99), (0, 1), 'Kitchen, study, balcony, state 98 and state 99 out of reach.'),
])
def test_the_rooms_out_of_reach_come_first(
        lost: tuple[int, ...], known: tuple[int, ...], expected: str) -> None:
    heard = Telemetry(description=FLAT, known=known, activity=Activity(lost=lost, home=0))
    assert consequences(heard) == expected
    closed = replace(heard, activity=replace(
        heard.activity, closed=(ClosedWay(1, 0, next_try=AT), ClosedWay(5, 0, AT))))
    assert consequences(closed) == (
        f'{expected} Door hall-kitchen closed, next try by {moment(AT)}; "go" in study 1 blocked '
        f'since {moment(AT)}.'.strip())


def test_it_is_said_in_plain_words() -> None:
    heard = Telemetry(description=FLAT, activity=Activity(
        sentence='sampling 2 states: 3 more executions', said=SamplingStates(2, 3)))
    assert doing(heard) == 'Trying out 2 places: 3 more moves'
    checking = replace(heard, activity=Activity(said=CheckingAgainst(6, 0.3, 9.2)))
    assert doing(checking) == 'Checking that the way to balcony still works'
    assert doing(Telemetry(status='own words')) == 'Own words'
    assert doing(Telemetry()) == 'No message has arrived yet.'
    assert doing(replace(heard, stopped=frozenset(('',)))) == 'Stopped. Press Go on.'


def test_an_activity_of_before_the_phase_is_not_shown() -> None:
    """The explorer publishes its activity once a second, and a new phase at once."""
    sampling, goal = SamplingStates(2, 3), Because('paused', GoalUnderWay(6))
    heard = Telemetry(phase='paused', description=FLAT, activity=Activity(
        said=sampling, home=0, current=0))
    assert doing(heard) == 'Paused'
    heard = replace(heard, phase='checking/rediscovery')
    assert doing(heard) == 'Trying out 2 places: 3 more moves'
    heard = replace(heard, activity=replace(heard.activity, said=goal))
    assert doing(heard) == 'Checking' and phase_words(heard) == 'checking'
    assert doing(replace(heard, phase='waiting_for_robot')) == 'Waiting for the robot'
    heard = replace(heard, phase='paused')
    assert doing(heard) == 'Paused: the robot is on the way to the goal balcony'
    assert phase_words(heard) == 'paused for a goal'


def test_a_pause_says_from_where_and_when() -> None:
    heard = Telemetry(phase='paused', description=FLAT, activity=Activity(
        said=Because('paused', ExploreCalled()), home=0, current=3))
    # It is not heard who has called.
    assert doing(heard) == 'Paused: the service explore was called'
    pause = Event(9, 'paused', 'pause', time=AT, by=PAGE, said=PausedBy(PAGE))
    later = Event(9, 'saved', 'command', time=AT + 60)
    at = moment(AT, '%H:%M')
    heard = replace(heard, events=(pause, later))
    assert doing(heard, PAGE) == f'Paused from this page at {at}'
    assert doing(heard, 'page 192.0.2.8') == f'Paused by {PAGE} at {at}'
    home = replace(heard, events=(replace(pause, said=PausedToGoHomeBy(PAGE)),))
    assert doing(home, PAGE) == f'Paused to go home from this page at {at}'
    there = replace(home, activity=replace(home.activity, current=0))
    assert doing(there, PAGE) == f'At home in dock. Paused to go home from this page at {at}'
    charging = replace(there, activity=replace(
        there.activity, said=Because('paused', BatteryCharging(42, 20.0, 80.0))))
    assert doing(charging, PAGE) == 'At home in dock. Charging: 42% of 80%'    # a line of a phone
    # Another reason is not the one of an earlier pause.
    stays = replace(heard, activity=Activity(said=Because('paused', StaysAtGoal(6, 60.0))))
    shown = 'Paused: at the goal balcony for 60 s; explores then, or when you press Go on'
    assert doing(stays, PAGE) == shown
    # At home the robot is not at rest there, but about to leave, or at its goal.
    for why in (StaysAtGoal(0, 60.0), GoalUnderWay(6)):
        at_home = replace(stays, activity=Activity(said=Because('paused', why), home=0, current=0))
        assert not doing(at_home, PAGE).startswith('At home')
