# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Poses in the plane."""

from __future__ import annotations

import math
from typing import NamedTuple


class Pose(NamedTuple):
    """The place of a robot: x, y in m; yaw in [-pi, pi] rad, counter-clockwise from x."""

    x: float
    y: float
    yaw: float

    def moved(self, distance: float, turn: float) -> Pose:
        """Return the pose after an arc: ``distance`` in m, on which the yaw grows by ``turn``."""
        half = turn / 2
        chord = distance * (math.sin(half) / half if half else 1.0)
        return Pose(
            self.x + chord * math.cos(self.yaw + half),
            self.y + chord * math.sin(self.yaw + half), wrapped(self.yaw + turn))


def wrapped(angle: float) -> float:
    """Return the same angle in rad, in [-pi, pi]."""
    return math.remainder(angle, math.tau)
