# SPDX-License-Identifier: Apache-2.0

"""The world as a robot has found it: a map if its states lie on a grid, else a list of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.model.problem import RESET
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.simulation.world import World
from mnm_ros.view.scene import KINDS, kinds
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.words import clip
from rich.text import Text

Cell = tuple[str, tuple[int, ...]]
"""The letter of a cell, which is ``#`` for a wall, and its states: several if they have headings.
"""

Picture = tuple[tuple[Cell, ...], ...]
"""Rows from the top."""

MARKS = {kind.mark: kind for kind in KINDS.values()}

_SPARSE = 20      # cells for each state that has a place; a picture of more would be all but empty
_TOLERANCE = 0.1  # of a cell, by which a state may be off its centre


def pictures(scenario: Scenario, world: World | None) -> tuple[Picture, ...]:
    """Return the picture of each setting, which is empty for a setting that is no grid."""
    if world is not None and world.coarser is None:
        return (_picture(_rows(world), range(world.size[1] - 1, -1, -1)),) * len(world.settings)
    return tuple(_picture(setting.rows, range(len(setting.rows)))
                 for setting in scenario.settings)


def described(description: RobotDescription) -> Picture:
    """Return a picture by the places of states; empty if they do not lie on a grid."""
    places = description.positions
    if not places:
        return ()
    columns = _indices([x for x, _ in places.values()])
    rows = _indices([y for _, y in places.values()])
    if columns is None or rows is None:
        return ()
    width, height = max(columns) + 1, max(rows) + 1
    if width * height > _SPARSE * len(places):
        return ()
    states: dict[tuple[int, int], tuple[int, ...]] = {}
    for state, column, row in zip(places, columns, rows):
        states[row, column] = (*states.get((row, column), ()), state)
    nothing = '#' if description.walls else ' '
    return tuple(
        tuple(('.', states[row, column]) if (row, column) in states else (nothing, ())
              for column in range(width))
        for row in reversed(range(height)))


def window(picture: Picture, rows: int, columns: int, around: int | None) -> Picture:
    """Return the part of a picture that fits, with a state in its middle if that can be."""
    row, column = next(
        ((row, column) for row, cells in enumerate(picture)
         for column, (_, states) in enumerate(cells) if around in states), (0, 0))
    top = max(0, min(row - rows // 2, len(picture) - rows))
    left = max(0, min(column - columns // 2, len(picture[0]) - columns if picture else 0))
    return tuple(cells[left:left + columns] for cells in picture[top:top + rows])


def _indices(coordinates: Sequence[float]) -> list[int] | None:
    """Return on which line of a grid each coordinate is, from 0 on; None if there is no grid."""
    distinct = sorted({*coordinates})
    gaps = [right - left for left, right in zip(distinct, distinct[1:])]
    gaps = [gap for gap in gaps if gap > 1e-6 * max(1.0, abs(distinct[-1]), abs(distinct[0]))]
    size = min(gaps, default=1.0)
    lines = [(value - distinct[0]) / size for value in coordinates]
    if any(abs(line - round(line)) > _TOLERANCE for line in lines):
        return None
    return [round(line) for line in lines]


def _rows(world: World) -> list[str]:
    columns, rows = world.size
    doors = {cell: door for door, cells in world.doors.items() for cell in cells}
    letters = {**dict.fromkeys(world.walls, '#'), **doors, world.home: 'S'}
    return [''.join(letters.get((column, row), '.') for column in range(columns))
            for row in reversed(range(rows))]


def _picture(rows: Sequence[str], numbers: Sequence[int]) -> Picture:
    return tuple(
        tuple((letter, () if letter == '#' else (number * len(row) + column,))
              for column, letter in enumerate(row))
        for number, row in zip(numbers, rows, strict=True))


class WorldView:
    """The marks of all states."""

    def __init__(self, heard: Telemetry, language: str = ENGLISH) -> None:
        self._heard, self._language = heard, language
        self._kinds = kinds(heard)
        self._occupied = heard.occupied
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
            lines.append(Text(phrase('terminal.more_states', self._language, count=more), 'dim'))
        elif room < rows and any(_arcs(self._heard, state) for state in states):
            lines.append(Text(clip(phrase('terminal.arcs', self._language), columns), 'dim'))
        return lines

    def key(self) -> Text:
        """Return what the marks mean that were used so far."""
        return Text('  ').join(
            Text(f'{kind.mark} {phrase(f"kinds.{name}", self._language)}',
                 kind.style if kind.mark != '@' else 'bold')
            for name, kind in KINDS.items() if kind.mark in self._used)

    def mark(self, state: int) -> str:
        """Return the mark of a state, but for where the robot is."""
        return KINDS[self._kinds.get(state, 'unmet')].mark

    def _cell(self, letter: str, states: tuple[int, ...]) -> Text:
        marks = [self.mark(state) for state in states]
        best = min(marks, key=list(MARKS).index, default=letter)
        # Doors have letters of their own, and are seen until they are known.
        shown = letter if best == '.' or letter == 'S' else best
        return self._styled(shown, any(state in states for state in self._occupied))

    def _styled(self, mark: str, here: bool = False) -> Text:
        style = MARKS[mark].style if mark in MARKS else ''
        if here:
            self._used['@'] = None
            return Text('@', f'{style} {KINDS["robot"].style}')
        self._used[mark] = None
        return Text(mark, style)

    def _in_order(self) -> Iterator[int]:
        """Yield home first, then what is known, then the others by what they are."""
        known = self._heard.knowledge
        yield from dict.fromkeys((*known.of(StateKind.HOME), *known.known, *(
            state for kind in StateKind for state in known.of(kind))))

    def _line(self, state: int, columns: int) -> Text:
        heard = self._heard
        line = Text.assemble(
            self._styled('@') if state in self._occupied else ' ', ' ',
            self._styled(self.mark(state)), f' {heard.description.name(state)}  ')
        arcs = list(_arcs(heard, state))
        for index, arc in enumerate(arcs):
            last = index == len(arcs) - 1
            if len(line) + len(arc) + (0 if last else 4) > columns:
                line.append('...', 'dim')
                break
            line.append(arc if last else f'{arc}, ')
        line.rstrip()
        line.truncate(columns)
        return line


def _arcs(heard: Telemetry, state: int) -> Iterator[str]:
    """
    Yield where each action has mostly led to, and how often, unless that is always.

    The end is left out if the name of the action has it.
    """
    for action, nexts in sorted(heard.counts.get(state, {}).items()):
        if action == RESET:
            continue
        following = max(nexts, key=lambda after: (nexts[after], -after))
        share = nexts[following] / sum(nexts.values())
        often = '' if share == 1 else f' {min(share, 0.99):.0%}'
        move = heard.description.action_name(action, state)
        named = move == f'to {heard.description.name(following)}'
        end = '' if named else f' -> {heard.description.name(following)}'
        yield f'{move}{end}{often}'
