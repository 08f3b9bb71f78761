# SPDX-License-Identifier: Apache-2.0

"""Parameters of ``dashboard``."""

from __future__ import annotations

from mnm_ros.parameters.declaration import Row

DASHBOARD: tuple[Row, ...] = (
    Row('host', '127.0.0.1', 'address that the page is served at; 0.0.0.0 for every one of this '
        'machine: read docs/several_machines.md before', read_only=True),
    Row('port', 8080, 'port that the page is served at; 0 for any that is free', minimum=0,
        maximum=65535, read_only=True),
    Row('read_only', False, 'show everything, and leave out what would command an explorer, a '
        'robot or a simulator', read_only=True),
)
