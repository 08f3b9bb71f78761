# SPDX-License-Identifier: Apache-2.0

"""Events have clock times, also those of what began before, and tell of each of several robots."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from mnm_ros.core.progress.events import Event, MovesChange, PairChange
from mnm_ros.core.progress.said import (
    Because,
    ChangeRelearnt,
    ExploreCalled,
    ExploreCalledBefore,
    MostHasChanged,
    PairChanged,
    StatesAdded,
    StaysAtGoal,
    WayStillClosed,
)
from mnm_ros.core.task.step_task import RunState
from mnm_ros.language import moment
from mnm_ros.nodes.exploring.link.link import RobotReport
from mnm_ros.nodes.exploring.output.event_topic import EventTopic
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
import pytest


class World:
    """An explorer's node, and its clock."""

    def __init__(self, *past: Event, language: str = 'en') -> None:
        self.now = 1.8e9
        self.kept: list[Event] = []
        self.published: list[Event] = []
        topic = SimpleNamespace(
            publish=lambda message: self.published.append(Event.from_json(message.data)))
        self.events = EventTopic(SimpleNamespace(
            create_publisher=lambda kind, name, qos: topic,
            create_subscription=lambda kind, name, callback, qos: None),
            language, past, self.kept.append, lambda: self.now)


def test_what_was_before_comes_first_and_is_not_kept_again() -> None:
    past = [Event(step, 'old', time=1.7e9 + step) for step in range(99)]
    world = World(*past)
    told = world.events.tell(Event(99, 'new'), UNDESCRIBED)
    assert told == Event(99, 'new', time=1.8e9)
    assert world.published == [*past[-50:], told] and world.kept == [told]


@pytest.mark.parametrize(('step', 'ago'), [
    (None, None), (4, None), (10, 9.0), (11, 8.0), (55, 4.0), (100, 0.0), (101, 0.0)])
def test_when_it_began(step: int | None, ago: float | None) -> None:
    """It is told a second too late at most, and not if nothing was known of the time by then."""
    world = World()
    for second in range(10):
        world.events.pass_time(10 + 10 * second)
        world.now += second < 9
    told = world.events.tell(
        Event(100, '', 'change', PairChange(1, 0, {2: 9}, {1: 3}, step)), UNDESCRIBED)
    assert told.change.time == (None if ago is None else world.now - ago)


def test_a_change_of_many_moves_has_the_times_of_its_beginning() -> None:
    world = World()
    for second in range(10):
        world.events.pass_time(10 + 10 * second)
        world.now += second < 9
    moves = MovesChange(((1, 0, 2),), None, (95, 100), (60, 100), 55, 100)
    told = world.events.tell(
        Event(100, '', 'change', moves=moves, said=MostHasChanged(1, 2)), UNDESCRIBED)
    assert told.moves is not None
    assert (told.moves.time, told.moves.latest_time) == (world.now - 4.0, world.now)
    assert world.events.in_words(MostHasChanged(1, 2), UNDESCRIBED, 'en') == told.text


def test_the_status_of_a_change_has_the_words_of_its_event() -> None:
    """Issue: it said no more than that an action leads elsewhere than before."""
    world, hall = World(), RobotDescription(('go',), names={5: 'hall'})
    change = Event(7, '', 'change', PairChange(5, 0, {6: 9}, {5: 4}), said=PairChanged(1, 5, 0))
    text = world.events.tell(change, hall).text
    world.events.tell(Event(8, '', 'change', said=ChangeRelearnt()), hall)
    assert text == '"go" in hall blocked (4 of 4 tries failed, 9 of 9 worked before)'
    assert world.events.in_words(PairChanged(1, 5, 0), hall, 'en') == text
    assert world.events.in_words(StatesAdded(1, (5,)), hall, 'en') == (
        'round 1: hall found, added')
    assert world.events.in_words('', hall, 'en') == World().events.in_words(
        '', hall, 'en') == ''
    # The list of closed ways beside the status does not name this one again.
    assert world.events.named(PairChanged(1, 5, 0)) == (5, 0)
    assert world.events.named(WayStillClosed(1, 6, 0)) == (6, 0)
    assert world.events.named(StatesAdded(1, (5,))) is World().events.named('') is None


@pytest.mark.parametrize('restarted', [False, True])
def test_a_way_that_has_closed_works_again(restarted: bool) -> None:
    def change(before: dict[int, int], after: dict[int, int]) -> Event:
        return Event(7, '', 'change', PairChange(5, 0, before, after))

    world, hall = World(), RobotDescription(('go',), names={5: 'hall', 6: 'bath'})
    assert world.events.tell(change({5: 9}, {6: 4}), hall).text.startswith(
        '"go" in hall leads to bath (')    # it has never worked
    closed = world.events.tell(change({6: 9}, {5: 4}), hall)
    world = World(closed) if restarted else world
    hint = world.events.tell(replace(change({5: 9}, {6: 4}), kind='hint'), hall)
    opened = world.events.tell(change({5: 9}, {6: 4}), hall)
    assert hint.text.startswith('"go" in hall may work again (')
    assert opened.text == '"go" in hall works again (4 of 4 tries worked, 9 of 9 failed before)'
    assert Event.from_json(opened.to_json()) == opened


CALLED = 'paused: the service explore was called'


@pytest.mark.parametrize(('by', 'text'), [
    ('page 192.0.2.7', 'paused to go home, by page 192.0.2.7'), ('service return_home', CALLED)])
def test_the_page_alone_pauses_to_go_home(by: str, text: str) -> None:
    world = World()
    world.events.tell(Event(7, '', 'command', by=by, what='home'), UNDESCRIBED)
    assert world.events.tell(
        Event(7, CALLED, 'pause'), UNDESCRIBED, ExploreCalled()).text == text


def test_the_status_of_a_pause_says_by_whom_and_when() -> None:
    """Issue: after ``mnm_ros pause`` it was that a service was called."""
    world = World()
    said, at = Because('paused', ExploreCalled()), moment(world.now, '%H:%M')

    def status(of: World, why: Because = said) -> str:
        return of.events.in_words(why, UNDESCRIBED, 'en')

    def pause(by: str) -> None:
        world.events.tell(Event(7, '', 'command', by=by, what='pause'), UNDESCRIBED)
        world.events.tell(Event(7, CALLED, 'pause'), UNDESCRIBED, ExploreCalled())

    assert status(world) == CALLED    # it is not heard yet who has called
    pause('mnm_ros pause')
    assert status(world) == f'paused by mnm_ros pause at {at}'
    # After a restart.
    before = Because('paused', ExploreCalledBefore())
    again = World(*world.kept)
    assert status(again, before) == f'paused by mnm_ros pause at {moment(world.now)}'
    again.events.tell(Event(7, 'paused', 'pause'), UNDESCRIBED, ExploreCalledBefore())
    assert status(World(*world.kept, *again.kept), before) == status(again, before)
    assert status(World(), before) == 'paused: the pause began before the restart, and continues'
    # Another reason is not that of the last pause, which ends.
    assert status(world, Because('paused', StaysAtGoal(6, 60.0))).startswith('paused: the robot')
    world.events.tell(Event(9, 'exploring', 'pause'), UNDESCRIBED)
    assert status(world) == CALLED
    pause('service explore')
    assert status(world) == f'paused by service explore at {at}'
    world.events.tell(Event(9, '', 'command', by='panel', what='pause',
                            corrects='service explore'), UNDESCRIBED)
    assert status(world) == f'paused by panel at {at}'


def test_a_time_of_an_event_is_when_it_happened() -> None:
    world = World()
    assert world.events.tell(Event(7, 'stop', time=world.now - 1.0), UNDESCRIBED).time == (
        world.now - 1.0)


def test_a_robot_of_several_that_stops_and_goes_on() -> None:
    world = World()

    def watch(goal: str = '', **robots: RunState) -> list[tuple[str, str]]:
        before = len(world.published)
        world.events.watch([
            RobotReport(name, state, f'{state.value} in hall', {}, name == goal)
            for name, state in robots.items()], 7, RobotDescription(('go',), names={5: 'hall'}))
        return [(event.kind, event.text) for event in world.published[before:]]

    run, wait, fault = RunState.RUNNING, RunState.WAITING_FOR_ROBOT, RunState.FAULT
    assert watch() == watch(r1=run, r2=wait) == watch(r1=run, r2=wait) == []
    assert watch(r1=fault, r2=run) == [
        ('fault', 'r1: fault in hall'), ('robot', 'r2: running in hall')]
    assert watch(r1=run, r2=run) == [('robot', 'r1: running in hall')]
    # The events of a goal say it.
    assert watch('r1', r1=RunState.PAUSED, r2=run) == watch(r1=wait, r2=run) == []
    assert watch(r1=run, r2=run) == []
    watch('r1', r1=RunState.PAUSED, r2=run)
    assert watch(r1=fault, r2=run) == [('fault', 'r1: fault in hall')]


def test_another_language_changes_the_sentences_alone() -> None:
    """Programs read values: these are the same in each language."""
    hall = RobotDescription(('go',), names={5: 'hall'})
    events = [Event(7, '', 'change', PairChange(5, 0, {6: 9}, {5: 4}), said=PairChanged(1, 5, 0)),
              Event(8, '', 'command', by='service save', what='save', state=5),
              Event(9, '', said=StatesAdded(1, (5,)))]
    english, german = World(), World(language='de')
    for world in (english, german):
        for event in events:
            world.events.tell(event, hall)
    told = [event.text for event in german.published]
    assert told[1:] == ['Speichern angefordert bei hall, durch den Dienst save',
                        'Runde 1: hall gefunden und aufgenommen']
    assert german.events.in_words(PairChanged(1, 5, 0), hall, 'de') == told[0]
    assert [replace(event, text='') for event in german.published] == [
        replace(event, text='') for event in english.published]
    assert not {*told} & {event.text for event in english.published}
