# SPDX-License-Identifier: Apache-2.0

"""
Autonomous exploration of changing controlled Markov processes, for ROS 2.

What a user imports, when it is first used: ``PolicySet`` decodes what the explorer publishes,
``RobotSide`` is the base class of robots, and ``NavigatorClient`` sends a robot to known states;
these three need ROS. ``Exploration``, ``Problem``, ``settings`` and ``play`` are the algorithm
without ROS (``mnm_ros.core`` has more).
"""

from __future__ import annotations

import importlib
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from mnm_ros.core import Exploration, play, Problem, settings
    from mnm_ros.messages import PolicySet
    from mnm_ros.navigator_client import NavigatorClient
    from mnm_ros.nodes.robot_side import RobotSide

__all__ = ['Exploration', 'NavigatorClient', 'PolicySet', 'Problem', 'RobotSide', 'play',
           'settings']
__version__ = '0.1.0'

_HOMES = {'NavigatorClient': 'navigator_client', 'PolicySet': 'messages',
          'RobotSide': 'nodes.robot_side'}


def __getattr__(name: str) -> Any:
    if name in __all__:
        module = importlib.import_module(f'mnm_ros.{_HOMES.get(name, "core")}')
        return getattr(module, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
