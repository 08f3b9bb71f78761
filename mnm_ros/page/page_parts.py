# SPDX-License-Identifier: Apache-2.0

"""The parts of pages: style, boxes, cards, light or dark, language, and elements of a browser."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

from mnm_ros.language import ENGLISH, LANGUAGES, phrase
from mnm_ros.view.scene import KINDS
from nicegui import ui
from nicegui.element import Element

STYLE = Path(__file__).with_name('page.css').read_text(encoding='utf-8') + ''.join(
    f'@layer overrides {{ body {{ --{name}: {kind.colour}; }} '
    f'body.body--dark {{ --{name}: {kind.dark}; }} }}' for name, kind in KINDS.items())
ICON = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M7 24V9l9 9 9-9v15" '
        'fill="none" stroke="#2a9d6f" stroke-width="3"/><circle cx="7" cy="24" r="4" '
        'fill="#2a9d6f"/><circle cx="25" cy="24" r="4" fill="#e0a100"/></svg>')
_THEMES = {None: ('brightness_auto', True), True: ('dark_mode', False),
           False: ('light_mode', None)}
"""By what is chosen, the icon and what comes next; None is what the system wants."""


def box(classes: str) -> ui.element:
    """Return a box with these classes of the style."""
    return ui.element('div').classes(classes)


def card(classes: str, title: str) -> ui.element:
    """Return a card, with a heading if it has a title."""
    made = ui.element('section').classes(f'card {classes}')
    if title:
        with made:
            ui.label(title).classes('heading').props('role=heading aria-level=2')
    return made


def button(label: str, name: str, pressed: object) -> ui.button:
    """Return a button in the style of those that operate a robot."""
    return ui.button(label, on_click=pressed).props(
        'dense unelevated no-caps').classes(f'press press-{name}')


def title(where: str) -> None:
    """Begin the head of a page: icon, name, and what it is of."""
    ui.html(ICON.replace('<svg ', '<svg class="icon" '), sanitize=False)
    ui.label('mnm_ros').classes('title').props('role=heading aria-level=1')
    ui.label(where).classes('where')


class Shown:
    """The texts and values that a browser shows; only what is new is sent to it."""

    def __init__(self) -> None:
        self._labels: dict[str, ui.label] = {}
        self._texts: dict[str, str] = {}
        self._values: dict[str, str] = {}

    def text(self, name: str, classes: str) -> ui.label:
        """Return a label for the texts of a name."""
        self._labels[name] = ui.label().classes(classes)
        return self._labels[name]

    def say(self, name: str, text: str) -> None:
        """Show a text in the label of that name."""
        if self._texts.get(name) != text:
            self._texts[name] = text
            self._labels[name].set_text(text)

    def once(self, name: str, value: Any, show: Callable[[Any], Any]) -> None:
        """Show a value unless it is shown already."""
        key = f'{value!r}'
        if self._values.get(name) != key:
            self._values[name] = key
            show(value)

    def forget(self, name: str) -> None:
        """Let a value be shown again, whatever the browser shows."""
        self._values.pop(name, None)


class ThemeButton:
    """Light, dark, or as the system has it."""

    def __init__(self, label: str) -> None:
        self._dark = ui.dark_mode(None)
        self._button = ui.button(icon='brightness_auto', on_click=self._next).props(
            f'flat round dense color=grey aria-label="{label}"')

    def _next(self) -> None:
        self._dark.value = _THEMES[self._dark.value][1]
        self._button.props(f'icon={_THEMES[self._dark.value][0]}')


class Worded(Element):
    """A component that takes its words from the table."""

    def __init__(self, **words: object) -> None:
        super().__init__()
        self._props.update(words)


class StateMap(Worded, component='state_map.js'):    # type: ignore[call-arg]
    """The map of states; emits ``pick`` with the id of a state as text, or None."""


class Connection(Worded, component='connection.js'):    # type: ignore[call-arg]
    """Says that the server is silent; its method ``beat`` says that it is not."""


class TimeSlider(Worded, component='time_slider.js'):    # type: ignore[call-arg]
    """Emits ``slide`` with the number of a moment, or None for its right end."""


def asked_language(otherwise: str) -> str:
    """
    Return the language that a browser asks for in its address, and let the page say it.

    The texts of NiceGUI are in that language then, unlike those of other pages.

    :param otherwise: of a browser that asks for none.
    """
    client = ui.context.client
    asked = client.request.query_params.get('language')
    language: str = asked if asked in LANGUAGES else otherwise
    client.page = copy(client.page)
    client.page.language = 'en-US' if language == ENGLISH else language
    return language


def language_links(language: str) -> None:
    """Link to the same page in each other language."""
    for each in LANGUAGES:
        if each != language:
            ui.link(phrase('page.language', each), f'?language={each}').props(
                f'lang={each} hreflang={each}').classes('language')
