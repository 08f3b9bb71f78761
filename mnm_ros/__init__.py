# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

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
    from mnm_ros.navigator_client import NavigatorClient
    from mnm_ros.nodes.robot_side import RobotSide
    from mnm_ros.wire import PolicySet

__all__ = ['Exploration', 'NavigatorClient', 'PolicySet', 'Problem', 'RobotSide', 'play',
           'settings']
__version__ = '0.1.0'

_HOMES = {'NavigatorClient': 'navigator_client', 'PolicySet': 'wire',
          'RobotSide': 'nodes.robot_side'}


def __getattr__(name: str) -> Any:
    if name in __all__:
        module = importlib.import_module(f'mnm_ros.{_HOMES.get(name, "core")}')
        return getattr(module, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
