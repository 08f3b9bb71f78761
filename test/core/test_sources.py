# SPDX-License-Identifier: Apache-2.0

"""Every transition keeps the robot or node that has reported it."""

from __future__ import annotations

import json
from pathlib import Path
import sqlite3

from mnm_ros.checkpoint import input_log
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.core import Exploration, Problem, RESET, settings
from mnm_ros.core.inputs import Input
import pytest

CORRIDOR = settings(Problem(2, 4.0, 1.0, 0.1))


def explored() -> tuple[Exploration, list[Input]]:
    """Return an exploration that has heard of a robot side, of two nodes and of two robots."""
    exploration, inputs = Exploration(CORRIDOR), list[Input]()
    exploration.listeners.append(lambda update: inputs.append(update.input))
    for robot in ('', 'r1'):
        while exploration.next_action() == RESET:
            exploration.observe(RESET, 0)
        exploration.observe(exploration.next_action(), 1, robot)
    exploration.observe_work(0, 1, 0, 'r1')
    exploration.observe_work(0, 1, 1, node='/hall/watcher')
    exploration.observe_work(0, 1, None, node='/other')
    return exploration, inputs


def test_log_snapshot_and_activity_have_the_source_of_each_transition(tmp_path: Path) -> None:
    exploration, inputs = explored()
    expected = {'robot': 1, 'r1': 2, '/hall/watcher': 1, '/other': 1}
    assert exploration.sources == expected
    assert type(exploration.activity()).from_json(
        exploration.activity().to_json()).sources == expected
    log = InputLog.create(tmp_path / 'log.sqlite', {}, None)
    log.append(inputs)
    log.close()
    saved = SavedInputs(log.path)
    assert saved.inputs == inputs and saved.sources() == expected
    again = Exploration(CORRIDOR)
    saved.replay(again)
    assert again.sources == expected
    point = json.loads(json.dumps(exploration.to_state()))
    assert Exploration(CORRIDOR, resume=point).sources == expected


def test_the_log_has_the_time_and_the_session_of_a_write(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, inputs = explored()
    clock = [1000.0]
    monkeypatch.setattr(input_log.time, 'time', lambda: clock[-1])
    monkeypatch.setattr(input_log.time, 'monotonic', lambda: clock[-1])
    log = InputLog.create(tmp_path / 'log.sqlite', {}, None)
    for moment in (1001.0, 1003.0, 1012.0):
        clock.append(moment)
        log.append(inputs[:2])
    log.close()
    clock.append(2000.0)
    log = InputLog.reopen(SavedInputs(log.path))
    log.append(inputs[:2])
    log.close()
    saved = SavedInputs(log.path)
    assert saved.writes == [(1, 1001, 1000), (5, 1012, 1000), (7, 2000, 2000)]
    assert [saved.first_since(moment) for moment in (0, 1001, 1011, 1012, 3000)] == [0, 1, 1, 5, 7]


def test_a_file_of_before_there_were_times_is_read_and_appended_to(tmp_path: Path) -> None:
    _, inputs = explored()
    log = InputLog.create(tmp_path / 'log.sqlite', {}, None)
    log.append(inputs)
    log.close()
    with sqlite3.connect(log.path) as database:
        database.execute('DROP TABLE writes')
    database.close()
    saved = SavedInputs(log.path)
    assert saved.writes == [] and saved.first_since(0) == 0
    log = InputLog.reopen(saved)
    log.append(inputs)
    log.close()
    assert [first for first, *_ in SavedInputs(log.path).writes] == [len(inputs) + 1]
