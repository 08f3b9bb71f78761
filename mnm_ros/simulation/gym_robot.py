# SPDX-License-Identifier: Apache-2.0

"""
A Gymnasium environment with discrete states and actions as a robot.

RESET is ``env.reset``. Once an episode is over, every other action leads to the state in which
it has ended. This module does not import Gymnasium itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import RESET
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.cmp import described
import numpy as np

_NAMES = {
    'CliffWalking': ('up', 'right', 'down', 'left'),
    'FrozenLake': ('left', 'down', 'right', 'up'),
    'Taxi': ('south', 'north', 'east', 'west', 'pickup', 'dropoff'),
}
"""The meaning of the actions of environments that come with Gymnasium."""


class GymRobot:
    """
    An environment from RESET to RESET.

    :param env: an environment with discrete states and actions.
    :param seed: of the dynamics and of the start state.
    :param one_home: whether RESET always leads to the start state that ``seed`` gives; the random
        numbers of the dynamics go on all the same. Otherwise each RESET draws a start state.
    :ivar home: the state that RESET leads to; None if it draws one.
    :raises ValueError: if observations or actions are not discrete.
    """

    def __init__(self, env: Any, seed: int = 0, one_home: bool = True) -> None:
        check_discrete(env)
        self._env = env
        self._seed = seed
        self._random = np.random.default_rng([seed, 1]) if one_home else None
        self._state = int(env.reset(seed=seed)[0])
        self.home = self._state if one_home else None
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

    def play(self, action: int) -> int:
        """Execute an action, RESET among them, and return the state it leads to."""
        return self.reset() if action == RESET else self.step(action)


def check_discrete(env: Any) -> None:
    """Raise ValueError unless the observations and actions of an environment are discrete."""
    for name in ('observation', 'action'):
        space = getattr(env, f'{name}_space')
        if type(space).__name__ != 'Discrete':
            raise ValueError(f'its {name} space is {space}, expected Discrete')


def action_names(env: Any) -> tuple[str, ...]:
    """Return a name for each action: its meaning where that is known, else its number."""
    names = _NAMES.get(env.spec.name if env.spec else '', ())
    count = int(env.action_space.n)
    return names if len(names) == count else tuple(f'a{action}' for action in range(count))


def describe_gym(env: Any, actions: Sequence[str], home: int | None) -> RobotDescription:
    """Return what an environment of Gymnasium is; places are known of those on a grid."""
    inner, name = env.unwrapped, env.spec.name if env.spec else ''
    rows, columns = 0, 0
    if name == 'FrozenLake':
        rows, columns = inner.nrow, inner.ncol
    elif name == 'CliffWalking':
        rows, columns = inner.shape
    if rows * columns != int(env.observation_space.n):
        return RobotDescription(tuple(actions), home)
    return described(actions, home, ('.' * columns,) * rows)


def declared(env: Any, home: int | None) -> Declaration:
    """
    Return where actions may lead by the table ``P`` of an environment; empty if there is none.

    As ``GymRobot`` plays it: an episode that is over stays where it is, and one that a time limit
    may cut short may stay anywhere.

    :param home: where episodes begin; None for anywhere.
    :raises LookupError, TypeError, ValueError: if ``P`` is no such table.
    """
    table = getattr(env.unwrapped, 'P', None)
    if table is None:
        return Declaration()
    first, count = int(env.action_space.start), int(env.action_space.n)
    rows, over = _rows(
        table, range(int(env.observation_space.n)) if home is None else [home],
        range(first, first + count))
    cut_short = bool(env.spec and env.spec.max_episode_steps)
    successors: dict[int, tuple[tuple[int, ...], ...]] = {
        state: ((state,),) * count for state in over}
    chances: dict[int, tuple[tuple[float, ...], ...]] = dict.fromkeys(
        over - rows.keys(), ((1.0,),) * count)
    for state, row in rows.items():
        stays = {state: 0.0} if cut_short or state in over else {}
        lists = [{**stays, **ends} for ends in row]
        successors[state] = tuple(map(tuple, lists))
        if state not in over:    # else no table has how often an episode has ended there
            chances[state] = tuple(tuple(ends.values()) for ends in lists)
    return Declaration(successors, chances)


def _rows(table: Any, starts: Iterable[int],
          actions: Sequence[int]) -> tuple[dict[int, list[dict[int, float]]], set[int]]:
    """Return the rows of the states where an episode may go on, and where one may be over."""
    rows: dict[int, list[dict[int, float]]] = {}
    over: set[int] = set()
    waiting = [*starts]
    for state in waiting:    # which grows
        if state in rows:
            continue
        rows[state] = []
        for action in actions:
            ends: dict[int, float] = {}
            for chance, after, _, is_over in table[state][action]:
                if chance > 0:
                    ends[int(after)] = ends.get(int(after), 0.0) + float(chance)
                    (over.add if is_over else waiting.append)(int(after))
            rows[state].append(ends)
    return rows, over
