# SPDX-License-Identifier: Apache-2.0

"""A map as a world for ``diff_drive_sim``: its cells are the pixels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import cos, floor, sin

from mnm_ros.driving.occupancy import Map, OCCUPIED
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.plan.rooms import depth_of, is_free
from mnm_ros.simulation.world import Cell, World
import numpy as np
from numpy.typing import NDArray

_Depth = NDArray[np.float64]


@dataclass(frozen=True)
class MapWorld(World):
    """
    A world of pixels; what is unknown is as good as a wall.

    Its ``walls``, which are for pictures and for bodies, are the pixels that can be seen.
    """

    map: Map = field(kw_only=True)    # noqa: A003
    _depths: dict[Collection[Cell], _Depth] = field(default_factory=dict)

    @property
    def corner(self) -> Pose:
        return self.map.origin

    def centre(self, cell: Cell) -> tuple[float, float]:
        right, up = ((at + 0.5) * self.cell_size for at in cell)
        origin = self.map.origin
        along, across = cos(origin.yaw), sin(origin.yaw)
        return (origin.x + along * right - across * up, origin.y + across * right + along * up)

    def local(self, pose: Pose) -> Pose:
        column, row = self._pixel(pose.x, pose.y)
        return Pose(column * self.cell_size, row * self.cell_size,
                    wrapped(pose.yaw - self.map.origin.yaw))

    def _pixel(self, x: float, y: float) -> tuple[float, float]:
        """Return the column and row of a point; numpy would take long for a single one."""
        origin = self.map.origin
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
        free = is_free(self.map)
        for column, row in closed:
            free[row, column] = False
        return np.asarray(free)


def seen_walls(map_: Map) -> frozenset[Cell]:
    """Return the occupied pixels beside a free one."""
    from scipy import ndimage
    seen = ndimage.binary_dilation(is_free(map_), np.ones((3, 3), np.bool_))
    rows, columns = np.nonzero(seen & (map_.pixel_rows >= OCCUPIED))
    return frozenset(zip(columns.tolist(), rows.tolist()))
