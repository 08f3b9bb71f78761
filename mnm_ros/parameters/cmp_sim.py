# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Parameters of ``cmp_sim``."""

from __future__ import annotations

from mnm_ros.parameters.common import PROBLEM, RECORD
from mnm_ros.parameters.declaration import Row

CMP_SIM: tuple[Row, ...] = (
    Row('scenario', '', 'path, or name of a file in config/scenarios', read_only=True),
    Row('seed', 0, 'of the dynamics, and apart from them of the faults', minimum=0,
        read_only=True),
    *PROBLEM,
    Row('latency', 0.0, 's, delay of every answer', minimum=0, maximum=3600, runtime=True),
    Row('jitter', 0.0, 's, largest additional random delay of an answer', minimum=0,
        maximum=3600, runtime=True),
    Row('drop_action', 0.0, 'probability that an incoming action is lost', minimum=0, maximum=1,
        runtime=True),
    Row('drop_state', 0.0, 'probability that an answer is lost', minimum=0, maximum=1,
        runtime=True),
    Row('duplicate_state', 0.0, 'probability that an answer is sent twice', minimum=0, maximum=1,
        runtime=True),
    Row('stall_every', 0, 'steps after which one answer is late by stall_for; 0 for never',
        minimum=0, runtime=True),
    Row('stall_for', 0.0, 's, delay of a stalled answer', minimum=0, maximum=3600, runtime=True),
    RECORD,
)
