# SPDX-License-Identifier: Apache-2.0

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
