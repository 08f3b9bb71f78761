# SPDX-License-Identifier: Apache-2.0

"""Sentences are made of values: in each language, with the names that the robot side gives."""

from __future__ import annotations

from dataclasses import fields
import json
import string

from mnm_ros.core.progress import said
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import read_said, Said
from mnm_ros.language import LANGUAGES, table
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.sentences import sentence
import pytest

NAMED = RobotDescription(
    ('east', 'west'), 23, names={23: 'r3c2', 7: 'door', 8: 'hall', 4: 'cell', 5: 'cell', 6: '12'})
_EXAMPLES = {'int': 7, 'float': 1.5, 'str': 'r1', 'States': (7, 8), 'Pairs': ((7, 1),),
             'Nested': said.HomeFound(23)}


def example(kind: type[Said]) -> Said:
    """Return a value of a kind."""
    return kind(**{each.name: _EXAMPLES[str(each.type)] for each in fields(kind)})


@pytest.mark.parametrize('language', LANGUAGES)
def test_each_value_has_a_sentence_with_its_fields(language: str) -> None:
    words = table(language)
    assert words['said'].keys() == Said.KINDS.keys()
    assert words['words'].keys() == table('en')['words'].keys()
    assert words['plain'].keys() == table('en')['plain'].keys() <= Said.KINDS.keys()
    for name, template in words['plain'].items():
        assert {field for _, field, _, _ in string.Formatter().parse(template) if field} <= {
            each.name for each in fields(Said.KINDS[name])}
        assert sentence(example(Said.KINDS[name]), NAMED, language, plain=True)
    for name, template in words['said'].items():
        used = {field for _, field, _, _ in string.Formatter().parse(template) if field}
        known = {each.name for each in fields(Said.KINDS[name])}
        original = {field for _, field, _, _ in string.Formatter().parse(
            table('en')['said'][name]) if field}
        assert used == original == known, name
        assert sentence(example(Said.KINDS[name]), NAMED, language)


@pytest.mark.parametrize('kind', Said.KINDS.values())
def test_an_event_says_what_it_is_as_a_value(kind: type[Said]) -> None:
    event = Event(3, 'a sentence', said=example(kind))
    assert json.loads(event.to_json())['said']['name'] == kind.__name__
    assert Event.from_json(event.to_json()) == event


def test_a_value_of_a_newer_explorer_is_left_out_and_a_wrong_one_refused() -> None:
    assert read_said('said', {'name': 'Levitated', 'height': 3}) is None
    for wrong in ({}, [], {'name': 3}, {'name': 'HomeFound'}, {'name': 'HomeFound', 'state': 'x'}):
        with pytest.raises(ValueError, match='said'):
            read_said('said', wrong)


@pytest.mark.parametrize(('value', 'bare', 'named'), [
    (said.HomeFound(23), 'home is state 23, building the first hypothesis',
     'home is r3c2, building the first hypothesis'),
    (said.TestingAttempts(7, 17, 17), 'testing the policy to 7: 17 of 17 attempts reached it',
     'testing the policy to door: 17 of 17 attempts reached it'),
    (said.SamplingFor(8, 1), 'sampling on the way to 8, to certify its policy: 1 more execution',
     'sampling on the way to hall, to certify its policy: 1 more execution'),
    (said.StatesDeleted(1, (7, 8, 99)),
     'round 1: states 7, 8, 99 no longer reached by their policies, deleted',
     'round 1: states door, hall, state 99 no longer reached by their policies, deleted'),
    (said.StatesDeleted(1, (4,)), 'round 1: state 4 no longer reached by its policy, deleted',
     'round 1: cell (4) no longer reached by its policy, deleted'),
    (said.PairChanged(2, 7, 1), 'round 2: action 1 in state 7 leads elsewhere than before',
     'round 2: "west" in door leads elsewhere than before'),
    (said.EndsAdded(9, 0, 7, (8, 9), 3),
     'action 0 in state 9 led to 7, the declared successors were 8, 9; the declaration has 7 now, '
     'too, and 3 states that are as near',
     '"east" in state 9 led to door, the declared successors were hall, state 9; the declaration '
     'has door now, too, and 3 states that are as near'),
    (said.Because('fault', said.HomeMissed(7, 23, 3)),
     'fault: RESET led to state 7 instead of home, state 23, 3 times in a row',
     'fault: RESET led to door instead of home, r3c2, 3 times in a row'),
    (said.DeclarationsExtended(9, ((7, 1),)),
     'the declaration contradicts 9 executed actions (action 1 in state 7, ...); the observed '
     'successors are added',
     'the declaration contradicts 9 executed actions ("west" in door, ...); the observed '
     'successors are added'),
    ('7 attempts in state 7 of somebody', '7 attempts in state 7 of somebody',
     '7 attempts in state 7 of somebody')])
def test_states_and_actions_are_called_by_their_names(
        value: Said | str, bare: str, named: str) -> None:
    assert sentence(value) == bare and sentence(value, NAMED) == named


@pytest.mark.parametrize(('count', 'english', 'german'), [
    (6, 'places 30, 31, 32, 33, 34, 35 out of reach',
     'Orte 30, 31, 32, 33, 34, 35 nicht erreichbar'),
    (21, 'places 30, 31, 32, 33, 34 and 16 more out of reach',
     'Orte 30, 31, 32, 33, 34 und 16 weitere nicht erreichbar')])
def test_of_many_places_a_sentence_names_some_and_the_value_has_all(
        count: int, english: str, german: str) -> None:
    lost = said.StatesDeleted(1, tuple(range(30, 30 + count)))
    assert sentence(lost, plain=True) == english
    assert sentence(lost, language='de', plain=True) == german
    assert read_said('said', lost.to_plain()) == lost
    named = RobotDescription(('east',), names={state: f'r{state}' for state in lost.states})
    assert sentence(lost, named, plain=True).startswith('r30, r31, r32, r33, r34')
    assert ('and 16 more' in sentence(lost, named)) is (count > 6)


def test_numbers_are_written_as_the_language_has_them() -> None:
    improving = said.Improving(7, 1234.5, 2.25)
    assert sentence(improving, language='de') == (
        'die Policy zu Zustand 7 wird verbessert: sie braucht geschätzt 1234,50 Schritte, und '
        'keine Policy braucht weniger als 2,25')
    assert '12.345 Schritten' in sentence(said.WarmStart(12_345), language='de')


def test_a_reason_in_the_words_of_a_robot_side_is_what_a_language_leaves() -> None:
    waiting = said.Because('waiting for the robot', said.HomeCallFailed('the door is closed'))
    assert sentence(waiting, language='de') == (
        'warte auf den Roboter: return_home misslang: the door is closed')
    assert sentence(said.Idle('resumed, waiting for the robot'), language='de') == (
        'fortgesetzt, warte auf den Roboter')


@pytest.mark.parametrize(('value', 'expected'), [
    (said.Rediscovering(9, said.SamplingStates(6, 20)),
     'searching for new or changed ways: trying out 6 places: 20 more moves'),
    (said.SamplingFor(8, 1), 'trying out the way to hall: 1 more move'),
    (said.InStream(said.TestingAttempts(8, 3, 4), 2, 5),
     'testing the way to hall: 3 of 4 tries arrived'),
    (said.HypothesisFound(1, 11), '11 places known, now checking'),
    (said.StatesDeleted(2, (8, 23)), 'hall, r3c2 out of reach'),
    (said.StatesAdded(2, (98, 99)), 'places 98, 99 within reach now'),
    (said.Because('paused', said.BatteryCharging(42, 20, 80)),
     'paused: charging: 42% of 80%'),
    (said.OfReset(), 'RESET leads there')])    # which has no plain sentence
def test_an_operator_needs_no_terms(value: Said, expected: str) -> None:
    assert sentence(value, NAMED, plain=True) == expected
