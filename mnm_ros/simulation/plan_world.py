# SPDX-License-Identifier: Apache-2.0

"""The flat of a plan as a world for ``diff_drive_sim``: its cells are the pixels of the map."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from math import cos, floor, sin
from typing import ClassVar

from mnm_ros.core.model.counts import Pair
from mnm_ros.driving.grid import Ways
from mnm_ros.driving.occupancy import OCCUPIED
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.rooms import depth_of, drawn, is_free
from mnm_ros.simulation.cmp import Outcomes, TableCmp
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.world import Cell, World
import numpy as np
from numpy.typing import NDArray

_Depth = NDArray[np.float64]


@dataclass(frozen=True)
class PlanWorld(World):
    """
    A world of pixels; what is unknown is as good as a wall, and keep-outs are in no robot's way.

    All doors are open at first, and then one after the other is closed. Its ``walls``, which are
    for pictures, are the pixels that can be seen.
    """

    kind: ClassVar[str] = 'plan'
    plan: Plan = field(kw_only=True)
    _depths: dict[Collection[Cell], _Depth] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> PlanWorld:
        """Return the world of a plan."""
        from scipy import ndimage
        map_ = plan.map
        seen = ndimage.binary_dilation(is_free(map_), np.ones((3, 3), np.bool_))
        rows, columns = np.nonzero(seen & (map_.pixel_rows >= OCCUPIED))
        doors = {name: frozenset((column, row) for column, row in drawn(map_, line).tolist())
                 for name, line in plan.doors.items()}
        home = np.floor(map_.pixels([plan.home[:2]])[0]).astype(int).tolist()
        return cls(plan.name, map_.resolution, (map_.width, map_.height), (home[0], home[1]),
                   frozenset(zip(columns.tolist(), rows.tolist())), doors, (
                       dict.fromkeys(doors, True),
                       *({name: name != closed for name in doors} for closed in doors)),
                   plan.path, coarser=plan.grid, plan=plan)

    @property
    def home_pose(self) -> Pose:
        return self.plan.home

    @property
    def corner(self) -> Pose:
        return self.plan.map.origin

    def centre(self, cell: Cell) -> tuple[float, float]:
        right, up = ((at + 0.5) * self.cell_size for at in cell)
        origin = self.plan.map.origin
        along, across = cos(origin.yaw), sin(origin.yaw)
        return (origin.x + along * right - across * up, origin.y + across * right + along * up)

    def local(self, pose: Pose) -> Pose:
        column, row = self._pixel(pose.x, pose.y)
        return Pose(column * self.cell_size, row * self.cell_size,
                    wrapped(pose.yaw - self.plan.map.origin.yaw))

    def _pixel(self, x: float, y: float) -> tuple[float, float]:
        """Return the column and row of a point; numpy would take long for a single one."""
        origin = self.plan.map.origin
        right, up = (x - origin.x) / self.cell_size, (y - origin.y) / self.cell_size
        along, across = cos(origin.yaw), sin(origin.yaw)
        return along * right + across * up, along * up - across * right

    def is_free(self, x: float, y: float, radius: float, closed: Collection[Cell]) -> bool:
        if closed not in self._depths:
            self._depths[closed] = depth_of(self._open(closed))
        depth = self._depths[closed]
        column, row = self._pixel(x, y)
        at, up = column - 0.5, row - 0.5
        left, low = floor(at), floor(up)
        height, width = depth.shape
        if not (0 <= left < width - 1 and 0 <= low < height - 1):
            return False
        part, above = at - left, up - low
        here = ((1 - above) * ((1 - part) * depth[low, left] + part * depth[low, left + 1])
                + above * ((1 - part) * depth[low + 1, left] + part * depth[low + 1, left + 1]))
        return bool(here >= radius / self.cell_size + 0.5)    # from a middle to a border

    def _open(self, closed: Collection[Cell]) -> NDArray[np.bool_]:
        free = is_free(self.plan.map)
        for column, row in closed:
            free[row, column] = False
        return np.asarray(free)

    def scenario(self, actions: Sequence[str]) -> Scenario:
        """Return it as ``grid_driver`` sees it, if moves always succeed; its states are cells."""
        home = self.plan.home_cell
        assert home is not None
        return Scenario(self.name, tuple(actions), home, tuple(
            Setting(self._cmp(home, len(actions), self.closed(setting)), None)
            for setting in self.settings), self.path)

    def _cmp(self, home: int, actions: int, closed: Collection[Cell]) -> TableCmp:
        """Return where moves lead that the map of the plan has, and no closed door is in."""
        plan, driven, real = self.plan, self.plan.ways, Ways(self.plan.grid)
        values = np.where(self._open(closed), 0, 100).astype(np.int8)
        real.read(replace(plan.map, values=values.ravel()), plan.robot_radius)
        table: dict[Pair, Outcomes] = {}
        for cell in driven.free or ():
            for heading in range(actions):
                there = driven.neighbour(cell, heading)
                if there is not None and there == real.neighbour(cell, heading):
                    table[cell, heading] = ((there, 1.0),)
        return TableCmp(home, actions, table)
