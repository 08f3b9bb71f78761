# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Pictures of grid scenarios and worlds."""

from __future__ import annotations

from collections.abc import Sequence

from mnm_ros.simulation.scenario import Scenario
from mnm_ros.simulation.world import World
import yaml

Picture = tuple[tuple[tuple[str, int], ...], ...]
"""Rows from the top, of pairs of the letter of a cell (``S#.`` or a door) and its state."""


def pictures(scenario: Scenario, world: World | None) -> tuple[Picture, ...]:
    """Return the picture of each setting, which is empty for a setting that is no grid."""
    if world is not None:
        return (_picture(_rows(world), range(world.size[1] - 1, -1, -1)),) * len(world.settings)
    # The file has been checked before, when it was loaded as a scenario.
    settings = yaml.safe_load(scenario.path.read_text(encoding='utf-8'))['settings']
    return tuple(_picture(rows, range(len(rows))) for rows in (
        setting.get('grid', {}).get('rows', ()) for setting in settings))


def _rows(world: World) -> list[str]:
    columns, rows = world.size
    doors = {cell: door for door, cells in world.doors.items() for cell in cells}
    letters = {**dict.fromkeys(world.walls, '#'), **doors, world.home: 'S'}
    return [''.join(letters.get((column, row), '.') for column in range(columns))
            for row in reversed(range(rows))]


def _picture(rows: Sequence[str], numbers: Sequence[int]) -> Picture:
    return tuple(
        tuple((letter, number * len(row) + column) for column, letter in enumerate(row))
        for number, row in zip(numbers, rows, strict=True))
