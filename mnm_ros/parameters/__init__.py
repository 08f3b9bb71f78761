# SPDX-License-Identifier: Apache-2.0

"""
The parameters of all nodes, declared once, in a table for each node.

Read ``tables``, then ``parameter_spec`` (what a row is, and how a bad value is refused),
``values`` (those of a node) and ``params_file``.
"""

from mnm_ros.parameters.parameter_spec import ParameterSpec
from mnm_ros.parameters.tables import is_required, NODES, REQUIRED, ROBOT_SIDE
from mnm_ros.parameters.values import check_files, Parameters

__all__ = ['NODES', 'REQUIRED', 'ROBOT_SIDE', 'ParameterSpec', 'Parameters', 'check_files',
           'is_required']
