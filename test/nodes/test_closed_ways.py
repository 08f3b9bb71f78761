# SPDX-License-Identifier: Apache-2.0

"""It is told which ways are closed, since when, and when they are tried again, or at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import re
import time

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.progress.events import Event, PairChange
from mnm_ros.core.progress.said import WaysClosed, WayStillClosed
from mnm_ros.language import moment
from mnm_ros.nodes.exploring.look_times import LookTimes
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.event_words import closed_way
from node_processes import DEADLINE, Peer, ScriptedRobot
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import Trigger

DOOR, WALL = (5, 0), (6, 1)
NOON = 1.8e9


class Clock:
    """The times of looks, by a clock that is set."""

    def __init__(self, first: float = 600.0, *past: Event) -> None:
        self.now = NOON
        self.times = LookTimes(lambda: first, past, lambda: self.now)


def closes(at: float) -> Event:
    return Event(7, 'blocked', 'change', PairChange(*DOOR, {6: 9}, {5: 4}, time=at), time=at + 60)


def test_looks_come_later_each_time_until_the_way_is_open() -> None:
    clock, times = Clock(), []
    for looks in range(4):
        assert clock.times.update({DOOR: looks}, 0) == [DOOR]
        begun = clock.now
        while not clock.times.due(0):
            assert clock.times.update({DOOR: looks}, 0) == []
            clock.now += 60.0
        times.append(clock.now - begun)
        assert clock.times.due(0) == []    # it is due once
    assert times == [600.0, 1200.0, 2400.0, 4800.0]
    assert clock.times.update({}, 0) == [] and not clock.times.closed


def test_it_is_said_since_when_and_until_when() -> None:
    clock = Clock(600.0, closes(NOON - 300))    # as kept before a restart
    clock.times.update({DOOR: 0}, 0)
    named = RobotDescription(('go', 'stay'), names={5: 'hall', 6: 'bath'})

    def in_words() -> list[str]:
        return [closed_way(way, named) for way in clock.times.closed.values()]

    said = f'"go" in hall blocked since {moment(NOON - 300)}, next try by {moment(NOON + 600)}'
    assert in_words() == [said]
    clock.times.update({DOOR: 0, WALL: 1}, 0)
    assert in_words() == [
        said, f'"stay" in bath blocked, next try by {moment(NOON + 1200)}']
    clock.times.look_now()
    assert in_words()[0] == f'"go" in hall blocked since {moment(NOON - 300)}'
    assert clock.times.due(10**9) == []
    never = Clock(0.0)
    never.times.update({DOOR: 0}, 0)
    never.now += 1e9
    assert never.times.due(10**9) == []


def test_a_fast_robot_looks_again_after_some_steps_whatever_the_clock_says() -> None:
    """Issue: one example took 7,000 or 70,000 steps, by how fast the machine was."""
    clock = Clock(600.0)
    clock.times.update({DOOR: 0}, 1_000)
    assert clock.times.due(1_199) == [] and clock.times.due(1_200) == [DOOR]
    assert clock.times.due(9_999) == []    # it is under way
    way, = clock.times.closed.values()    # what is published of it stays the same
    assert way.next_try == NOON + 600
    clock.now += 601
    assert clock.times.due(9_999) == [] and clock.times.closed[DOOR].next_try is None
    clock.now = NOON
    clock.times.update({DOOR: 1}, 1_210)
    assert clock.times.due(1_609) == [] and clock.times.due(1_610) == [DOOR]


def test_a_restart_postpones_no_try() -> None:
    """Or a robot that is switched off each night would never try a way that stays closed."""
    announced = Event.from_json(Event(
        1_000, 'closed', said=WaysClosed((DOOR,)), time=NOON - 500).to_json())
    clock = Clock(600.0, closes(NOON - 560), announced)
    assert clock.times.update({DOOR: 0}, 1_100) == []    # it was an event before
    assert clock.times.closed[DOOR].next_try == NOON + 100
    assert clock.times.due(1_199) == [] and clock.times.due(1_200) == [DOOR]
    assert clock.times.update({DOOR: 1}, 1_210) == [DOOR]    # a try in vain begins another wait
    assert clock.times.closed[DOOR].next_try == NOON + 1200
    for last in (Event(1_210, '', said=WayStillClosed(1, *DOOR)), closes(NOON)):
        clock = Clock(600.0, announced, last)    # and no next try was announced since
        assert clock.times.update({DOOR: 0}, 1_300) == [DOOR]
        assert clock.times.closed[DOOR].next_try == NOON + 600
    clock = Clock(600.0, replace(announced, time=NOON + 9e9, step=10**9))
    clock.times.update({DOOR: 0}, 0)    # the clock has gone back, and steps are lost
    assert clock.times.closed[DOOR].next_try == NOON + 600 and clock.times.due(200) == [DOOR]


def test_a_way_that_closes_is_left_alone_and_found_open_by_a_look(
        knowing: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """The button of the page, ``mnm_ros look`` and the clock do the same."""
    knowing(first_look=86400.0)
    status, heard = peer.listen(String, 'status'), peer.listen(String, 'events', messages.EVENTS)
    reports = peer.listen(DiagnosticArray, '/diagnostics', 10)
    policies = peer.listen(Int64MultiArray, 'policies')

    def closed() -> str:
        return next((value.value for report in reports[-1:] for value in report.status[0].values
                     if value.key == 'closed'), '')

    def events() -> list[str]:
        return [Event.from_json(message.data).text for message in heard]
    peer.wait_for(lambda: policies[-1].layout.dim[0].size == 3, 'three states')
    assert peer.call(Trigger, 'look').message == 'no way is closed'
    move = robot.move
    robot.move = lambda action: 0 if action == -1 else robot.state    # everything is blocked
    peer.wait_for(closed, 'closed ways')
    assert re.search(r'blocked( since \w+ \d\d:\d\d)?, next try by \w+ \d\d:\d\d', closed())
    peer.wait_for(lambda: 'blocked' in status[-1].data, 'the status')
    assert any('next try' in text for text in events())
    robot.move = move
    deadline = time.monotonic() + DEADLINE
    while closed() and time.monotonic() < deadline:
        response = peer.call(Trigger, 'look')
        if not response.success:    # which the report says later
            peer.wait_for(lambda: not closed(), response.message)
        peer.spin(1.0)
    assert not closed() and any('is open again' in text for text in events())
    peer.wait_for(lambda: policies[-1].layout.dim[0].size == 3, 'three states again')
