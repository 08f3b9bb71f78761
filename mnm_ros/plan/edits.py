# SPDX-License-Identifier: Apache-2.0

"""
Changes of a plan, one at a time, as a page asks for them: JSON objects with a key ``edit``.

==========  ====================================================================================
move        ``by``: how far the grid is moved in m, x and y
grid        ``degrees`` by which it is turned, ``cell``, the side of a cell in m; both may be left
            out; the cell of home keeps its centre
fit         the best grid with such cells; ``turned``: true if it may be turned as most walls are
home        ``at`` in m, ``degrees``, its heading, or none for the same
room        ``name`` of the room at a point, ``at``
door        ``name``, ``line`` from wall to wall, two points
keep_out    ``name``, ``polygon`` of three points or more
rename      ``what`` (rooms, doors, openings, keep_outs), ``name``, ``to``
remove      ``what``, ``name``
==========  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
import math
from typing import Any

from mnm_ros.driving.grid import Grid
from mnm_ros.driving.occupancy import Point
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.language import Phrase
from mnm_ros.plan import grid_fit
from mnm_ros.plan.draft import Edit
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.rooms import label_at

_MOST_POINTS = 200
THINGS = ('rooms', 'doors', 'openings', 'keep_outs')


def edited(plan: Plan, edit: object) -> Plan:
    """
    Return a plan after an edit.

    :raises InvalidValueError: with the edit, the key, its value and what was expected.
    """
    given = Edit(edit, _EDITS)
    return _EDITS[given.kind](plan, given)


def _move(plan: Plan, edit: Edit) -> Plan:
    return _with_grid_again(plan, edit.point('by'))


def _grid(plan: Plan, edit: Edit) -> Plan:
    grid = plan.grid
    cell, yaw = grid.cell_size, grid.yaw
    if 'cell' in edit:
        least = max(0.01, 2 * plan.ways_radius)
        cell = edit.number('cell', 'cell', least, 100)
    if 'degrees' in edit:
        yaw = wrapped(math.radians(edit.number('degrees', 'angle', -360, 360)))
    centre = plan.home[:2] if plan.home_cell is None else grid.centre(plan.home_cell)
    return _with_grid(plan, grid_fit.over(plan.map, centre, cell, yaw))


def _fit(plan: Plan, edit: Edit) -> Plan:
    turned = edit.truth('turned')
    yaws = (0.0, grid_fit.wall_direction(plan.map)) if turned else (plan.grid.yaw,)
    wish = grid_fit.Wish(plan.home, plan.ways_radius)
    fit = grid_fit.best_fit(plan.driven_map, wish, plan.lines,
                            (plan.grid.cell_size,), yaws)
    return replace(plan, grid=fit.grid, names={})


def _with_grid(plan: Plan, grid: Grid) -> Plan:
    """Return a plan with a grid without what is not reached, if anything is."""
    wish = grid_fit.Wish(plan.home, plan.ways_radius)
    fit = grid_fit.evaluated(plan.driven_map, wish, plan.lines, grid)
    return replace(plan, grid=fit.grid if fit else grid, names={})    # of other cells


def _home(plan: Plan, edit: Edit) -> Plan:
    x, y = edit.point('at')
    yaw = plan.home.yaw if 'degrees' not in edit else wrapped(math.radians(
        edit.number('degrees', 'angle', -360, 360)))
    return _with_grid_again(replace(plan, home=Pose(round(x, 3), round(y, 3), round(yaw, 5))))


def _room(plan: Plan, edit: Edit) -> Plan:
    name, at = edit.name('name'), edit.point('at')
    label = label_at(plan.map, plan.room_labels, at)
    if not label:
        raise edit.wrong('at', 'free_place')
    rooms = {each: point for each, point in plan.rooms.items()
             if label_at(plan.map, plan.room_labels, point) != label}
    if name in rooms:
        raise edit.wrong('name', 'room_name')
    return replace(plan, rooms={**rooms, name: at})


def _door(plan: Plan, edit: Edit) -> Plan:
    start, end = edit.points('line', 'line', 2, 2)
    if start == end:
        raise edit.wrong('line', 'two_points')
    return replace(plan, doors={**plan.doors, edit.name('name'): (start, end)})


def _keep_out(plan: Plan, edit: Edit) -> Plan:
    polygon = edit.points('polygon', 'polygon', 3, _MOST_POINTS)
    return _with_grid_again(replace(
        plan, keep_outs={**plan.keep_outs, edit.name('name'): polygon}))


def _with_grid_again(plan: Plan, by: Point = (0.0, 0.0)) -> Plan:
    """Return a plan with the same grid, moved in m, over all that is reached by now."""
    grid = plan.grid
    x, y = grid.centre(0)
    return _with_grid(plan, grid_fit.over(
        plan.map, (x + by[0], y + by[1]), grid.cell_size, grid.yaw))


def _rename(plan: Plan, edit: Edit) -> Plan:
    what, found, name = _thing(plan, edit)
    new = edit.name('to')
    if new in found and new != name:
        raise edit.wrong('to', 'other_name', things=Phrase.of(f'thing_names.{what}'))
    return _with_things(plan, what, {
        new if each == name else each: thing for each, thing in found.items()})


def _remove(plan: Plan, edit: Edit) -> Plan:
    what, found, name = _thing(plan, edit)
    del found[name]
    after = _with_things(plan, what, found)
    return _with_grid_again(after) if what == 'keep_outs' else after


def _thing(plan: Plan, edit: Edit) -> tuple[str, dict[str, Any], str]:
    """Return what kind of thing is meant, those there are, and the name of one."""
    what, name = edit.given.get('what'), edit.given.get('name')
    if not isinstance(what, str) or what not in THINGS:
        raise edit.wrong('what', 'things', things=', '.join(THINGS))
    found: dict[str, Any] = dict(getattr(plan, what))
    if not isinstance(name, str) or name not in found:
        raise edit.wrong('name', 'one_of', things=Phrase.of(f'thing_names.{what}'),
                         names=tuple(found) or Phrase.of('expected.no_things'))
    return what, found, name


def _with_things(plan: Plan, what: str, found: Mapping[str, Any]) -> Plan:
    changes: dict[str, Any] = {what: found}
    return replace(plan, **changes)


_EDITS: dict[str, Callable[[Plan, Edit], Plan]] = {
    'move': _move, 'grid': _grid, 'fit': _fit, 'home': _home, 'room': _room, 'door': _door,
    'keep_out': _keep_out, 'rename': _rename, 'remove': _remove}
