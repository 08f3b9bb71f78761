# SPDX-License-Identifier: Apache-2.0

"""The world as a robot has found it: a map of a grid, or a list of states."""

from __future__ import annotations

from collections.abc import Iterator

from mnm_ros.console.grid import Picture, window
from mnm_ros.core.model.problem import RESET
from mnm_ros.view.heard import Heard
from rich.text import Text

MARKS = {
    '@': ('robot', 'bold reverse'), 'S': ('home', 'bold green'), 'o': ('known', 'green'),
    '?': ('candidate', 'yellow'), '+': ('visited', 'cyan'),
    '-': ('beyond the radius', 'magenta'), 'x': ('lost', 'bold red'), '#': ('wall', ''),
    '.': ('not seen', 'dim')}
"""What a mark means, and its style."""


class WorldView:
    """The marks of all states."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        activity = heard.activity
        # A state has the first mark that fits.
        self._marks = (
            ('x', frozenset(activity.lost)), ('o', frozenset(heard.known)),
            ('?', heard.candidates), ('-', frozenset(heard.beyond)), ('+', heard.seen))
        self._occupied, self._home = heard.occupied, heard.home
        self._around = self._occupied[0] if self._occupied else None
        self._used: dict[str, None] = {}

    def map(self, picture: Picture, rows: int, columns: int) -> list[Text]:    # noqa: A003
        """Return the rows of a map; if there is not room for all, the part around the robot."""
        part = window(picture, rows, (columns + 1) // 2, self._around)
        return [Text(' ').join(self._cell(letter, states) for letter, states in cells)
                for cells in part]

    def list(self, rows: int, columns: int) -> list[Text]:    # noqa: A003
        """Return lines with the states and where actions have led to, as many as there is room."""
        states = list(self._in_order())
        room = len(states) if len(states) <= rows else max(0, rows - 1)
        if self._around in states[room:] and room:
            states = [*states[:room - 1], self._around, *states[room - 1:]]
        lines = [self._line(state, columns) for state in states[:room]]
        if room < len(states):
            more = len({*states[room:]} - {*states[:room]})
            lines.append(Text(f'and {more:,} more states', 'dim'))
        return lines

    def key(self) -> Text:
        """Return what the marks mean that were used so far."""
        return Text('  ').join(
            Text(f'{mark} {name}', style if mark != '@' else 'bold')
            for mark, (name, style) in MARKS.items() if mark in self._used)

    def mark(self, state: int) -> str:
        """Return the mark of a state, but for where the robot is."""
        if state == self._home:
            return 'S'
        return next((mark for mark, states in self._marks if state in states), '.')

    def _cell(self, letter: str, states: tuple[int, ...]) -> Text:
        marks = [self.mark(state) for state in states]
        best = min(marks, key=list(MARKS).index, default=letter)
        # Doors have letters of their own, and are seen until they are known.
        shown = letter if best == '.' or letter == 'S' else best
        return self._styled(shown, any(state in states for state in self._occupied))

    def _styled(self, mark: str, here: bool = False) -> Text:
        style = MARKS.get(mark, ('', ''))[1]
        if here:
            self._used['@'] = None
            return Text('@', f'{style} {MARKS["@"][1]}')
        self._used[mark] = None
        return Text(mark, style)

    def _in_order(self) -> Iterator[int]:
        """Yield home first, then the others by their marks."""
        heard = self._heard
        home = () if self._home is None else (self._home,)
        yield from dict.fromkeys((
            *home, *heard.known, *heard.activity.lost, *sorted(heard.candidates),
            *heard.beyond, *sorted(heard.seen)))

    def _line(self, state: int, columns: int) -> Text:
        heard = self._heard
        line = Text.assemble(
            self._styled('@') if state in self._occupied else ' ', ' ',
            self._styled(self.mark(state)), f' {heard.description.label(state)}  ')
        arcs = list(_arcs(heard, state))
        for index, arc in enumerate(arcs):
            dots = 4 if index < len(arcs) - 1 else 0
            if len(line) + len(arc) + dots > columns:
                line.append('...', 'dim')
                break
            line.append(f'{arc}  ')
        line.rstrip()
        line.truncate(columns)
        return line


def _arcs(heard: Heard, state: int) -> Iterator[str]:
    """Yield where each action has mostly led to, and how often, unless that is always."""
    for action, nexts in sorted(heard.counts.get(state, {}).items()):
        if action == RESET:
            continue
        following = max(nexts, key=lambda after: (nexts[after], -after))
        share = nexts[following] / sum(nexts.values())
        often = '' if share == 1 else f' {min(share, 0.99):.0%}'
        yield f'{heard.description.action_name(action)}->{following}{often}'
