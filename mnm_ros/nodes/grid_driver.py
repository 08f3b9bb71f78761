# SPDX-License-Identifier: Apache-2.0

"""A mobile robot as the robot: its pose is the state, its actions are moves between cells."""

from __future__ import annotations

import sys
from typing import Any

from mnm_ros.driving.grid import Place, Ways
from mnm_ros.driving.maneuvers import Maneuver, Move, MOVES, WayHome
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.mobile.grid_setup import check_grid, describe, grid_of, home_of, take
from mnm_ros.nodes.mobile.mobile_driver import MobileDriver
from mnm_ros.nodes.mobile.movers import VelocityMover
from mnm_ros.nodes.mobile.pose_tracker import Terrain
from mnm_ros.parameters import Parameters
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.robot_description import RobotDescription

_ASTRAY = 2       # cells outside of the grid; farther away nothing is driven


class GridDriver(MobileDriver):
    """Drives from cell to cell of a grid."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('grid_driver', **node_arguments)
        self._last_move: Move | None = None    # since the last way home
        grid = self._ways.grid
        self.get_logger().info(
            f'actions: [{", ".join(self.action_names)}]; home is '
            f'{self._home_name} of a grid of {grid.columns} x {grid.rows} cells')

    def _prepare(self, given: Parameters, plan: Plan | None) -> Terrain:
        if plan is not None:
            take(plan, given)
        check_grid(given)
        self.action_names = MOVES[given['moves']]
        self._ways = Ways(grid_of(given))
        grid = self._ways.grid
        return Terrain(Place(grid, given['hysteresis']), grid.state_at(home_of(given)),
                       grid.cell_size)

    def _move(self, action: int) -> Maneuver:
        place = self._tracker.place
        self._last_move = Move(
            self._ways, self.action_names[action], place.cell, place.heading,
            self._given['move_timeout'], self._base_mover.rolling,
            isinstance(self._base_mover, VelocityMover), self._last_move)
        return self._last_move

    def _way_home(self) -> Maneuver:
        self._last_move = None
        given, by_cells = self._given, isinstance(self._home_mover, VelocityMover)
        limits = ((given['home_timeout'], self._farthest)
                  if self._home_mover is self._base_mover else ())    # the platform has its own
        return WayHome(
            self._ways, home_of(given), given['home_retries'],
            given['move_timeout' if by_cells else 'home_timeout'], not by_cells, *limits)

    def describe(self) -> RobotDescription:
        """
        Return the cells of the grid, in the frame of the map or else of the poses.

        Where moves lead is not declared before the map is there: until then nothing is driven.
        """
        return describe(self._ways, self.action_names, self._tracker.home_state, self._frame,
                        self._given['declare_successors'] and not self._map.awaited, self._plan)

    @property
    def _home_name(self) -> str:
        """Return what the plan calls home, beside its state."""
        state = self._tracker.home_state
        name = self.describe().names.get(state, '') if self._plan is not None else ''
        return f'{name}, state {state},' if name else f'state {state}'

    @property
    def _farthest(self) -> float:
        """Return how far outside of the grid the robot may be driven in m."""
        return _ASTRAY * self._ways.grid.cell_size

    def _astray(self, pose: Pose) -> str:
        return self._ways.grid.astray(pose, self._farthest)

    def _read(self, map_: Map) -> bool:
        changed = self._ways.read(map_, self._given['robot_radius'])
        home = self._ways.grid.cell_at(*home_of(self._given)[:2])
        if not self._ways.is_free(home):
            self.get_logger().error(f'home, cell {home}, is not free on the map')
        return changed


def main(args: list[str] | None = None) -> int:
    """Run the node ``grid_driver``."""
    return run('grid_driver', GridDriver, args)


if __name__ == '__main__':
    sys.exit(main())
