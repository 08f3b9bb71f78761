# SPDX-License-Identifier: Apache-2.0

"""
The algorithm, without ROS: driven one step at a time, never blocking.

    from mnm_ros.core import Exploration, Problem, play, settings

    problem = Problem(actions=4, radius=4.0, epsilon=1.0, delta=0.1)
    exploration = Exploration(settings(problem), seed=1)
    play(exploration, robot, steps=20_000)     # robot(action) returns a state; -1 is RESET
    exploration.hypothesis.policies            # one policy for each known state
    exploration.counts, exploration.events     # what was observed, and decided when

``play`` calls ``next_action`` and ``observe`` in turn; call them yourself where one step is to
be made at a time. ``mnm_ros.simulation.gym_robot.GymRobot(env).play`` is such a robot for any
Gymnasium environment with discrete states and actions. Several robots of one kind explore
together as each a ``Member`` of a ``Fleet``, see ``docs/fleet.md``. The names below are imported
when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from mnm_ros.core.exploration import Exploration, Phase
    from mnm_ros.core.fleet.fleet import Fleet, Member
    from mnm_ros.core.mnm.base import BaseAlgorithm
    from mnm_ros.core.model.policy import Hypothesis, Policy
    from mnm_ros.core.model.problem import Problem, RESET
    from mnm_ros.core.presets import new_base, OPTIONS, PRESETS, settings
    from mnm_ros.core.progress.events import Event
    from mnm_ros.core.task.step_task import play

__all__ = [
    'BaseAlgorithm', 'Event', 'Exploration', 'Fleet', 'Hypothesis', 'Member', 'OPTIONS', 'PRESETS',
    'Phase', 'Policy', 'Problem', 'RESET', 'new_base', 'play', 'settings']
_MODULES = {
    'BaseAlgorithm': 'mnm.base', 'Event': 'progress.events', 'Exploration': 'exploration',
    'Phase': 'exploration', 'Fleet': 'fleet.fleet', 'Member': 'fleet.fleet',
    'Hypothesis': 'model.policy', 'Policy': 'model.policy', 'OPTIONS': 'presets',
    'PRESETS': 'presets', 'new_base': 'presets', 'settings': 'presets', 'RESET': 'model.problem',
    'Problem': 'model.problem', 'play': 'task.step_task'}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f'mnm_ros.core.{_MODULES[name]}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
