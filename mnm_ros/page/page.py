# SPDX-License-Identifier: Apache-2.0

"""The page as one browser has it: built once, and changed where something new is to be seen."""

from __future__ import annotations

import time
from typing import Any

from mnm_ros.language import moment, phrase, section
from mnm_ros.page.control_panel import ControlPanel
from mnm_ros.page.looking_back import PastView
from mnm_ros.page.page_parts import (
    asked_language,
    box,
    card,
    Connection,
    language_links,
    Shown,
    StateMap,
    STYLE,
    ThemeButton,
    TimeSlider,
    title,
)
from mnm_ros.page.page_subscriptions import SharedLayers, where
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.web import figures
from mnm_ros.view.web.decisions import decisions_table
from mnm_ros.view.web.layers import Layers, LEGEND, on_the_map, policy_arrows
from mnm_ros.view.web.panels import events_table, machine, robots_table, stopped
from mnm_ros.view.web.situation import (
    as_sentence,
    consequences,
    doing,
    in_terms,
    phase_words,
)
from nicegui import ui

_PERIOD = 0.5       # s, between two checks for news
_SOON = 0.1         # s, between two checks of the control pressed last
_BEAT = 2.0         # s, between two signs of life for connection.js


class Page:
    """
    The page in one browser.

    :param language: of a browser that asks for none in its address.
    """

    def __init__(self, shared: SharedLayers, language: str) -> None:
        self._shared = shared
        self._language = asked_language(language)
        # A browser without an address is one of a test.
        self._by = f'page {ui.context.client.ip or ""}'.rstrip()
        self._then: PastView | None = None    # None for now
        self._sent: Layers = {}
        self._shown = Shown()
        self._controls = ControlPanel(
            shared, self._shown, self._by, self._language, self._choose)
        self._shown_chart: dict[str, Any] = {}
        self._tiles: dict[str, ui.element] = {}
        self._legend: dict[str, ui.element] = {}
        ui.add_css(STYLE)
        self._build()
        ui.timer(_PERIOD, self._refresh)
        ui.timer(_SOON, self._controls.answer)
        ui.timer(_BEAT, lambda: self._connection.run_method('beat'))

    def _build(self) -> None:
        self._head()
        with box('page') as self._page:
            self._presence = self._shown.text('presence', 'presence')
            self._consequences = self._shown.text('consequences', 'consequences').props(
                'role=status')
            with box('tiles'):
                for name in ('known', 'candidates', 'steps', 'changes', 'exploration'):
                    with box(f'tile tile-{name}') as self._tiles[name]:
                        with box('figure'):
                            self._shown.text(f'{name} value', 'value')
                            self._shown.text(f'{name} label', 'name')
                        self._shown.text(f'{name} remark', 'remark')
            with box('columns'):
                with box('main'):
                    self._map_card()
                    self._timeline_card()
                with box('side'):
                    self._doing_card()
                    with card('choice-card', '') as self._choice_card:
                        self._shown.text('chosen', 'choice')
                        self._shown.text('about', 'about')
                    with card('robots-card', self._word('robots')) as self._robots_card:
                        self._robots = ui.html('', sanitize=False).classes('robots')
                    with card('events-card', self._word('events')):
                        self._events = ui.html('', sanitize=False).classes('events').props(
                            f'tabindex=0 role=log aria-label="{self._word("happened")}"')
                    self._controls.build_card()
                    with card('evidence-card', self._word('evidence')) as self._evidence_card:
                        evidence = self._evidence_card
                        ui.checkbox(
                            self._word('numbers'), on_change=lambda event: evidence.classes(
                                toggle='with-figures')).props('dense').classes('numbers')
                        self._evidence = ui.html('', sanitize=False).classes('evidence')

    def _head(self) -> None:
        with ui.element('header').classes('head'):
            title(where(self._shared.of, self._language))
            self._shown.text('phase', 'chip')
            language_links(self._language)
            ThemeButton(self._word('theme'))
            self._controls.build_bar()
            with box('past-bar').props('role=status') as self._past_bar:
                with box('past-when'):
                    self._shown.text('past', '')
                    if self._shared.commands:
                        ui.label(self._word('acts_now')).classes('remark')
                ui.button(self._word('to_the_end' if self._shared.log else 'back_to_now'),
                          on_click=lambda: self._slide(None)).props(
                              'dense unelevated no-caps').classes('press press-now')
            self._connection = Connection(lost=self._word('lost'))

    def _map_card(self) -> None:
        with card('map-card', self._word('map')):
            self._map = StateMap(
                words=section('map', self._language), kinds=section('kinds', self._language),
                ).classes('map').on('pick', self._on_pick)
            self._slider = TimeSlider(
                words=section('slider', self._language),
                end=self._word('the_end' if self._shared.log else 'now')).on(
                'slide', lambda event: self._slide(event.args))
            with box('legend'):
                names = {**section('kinds', self._language), **section('legend', self._language)}
                for kind in LEGEND:
                    with box('entry') as self._legend[kind]:
                        box(f'dot {kind}')
                        ui.label(names[kind])
            self._hint = ui.label(self._word('hint'))

    def _doing_card(self) -> None:
        with card('doing-card', self._word('activity')):
            self._machine = ui.html('', sanitize=False)
            # A line of its own would move the buttons below it from under the pointer.
            with self._shown.text('doing', 'doing'):
                self._terms = ui.tooltip('')
            with box('progress') as self._progress:
                with box('track'):
                    self._bar = box('bar')
                self._shown.text('left', 'left')
                self._shown.text('detail', 'detail')

    def _timeline_card(self) -> None:
        with card('timeline-card', self._word('timeline')):
            self._chart = ui.echart(
                self._shared.chart(self._language), renderer='svg').classes('chart').props(
                f'role=img aria-label="{self._word("chart")}"')

    def _word(self, name: str) -> str:
        return phrase(f'page.{name}', self._language)

    def _refresh(self) -> None:
        now = time.monotonic()
        heard = self._shared.update()
        self._show_slider()
        self._show_presence(
            self._then.heard if self._then and self._shared.log else heard, now)
        self._controls.show(heard)
        chart = self._shared.chart(self._language)
        if chart is not self._shown_chart:
            self._shown_chart = chart
            self._chart.run_chart_method('setOption', self._shown_chart)
        if self._then:
            heard = self._then.heard
        tiles = {name: told for name, *told in figures.tiles(
            heard, self._language)}
        for name, tile in self._tiles.items():
            self._shown.once(f'{name} there', name in tiles, tile.set_visibility)
            for label, text in zip(('value', 'remark'), tiles.get(name, ())):
                self._shown.say(f'{name} {label}', text)
            if name in tiles:
                self._shown.say(f'{name} label', figures.tile_label(
                    name, tiles[name][0], self._language))
        out = consequences(heard, self._language)
        self._shown.say('consequences', out)
        self._shown.once('consequences there', bool(out), self._consequences.set_visibility)
        self._show_doing(heard)
        self._shown.once('robots there', bool(heard.robots), self._robots_card.set_visibility)
        self._shown.once('robots', robots_table(heard, self._language), self._robots.set_content)
        self._shown.once('events', events_table(heard, self._language), self._events.set_content)
        self._show_map(heard)

    def _show_presence(self, heard: Telemetry, now: float) -> None:
        """Say whether the explorer is there now, whatever the picture is of."""
        log = self._shared.log
        absence = figures.presence(
            heard, now, where(self._shared.of, self._language), self._language) if not log else (
            log.refused and phrase('page.log_ends', self._language, why=log.refused))
        silence = heard.silent(now)
        last = '' if silence is None else phrase(
            'page.last_heard', self._language,
            time=moment(time.time() - silence, '%H:%M:%S', self._language))
        self._shown.say('presence', ' '.join(filter(None, (absence, last))))
        self._shown.once('absent', bool(absence), self._presence.set_visibility)
        self._shown.once('kind', 'past' if self._then else '' if silence is None else 'stale',
                   lambda kind: self._page.classes(kind, remove='past stale'))
        phase = phase_words(heard, self._language) if silence is None else phrase(
            'phases.silent', self._language)
        self._shown.say('phase', ', '.join(filter(None, (
            phase or self._word('no_explorer'), stopped(heard, self._language)))))

    def _show_slider(self) -> None:
        moments = self._shared.looking_back.past.moments
        at, told = len(moments), ''
        if self._then and not (moments and moments[0].number <= self._then.moment.number):
            self._then = None    # an exploration has started again
        if self._then:    # found by its number, as it may be forgotten meanwhile
            at, told = self._then.among(moments), self._then.told(self._language)
            self._shown.say('past', phrase(f'page.{"shown" if self._shared.log else "past_shown"}',
                                     self._language, moment=told))
        begin = '' if not moments else moment(
            moments[0].time, language=self._language) if moments[0].time else phrase(
                'event.step', self._language, step=moments[0].step)
        self._shown.once('slider', (len(moments), at, begin, told),
                   lambda shown: self._slider.run_method('show', *shown))
        self._shown.once('past there', bool(told), self._past_bar.set_visibility)

    def _slide(self, wanted: Any) -> None:
        """Show a moment of the past by its number, or now; a browser may claim anything."""
        moments = self._shared.looking_back.past.moments
        self._then = None
        self._shared.update()    # so that there is a map, in whose frame the past is drawn
        if type(wanted) is int and 0 <= wanted < len(moments):
            self._then = self._shared.looking_back.then(
                moments[wanted], self._shared.places, self._shared.layers)
        self._shown.forget('slider')    # which waits for an answer
        self._refresh()

    def _show_doing(self, heard: Telemetry) -> None:
        phase = heard.activity.within(heard.phase)
        self._shown.once('machine', machine(phase, self._language), self._machine.set_content)
        self._shown.say('doing', doing(heard, self._by, self._language))
        self._shown.once('terms', in_terms(heard, self._language), self._terms.set_text)
        bar = figures.bar(heard, self._language)
        self._shown.once('progress', bar is not None, self._progress.set_visibility)
        if bar is not None:
            self._shown.once('bar', f'{bar.share:.1%}',
                       lambda width: self._bar.style(f'width: {width}'))
            self._shown.say('left', bar.text)
            self._shown.say('detail', bar.detail)
        tests = decisions_table(heard, self._language)
        self._shown.once('tests', bool(tests), self._evidence_card.set_visibility)
        self._shown.once('evidence', tests, self._evidence.set_content)

    def _show_map(self, heard: Telemetry) -> None:
        layers = {**(self._then.layers if self._then else self._shared.layers),
                  'policy': self._policy(heard),
                  'chosen': None if self._controls.chosen is None else str(self._controls.chosen)}
        news = {name: layer for name, layer in layers.items()
                if name not in self._sent or self._sent[name] != layer}
        if news:
            self._sent = layers
            self._map.run_method('draw', news)
            present = on_the_map(layers)
            for kind, entry in self._legend.items():
                self._shown.once(f'legend {kind}', kind in present, entry.set_visibility)
        state = self._controls.chosen
        self._shown.once('hint', state is None, self._hint.set_visibility)
        self._shown.once('choice', state is not None, self._choice_card.set_visibility)
        if state is not None:
            name = heard.description.names.get(state)
            self._shown.say('chosen', heard.description.name(state) if name else as_sentence(
                phrase('about.state', self._language, state=str(state))))
            self._shown.say('about', '\n'.join(figures.about(heard, state, self._language)))

    def _policy(self, heard: Telemetry) -> dict[str, list[Any]] | None:
        if self._controls.chosen is None:
            return None
        if self._then:
            return self._then.arrows(self._controls.chosen)
        policy = self._shared.subscriptions.policy_to(self._controls.chosen)
        return policy_arrows(heard, policy, self._shared.places.latest) if policy else None

    def _on_pick(self, event: Any) -> None:
        picked = event.args
        try:
            self._choose(None if picked is None else int(picked))
        except (TypeError, ValueError, OverflowError):
            return

    def _choose(self, state: int | None) -> None:
        if state != self._controls.chosen:
            self._controls.choose(state)
            self._refresh()
