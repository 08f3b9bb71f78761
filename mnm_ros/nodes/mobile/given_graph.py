# SPDX-License-Identifier: Apache-2.0

"""The route graph that parameters name, and its home."""

from __future__ import annotations

from mnm_ros.core.errors import FileError, InvalidValueError, ParameterError
from mnm_ros.files import user_path
from mnm_ros.parameters import Parameters
from mnm_ros.places.graph_file import read_graph
from mnm_ros.places.place_graph import PlaceGraph
from rclpy.node import Node


def graph_of(node: Node, given: Parameters) -> PlaceGraph:
    """
    Return the route graph with one place at each position; warn of what a robot cannot use.

    :raises ParameterError: if it cannot be read, or has several floors.
    """
    if not given['graph']:
        raise ParameterError("parameter 'graph' is '', expected the path of a route graph")
    try:
        graph = read_graph(user_path(given['graph']))
        graph.check_one_level()
    except FileError as error:
        raise ParameterError(f"parameter 'graph': {error}") from None
    for warning in graph.warnings:
        node.get_logger().warning(warning)
    return graph.merged


def home_of(graph: PlaceGraph, given: Parameters) -> int:
    """Return the place that is home; ParameterError if it is none."""
    try:
        return graph.called(given['home_place']) if given['home_place'] else graph.home
    except InvalidValueError as error:
        raise ParameterError(f"parameter 'home_place' is {error}") from None


def summary(graph: PlaceGraph, home: int) -> str:
    """Return what a node says that has read a graph."""
    return (f'{len(graph.places)} places and {len(graph.edges)} edges of {graph.path}; home is '
            f'{graph.name(home)}, state {home}')
