# SPDX-License-Identifier: Apache-2.0

"""What is kept on disk leads back to the same place."""

from __future__ import annotations

import os
from pathlib import Path
import time
from types import SimpleNamespace

from kept_explorations import (
    CORRIDOR,
    drive,
    explore,
    explored,
    IDENTITY,
    LONG,
    newest,
    restored,
    revive,
    same,
    SETTINGS,
    truncate,
)
from mnm_ros.checkpoint import input_log
from mnm_ros.checkpoint import store as keeping
from mnm_ros.checkpoint.__main__ import describe, main
from mnm_ros.checkpoint.generations import Generations
from mnm_ros.checkpoint.input_log import LoadCancelled, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input, Observation
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import strength, thorough


@pytest.mark.parametrize('steps', [1, LONG, *(pytest.param(steps, marks=thorough(
    'checkpoint/test_store.py::test_it_goes_on_where_it_was_bit_for_bit '
    'checkpoint/test_store.py::test_while_building_a_restart_repeats_no_more_than_some_seconds'))
    for steps in (200, 700, 1500))])
def test_it_goes_on_where_it_was_bit_for_bit(tmp_path: Path, steps: int) -> None:
    first = explored(tmp_path, steps)
    second, store = restored(tmp_path)
    assert store.refusals == [] and same(first, second) and second is not None
    world, other = Simulator(CORRIDOR, 7), Simulator(CORRIDOR, 7)
    drive(first, world, strength(120, 3000))
    drive(second, other, strength(120, 3000))
    assert same(first, second)
    store.close()


def test_one_explorer_of_a_name_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path, 'explorer', IDENTITY)
    with pytest.raises(OSError, match='another explorer of this name has locked'):
        Store(tmp_path, 'explorer', IDENTITY)
    Store(tmp_path, 'robot_2.explorer', IDENTITY).close()
    store.close()
    Store(tmp_path, 'explorer', IDENTITY).close()


def test_while_building_a_restart_repeats_no_more_than_some_seconds(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is most of the time taken up by resume points, however much each of them costs."""
    clock, points = [0.0], []
    monkeypatch.setattr(keeping, 'MOST_REPLAYED', 0.02)
    monkeypatch.setattr(keeping, 'time', SimpleNamespace(
        process_time=lambda: clock[0], monotonic=time.monotonic))
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path, 'explorer', IDENTITY)
    store.begin_generation(0, None)
    store.attach(exploration)
    copy = exploration.to_state

    def to_state() -> dict:
        points.append(exploration.steps)
        clock[0] += 0.005
        return copy()

    exploration.to_state = to_state
    for _ in range(strength(125, 225)):
        clock[0] += 0.001
        drive(exploration, simulator, 1)
    # 20 ms, and 20 times 5 ms
    assert points == strength([20, 120], [20, 120, 220])
    assert store.flush()
    store.close()
    second, store = restored(tmp_path)
    saved = SavedInputs(sorted(tmp_path.glob('explorer.0*.sqlite'))[-1])
    assert same(exploration, second) and len(saved.inputs) == 5
    assert exploration.hypothesis is None
    store.close()


def test_what_is_being_loaded_can_be_abandoned(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)

    def rebuild(saved: SavedInputs) -> Exploration:
        exploration = Exploration(SETTINGS, resume=saved.point)
        saved.replay(exploration, lambda: reading.append(store.reading) or len(reading) == 3)
        return exploration

    reading: list[bool] = []
    with pytest.raises(LoadCancelled):
        store.load(rebuild)
    assert reading == [True] * 3 and not store.reading    # asked before each input
    assert store.refusals == [] and not [*tmp_path.glob('*.aside.*')]
    assert store.load(revive) is not None
    store.close()


def test_no_generation_begins_after_the_end_of_the_transition_log(tmp_path: Path) -> None:
    """A crash may come at once, and the log holds all inputs."""
    exploration, simulator, made = Exploration(SETTINGS), Simulator(CORRIDOR, 1), list[Input]()
    exploration.listeners.append(lambda update: made.append(update.input))
    files = Generations(tmp_path, 'explorer', IDENTITY, True, backlog=100)
    files.create(0, None)
    drive(exploration, simulator, 20)
    files.append(made)
    files.create(len(made), exploration.to_state())
    assert SavedInputs(tmp_path / 'explorer.log.sqlite').inputs == made
    files.close(0, '')


def test_two_generations_are_kept(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    assert len(list(tmp_path.glob('explorer.0*.sqlite'))) == 2


def test_what_a_file_holds_can_be_printed(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explored(tmp_path, LONG)
    assert main([str(newest(tmp_path))]) == 0
    assert 'known states: 0 1 2 3' in capsys.readouterr().out
    (tmp_path / 'none').write_text('')
    with pytest.raises(CheckpointError, match='none'):
        describe(tmp_path / 'none')


def test_what_was_asked_for_before_is_gone_on_from(tmp_path: Path) -> None:
    first = explored(tmp_path, LONG)
    other = Store(tmp_path, 'explorer', {**IDENTITY, 'radius': 3.0})
    assert other.load(revive) is None and len(other.refusals) == 2
    other.begin_generation(0, None)
    assert other.flush()
    other.close()
    second, store = restored(tmp_path)
    assert second is not None and same(first, second)
    assert len(store.refusals) == 1    # that of the other radius, which is kept in its turn
    store.attach(second, second.steps + 1)
    drive(second, Simulator(CORRIDOR, 7), 120)
    assert store.flush()
    store.close()
    third, again = restored(tmp_path)
    again.close()
    assert third is not None and third.steps == LONG + 120


def test_the_lock_changes_no_file_of_others(tmp_path: Path) -> None:
    precious = tmp_path / 'precious'
    precious.write_text('content')
    lock = tmp_path / 'explorer.lock'
    lock.symlink_to(precious)
    with pytest.raises(OSError, match='explorer.lock'):
        Store(tmp_path, 'explorer', IDENTITY)
    lock.unlink()
    os.link(precious, lock)
    explore(tmp_path, strength(250, 400))
    truncate(newest(tmp_path))    # so that it is asked for room on the disk
    restored(tmp_path)[1].close()
    assert precious.read_text() == 'content'


def test_a_lock_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'explorer.lock')
    with pytest.raises(OSError, match='no regular file'):
        Store(tmp_path, 'explorer', IDENTITY)


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    explore(tmp_path / 'made', strength(250, 400))
    files = [tmp_path / 'made', *(tmp_path / 'made').iterdir()]
    assert len(files) >= 4
    assert [path.name for path in files if path.stat().st_mode & 0o077] == []


def test_what_a_slow_robot_does_is_soon_in_the_file_itself(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the write-ahead log alone, which a copy may lack, and which may be damaged."""
    for seconds, kept in ((3600.0, 0), (0.0, 3)):
        monkeypatch.setattr(input_log, '_MOVE_EVERY', seconds)
        path = tmp_path / f'{kept}.sqlite'
        log = input_log.InputLog.create(path, IDENTITY, None)
        for _ in range(3):
            log.append([Observation(RESET, 0)])
        copy = tmp_path / f'copy_{kept}.sqlite'
        copy.write_bytes(path.read_bytes())
        assert len(input_log.SavedInputs(copy, IDENTITY).inputs) == kept
        log.close()
