# SPDX-License-Identifier: Apache-2.0

"""The live view: a screen that is redrawn in a terminal, and else lines one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
import textwrap
import time
from typing import TextIO

from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.progress.activity import Evidence
from mnm_ros.language import ENGLISH, moment, phrase, phrase_or
from mnm_ros.robot_description import UNDESCRIBED
from mnm_ros.view import words
from mnm_ros.view.event_words import condensed, told
from mnm_ros.view.sentences import by_room
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.terminal.state_grid import described, Picture, WorldView
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_WIDE = 132       # columns from which on map and events stand beside the figures
_FIGURES = 76     # columns of the figures there
_EVENTS = 26      # columns, at least, of the events where all stands below each other
_BAR = 20         # columns of a bar
_SILENT = 5.0     # s without diagnostics, which come once a second
_TESTS = 6        # that are shown where there is room
_ROBOTS = 6       # that are shown, of several


@dataclass(frozen=True)
class Frame:
    """
    The frame around the views of a run.

    :ivar title: the name of the scenario.
    :ivar settings: the number of its settings; 0 if that is not known.
    :ivar hint: shown below everything else.
    :ivar language: of the words.
    """

    title: str
    settings: int = 0
    hint: str = ''
    language: str = ENGLISH


@dataclass(frozen=True)
class View:
    """
    One picture of the live view, which fits into the console that prints it.

    :ivar seconds: since the start of the nodes, or of the watch.
    :ivar picture: of the setting in force; empty if the world is no grid.
    :ivar silent: seconds since the last diagnostics.
    """

    heard: Telemetry
    frame: Frame
    seconds: float = 0.0
    picture: Picture = ()
    silent: float = 0.0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # The last column and the last line stay free, so that no terminal scrolls or wraps.
        width, height = options.max_width - 1, console.size.height - 1
        body = self._wide if width >= _WIDE else self._narrow
        whole = Group(self._title(width), '', *body(console, options, width, height - 3),
                      Text(words.clip(self.frame.hint, width), 'dim'))
        lines = console.render_lines(whole, options.update(width=width), pad=False)
        for line in lines[:height]:
            yield from line
            yield Segment.line()

    def _title(self, width: int) -> Text:
        clock = words.clock(self.seconds)
        title = words.clip(f'mnm_ros: {self.frame.title}', width - len(clock) - 1)
        return Text(title, 'bold') + Text(clock.rjust(width - len(title)), 'not bold')

    def _narrow(self, console: Console, options: ConsoleOptions, width: int,
                height: int) -> Iterator[RenderableType]:
        figures = self._figures(width, tests=1)
        used = len(console.render_lines(figures, options.update(width=width)))
        yield figures
        room = height - used - 2    # a line for the key, and one between
        world, key, columns = self._world(room, width - _EVENTS)
        events = self._events(room, width - columns - 2 if world else width)
        if room > 0:
            yield ''
            yield _beside(world, columns, events)
            yield key

    def _wide(self, console: Console, options: ConsoleOptions, width: int,
              height: int) -> Iterator[RenderableType]:
        left = width - _FIGURES - 2
        world, key, columns = self._world(height - 2, left // 2)
        events = self._events(height - 2, left - columns - 2 if world else left)
        table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(width=_FIGURES)
        table.add_column(width=left)
        table.add_row(self._figures(_FIGURES, tests=_TESTS), _beside(world, columns, events))
        yield table
        yield ''
        yield key

    def _figures(self, width: int, tests: int) -> Table:
        room = width - words.LABEL
        table = Table.grid(padding=0, pad_edge=False)
        table.add_column(width=words.LABEL, style='dim', no_wrap=True)
        table.add_column(width=room, overflow='fold')
        for label, value in self._rows(room):
            table.add_row(label and self._word(label), value)
        for index, test in enumerate(self.heard.activity.tests[:tests]):
            table.add_row('' if index else self._word('evidence'), self._test(test, room))
        return table

    def _rows(self, room: int) -> Iterator[tuple[str, RenderableType]]:
        now, language = self.heard, self.frame.language
        yield 'phase', words.joined(
            now.activity.within(now.phase) or phrase('figures.starting', language),
            phrase('terminal.round_now', language, round=now.count('round')),
            phrase('terminal.hypothesis', language, version=words.version(now))
            if now.hypothesis else self._word('no_hypothesis'),
            words.rests_on(now, language) if now.hypothesis else '')
        yield 'status', words.clip(now.status or '-', 3 * room)
        missed = phrase('terminal.silent', language, time=words.clock(self.silent)) if (
            self.silent > _SILENT) else self._word('stopped') if now.all_stopped else (
            words.late(now, language))
        yield from [('', Text(missed, 'bold red'))] * bool(missed)
        if now.activity.sentence not in ('', now.status):
            yield 'doing', words.clip(now.activity.sentence, 2 * room)
        if now.progress is not None:
            yield 'progress', self._progress(room)
        yield 'known', words.known(now, 2 * room, language)
        rooms = by_room({*now.known}, now.description, language)
        if rooms:
            yield 'rooms', words.clip(rooms, 2 * room)
        beyond, lost = map(now.knowledge.of, (StateKind.BEYOND, StateKind.LOST))
        if now.hypothesis is None or now.candidates or not beyond:
            yield 'candidates', words.whole(now.candidates, language)
        if beyond:
            yield 'beyond', words.numbered(beyond, room, now.description, language)
        if lost:
            yield 'lost', Text(words.numbered(lost, room, now.description, language), 'bold red')
        yield 'steps', self._steps()
        for index, line in enumerate(words.robots(now, _ROBOTS, language)):
            yield '' if index else 'robots', words.clip(line, room)
        yield 'changes', phrase('terminal.changes_now', language,
                                noticed=now.count('changes_noticed'),
                                relearnt=now.count('changes_relearnt'))
        if now.exploration_steps is not None:    # only cmp_sim counts them
            yield 'exploration', phrase(
                'terminal.explored', language, count=now.exploration_steps)
        if now.true_setting is not None:
            yield 'setting', words.setting(now.true_setting, self.frame.settings, language)

    def _word(self, name: str) -> str:
        return phrase(f'terminal.{name}', self.frame.language)

    def _progress(self, room: int) -> RenderableType:
        found = self.heard.progress
        assert found is not None
        return _bar(found.done, found.expected, words.to_go(
            self.heard, self.frame.language), room, 'green')

    def _steps(self) -> str:
        now, found = self.heard, self.heard.progress
        language = self.frame.language
        steps, rate = words.steps(now, language), words.rate(now, language)
        made = words.made(now, language)
        if found is None:
            return words.joined(f'{steps}{rate}', made)
        if found.aim == 'first hypothesis':    # which takes all steps from the first one on
            return words.joined(phrase(
                'terminal.of_about', language, steps=steps, expected=found.expected) + rate, made)
        return words.joined(f'{steps}{rate}', made, phrase(
            'terminal.for_aim', language, done=found.done, expected=found.expected,
            aim=phrase_or(f'aims.{found.aim}', language, found.aim)))

    def _test(self, test: Evidence, room: int) -> RenderableType:
        now = self.heard
        about = '' if test.state is None else f' {now.description.name(test.state)}'
        action = '' if test.action is None else (
            f' {now.description.action_name(test.action, test.state)}')
        kind = phrase_or(f'evidence.{test.kind}', self.frame.language, test.kind)
        said = f'{words.of_threshold(test, self.frame.language)}: {kind}{about}{action}'
        return _bar(test.evidence, test.threshold, said, room, 'yellow')

    def _world(self, rows: int, columns: int) -> tuple[list[Text], Text, int]:
        """Return the lines of the map or the list, what the marks mean, and the columns."""
        view = WorldView(self.heard, self.frame.language)
        rows = max(0, rows)
        # At the very beginning the robot has not been anywhere.
        lines = view.map(self.picture, rows, columns) if self.picture else view.list(rows, columns)
        return lines, view.key(), max((len(line) for line in lines), default=0)

    def _events(self, rows: int, width: int) -> list[Text]:
        """Return the last events, newest first, none of them cut, as many as there is room."""
        lines: list[Text] = []
        for event in reversed(condensed(self.heard.events)):
            at = moment(event.time, '%H:%M:%S')
            wrapped = textwrap.wrap(told(
                event, self.heard.description, self.frame.language), max(10, width - 9)) or ['']
            if len(lines) + len(wrapped) > rows:
                break
            lines.append(Text.assemble((at, 'dim'), ' ', wrapped[0]))
            lines += [Text(' ' * 9 + rest) for rest in wrapped[1:]]
        return lines


def _bar(done: float, total: float, said: str, room: int, colour: str) -> RenderableType:
    left = room - _BAR - 1
    if left < len(said) // 2:
        return said
    bar = Table.grid(padding=0, pad_edge=False)
    bar.add_column(width=_BAR + 1)
    bar.add_column(width=left, overflow='fold')
    total = max(total, 1e-9)
    bar.add_row(ProgressBar(
        total=total, completed=min(max(done, 0.0), total), width=_BAR,
        complete_style=colour, finished_style=colour), said)
    return bar


def _beside(world: list[Text], columns: int, events: list[Text]) -> RenderableType:
    if not world:
        return Group(*events)
    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(width=columns, no_wrap=True)
    table.add_column()
    table.add_row(Group(*world), Group(*events))
    return table


PROGRESS_S = 5.0


def choose(out: TextIO, frame: Frame, environment: Mapping[str, str]) -> Screen | Lines:
    """Return the display for an output; NO_COLOR (no-color.org) switches off its colours."""
    if is_terminal(out, environment):
        return Screen(Console(
            file=out, highlight=False, markup=False, emoji=False,
            no_color=bool(environment.get('NO_COLOR'))), frame)
    lines = Lines(out, frame.settings, PROGRESS_S, frame.language)
    lines.write(f'{frame.title}; {frame.hint}')
    return lines


def is_terminal(out: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether an output is a terminal on which lines can be drawn again."""
    return out.isatty() and environment.get('TERM', 'dumb') != 'dumb'


class Screen:
    """Draws each picture over the last one."""

    def __init__(self, console: Console, frame: Frame) -> None:
        self._frame = frame
        self._live = Live(
            console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        self._description = UNDESCRIBED
        self._picture: Picture = ()
        self._reports = 0
        self._last_report = 0.0

    def show(self, heard: Telemetry, seconds: float, picture: Picture = ()) -> None:
        """
        Draw what has been heard in the present size of the terminal.

        :param seconds: since the start.
        :param picture: of the world; empty to draw it as the robot side describes it.
        """
        if heard.reports != self._reports or not heard.reports:
            self._reports, self._last_report = heard.reports, seconds
        if heard.description is not self._description:
            self._description, self._picture = heard.description, described(heard.description)
        self._live.start()
        self._live.update(View(
            heard, self._frame, seconds, picture or self._picture, seconds - self._last_report),
            refresh=True)

    def close(self) -> None:
        """Show the cursor again below the picture; a second call does nothing."""
        if self._live.is_started:
            self._live.stop()
            self._live.console.print()


class Lines:
    """
    Writes a line with the time for each change, and now and then one for the progress.

    :param settings: how many the scenario has; 0 if that is not known.
    :param every: seconds from one line for the progress to the next.
    """

    def __init__(self, out: TextIO, settings: int = 0, every: float = inf,
                 language: str = ENGLISH) -> None:
        self._out, self._language = out, language
        self._settings = settings
        self._before = Telemetry()
        self._beyond: tuple[int, ...] = ()
        self._every = every
        self._next_progress = every

    def show(self, heard: Telemetry, seconds: float, picture: Picture = ()) -> None:
        """Write the changes since the last call."""
        for line in words.changed(self._before, heard, self._settings, self._language):
            self.write(line)
        # What is known and what was seen arrive one after the other: what lasts is shown.
        beyond = heard.knowledge.of(StateKind.BEYOND)
        if beyond and self._before.knowledge.of(StateKind.BEYOND) == beyond != self._beyond:
            self._beyond = beyond
            self.write(phrase('terminal.seen_beyond', self._language, states=words.numbered(
                beyond, words.LINE, heard.description, self._language)))
        self._before = heard
        if seconds >= self._next_progress:
            self._next_progress = seconds + self._every
            self.write(words.progress(heard, self._language))

    def close(self) -> None:
        """Nothing to restore."""

    def write(self, line: str) -> None:
        """Write a line, with the time of the day before it."""
        self._out.write(f'{time.strftime("%H:%M:%S")} {line}\n')
        self._out.flush()
