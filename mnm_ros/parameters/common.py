# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Parameters that several nodes share."""

from __future__ import annotations

from mnm_ros.core.problem import EPSILON, RADIUS
from mnm_ros.parameters.declaration import Row

PROBLEM = (
    Row('radius', 4.0, 'L: states within this many expected steps of home are to be learnt',
        minimum=RADIUS[0], maximum=RADIUS[1]),
    Row('epsilon', 1.0, 'a learnt policy may need (1 + epsilon) * radius expected steps',
        minimum=EPSILON[0], maximum=EPSILON[1]),
)
SEED = Row('seed', 0, 'of every random choice', minimum=0)
RECORD = Row('record', '', "JSON file to write the transition counts to at shutdown; '' for none",
             read_only=True)
