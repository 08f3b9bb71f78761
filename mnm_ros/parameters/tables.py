# SPDX-License-Identifier: Apache-2.0

"""The parameters of each node."""

from __future__ import annotations

from collections.abc import Mapping

from mnm_ros.parameters.cmp_sim import CMP_SIM
from mnm_ros.parameters.dashboard import DASHBOARD
from mnm_ros.parameters.declaration import Row
from mnm_ros.parameters.diff_drive_sim import DIFF_DRIVE_SIM
from mnm_ros.parameters.explorer import EXPLORER
from mnm_ros.parameters.grid_driver import GRID_DRIVER
from mnm_ros.parameters.gym_side import GYM_SIDE
from mnm_ros.parameters.navigator import NAVIGATOR
from mnm_ros.parameters.preflight import PREFLIGHT

NODES: Mapping[str, tuple[Row, ...]] = {
    'explorer': EXPLORER,
    'cmp_sim': CMP_SIM,
    'navigator': NAVIGATOR,
    'grid_driver': GRID_DRIVER,
    'diff_drive_sim': DIFF_DRIVE_SIM,
    'gym_side': GYM_SIDE,
    'preflight': PREFLIGHT,
    'dashboard': DASHBOARD,
}
"""The parameters of each node by its name."""
