# SPDX-License-Identifier: Apache-2.0

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
