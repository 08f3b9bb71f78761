"""Poses in the plane."""

from __future__ import annotations

import math
from typing import NamedTuple


class Pose(NamedTuple):
    """Where a robot is: m, m, and rad counter-clockwise from the x axis, in [-pi, pi]."""

    x: float
    y: float
    yaw: float

    def moved(self, distance: float, turn: float) -> Pose:
        """Return the pose after an arc of length ``distance`` along which the heading turns."""
        half = turn / 2
        chord = distance * (math.sin(half) / half if half else 1.0)
        return Pose(
            self.x + chord * math.cos(self.yaw + half),
            self.y + chord * math.sin(self.yaw + half), wrapped(self.yaw + turn))


def wrapped(angle: float) -> float:
    """Return the angle in [-pi, pi] that means the same, in rad."""
    return math.remainder(angle, math.tau)
