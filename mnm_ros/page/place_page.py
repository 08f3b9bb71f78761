# SPDX-License-Identifier: Apache-2.0

"""The page on which a place graph is edited: places, their names, and the edges between them."""

from __future__ import annotations

from typing import Any, ClassVar

from mnm_ros.page.edit_page import EditPage, Shared
from mnm_ros.page.page_parts import box, button, card
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.plan import picture
from mnm_ros.plan.place_rules import PlaceRules
from nicegui import ui


def edit_of(drawn: object, graph: PlaceGraph, one_way: bool) -> dict[str, Any]:
    """
    Return the edit that a drawing means, whatever a browser has sent.

    :param drawn: an object with ``tool``, ``points`` in m, and of what was there at the first and
        the last of them ``near``: a place, an edge as a list of two places, or none.
    :param one_way: whether edges are made in one direction.
    """
    given = drawn if isinstance(drawn, dict) else {}
    tool, points, near = (given.get(key) for key in ('tool', 'points', 'near'))
    found = points if isinstance(points, list) else []
    first, last = (found[0], found[-1]) if found else (None, None)
    start, end = near if isinstance(near, list) and len(near) == 2 else (None, None)
    if tool == 'place':
        return {'edit': 'move', 'place': start, 'to': _moved(graph, start, first, last)}
    if tool == 'join':
        return {'edit': 'join', 'start': start, 'end': end, 'one_way': one_way}
    if tool == 'erase' and isinstance(start, list) and len(start) == 2:
        return {'edit': 'cut', 'start': start[0], 'end': start[1]}
    if tool == 'erase':
        return {'edit': 'remove', 'place': start}
    return {'edit': tool, 'at': first}


def _moved(graph: PlaceGraph, number: Any, first: Any, last: Any) -> list[float] | None:
    """Return where a place is after a drag that need not have begun in its middle."""
    try:
        place = graph.places[number]
        return [float(place.x + last[0] - first[0]), float(place.y + last[1] - first[1])]
    except (TypeError, IndexError, KeyError, ValueError, OverflowError):
        return None


class PlacePage(EditPage[PlaceGraph]):
    """The page of a place graph in one browser."""

    tools: ClassVar = ('view', 'place', 'add', 'join', 'erase')

    def __init__(self, shared: Shared[PlaceGraph], rules: PlaceRules, language: str) -> None:
        self._rules = rules
        self._box = picture.box(rules.plan)
        self._chosen: int | None = None
        super().__init__(shared, language)

    def _controls(self) -> None:
        with box('control'):
            self._one_way = ui.checkbox(self._word('one_way')).props('dense')
        with box('control'):
            self._draft_buttons()

    def _cards(self) -> None:
        """Build the fields that do without a mouse what the tools do with one."""
        with card('place-card', self._word('place_card')):
            with box('control'):
                self._place = ui.select({}, label=self._word('place'), with_input=True, on_change=(
                    lambda event: self._choose(event.value))).props(
                    'dense outlined').classes('select place-select')
                button(self._word('home'), 'home', lambda: self._edit_chosen('home'))
                button(self._word('remove'), 'remove', lambda: self._edit_chosen('remove'))
            with box('control'):
                self._name = ui.input(self._word('name')).props('dense outlined').classes(
                    'select name-field').on('keydown.enter', self._rename)
                button(self._word('rename'), 'rename', self._rename)
            with box('control'):
                self._x, self._y = (ui.number(
                    self._word('coordinate', axis=axis), step=0.1, format='%.3f').props(
                    'dense outlined').classes(f'select {axis}-input') for axis in 'xy')
                button(self._word('move'), 'move', lambda: self._edit_chosen(
                    'move', to=self._at()))
                button(self._word('add'), 'add', lambda: self._edit({
                    'edit': 'add', 'at': self._at()}))
            with box('control'):
                self._other = ui.select(
                    {}, label=self._word('other_place'), with_input=True).props(
                    'dense outlined').classes('select other-select')
                button(self._word('join'), 'join', lambda: self._edit({
                    'edit': 'join', 'start': self._chosen, 'end': self._other.value,
                    'one_way': self._one_way.value}))
                button(self._word('cut'), 'cut', lambda: self._edit({
                    'edit': 'cut', 'start': self._chosen, 'end': self._other.value}))

    def _at(self) -> list[float | None]:
        return [self._x.value, self._y.value]

    def _rename(self) -> None:
        self._edit_chosen('rename', to=self._name.value)

    def _edit_chosen(self, kind: str, **more: object) -> None:
        self._edit({'edit': kind, 'place': self._chosen, **more})

    def _drawn(self, drawn: object) -> None:
        if isinstance(drawn, dict) and drawn.get('tool') == 'choose':
            near = drawn.get('near')
            self._choose(near[0] if isinstance(near, list) and near else None)
            return
        graph = self._shared.draft.now
        if not self._edit(edit_of(drawn, graph, self._one_way.value)):
            for layer in ('places', 'things'):    # which the browser has changed by a drag
                self._sent.pop(layer, None)
            self._show(graph)

    def _edit(self, edit: dict[str, Any]) -> bool:
        """Do an edit; a place that is new is chosen."""
        before = self._shared.draft.now
        done = super()._edit(edit)
        new = self._shared.draft.now.places.keys() - before.places.keys()
        if new:
            self._choose(max(new))
        return done

    def _choose(self, number: object) -> None:
        """Choose a place; anything else for none."""
        graph = self._shared.draft.now
        self._chosen = number if isinstance(number, int) and number in graph.places else None
        if self._place.value != self._chosen:
            self._place.set_value(self._chosen)
        if self._chosen is not None:
            place = graph.places[self._chosen]
            self._name.set_value(place.name)
            self._x.set_value(place.x)
            self._y.set_value(place.y)
        self._draw({'chosen': picture.ring(self._rules.plan, graph, self._chosen)})

    def _show(self, now: PlaceGraph) -> None:
        wrong = self._shared.findings(now)
        self._draw({**picture.graph_layers(self._rules.plan, now, wrong, True, self._language),
                    'box': self._box})
        names = {number: now.name(number) for number in now.places}
        for select in (self._place, self._other):
            if select.options != names:
                select.set_options(names, value=select.value if select.value in names else None)
        self._choose(self._chosen)
        self._say(self._word('graph', count=len(now.places), ways=len(now.joined),
                             home=now.name(now.home)), wrong)
