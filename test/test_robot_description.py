# SPDX-License-Identifier: Apache-2.0

"""What a robot side says about itself, there and back, and what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
import json

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.description_entries import MAX_ACTIONS, MAX_STATES, MAX_TEXT
from mnm_ros.robot_description import difference, RobotDescription, UNDESCRIBED
import pytest

WHOLE = RobotDescription(
    ('east', 'west'), 0, 'map', {0: 'dock', -2: 'outside'}, {0: (0.5, 1.5), 7: (1.5, -2.0)},
    ((0.0, 0.0, 1.0, 0.0),), Declaration({0: ((7, 0), ())}, {0: ((0.9, 0.1), ())}))


@pytest.mark.parametrize('description', [
    WHOLE, RobotDescription(('go',), rooms={'hall': (3, 4)}, doors={'d': ((3, 0),)}),
    RobotDescription(('go',)), RobotDescription(('é "x"',), -2**63),
    RobotDescription(('go',), guarded=True, seconds={3: (2.5, 16.0)})])
def test_there_and_back(description: RobotDescription) -> None:
    assert RobotDescription.from_text(description.to_text()) == description


def test_everything_but_the_actions_is_optional() -> None:
    assert RobotDescription.from_text('{"actions": ["up"]}') == RobotDescription(('up',))


def test_labels_show_names_where_there_are_any() -> None:
    assert WHOLE.label(0) == 'dock (0)' and WHOLE.label(7) == '7'
    assert [WHOLE.action_name(action) for action in (-1, 1, 2)] == ['RESET', 'west', 'action 2']
    assert UNDESCRIBED.label(0) == '0' and UNDESCRIBED.action_name(0) == 'action 0'


def test_names_outlive_their_states_in_the_same_world() -> None:
    now = RobotDescription(('east', 'west'), 0, 'map', {0: 'harbour', 1: 'door'})
    assert now.after(WHOLE).names == {0: 'harbour', 1: 'door', -2: 'outside'}
    assert now.after(UNDESCRIBED) == now and WHOLE.after(RobotDescription(('go',))) == WHOLE
    many = RobotDescription(now.actions, 0, 'map', dict.fromkeys(range(MAX_STATES), 'x'))
    assert many.after(WHOLE) == many


def test_positions_outlive_their_states_in_the_same_world() -> None:
    now = replace(WHOLE, positions={0: (0.0, 0.0), 3: (2.0, 2.0)})
    assert now.after(WHOLE).positions == {0: (0.0, 0.0), 3: (2.0, 2.0), 7: (1.5, -2.0)}
    assert not replace(WHOLE, positions={}).after(WHOLE).positions
    assert replace(now, frame='hall').after(WHOLE).positions == now.positions
    graph = replace(now, moves={0: ('to 3', '')})    # a place that a graph has no more is gone
    assert graph.after(WHOLE).positions == now.positions
    many = replace(now, names={}, positions={
        state: (float(state), 0.0) for state in range(MAX_STATES)})
    assert many.after(replace(WHOLE, positions={-5: (0.0, 0.0)})) == many


@pytest.mark.parametrize('change, complaint', [
    ({'actions': []}, 'actions is empty, expected at least one name'),
    ({'actions': 'up'}, 'actions is "up", expected a list of names'),
    ({'actions': ['up', 3]}, 'actions[1] is 3, expected 1 to 100 characters'),
    ({'actions': ['up', '']}, 'actions[1] is "", expected'),
    ({'actions': ['up', 'up']}, 'actions has "up" twice, expected distinct names'),
    ({'actions': [str(i) for i in range(MAX_ACTIONS + 1)]}, 'expected at most 1000'),
    ({'rooms': []}, 'rooms is [], expected a JSON object with a list for each room'),
    ({'rooms': {'hall': 3}}, 'room "hall" is 3, expected a list of states'),
    ({'rooms': {'hall': ['x']}}, 'a state of room "hall" is "x", expected a state'),
    ({'rooms': {'': [1]}}, 'the name of a room is ""'),
    ({'home': 1.0}, 'home is 1.0, expected a state, a 64-bit integer'),
    ({'home': True}, 'home is true, expected a state'),
    ({'home': 2**63}, 'expected a state, a 64-bit integer'),
    ({'frame': None}, 'frame is null, expected at most 100 characters'),
    ({'frame': 'f' * 101}, 'expected at most 100 characters'),
    ({'states': []}, 'states is [], expected a JSON object with an entry for each state'),
    ({'states': {'+7': {}}}, 'states has the entry "+7", expected the number of a state'),
    ({'states': {'07': {}}}, 'expected the number of a state'),
    ({'states': {str(2**63): {'name': 'a'}}}, 'expected a state, a 64-bit integer'),
    ({'states': {'7': 'A1'}}, 'state 7 is "A1", expected a JSON object'),
    ({'states': {'7': {'z': 1}}}, 'state 7 has the entry "z", expected one of name, x, y'),
    ({'states': {'7': {'x': 1}}}, 'state 7 has only one of x and y, expected both or none'),
    ({'states': {'7': {'x': 1, 'y': '2'}}}, 'the position of state 7 is [1, "2"], expected x and'),
    ({'states': {'7': {'x': 1, 'y': 10**400}}}, 'expected x and y, finite numbers'),
    ({'states': {'7': {'name': ''}}}, 'the name of state 7 is "", expected 1 to 100'),
    ({'states': {str(i): {} for i in range(MAX_STATES + 1)}}, 'states has 10001 entries'),
    ({'walls': [[0, 0, 1]]}, 'walls[0] is [0, 0, 1], expected [x1, y1, x2, y2], finite'),
    ({'walls': [[0, 0, 1, True]]}, 'walls[0] is'),
    ({'doors': []}, 'doors is [], expected a JSON object with a list for each door'),
    ({'doors': {'front': 3}}, 'door "front" is 3, expected a list of [state, action]'),
    ({'doors': {'front': [3]}}, 'door "front" is 3, expected [state, action]'),
    ({'doors': {'front': [[3]]}}, 'door "front" has [3], expected [state, action]'),
    ({'doors': {'front': [[3, 9]]}}, 'door "front" has [3, 9], expected [state, action] with an'),
    ({'doors': {'front': [[0.5, 0]]}}, 'a state of door "front" is 0.5, expected a state'),
    ({'doors': {'': []}}, 'the name of a door is "", expected 1 to 100 characters'),
    ({'walls': [7]}, 'walls[0] is 7, expected [x1, y1, x2, y2]'),
    ({'wals': []}, 'the description has the entry "wals", expected one of actions, home, frame'),
    ({'successors': {'7': [[7], [7]]}}, 'successors of state 7 has 2 lists, expected 1'),
    ({'successors': {'7': [[7, 7]]}}, 'successors of state 7, action 0: [7, 7], expected distin'),
    ({'successors': {'7': [[]]}, 'chances': {'7': [[1]]}}, 'chances of state 7, action 0: 1 num'),
    ({'seconds': {'7': [2]}}, 'the time of RESET in state 7 is missing, expected seconds above 0'),
    ({'seconds': {'7': [0, 9]}}, 'the time of up in state 7 is 0, expected seconds above 0'),
    ({'seconds': {'7': [2, '9']}}, 'the time of RESET in state 7 is "9", expected seconds'),
    ({'seconds': {'7': [1, 2, 3]}}, 'seconds of state 7 are 3, expected 2: one for each action'),
    ({'zones': {'7': 0}}, 'the zone of state 7 is 0, expected a radius above 0 m'),
    ({'zones': {'7': '1'}}, 'the zone of state 7 is "1", expected a radius above 0 m, a finite'),
    ({'seconds': [2]}, 'seconds is [2], expected a JSON object with an entry for each state'),
    ({'actions': ['\x1b[2J']}, 'actions[0] is "\\u001b[2J", expected no control characters'),
    ({'states': {'1': {'name': '\ud800'}}}, 'the name of state 1 is "\\ud800", expected no co'),
])
def test_what_is_wrong_is_named(change: dict, complaint: str) -> None:
    with pytest.raises(ValueError) as error:
        RobotDescription.from_text(json.dumps({'actions': ['up'], **change}))
    assert complaint in str(error.value) and len(str(error.value)) < 400


@pytest.mark.parametrize('text, complaint', [
    ('', 'no JSON: '), ('[]', 'the description is [], expected a JSON object'),
    ('{}', 'actions are missing, expected a list of names'),
    ('{"actions": ["a"], "actions": ["b"]}', 'the entry "actions" appears twice'),
    ('{"actions": ["a"], "walls": [[0, 0, 1, NaN]]}', 'found NaN, expected finite numbers'),
    ('{"actions": ["a"], "walls": [[0, 0, 1, 1e999]]}', 'walls[0] is'),
    ('[' * 200_000, 'nested too deeply'),
    ('[' + '9' * 5000 + ']', 'the description: found an integer of thousands of digits, expected'),
    (' ' * (MAX_TEXT + 1), 'characters, expected at most'),
])
def test_what_is_no_description_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as error:
        RobotDescription.from_text(text)
    assert complaint in str(error.value)


@pytest.mark.parametrize('actions, differs', [
    (['east', 'west'], False), (['west', 'east'], True), (['east'], True),
    (['east', 'west', 'up'], True), (['east', 'left'], True)])
def test_the_difference_shows_both_lists(actions: list, differs: bool) -> None:
    found = difference(WHOLE, actions)
    assert bool(found) is differs
    assert not differs or '[east, west]' in found and f'[{", ".join(actions)}]' in found


def test_a_state_is_found_by_its_id_or_its_name() -> None:
    described = RobotDescription(('go',), names={4: 'kitchen', 5: 'door', 6: 'door'})
    assert [described.state(text) for text in ('4', '-7', 'kitchen')] == [4, -7, 4]
    for text, why in (
            ('cellar',
             "no state is called 'cellar', expected its id or its name, such as kitchen, door"),
            ('Kitchen', r'.*, such as kitchen, door; did you mean kitchen\?'),
            ('door', "'door' is the name of the states 5, 6, expected the id of one of them")):
        with pytest.raises(ValueError, match=f'^{why}$'):
            described.state(text)
    with pytest.raises(ValueError, match="'a', expected its id, as no names of states are known"):
        UNDESCRIBED.state('a')


def test_what_is_too_long_is_not_said() -> None:
    far = Declaration({state: (tuple(range(-2**63, -2**63 + 40)),) for state in range(5000)})
    with pytest.raises(ValueError, match=f'characters, expected at most {MAX_TEXT}'):
        RobotDescription(('up',), declaration=far).to_text()


def test_what_was_declared_is_not_remembered_as_names_are() -> None:
    now = RobotDescription(('east', 'west'), 0, 'map')
    assert now.after(WHOLE).names == WHOLE.names and not now.after(WHOLE).declaration
