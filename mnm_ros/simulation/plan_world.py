# SPDX-License-Identifier: Apache-2.0

"""The flat of a plan as a world for ``diff_drive_sim``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from mnm_ros.core.model.counts import Pair
from mnm_ros.driving.grid import Ways
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.rooms import drawn
from mnm_ros.simulation.cmp import Outcomes, TableCmp
from mnm_ros.simulation.map_world import MapWorld, seen_walls
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.world import Cell
import numpy as np


@dataclass(frozen=True)
class PlanWorld(MapWorld):
    """
    The map of a plan; keep-outs are in no robot's way.

    All doors are open at first, and then one after the other is closed.
    """

    kind: ClassVar[str] = 'plan'
    plan: Plan = field(kw_only=True)

    @classmethod
    def of(cls, plan: Plan) -> PlanWorld:
        """Return the world of a plan."""
        map_ = plan.map
        doors = {name: frozenset((column, row) for column, row in drawn(map_, line).tolist())
                 for name, line in plan.doors.items()}
        home = np.floor(map_.pixels([plan.home[:2]])[0]).astype(int).tolist()
        return cls(plan.name, map_.resolution, (map_.width, map_.height), (home[0], home[1]),
                   seen_walls(map_), doors, (
                       dict.fromkeys(doors, True),
                       *({name: name != closed for name in doors} for closed in doors)),
                   plan.path, coarser=plan.grid, map=map_, plan=plan)

    @property
    def home_pose(self) -> Pose:
        return self.plan.home

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
        real.read(replace(self.map, values=values.ravel()), plan.robot_radius)
        table: dict[Pair, Outcomes] = {}
        for cell in driven.free or ():
            for heading in range(actions):
                there = driven.neighbour(cell, heading)
                if there is not None and there == real.neighbour(cell, heading):
                    table[cell, heading] = ((there, 1.0),)
        return TableCmp(home, actions, table)
