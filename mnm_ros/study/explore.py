# SPDX-License-Identifier: Apache-2.0

"""Explore a Gymnasium environment, or a robot that is a function, in one call and without ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from reprlib import repr as shortened
import signal
import threading
from typing import Any, Union

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.mnm.options import Value
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.integers import as_int
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings, takes
from mnm_ros.core.task.step_task import play
from mnm_ros.description_entries import MAX_ACTIONS
from mnm_ros.export.recording import Recording
from mnm_ros.robot_description import numbered, RobotDescription
from mnm_ros.simulation.gym_robot import action_names, Discretize, GymRobot

Robot = Callable[[int], int]
"""Executes an action, RESET (-1) among them, and returns the state in which it ended."""

_MISSES = 10
"""RESETs in a row that miss home before ``explore`` gives up."""


def explore(robot: Any, steps: int | None = None, *,
            actions: Union[int, Sequence[str], None] = None, radius: float = 4.0,
            epsilon: float = 1.0, delta: float = 0.1, preset: str = 'onboard',
            overrides: Mapping[str, Value] | None = None, seed: int = 0,
            declared: Declaration | None = None, discretize: Discretize | None = None,
            progress: bool = True) -> Recording:
    """
    Explore an environment, and return its known states with a policy to each.

    Ctrl-C ends the exploration; ``explore`` returns the result of the steps so far. Every other
    error of the robot passes through. Actions count from 0, also those of an environment with
    ``action_space.start``, which plays the action plus ``start``.

    With a Gymnasium environment::

        import gymnasium
        from mnm_ros import explore

        result = explore(gymnasium.make('CliffWalking-v1'), steps=3_000, radius=2.0)
        result.known                    # the states that a policy reaches
        result.predict(36, target=12)   # the action in state 36 on the way to 12, as in SB3

    :param robot: an environment of Gymnasium with discrete spaces, or a function that executes
        an action and returns the state in which it ended; -1 is RESET, which leads home.
    :param steps: how many steps to make, RESETs included; None to stop at the first hypothesis.
    :param actions: the number or the names of the actions of a function; not of an environment.
    :param radius: the expected steps within which a state has to be found.
    :param epsilon: a policy may take ``(1 + epsilon) * radius`` expected steps.
    :param delta: the probability with which the promise may fail.
    :param preset, overrides: as for ``settings``.
    :param seed: of every random choice, of the environment as well.
    :param declared: where the actions may lead, as a map says; None if nothing is known.
    :param discretize: a function ``discretize(observation, over, env)`` that returns the state of
        an observation; ``over`` says whether the episode has terminated.
    :param progress: whether a bar on the terminal shows the steps and the known states.
    :raises InvalidValueError: with the argument, its value and what was expected. Later, if 10
        RESETs in a row miss home, or if the robot returns no state.
    :raises InvalidTypeError: if the function returns no integer.
    """
    if steps is not None:
        steps = _integer('steps', steps, 1, ', or None')
    seed = _integer('seed', seed, 0)
    for name, given, kind, expected in (('declared', declared, Declaration, 'a Declaration'),
                                        ('overrides', overrides, Mapping, 'a mapping')):
        if given is not None and not isinstance(given, kind):
            raise InvalidValueError(
                f'{name} is {shortened(given)}, expected {expected}, or None')
    step, names = _step_and_names(robot, actions, seed, discretize)
    exploration = Exploration(settings(
        Problem(len(names), radius, epsilon, delta), preset, overrides or {}), seed)
    recording = Recording(exploration, names)
    if declared is not None:
        exploration.declare(declared)
    interruption = _Interruption(step)
    with _bar(steps, progress) as show, interruption.heard():
        while not interruption.came and (
                exploration.hypothesis is None if steps is None else exploration.steps < steps):
            try:
                play(exploration, interruption.step, 1)
            except _BrokenOff:
                exploration.lose_place()
            show(exploration)
            _check_home(exploration)
    return recording


def _integer(name: str, value: Any, least: int, otherwise: str = '') -> int:
    found = as_int(value)
    if found is None or found < least:
        raise InvalidValueError(
            f'{name} is {shortened(value)}, expected an int, at least {least}{otherwise}')
    return found


def _check_home(exploration: Exploration) -> None:
    """Raise InvalidValueError once too many RESETs in a row have missed home."""
    homing = exploration.homing
    if homing.misses_in_a_row >= _MISSES:
        raise InvalidValueError(
            f'RESET missed home {_MISSES} times in a row and ended in state '
            f'{exploration.last_state}, expected home, state {homing.home}')


class _BrokenOff(Exception):
    """Ctrl-C has broken off a step of the robot."""


class _Interruption:
    """
    Let Ctrl-C break off a step of the robot, but no computation between two steps.

    :ivar came: whether Ctrl-C was pressed.
    """

    def __init__(self, robot: Robot) -> None:
        self.came = False
        self._robot = robot
        self._stepping = False

    def step(self, action: int) -> int:
        """Execute an action; raise _BrokenOff if Ctrl-C comes meanwhile."""
        try:
            self._stepping = True
            return self._robot(action)
        except KeyboardInterrupt:
            self.came = True
            raise _BrokenOff from None
        finally:
            self._stepping = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Replace Python's own handler of Ctrl-C, but no other handler."""
        if (threading.current_thread() is not threading.main_thread()
                or signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
            yield
            return
        signal.signal(signal.SIGINT, self._hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _hear(self, number: int, frame: object) -> None:
        self.came = True
        if self._stepping:
            raise KeyboardInterrupt


def _step_and_names(robot: Any, actions: Union[int, Sequence[str], None], seed: int,
                    discretize: Discretize | None) -> tuple[Robot, Sequence[str]]:
    """Return the function that executes an action, and the names of the actions."""
    if isinstance(robot, type):
        raise InvalidValueError(
            f'robot is the class {robot.__name__}, expected an environment; call '
            f'{robot.__name__}()')
    if hasattr(robot, 'action_space'):
        if actions is not None:
            raise InvalidValueError(
                f'actions is {actions!r}, expected None, as the environment has its own')
        return GymRobot(robot, seed, discretize=discretize).play, action_names(robot)
    if not takes(robot, 1):
        raise InvalidValueError(
            f'robot is {shortened(robot)}, expected an environment of Gymnasium or a function of '
            'one argument, the action')
    if discretize is not None:
        raise InvalidValueError(
            'discretize is given with a function, expected None: the function returns states')
    return robot, _names(actions)


def _names(actions: Any) -> Sequence[str]:
    """Return the names of the actions of a function."""
    count = as_int(actions)
    if count is not None and 1 <= count <= MAX_ACTIONS:
        return numbered(count)
    if isinstance(actions, (str, bytes)) or not isinstance(actions, Sequence):
        raise InvalidValueError(
            f'actions is {shortened(actions)}, expected the names of the actions that the '
            f'function executes, or their number, 1 to {MAX_ACTIONS}')
    return RobotDescription(tuple(actions)).actions


@contextmanager
def _bar(steps: int | None, shown: bool) -> Iterator[Callable[[Exploration], None]]:
    """Show the progress on a terminal; yield the function that draws it."""
    if not shown:
        yield lambda exploration: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn('steps, {task.description}'))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task('0 states known', total=steps)

        def show(exploration: Exploration) -> None:
            hypothesis = exploration.hypothesis
            known = len(hypothesis.policies) if hypothesis else 0
            progress.update(bar, completed=exploration.steps, description=(
                f'{known} states known, {len(exploration.candidates)} candidates'))

        yield show
