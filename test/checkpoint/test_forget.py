# SPDX-License-Identifier: Apache-2.0

"""What was learnt from one source is taken back, and what still holds is kept."""

from __future__ import annotations

import atexit
from datetime import datetime
from functools import lru_cache
from pathlib import Path
import shutil
import sqlite3
from tempfile import mkdtemp

from kept_explorations import CORRIDOR, drive, IDENTITY, keep, restored, SETTINGS
from mnm_ros.checkpoint import event_log
from mnm_ros.checkpoint.forget import forget
from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.command.forget import main
from mnm_ros.core.errors import CheckpointError, InvalidValueError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Observation, WorkObservation
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import strength, thorough

KNOWN_BY = strength(200, 300)    # steps, after which there is a hypothesis
LIES = 60


def lied_to(folder: Path, log: bool = True) -> tuple[Exploration, int]:
    """Return an exploration of which a node has said since a hypothesis that no move works."""
    kept, exploration, known = _lied_to_once(log)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return exploration, known


@lru_cache(maxsize=None)
def _lied_to_once(log: bool) -> tuple[Path, Exploration, int]:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder)
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(folder, 'explorer', IDENTITY, transition_log=log)
    keep(exploration, store, 1 if log else 10_000)
    drive(exploration, simulator, KNOWN_BY)
    assert exploration.hypothesis is not None
    if not log:    # two generations are kept
        for _ in range(2):
            store.begin_generation(KNOWN_BY, exploration.to_state())
    exploration.observe_work(1, 0, 2, node='/honest')
    known, steps = len(exploration.hypothesis.policies), exploration.steps
    for _ in range(LIES):
        exploration.observe_work(1, 0, 1, node='/liar')
    drive(exploration, simulator, 150)
    assert exploration.changes_noticed
    assert store.flush()
    store.close()
    assert steps == KNOWN_BY
    return folder, exploration, known


@thorough('checkpoint/test_forget.py::test_what_came_before_a_step_stays')
def test_lies_are_taken_back_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    lied, known = lied_to(tmp_path)
    old = SavedInputs(tmp_path / 'explorer.log.sqlite')
    found = forget(tmp_path, '/liar')
    assert found.taken_back == LIES and found.exact == KNOWN_BY
    assert found.kept == {name: count for name, count in lied.sources.items() if name != '/liar'}
    assert found.known == known
    again, store = restored(tmp_path)
    assert again is not None
    assert not (store.refusals or store.losses() or store.repairs)
    assert again.changes_noticed == 0 and len(again.hypothesis.policies) == known
    true = Simulator(CORRIDOR, 1).cmp
    assert all(after in dict(true.transitions(state, action)) for state, action, after, _
               in again.history.rows() if action >= 0)
    keep_on = Simulator(CORRIDOR, 2)
    store.attach(again, SavedInputs(tmp_path / 'explorer.log.sqlite').number)
    again.lose_place()
    drive(again, keep_on, 100)
    assert again.changes_noticed == 0
    assert store.flush()
    store.close()
    assert restored(tmp_path)[0].steps == again.steps
    log, = [path for path in found.aside if '.log.' in path.name]
    assert SavedInputs(log).inputs == old.inputs    # and all of it can be had back


def test_what_came_before_a_step_stays(tmp_path: Path) -> None:
    lied_to(tmp_path)
    played = [made for made in SavedInputs(tmp_path / 'explorer.log.sqlite').inputs
              if isinstance(made, Observation)]
    before = next(steps for steps in range(KNOWN_BY - 101, KNOWN_BY)    # a RESET stays, too
                  if played[steps].action != RESET)
    found = forget(tmp_path, 'robot', since=str(KNOWN_BY - 100))
    assert found.exact == before
    assert found.kept['/liar'] == LIES
    again, store = restored(tmp_path)
    store.close()
    assert again is not None and again.steps == before
    with pytest.raises(InvalidValueError, match='since is 9999, expected at most'):
        forget(tmp_path, 'robot', since='9999')
    for neither in ('noon', '\u00b2', '9' * 5000):    # a power, more digits than an int has
        with pytest.raises(InvalidValueError, match="since is '.*', expected a number of steps"):
            forget(tmp_path, 'robot', since=neither)


def test_what_came_before_a_time_stays(tmp_path: Path) -> None:
    lied_to(tmp_path)
    log = SavedInputs(tmp_path / 'explorer.log.sqlite')
    lie = log.first + next(number for number, made in enumerate(log.inputs, 1)
                           if isinstance(made, WorkObservation) and made.node == '/liar')
    with sqlite3.connect(log.path) as database:    # the second half of the lies comes later
        database.execute('DELETE FROM writes')
        for first, hour in ((1, 12), (lie + LIES // 2, 13)):
            moment = int(datetime(2026, 11, 27, hour).timestamp())
            database.execute('INSERT INTO writes VALUES (?, ?, ?)', (first, moment, moment))
    database.close()
    found = forget(tmp_path, '/liar', since='2026-11-27T13:00')
    assert found.taken_back == found.kept['/liar'] == LIES // 2


def test_without_a_log_the_kept_resume_points_must_reach_back_far_enough(tmp_path: Path) -> None:
    lied_to(tmp_path, log=False)
    with pytest.raises(CheckpointError, match='transitions of robot, which cannot be told apart'):
        forget(tmp_path, 'robot')
    assert forget(tmp_path, '/liar').taken_back == LIES    # which came after the resume point


def test_a_bad_source_a_running_explorer_and_a_wrong_folder_are_refused(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lied_to(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.glob('*.sqlite')}

    def refusal(*words: str) -> str:
        assert main([str(tmp_path), *words]) == 1
        return capsys.readouterr().err

    assert refusal('--source', 'r7').startswith(
        "mnm_ros forget: source 'r7' has reported nothing, expected one of: /honest (1 trans")
    store = Store(tmp_path, 'explorer', IDENTITY)
    assert 'end that explorer, call forget again, and start it' in refusal('--source', '/liar')
    store.close()
    assert 'holds files of explorer, expected those of hall' in refusal(
        '--source', '/liar', '--name', 'hall')
    assert {path.name: path.read_bytes() for path in tmp_path.glob('*.sqlite')} == before
    assert main(['~nobodysuch/kept', '--source', '/liar']) == 1
    assert 'has no home folder on this machine' in capsys.readouterr().err
    assert main([str(tmp_path), '--source', '/liar']) == 0
    said = capsys.readouterr().out
    assert '60 transitions reported by /liar were taken back; 1 by /honest, ' in said
    assert 'explorer.log.sqlite.aside.1' in said
    event = event_log.read(tmp_path / 'explorer.events.jsonl')[-1]
    assert event.kind == 'source' and '60 transitions reported by /liar' in event.text
