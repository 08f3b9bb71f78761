# SPDX-License-Identifier: Apache-2.0

"""What has happened is kept beside the checkpoints, and nothing that goes wrong there matters."""

from __future__ import annotations

from pathlib import Path
from resource import getrlimit, RLIMIT_FSIZE, setrlimit

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
    told: list[str] = []
    again = EventLog(path, told.append)
    assert again.past == EVENTS[:2]
    again.append(EVENTS[3])
    with path.open('ab') as file:
        file.write(b'\xff\x00 nonsense\n[]\n{"step": "x"}\n')
    assert read(path) == [*EVENTS[:2], EVENTS[3]]
    EventLog(path, told.append)
    assert len(told) == 2 and f'{path}: 1 of the lines cannot be read' in told[0]
    assert f'{path}: 4 of the lines' in told[1]


def test_a_restart_leaves_no_empty_line(tmp_path: Path) -> None:
    path = tmp_path / 'kept'
    for event in EVENTS:    # each in a life of its own, which ends however it ends
        EventLog(path, warn).append(event)
    assert path.read_text() == ''.join(f'{event.to_json()}\n' for event in EVENTS)
    path.write_text(path.read_text().replace('\n', '\n\n \n'))    # as before
    assert EventLog(path, warn).past == EVENTS


def test_it_does_not_grow_without_end(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, '_MOST', 6)
    path, longer = tmp_path / 'kept', tmp_path / 'longer'
    longer.write_text(''.join(f'{event.to_json()}\n' for event in EVENTS))
    assert EventLog(longer, warn).past == EVENTS[-3:] == read(longer)
    log = EventLog(path, warn)
    for number, event in enumerate(EVENTS):
        log.append(event)
        first = 0 if number < 6 else 4
        assert read(path) == EVENTS[first:number + 1]
    assert EventLog(path, warn).past == EVENTS[4:]


def test_no_flood_of_calls_pushes_out_what_was_learnt(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, '_MOST', 100)
    monkeypatch.setattr(event_log, '_MOST_ASKED', 20)
    log = EventLog(path := tmp_path / 'kept', warn)
    for event in EVENTS:
        log.append(event)
    for number in range(1000):
        log.append(Event(number, 'told to save', 'command', by='service save', what='save'))
    kept = read(path)
    assert kept[:len(EVENTS)] == EVENTS and kept[-1].step == 999 and len(kept) <= 100


def test_a_disk_that_was_full_costs_the_events_of_that_time(tmp_path: Path) -> None:
    told: list[str] = []
    log = EventLog(path := tmp_path / 'kept', told.append)
    log.append(EVENTS[0])
    before, size = getrlimit(RLIMIT_FSIZE), path.stat().st_size
    setrlimit(RLIMIT_FSIZE, (size + 9, before[1]))
    try:
        log.append(EVENTS[1])
    finally:
        setrlimit(RLIMIT_FSIZE, before)
    log.append(EVENTS[2])
    assert read(path) == [EVENTS[0], EVENTS[2]] and len(told) == 1
    assert path.stat().st_size > 2 * size + 9    # where it broke off


def test_what_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    log = EventLog(tmp_path / 'nowhere' / 'kept', told.append)
    for event in EVENTS:
        log.append(event)
    assert len(told) == 1 and 'nowhere/kept is not written' in told[0]
