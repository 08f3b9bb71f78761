# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Text from snapshots, by pure functions without a terminal or a clock."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.console.grid import Picture
from mnm_ros.console.snapshot import Snapshot

BOLD, DIM, GREEN = '1', '2', '32'
LABEL = 16
LINE = 160


@dataclass(frozen=True)
class Frame:
    """
    What surrounds the snapshots of a run.

    :ivar title: the name of the scenario.
    :ivar settings: the number of its settings.
    :ivar hint: shown below everything else.
    :ivar width, height: of the terminal in characters.
    :ivar color: whether to use ANSI styles.
    """

    title: str
    settings: int
    hint: str = ''
    width: int = 80
    height: int = 24
    color: bool = False


def screen(
        snapshot: Snapshot, frame: Frame, seconds: float, grid: Picture = ()) -> list[str]:
    """
    Return the lines of the live view, which fit into the frame.

    :param seconds: since the start of the nodes.
    :param grid: the picture of the setting in force.
    """
    room = frame.width - 1
    clock = duration(seconds)
    title = clip(f'mnm_ros: {frame.title}', room - len(clock) - 1)
    lines = [paint(title, BOLD, frame) + clock.rjust(room - len(title)), '']
    for label, value in _rows(snapshot, frame):
        text = clip(value, room - LABEL)
        lines.append(paint(label.ljust(LABEL), DIM, frame) + text)
    drawing = _map(snapshot, frame, grid)
    if drawing and len(lines) + len(drawing) + 3 <= frame.height:
        lines += ['', *drawing]
    return [*lines, '', paint(clip(frame.hint, room), DIM, frame)][:frame.height]


def _rows(snapshot: Snapshot, frame: Frame) -> list[tuple[str, str]]:
    return [
        ('phase', snapshot.phase_name or 'starting'),
        ('status', snapshot.status or '-'),
        ('round', _round(snapshot)),
        ('known', known(snapshot)),
        ('candidates', whole(snapshot.count('candidates'))),
        ('steps', f'{whole(snapshot.count("steps"))}{_rate(snapshot)}'),
        ('changes', f'{whole(snapshot.count("changes_noticed"))} noticed, '
                    f'{whole(snapshot.count("changes_relearnt"))} relearnt'),
        ('exploration', f'{whole(snapshot.exploration_steps)} steps without a good hypothesis'),
        ('true setting', setting(snapshot.true_setting, frame.settings)),
    ]


def _round(snapshot: Snapshot) -> str:
    hypothesis = f'hypothesis {stamp(snapshot)}' if snapshot.hypothesis else 'no hypothesis yet'
    return f'{whole(snapshot.count("round"))}, {hypothesis}'


def _rate(snapshot: Snapshot) -> str:
    rate = snapshot.number('steps_per_second')
    return '' if rate is None else f' ({rate:,.0f} per second)'


def stamp(snapshot: Snapshot) -> str:
    """Return the round and revision of the hypothesis as ``2.1``, or ``-``."""
    hypothesis = snapshot.hypothesis
    return '-' if hypothesis is None else '{}.{}'.format(*hypothesis.stamp)


def known(snapshot: Snapshot) -> str:
    """Return how many states are known and which, or ``-``."""
    states = snapshot.known
    return f'{len(states)}: {" ".join(map(str, states))}' if states else '-'


def setting(index: int | None, settings: int) -> str:
    """
    Return the index of the setting in force and the range of the indices, or ``-``.

    :param settings: how many there are; 0 if that is not known.
    """
    if index is None:
        return '-'
    return f'{index} (of 0..{settings - 1})' if settings else str(index)


def whole(value: int | None) -> str:
    """Return a count with separated thousands, or ``-``."""
    return '-' if value is None else f'{value:,}'


def duration(seconds: float) -> str:
    """Return a time span as ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02}:{rest:02}'


def clip(text: str, width: int) -> str:
    """Return one line of at most ``width`` characters, which ends with dots if it is cut."""
    line = ' '.join(text.split())
    if len(line) <= width:
        return line
    return (line[:max(0, width - 3)] + '...')[:max(0, width)]


def paint(text: str, code: str, frame: Frame) -> str:
    """Return the text in an ANSI style if the frame has colour."""
    return f'\x1b[{code}m{text}\x1b[0m' if frame.color and text else text


def _map(snapshot: Snapshot, frame: Frame, grid: Picture) -> list[str]:
    if not grid or 2 * len(grid[0]) + LABEL > frame.width:
        return []
    learnt = frozenset(snapshot.known)
    lines = []
    for cells in grid:
        glyphs = [_cell(cell, state in learnt, frame) for cell, state in cells]
        lines.append(' ' * LABEL + ' '.join(glyphs))
    key = clip('S start, o known, # wall', frame.width - 1 - LABEL)
    return [*lines, ' ' * LABEL + paint(key, DIM, frame)]


def _cell(cell: str, is_known: bool, frame: Frame) -> str:
    if is_known:
        return paint('S' if cell == 'S' else 'o', GREEN, frame)
    return cell if cell != '.' else paint('.', DIM, frame)


def changed(before: Snapshot, after: Snapshot, settings: int) -> list[str]:
    """Return a line for each change of the phase, round, states, status and setting."""
    lines = []
    if after.phase_group != before.phase_group:
        lines.append(f'phase {after.phase_name}')
    if after.count('round') not in (None, before.count('round')):
        lines.append(f'round {after.count("round")}')
    if after.known != before.known:
        lines.append(f'known {clip(known(after), LINE)}')
    if after.status != before.status:
        lines.append(f'status: {after.status}')
    if after.true_setting != before.true_setting:
        lines.append(f'true setting {setting(after.true_setting, settings)}')
    return lines


def progress(snapshot: Snapshot) -> str:
    """Return one line that says how far the exploration is."""
    line = (f'{snapshot.phase_name or "starting"}, {len(snapshot.known)} known, '
            f'{whole(snapshot.count("candidates"))} candidates, '
            f'{whole(snapshot.count("steps"))} steps{_rate(snapshot)}')
    if snapshot.exploration_steps is None:    # only cmp_sim counts them
        return line
    return f'{line}, {whole(snapshot.exploration_steps)} exploration steps'
