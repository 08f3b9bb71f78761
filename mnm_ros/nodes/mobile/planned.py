# SPDX-License-Identifier: Apache-2.0

"""The plan that a node of a mobile robot reads."""

from __future__ import annotations

from mnm_ros.core.errors import FileError, ParameterError
from mnm_ros.files import user_path
from mnm_ros.parameters import Parameters
from mnm_ros.plan.findings import findings
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.plan_file import load
from rclpy.node import Node


def plan_of(node: Node, given: Parameters) -> Plan | None:
    """
    Return the plan; None if the parameter is empty. Faults of the plan are logged.

    :raises ParameterError: if it cannot be read, or nothing can be explored by it.
    """
    if not given['plan']:
        return None
    try:
        plan = load(user_path(given['plan']))
    except FileError as error:
        raise ParameterError(f"parameter 'plan': {error}") from None
    for finding in findings(plan):
        if finding.fatal:
            raise ParameterError(f"parameter 'plan': {plan.path}: {finding.text}")
        node.get_logger().warning(f'{plan.path}: {finding.text}')
    return plan
