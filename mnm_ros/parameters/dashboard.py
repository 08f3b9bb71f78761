# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Parameters of ``dashboard``."""

from __future__ import annotations

from mnm_ros.parameters.declaration import Row

DASHBOARD: tuple[Row, ...] = (
    Row('host', '127.0.0.1', 'address that the page is served at; 0.0.0.0 for every one of this '
        'machine: read docs/security.md before', read_only=True),
    Row('port', 8080, 'port that the page is served at; 0 for any that is free', minimum=0,
        maximum=65535, read_only=True),
    Row('read_only', False, 'show everything, and leave out what would command an explorer, a '
        'robot or a simulator', read_only=True),
)
