"""How a parameter is declared: type, default, description, what is allowed.

A bad value is refused with the parameter, the value and what is allowed: at start by
ParameterError, at runtime by the reason of SetParametersResult.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
import sys
from typing import Any, Union

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

Value = Union[bool, int, float, str, list]
Kind = Parameter.Type

_KIND_NAMES = {
    Kind.BOOL: 'a bool', Kind.INTEGER: 'an integer', Kind.DOUBLE: 'a double, such as 4.0',
    Kind.STRING: 'a string', Kind.STRING_ARRAY: 'a string array'}
_KINDS = {bool: Kind.BOOL, int: Kind.INTEGER, float: Kind.DOUBLE, str: Kind.STRING}
_INT64_MAX = 2**63 - 1


class ParameterError(ValueError):
    """A parameter was given a value that is not allowed."""


@dataclass(frozen=True)
class Row:
    """One parameter.

    default: its type is the parameter's; None is a string array that must be given.
    minimum, maximum: allowed range; ``open_ends`` excludes the ends themselves.
    choices: allowed strings; empty means any.
    importable: ``module:name`` is allowed beside the choices.
    or_default: the default is allowed although it lies outside of the range or the choices.
    runtime: may change while the node is configured.
    """

    name: str
    default: Value | None
    description: str
    minimum: float = -math.inf
    maximum: float = math.inf
    open_ends: bool = False
    choices: tuple[str, ...] = ()
    or_default: bool = False
    importable: bool = False
    read_only: bool = False
    runtime: bool = False

    @property
    def kind(self) -> Parameter.Type:
        """Type of the parameter."""
        return Kind.STRING_ARRAY if self.default is None else _KINDS[type(self.default)]

    @property
    def allowed(self) -> str:
        """What is allowed, for people."""
        return _KIND_NAMES[self.kind] + self._constraints()

    def accepts(self, parameter: Parameter) -> bool:
        """Whether the parameter's type and value are allowed."""
        if parameter.type_ != self.kind:
            return False
        value = parameter.value
        if self.kind == Kind.STRING_ARRAY:
            return bool(value) and all(value) and len(set(value)) == len(value) \
                and 'RESET' not in value
        if self.or_default and value == self.default:
            return True
        if self.kind == Kind.STRING:
            return not self.choices or value in self.choices or self.importable and ':' in value
        if self.kind == Kind.BOOL:
            return True
        if self.open_ends:
            return self.minimum < value < self.maximum
        return math.isfinite(value) and self.minimum <= value <= self.maximum

    def refusal(self, value: object) -> str:
        """Why ``value`` is refused."""
        return f"parameter '{self.name}' is {value!r}, expected {self.allowed}"

    def descriptor(self) -> ParameterDescriptor:
        """Descriptor with the range as far as ROS can express it; ends are inclusive there."""
        low = self.minimum
        if self.or_default and isinstance(self.default, (int, float)):
            low = min(low, self.default)
        descriptor = ParameterDescriptor(
            description=self.description, read_only=self.read_only,
            additional_constraints=self.allowed,
            dynamic_typing=True)    # so that a wrong type reaches our own check
        if self.kind == Kind.DOUBLE:
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=max(low, -sys.float_info.max),
                to_value=min(self.maximum, sys.float_info.max))]
        if self.kind == Kind.INTEGER:
            descriptor.integer_range = [IntegerRange(
                from_value=-_INT64_MAX - 1 if low == -math.inf else int(low),
                to_value=_INT64_MAX if self.maximum == math.inf else int(self.maximum))]
        return descriptor

    def _constraints(self) -> str:
        if self.kind == Kind.STRING_ARRAY:
            return ' of distinct, non-empty names, RESET not among them'
        text = ', one of ' + ', '.join(self.choices) if self.choices else ''
        text += ', or module:name' if self.importable else ''
        low, high = (self.kind != Kind.STRING and math.isfinite(end)
                     for end in (self.minimum, self.maximum))
        more, less = ('>', '<') if self.open_ends else ('>=', '<=')
        if low and high:
            ends = '()' if self.open_ends else '[]'
            text += f', in {ends[0]}{self.minimum:g}, {self.maximum:g}{ends[1]}'
        elif low:
            text += f', {more} {self.minimum:g}'
        elif high:
            text += f', {less} {self.maximum:g}'
        if self.or_default:
            text += f', or {self.default!r} as the preset has it'
        return text


class Parameters:
    """The parameters of a node, declared and guarded.

    locked: says whether the node is configured, when most parameters may not change.

    Raises ParameterError if a value given at start is not allowed.
    """

    def __init__(
            self, node: Node, rows: Sequence[Row],
            locked: Callable[[], bool] = lambda: True) -> None:
        self._node = node
        self._rows = {row.name: row for row in rows}
        self._locked = locked
        for row in rows:
            self._declare(row)
        node.add_on_set_parameters_callback(self._check)

    def __getitem__(self, name: str) -> Any:
        """Return the value; ParameterError if it is required and was not given."""
        parameter = self._node.get_parameter_or(name)
        if parameter.type_ == Kind.NOT_SET:
            raise ParameterError(
                f"parameter '{name}' is not set, expected {self._rows[name].allowed}")
        return parameter.value

    def _declare(self, row: Row) -> None:
        """Check before the range is attached: ROS refuses without naming the parameter."""
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
            if row is None:
                continue
            reason = ''
            if not row.accepts(parameter):
                reason = row.refusal(parameter.value)
            elif not row.runtime and self._locked():
                reason = (f"parameter '{row.name}' cannot change to {parameter.value!r} while "
                          'the node is configured')
            if reason:
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)
