# SPDX-License-Identifier: Apache-2.0

"""A simulated laser scanner in the middle of the robot: rays against walls and closed doors."""

from __future__ import annotations

from collections.abc import Collection
import math

from mnm_ros.driving.pose import Pose
from mnm_ros.simulation.world import Cell, World
import numpy as np
from numpy.typing import NDArray

Ranges = NDArray[np.float64]


class Scanner:
    """
    Measures how far it is to what stands around, counter-clockwise from straight ahead.

    :param rays: how many, all around.
    :param farthest: in m; farther away nothing is seen.
    :ivar farthest: the same.
    :param noise: the standard deviation of a range in m.
    """

    def __init__(self, world: World, rays: int, farthest: float, noise: float, seed: int) -> None:
        self._world = world
        self._angles = np.arange(rays) * (math.tau / rays)
        self.farthest = farthest
        self._noise = noise
        self._rng = np.random.default_rng(seed)
        self._closed: Collection[Cell] | None = None
        self._solid = np.empty(0, np.bool_)

    def scan(self, pose: Pose, closed: Collection[Cell]) -> Ranges:
        """Return the range of each ray in m, infinite for nothing; ``closed`` cells stop it."""
        ranges = self._free_ways(pose, closed)
        if self._noise:
            ranges = ranges + self._rng.normal(0.0, self._noise, len(ranges))
        return np.where(ranges <= self.farthest, ranges, math.inf)

    def _free_ways(self, pose: Pose, closed: Collection[Cell]) -> Ranges:
        """Return how far it really is along each ray."""
        if closed is not self._closed:
            self._closed, self._solid = closed, self._solid_cells(closed)
        pose = self._world.local(pose)
        angles = self._angles + pose.yaw
        along, up = np.cos(angles), np.sin(angles)
        return np.asarray(np.minimum(
            self._to_borders(pose.x, pose.y, along, up, self._solid),
            self._to_borders(pose.y, pose.x, up, along, self._solid.T)))

    def _solid_cells(self, closed: Collection[Cell]) -> NDArray[np.bool_]:
        """Return which cells stop a ray, by column and row, with one more all around."""
        columns, rows = self._world.size
        return np.array([[(column, row) in closed or self._world.is_wall((column, row))
                          for row in range(-1, rows + 1)] for column in range(-1, columns + 1)])

    def _to_borders(self, x: float, y: float, along: Ranges, up: Ranges,
                    solid: NDArray[np.bool_]) -> Ranges:
        """Return how far the rays are free of what they enter through a border across x."""
        size = self._world.cell_size
        lines = np.arange(solid.shape[0] - 1)    # with the cells before and after each
        with np.errstate(divide='ignore', invalid='ignore'):
            ranges = (lines * size - x) / along[:, np.newaxis]
            row = np.floor((y + ranges * up[:, np.newaxis]) / size) + 1
        inside = (ranges > 0) & (row >= 0) & (row < solid.shape[1])
        row = np.where(inside, row, 0).astype(np.int64)
        entered = lines + (along[:, np.newaxis] > 0)
        return np.where(inside & solid[entered, row], ranges, math.inf).min(axis=1)
