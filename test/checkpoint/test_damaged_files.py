# SPDX-License-Identifier: Apache-2.0

"""Files that are damaged, or for something else, are set aside and told of."""

from __future__ import annotations

from collections.abc import Callable
import hashlib
from pathlib import Path
import random
import shutil
import sqlite3

from kept_explorations import (
    explored,
    IDENTITY,
    LONG,
    newest,
    restored,
    revive,
    run_sql,
    truncate,
)
from mnm_ros.checkpoint import generations
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Observation
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
import pytest
from tiers import thorough


def scribble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[200:3800] = random.Random(0).randbytes(3600)
    path.write_bytes(bytes(data))


_SET_ASIDE = (
    'checkpoint/test_damaged_files.py::'
    'test_a_damaged_file_is_set_aside_and_the_older_generation_taken')
_CHECKSUM = (
    'checkpoint/test_damaged_files.py::'
    'test_a_damaged_file_is_set_aside_and_the_older_generation_taken '
    'checkpoint/test_damaged_files.py::test_what_was_edited_does_not_fit_its_checksum')


@pytest.mark.parametrize(('damage', 'reason'), [
    (truncate, 'cannot be read'),
    *(pytest.param(damage, 'cannot be read', marks=thorough(_SET_ASIDE)) for damage in (
        scribble, lambda path: path.write_bytes(b''),
        lambda path: path.write_text('not a database'))),
    (run_sql("UPDATE meta SET value = '0' WHERE key = 'format'"), "format '0', expected 1"),
    pytest.param(run_sql("UPDATE meta SET value = replace(value, '1', '2') WHERE key = 'point'"),
                 'SHA-256', marks=thorough(_CHECKSUM)),
    (run_sql("DELETE FROM meta WHERE key = 'identity'"), 'is damaged'),
    *(pytest.param(run_sql(f'{change} WHERE number % 7 = 0'), 'its checksum',
                   marks=thorough(_CHECKSUM))
      for change in ('UPDATE inputs SET state = state + 1', 'DELETE FROM inputs')),
])
def test_a_damaged_file_is_set_aside_and_the_older_generation_taken(
        tmp_path: Path, damage: Callable[[Path], None], reason: str) -> None:
    explored(tmp_path, LONG)
    path = newest(tmp_path)
    damage(path)
    content = path.read_bytes()
    exploration, store = restored(tmp_path)
    assert exploration is not None and exploration.steps > 0
    assert len(store.refusals) == 1 and reason in store.refusals[0]
    assert path.name in store.refusals[0]
    assert path.with_name(path.name + '.aside.1').read_bytes() == content
    store.close()


@pytest.mark.parametrize(('edit', 'reason'), [
    ('UPDATE inputs SET state = state + 1 WHERE number = 2', 'its checksum'),
    ('UPDATE inputs SET action = 1 - action WHERE number = 3', 'its checksum'),
    ("UPDATE meta SET value = replace(value, '17', '18') WHERE key = 'point'", 'SHA-256')])
def test_what_was_edited_does_not_fit_its_checksum(
        tmp_path: Path, edit: str, reason: str) -> None:
    path = tmp_path / 'log.sqlite'
    log = InputLog.create(path, IDENTITY, {'steps': 17})
    log.append([Observation(RESET, 0), Observation(0, 1), Observation(1, 0)])
    log.close()
    assert SavedInputs(path).number == 3
    run_sql(edit)(path)
    with pytest.raises(CheckpointError, match=reason):
        SavedInputs(path)


def test_a_file_that_leads_elsewhere_is_set_aside(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    store = Store(tmp_path, 'explorer', IDENTITY)
    before = newest(tmp_path)

    def refuse_once(saved: SavedInputs) -> Exploration:
        if saved.path == before:
            saved.replay(Exploration(settings(Problem(2, 3.0, 1.0, 0.1))))
        return revive(saved)

    loaded = store.load(refuse_once)
    assert loaded is not None and loaded[0].path < before
    assert 'tells of action' in store.refusals[0] and not before.exists()
    store.close()


def test_a_file_from_which_an_exploration_cannot_go_on_is_set_aside(tmp_path: Path) -> None:
    """As one written before a change of the code that did not change the version."""
    explored(tmp_path, LONG)
    path = newest(tmp_path)
    with sqlite3.connect(path) as database:
        text, = database.execute("SELECT value FROM meta WHERE key = 'point'").fetchone()
        text = text.replace('"mnm"', '"old"')
        database.execute("UPDATE meta SET value = ? WHERE key = 'point'", (text,))
        database.execute("UPDATE meta SET value = ? WHERE key = 'sha256'",
                         (hashlib.sha256(text.encode()).hexdigest(),))
    database.close()
    exploration, store = restored(tmp_path)
    assert exploration is not None and len(store.refusals) == 1
    assert f"{path}: SnapshotError('resume lacks mnm, expected " in store.refusals[0]
    store.close()


def test_a_file_that_cannot_even_be_set_aside_is_left(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: Path) -> Path:
        raise OSError('Read-only file system')

    explored(tmp_path, LONG)
    truncate(newest(tmp_path))
    monkeypatch.setattr(generations, 'set_aside', read_only)
    exploration, store = restored(tmp_path)
    assert exploration is not None
    assert 'left where it is: Read-only file system' in store.refusals[0]
    store.close()


@pytest.mark.parametrize(('name', 'value'), [
    ('version', '0.0.9'), ('actions', ['up']), ('radius', 5.0), ('seed', 1), ('more', 1)])
def test_a_file_for_something_else_is_set_aside(
        tmp_path: Path, name: str, value: object) -> None:
    explored(tmp_path, LONG)
    exploration, store = restored(tmp_path, {**IDENTITY, name: value})
    assert exploration is None and len(store.refusals) == 2
    assert f'is for {name} {IDENTITY.get(name)!r}, expected {value!r}' in store.refusals[0]
    assert len(list(tmp_path.glob('explorer.0*.aside.1'))) == 2
    store.close()


def test_damaged_files_that_were_set_aside_are_not_taken_back(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    (tmp_path / 'explorer.log.sqlite').unlink()    # which would do
    for path in tmp_path.glob('explorer.0*.sqlite'):
        truncate(path)
    for refused in (2, 0):
        exploration, store = restored(tmp_path)
        store.close()
        assert exploration is None and len(store.refusals) == refused


def test_a_generation_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    explored(tmp_path / 'other', LONG)
    (tmp_path / 'explorer.00000001.sqlite').symlink_to(newest(tmp_path / 'other'))
    exploration, store = restored(tmp_path)
    store.close()
    assert exploration is None and 'no regular one' in store.refusals[0]


def test_copies_beside_the_files_are_left_alone(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    copies = [shutil.copy(newest(tmp_path), tmp_path / f'explorer.00000001{name}.sqlite')
              for name in ('.bak', '_old')]
    exploration, store = restored(tmp_path)
    assert exploration is not None
    store.begin_generation(10000, None)
    assert store.flush(), store.problem
    store.close()
    assert all(Path(copy).exists() for copy in copies)
