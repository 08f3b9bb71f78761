# SPDX-License-Identifier: Apache-2.0

"""What happens while the disk takes nothing, or the process is killed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
import os
from pathlib import Path
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys

from full_disk import FullDisk
from kept_explorations import (
    CORRIDOR,
    drive,
    explored,
    IDENTITY,
    keep,
    LONG,
    restored,
    revive,
    same,
    SETTINGS,
)
from mnm_ros.checkpoint import input_log as input_log_module
from mnm_ros.checkpoint import store as store_module
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input, Observation, Update
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import strength, thorough


def test_a_disk_that_takes_nothing_stops_nothing_and_is_told(tmp_path: Path) -> None:
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path / 'kept', 'explorer', IDENTITY)
    shutil.rmtree(tmp_path / 'kept')
    (tmp_path / 'kept').write_text('in the way')
    keep(exploration, store)
    drive(exploration, simulator, LONG)
    assert not store.flush() and 'kept' in store.problem
    (tmp_path / 'kept').unlink()
    (tmp_path / 'kept').mkdir()
    assert store.flush() and store.problem == ''
    store.close()
    second, other = restored(tmp_path / 'kept')
    assert same(exploration, second)
    other.close()


def kept_for(folder: Path, steps: int) -> tuple[Exploration, Simulator, Store]:
    """Explore so many steps, with a store that gets no other resume point than the first."""
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(folder, 'explorer', IDENTITY)
    store.begin_generation(0, None)
    exploration.listeners.append(store.append)
    drive(exploration, simulator, steps)
    return exploration, simulator, store


def full(log: InputLog, *inputs: object) -> None:
    raise sqlite3.OperationalError('database or disk is full')


def test_what_a_full_disk_did_not_take_is_not_written_after_a_load(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exploration, simulator, store = kept_for(tmp_path, 100)
    assert store.flush()
    with monkeypatch.context() as patch:
        patch.setattr(InputLog, 'append', full)
        drive(exploration, simulator, 60)
        assert not store.flush() and 'full' in store.problem
        loaded = store.load(revive)
    assert loaded is not None and loaded[1].steps == 100
    second = loaded[1]
    second.listeners.append(store.append)
    second.lose_place()
    drive(second, simulator, 40)
    assert store.flush()
    store.close()
    third, other = restored(tmp_path)
    assert other.refusals == [] and same(second, third)
    other.close()


def test_resume_points_that_wait_for_the_disk_are_no_inputs_of_the_transition_log(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store, made = Store(tmp_path, 'explorer', IDENTITY, transition_log=True), list[Input]()
    store.begin_generation(0, None)
    exploration.listeners.append(store.append)
    exploration.listeners.append(lambda update: made.append(update.input))
    drive(exploration, simulator, 20)
    assert store.flush()
    with monkeypatch.context() as patch:
        patch.setattr(InputLog, 'append', full)
        for _ in range(2):
            drive(exploration, simulator, 10)
            store.begin_generation(len(made), exploration.to_state())
        assert not store.flush() and 'full' in store.problem
    assert store.flush() and store.losses() == []
    store.close()
    saved = SavedInputs(tmp_path / 'explorer.log.sqlite')
    assert saved.inputs == made


def test_a_disk_that_is_full_at_the_start_costs_no_file(tmp_path: Path) -> None:
    first = explored(tmp_path, LONG)
    store = Store(tmp_path, 'explorer', IDENTITY)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))    # as if no more fitted on it
    try:
        with pytest.raises(OSError):
            store.load(revive)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert not [*tmp_path.glob('*.aside.*')]
    loaded = store.load(revive)
    assert loaded is not None and store.refusals == [] and same(first, loaded[1])
    store.close()


def test_more_than_can_be_remembered_leaves_what_was_written_before(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, '_MOST_WAITING', 60)
    exploration, simulator, store = kept_for(tmp_path, 50)
    assert store.flush()
    with monkeypatch.context() as patch:
        patch.setattr(InputLog, 'append', full)
        drive(exploration, simulator, 80)
        assert not store.flush()
    drive(exploration, simulator, 20)
    assert not store.flush() and 'until the next resume point' in store.problem
    store.close()
    second, other = restored(tmp_path)
    assert second is not None and second.steps == 50 and other.refusals == []
    other.close()


def test_what_is_not_kept_when_all_files_were_refused_is_told(tmp_path: Path) -> None:
    def refuse(saved: SavedInputs) -> Exploration:
        raise ValueError('it leads elsewhere')

    exploration, simulator, store = kept_for(tmp_path, 50)
    assert store.flush() and store.load(refuse) is None
    drive(exploration, simulator, 50)
    assert not store.flush() and 'all files were refused' in store.problem
    store.begin_generation(100, None)
    assert store.flush() and store.path is not None and store.path.is_file()
    store.close()


def test_whatever_cannot_be_written_is_told_and_ends_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, 'explorer', IDENTITY)
    store.begin_generation(0, {'no JSON': object()})
    assert not store.flush() and 'JSON' in store.problem
    store.begin_generation(0, None)
    assert store.flush() and store.problem == ''
    store.close()


_WRITER = """
import os
import sys
from pathlib import Path
from mnm_ros.core.inputs import Observation
from mnm_ros.checkpoint.input_log import InputLog
for path in sys.stdin:
    writer = os.fork()    # at once, as all is imported
    if not writer:
        break
    os.waitpid(writer, 0)
    os.write(1, b'killed\\n')
else:
    sys.exit()
os.write(1, b'%d\\n' % os.getpid())    # all of it, or nothing
log = InputLog.create(Path(path.strip()), {}, None)
number = 0
while True:
    log.append([Observation(0, number + i) for i in range(5)])
    number += 5
    os.write(1, b'%d\\n' % number)
"""


def test_a_process_killed_while_writing_loses_no_more_than_the_write_under_way(
        tmp_path: Path) -> None:
    rng = random.Random(0)
    writers = subprocess.Popen([sys.executable, '-u', '-c', _WRITER], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    assert writers.stdin is not None and writers.stdout is not None
    for trial in range(strength(4, 20)):
        path = tmp_path / f'{trial}.sqlite'
        print(path, file=writers.stdin, flush=True)
        writer = int(writers.stdout.readline())
        for _ in range(rng.randint(1, 60)):
            confirmed = int(writers.stdout.readline())
        os.kill(writer, signal.SIGKILL)
        while (line := writers.stdout.readline()) != 'killed\n':
            confirmed = int(line)
        saved = SavedInputs(path, {})
        states = [made.state for made in saved.inputs]
        assert states == list(range(len(states))) and len(states) % 5 == 0
        assert confirmed <= len(states) <= confirmed + 5
        InputLog.reopen(saved).close()
    writers.communicate(timeout=240)
    assert writers.returncode == 0


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FullDisk]:
    (tmp_path / 'kept').mkdir()
    monkeypatch.setattr(input_log_module, '_MOVE_EVERY', 0.0)
    monkeypatch.setattr(store_module, '_WRITE_EVERY', 60.0)    # it writes when it is asked to
    with FullDisk(tmp_path / 'kept').installed(monkeypatch) as installed:
        yield installed


@pytest.mark.parametrize('once', [False, True])
def test_inputs_are_written_once_whichever_operation_is_refused(
        disk: FullDisk, once: bool) -> None:
    for first in count(1):
        log = InputLog.create(disk.folder / f'{first}.sqlite', {}, None)
        log.append([Observation(0, 1)])
        disk.fill(first, first if once else 10**9)
        try:
            log.append([Observation(0, 2)])
            written = True
        except sqlite3.Error:
            written = False
        reached = disk.count >= first
        disk.free()
        log.append([Observation(0, 3)] if written else [Observation(0, 2), Observation(0, 3)])
        log.close()
        states = [made.state for made in SavedInputs(disk.folder / f'{first}.sqlite').inputs]
        assert states == [1, 2, 3], f'operation {first}'
        if not reached:
            break
    assert first > 6


class Kept:
    """An exploration that is kept, and all inputs that it has had, those before a restart too."""

    def __init__(self, disk: FullDisk, simulator: Simulator, before: Sequence[Input] = ()) -> None:
        self.simulator, self.inputs = simulator, [*before]
        self.store = Store(disk.folder, 'explorer', IDENTITY, transition_log=True)
        loaded = self.store.load(revive)
        assert self.store.refusals == [] and self.store.losses() == []
        if loaded is None:
            self.exploration = Exploration(SETTINGS)
            self.store.begin_generation(0, None)
        else:
            saved, self.exploration = loaded
            assert saved.inputs == self.inputs[saved.first:saved.number]
            del self.inputs[saved.number:]
        self.exploration.listeners.append(self._keep)
        if loaded is not None:
            self.exploration.lose_place()

    def _keep(self, update: Update) -> None:
        self.inputs.append(update.input)
        self.store.append(update)

    def explore(self) -> int:
        """Explore for a while, in three generations; return how many inputs are saved surely."""
        saved = 0
        for number in range(4):
            drive(self.exploration, self.simulator, 10)
            if number % 2:
                self.store.begin_generation(len(self.inputs), self.exploration.to_state())
                drive(self.exploration, self.simulator, 5)
            if self.store.flush():
                saved = len(self.inputs)
        return saved

    def kill(self, disk: FullDisk) -> None:
        """End, and leave the files as they were, whatever had yet to be written."""
        now = disk.folder.with_name('now')
        shutil.copytree(disk.folder, now)
        self.store.close()
        shutil.rmtree(disk.folder)
        now.rename(disk.folder)


def try_to_start(disk: FullDisk) -> None:
    """Start and end while the disk may be full."""
    with suppress(OSError):
        store = Store(disk.folder, 'explorer', IDENTITY, transition_log=True)
        with suppress(OSError):
            store.load(revive)
        store.close()


@thorough(shown_by='checkpoint/test_full_disk.py::'
          'test_inputs_are_written_once_whichever_operation_is_refused')
@pytest.mark.parametrize('once', [False, True])
def test_a_disk_that_is_full_at_any_operation_costs_nothing_that_was_saved(
        disk: FullDisk, once: bool) -> None:
    first = 1
    while True:
        kept = Kept(disk, Simulator(CORRIDOR, 1))
        saved = kept.explore()
        disk.fill(first, first if once else 10**9)
        saved = max(saved, kept.explore())
        reached = disk.count >= first
        kept.kill(disk)
        try_to_start(disk)
        disk.free()
        for _ in range(3):
            kept = Kept(disk, kept.simulator, kept.inputs)
            assert len(kept.inputs) >= saved, f'operation {first}'
            saved = kept.explore()
            assert saved == len(kept.inputs) and not kept.store.problem, f'operation {first}'
            kept.kill(disk)
        shutil.rmtree(disk.folder)
        disk.folder.mkdir()
        if not reached:
            break
        first += 1
    assert first > 100
