# SPDX-License-Identifier: Apache-2.0

"""What ``grid_driver`` says about itself: where the cells of its grid are."""

from __future__ import annotations

from collections.abc import Sequence

from mnm_ros.driving.grid import Grid, OUTSIDE
from mnm_ros.robot_description import MAX_STATES, RobotDescription

_HEADINGS = ('east', 'north', 'west', 'south')


def describe(grid: Grid, actions: Sequence[str], home: int, frame: str) -> RobotDescription:
    """
    Return names and centres of cells, unless these are too many.

    :param grid: of cells, with or without a heading.
    :param actions: names of the moves.
    :param home: the state of the home pose.
    :param frame: of the poses.
    """
    headings = _HEADINGS if grid.with_heading else ('',)
    cells = grid.columns * grid.rows
    if cells * len(headings) >= MAX_STATES:
        return RobotDescription(tuple(actions), home, frame)
    names, positions = {OUTSIDE: 'outside'}, {}
    for cell in range(cells):
        row, column = divmod(cell, grid.columns)
        for heading, name in enumerate(headings):
            state = grid.state(cell, heading)
            names[state] = f'r{row}c{column} {name}'.rstrip()
            positions[state] = grid.centre(cell)
    return RobotDescription(tuple(actions), home, frame, names, positions)
