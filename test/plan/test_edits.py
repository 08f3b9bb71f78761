# SPDX-License-Identifier: Apache-2.0

"""What a page may ask of a plan, in JSON, and how it is refused what it may not."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from english import english_in
from flats import DOOR, flat
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.pose import Pose
from mnm_ros.language import Phrase, text_in
from mnm_ros.plan.draft import Draft
from mnm_ros.plan.edits import edited
from mnm_ros.plan.floor_plan import Plan
import pytest

PLAN = Plan('flat', flat(DOOR), Grid(-0.95, -1.25, 0.5, 11, 5), Pose(0.3, 0.0, 0.5), 0.1, 0.05,
            {'kitchen': (0.5, 0.0), 'hall': (3.5, 0.0)},
            {'kitchen-hall': ((2.05, -0.4), (2.05, 0.4))})
GIVEN = r"'[^']*'|(move|rooms), .*"    # what a refusal has from an edit, or of its format
DOOR_LINE = [[2.05, -0.4], [2.05, 0.4]]


def done(plan: Plan, edit: str, **given: Any) -> Plan:
    return edited(plan, json.loads(json.dumps({'edit': edit, **given})))


def test_the_grid_is_moved_turned_and_resized() -> None:
    moved = done(PLAN, 'move', by=[0.1, -0.05])
    before = [PLAN.grid.centre(cell) for cell in PLAN.reached]
    size = PLAN.grid.cell_size
    for cell in moved.reached:
        x, y = moved.grid.centre(cell)
        off = [((x - at - 0.1) / size % 1, (y - up + 0.05) / size % 1) for at, up in before]
        assert all(min(each, 1 - each) < 1e-3 for each in off[0])
    turned = done(PLAN, 'grid', degrees=10.0, cell=0.45)
    assert turned.grid.cell_size == 0.45
    assert turned.grid.yaw == pytest.approx(math.radians(10), abs=1e-4)
    assert turned.home_cell is not None and PLAN.home_cell is not None
    assert turned.grid.centre(turned.home_cell) == pytest.approx(
        PLAN.grid.centre(PLAN.home_cell), abs=1e-3)
    fit = done(turned, 'fit', turned=True)
    straight = done(turned, 'grid', degrees=0)
    assert fit.grid.yaw == 0.0 and len(fit.reached) >= len(straight.reached)


def test_a_grid_over_what_was_not_reached_grows_back() -> None:
    """A keep-out across the flat takes the hall away; without it, it is there again."""
    cut = done(PLAN, 'keep_out', name='rope', polygon=[[1.6, -1.5], [1.7, -1.5], [1.7, 1.5],
                                                       [1.6, 1.5]])
    assert len(cut.reached) < len(PLAN.reached) - 10
    again = done(cut, 'remove', what='keep_outs', name='rope')
    assert len(again.reached) == len(PLAN.reached) and not again.keep_outs


def test_home_is_put_somewhere_and_turned() -> None:
    moved = done(PLAN, 'home', at=[3.6, 0.2], degrees=90)
    assert moved.home == pytest.approx((3.6, 0.2, math.pi / 2), abs=1e-4)
    assert done(PLAN, 'home', at=[3.6, 0.2]).home.yaw == 0.5
    assert moved.cell_names[moved.home_cell or 0].startswith('hall')


def test_rooms_doors_and_keep_outs_get_names() -> None:
    named = done(PLAN, 'room', name='parlour', at=[3.0, 1.0])
    assert {*named.rooms} == {'kitchen', 'parlour'}    # of the same room as hall
    assert {*done(PLAN, 'rename', what='rooms', name='hall', to='parlour').rooms} == {
        'kitchen', 'parlour'}
    other = done(PLAN, 'door', name='arch', line=DOOR_LINE)
    assert {*other.doors} == {'kitchen-hall', 'arch'}
    assert {*done(other, 'remove', what='doors', name='kitchen-hall').doors} == {'arch'}
    assert [*done(PLAN, 'rename', what='doors', name='kitchen-hall', to='x').doors] == ['x']


@pytest.mark.parametrize(('edit', 'complaint'), [
    ([], r"\[\] is no edit, expected an object with a key 'edit'"),
    ({'edit': 3}, 'is no edit'),
    ({'edit': 'fly'}, "edit is 'fly', expected one of move, grid, fit, home"),
    ({'edit': 'move'}, r'move: the shift is empty, expected a point, \[x, y\] in m'),
    ({'edit': 'move', 'by': [1, '2']}, 'move: the shift is'),
    ({'edit': 'move', 'by': [1e300, 0]}, 'move: the shift is'),
    ({'edit': 'move', 'by': [math.nan, 0]}, 'move: the shift is'),
    ({'edit': 'grid', 'cell': 0.1}, 'the size of a cell is 0.1'),
    ({'edit': 'grid', 'cell': True}, 'the size of a cell is True, expected'),
    ({'edit': 'grid', 'degrees': 'x'}, "the angle is 'x', expected an angle in degrees"),
    ({'edit': 'fit', 'turned': 1}, 'the choice of the rotation is 1, expected true or false'),
    ({'edit': 'home', 'at': [0.3]}, 'home: the point is'),
    ({'edit': 'room', 'name': '', 'at': [0, 0]}, 'the name is empty, expected a name of 1 to 60'),
    ({'edit': 'room', 'name': '7', 'at': [0, 0]}, "the name is '7', expected a name"),
    ({'edit': 'room', 'name': 'x', 'at': [9, 9]}, 'expected a place that is free on the map'),
    ({'edit': 'room', 'name': 'hall', 'at': [0, 0]}, 'a name that no other room has'),
    ({'edit': 'door', 'name': 'x', 'line': [[0, 0]]}, 'door: the line is'),
    ({'edit': 'door', 'name': 'x', 'line': [[0, 0], [0, 0]]}, 'two different points'),
    ({'edit': 'keep_out', 'name': 'x', 'polygon': DOOR_LINE}, 'a polygon of 3 points or more'),
    ({'edit': 'keep_out', 'name': 'x', 'polygon': [[0, 0]] * 999}, 'a polygon of 3 points'),
    ({'edit': 'remove', 'what': 'walls', 'name': 'x'}, "the kind is 'walls', expected one of"),
    ({'edit': 'remove', 'what': ['rooms'], 'name': 'x'}, 'the kind is'),
    ({'edit': 'remove', 'what': 'rooms', 'name': 'x'}, 'one of the rooms: kitchen, hall'),
    ({'edit': 'remove', 'what': 'keep_outs', 'name': []}, 'there are none'),
    ({'edit': 'rename', 'what': 'rooms', 'name': 'hall', 'to': 'kitchen'}, 'none of the rooms'),
])
def test_what_is_wrong_is_refused_by_name(edit: object, complaint: str) -> None:
    with pytest.raises(InvalidValueError, match=complaint):
        edited(PLAN, edit)
    draft = Draft(PLAN, edited)
    assert not draft.take(edit) and draft.now is PLAN and isinstance(draft.said, Phrase)
    assert english_in([re.sub(GIVEN, 'X', text_in('de', draft.said))], 'de') == []


def test_edits_are_taken_back_one_by_one() -> None:
    draft = Draft(PLAN, edited)
    assert draft.take({'edit': 'home', 'at': [1.0, 0.0]})
    assert draft.take({'edit': 'room', 'name': 'den', 'at': [3.0, 0.0]})
    assert not draft.take({'edit': 'room', 'name': 'kitchen', 'at': [3.0, 0.0]}) and draft.said
    draft.undo()
    assert {*draft.now.rooms} == {'kitchen', 'hall'} and draft.now.home.x == 1.0
    draft.undo()
    draft.undo()
    assert draft.now is PLAN and not draft.said
