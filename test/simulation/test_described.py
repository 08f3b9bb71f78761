# SPDX-License-Identifier: Apache-2.0

"""What simulated robots say about themselves."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.simulation.gym_robot import action_names, describe_gym
from mnm_ros.simulation.scenario import describe, load
import pytest

GRID = """
name: room
actions: [north, south, east, west]
settings:
  - grid: {rows: ["S.", "#."]}
    until: 10
  - grid: {rows: ["S.", ".."]}
"""


def test_the_cells_of_a_grid(tmp_path: Path) -> None:
    path = tmp_path / 'room.yaml'
    path.write_text(GRID)
    said = describe(load(str(path)), 0)
    assert said.actions == ('north', 'south', 'east', 'west') and said.home == 0
    assert said.positions == {0: (0.5, 1.5), 1: (1.5, 1.5), 3: (1.5, 0.5)}
    assert said.names == {0: 'r0c0', 1: 'r0c1', 3: 'r1c1'} and said.frame == ''
    assert set(said.walls) == {
        (0, 2, 1, 2), (0, 1, 0, 2), (0, 1, 1, 1),      # around the start
        (1, 2, 2, 2), (2, 1, 2, 2),                    # the upper right cell
        (1, 0, 1, 1), (2, 0, 2, 1), (1, 0, 2, 0)}      # the lower right cell


def test_walls_are_those_of_the_setting_in_force(tmp_path: Path) -> None:
    path = tmp_path / 'room.yaml'
    path.write_text(GRID)
    said = describe(load(str(path)), 1)
    assert 2 in said.positions and len(said.walls) == 8 and (0, 1, 1, 1) not in said.walls


def test_what_is_no_grid_has_no_places() -> None:
    said = describe(load('corridor'), 0)
    assert said.actions and said.home is not None
    assert not (said.positions or said.walls or said.frame)


def test_a_grid_that_is_too_large_has_no_places(tmp_path: Path) -> None:
    path = tmp_path / 'room.yaml'
    path.write_text(GRID.replace('"S.", "#."', ', '.join(
        f'"{"S" if not row else "."}{"." * 100}"' for row in range(100))))
    assert describe(load(str(path)), 0).positions == {}


@pytest.mark.parametrize('name, cells, home, place', [
    ('FrozenLake', 16, 0, (0.5, 3.5)), ('CliffWalking', 48, 36, (0.5, 0.5)),
    ('Taxi', 0, 250, None)])
def test_environments(name: str, cells: int, home: int, place: object) -> None:
    gymnasium = pytest.importorskip('gymnasium')
    env = gymnasium.make(name)
    said = describe_gym(env, action_names(env), home)
    assert said.actions == action_names(env) and said.home == home
    assert len(said.positions) == cells and said.positions.get(home) == place
