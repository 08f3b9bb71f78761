# SPDX-License-Identifier: Apache-2.0

"""The output: a screen that is redrawn in a terminal, and else lines one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
import time
from typing import Protocol, TextIO

from mnm_ros.robot_description import UNDESCRIBED
from mnm_ros.view import words
from mnm_ros.view.heard import Heard
from mnm_ros.view.terminal.live_view import Frame, View
from mnm_ros.view.terminal.state_grid import described, Picture
from rich.console import Console
from rich.live import Live

PROGRESS_S = 5.0


class Display(Protocol):
    """Whatever shows what has been heard."""

    def show(self, heard: Heard, seconds: float, picture: Picture = ()) -> None:
        """
        Show what has been heard.

        :param seconds: since the start.
        :param picture: of the world; empty to draw it as the robot side describes it.
        """

    def close(self) -> None:
        """Leave the terminal as it was; a second call does nothing."""


def choose(out: TextIO, frame: Frame, environment: Mapping[str, str]) -> Display:
    """Return the display for an output; NO_COLOR (no-color.org) switches off its colours."""
    if is_terminal(out, environment):
        return Screen(Console(
            file=out, highlight=False, markup=False, emoji=False,
            no_color=bool(environment.get('NO_COLOR'))), frame)
    lines = Lines(out, frame.settings, PROGRESS_S)
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

    def show(self, heard: Heard, seconds: float, picture: Picture = ()) -> None:
        """Draw what has been heard in the present size of the terminal."""
        if heard.reports != self._reports or not heard.reports:
            self._reports, self._last_report = heard.reports, seconds
        if heard.description is not self._description:
            self._description, self._picture = heard.description, described(heard.description)
        self._live.start()
        self._live.update(View(
            heard, self._frame, seconds, picture or self._picture, seconds - self._last_report),
            refresh=True)

    def close(self) -> None:
        """Show the cursor again below the picture."""
        if self._live.is_started:
            self._live.stop()
            self._live.console.print()


class Lines:
    """
    Writes a line with the time for each change, and now and then one for the progress.

    :param settings: how many the scenario has; 0 if that is not known.
    :param every: seconds from one line for the progress to the next.
    """

    def __init__(self, out: TextIO, settings: int = 0, every: float = inf) -> None:
        self._out = out
        self._settings = settings
        self._before = Heard()
        self._beyond: tuple[int, ...] = ()
        self._every = every
        self._next_progress = every

    def show(self, heard: Heard, seconds: float, picture: Picture = ()) -> None:
        """Write the changes since the last call."""
        for line in words.changed(self._before, heard, self._settings):
            self.write(line)
        # What is known and what was seen arrive one after the other: whatever lasts is told.
        if heard.beyond and self._before.beyond == heard.beyond != self._beyond:
            self._beyond = heard.beyond
            seen = words.numbered(heard.beyond, words.LINE)
            self.write(f'seen beyond the radius: {seen}')
        self._before = heard
        if seconds >= self._next_progress:
            self._next_progress = seconds + self._every
            self.write(words.progress(heard))

    def close(self) -> None:
        """Nothing to restore."""

    def write(self, line: str) -> None:
        """Write a line, with the time of the day before it."""
        self._out.write(f'{time.strftime("%H:%M:%S")} {line}\n')
        self._out.flush()
