# SPDX-License-Identifier: Apache-2.0

"""
The declaration of a parameter: its type, default, description and allowed values.

The refusal of a bad value names the parameter, the value and what is allowed. It is a
ParameterError when the node starts, and the reason in SetParametersResult later.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
import sys

from mnm_ros.core import plug_ins
from mnm_ros.protocol.rest_rules import Hours
from mnm_ros.topics import are_robots, ROBOT_NAMES
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.parameter import Parameter

Kind = Parameter.Type

_KIND_NAMES = {
    Kind.BOOL: 'a bool', Kind.INTEGER: 'an integer', Kind.DOUBLE: 'a double, such as 4.0',
    Kind.STRING: 'a string', Kind.STRING_ARRAY: 'a string array'}
_KINDS = {bool: Kind.BOOL, int: Kind.INTEGER, float: Kind.DOUBLE, str: Kind.STRING}
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True)
class ParameterSpec:
    """
    One parameter.

    :ivar default: also gives the type; None for a string array, which must be set.
    :ivar minimum, maximum: the allowed range.
    :ivar open_ends: whether the range is without its ends.
    :ivar choices: the allowed strings; empty for any.
    :ivar or_default: whether the default is allowed although it is not in the range or the
        choices.
    :ivar zero: what 0 stands for, which is allowed although it is not in the range: a value that
        the node finds; empty if it is not allowed.
    :ivar importable: whether ``module:name`` is allowed beside the choices.
    :ivar hours: whether the string is empty or two times of day.
    :ivar namespaces: whether the strings of an array are namespaces below that of the node.
    :ivar optional: whether it may stay not set; a default is an example then, and gives the type.
    :ivar runtime: whether it may change while the node is configured.
    """

    name: str
    default: bool | int | float | str | None
    description: str
    minimum: float = -math.inf
    maximum: float = math.inf
    open_ends: bool = False
    choices: tuple[str, ...] = ()
    or_default: bool = False
    zero: str = ''
    importable: bool = False
    hours: bool = False
    namespaces: bool = False
    optional: bool = False
    read_only: bool = False
    runtime: bool = False

    @property
    def kind(self) -> Parameter.Type:
        """Return the type of the parameter."""
        return Kind.STRING_ARRAY if self.default is None else _KINDS[type(self.default)]

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return _KIND_NAMES[self.kind] + self._constraints()

    def accepts(self, parameter: Parameter) -> bool:
        """Whether the parameter's type and value are allowed."""
        value = parameter.value
        if parameter.type_ != self.kind:
            return False
        if self.or_default and value == self.default or self.stands_for_another(value):
            return True
        if self.kind == Kind.STRING_ARRAY:
            return bool(value) and (are_robots(value) if self.namespaces
                                    else len({'', 'RESET', *value}) == len(value) + 2)
        if self.hours:
            return not value or Hours.is_written(value)
        if self.kind == Kind.STRING:
            return not self.choices or value in self.choices or self.importable and (
                ':' in value or value in plug_ins.installed(self.name))
        at_end = not self.open_ends and value in (self.minimum, self.maximum)
        return math.isfinite(value) and (at_end or self.minimum < value < self.maximum)

    def stands_for_another(self, value: object) -> bool:
        """Whether the node has to find the value: none is set, or the 0 for that."""
        return value is None or bool(self.zero) and value == 0

    def refusal(self, value: object) -> str:
        """Return why ``value`` is refused."""
        return f"parameter '{self.name}' is {value!r}, expected {self.allowed}"

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor, with the range as far as ROS can express it, ends included."""
        low = self.minimum
        if self.or_default and isinstance(self.default, (int, float)):
            low = min(low, self.default)
        if self.zero:
            low = min(low, 0)
        descriptor = ParameterDescriptor(
            description=self.description, read_only=self.read_only,
            additional_constraints=self.allowed,
            dynamic_typing=True)    # so that ``accepts`` refuses a wrong type, not ROS
        if self.kind == Kind.DOUBLE:
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=float(max(low, -sys.float_info.max)),    # Humble refuses an int here,
                to_value=float(min(self.maximum, sys.float_info.max)))]    # others misread it
        if self.kind == Kind.INTEGER:
            descriptor.integer_range = [IntegerRange(
                from_value=-_INT64_MAX - 1 if low == -math.inf else int(low),
                to_value=_INT64_MAX if self.maximum == math.inf else int(self.maximum))]
        return descriptor

    def _constraints(self) -> str:
        if self.namespaces:
            return f' of {ROBOT_NAMES}'
        if self.kind == Kind.STRING_ARRAY:
            return ' of distinct, non-empty names, RESET not among them'
        text = ', one of ' + ', '.join(self.choices) if self.choices else ''
        text += ', or module:name' if self.importable else ''
        text += ", two times of day such as 22:00-06:00, or ''" if self.hours else ''
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
        if self.zero:
            text += f', or 0 for {self.zero}'
        return text
