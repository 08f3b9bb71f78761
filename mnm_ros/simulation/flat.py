# SPDX-License-Identifier: Apache-2.0

"""A world as ``grid_driver`` sees it: as a CMP, and as parameters."""

from __future__ import annotations

from collections.abc import Mapping

from mnm_ros.driving.grid import Grid
from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.diff_drive import Body
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.world import World

_ACTIONS = MOVES['compass']    # in the order of the headings


def scenario_of(world: World) -> Scenario:
    """Return the scenario of a robot whose moves always succeed; its states are cells."""
    grid = _grid(world)
    home = grid.cell_at(*world.centre(world.home))
    assert home is not None
    return Scenario(world.name, _ACTIONS, home, tuple(
        Setting(_cmp(world, grid, home, setting), None) for setting in world.settings), world.path)


def driver_parameters(world: World) -> dict[str, bool | float | int | str]:
    """Return by name the parameters of ``grid_driver`` for a world and the simulated robot."""
    home_x, home_y = world.centre(world.home)
    grid = _grid(world)
    return {
        'pose_source': 'amcl_pose', 'use_map': True, 'cell_size': grid.cell_size,
        'origin_x': grid.origin_x, 'origin_y': grid.origin_y, 'columns': grid.columns,
        'rows': grid.rows, 'home_x': home_x, 'home_y': home_y, 'max_speed': Body.max_speed,
        'max_turn': Body.max_turn_rate, 'acceleration': Body.acceleration,
        'turn_acceleration': Body.turn_acceleration}


def _grid(world: World) -> Grid:
    return Grid(0.0, 0.0, world.cell_size, *world.size)


def _cmp(world: World, grid: Grid, home: int, doors: Mapping[str, bool]) -> TableCmp:
    occupied = world.walls | world.closed(doors)
    free = {cell for cell in range(grid.columns * grid.rows)
            if divmod(cell, grid.columns)[::-1] not in occupied}
    return TableCmp(home, len(_ACTIONS), {
        (cell, heading): ((there, 1.0),) for cell in free for heading in range(len(_ACTIONS))
        if (there := grid.neighbour(cell, heading)) in free})
