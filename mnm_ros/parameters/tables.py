# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The parameters of each node."""

from __future__ import annotations

from collections.abc import Mapping

from mnm_ros.parameters.cmp_sim import CMP_SIM
from mnm_ros.parameters.dashboard import DASHBOARD
from mnm_ros.parameters.declaration import Row
from mnm_ros.parameters.diff_drive_sim import DIFF_DRIVE_SIM
from mnm_ros.parameters.explorer import EXPLORER
from mnm_ros.parameters.grid_driver import GRID_DRIVER
from mnm_ros.parameters.gym_side import GYM_SIDE
from mnm_ros.parameters.navigator import NAVIGATOR
from mnm_ros.parameters.preflight import PREFLIGHT

NODES: Mapping[str, tuple[Row, ...]] = {
    'explorer': EXPLORER,
    'cmp_sim': CMP_SIM,
    'navigator': NAVIGATOR,
    'grid_driver': GRID_DRIVER,
    'diff_drive_sim': DIFF_DRIVE_SIM,
    'gym_side': GYM_SIDE,
    'preflight': PREFLIGHT,
    'dashboard': DASHBOARD,
}
"""The parameters of each node by its name."""
