# SPDX-License-Identifier: Apache-2.0

"""Parameters that several nodes share."""

from __future__ import annotations

from mnm_ros.core.model.problem import EPSILON, RADIUS
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
