# SPDX-License-Identifier: Apache-2.0

"""Explore a Gymnasium environment, or a robot that is a function, in one call and without ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Union

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.mnm.options import Value
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.core.task.step_task import play
from mnm_ros.export.recording import Recording
from mnm_ros.simulation.gym_robot import action_names, Discretize, GymRobot

Robot = Callable[[int], int]
"""Executes an action, RESET (-1) among them, and returns the state in which it ended."""


def explore(robot: Any, steps: int | None = None, *,
            actions: Union[int, Sequence[str], None] = None, radius: float = 4.0,
            epsilon: float = 1.0, delta: float = 0.1, preset: str = 'onboard',
            overrides: Mapping[str, Value] | None = None, seed: int = 0,
            declared: Declaration | None = None, discretize: Discretize | None = None,
            progress: bool = True) -> Recording:
    """
    Explore an environment, and return its known states with a policy to each.

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
    :param discretize: makes states of the observations of an environment.
    :param progress: whether a bar on the terminal shows the steps and the known states.
    :raises InvalidValueError: with the argument, its value and what was expected.
    """
    if steps is not None and steps < 1:
        raise InvalidValueError(f'steps is {steps!r}, expected at least 1, or None')
    step, names = _step_and_names(robot, actions, seed, discretize)
    exploration = Exploration(settings(
        Problem(len(names), radius, epsilon, delta), preset, overrides or {}), seed)
    recording = Recording(exploration, names)
    if declared is not None:
        exploration.declare(declared)
    with _bar(steps, progress) as show:
        while exploration.hypothesis is None if steps is None else exploration.steps < steps:
            play(exploration, step, 1)
            show(exploration)
    return recording


def _step_and_names(robot: Any, actions: Union[int, Sequence[str], None], seed: int,
                    discretize: Discretize | None) -> tuple[Robot, Sequence[str]]:
    """Return the function that executes an action, and the names of the actions."""
    if hasattr(robot, 'action_space'):
        if actions is not None:
            raise InvalidValueError(
                f'actions is {actions!r}, expected None, as the environment has its own')
        return GymRobot(robot, seed, discretize=discretize).play, action_names(robot)
    if not callable(robot):
        raise InvalidValueError(
            f'robot is {robot!r}, expected an environment of Gymnasium or a function')
    if discretize is not None:
        raise InvalidValueError(
            'discretize is given with a function, expected None: the function returns states')
    if isinstance(actions, int):
        actions = [f'a{action}' for action in range(actions)]
    if not actions:
        raise InvalidValueError(
            f'actions is {actions!r}, expected the number or the names of the actions that the '
            'function executes')
    return robot, actions


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
