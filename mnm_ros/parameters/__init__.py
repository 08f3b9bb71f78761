# SPDX-License-Identifier: Apache-2.0

"""The parameters of all nodes, declared once, in a module for each node."""

from collections.abc import Mapping

from mnm_ros.parameters.cmp_sim import CMP_SIM
from mnm_ros.parameters.command_line import check_files
from mnm_ros.parameters.dashboard import DASHBOARD
from mnm_ros.parameters.declaration import ParameterError, Row
from mnm_ros.parameters.diff_drive_sim import DIFF_DRIVE_SIM
from mnm_ros.parameters.explorer import EXPLORER
from mnm_ros.parameters.grid_driver import GRID_DRIVER
from mnm_ros.parameters.gym_side import GYM_SIDE
from mnm_ros.parameters.navigator import NAVIGATOR
from mnm_ros.parameters.preflight import PREFLIGHT
from mnm_ros.parameters.tables import NODES
from mnm_ros.parameters.values import Parameters

REQUIRED: Mapping[str, object] = {
    'actions': ['east', 'west', 'south', 'north'], 'environment': 'FrozenLake-v1',
    'robots': ['r1', 'r2'], 'scenario': 'two_rooms', 'world': 'two_room_flat'}
"""Parameters without a default that a node could start with; an example of each."""


def is_required(row: Row) -> bool:
    """Return whether a node cannot start without a parameter."""
    return row.name in REQUIRED and not row.optional


__all__ = ['CMP_SIM', 'DASHBOARD', 'DIFF_DRIVE_SIM', 'EXPLORER', 'GRID_DRIVER', 'GYM_SIDE',
           'NAVIGATOR', 'NODES', 'PREFLIGHT', 'REQUIRED', 'ParameterError', 'Parameters', 'Row',
           'check_files', 'is_required']
