# SPDX-License-Identifier: Apache-2.0

"""The page on which a floor plan is edited: grid, home, rooms, doors and keep-outs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import Any

from mnm_ros.core.errors import FileError
from mnm_ros.page.page_parts import box, button, card, STYLE, ThemeButton, title
from mnm_ros.plan import picture
from mnm_ros.plan.draft import Draft
from mnm_ros.plan.edits import THINGS
from mnm_ros.plan.findings import findings
from mnm_ros.plan.floor_plan import Plan
from nicegui import run, ui
from nicegui.element import Element

TOOLS = {'move': 'Move the grid', 'home': 'Home', 'room': 'Room', 'door': 'Door',
         'keep_out': 'Keep-out'}
_HINTS = {
    'move': 'Drag the cells to where they fit.',
    'home': 'Press where home is, and drag to where the robot looks there.',
    'room': 'Type a name, then click into the room.',
    'door': 'Type a name, then click at both ends of the door, on its walls.',
    'keep_out': 'Type a name, then click at each corner, and at the first one again (or Enter).'}
_PERIOD = 0.5    # s, between two looks at what others have edited
_SHORTEST = 0.1    # m, of a drag that turns home


class PlanMap(Element, component='plan_map.js'):    # type: ignore[call-arg]
    """The picture of a plan; emits ``drawn``, which a browser may invent, see ``edit_of``."""


class SharedPlan:
    """
    What all browsers edit.

    :param where: whose plan it is.
    :param save: writes it, and returns what was written.
    :param forecast: says how long it takes to explore it; may take long.
    """

    def __init__(self, draft: Draft[Plan], where: str, save: Callable[[Plan], Sequence[str]],
                 forecast: Callable[[Plan], Sequence[str]]) -> None:
        self.draft, self.where = draft, where
        self.forecast = forecast
        self._save = save
        draft.saved = draft.now

    def save(self) -> str:
        """Write the plan; return what came of it."""
        try:
            written = self._save(self.draft.now)
        except (FileError, OSError) as error:
            return f'not saved: {error}'
        self.draft.saved = self.draft.now
        return f'saved: {", ".join(written)}'


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


class PlanPage:
    """What one browser shows."""

    def __init__(self, shared: SharedPlan) -> None:
        self._shared = shared
        self._shown: Plan | None = None
        self._sent: dict[str, object] = {}
        self._name = ''
        ui.add_css(STYLE)
        ui.add_css(picture.STYLE)
        with ui.element('header').classes('head'):
            title(shared.where)
            self._state = ui.label().classes('chip')
            ThemeButton()
        with box('page'), box('columns'):
            with box('main'):
                self._map_card()
            with box('side'):
                self._tools_card()
                with card('findings-card', 'Look at'):
                    self._findings = ui.label().classes('about')
                with card('things-card', 'Rooms, doors and keep-outs'):
                    self._things = box('things')
                with card('forecast-card', 'Exploring it'):
                    button('Simulate', 'forecast', self._forecast)
                    self._told = ui.label().classes('about')
        ui.timer(_PERIOD, self._refresh)

    def _map_card(self) -> None:
        with card('map-card', 'Floor plan'):
            self._map = PlanMap().classes('map').on(
                'drawn', lambda event: self._edit(edit_of(event.args, self._name)))
            self._hint = ui.label(_HINTS['move']).classes('remark')

    def _tools_card(self) -> None:
        with card('controls-card', 'Tools'):
            ui.toggle(TOOLS, value='move', on_change=lambda event: self._use(event.value)).props(
                'dense no-caps').classes('tools')
            ui.input('name', on_change=lambda event: setattr(
                self, '_name', str(event.value))).props('dense outlined').classes('name-input')
            with box('control'):
                self._cell = ui.number('cell, m', step=0.05, format='%.3g').props(
                    'dense outlined').classes('cell-input')
                self._degrees = ui.number('turned, degrees', step=1, format='%.4g').props(
                    'dense outlined').classes('degrees-input')
                button('Set', 'grid', lambda: self._edit({
                    'edit': 'grid', 'cell': self._cell.value, 'degrees': self._degrees.value}))
            with box('control'):
                button('Best fit', 'fit', lambda: self._edit({'edit': 'fit', 'turned': True}))
                button('Undo', 'undo', self._undo)
                button('Save', 'save', self._save)
            self._result = ui.label().classes('result').props('role=status')

    def _use(self, tool: str) -> None:
        self._hint.set_text(_HINTS.get(tool, ''))
        self._map.run_method('use', tool)

    def _edit(self, edit: dict[str, Any]) -> None:
        self._shared.draft.take(edit)
        self._result.set_text(self._shared.draft.said)
        self._refresh()

    def _undo(self) -> None:
        self._shared.draft.undo()
        self._result.set_text('')
        self._refresh()

    def _save(self) -> None:
        self._result.set_text(self._shared.save())
        self._refresh()

    async def _forecast(self) -> None:
        """Simulate aside, as it takes seconds."""
        plan = self._shared.draft.now
        self._told.set_text('is being simulated')
        told = await run.io_bound(self._shared.forecast, plan)
        self._told.set_text('\n'.join(told or ('nothing can be explored: look at what is wrong',)))

    def _refresh(self) -> None:
        draft = self._shared.draft
        self._state.set_text('saved' if draft.now is draft.saved else 'not saved')
        plan = draft.now
        if plan is self._shown:
            return
        self._shown = plan
        wrong = findings(plan)
        now: dict[str, object] = {**picture.layers(plan, wrong), 'box': picture.box(plan)}
        self._map.run_method('draw', {
            name: layer for name, layer in now.items() if self._sent.get(name) != layer})
        self._sent = now
        self._cell.set_value(plan.grid.cell_size)
        self._degrees.set_value(round(math.degrees(plan.grid.yaw), 3))
        self._findings.set_text('\n'.join([
            f'{len(plan.reached)} places within reach of home',
            *(f'{"WRONG: " if each.fatal else ""}{each.text}' for each in wrong)]))
        self._list(plan)

    def _list(self, plan: Plan) -> None:
        """List what has a name, to be renamed as the input says, or removed."""
        self._things.clear()
        with self._things:
            for what in THINGS:
                for name in getattr(plan, what):
                    edit = {'what': what, 'name': name}
                    with box('control thing'):
                        ui.label(f'{name} ({what[:-1].replace("_", "-")})').classes('result')
                        button('Rename', 'rename', lambda edit=edit: self._edit({
                            **edit, 'edit': 'rename', 'to': self._name}))
                        button('Remove', 'remove', lambda edit=edit: self._edit({
                            **edit, 'edit': 'remove'}))
