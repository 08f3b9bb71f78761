# SPDX-License-Identifier: Apache-2.0

"""
The common parts of the pages on which a plan, or a place graph, is edited.

A picture is drawn on with one tool at a time. ``plan_page`` has the tools of cells, ``place_page``
those of places.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from mnm_ros.core.errors import FileError
from mnm_ros.language import Phrase, phrase, said_by, section, Text, text_in
from mnm_ros.page.page_parts import (
    asked_language,
    box,
    button,
    card,
    language_links,
    STYLE,
    ThemeButton,
    title,
    Worded,
)
from mnm_ros.plan import picture
from mnm_ros.plan.draft import Draft
from mnm_ros.plan.findings import Finding
from nicegui import run, ui

_PERIOD = 0.5    # s, between two checks for edits of others

_T = TypeVar('_T')


class PlanMap(Worded, component='plan_map.js'):    # type: ignore[call-arg]
    """The picture of a plan; emits ``drawn``, which a browser may invent."""


class Shared(Generic[_T]):
    """
    The draft that all browsers edit.

    :param where: whose draft it is.
    :param save: writes the draft; called with what was saved last, and returns what was written.
    :param forecast: says in a language how long it takes to explore it; may take long.
    :param findings: returns what is wrong with it.
    """

    def __init__(self, draft: Draft[_T], where: str, save: Callable[[_T, _T], Sequence[Phrase]],
                 forecast: Callable[[_T, str], Sequence[str]],
                 findings: Callable[[_T], Sequence[Finding]]) -> None:
        self.draft, self.where = draft, where
        self.forecast, self.findings = forecast, findings
        self._save = save

    def save(self) -> tuple[Text, ...]:
        """Write the draft; return what came of it, and what is wrong with it."""
        try:
            written = self._save(self.draft.now, self.draft.saved)
        except (FileError, OSError) as error:
            return Phrase.of('editor.failed', why=said_by(error)),
        self.draft.saved = self.draft.now
        return (Phrase.of('editor.saved', files=tuple(written)), *(
            _marked(each) for each in self.findings(self.draft.now) if each.fatal))


class EditPage(Generic[_T]):
    """
    The page in one browser.

    :param language: of a browser that asks for none in its address.
    :cvar tools: the names of the tools; the first one is in use at first.
    """

    tools: ClassVar[Sequence[str]]

    def __init__(self, shared: Shared[_T], language: str) -> None:
        self._language = asked_language(language)
        self._shared = shared
        self._shown: _T | None = None
        self._sent: dict[str, object] = {}
        ui.add_css(STYLE)
        ui.add_css(picture.STYLE)
        with ui.element('header').classes('head'):
            title(shared.where)
            self._state = ui.label().classes('chip')
            language_links(self._language)
            ThemeButton(phrase('page.theme', self._language))
        with box('page'), box('columns'):
            with box('main'):
                self._map_card()
            with box('side'):
                self._tools_card()
                self._cards()
                with card('findings-card', self._word('findings')):
                    self._findings = ui.label().classes('about')
                with card('forecast-card', self._word('exploring')):
                    button(self._word('simulate'), 'forecast', self._forecast)
                    self._told = ui.label().classes('about')
        ui.timer(_PERIOD, self._refresh)

    @abstractmethod
    def _controls(self) -> None:
        """Build what is below the tools, with ``_draft_buttons``."""

    @abstractmethod
    def _cards(self) -> None:
        """Build the cards below the tools."""

    @abstractmethod
    def _drawn(self, drawn: object) -> None:
        """Take what was drawn, whatever a browser has sent."""

    @abstractmethod
    def _show(self, now: _T) -> None:
        """Show a draft that has changed."""

    def _word(self, name: str, /, **fields: object) -> str:
        return phrase(f'editor.{name}', self._language, **fields)

    def _map_card(self) -> None:
        with card('map-card', self._word('plan')):
            self._map = PlanMap(words={
                **section('map', self._language), 'map': self._word('map')}).classes('map').on(
                'drawn', lambda event: self._drawn(event.args))
            self._hint = ui.label().classes('remark')

    def _tools_card(self) -> None:
        first, labels = self.tools[0], section('tools', self._language)
        with card('controls-card', self._word('tools')):
            ui.toggle({tool: labels[tool] for tool in self.tools}, value=first,
                      on_change=lambda event: self._use(event.value)).props(
                'dense no-caps').classes('tools')
            self._controls()
            self._result = ui.label().classes('result').props('role=status')
        self._use(first)

    def _draft_buttons(self) -> None:
        button(self._word('undo'), 'undo', self._undo)
        button(self._word('save'), 'save', self._save)

    def _use(self, tool: str) -> None:
        self._hint.set_text(phrase(f'hints.{tool}', self._language))
        self._map.run_method('use', tool)

    def _edit(self, edit: dict[str, Any]) -> bool:
        """Do an edit, or show why not."""
        done = self._shared.draft.take(edit)
        self._result.set_text(text_in(self._language, self._shared.draft.said))
        if not done:    # on a phone the reason may be out of sight
            ui.run_javascript(
                f'getHtmlElement({self._result.id}).scrollIntoView({{block: "nearest"}})')
        self._refresh()
        return done

    def _undo(self) -> None:
        self._shared.draft.undo()
        self._result.set_text('')
        self._refresh()

    def _save(self) -> None:
        self._result.set_text('; '.join(
            text_in(self._language, each) for each in self._shared.save()))
        self._refresh()

    async def _forecast(self) -> None:
        """Simulate aside, as it takes seconds."""
        now = self._shared.draft.now
        self._told.set_text(self._word('simulated'))
        told = await run.io_bound(self._shared.forecast, now, self._language)
        self._told.set_text('\n'.join(told or (self._word('nothing'),)))

    def _refresh(self) -> None:
        draft = self._shared.draft
        self._state.set_text(self._word(
            'now_saved' if draft.now is draft.saved else 'not_saved'))
        if draft.now is not self._shown:
            self._shown = draft.now
            self._show(draft.now)

    def _draw(self, layers: Mapping[str, object]) -> None:
        """Send the layers of the picture that have changed."""
        self._map.run_method('draw', {
            name: layer for name, layer in layers.items() if self._sent.get(name) != layer})
        self._sent.update(layers)

    def _say(self, head: str, wrong: Sequence[Finding]) -> None:
        """Show what is wrong."""
        self._findings.set_text('\n'.join([
            head, *(f'\u2022 {text_in(self._language, _marked(each))}' for each in wrong)]))


def _marked(finding: Finding) -> Phrase:
    """Return a finding with a mark if nothing can be explored."""
    return Phrase.of('editor.wrong', said=finding.said) if finding.fatal else finding.said
