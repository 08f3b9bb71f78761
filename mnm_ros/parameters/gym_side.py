# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Parameters of ``gym_side``."""

from __future__ import annotations

from mnm_ros.parameters.declaration import Row

GYM_SIDE: tuple[Row, ...] = (
    Row('environment', '', 'id of a Gymnasium environment, such as FrozenLake-v1; module:id '
        'imports the module first', read_only=True),
    Row('options', '{}', 'JSON object of what gymnasium.make is given besides', read_only=True),
    Row('seed', 0, 'of the dynamics and of the start state', minimum=0, read_only=True),
    Row('one_home', True, 'every RESET leads to the state in which the first one ended; false: '
        'to whichever state the environment draws', read_only=True),
)
