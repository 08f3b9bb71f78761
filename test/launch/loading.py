# SPDX-License-Identifier: Apache-2.0

"""Launch files as modules, and what their functions make of arguments."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.utilities import evaluate_parameters

FOLDER = Path(__file__).resolve().parents[2] / 'launch'


def load(name: str) -> ModuleType:
    """Return ``name.launch.py`` as a module."""
    spec = importlib.util.spec_from_file_location(f'{name}_launch', FOLDER / f'{name}.launch.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def context(module: ModuleType, **arguments: str) -> LaunchContext:
    """Return what launch hands over, with the defaults of the arguments not given."""
    made = LaunchContext()
    defaults = {name: default for name, (default, _) in module.ARGUMENTS.items()}
    made.launch_configurations.update(defaults | arguments)
    return made


def pushed(namespace: str, name: str, /, **arguments: str) -> list[str]:
    """Return the namespaces of the nodes where ``name.launch.py`` is included in a group."""
    return [node.expanded_node_namespace for node in _nodes(LaunchDescription([
        PushRosNamespace(namespace),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(FOLDER / f'{name}.launch.py')),
            launch_arguments=arguments.items())]), LaunchContext())]


def _nodes(entity: LaunchDescriptionEntity, made: LaunchContext) -> list[Node]:
    """Visit as launch does, but start nothing."""
    if isinstance(entity, Node):
        entity._perform_substitutions(made)
        return [entity]
    return [node for each in entity.visit(made) or () for node in _nodes(each, made)]


def parameters(node: Node, made: LaunchContext) -> dict[str, object]:
    """Return what a node is given on top of parameter files."""
    return {key: value for each in evaluate_parameters(made, node._Node__parameters)
            if isinstance(each, dict) for key, value in each.items()}


def assert_described(module: ModuleType) -> None:
    arguments = module.generate_launch_description().get_launch_arguments()
    assert len(arguments) == len(module.ARGUMENTS)
    assert all(argument.description for argument in arguments)
