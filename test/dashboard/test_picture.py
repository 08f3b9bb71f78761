# SPDX-License-Identifier: Apache-2.0

"""The map: what each state is, where it is drawn, and which arrows there are."""

from __future__ import annotations

from dataclasses import replace
import json
import math
import time
import tracemalloc

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.events import Event, PairChange
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.scenario import describe, load
from mnm_ros.view.scene import KINDS, kinds
from mnm_ros.view.telemetry import Ground, RobotTelemetry, Telemetry
from mnm_ros.view.web.layers import (
    _radii,
    draw,
    LEGEND,
    on_the_map,
    Places,
    policy_arrows,
)
import pytest

GRID = RobotDescription(
    ('east', 'west'), 0, 'map', {0: 'r0c0', 1: 'r0c1', 2: 'r0c2'},
    {0: (0.5, 0.5), 1: (1.0, 0.5), 2: (1.5, 0.5)}, ((0.25, 0.25, 1.75, 0.25),))
COUNTS = {0: {0: {1: 9, 0: 1}}, 1: {0: {2: 4}, 1: {0: 3}, -1: {0: 7}}}


def by_id(layers: dict) -> dict[str, list]:
    return {entry[0]: entry for entry in layers['states']}


def test_a_state_that_becomes_a_wall_keeps_its_place_and_its_name() -> None:
    places = Places()
    before = by_id(draw(Telemetry(known=(0, 1, 2), description=GRID), places))
    changed = RobotDescription(GRID.actions, 0, 'map', {0: 'r0c0', 2: 'here'}, {
        0: (0.5, 0.5), 2: (1.5, 0.5), 3: (0.5, 1.0)}).after(GRID)
    after = by_id(draw(Telemetry(known=(0, 2), description=changed,
                                 activity=Activity(lost=(1,))), places))
    assert after['1'][1:3] == before['1'][1:3] and after['1'][4:] == ['lost', 'r0c1', 'r0c1']
    assert after['2'][-1] == 'here' and set(after) == {'0', '1', '2', '3'}
    elsewhere = RobotDescription(GRID.actions, 0, 'hall', positions={0: (0.0, 0.0)}).after(GRID)
    assert not elsewhere.names
    assert set(by_id(draw(Telemetry(known=(0,), description=elsewhere), places))) == {'0'}


def test_a_page_that_is_opened_after_a_door_has_closed_shows_its_cell_in_the_gap() -> None:
    rooms = load('two_rooms')
    open_, closed = (describe(rooms, setting) for setting in (0, 1))
    door, = open_.positions.keys() - closed.positions.keys()
    published = RobotDescription.from_text(closed.after(open_).to_text())
    heard = Telemetry(known=(0,), activity=Activity(lost=(door,)), description=published)
    x, y = open_.positions[door]
    layers = draw(heard, Places())
    assert by_id(layers)[str(door)][1:3] == [x, -y]
    assert layers['box'] == draw(replace(heard, description=open_), Places())['box']


def test_the_last_word_about_a_state_is_the_strongest() -> None:
    heard = Telemetry(known=(0, 1), counts={5: {0: {6: 1}}}, description=GRID, activity=Activity(
        candidates=(2, 5), lost=(5,), current=7, revising=True))
    assert kinds(heard) == {
        0: 'home', 1: 'known', 2: 'candidate', 5: 'lost', 6: 'met', 7: 'met'}
    settled = replace(heard, activity=replace(heard.activity, revising=False))
    assert kinds(settled) == {
        0: 'home', 1: 'known', 2: 'unmet', 5: 'lost', 6: 'beyond', 7: 'beyond'}


def test_a_state_is_shown_by_the_trust_in_its_policy_where_that_says_more() -> None:
    trust = {state: PolicyTrust(Trust(said), None, None, 0, '') for state, said in (
        (0, 'proven'), (1, 'doubted'), (2, 'certified'), (3, 'certified'), (4, 'assumed'),
        (5, 'assumed'), (6, 'doubted'), (7, 'doubted'))}
    heard = Telemetry(known=(0, 1, 2), trust=trust, counts={0: {0: {5: 1}}}, activity=Activity(
        candidates=(3, 4), lost=(6,), revising=True))
    assert kinds(heard) == {
        0: 'home', 1: 'doubted', 2: 'known', 3: 'certified', 4: 'candidate', 5: 'assumed',
        6: 'lost', 7: 'doubted'}
    assert len({kind.mark for kind in KINDS.values()}) == len(KINDS)    # not by colour alone


def test_states_with_positions_are_drawn_there_and_the_others_below() -> None:
    heard = Telemetry(known=(0, 1), counts={**COUNTS, 2: {0: {99: 1}}}, description=GRID,
                      activity=Activity(current=1, home=0), pose=(1.0, 0.5, math.pi / 2))
    layers = draw(heard, Places())
    states = by_id(layers)
    # Neighbours are half a metre from each other, which is 1 in the picture; y is downwards.
    assert [states[name][1:3] for name in '012'] == [[1, -1], [2, -1], [3, -1]]
    assert states['99'][2] > states['0'][2] + 2 * states['0'][3]
    assert states['0'][4:] == ['home', 'r0c0', 'r0c0'] and states['99'][5] == '99'
    assert layers['walls'] == 'M0.5 -0.5L3.5 -0.5'
    assert layers['home'][:2] == [1, -1] and [spot[:2] for spot in layers['current']] == [
        [2, -1]]
    assert layers['robot'] == [2, -1, -90]
    left, top, width, height = layers['box']
    assert left < 0.5 and left + width > 3.5 and top < -1 and top + height > states['99'][2]
    json.dumps(layers, allow_nan=False)
    assert on_the_map({**layers, 'policy': {'arrows': [[]], 'resets': []}}) & {*LEGEND} == {
        'known', 'beyond', 'home', 'current', 'pose', 'link', 'way'}


def test_doors_with_names_are_drawn_as_they_were_seen_last() -> None:
    """As then, where the past is shown: by what had happened then."""
    said = replace(GRID, doors={'a-b': ((0, 0), (1, 1))})
    shut = Event(9, '', 'change', PairChange(0, 0, {1: 9}, {0: 5}))
    opened = Event(12, '', 'change', PairChange(1, 1, {1: 5}, {0: 5}))
    person = Event(7, '', 'hint', PairChange(0, 0, {1: 9}, {0: 5}))
    for events, is_open in (((), True), ((person,), True), ((shut,), False),
                            ((shut, opened), True)):
        heard = Telemetry(known=(0, 1), counts=COUNTS, description=said, events=events)
        ground = draw(heard, Places())['ground']
        (x, y, side, now), = ground['doors']
        assert now is is_open and side > 0
        assert (x + side / 2, y + side / 2) == pytest.approx((1.5, -1))    # between both cells
    assert draw(Telemetry(known=(0,), description=said), Places())['ground'] is None
    # So is a way without a name, while it is closed.
    for events, count in (((shut,), 1), ((shut, replace(opened, change=PairChange(
            0, 0, {0: 5}, {1: 5}))), 0)):
        ground = draw(Telemetry(known=(0,), description=GRID, events=events), Places())['ground']
        assert [each[3] for each in (ground or {'doors': []})['doors']] == [False] * count


def test_several_robots_are_where_they_are_and_not_where_the_exploration_is() -> None:
    heard = Telemetry(known=(0, 1), description=GRID, activity=Activity(current=1), robots=(
        RobotTelemetry('r1', 'ok', 'exploring', 3, 0),
        RobotTelemetry('r2', 'ok', 'exploring', 3, 2),
        RobotTelemetry('r3', 'ok', 'exploring', 3, 2),
        RobotTelemetry('r4', 'warning', 'no answer')))
    assert [spot[:2] for spot in draw(heard, Places())['current']] == [[1, -1], [3, -1]]
    assert draw(Telemetry(known=(0,)), Places())['current'] == []


@pytest.mark.parametrize('count', [1, 2, 3, 8, 9, 60])
def test_each_robot_is_seen_however_many_are_in_one_state(count: int) -> None:
    heard = Telemetry(known=(0, 1), description=GRID, robots=(
        *(RobotTelemetry(f'r{number}', 'ok', '', 3, 1) for number in range(count)),
        RobotTelemetry('away', 'ok', '', 3, 99), RobotTelemetry('lost', 'ok', '', 3)))
    layers = draw(heard, Places())
    x, y, radius = next(each[1:4] for each in layers['states'] if each[0] == '1')
    spots = layers['robots']
    assert [name for *_, name in spots] == [
        *(f'r{number}' for number in range(count)), *['away'] * (len(spots) > count)]
    assert {side for *_, side, _ in spots} <= {-1, 0, 1}
    for index, (left, top, size, *_) in enumerate(spots[:count]):
        assert math.dist((left, top), (x, y)) == pytest.approx(1.17 * radius, abs=0.01)
        assert size > 0.01
        for other in spots[:index]:
            assert math.dist((left, top), other[:2]) > 1.02 * (size + other[2]) - 0.002
    json.dumps(layers, allow_nan=False)


def test_arrows_have_the_weight_of_their_probability_and_keep_clear_of_states() -> None:
    layers = draw(Telemetry(known=(0, 1, 2), counts=COUNTS, description=GRID), Places())
    links = {title.split(', ')[0]: (weight, path) for path, weight, title in layers['links']}
    assert {words: weight for words, (weight, _) in links.items()} == {
        'r0c0: east \u2192 r0c1': 0.9, 'r0c1: east \u2192 r0c2': 1.0,
        'r0c1: west \u2192 r0c0': 1.0}
    # There and back lie beside each other; neither is within a state.
    there, back = (links[words][1] for words in (
        'r0c0: east \u2192 r0c1', 'r0c1: west \u2192 r0c0'))
    begin, end = (point.split() for point in there[1:].split('M')[0].split('L'))
    assert 1.3 < float(begin[0]) < float(end[0]) < 1.7 and begin[1] == end[1] == '-1.09'
    assert '-0.91' in back


def test_headings_at_one_place_stand_around_it() -> None:
    cell = dict.fromkeys(range(4), (2.0, 2.0)) | {4: (3.0, 2.0)}
    layers = draw(Telemetry(description=RobotDescription(
        ('a',), positions=cell), counts={0: {0: {1: 1}}}), Places())
    states = by_id(layers)
    places = [states[str(state)][1:4] for state in range(4)]
    assert places[0][0] > 2 and places[1][1] < -2 and places[2][0] < 2 and places[3][1] > -2
    for one in range(4):
        for other in range(one):
            assert math.dist(places[one][:2], places[other][:2]) > 2 * places[one][2]


def test_a_policy_is_arrows_and_its_resets_are_marks() -> None:
    heard = Telemetry(known=(0, 1, 2), counts=COUNTS, description=GRID)
    places = Places()
    draw(heard, places)
    drawn = policy_arrows(heard, Policy(2, 9, (0, 1, 2), ((0, -1, 0),)), places.latest)
    assert [words for _, _, words in drawn['arrows']] == ['east'] and len(drawn['resets']) == 1
    assert drawn['resets'][0][:2] == [2, -1]
    # What was never tried leads nowhere that could be drawn.
    assert policy_arrows(heard, Policy(2, 9, (0, 1, 2), ((5, 5, 0),)), places.latest) == {
        'arrows': [], 'resets': []}


def test_a_picture_without_positions_does_not_jump_when_it_grows() -> None:
    places = Places(clock=lambda: 0.0)

    def chain(length: int) -> dict[str, list]:
        return by_id(draw(Telemetry(known=(0,), counts={
            state: {0: {state + 1: 1}} for state in range(length)}), places))

    before = chain(8)
    after = chain(9)
    assert set(after) == {str(state) for state in range(10)}
    assert all(math.dist(before[state][1:3], after[state][1:3]) < 0.2 for state in before)
    assert all(math.dist(after[one][1:3], after[other][1:3]) > after[one][3] + after[other][3]
               for one in after for other in after if one != other)


def test_a_state_waits_for_the_transitions_that_led_there() -> None:
    places = Places(clock=lambda: 0.0)
    chain = {state: {0: {state + 1: 1}} for state in range(5)}
    early = draw(Telemetry(known=(0,), counts=chain, activity=Activity(
        current=6, candidates=(6,), home=0)), places)
    assert '6' not in by_id(early) and early['current'] == []
    chain[5] = {0: {6: 1}}
    states = by_id(draw(Telemetry(known=(0,), counts=chain), places))
    assert math.dist(states['5'][1:3], states['6'][1:3]) < 1.5


def test_a_layout_is_made_as_often_as_takes_little_time() -> None:
    times = iter((0.0, 0.5, 9.0, 10.5, 10.6))
    places = Places(clock=lambda: next(times))    # the first one takes half a second
    sizes = [len(draw(Telemetry(counts={0: {0: dict.fromkeys(range(states), 1)}}), places)[
        'states']) for states in (2, 3, 4)]
    assert sizes == [2, 2, 4]


def test_five_hundred_states_are_drawn_in_no_time() -> None:
    counts = {state: {action: {(state + step) % 500: 10, state: 1}
                      for action, step in enumerate((1, 499, 25, 475))} for state in range(500)}
    heard, places = Telemetry(known=tuple(range(500)), counts=counts), Places()
    draw(heard, places)    # with the layout
    began = time.process_time()
    layers = draw(heard, places)
    assert time.process_time() - began < 1.0
    assert len(layers['states']) == 500 and len(layers['links']) == 2000
    assert len(json.dumps(layers)) < 500_000


def test_a_long_id_is_shortened() -> None:
    entry, = draw(Telemetry(known=(-2**63,)), Places())['states']
    assert entry[0] == str(-2**63) and entry[5] == '\u20265808' and entry[6] == str(-2**63)


def test_a_name_is_written_on_its_state_and_a_long_one_is_cut() -> None:
    names = {0: 'kitchen', 1: 'conservatory', 2: 'hall', 3: 'hall'}
    states = by_id(draw(Telemetry(description=RobotDescription(
        ('a',), names=names, positions={state: (state, 0.0) for state in names})), Places()))
    assert [entry[5:] for entry in states.values()] == [
        ['kitchen', 'kitchen'], ['conserv\u2026', 'conservatory'], ['2', 'hall (2)'],
        ['3', 'hall (3)']]


def test_the_map_lies_under_the_states() -> None:
    ground = Ground('data:image/png;base64,', (0.0, 0.0), (2.0, 1.0), ((1.0, 0.5, True),), 0.5)
    layers = draw(Telemetry(description=GRID, ground=ground), Places())
    assert layers['ground'] == {
        'image': 'data:image/png;base64,', 'x': 0, 'y': -2, 'width': 4, 'height': 2,
        'doors': [[1.5, -1.5, 1, True]]}
    assert on_the_map({**layers, 'policy': None}) == {'home', 'open'}
    assert draw(Telemetry(ground=ground), Places())['ground'] is None    # whose frame nobody knows


def test_radii_of_many_states_take_little_memory() -> None:
    """A radius for each of several blocks of states, as if all distances were there at once."""
    points = [(float(index % 60), 0.3 * (index // 60)) for index in range(5000)]
    tracemalloc.start()
    radii = _radii(points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert radii == [pytest.approx(0.14)] * 5000    # all at once they are 600 MB
    assert peak < 100e6
