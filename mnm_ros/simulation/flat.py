"""A world as ``grid_driver`` sees it: the CMP that it amounts to, and the parameters for it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Union

from mnm_ros.driving.errands import MOVES
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.world import Cell, World

_ACTIONS = MOVES['compass']
_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))    # columns and rows by action


def scenario_of(world: World) -> Scenario:
    """Return the CMP of each setting for a robot whose moves always succeed.

    States are numbered as ``grid_driver`` numbers cells.
    """
    closed = [{cell for door, is_open in setting.items() if not is_open
               for cell in world.doors[door]} for setting in world.settings]
    settings = tuple(Setting(_cmp(world, cells), None) for cells in closed)
    return Scenario(world.name, _ACTIONS, _state(world, world.home), settings, world.path)


def driver_parameters(world: World) -> dict[str, Union[bool, float, int, str]]:
    """Return the parameters of ``grid_driver`` by name, for a world and the robot in there."""
    home_x, home_y = world.centre(world.home)
    columns, rows = world.size
    return {
        'pose_source': 'amcl_pose', 'use_map': True, 'cell_size': world.cell_size,
        'origin_x': 0.0, 'origin_y': 0.0, 'columns': columns, 'rows': rows,
        'home_x': home_x, 'home_y': home_y,
        'max_speed': 0.5, 'max_turn': 2.0, 'acceleration': 1.0, 'turn_acceleration': 6.0}


def _cmp(world: World, closed: Collection[Cell]) -> TableCmp:
    columns, rows = world.size
    free = {(column, row) for column in range(columns) for row in range(rows)
            if not world.is_wall((column, row)) and (column, row) not in closed}
    return TableCmp(_state(world, world.home), len(_ACTIONS), {
        (_state(world, cell), action): ((_state(world, there), 1.0),)
        for cell in free for action, (right, up) in enumerate(_STEPS)
        if (there := (cell[0] + right, cell[1] + up)) in free})


def _state(world: World, cell: Cell) -> int:
    return cell[1] * world.size[0] + cell[0]
