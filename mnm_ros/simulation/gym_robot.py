# SPDX-License-Identifier: Apache-2.0

"""
A Gymnasium environment with discrete actions as a robot.

Its observations are discrete, too, or a function makes states of them. RESET is ``env.reset``.
Once an episode has terminated, every other action leads to the state in which it has ended. One
that is truncated, as by a time limit, goes on: else a state would lead now here, now there. This
module does not import Gymnasium itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from reprlib import repr as shortened
from typing import Any

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.declaration import check_state, Declaration
from mnm_ros.core.model.integers import as_int, is_state
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import takes
from mnm_ros.description_entries import MAX_ACTIONS
from mnm_ros.robot_description import numbered, RobotDescription
from mnm_ros.simulation.cmp import described
import numpy as np

_NAMES = {
    'Blackjack': ('stick', 'hit'),
    'CliffWalking': ('up', 'right', 'down', 'left'),
    'FrozenLake': ('left', 'down', 'right', 'up'),
    'Taxi': ('south', 'north', 'east', 'west', 'pickup', 'dropoff'),
}
"""The meaning of the actions of environments that come with Gymnasium."""

Discretize = Callable[[Any, bool, Any], int]
"""From an observation, whether the episode is over, and the environment, to a state."""


class GymRobot:
    """
    An environment from RESET to RESET.

    :param env: an environment with discrete actions.
    :param seed: of the dynamics and of the start state.
    :param one_home: whether RESET always leads to the start state that ``seed`` gives; the random
        numbers of the dynamics go on all the same. Otherwise each RESET draws a start state.
    :param discretize: makes states of observations, and has to give the same situation the same
        state in every process; None if they are states.
    :ivar home: the state that RESET leads to; None if it draws one.
    :raises ValueError: if actions are not discrete, or observations without ``discretize``. Here
        and later, if ``env`` answers otherwise than Gymnasium's, or if an observation, or what
        ``discretize`` returns, is no state.
    """

    def __init__(self, env: Any, seed: int = 0, one_home: bool = True,
                 discretize: Discretize | None = None) -> None:
        check_discrete(env, discretize is not None)
        if discretize is not None and not takes(discretize, 3):
            raise InvalidValueError(
                f'discretize is {shortened(discretize)}, expected a function '
                'discretize(observation, over, env) that returns a state')
        self._env = env
        self._seed = seed
        self._discretize = discretize
        self._random = np.random.default_rng([seed, 1]) if one_home else None
        self._over = False
        self._state = self._begin(seed)
        self.home = self._state if one_home else None

    def reset(self) -> int:
        """Begin an episode and return the state it begins in."""
        seed = None if self._random is None else self._seed
        self._over = False
        self._state = self._begin(seed)
        if self._random is not None:
            # With the seed's own generator, every episode would slip in the same places.
            self._env.unwrapped.np_random = self._random
        return self._state

    def step(self, action: int) -> int:
        """Return the state that ``action``, counted from 0, leads to."""
        if not self._over:
            observation, _, terminated, _, _ = _tuple(
                self._env.step(action + int(self._env.action_space.start)), 'env.step', 5,
                '(observation, reward, terminated, truncated, info)')
            self._over = bool(terminated)
            self._state = self._state_of(observation, f'action {action}')
        return self._state

    def play(self, action: int) -> int:
        """Execute an action, RESET among them, and return the state it leads to."""
        return self.reset() if action == RESET else self.step(action)

    def _begin(self, seed: int | None) -> int:
        observation, _ = _tuple(self._env.reset(seed=seed), 'env.reset', 2, '(observation, info)')
        return self._state_of(observation, 'RESET')

    def _state_of(self, observation: Any, after: str) -> int:
        if self._discretize is None:
            space, of_space = self._env.observation_space, as_int(observation)
            first = int(space.start)
            if of_space is None or not first <= of_space < first + int(space.n):
                raise InvalidValueError(
                    f'observation after {after} is {shortened(observation)}, expected a state of '
                    f'{space}')
            return of_space
        found: Any = self._discretize(observation, self._over, self._env)
        state: int = int(found) if isinstance(found, np.integer) else found
        if not is_state(state):    # an observation may take longer to write than a step
            check_state(state, f'what discretize returned for {shortened(observation)}')
        return state


def _tuple(answer: Any, method: str, length: int, expected: str) -> tuple[Any, ...]:
    """Return what a method of an environment has returned; ValueError if the length is wrong."""
    if not isinstance(answer, tuple) or len(answer) != length:
        raise InvalidValueError(
            f'{method} returned {shortened(answer)}, expected {expected}, as in Gymnasium')
    return answer


def check_discrete(env: Any, discretized: bool = False) -> None:
    """Raise ValueError unless actions are discrete, and observations that are not made so."""
    expected = {'action': 'Discrete'}
    if not discretized:
        expected['observation'] = 'Discrete, or discretize, a function that makes states of it'
    for name, what in expected.items():
        space = getattr(env, f'{name}_space', None)
        if space is None:
            raise InvalidValueError(
                f'env is {shortened(env)}, which has no {name}_space, expected an environment of '
                'Gymnasium')
        if type(space).__name__ != 'Discrete':
            raise InvalidValueError(f'its {name} space is {space}, expected {what}')
    for name in ('reset', 'step', 'spec', 'unwrapped'):
        if not hasattr(env, name):
            raise InvalidValueError(
                f'env is {shortened(env)}, which has no {name}, expected an environment of '
                'Gymnasium')
    if env.action_space.n > MAX_ACTIONS:
        raise InvalidValueError(
            f'its action space is {env.action_space}, expected at most {MAX_ACTIONS} actions')


def action_names(env: Any) -> tuple[str, ...]:
    """Return a name for each action: its meaning where that is known, else its number."""
    names = _NAMES.get(env.spec.name if env.spec else '', ())
    meanings = getattr(env.unwrapped, 'actions', None)    # of MiniGrid
    if isinstance(meanings, type) and issubclass(meanings, IntEnum):
        names = tuple(each.name for each in sorted(meanings))
    count = int(env.action_space.n)
    return names if len(names) == count else numbered(count)


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

    As ``GymRobot`` plays it: an episode that is over stays where it is.

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
    successors: dict[int, tuple[tuple[int, ...], ...]] = {
        state: ((state,),) * count for state in over}
    chances: dict[int, tuple[tuple[float, ...], ...]] = dict.fromkeys(
        over - rows.keys(), ((1.0,),) * count)
    for state, row in rows.items():
        stays = {state: 0.0} if state in over else {}
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
