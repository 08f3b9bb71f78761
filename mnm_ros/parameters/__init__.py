"""The parameters of all nodes, declared once, in a module for each node."""

from mnm_ros.parameters.cmp_sim import CMP_SIM
from mnm_ros.parameters.command_line import check_files
from mnm_ros.parameters.declaration import ParameterError, Row
from mnm_ros.parameters.diff_drive_sim import DIFF_DRIVE_SIM
from mnm_ros.parameters.explorer import EXPLORER
from mnm_ros.parameters.grid_driver import GRID_DRIVER
from mnm_ros.parameters.gym_side import GYM_SIDE
from mnm_ros.parameters.navigator import NAVIGATOR
from mnm_ros.parameters.preflight import PREFLIGHT
from mnm_ros.parameters.tables import NODES
from mnm_ros.parameters.values import Parameters

__all__ = ['CMP_SIM', 'DIFF_DRIVE_SIM', 'EXPLORER', 'GRID_DRIVER', 'GYM_SIDE', 'NAVIGATOR',
           'NODES', 'PREFLIGHT', 'ParameterError', 'Parameters', 'Row', 'check_files']
