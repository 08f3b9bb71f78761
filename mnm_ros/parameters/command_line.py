# SPDX-License-Identifier: Apache-2.0

"""
What ROS leaves open about the parameters on a command line.

ROS puts ``-p name:=value`` into the entry ``/**`` that a parameter file before it may have, in the
place of that entry: an entry for the node further down in the file would win. Here ``-p`` wins,
and a parameter that no node has is told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
import re
import sys
from typing import Any

from mnm_ros.parameters.params_file import check, entries
from rclpy.node import Node
from rclpy.parameter import Parameter
import yaml

_OF_ROS = re.compile(r'use_sim_time$|start_type_description_service$|qos_overrides\.')


def check_files(argv: Sequence[str] | None) -> None:
    """Raise ParameterError if there is something wrong with a parameter file that is named."""
    for option, value in _ros_arguments(sys.argv if argv is None else argv):
        if option == '--params-file':
            check(value)


def let_assignments_win(node: Node, argv: Sequence[str] | None = None) -> None:
    """
    Give a node what ``-p`` says, where an entry of a file before it would have won.

    ``-p NODE:NAME:=VALUE`` is for the node of that name in any namespace; ROS alone would look for
    it in the root namespace only.

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
    Log a warning for every parameter given that no node of the package has.

    One that another node has is no mistake: an entry ``/**`` is for several nodes.
    """
    known = sorted(known)
    for name in sorted(node._parameter_overrides):
        if name in known or node.has_parameter(name) or _OF_ROS.match(name):
            continue
        node.get_logger().warning(
            f"parameter '{name}' is ignored: no node has one of that name{nearest(name, known)}")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question for the known name that is most like another one; empty if none is."""
    found = get_close_matches(name, list(known), n=1)
    return f"; is '{found[0]}' meant?" if found else ''


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


class _AsRos(yaml.SafeLoader):
    """Reads 1e-2 as a number, and y and n as truth values, as ROS does."""

    def construct_truth(self, node: yaml.ScalarNode) -> Any:
        return node.value in ('y', 'Y')


_AsRos.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'),
    list('-+.0123456789'))
_AsRos.add_implicit_resolver('!truth', re.compile('[yYnN]$'), list('yYnN'))
_AsRos.add_constructor('!truth', _AsRos.construct_truth)
