# SPDX-License-Identifier: Apache-2.0

"""What has happened is kept beside the checkpoints, and nothing that goes wrong there matters."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.checkpoint import event_log
from mnm_ros.checkpoint.event_log import EventLog, read
from mnm_ros.core.progress.events import Event
import pytest

EVENTS = [Event(step, f'event {step}', time=1.5e9 + step) for step in range(9)]


def warn(sentence: str) -> None:
    pytest.fail(sentence)


def test_it_goes_on_after_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / f'explorer{event_log.KEPT}'
    log = EventLog(path, warn)
    assert log.past == []
    for event in EVENTS[:3]:
        log.append(event)
    path.write_bytes(path.read_bytes()[:-9])
    again = EventLog(path, warn)
    assert again.past == EVENTS[:2]
    again.append(EVENTS[3])
    with path.open('ab') as file:
        file.write(b'\xff\x00 nonsense\n[]\n{"step": "x"}\n')
    assert read(path) == [*EVENTS[:2], EVENTS[3]]


def test_it_does_not_grow_without_end(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, '_MOST', 6)
    log = EventLog(path := tmp_path / 'kept', warn)
    for event in EVENTS:
        log.append(event)
    assert EventLog(path, warn).past == EVENTS[-3:] == read(path)


def test_what_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    log = EventLog(tmp_path / 'nowhere' / 'kept', told.append)
    for event in EVENTS:
        log.append(event)
    assert len(told) == 1 and 'nowhere/kept is not written' in told[0]
