# SPDX-License-Identifier: Apache-2.0

"""Parameters of ``preflight``."""

from __future__ import annotations

from mnm_ros.core.progress.prediction import PROBE_STEPS
from mnm_ros.parameters.common import SEED
from mnm_ros.parameters.declaration import Row
from mnm_ros.parameters.explorer import EXPLORER

_AS_FOR_THE_EXPLORER = ('actions', 'radius', 'epsilon', 'delta', 'step_timeout')

PREFLIGHT: tuple[Row, ...] = (
    *(row for row in EXPLORER if row.name in _AS_FOR_THE_EXPLORER),
    Row('resets', 5, 'times RESET has to lead to the same state', minimum=2),
    Row('steps', PROBE_STEPS, 'steps to try the actions with, besides the resets', minimum=1),
    Row('states', 0, 'states expected to be learnt; 0 to estimate them from the steps tried',
        minimum=0),
    SEED,
)
