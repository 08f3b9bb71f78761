# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The output: a screen that is redrawn in a terminal, and else lines one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import shutil
import time
from typing import TextIO

from mnm_ros.console import render
from mnm_ros.console.grid import Picture
from mnm_ros.console.snapshot import Snapshot

PROGRESS_S = 5.0
HIDE_CURSOR, SHOW_CURSOR, ERASE_LINE, ERASE_BELOW = '\x1b[?25l', '\x1b[?25h', '\x1b[K', '\x1b[J'


def choose(
        out: TextIO, frame: render.Frame, environment: Mapping[str, str]) -> Screen | Lines:
    """Return the display for an output; NO_COLOR (no-color.org) switches off its colours."""
    if out.isatty() and environment.get('TERM', 'dumb') != 'dumb':
        return Screen(out, replace(frame, color=not environment.get('NO_COLOR')))
    return Lines(out, frame)


class Screen:
    """Draws each picture over the last one."""

    def __init__(self, out: TextIO, frame: render.Frame) -> None:
        self._out = out
        self._frame = frame
        self._drawn = 0
        self._open = False

    def show(self, snapshot: Snapshot, seconds: float, grid: Picture) -> None:
        """Draw the snapshot, ``seconds`` after the start, in the present size of the terminal."""
        width, height = shutil.get_terminal_size()
        frame = replace(self._frame, width=width, height=height - 1)
        lines = render.screen(snapshot, frame, seconds, grid)
        home = f'\x1b[{self._drawn}F' if self._drawn else HIDE_CURSOR
        body = ''.join(f'{line}{ERASE_LINE}\n' for line in lines)
        self._out.write(home + body + ERASE_BELOW)
        self._out.flush()
        self._drawn = len(lines)
        self._open = True

    def close(self) -> None:
        """Show the cursor again below the picture; a second call does nothing."""
        if self._open:
            self._open = False
            self._out.write(SHOW_CURSOR + '\n')
            self._out.flush()


class Lines:
    """Writes a line with the time for each change, and now and then one for the progress."""

    def __init__(self, out: TextIO, frame: render.Frame) -> None:
        self._out = out
        self._settings = frame.settings
        self._before = Snapshot()
        self._next_progress = PROGRESS_S
        self._write(f'{frame.title}; {frame.hint}')

    def show(self, snapshot: Snapshot, seconds: float, grid: Picture) -> None:
        """Write the changes since the last call."""
        for line in render.changed(self._before, snapshot, self._settings):
            self._write(line)
        self._before = snapshot
        if seconds >= self._next_progress:
            self._next_progress = seconds + PROGRESS_S
            self._write(render.progress(snapshot))

    def close(self) -> None:
        """Nothing to restore."""

    def _write(self, line: str) -> None:
        self._out.write(f'{time.strftime("%H:%M:%S")} {line}\n')
        self._out.flush()
