# SPDX-License-Identifier: Apache-2.0

"""What has happened is told as people say it."""

from __future__ import annotations

from mnm_ros.core.progress.events import Event, MovesChange, PairChange, WaysChange
from mnm_ros.core.progress.said import ActionChanged, MostHasChanged, StatesAdded
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.event_words import merged, moment, told, tone
import pytest

FLAT = RobotDescription(('north', 'east'), names={5: 'r1c2', 6: 'r1c3', 9: 'r0c4'})
NOWHERE = RobotDescription(('north', 'east'))
AT = 1_800_000_000.0
SINCE = f'since {moment(AT)} '


@pytest.mark.parametrize(('change', 'sentence'), [
    (PairChange(5, 1, {6: 40, 5: 1}, {5: 9}, 7, AT),
     f'{SINCE}"east" in r1c2 is blocked (seen 9 of 9 times; before 40 of 41 to r1c3)'),
    (PairChange(5, 1, {5: 12}, {6: 1_000, 7: 8}),
     '"east" in r1c2 leads to r1c3 (seen 1,000 of 1,008 times; before 12 of 12 blocked)'),
    (PairChange(7, 4, {6: 40, 7: 1}, {6: 6, 7: 4}, 7, AT),
     f'{SINCE}"action 4" in state 7 leads to r1c3 (seen 6 of 10 times; before 40 of 41)')])
def test_where_an_action_leads(change: PairChange, sentence: str) -> None:
    assert told(Event(9, 'changed', 'change', change), FLAT) == sentence
    hint = sentence.replace('is blocked', 'is occupied, or blocked')    # a person may go again
    assert told(Event(9, 'hint', 'hint', change), FLAT) == f'hint, outside of the promise: {hint}'


@pytest.mark.parametrize(('before', 'after', 'said'), [
    ({6: 40}, {5: 9}, 'the door hall-kitchen is closed: "east" in r1c2 is blocked (seen'),
    ({5: 9}, {6: 40}, 'the door hall-kitchen is open: "east" in r1c2 leads to r1c3 (seen'),
    ({6: 40}, {9: 9}, '"east" in r1c2 leads to r0c4 (seen')])
def test_a_door_is_told_of_by_its_name(before: dict, after: dict, said: str) -> None:
    doors = RobotDescription(FLAT.actions, names=FLAT.names, doors={'hall-kitchen': ((5, 1),)})
    for description in (doors, RobotDescription.from_text(doors.to_text())):
        assert told(Event(9, 'changed', 'change', PairChange(5, 1, before, after)),
                    description).startswith(said)


@pytest.mark.parametrize(('ways', 'sentence'), [
    (WaysChange((5, 6, 7), (9,)), '3 places are now reached another way, r0c4 not at all'),
    (WaysChange((5,), (), (9, 1)), '1 place is now reached another way, new: r0c4, state 1'),
    (WaysChange((), tuple(range(5, 12))),
     'r1c2, r1c3, state 7, state 8, r0c4 and 2 more not at all'),
    (WaysChange((), (9,), away={9: 5.0}, radius=4.0),
     'r0c4 not at all (now 5 steps away, beyond L = 4)'),
    (WaysChange((), (5, 6, 9), away={9: 3.25}, radius=4.0),
     'r1c2, r1c3 not at all (no way there is known any more), '
     'r0c4 not at all (now 3.25 steps away, but not by a policy that is sure enough)'),
    (WaysChange(), 'all places are reached as before')])
def test_what_has_come_of_a_change(ways: WaysChange, sentence: str) -> None:
    assert told(Event(9, 'relearnt', 'change', ways=ways), FLAT) == f'relearnt: {sentence}'


@pytest.mark.parametrize(('what', 'text', 'sentence'), [
    ('improve', 'state 6', 'told to improve policies, by mnm_ros improve: state 6'),
    ('look', '', 'told to look at closed ways, by mnm_ros look'),
    ('save', '', 'told to save at r1c2, by mnm_ros save')])
def test_where_the_robot_is_is_not_read_as_what_it_is_about(
        what: str, text: str, sentence: str) -> None:
    event = Event(9, text, 'command', state=5, what=what, by=f'mnm_ros {what}')
    assert told(event, FLAT) == sentence


HOUSE = RobotDescription(
    ('go',), 0, names={0: 'hall 1', 3: 'store 1', 4: 'store 2', 5: 'study 1', 7: 'library 1'},
    rooms={'hall': (0, 1), 'store': (3, 4), 'study': (5, 6), 'library': (7,)})


@pytest.mark.parametrize(('ways', 'sentence'), [
    (WaysChange((), (3, 4), (), (0, 1, 5)), 'store cannot be reached'),
    (WaysChange((), (3, 5), (), (0, 4)), 'study cannot be reached, store 1 not at all'),
    (WaysChange((5, 6), (3,), (), (0, 5, 6), (1, 7, 6)),
     'store cannot be reached, 2 places are now reached another way, by library'),
    (WaysChange((5,), (), (), (), (0, 1)), '1 place is now reached another way'),
    (WaysChange((), (3,)), 'store 1 not at all')])    # as it was told before
def test_what_has_come_of_a_change_is_told_by_rooms(ways: WaysChange, sentence: str) -> None:
    assert told(Event.from_json(Event(9, 'relearnt', 'change', ways=ways).to_json()),
                RobotDescription.from_text(HOUSE.to_text())) == f'relearnt: {sentence}'


@pytest.mark.parametrize(('states', 'said'), [
    ((3, 5, 4), 'round 1: all of store, study 1 found, added'),
    ((5, 7), 'round 1: study 1, library 1 found, added')])
def test_a_whole_room_stands_for_its_places(states: tuple[int, ...], said: str) -> None:
    assert told(Event(9, '', said=StatesAdded(1, states)), HOUSE).replace('states ', '') == said


def test_a_hint_that_a_change_confirms_at_once_is_no_entry_of_its_own() -> None:
    pair, other = PairChange(5, 1, {6: 40}, {5: 4}), PairChange(6, 1, {7: 40}, {6: 4})
    hint, other_hint = (Event(8, 'h', 'hint', each, time=AT) for each in (pair, other))
    soon, late = (Event(9, 'c', 'change', pair, time=AT + after) for after in (0.9, 1.1))
    assert merged([hint, other_hint, soon]) == [other_hint, soon]
    assert merged([hint, late]) == [hint, late]
    assert merged([Event(8, 'h', 'hint', pair), Event(9, 'c', 'change', pair)]) == [
        Event(9, 'c', 'change', pair)]    # without times


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
    (Event(1, '', 'change', ways=WaysChange((5,))), 'good'),
    (Event(1, '', 'change', ways=WaysChange((5,), (6,))), 'bad'),
    (Event(1, '', 'goal', what='reached'), 'good'), (Event(1, '', 'goal', what='failed'), 'bad'),
    (Event(1, '', 'fault'), 'bad'), (Event(1, 'round 1', 'change'), '')])
def test_good_news_is_not_bad(event: Event, expected: str) -> None:
    assert tone(event) == expected
