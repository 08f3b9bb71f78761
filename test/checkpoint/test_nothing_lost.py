# SPDX-License-Identifier: Apache-2.0

"""What one file lacks comes from another one, and what is missing for good is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
import shutil
import sqlite3
from typing import NamedTuple

from kept_explorations import (
    AFTER,
    by_inputs,
    CORRIDOR,
    drive,
    IDENTITY,
    keep,
    LONG,
    newest,
    restored,
    revive,
    same,
    SETTINGS,
    truncate,
)
from mnm_ros.checkpoint import database as checkpoint_database
from mnm_ros.checkpoint import store as store_module
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Observation, Update
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import thorough

LOG = 'explorer.log.sqlite'
MORE = 40    # steps, that are made after a restart


class Run(NamedTuple):
    """An exploration, its files in a folder, and as a crash would have left them in another."""

    exploration: Exploration
    ended: Path
    crashed: Path


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp('made')
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(folder / 'ended', 'explorer', IDENTITY, transition_log=True)
    with by_inputs():
        keep(exploration, store, between=50)
        drive(exploration, simulator, LONG - AFTER)
    with by_inputs(none=True):
        drive(exploration, simulator, AFTER - 5)
        assert store.flush()
        drive(exploration, simulator, 5)
        assert store.flush()
    shutil.copytree(folder / 'ended', folder / 'crashed')    # with the journals
    store.close()
    return Run(exploration, folder / 'ended', folder / 'crashed')


@pytest.fixture
def run(made: Run, tmp_path: Path) -> Run:
    """Return it with files that may be damaged."""
    for folder in made[1:]:
        shutil.copytree(folder, tmp_path / folder.name)
    return made._replace(ended=tmp_path / 'ended', crashed=tmp_path / 'crashed')


def journal(path: Path) -> Path:
    return path.with_name(f'{path.name}-wal')


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)


DAMAGES = pytest.mark.parametrize('damage', [
    Path.unlink, flip_a_bit, pytest.param(lambda path: path.write_bytes(b''), marks=thorough(
        'checkpoint/test_nothing_lost.py::'
        'test_what_a_generation_lacks_is_taken_from_the_transition_log '
        'checkpoint/test_nothing_lost.py::test_what_no_other_file_has_is_told_in_numbers'))],
    ids=['gone', 'flipped', 'empty'])


@DAMAGES
def test_what_a_generation_lacks_is_taken_from_the_transition_log(
        run: Run, damage: Callable[[Path], object]) -> None:
    first, _, left = run
    whole = SavedInputs(run.ended / LOG)
    damage(journal(newest(left)))
    second, store = restored(left)
    assert same(first, second) and second is not None
    repair, = store.repairs
    assert f'to {whole.number:,}; they were taken from {left / LOG}' in repair
    assert store.refusals == [] and store.losses() == []
    drive_on(second, store)
    assert SavedInputs(left / LOG).inputs[:whole.number] == whole.inputs
    third, store = restored(left)
    store.close()
    assert same(second, third) and store.repairs == []


def drive_on(exploration: Exploration, store: Store, steps: int = MORE) -> None:
    """Make more steps, which are kept, and close the store."""
    exploration.listeners.append(store.append)
    drive(exploration, Simulator(CORRIDOR, 5), steps)
    assert store.flush(), store.problem
    store.close()


@DAMAGES
def test_what_no_other_file_has_is_told_in_numbers(
        run: Run, damage: Callable[[Path], object]) -> None:
    first, _, left = run
    (left / LOG).unlink()
    journal(left / LOG).unlink()
    damage(journal(newest(left)))
    second, store = restored(left)
    loss, = store.losses()
    assert second is not None and second.steps < first.steps
    assert f': the inputs {second.steps + 1:,} to {first.steps:,} were saved, and are in' in loss
    store.close()
    store = restored(left)[1]
    assert store.losses() == []    # it is told once
    store.close()


@pytest.mark.parametrize('damage', [Path.unlink, pytest.param(truncate, marks=thorough(
    'checkpoint/test_nothing_lost.py::'
    'test_without_a_generation_one_is_made_from_the_transition_log '
    'checkpoint/test_damaged_files.py::'
    'test_a_damaged_file_is_set_aside_and_the_older_generation_taken'))],
    ids=['gone', 'truncated'])
def test_without_a_generation_one_is_made_from_the_transition_log(
        run: Run, damage: Callable[[Path], object]) -> None:
    first, folder, _ = run
    for path in folder.glob('explorer.0*.sqlite'):
        damage(path)
    store = Store(folder, 'explorer', IDENTITY, transition_log=True)
    assert not store.empty
    loaded = store.load(revive)
    assert loaded is not None and same(first, loaded[1]) and store.losses() == []
    assert 'no generation that can be used' in store.repairs[0]
    drive_on(loaded[1], store)
    second, store = restored(folder)
    store.close()
    assert same(loaded[1], second) and SavedInputs(folder / LOG).number == LONG + MORE
    assert SavedInputs(newest(folder)).inputs == SavedInputs(folder / LOG).inputs


@pytest.mark.quick
def test_what_was_kept_and_is_gone_is_told_when_all_begins_again(run: Run) -> None:
    folder = run.ended
    for path in folder.glob('*.sqlite'):
        path.unlink()
    store = Store(folder, 'explorer', IDENTITY)
    assert store.empty
    store.begin_generation(0, None)
    assert store.flush()
    loss, = store.losses()
    assert f': the inputs 1 to {LONG:,} were saved, and are in no file' in loss
    store.close()
    other = Store(folder, 'explorer', {**IDENTITY, 'radius': 3.0})
    other.begin_generation(0, None)
    assert other.flush() and other.losses() == []    # which is something else
    other.close()


def test_nothing_of_a_log_with_other_inputs_is_cut(run: Run) -> None:
    """It is intact, and may be all that somebody has of another run."""
    first, folder, _ = run
    path = folder / LOG
    path.unlink()
    other = InputLog.create(path, IDENTITY, None)
    other.append([Observation(-1, 0)] * (LONG + 1000))
    other.close()
    second, store = restored(folder)
    assert same(first, second) and 'tells of other inputs than' in store.refusals[0]
    loss, = store.losses()
    assert f'{path} begins anew after' in loss
    store.close()
    assert SavedInputs(folder / f'{LOG}.aside.1').number == LONG + 1000
    assert revive(SavedInputs(path)).counts == first.counts


def test_a_log_that_leads_elsewhere_costs_no_generation(run: Run) -> None:
    first, folder, _ = run
    saved = SavedInputs(folder / LOG)
    log = InputLog.reopen(saved)
    log.append([Observation(1 - max(0, first.next_action()), 0)] * 10)
    log.close()
    second, store = restored(folder)
    store.close()
    assert same(first, second) and 'tells of action' in store.refusals[0]
    assert SavedInputs(folder / f'{LOG}.aside.1').number == saved.number + 10


@contextmanager
def locked(*paths: Path) -> Iterator[None]:
    """Hold the write lock of files, as a browser of SQLite does with an edit."""
    databases = [sqlite3.connect(path) for path in paths]
    for database in databases:
        database.execute('BEGIN IMMEDIATE')
    try:
        yield
    finally:
        for database in databases:
            database.rollback()
            database.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for a lock."""
    monkeypatch.setattr(checkpoint_database, '_LONGEST_WAIT', 0.0)


@thorough('checkpoint/test_nothing_lost.py::test_a_locked_file_is_gone_on_from')
@pytest.mark.parametrize('files', [LOG, '*.sqlite'])
def test_what_comes_while_files_are_locked_is_written_later(
        tmp_path: Path, files: str, impatient: None) -> None:
    """Resume points come meanwhile, so that the generations need not have all of it."""
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)
    keep(exploration, store)
    drive(exploration, simulator, 10)
    assert store.flush()
    with locked(*tmp_path.glob(files)):
        for _ in range(2):
            drive(exploration, simulator, 150)
            assert not store.flush(), files
        assert 'database is locked' in store.problem
    assert store.flush() and store.problem == '' and store.losses() == []
    store.close()
    log = SavedInputs(tmp_path / LOG)
    assert log.number == 310 and SavedInputs(newest(tmp_path)).first > 10
    assert not [*tmp_path.glob('*.aside.*')]
    assert revive(log).counts == exploration.counts


def test_more_than_can_wait_for_a_locked_log_is_told_in_numbers(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    monkeypatch.setattr(store_module, '_MOST_WAITING', 300)
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)
    store.begin_generation(0, None)
    made = 0

    def append(number: int) -> None:
        nonlocal made
        made += number
        for _ in range(number):
            store.append(Update(Observation(-1, 0)))

    append(10)
    assert store.flush()
    with locked(tmp_path / LOG):
        append(301)
        assert not store.flush() and LOG in store.problem
    append(20)
    assert not store.flush()
    store.begin_generation(made, {'steps': made})
    append(5)
    assert store.flush() and store.problem == ''
    loss, = store.losses()
    assert f'{LOG}.aside.1, ends at 10: the inputs 11 to 331 are in neither' in loss
    store.close()
    assert SavedInputs(tmp_path / f'{LOG}.aside.1').number == 10
    assert (SavedInputs(tmp_path / LOG).number, SavedInputs(newest(tmp_path)).number) == (336, 336)


def test_a_log_that_cannot_begin_costs_no_generation(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is the generation begun again and again, until the older one is gone."""
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)
    create = InputLog.create
    with monkeypatch.context() as patch:
        patch.setattr(InputLog, 'create', lambda path, *rest: (_ for _ in ()).throw(
            OSError('no room')) if path.name == LOG else create(path, *rest))
        store.begin_generation(0, None)
        store.append(Update(Observation(-1, 0)))
        for _ in range(2):
            assert not store.flush() and store.problem == f'{tmp_path / LOG}: no room'
    assert len([*tmp_path.glob('explorer.0*.sqlite')]) == 1
    store.begin_generation(1, {'steps': 1})
    assert store.flush() and store.problem == ''
    loss, = store.losses()
    assert 'the inputs 1 to 1 are in neither' in loss
    store.close()


def test_what_a_locked_file_has_not_taken_at_the_end_is_told(
        tmp_path: Path, impatient: None) -> None:
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)
    store.begin_generation(0, None)
    store.append(Update(Observation(-1, 0)))
    assert store.flush()
    with locked(newest(tmp_path)):
        store.append(Update(Observation(0, 1)))
        store.append(Update(Observation(0, 2)))
        store.close()
    loss, = store.losses()
    assert 'the inputs 2 to 3 could not be saved' in loss and 'locked' in loss


@pytest.mark.parametrize('more', [0, 2])
@pytest.mark.parametrize('most_late', [10, 1])
def test_all_that_the_log_lacks_at_the_end_is_told(
        tmp_path: Path, impatient: None, monkeypatch: pytest.MonkeyPatch, more: int,
        most_late: int) -> None:
    """The inputs that wait for the log, and those that no file has taken, are missing there."""
    append = InputLog.append
    monkeypatch.setattr(store_module, '_MOST_WAITING', most_late)
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)
    store.begin_generation(0, None)
    store.append(Update(Observation(-1, 0)))
    assert store.flush()
    full = {LOG}
    monkeypatch.setattr(InputLog, 'append', lambda log, inputs: (_ for _ in ()).throw(OSError(
        'full')) if log.path.name in full else append(log, inputs))
    for _ in range(3):
        store.append(Update(Observation(0, 1)))
    assert not store.flush()
    full.add(newest(tmp_path).name)
    for _ in range(more):
        store.append(Update(Observation(0, 2)))
    store.close()
    *others, lacking = store.losses()
    assert len(others) == bool(more)
    assert lacking == f'{tmp_path / LOG}: full; the inputs 2 to {4 + more} are missing'


def test_a_locked_file_is_gone_on_from(run: Run, impatient: None) -> None:
    """Nor is it set aside because it cannot be written at this moment."""
    first, folder, _ = run
    with locked(newest(folder), folder / LOG):
        second, store = restored(folder)
        assert same(first, second) and store.refusals == []
    assert second is not None
    drive_on(second, store)
    assert SavedInputs(folder / LOG).number == LONG + MORE


def test_a_file_that_another_program_has_for_itself_is_not_set_aside(
        run: Run, impatient: None) -> None:
    folder = run.ended
    other = sqlite3.connect(newest(folder))
    other.execute('PRAGMA locking_mode = EXCLUSIVE')
    other.execute('BEGIN EXCLUSIVE')
    store = Store(folder, 'explorer', IDENTITY, transition_log=True)
    with pytest.raises(OSError, match='database is locked by another program'):
        store.load(revive)
    other.rollback()
    other.close()
    assert store.load(revive) is not None and not [*folder.glob('*.aside.*')]
    store.close()


def test_a_restart_reads_no_more_of_the_log_than_the_generation_has(
        run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run.ended
    saved = SavedInputs(newest(folder))
    assert saved.first > 100
    read: list[int] = []
    check = SavedInputs._decoded
    monkeypatch.setattr(SavedInputs, '_decoded', lambda self, texts, number, *rest: (
        read.append(number), check(self, texts, number, *rest))[1])
    store = restored(folder)[1]
    store.close()
    assert store.refusals == []
    assert min(read) > saved.first and len(read) <= 2 * len(saved.inputs)


def test_a_log_that_was_moved_away_goes_on_in_another_one(run: Run) -> None:
    """Every input is in one of them, or in both."""
    first, folder, _ = run
    (folder / 'old').mkdir()
    moved = (folder / LOG).rename(folder / 'old' / '1.log.sqlite')
    second, store = restored(folder)
    assert same(first, second) and second is not None
    drive_on(second, store)
    before, after = SavedInputs(moved), SavedInputs(folder / LOG)
    begun = after.number - len(after.inputs)
    assert 0 < begun <= before.number == LONG and after.number == LONG + MORE
    assert before.inputs[begun:] == after.inputs[:LONG - begun]
    assert revive(after).counts == second.counts


def test_the_generation_after_one_of_eight_digits_is_found(run: Run) -> None:
    folder = run.ended
    for path in sorted(folder.glob('explorer.0*.sqlite'))[:-1]:
        path.unlink()
    newest(folder).rename(folder / 'explorer.99999999.sqlite')
    second, store = restored(folder)
    assert second is not None
    store.begin_generation(LONG, second.to_state())
    assert store.flush()
    drive_on(second, store)
    assert newest_of_all(folder) == folder / 'explorer.100000000.sqlite'
    third, store = restored(folder)
    assert same(second, third)
    store.begin_generation(LONG + MORE, third.to_state() if third else None)
    assert store.flush() and store.path == folder / 'explorer.100000001.sqlite'
    store.close()
    assert not (folder / 'explorer.99999999.sqlite').exists()


def newest_of_all(folder: Path) -> Path:
    return max(folder.glob('explorer.[0-9]*.sqlite'), key=lambda path: path.stat().st_mtime_ns)


@pytest.mark.parametrize('files', [LOG, 'explorer.0*[0-9].sqlite'], ids=['log', 'generation'])
def test_a_new_file_does_not_take_the_journal_of_one_that_is_gone(run: Run, files: str) -> None:
    """Else SQLite would apply it to the new file; it may be all that is left of the old one."""
    _, _, left = run
    gone = max(left.glob(files))
    old = journal(gone).read_bytes()
    gone.unlink()
    second, store = restored(left)
    assert second is not None
    store.begin_generation(LONG, second.to_state())
    drive_on(second, store)
    assert SavedInputs(left / LOG).number == SavedInputs(newest(left)).number == LONG + MORE
    assert journal(gone.with_name(f'{gone.name}.aside.1')).read_bytes() == old


def test_a_crash_as_a_generation_begins_leaves_the_log_whole(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log gets its inputs last, but not after a generation that needs them there."""
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path / 'kept', 'explorer', IDENTITY, transition_log=True)
    keep(exploration, store)
    assert store.flush()
    create, crashed = InputLog.create, tmp_path / 'crashed'

    def crash(path: Path, *rest: object) -> InputLog:
        made = create(path, *rest)
        shutil.copytree(tmp_path / 'kept', crashed / path.name)
        return made

    monkeypatch.setattr(InputLog, 'create', crash)
    drive(exploration, simulator, 350)
    assert store.flush()
    store.close()
    monkeypatch.undo()
    assert [*crashed.iterdir()]
    for left in crashed.iterdir():
        second, store = restored(left)
        store.close()
        assert second is not None and store.refusals == [] and store.losses() == []
        assert len(SavedInputs(left / LOG).inputs) == SavedInputs(newest(left)).number > 0


@pytest.mark.parametrize('begun', [True, False])
def test_what_waits_for_a_resume_point_at_the_end_is_told_in_numbers(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bool) -> None:
    """The inputs before the point, which no longer wait for it, are missing, too."""
    store = Store(tmp_path, 'explorer', IDENTITY)
    if begun:
        store.begin_generation(0, None)
        store.append(Update(Observation(-1, 0)))
        assert store.flush()
    monkeypatch.setattr(InputLog, 'create', lambda *_: (_ for _ in ()).throw(OSError('full')))
    monkeypatch.setattr(InputLog, 'append', lambda *_: (_ for _ in ()).throw(OSError('full')))
    for _ in range(9):
        store.append(Update(Observation(-1, 0)))
    store.begin_generation(10, {'steps': 10})
    for _ in range(5):
        store.append(Update(Observation(-1, 0)))
    assert not store.flush()
    store.close()
    loss, = store.losses()
    assert f'the inputs {1 + begun} to 15 could not be saved' in loss and 'full' in loss
