# SPDX-License-Identifier: Apache-2.0

"""A file may be edited by anybody: it is refused in a sentence, and names no code to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import hashlib
import json
import os
from pathlib import Path
import sqlite3
import subprocess
import sys
from typing import Any

from mnm_ros.checkpoint import database as checkpoint_database
from mnm_ros.checkpoint.__main__ import describe
from mnm_ros.checkpoint.input_log import InputLog, LoadCancelled, SavedInputs
from mnm_ros.checkpoint.warm_start import warm_start
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.inputs import Observation
from mnm_ros.core.presets import settings_of_file
from mnm_ros.export import contents
import pytest

ASKED: dict[str, Any] = {'version': '0.1.0', 'actions': ['east'], 'radius': 2.0, 'epsilon': 1.0,
                         'delta': 0.1, 'preset': 'onboard', 'seed': 0}


def log(folder: Path, **identity: object) -> Path:
    path = folder / 'explorer.log.sqlite'
    made = InputLog.create(path, {**ASKED, **identity}, None)
    made.append([Observation(-1, 0)])
    made.close()
    return path


def edit(path: Path, **meta: object) -> None:
    database = sqlite3.connect(path)
    with database:
        for key, value in meta.items():
            database.execute('UPDATE meta SET value = ? WHERE key = ?', (value, key))
    database.close()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the file that a module writes when it is imported."""
    (tmp_path / 'of_somebody_else.py').write_text(
        'from pathlib import Path\nPath(__file__).with_name("ran").touch()\n'
        'from mnm_ros.core.components import BASES\nbase = BASES["disco"]\n')
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / 'ran'
    sys.modules.pop('of_somebody_else', None)


def test_no_module_is_imported_because_a_file_names_it(module: Path, tmp_path: Path) -> None:
    report = pytest.importorskip('mnm_ros.trial.report')
    for kind in ('planner', 'detector'):
        with pytest.raises(ValueError, match=f"{kind} is 'of_somebody_else:base' in the file"):
            settings_of_file({**ASKED, kind: 'of_somebody_else:base'})
    path = log(tmp_path, base='of_somebody_else:base')
    for read in (contents.read, lambda path: warm_start(path, {**ASKED, 'base': 'disco'}),
                 lambda path: report.write_one(path, tmp_path / 'report.html')):
        with pytest.raises(
                CheckpointError, match="base is 'of_somebody_else:base' in the file"):
            read(path)
    assert not module.exists()


def test_a_base_is_imported_if_the_user_names_it(
        module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = pytest.importorskip('mnm_ros.trial.report')
    pytest.importorskip('matplotlib')
    path = log(tmp_path, base='of_somebody_else:base')
    assert report.main(['--base', 'of_somebody_else:base', str(path)]) == 0, capsys.readouterr()
    assert module.exists()
    assert settings_of_file({**ASKED, 'base': 'of_somebody_else:base'})


DEEP = '[' * 10**5


@pytest.mark.parametrize('meta', [
    {'point': b'\xff'}, {'point': 5}, {'point': DEEP}, {'identity': '[]'}, {'identity': '{}'},
    {'identity': DEEP}, {'identity': json.dumps({**ASKED, 'radius': 'x'})},
    {'identity': json.dumps({**ASKED, 'seed': 'x'})},
    {'point': '{"number": 0, "point": [1]}'}, {'point': '{"number": "x", "point": null}'},
    *({'point': f'{{"number": {number}, "point": null}}'} for number in ('NaN', '-5', '0.0')),
    {'point': '{"number": 0, "point": {"mnm": {}}}'}], ids=repr)
def test_what_was_edited_is_refused(meta: dict[str, object], tmp_path: Path) -> None:
    path = log(tmp_path)
    if isinstance(point := meta.get('point'), str):
        meta = {**meta, 'sha256': hashlib.sha256(point.encode()).hexdigest()}
    edit(path, **meta)
    read: Callable[[Path], object]
    for read in (contents.read, lambda path: warm_start(path, {**ASKED, 'base': 'disco'})):
        with pytest.raises(CheckpointError, match='explorer.log.sqlite'):
            read(path)
    try:
        describe(path)
    except CheckpointError:
        pass


def test_logs_that_begin_with_each_other_are_refused(tmp_path: Path) -> None:
    path = log(tmp_path)
    edit(path, identity=json.dumps({**ASKED, 'warm_start': {'log': str(path), 'sha256': ''}}))
    with pytest.raises(CheckpointError, match='RecursionError'):
        contents.read(path)


def test_a_view_is_not_read(tmp_path: Path) -> None:
    path = log(tmp_path)
    database = sqlite3.connect(path)
    with database:
        database.executescript(
            'DROP TABLE meta; CREATE VIEW meta AS WITH RECURSIVE forever(key) AS '
            '(SELECT 1 UNION ALL SELECT key + 1 FROM forever) SELECT key, 1 AS value FROM forever')
    database.close()
    with pytest.raises(CheckpointError, match="'meta' is no table"):
        SavedInputs(path)


@pytest.mark.parametrize('table', [
    'meta (key TEXT PRIMARY KEY, value TEXT AS (hex(zeroblob(length(key)))))',
    'meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, CHECK (length(zeroblob(5))))',
    'robots (number INTEGER PRIMARY KEY, robot TEXT AS (hex(zeroblob(number))) STORED)'])
def test_what_a_column_computes_is_not_read(tmp_path: Path, table: str) -> None:
    """A file of some kB may compute more than there is memory."""
    path = log(tmp_path)
    database = sqlite3.connect(path)
    with database:
        database.executescript(f'DROP TABLE {table.split()[0]}; CREATE TABLE {table}')
    database.close()
    for read in (SavedInputs, lambda path: SavedInputs(path, ASKED, 0)):
        with pytest.raises(
                CheckpointError, match=f"'{table.split()[0]}' is no table of a checkpoint"):
            read(path)


def test_what_is_added_to_look_inside_does_no_harm(tmp_path: Path) -> None:
    path = log(tmp_path)
    database = sqlite3.connect(path)
    with database:
        database.executescript(
            'CREATE INDEX "by_state" ON inputs (state, action); '
            'create index by_kind on inputs (kind); ANALYZE')
    database.close()
    assert SavedInputs(path).number == 1


def test_a_companion_that_is_a_pipe_is_not_opened(tmp_path: Path) -> None:
    path = log(tmp_path)
    os.mkfifo(f'{path}-journal')
    done = subprocess.run([sys.executable, '-m', 'mnm_ros.checkpoint', str(path)],
                          capture_output=True, text=True, timeout=240)
    assert 'explorer.log.sqlite-journal is no regular file' in done.stderr


def test_a_log_that_is_not_waited_for_is_not_replayed_to_its_end(tmp_path: Path) -> None:
    with pytest.raises(LoadCancelled):
        warm_start(log(tmp_path), {**ASKED, 'base': 'disco'}, lambda: True)


def test_a_file_of_more_than_two_gigabytes_is_read(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No limit of SQLite is above that of a C int."""
    path = log(tmp_path)
    monkeypatch.setattr(checkpoint_database, '_size', lambda path: 2**32)
    assert SavedInputs(path).number == 1
