"""A Gymnasium environment with discrete states and actions as the robot.

RESET is ``env.reset``. Once an episode is over, every other action is answered with the state in
which it has ended. Only this node needs Gymnasium, which the extra ``gym`` installs.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.parameters import GYM_SIDE, ParameterError, Parameters

_NAMES = {
    'CliffWalking': ('up', 'right', 'down', 'left'),
    'FrozenLake': ('left', 'down', 'right', 'up'),
    'Taxi': ('south', 'north', 'east', 'west', 'pickup', 'dropoff'),
}
"""The meaning of the actions of environments that come with Gymnasium."""


class Episodes:
    """An environment from RESET to RESET; knows no ROS.

    Args:
        env: an environment with discrete states and actions.
        seed: of the dynamics and of the start state.
        one_home: whether RESET always leads to the start state that ``seed`` gives; the random
            numbers of the dynamics go on all the same. Otherwise each RESET draws a start state.
    """

    def __init__(self, env: Any, seed: int, one_home: bool) -> None:
        self._env = env
        self._seed = seed
        self._random = np.random.default_rng([seed, 1]) if one_home else None
        self._state = int(env.reset(seed=seed)[0])
        self._over = False

    def reset(self) -> int:
        """Begin an episode and return the state it begins in."""
        seed = None if self._random is None else self._seed
        self._state = int(self._env.reset(seed=seed)[0])
        if self._random is not None:
            # With the seed's own generator, every episode would slip in the same places.
            self._env.unwrapped.np_random = self._random
        self._over = False
        return self._state

    def step(self, action: int) -> int:
        """Return the state that ``action``, counted from 0, leads to."""
        if not self._over:
            state, _, terminated, truncated, _ = self._env.step(
                action + int(self._env.action_space.start))
            self._state, self._over = int(state), bool(terminated or truncated)
        return self._state


class GymSide(RobotSide):
    """Plays an environment."""

    def __init__(self) -> None:
        super().__init__('gym_side')
        given = Parameters(self, GYM_SIDE)
        self._env = make(given['environment'], given['options'])
        self._episodes = Episodes(self._env, given['seed'], given['one_home'])
        self.action_names = action_names(self._env)
        self.get_logger().info(
            f'{self._env.observation_space.n} states; actions: [{", ".join(self.action_names)}]')

    def execute(self, action: int) -> int:
        """Play one step."""
        return self._episodes.step(action)

    def return_home(self) -> int:
        """Begin an episode."""
        return self._episodes.reset()

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def make(environment: str, options: str) -> Any:
    """Return an environment.

    Args:
        environment: its id.
        options: JSON object of keyword arguments for ``gymnasium.make``.

    Raises:
        ParameterError: if there is no such environment, or if it is not a discrete one.
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
    for name in ('observation', 'action'):
        space = getattr(env, f'{name}_space')
        if not isinstance(space, gymnasium.spaces.Discrete):
            env.close()
            raise ParameterError(
                f"parameter 'environment' is {environment!r}, whose {name} space is {space}, "
                'expected Discrete')
    return env


def action_names(env: Any) -> tuple[str, ...]:
    """Return a name for each action: its meaning where that is known, else its number."""
    names = _NAMES.get(env.spec.name if env.spec else '', ())
    count = int(env.action_space.n)
    return names if len(names) == count else tuple(f'a{action}' for action in range(count))


def main(args: list[str] | None = None) -> int:
    """Run the node ``gym_side``."""
    return run('gym_side', GymSide, args)


if __name__ == '__main__':
    sys.exit(main())
