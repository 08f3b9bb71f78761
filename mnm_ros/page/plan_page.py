# SPDX-License-Identifier: Apache-2.0

"""The page on which a floor plan is edited: grid, home, rooms, doors and keep-outs."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from mnm_ros.language import section
from mnm_ros.page.edit_page import EditPage
from mnm_ros.page.page_parts import box, button, card
from mnm_ros.plan import picture
from mnm_ros.plan.edits import THINGS
from mnm_ros.plan.floor_plan import Plan
from nicegui import ui

_SHORTEST = 0.1    # m, of a drag that turns home


def edit_of(drawn: object, name: str) -> dict[str, Any]:
    """
    Return the edit that a drawing means, whatever a browser has sent.

    :param drawn: an object with ``tool``, and ``points`` in m.
    :param name: that was typed.
    """
    given = drawn if isinstance(drawn, dict) else {}
    tool, points = given.get('tool'), given.get('points')
    found = points if isinstance(points, list) else []
    first, last = (found[0], found[-1]) if found else (None, None)
    if tool == 'move':
        return {'edit': 'move', 'by': _apart(first, last)}
    if tool == 'home':
        turned = _apart(first, last)
        far = turned is not None and math.hypot(*turned) >= _SHORTEST
        return {'edit': 'home', 'at': first, **({'degrees': math.degrees(math.atan2(
            turned[1], turned[0]))} if turned and far else {})}
    return {'edit': tool, 'name': name, **{
        'room': {'at': first}, 'door': {'line': points}, 'keep_out': {'polygon': points}}.get(
            tool if isinstance(tool, str) else '', {})}


def _apart(first: Any, last: Any) -> list[float] | None:
    try:
        return [float(last[0] - first[0]), float(last[1] - first[1])]
    except (TypeError, IndexError, KeyError, ValueError, OverflowError):
        return None


class PlanPage(EditPage[Plan]):
    """The page of a plan with cells in one browser."""

    tools: ClassVar = ('view', 'move', 'home', 'room', 'door', 'keep_out')

    def _controls(self) -> None:
        self._name = ui.input(self._word('name')).props('dense outlined').classes('name-input')
        with box('control'):
            self._cell = ui.number(self._word('cell'), step=0.05, format='%.3g').props(
                'dense outlined').classes('cell-input')
            self._degrees = ui.number(self._word('turned'), step=1, format='%.4g').props(
                'dense outlined').classes('degrees-input')
            button(self._word('set'), 'grid', lambda: self._edit({
                'edit': 'grid', 'cell': self._cell.value, 'degrees': self._degrees.value}))
        with box('control'):
            button(self._word('fit'), 'fit', lambda: self._edit({'edit': 'fit', 'turned': True}))
            self._draft_buttons()

    def _cards(self) -> None:
        with card('things-card', self._word('things')):
            ui.label(self._word('renames')).classes('result')
            self._things = box('things')

    def _drawn(self, drawn: object) -> None:
        self._named(edit_of(drawn, self._name.value))

    def _named(self, edit: dict[str, Any]) -> None:
        """Do an edit, and empty the field of the name once an edit has used it."""
        if self._edit(edit) and 'name' in edit:
            self._name.set_value('')

    def _show(self, now: Plan) -> None:
        wrong = self._shared.findings(now)
        self._draw({**picture.layers(now, wrong, self._language), 'box': picture.box(now)})
        self._cell.set_value(now.grid.cell_size)
        self._degrees.set_value(round(math.degrees(now.grid.yaw), 3))
        self._say(self._word('reached', count=len(now.reached)), wrong)
        self._list(now)

    def _list(self, plan: Plan) -> None:
        """List what has a name, to be renamed as the input says, or removed."""
        self._things.clear()
        kinds = section('things', self._language)
        with self._things:
            for what in THINGS:
                for name in getattr(plan, what):
                    edit = {'what': what, 'name': name}
                    with box('control thing'):
                        ui.label(self._word('thing', name=name, kind=kinds[what])).classes(
                            'result')
                        button(self._word('rename'), 'rename', lambda edit=edit: self._named({
                            **edit, 'edit': 'rename', 'to': self._name.value}))
                        button(self._word('remove'), 'remove', lambda edit=edit: self._edit({
                            **edit, 'edit': 'remove'}))
