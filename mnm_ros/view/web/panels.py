# SPDX-License-Identifier: Apache-2.0

"""What of the page is beside the map: state machine, tables, timeline, and what can be done."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from mnm_ros.core.progress.events import Event
from mnm_ros.core.queries import Phase
from mnm_ros.language import ENGLISH, moment, phrase, phrase_or
from mnm_ros.view.event_words import condensed, told, tone
from mnm_ros.view.scene import KINDS
from mnm_ros.view.sentences import place
from mnm_ros.view.telemetry import NOT_KEPT, Telemetry
from mnm_ros.view.web.situation import as_sentence, paused_for_goal
from mnm_ros.view.words import whole

_BOXES = {
    Phase.WAITING_FOR_ROBOT: (4, 8, 108),
    Phase.PAUSED: (4, 52, 108),
    Phase.FAULT: (4, 96, 50),
    Phase.DONE: (62, 96, 50),
    Phase.BUILDING_DISCOVERY: (148, 30, 84),
    Phase.BUILDING_EVALUATION: (148, 84, 84),
    Phase.CHECKING_REDISCOVERY: (272, 30, 84),
    Phase.CHECKING_EVALUATION: (272, 84, 84)}
"""Left, top and width of each phase."""

_GROUPS = (('building', 140, 100), ('checking', 264, 100))
_HIGH = 28
_ARROWS = (
    'M112 22H136', 'M136 66H116',                     # it begins, and it can always be paused
    'M176 58V82', 'M204 84V60', 'M300 58V82', 'M328 84V60',    # within building and checking
    'M240 50H262', 'M264 92H242')                     # a hypothesis, and a change
_HEAD = {'H': ((-5, -3), (-5, 3)), 'V': ((-3, -5), (3, -5))}


def machine(phase: str, language: str = ENGLISH) -> str:
    """Return the picture as SVG; ``phase`` is as published, and need not be known here."""
    group, _, detail = phase.partition('/')
    label = phrase('machine.label', language, phase=', '.join(
        phrase_or(f'machine.{name}', language, name)
        for name in (group, *([phase] if detail else ()))))
    parts = ['<svg class="machine" viewBox="0 0 368 132" role="img" '
             f'aria-label="{escape(label)}">']
    for name, left, width in _GROUPS:
        lit = ' lit' if phase.partition('/')[0] == name else ''
        parts.append(
            f'<g class="group{lit}"><rect x="{left}" y="4" width="{width}" height="122" rx="8"/>'
            f'<text x="{left + width / 2:g}" y="20">{phrase(f"machine.{name}", language)}</text>'
            '</g>')
    parts += [f'<path d="{arrow}{_head(arrow)}"/>' for arrow in _ARROWS]
    for known, (left, top, width) in _BOXES.items():
        lit = ' lit' if phase == known.value else ''
        text = escape(phrase(f'machine.{known.value}', language))
        parts.append(
            f'<g class="phase {known.value.partition("/")[0]}{lit}"><rect x="{left}" y="{top}" '
            f'width="{width}" height="{_HIGH}" rx="6"/>'
            f'<text x="{left + width / 2:g}" y="{top + 18}">{text}</text></g>')
    return ''.join([*parts, '</svg>'])


def _head(arrow: str) -> str:
    """Return the head of an arrow, which ends with a way to the side or down."""
    begin, way = arrow[1:-1], ''
    for letter in 'HV':
        if letter in arrow:
            begin, way = arrow[1:].split(letter)
            break
    x, y = map(int, begin.split())
    end_x, end_y = (int(way), y) if letter == 'H' else (x, int(way))
    sign = 1 if end_x > x or end_y > y else -1
    return ''.join(f'M{end_x} {end_y}l{sign * dx} {sign * dy}' for dx, dy in _HEAD[letter])


def robots_table(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return how each of several robots is, as HTML; empty for one without a name."""
    rows = ''.join(
        f'<tr class="{robot.level}"><td>{escape(robot.name)}</td>'
        f'<td>{"" if robot.steps is None else whole(robot.steps, language)}</td>'
        f'<td>{"" if robot.place is None else escape(heard.description.name(robot.place))}</td>'
        f'<td>{escape(robot.status)}</td></tr>'
        for robot in heard.robots)
    heads = ''.join(f'<th>{escape(phrase(f"robots.{name}", language))}</th>'
                    for name in ('robot', 'steps', 'state', 'status'))
    return f'<table><tr>{heads}</tr>{rows}</table>' if rows else ''


def events_table(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return what has happened as HTML, the last first."""
    return '<table>' + ''.join(
        f'<tr class="{escape(f"{event.kind} {tone(event)}".strip())}"><td>'
        f'{escape(_time(event, language))}</td>{_cell(event, heard, language)}</tr>'
        for event in reversed(condensed(heard.events))) + '</table>'


def _time(event: Event, language: str) -> str:
    return moment(event.time, '%a %H:%M:%S', language) if event.time else (
        phrase('event.step', language, step=event.step))


def _cell(event: Event, heard: Telemetry, language: str) -> str:
    """Return an event in plain words, and under the pointer in the terms of the algorithm."""
    said, terms = (told(event, heard.description, language, plain) for plain in (True, False))
    title = '' if said == terms else f' title="{escape(terms)}"'
    return f'<td{title}>{escape(as_sentence(said))}</td>'


MOST = 400    # points that are kept; of more, every second one is forgotten
_LINES = {'lineStyle': {'color': '#88888833'}}


class _Point(NamedTuple):
    steps: int
    known: int
    candidates: int
    exploration: int | None


class Timeline:
    """
    Keeps a point for each report of the explorer.

    :ivar noticed: steps by which a change had been noticed.
    :ivar true: steps by which the world had changed, if a simulator reports it.
    """

    def __init__(self) -> None:
        self.noticed: list[int] = []
        self.true: list[int] = []
        self._points: list[_Point] = []
        self._reports = 0
        self._before: tuple[int | None, int | None] = (None, None)

    def update(self, heard: Telemetry) -> bool:
        """Take in what is known now; return whether that is something new."""
        steps = heard.count('steps')
        if steps is None or heard.reports == self._reports:
            return False
        self._reports = heard.reports
        if self._points and steps < self._points[-1].steps:    # an explorer that was started again
            self.__init__()    # type: ignore[misc]
            self._reports = heard.reports
        noticed, setting = self._before
        self._before = heard.count('changes_noticed'), heard.true_setting
        for before, now, steps_of in (
                (noticed, self._before[0], self.noticed), (setting, self._before[1], self.true)):
            if None not in (before, now) and before != now:
                steps_of.append(steps)
        point = _Point(steps, len(heard.known), heard.candidates or 0,
                       heard.exploration_steps)
        if self._points[-1:] == [point]:
            return False
        self._points.append(point)
        if len(self._points) > MOST:
            self._points = [*self._points[:-1:2], self._points[-1]]
        return True

    def options(self, language: str = ENGLISH) -> dict[str, Any]:
        """Return the chart, as ECharts wants it."""
        explored = [[point.steps, point.exploration] for point in self._points
                    if point.exploration is not None]
        word = {name: phrase(f'timeline.{name}', language)
                for name in ('known', 'candidates', 'exploration', 'noticed', 'truly')}
        series = [
            _line(word['known'], KINDS['known'].colour,
                  [[point.steps, point.known] for point in self._points]),
            _line(word['candidates'], KINDS['candidate'].colour,
                  [[point.steps, point.candidates] for point in self._points]),
            {**_line(word['exploration'], '#8a6fd1', explored), 'yAxisIndex': 1, 'step': False},
            _marks(word['noticed'], KINDS['lost'].colour, 'solid', self.noticed),
            _marks(word['truly'], '#888888', 'dashed', self.true)]
        names = [entry['name'] for entry in series
                 if entry['data'] or entry.get('markLine', {}).get('data')]
        first = self._points[0].steps if self._points else 0
        # By itself ECharts writes numbers as in English.
        label = {'color': '#888888', 'hideOverlap': True,
                 ':formatter': f'value => value.toLocaleString("{language}")'}
        axis = {'type': 'value', 'axisLabel': label, 'splitLine': _LINES}
        return {
            'animation': False,
            'textStyle': {'fontFamily': 'inherit'},
            'legend': {'data': names, 'top': 0, 'left': 0, 'icon': 'roundRect', 'itemWidth': 16,
                       'itemHeight': 4, 'itemGap': 24,
                       'textStyle': {'color': '#888888'}},
            'grid': {'left': 38, 'right': 58, 'top': 52, 'bottom': 26},
            'tooltip': {'trigger': 'axis', 'confine': True},
            'xAxis': {**axis, 'min': first, 'max': 'dataMax', 'splitNumber': 4,
                      'axisLabel': {**label, 'showMinLabel': False, 'showMaxLabel': False},
                      'splitLine': {'show': False}},
            'yAxis': [
                {**axis, 'minInterval': 1},
                {**axis, 'splitNumber': 3, 'splitLine': {'show': False},
                 'show': bool(explored)}],
            'series': series}


def _line(name: str, colour: str, points: list[Any]) -> dict[str, Any]:
    return {'name': name, 'type': 'line', 'step': 'end', 'showSymbol': False, 'data': points,
            'color': colour, 'lineStyle': {'width': 2}}


def _marks(name: str, colour: str, kind: str, steps: list[int]) -> dict[str, Any]:
    """Return vertical lines; the name stands in the legend if there are any."""
    return {'name': name, 'type': 'line', 'data': [], 'color': colour,
            'lineStyle': {'type': kind, 'width': 2},
            'markLine': {
                'silent': True, 'symbol': 'none', 'label': {'show': False},
                'lineStyle': {'color': colour, 'type': kind, 'width': 2},
                'data': [{'xAxis': step} for step in steps]}}


class Control(NamedTuple):
    """
    A button; the table of words has its label under ``controls``, what it does under ``effects``.

    :ivar service: that it calls.
    :ivar data: of a ``std_srvs/SetBool``; None for a ``std_srvs/Trigger``.
    :ivar offerer: who offers the service, as the table has it under ``offerers``.
    """

    service: str
    data: bool | None
    offerer: str


CONTROLS = {
    'stop': Control('stop', True, 'robot_side'),
    'pause': Control('explore', False, 'explorer'),
    'resume': Control('explore', True, 'explorer'),
    'home': Control('return_home', None, 'robot_side'),
    'recover': Control('recover', None, 'explorer'),
    'look': Control('look', None, 'explorer'),
    'save': Control('save', None, 'explorer'),
    'load': Control('load', None, 'explorer'),
    'change': Control('change', None, 'simulator'),
    'cancel': Control('cancel', None, 'navigator'),
}

BAR = ('stop', 'pause', 'resume', 'home')
"""The controls that are always in sight."""

OF_ROBOTS = ('stop', 'return_home')
"""The services that each of several robots offers in its own namespace."""


def refusal(name: str, heard: Telemetry, now: float, language: str = ENGLISH) -> str:
    """Return why a control is of no use at present; empty if it is."""
    control = CONTROLS[name]
    if name == 'resume' and heard.stopped:
        return ''    # whatever the explorer does, the robot is to be freed
    if control.service not in heard.offered:
        return phrase('refusals.needs', language, service=control.service,
                      offerer=phrase(f'offerers.{control.offerer}', language))
    if control.offerer == 'explorer' and heard.silent(now) is not None:
        return phrase('refusals.silent', language)
    useless = _without_effect(name, heard.report)
    if not useless and not (name == 'pause' and paused_for_goal(heard)):
        useless = _useless_in(heard.phase, name)
    return useless and phrase(f'refusals.{useless}', language)


def _without_effect(name: str, report: Mapping[str, str]) -> str:
    """Return the name of why a control would do nothing, by the diagnostics, or nothing."""
    if name in ('save', 'load') and report.get('checkpoint') == NOT_KEPT:
        return 'not_kept'
    return 'none_closed' if name == 'look' and not report.get('closed') else ''


def _useless_in(phase: str, name: str) -> str:
    """Return the name of why a control is of no use in a phase, or nothing."""
    if name == 'recover':
        return '' if phase == 'fault' else 'no_fault'
    if name == 'load':
        return '' if phase in ('paused', 'fault', 'done') else 'pause_first'
    if name in ('look', 'pause', 'resume') and phase in ('fault', 'done'):
        return phase
    if name == 'pause' and phase == 'paused':
        return 'paused'
    if name == 'resume' and phase.partition('/')[0] in ('building', 'checking'):
        return 'exploring'
    return ''


def stopped(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return which robots the service ``stop`` keeps at rest, in words; or nothing."""
    names = () if heard.all_stopped else sorted(heard.stopped - {''})
    return ' '.join((*names, phrase('asked.stop', language))) if heard.stopped else ''


def bar_line(heard: Telemetry, now: float, *came_of_it: str, language: str = ENGLISH) -> str:
    """
    Return what stands below the bar.

    :param came_of_it: what came of the control that was pressed last, and of a goal under way.
    """
    missing = (f'{phrase(f"controls.{name}", language)} {refused}' for name in ('stop', 'home')
               if (refused := refusal(name, heard, now, language)))
    lasting = phrase('doing.at_rest', language) if heard.stopped else ''
    return ' \u00b7 '.join(filter(None, (*came_of_it, lasting, *missing)))


def refusal_to_go(state: int | None, heard: Telemetry, language: str = ENGLISH) -> str:
    """Return why the robot cannot be sent to a state; empty if it can."""
    if not heard.navigator:
        return phrase('refusals.no_navigator', language)
    if state is None:
        return phrase('refusals.no_place', language)
    if state in heard.knowledge.goals:
        return ''
    return phrase(f'refusals.{"doubted" if state in heard.known else "not_known"}', language,
                  place=place(state, heard.description, language))
