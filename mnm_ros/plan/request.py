# SPDX-License-Identifier: Apache-2.0

"""What a plan is to be made of. Imports nothing that takes time, for the help of the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mnm_ros.driving.pose import Pose

SIZES = (0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2)
"""The sides of cells that are tried, in m; larger ones on request."""

LEAST_SPACING = 0.3
"""m between places, no less."""

UNKNOWN_SPECK = 0.05
"""Up to this area in m^2, unknown specks within free floor are driven on, as nav2 does."""

_Point = tuple[float, float]


@dataclass(frozen=True)
class Request:
    """
    The input from which a plan is made; lengths are in m, angles in rad.

    :ivar home: None for the place with most room.
    :ivar clearance: how far from walls ways are kept besides.
    :ivar sizes: of cells, one of which is taken.
    :ivar yaw: of the grid; None for that of the map or of most walls.
    :ivar specks: up to which area in m^2 a plan has no unknown and no occupied specks. A place
        graph is made on the map of ``without_unknown_specks``.
    :ivar door_width: up to which an opening between rooms is a door.
    :ivar room_area: from which on what is behind an opening is a room, in m^2.
    :ivar rooms, keep_outs: as a plan has them.
    :ivar doors: the same; if there are any, no others are searched for.
    :ivar mask: a filter mask of nav2.
    :ivar spacing: of neighbouring places of a graph.
    :ivar keep_unknown: whether what map_saver_cli draws as unknown is so, whatever the threshold.
    """

    map_file: Path
    home: Pose | None = None
    robot_radius: float = 0.175
    clearance: float = 0.05
    sizes: tuple[float, ...] = SIZES
    yaw: float | None = None
    specks: tuple[float, float] = (UNKNOWN_SPECK, 0.0025)
    door_width: float = 0.95
    room_area: float = 1.0
    rooms: Mapping[str, _Point] = field(default_factory=dict)
    doors: Mapping[str, tuple[_Point, _Point]] = field(default_factory=dict)
    keep_outs: Mapping[str, Sequence[_Point]] = field(default_factory=dict)
    mask: Path | None = None
    keep_unknown: bool = False
    spacing: float = 2.0


@dataclass(frozen=True)
class Wishes:
    """
    The values for the forecast of a plan, and a file to write beside it.

    :ivar mask: where to write the keep-outs as a filter mask; None for nowhere.
    :ivar radius: ``L``, with which it will be explored.
    :ivar battery: how long the robot drives with one charge, in hours.
    """

    mask: Path | None = None
    radius: float = 4.0    # as the parameter has it
    battery: float = 2.5
