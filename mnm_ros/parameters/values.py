# SPDX-License-Identifier: Apache-2.0

"""The values of a node's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mnm_ros.parameters.command_line import let_assignments_win, warn_of_unknown
from mnm_ros.parameters.declaration import Kind, ParameterError, Row
from mnm_ros.parameters.tables import NODES
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter


class Parameters:
    """
    The values of a node's parameters, which it declares; bad values are refused.

    :param locked: returns whether the node is configured, when most parameters may not change.
    :raises ParameterError: if a value given at start is not allowed, or a parameter file cannot be
        used.
    """

    def __init__(self, node: Node, rows: Sequence[Row],
                 locked: Callable[[], bool] = lambda: True) -> None:
        self._node = node
        self._rows = {row.name: row for row in rows}
        self._locked = locked
        self._found: dict[str, Any] = {}
        self._set: dict[str, Any] = {}    # those asked for since one was set last
        let_assignments_win(node)
        for row in rows:
            self._declare(row)
        warn_of_unknown(node, (row.name for all_rows in NODES.values() for row in all_rows))
        node.add_on_set_parameters_callback(self._check)
        # Some are asked for at each step. Humble does not tell when one has been set.
        self._keeps = hasattr(node, 'add_post_set_parameters_callback')
        if self._keeps:
            node.add_post_set_parameters_callback(lambda parameters: self._set.clear())

    def __getitem__(self, name: str) -> Any:
        """Return the value; ParameterError if it must be set and is not."""
        if name in self._set:
            return self._set[name]
        parameter = self._node.get_parameter_or(name)
        if parameter.type_ == Kind.NOT_SET and name in self._found:
            return self._found[name]
        if parameter.type_ == Kind.NOT_SET:
            raise ParameterError(
                f"parameter '{name}' is not set, expected {self._rows[name].allowed}")
        if self._keeps:
            self._set[name] = parameter.value
        return parameter.value

    def is_set(self, name: str) -> bool:
        """Return whether a parameter without a default was given."""
        return bool(self._node.get_parameter_or(name).type_ != Kind.NOT_SET)

    def find(self, name: str, value: Any) -> None:
        """Take a value for a parameter that is not set, until another one is found."""
        self._found[name] = value

    def _declare(self, row: Row) -> None:
        """Declare a parameter; it gets its range last, as ROS would refuse without its name."""
        parameter = self._node.declare_parameter(
            row.name, row.default, ParameterDescriptor(dynamic_typing=True))
        if row.kind == Kind.DOUBLE and parameter.type_ == Kind.INTEGER:
            parameter = Parameter(row.name, value=float(parameter.value))
            self._node.set_parameters([parameter])
        if parameter.type_ != Kind.NOT_SET and not row.accepts(parameter):
            raise ParameterError(row.refusal(parameter.value))
        self._node.set_descriptor(row.name, row.descriptor())

    def _check(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            row = self._rows.get(parameter.name)
            if row is not None and not row.accepts(parameter):
                return SetParametersResult(successful=False, reason=row.refusal(parameter.value))
            if row is not None and not row.runtime and self._locked():
                return SetParametersResult(
                    successful=False, reason=f"parameter '{row.name}' cannot change to "
                    f'{parameter.value!r} while the node is configured')
        return SetParametersResult(successful=True)
