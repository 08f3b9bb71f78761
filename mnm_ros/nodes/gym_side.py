# SPDX-License-Identifier: Apache-2.0

"""
A Gymnasium environment with discrete actions as the robot.

Only this node needs Gymnasium, which the extra ``gym`` installs.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
import json
import sys
from typing import Any

from mnm_ros.core.errors import ParameterError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.gym_robot import (
    action_names,
    check_discrete,
    declared,
    describe_gym,
    GymRobot,
)


class GymSide(RobotSide):
    """Plays an environment."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('gym_side', **node_arguments)
        given = Parameters(self, NODES['gym_side'])
        discretize = self._discretize = given['discretize']
        if discretize and given['declare_successors']:
            raise ParameterError("parameter 'declare_successors' is True, expected False with "
                                 "'discretize', as a table P is not of the states that it makes")
        self._env = make(given['environment'], given['options'], bool(discretize))
        self._robot = robot(self._env, given['seed'], given['one_home'], discretize)
        self.action_names = action_names(self._env)
        self._declaration = self._declared() if given['declare_successors'] else Declaration()
        states = f'states by {discretize}' if discretize else (
            f'{self._env.observation_space.n} states')
        self.get_logger().info(f'{states}; actions: [{", ".join(self.action_names)}]')

    def execute(self, action: int) -> int:
        return self._robot.step(action)

    def return_home(self) -> int:
        return self._robot.reset()

    def describe(self) -> RobotDescription:
        if self._discretize:    # its states may be others than those that have places
            return RobotDescription(tuple(self.action_names), self._robot.home)
        return replace(describe_gym(self._env, self.action_names, self._robot.home),
                       declaration=self._declaration)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def _declared(self) -> Declaration:
        try:
            found = declared(self._env, self._robot.home)
        except (LookupError, TypeError, ValueError) as error:
            raise ParameterError(
                "parameter 'declare_successors' is True, expected an environment with a table P "
                f'of lists of (chance, state, reward, over): {error!r}') from None
        if not found:
            self.get_logger().warning('nothing is declared: the environment has no table P')
        return found


def robot(env: Any, seed: int, one_home: bool, discretize: str) -> GymRobot:
    """
    Return an environment as a robot.

    :param discretize: ``module:function``, or '' if observations are states.
    :raises ParameterError: if there is no such function, or if it fails where the robot starts.
    """
    if not discretize:
        return GymRobot(env, seed, one_home)
    module, _, name = discretize.partition(':')
    try:
        return GymRobot(env, seed, one_home, getattr(import_module(module), name))
    except (Exception, SystemExit) as error:    # the module is foreign code
        env.close()
        raise ParameterError(
            f"parameter 'discretize' is {discretize!r}, expected a module:function that is given "
            'an observation, whether the episode is over, and the environment, and returns an '
            f'int: {type(error).__name__}: {error}') from None


def make(environment: str, options: str, discretized: bool = False) -> Any:
    """
    Return an environment.

    :param environment: its id.
    :param options: JSON object of keyword arguments for ``gymnasium.make``.
    :param discretized: whether its observations need not be discrete.
    :raises ParameterError: if there is no such environment, or if it is not a discrete one.
    """
    try:
        import gymnasium
    except ImportError as error:
        raise ParameterError(f"{error}, expected Gymnasium: pip install 'gymnasium>=0.29,<2'"
                             ) from None
    if not environment:
        raise ParameterError("parameter 'environment' is not set, expected the id of a Gymnasium "
                             'environment, such as FrozenLake-v1')
    try:
        keywords = json.loads(options)
    except ValueError as error:
        raise ParameterError(f"parameter 'options' is {options!r}, expected a JSON object: "
                             f'{error}') from None
    if not isinstance(keywords, dict):
        raise ParameterError(f"parameter 'options' is {options!r}, expected a JSON object, such "
                             'as {"is_slippery": false}')
    try:
        env = gymnasium.make(environment, **keywords)
    except Exception as error:    # environments raise anything for options they do not know
        reason = ' '.join(str(error).split())
        raise ParameterError(f"parameter 'environment' is {environment!r} with options "
                             f'{options}: {reason or repr(error)}') from None
    try:
        check_discrete(env, discretized)
    except ValueError as error:
        env.close()
        raise ParameterError(f"parameter 'environment' is {environment!r}: {error}") from None
    return env


def main(args: list[str] | None = None) -> int:
    """Run the node ``gym_side``."""
    return run('gym_side', GymSide, args)


if __name__ == '__main__':
    sys.exit(main())
