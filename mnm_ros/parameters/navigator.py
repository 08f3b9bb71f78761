# SPDX-License-Identifier: Apache-2.0

"""Parameters of ``navigator``."""

from __future__ import annotations

from mnm_ros.parameters.declaration import Row
from mnm_ros.parameters.explorer import EXPLORER

_AS_EXPLORER = ('step_timeout', 'step_retries', 'reset_mode', 'reset_retries')

NAVIGATOR: tuple[Row, ...] = (
    *(row for row in EXPLORER if row.name in _AS_EXPLORER),
    Row('pause_timeout', 30.0, 's, within which exploration has to pause for a goal',
        minimum=0.1, runtime=True),
    Row('max_steps', 1000, 'steps from home after which a goal has failed; 0 for no limit',
        minimum=0, runtime=True),
)
