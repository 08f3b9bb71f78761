# SPDX-License-Identifier: Apache-2.0

"""
The values of a node's parameters, and what ROS leaves open about those on a command line.

ROS puts ``-p name:=value`` into the entry ``/**`` that a parameter file before it may have, in the
place of that entry: an entry for the node further down in the file would win. Here ``-p`` wins,
and a parameter that no node has is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import re
import sys
from typing import Any

from mnm_ros.core.errors import ParameterError
from mnm_ros.core.presets import OPTIONS, VARIED
from mnm_ros.located_yaml import WithExponents
from mnm_ros.parameters.parameter_spec import Kind, ParameterSpec
from mnm_ros.parameters.params_file import check, entries
from mnm_ros.parameters.tables import NODES
from mnm_ros.spelling import nearest
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
import yaml

_OF_ROS = re.compile(r'use_sim_time$|start_type_description_service$|qos_overrides\.')
_IN_OVERRIDES = frozenset(option.name for option in OPTIONS if not option.parameter)


class Parameters:
    """
    The values of a node's parameters, which it declares; bad values are refused.

    :param some: whether the node declares others, too.
    :param locked: returns whether the node is configured, when most parameters may not change.
    :raises ParameterError: if a value set at start is not allowed, or a parameter file cannot be
        used.
    :ivar on_change: called with the name, the value before and the new one when one is changed.
    :ivar refusal: returns why none may change at present, or nothing.
    """

    on_change: Callable[[str, Any, Any], object] = staticmethod(lambda name, before, now: None)
    refusal: Callable[[], str] = staticmethod(lambda: '')

    def __init__(self, node: Node, specs: Sequence[ParameterSpec],
                 locked: Callable[[], bool] = lambda: True, some: bool = False) -> None:
        self._node = node
        self._specs = {spec.name: spec for spec in specs}
        self._locked = locked
        self._found: dict[str, Any] = {}
        self._set: dict[str, Any] = {}    # those asked for since one was set last
        self._begun = False    # whether all are declared
        let_assignments_win(node)
        for spec in specs:
            self._declare(spec)
        if not some:
            warn_of_unknown(node, (spec.name for each in NODES.values() for spec in each))
        node.add_on_set_parameters_callback(self._check)
        # Some are asked for at each step. Humble does not report when one has been set.
        self._keeps = hasattr(node, 'add_post_set_parameters_callback')
        if self._keeps:
            node.add_post_set_parameters_callback(lambda parameters: self._set.clear())
        self._begun = True

    def __getitem__(self, name: str) -> Any:
        """Return the value; ParameterError if it must be set and is not."""
        if name in self._set:
            return self._set[name]
        parameter = self._node.get_parameter_or(name)
        if name in self._found and self._specs[name].stands_for_another(parameter.value):
            return self._found[name]
        if parameter.type_ == Kind.NOT_SET:
            raise ParameterError(
                f"parameter '{name}' is not set, expected {self._specs[name].allowed}")
        if self._keeps:
            self._set[name] = parameter.value
        return parameter.value

    def is_set(self, name: str) -> bool:
        """Return whether a value was set for a parameter that else has to be found."""
        return not self._specs[name].stands_for_another(self._node.get_parameter_or(name).value)

    def find(self, name: str, value: Any) -> None:
        """Take a value for a parameter that is not set, or 0, until another one is found."""
        self._found[name] = value

    def take(self, values: Mapping[str, Any], source: str) -> None:
        """
        Set parameters to what a file says, which ``source`` names.

        :raises ParameterError: if a value is not allowed, or if one was set that differs.
        """
        for name, value in values.items():
            spec, given = self._specs[name], self[name]
            if given not in (spec.default, value):
                raise ParameterError(f"parameter '{name}' is {given!r}, expected {value!r} as "
                                     f'{source} has it, or none')
            parameter = Parameter(name, value=value)
            if not spec.accepts(parameter):
                raise ParameterError(f'{source}: {spec.refusal(value)}')
            self._locked, locked = (lambda: False), self._locked
            self._node.set_parameters([parameter])
            self._locked = locked

    def _declare(self, spec: ParameterSpec) -> None:
        """Declare a parameter; it gets its range last, as ROS would refuse without its name."""
        if self._node.has_parameter(spec.name):    # as one of every robot side
            return
        parameter = self._node.declare_parameter(
            spec.name, None if spec.optional else spec.default,
            ParameterDescriptor(dynamic_typing=True))
        if spec.kind == Kind.DOUBLE and parameter.type_ == Kind.INTEGER:
            parameter = Parameter(spec.name, value=float(parameter.value))
            self._node.set_parameters([parameter])
        if parameter.type_ != Kind.NOT_SET and not spec.accepts(parameter):
            raise ParameterError(spec.refusal(parameter.value))
        self._node.set_descriptor(spec.name, spec.descriptor())

    def _check(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        refusal = self.refusal() if self._begun else ''
        if refusal:
            return SetParametersResult(successful=False, reason=refusal)
        for parameter in parameters:
            spec = self._specs.get(parameter.name)
            if spec is not None and not spec.accepts(parameter):
                return SetParametersResult(successful=False, reason=spec.refusal(parameter.value))
            if spec is not None and not spec.runtime and self._locked():
                return SetParametersResult(
                    successful=False, reason=f"parameter '{spec.name}' cannot change to "
                    f'{parameter.value!r} while the node is configured')
        for parameter in parameters if self._begun else ():
            before = self._node.get_parameter_or(parameter.name).value
            if parameter.name in self._specs and before != parameter.value:
                self.on_change(parameter.name, before, parameter.value)
        return SetParametersResult(successful=True)


def check_files(argv: Sequence[str] | None) -> None:
    """Raise ParameterError if there is something wrong with a parameter file that is named."""
    for option, value in _ros_arguments(sys.argv if argv is None else argv):
        if option == '--params-file':
            check(value)


def let_assignments_win(node: Node, argv: Sequence[str] | None = None) -> None:
    """
    Give a node what ``-p`` says, where an entry of a file before it would have won.

    ``-p NODE:NAME:=VALUE`` is for the node of that name in any namespace; ROS alone would search
    for it in the root namespace only.

    It has to be called before the parameters are declared.

    :raises ParameterError: if a parameter file cannot be used.
    """
    in_files: set[str] = set()
    for option, text in _ros_arguments(sys.argv if argv is None else argv):
        if option == '--params-file':
            in_files.update(name for _, given in entries(check(text)) for name in given)
            continue
        name, _, value = text.partition(':=')
        for_node, _, name = name.rpartition(':')
        if for_node == node.get_name():
            _override(node, name, value, True)
        elif name in in_files and not for_node:
            _override(node, name, value, False)


def warn_of_unknown(node: Node, known: Iterable[str]) -> None:
    """
    Log a warning for every parameter set that no node of the package has.

    One that another node has is no mistake: an entry ``/**`` is for several nodes.

    :raises ParameterError: if it is an option that an explorer takes in ``overrides`` only.
    """
    known = sorted(known)
    for name in sorted(node._parameter_overrides):
        if name in known or node.has_parameter(name) or _OF_ROS.match(name):
            continue
        value = node._parameter_overrides[name].value
        if name in _IN_OVERRIDES and value and node.has_parameter('overrides'):
            raise ParameterError(f"parameter '{name}' is {value!r}, expected {name}={value} in "
                                 "the parameter 'overrides', which varies the preset "
                                 + ' or '.join(VARIED))
        node.get_logger().warning(
            f"parameter '{name}' is ignored: no node has one of that name{nearest(name, known)}")


def _override(node: Node, name: str, value: str, new: bool) -> None:
    try:
        parameter = Parameter(name, value=yaml.load(value, Loader=_AsRos))
    except (yaml.YAMLError, ValueError, TypeError, AssertionError):
        return    # ROS alone understands it
    if new or parameter.name in node._parameter_overrides:
        node._parameter_overrides[parameter.name] = parameter
    if node.has_parameter(parameter.name):    # use_sim_time is declared with the node
        node.set_parameters([parameter])


def _ros_arguments(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each parameter file and each assignment on a command line, in their order."""
    for_ros = False
    words = iter(argv)
    for word in words:
        if word in ('--ros-args', '--'):
            for_ros = word == '--ros-args'
        elif for_ros and word in ('-p', '--param', '--params-file'):
            yield '--params-file' if word == '--params-file' else '-p', next(words, '')


class _AsRos(WithExponents):
    """Reads 1e-2 as a number, and y and n as truth values, as ROS does."""

    def construct_truth(self, node: yaml.ScalarNode) -> Any:
        return node.value in ('y', 'Y')


_AsRos.add_implicit_resolver('!truth', re.compile('[yYnN]$'), list('yYnN'))
_AsRos.add_constructor('!truth', _AsRos.construct_truth)
