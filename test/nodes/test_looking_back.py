# SPDX-License-Identifier: Apache-2.0

"""The page keeps what it has shown, and shows it again as it was."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import WaysClosed
from mnm_ros.messages import PolicySet
from mnm_ros.page.looking_back import LookingBack
from mnm_ros.page.page_subscriptions import SharedLayers
from mnm_ros.page.played_log import PlayedLog
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.telemetry import Ground, Telemetry
from mnm_ros.view.web.layers import draw, Places, policy_arrows
import pytest
from std_msgs.msg import Int64MultiArray


class PolicyTrust:
    """What has been heard, by hand."""

    policies: Int64MultiArray | None = None

    def __init__(self) -> None:
        self.heard = Telemetry()
        self.back = LookingBack(self)    # type: ignore[arg-type]
        self.now = 100.0

    def hear(self, steps: int, *new: Event, seconds: float = 0.0, **fields: object) -> None:
        self.heard = replace(
            self.heard, report={'steps': str(steps)}, events=(*self.heard.events, *new), **fields)
        self.go_by(seconds)

    def go_by(self, seconds: float) -> None:
        """Let the node look ten times a second."""
        for _ in range(round(10 * seconds)):
            self.now += 0.1
            self.back.look(self.now)

    @property
    def kept(self) -> list[tuple[int, str]]:
        return [(moment.step, moment.event.text if moment.event else '')
                for moment in self.back.past.moments]


def chain(length: int) -> dict[int, dict[int, dict[int, int]]]:
    return {state: {0: {state + 1: 5}} for state in range(length)}


def policies(*states: int) -> Int64MultiArray:
    return PolicySet.of(Hypothesis(1, 0, 4, tuple(
        Policy(target, 4, states, ((0,) * len(states),)) for target in states))).to_msg()


def test_a_moment_every_two_seconds_in_which_something_happens() -> None:
    told = PolicyTrust()
    told.go_by(5.0)
    assert told.kept == []    # nothing has been heard
    told.hear(10, seconds=60.0)
    assert told.kept == [(10, '')]
    for steps in range(11, 111):
        told.hear(steps, seconds=0.1)
    assert 4 <= len(told.kept) - 1 <= 6


def test_an_event_is_shown_with_what_follows_from_it() -> None:
    told = PolicyTrust()
    told.hear(10, seconds=5.0)
    told.hear(20, Event(20, 'round 1'), Event(20, 'it moved', 'change'), Event(20, 'more'))
    told.go_by(0.5)
    told.hear(20, known=(0, 1))
    told.go_by(2.0)
    assert told.kept == [(10, ''), (20, 'it moved')]
    then = told.back.then(told.back.past.moments[1], Places(), draw(told.heard, Places()))
    assert then.heard.known == (0, 1) and then.told('en').endswith(', step 20: it moved')


def test_a_way_that_stays_closed_is_not_said_to_have_closed() -> None:
    """The explorer publishes the closed ways again after each test move."""
    told = PolicyTrust()
    told.hear(10, seconds=5.0)
    told.hear(20, Event(20, 'blocked', 'change'), Event(20, 'closed', said=WaysClosed(((1, 0),))))
    told.go_by(5.0)
    told.hear(30, Event(30, 'closed again', said=WaysClosed(((1, 0),))))
    told.go_by(5.0)
    assert told.kept == [(10, ''), (20, 'blocked'), (30, '')]


def test_news_without_end_are_no_reason_to_keep_nothing() -> None:
    told = PolicyTrust()
    for steps in range(200):
        told.hear(steps, Event(steps, f'event {steps}'), seconds=0.1)
    assert len(told.kept) >= 4


def test_a_moment_is_found_whatever_the_clock_said() -> None:
    """It may be set back, and in a log what has no event has no time."""
    told = PolicyTrust()
    for clock in (9.0, 8.0, None):
        told.hear(3, Event(3, f'{clock}'))
        told.back.keep(clock)
    told.back.keep()
    moments, places = told.back.past.moments, Places()
    assert [told.back.then(moment, places, draw(told.heard, places)).among(moments)
            for moment in moments] == [0, 1, 2, 3]


def test_what_was_heard_is_shown_again_and_nothing_moves() -> None:
    told, places = PolicyTrust(), Places(clock=lambda: 0.0)
    told.hear(10, counts=chain(3), known=(0, 1, 2), activity=Activity(step=10, current=1, home=0))
    told.policies = policies(0, 1, 2)
    draw(told.heard, places)
    told.go_by(3.0)
    before = told.heard
    told.hear(500, counts={**chain(9), 5: {0: {0: 7}}}, known=(0, 1),
              activity=Activity(step=500, current=5, home=0, lost=(2,)))
    told.policies = policies(0, 1)
    for _ in range(60):
        now = draw(told.heard, places)
    where = dict(places.latest)
    then = told.back.then(told.back.past.moments[0], places, now)
    assert then.heard == before
    entries = {entry[0]: entry for entry in then.layers['states']}
    assert {state: entry[4] for state, entry in entries.items()} == {
        '0': 'home', '1': 'known', '2': 'known', '3': 'beyond'}
    assert all(where[int(state)][:2] == pytest.approx(entry[1:3], abs=0.006)
               for state, entry in entries.items())
    assert len(then.layers['links']) == 3 and then.layers['box'] == now['box']
    assert then.arrows(2)['arrows'] and then.arrows(3) is None
    assert places.latest == where and draw(told.heard, places) == now


def test_map_walls_names_and_doors_are_those_of_then() -> None:
    """Issue: the walls of today were drawn at a step before the door was closed."""
    here = {0: (0.0, 0.0), 1: (1.0, 0.0)}
    told, places = PolicyTrust(), Places()
    told.hear(1, description=RobotDescription(('east',), 0, 'map', {0: 'porch'}, here),
              known=(0, 1), ground=Ground(
                  'then', (0.0, 0.0), (2.0, 1.0), ((0.5, 0.0, True),), 0.2))
    told.go_by(3.0)
    named = RobotDescription(
        ('east',), 0, 'map', {0: 'door', 1: 'hall'}, here, ((0.5, -1.0, 0.5, 1.0),))
    told.hear(2, description=named, ground=Ground(
        'now', (0.0, 0.0), (4.0, 1.0), ((0.5, 0.0, False),), 0.2))
    now = draw(told.heard, places)
    layers = told.back.then(told.back.past.moments[0], places, now).layers
    assert layers['ground'] == {
        **now['ground'], 'image': 'then', 'width': 2.0,
        'doors': [[*now['ground']['doors'][0][:3], True]]}
    assert now['walls'] and layers['walls'] == ''
    assert [entry[5] for entry in layers['states']] == ['porch', 'hall']    # no name until now
    told.go_by(3.0)
    told.hear(3, seconds=3.0)
    worlds = [moment.world for moment in told.back.past.moments]
    assert worlds[0] != worlds[1] and worlds[1] is worlds[2]    # kept once


def test_a_log_that_is_played_becomes_the_past() -> None:
    """With the times that are known, and a timeline; its end stands for now."""
    shared = SharedLayers(PlayedLog(), None, {'log': 'here'})
    known = Hypothesis(1, 0, 4, tuple(Policy(to, 4, (0, 1), ((0, 0),)) for to in (0, 1)))
    events = Event(2, 'round 1'), Event(3, 'paused', 'pause', time=1.8e9)
    for steps, targets, told in ((1, (), ()), (2, (0, 1), events[:1]), (3, (0, 1), events)):
        shared.play(Telemetry(report={'steps': str(steps)}, known=targets, counts=chain(1),
                              events=told), known if targets else None)
    assert [(moment.step, moment.time, moment.event.text if moment.event else '')
            for moment in shared.looking_back.past.moments] == [
        (1, 0.0, ''), (2, 0.0, 'round 1'), (3, 1.8e9, 'paused')]
    assert shared.update().known == (0, 1) and shared.layers['states']
    thens = [shared.looking_back.then(moment, shared.places, shared.layers)
             for moment in shared.looking_back.past.moments]
    assert [then.heard.known for then in thens] == [(), (0, 1), (0, 1)]
    assert thens[1].arrows(1) == policy_arrows(
        shared.subscriptions.heard, shared.subscriptions.policy_to(1), shared.places.latest)
    assert thens[0].arrows(1) is None and thens[1].told('en') == 'step 2: round 1'
    assert thens[2].told('en').endswith(', step 3: paused')
    series = {entry['name']: entry['data'] for entry in shared.chart('en')['series']}
    assert series['known'] == [[1, 0], [2, 2], [3, 2]]


def test_policies_that_cannot_be_read_are_not_shown() -> None:
    told, places = PolicyTrust(), Places()
    told.hear(1, known=(0, 1), counts=chain(2))
    told.policies = Int64MultiArray(data=[1, 2, 3])
    now = draw(told.heard, places)
    told.go_by(3.0)
    assert told.back.then(told.back.past.moments[0], places, now).arrows(1) is None
