# SPDX-License-Identifier: Apache-2.0

"""What robot sides have said is kept with the steps from which on it held."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.checkpoint import world_log
from mnm_ros.checkpoint.world_log import append, at, read, World
import pytest


def test_what_held_at_a_step_is_found(tmp_path: Path) -> None:
    path = tmp_path / 'explorer.worlds.jsonl'
    assert read(path) == [] and at(read(path), 5) is None
    worlds = [World(3, '{"walls": []}'), World(90, 'a\nb')]
    for world in (*worlds, World(95, 'a\nb')):    # which was said last
        append(path, world)
    assert read(path) == worlds
    assert [at(worlds, step) for step in (0, 3, 89, 90, 200)] == [
        worlds[0], worlds[0], worlds[0], worlds[1], worlds[1]]


def test_what_an_exploration_has_gone_back_from_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / 'worlds'
    for step in (10, 20, 30):
        append(path, World(step, str(step)))
    append(path, World(25, 'other'))
    assert [world.step for world in read(path)] == [10, 20, 25]


def test_a_line_that_was_cut_off_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / 'worlds'
    append(path, World(1, 'one'))
    whole = path.read_text()
    path.write_text(f'{whole}{whole[:9]}')
    append(path, World(2, 'two'))
    assert [world.text for world in read(path)] == ['one', 'two']
    path.write_text('[1]\n{"step": true}\n{"step": 1, "text": 2}\n7\n' + whole)
    assert [world.text for world in read(path)] == ['one']


def test_they_take_bounded_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_log, '_MOST', 10)
    monkeypatch.setattr(world_log, '_MOST_BYTES', 1_000)
    path = tmp_path / 'worlds'
    for step in range(100):
        append(path, World(step, f'{step} ' * 20))
        assert path.stat().st_size <= 1_200 and read(path)[-1].step == step


def test_the_older_half_makes_room_for_what_is_said_now(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / 'worlds'
    monkeypatch.setattr(world_log, '_MOST', 3)
    for step in range(4):
        append(path, World(step, str(step)))
    assert [world.step for world in read(path)] == [2, 3]
    path.unlink()
    monkeypatch.setattr(world_log, '_MOST_BYTES', 200)
    for step in (4, 5):    # either fits, but not both
        append(path, World(step, f'{step}' * 99))
    assert [world.step for world in read(path)] == [5]
