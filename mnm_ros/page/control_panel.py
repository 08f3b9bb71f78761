# SPDX-License-Identifier: Apache-2.0

"""The controls in one browser: buttons, the choice of a goal, and what came of each of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import time
from typing import Any

from mnm_ros.language import phrase, text_in
from mnm_ros.page.page_parts import box, button, card, Shown
from mnm_ros.page.page_subscriptions import SharedLayers
from mnm_ros.page.repeated_calls import CommandOutcome
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.web.panels import BAR, bar_line, CONTROLS, refusal, refusal_to_go
from nicegui import ui


class ControlPanel:
    """
    The bar in the head of the page, and the card of all other controls.

    :param shared: has the commands; none on a page that is read only.
    :param shown: the texts of the page.
    :param by: who presses the controls, for the record.
    :param selected: called with the state that was selected as a goal.
    :ivar chosen: the state that is chosen, here or on the map; None for none.
    """

    def __init__(self, shared: SharedLayers, shown: Shown, by: str, language: str,
                 selected: Callable[[int], None]) -> None:
        self.chosen: int | None = None
        self._shared, self._commands = shared, shared.commands
        self._shown, self._by, self._language = shown, by, language
        self._selected = selected
        self._came: tuple[object, ...] = ()    # as shown last
        self._buttons: dict[str, ui.button] = {}

    def build_bar(self) -> None:
        """Build the controls that are always in sight."""
        if self._commands is not None:
            with box('bar-row'):
                for name in BAR:
                    self._button(name, partial(self._commands.press, name, self._by))
                self._shown.text('bar', 'told').props('role=status')

    def build_card(self) -> None:
        """Build the card of the other controls."""
        commands, text = self._commands, self._shown.text
        with card('controls-card', self._word('controls')):
            if commands is None:
                ui.label(self._word('read_only')).classes('result')
                return
            for name in CONTROLS:
                if name in (*BAR, 'cancel'):
                    continue
                with box('control'):
                    self._button(name, partial(commands.press, name, self._by))
                    text(f'{name} result', 'result')
            with box('control'):
                self._button('go', self._go)
                self._select = ui.select(
                    {}, label=self._word('to_state'), with_input=True,
                    on_change=self._on_select).props(
                        'dense options-dense outlined').classes('select')
                self._button('cancel', partial(commands.press, 'cancel', self._by))
            text('go result', 'result')

    def choose(self, state: int | None) -> None:
        """Choose a state, as a goal if it can be one."""
        self.chosen = state
        if self._commands is not None:
            goals = self._shared.subscriptions.heard.knowledge.goals
            self._select.set_value(state if state in goals else None)
            self.chosen = state    # setting the value may have chosen another one

    def answer(self) -> None:
        """Say what has come of the control that was pressed last, without waiting for all else."""
        commands = self._commands
        if commands is None:
            return
        heard = self._shared.subscriptions.heard
        came = (commands.latest, dict(commands.outcomes),
                commands.outcome_of_goal(heard.description, self._language))
        if came != self._came:
            self._came = came
            self.show(heard)

    def show(self, heard: Telemetry) -> None:
        """Show what can be pressed, and what has come of it."""
        commands, once, say = self._commands, self._shown.once, self._shown.say
        if commands is None:
            return
        for name, pressed in self._buttons.items():
            refused = self._refusal(name)
            once(f'{name} enabled', not refused, pressed.set_enabled)
            if name not in (*BAR, 'go', 'cancel'):
                say(f'{name} result', self._came_of(commands.outcomes.get(name), refused))
        name, when = commands.latest
        outcome, goal = commands.outcomes.get(name), commands.outcome_of_goal(
            heard.description, self._language)
        way = self._came_of(goal, '')
        told = ['' if outcome is None else (
            f'{when} {phrase(f"controls.{name}", self._language)}: {self._came_of(outcome, "")}'),
                way if goal is not None and goal.good is None else '']
        say('bar', bar_line(heard, time.monotonic(), *told, language=self._language))
        refused = self._refusal('go') or self._refusal('cancel')
        cancelled = commands.outcomes.get('cancel')
        in_vain = '' if cancelled is None or cancelled.good is not False else (
            f'{phrase("controls.cancel", self._language)}: {self._came_of(cancelled, "")}')
        say('go result', ' \u00b7 '.join(filter(None, (way, in_vain, refused))))
        choices = {state: heard.description.name(state) for state in heard.knowledge.goals}
        once('choices', choices, lambda choices: self._select.set_options(
            choices, value=self.chosen if self.chosen in choices else None))

    def _word(self, name: str) -> str:
        return phrase(f'page.{name}', self._language)

    def _button(self, name: str, pressed: Callable[[], None]) -> None:
        def press() -> None:
            if not self._refusal(name):    # a browser may claim anything
                pressed()
                self.answer()    # all else can wait, and would hold this up
        self._buttons[name] = button(
            phrase(f'controls.{name}', self._language), name, press).tooltip(
            phrase(f'effects.{name}', self._language))

    def _refusal(self, name: str) -> str:
        heard = self._shared.subscriptions.heard
        if name == 'go':
            return refusal_to_go(self.chosen, heard, self._language)
        return refusal(name, heard, time.monotonic(), self._language)

    def _on_select(self, event: Any) -> None:
        if event.value is not None:    # it is None as well when the state chosen is lost
            self._selected(event.value)

    def _go(self) -> None:
        if self._commands and self.chosen is not None:
            self._commands.go(self.chosen, self._by)

    def _came_of(self, outcome: CommandOutcome | None, refused: str) -> str:
        """Return what came of a control, and why it is greyed out."""
        mark = '' if outcome is None else {True: '\u2713 ', False: '\u2717 ', None: '\u2026 '}[
            outcome.good]
        told = '' if outcome is None else f'{mark}{text_in(self._language, outcome.text)}'
        return ' \u00b7 '.join(filter(None, (told, refused)))
