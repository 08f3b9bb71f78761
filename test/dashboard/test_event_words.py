# SPDX-License-Identifier: Apache-2.0

"""What has happened is told as people say it."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core.progress.events import Event, MovesChange, PairChange, WaysChange
from mnm_ros.core.progress.said import (
    ActionChanged,
    as_said,
    HintWithdrawn,
    InWords,
    MostHasChanged,
    StatesAdded,
    WayOpen,
    WaysClosed,
    WayStillClosed,
)
from mnm_ros.language import moment
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.event_words import condensed, merged, told, tone
import pytest

FLAT = RobotDescription(('north', 'east'), names={5: 'r1c2', 6: 'r1c3', 9: 'r0c4'})
NOWHERE = RobotDescription(('north', 'east'))
AT = 1_800_000_000.0
SINCE = f'since {moment(AT)}'


@pytest.mark.parametrize(('change', 'sentence', 'hint'), [
    (PairChange(5, 1, {6: 40, 5: 1}, {5: 9}, 7, AT),
     f'"east" in r1c2 blocked {SINCE} (9 of 9 tries failed, 40 of 41 worked before)',
     '"east" in r1c2 may be blocked (9 of 9 tries failed); not certain yet'),
    (PairChange(5, 1, {5: 12}, {6: 1_000, 7: 8}),
     '"east" in r1c2 leads to r1c3 (1,000 of 1,008 tries worked, 12 of 12 failed before)',
     '"east" in r1c2 may lead to r1c3 (1,000 of 1,008 tries worked); not certain yet'),
    (PairChange(5, 1, {6: 40}, {9: 9}),
     '"east" in r1c2 leads to r0c4 (9 of 9 tries, 40 of 40 to r1c3 before)',
     '"east" in r1c2 may lead to r0c4 (9 of 9 tries); not certain yet'),
    (PairChange(7, 4, {6: 40, 7: 1}, {6: 6, 7: 4}, 7, AT),
     f'action 4 in state 7 leads to r1c3 less often {SINCE} (6 of 10 tries, 40 of 41 before)',
     'action 4 in state 7 may lead to r1c3 less often (6 of 10 tries); not certain yet'),
    (PairChange(7, 4, {6: 40, 7: 1}, {7: 11, 6: 5}),
     'action 4 in state 7 leads to r1c3 less often (5 of 16 tries, 40 of 41 before)',
     'action 4 in state 7 may lead to r1c3 less often (5 of 16 tries); not certain yet'),
    (PairChange(5, 1, {6: 40}, {5: 18, 6: 2}),
     '"east" in r1c2 blocked (18 of 20 tries failed, 40 of 40 worked before)',
     '"east" in r1c2 may be blocked (18 of 20 tries failed); not certain yet')])
def test_where_an_action_leads(change: PairChange, sentence: str, hint: str) -> None:
    assert told(Event(9, 'changed', 'change', change), FLAT) == sentence
    assert told(Event(9, 'hint', 'hint', change), FLAT) == hint    # a person may go again


def test_a_way_that_leads_where_it_led_before_works_again() -> None:
    change = PairChange(5, 1, {5: 60}, {6: 9}, again=True)
    assert told(Event(9, '', 'change', change), FLAT) == (
        '"east" in r1c2 works again (9 of 9 tries worked, 60 of 60 failed before)')
    assert told(Event(9, '', 'hint', change), FLAT) == (
        '"east" in r1c2 may work again (9 of 9 tries worked); not certain yet')
    closed = PairChange(5, 1, {6: 40}, {5: 9}, again=True)
    assert told(Event(9, '', 'change', closed), FLAT).startswith('"east" in r1c2 blocked (')
    assert change.reverts(closed) and not change.reverts(change)
    less = PairChange(5, 1, {6: 40}, {6: 9, 5: 3})
    assert not less.reverts(less)


@pytest.mark.parametrize(('before', 'after', 'said', 'hint'), [
    ({6: 93}, {5: 6}, 'door hall-kitchen closed (6 of 6 tries failed, 93 of 93 worked before)',
     'door hall-kitchen may be closed (6 of 6 tries failed); not certain yet'),
    ({5: 9}, {6: 40}, 'door hall-kitchen open (40 of 40 tries worked, 9 of 9 failed before)',
     'door hall-kitchen may be open (40 of 40 tries worked); not certain yet'),
    ({6: 40}, {9: 9}, '"east" in r1c2 leads to r0c4 (9 of 9 tries, 40 of 40 to r1c3 before)',
     '"east" in r1c2 may lead to r0c4 (9 of 9 tries); not certain yet')])
def test_a_door_has_its_name(before: dict, after: dict, said: str, hint: str) -> None:
    doors = RobotDescription(FLAT.actions, names=FLAT.names, doors={'hall-kitchen': ((5, 1),)})
    for description in (doors, RobotDescription.from_text(doors.to_text())):
        for kind, sentence in (('change', said), ('hint', hint)):
            assert told(Event(9, 'changed', kind, PairChange(5, 1, before, after)),
                        description) == sentence


@pytest.mark.parametrize(('ways', 'sentence'), [
    (WaysChange((5, 6, 7), (9,)), 'r0c4 out of reach; another way is taken to 3 places'),
    (WaysChange((5,), (), (9, 1)),
     'r0c4 and state 1 within reach now; another way is taken to 1 place'),
    (WaysChange((), tuple(range(5, 12))),
     'r1c2, r1c3, state 7, state 8, r0c4 and 2 more out of reach'),
    (WaysChange((), (9,), away={9: 5.0}, radius=4.0),
     'r0c4 out of reach (now 5 steps away, L is 4)'),
    (WaysChange((), (5, 6, 9), away={9: 3.25}, radius=4.0),
     'r1c2 and r1c3 out of reach (no known way); '
     'r0c4 out of reach (now 3.25 steps away, but no policy is certified)'),
    (WaysChange(), 'all places are reached as before')])
def test_what_has_come_of_a_change(ways: WaysChange, sentence: str) -> None:
    assert told(Event(9, 'relearnt', 'change', ways=ways), FLAT) == f'{sentence}; relearnt'


@pytest.mark.parametrize(('what', 'text', 'sentence'), [
    ('improve', 'state 6', 'improvement of policies requested, by mnm_ros improve: state 6'),
    ('look', '', 'tries of closed ways requested, by mnm_ros look'),
    ('save', '', 'save requested at r1c2, by mnm_ros save')])
def test_where_the_robot_is_is_not_read_as_what_it_is_about(
        what: str, text: str, sentence: str) -> None:
    event = Event(9, '', 'command', state=5, what=what, by=f'mnm_ros {what}',
                  said=as_said(text))
    assert told(event, FLAT) == sentence


HOUSE = RobotDescription(
    ('go',), 0, names={0: 'hall 1', 3: 'store 1', 4: 'store 2', 5: 'study 1', 7: 'library 1'},
    rooms={'hall': (0, 1), 'store': (3, 4), 'study': (5, 6), 'library': (7,)})


@pytest.mark.parametrize(('ways', 'sentence'), [
    (WaysChange((), (3, 4), (), (0, 1, 5)), 'store out of reach'),
    (WaysChange((), (3, 4, 5, 6), (), (0, 1)), 'store and study out of reach'),
    (WaysChange((), (3, 5), (), (0, 4)), 'study out of reach; store 1 out of reach'),
    (WaysChange((5, 6), (3,), (), (0, 5, 6), (1, 7, 6)),
     'store out of reach; another way is taken to 2 places, through library'),
    (WaysChange((5,), (), (), (), (0, 1)), 'another way is taken to 1 place'),
    (WaysChange((), (3,)), 'store 1 out of reach')])    # it is not known what else is reached
def test_rooms_stand_for_their_places(ways: WaysChange, sentence: str) -> None:
    assert told(Event.from_json(Event(9, 'relearnt', 'change', ways=ways).to_json()),
                RobotDescription.from_text(HOUSE.to_text())) == f'{sentence}; relearnt'


@pytest.mark.parametrize(('states', 'said'), [
    ((3, 5, 4), 'round 1: all of store, study 1 found, added'),
    ((5, 7), 'round 1: study 1, library 1 found, added')])
def test_a_whole_room_stands_for_its_places(states: tuple[int, ...], said: str) -> None:
    assert told(Event(9, '', said=StatesAdded(1, states)), HOUSE).replace('states ', '') == said


def test_a_way_has_one_entry_for_one_change() -> None:
    pair, other = PairChange(5, 1, {6: 40}, {5: 4}), PairChange(6, 1, {7: 40}, {6: 4})
    hint, other_hint = (Event(8, 'h', 'hint', each, time=AT) for each in (pair, other))
    change = Event(99, 'c', 'change', pair, time=AT + 60)
    withdrawn = Event(9, 'w', said=HintWithdrawn(1, 5, 1))
    next_try = Event(99, 'closed, next try', said=WaysClosed(((5, 1),)))
    assert merged([hint, other_hint, change, next_try]) == [other_hint, change]
    assert merged([hint, withdrawn, change]) == [hint, withdrawn, change]
    later = replace(hint, time=AT + 90)
    assert merged([change, later]) == [change, later]


def test_failed_tries_of_a_closed_way_are_one_line_with_a_count() -> None:
    def failed(step: int, state: int = 5) -> Event:
        return Event(step, 'n', said=WayStillClosed(1, state, 0), time=AT + step)

    closes = Event(1, 'c', 'change', PairChange(5, 0, {6: 40}, {5: 4}), time=AT)
    opens = Event(50, 'o', said=WayOpen(1, 5, 0), time=AT + 50)
    events = [closes, failed(2), failed(3, 7), failed(4), failed(5, 7), failed(6), opens,
              failed(60)]
    assert merged(events) == events    # mnm_ros events lists all
    shown = condensed(events)
    assert [(event.step, event.count) for event in shown] == [
        (1, None), (5, 1), (6, 2), (50, None), (60, None)]
    assert told(shown[2], HOUSE, plain=True) == (
        '"go" in study 1 is still blocked, a new try failed (2 more times)')


def test_what_is_told_late_stands_where_it_happened() -> None:
    """Issue: some events of one second were out of order."""
    def event(text: str, after: float) -> Event:
        return Event(9, text, time=AT + after)

    pause, home, found = event('pause', 0.0), event('home', 0.5), event('found', 0.7)
    assert merged([home, found, pause]) == [pause, home, found]
    # A clock that was set back by a minute, and events without a time, change no order.
    assert merged([found, back := event('back', -60.0)]) == [found, back]
    assert merged([old := Event(1, 'old'), pause]) == [old, pause]


def test_a_call_has_one_entry_though_its_caller_is_named_late() -> None:
    call = Event(9, 'c', 'command', time=AT, by='service save', what='save')
    other = replace(call, time=AT - 1)
    named = replace(call, by='mnm_ros save', corrects='service save')
    between = Event(9, 'found', time=AT + 1)
    assert merged([other, call, between, named]) == [other, named, between]
    assert told(replace(named, said=InWords('refused')), FLAT) == (
        'save requested, by mnm_ros save: refused; first reported as by service save')
    assert [told(event, FLAT) for event in condensed([call, between, named])] == [
        'save requested, by mnm_ros save', 'found']    # which is said once


def shared(action: int | None, now: int, **began: float) -> Event:
    moves = MovesChange(((5, 1, 6), (6, 1, 7)), action, (95, 100), (now, 100),
                        **began)    # type: ignore[arg-type]
    return Event(40, '', 'change', moves=moves, said=(
        MostHasChanged(1, 2) if action is None else ActionChanged(1, action)))


@pytest.mark.parametrize(('event', 'sentence'), [
    (shared(None, 60, time=AT, latest_time=AT + 1),
     f'all moves have become less reliable {SINCE.strip()}: 60% instead of 95%; '
     'the next round begins'),
    (shared(1, 0, time=AT, latest_time=AT + 300),
     f'"east" has become less reliable between {moment(AT)} and {moment(AT + 300)}: '
     '0% instead of 95%'),
    (shared(1, 99, step=9, latest=1_000),
     '"east" has become more reliable between step 9 and step 1,000: 99% instead of 95%'),
    (shared(1, 0), '"east" has become less reliable: 0% instead of 95%')])
def test_a_change_of_many_moves_is_told_with_its_beginning(event: Event, sentence: str) -> None:
    assert told(Event.from_json(event.to_json()), FLAT) == sentence


def test_the_changes_of_pairs_are_part_of_the_change_that_their_moves_share() -> None:
    first, joined, other, older = (
        Event(step, '', kind, PairChange(state, action, {9: 40}, {state: 4}, began))
        for step, kind, state, action, began in (
            (30, 'change', 5, 1, 21), (45, 'change', 8, 1, 35), (46, 'change', 8, 0, 35),
            (19, 'change', 8, 1, 12)))
    hint = Event(29, '', 'hint', PairChange(8, 1, {9: 40}, {8: 4}, 22))
    one, everything = shared(1, 0, step=20, latest=25), shared(None, 0, step=20, latest=25)
    assert merged([older, hint, first, one, joined, other]) == [older, one, other]
    assert merged([older, hint, first, everything, joined, other]) == [older, everything]
    later = Event(60, '', 'change', PairChange(8, 1, {9: 40}, {8: 4}, 50))
    assert merged([one, later]) == [one, later]


@pytest.mark.parametrize(('event', 'expected'), [
    (shared(None, 60), 'bad'), (shared(None, 99), 'good'),
    (Event(1, '', 'change', PairChange(5, 1, {6: 9}, {5: 9})), 'bad'),
    (Event(1, '', 'change', PairChange(5, 1, {5: 9}, {6: 9})), 'good'),
    (Event(1, '', 'change', PairChange(5, 1, {6: 40}, {6: 6, 5: 4})), 'bad'),
    (Event(1, '', 'change', PairChange(5, 1, {6: 6, 5: 4}, {6: 40})), 'good'),
    (Event(1, '', 'change', PairChange(5, 1, {5: 40}, {5: 6, 6: 4})), 'good'),
    (Event(1, '', 'change', PairChange(5, 1, {5: 6, 6: 4}, {5: 40})), 'bad'),
    (Event(1, '', 'change', ways=WaysChange((5,))), 'good'),
    (Event(1, '', 'change', ways=WaysChange((5,), (6,))), 'bad'),
    (Event(1, '', 'goal', what='reached'), 'good'), (Event(1, '', 'goal', what='failed'), 'bad'),
    (Event(1, '', 'fault'), 'bad'), (Event(1, 'round 1', 'change'), '')])
def test_good_news_is_not_bad(event: Event, expected: str) -> None:
    assert tone(event) == expected
