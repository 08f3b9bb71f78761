# SPDX-License-Identifier: Apache-2.0

"""``mnm_ros events --from`` prints what happened in a run that has ended."""

from __future__ import annotations

import os
from pathlib import Path
import time

from mnm_ros.checkpoint.event_log import EventLog, KEPT
from mnm_ros.command.watch import events
from mnm_ros.core.progress.events import Event
import pytest

NOON = time.mktime((2026, 3, 1, 12, 0, 0, 0, 0, -1))


def kept(folder: Path, name: str = 'explorer') -> Path:
    """Keep three events as an explorer does; the third is the second with its caller."""
    path = folder / f'{name}{KEPT}'
    log = EventLog(path, pytest.fail)
    for event in (
            Event(3, 'home is state 0', 'decision', time=NOON),
            Event(5, 'paused', 'pause', time=NOON + 3661, by='service explore', what='pause'),
            Event(5, 'paused by my panel', 'pause', time=NOON + 3661, by='my panel', what='pause',
                  corrects='service explore')):
        log.append(event)
    return path


def printed(source: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str], str]:
    status = events(['--from', str(source)], 'mnm_ros events')
    output = capsys.readouterr()
    return status, output.out.splitlines(), output.err


def test_each_event_with_its_day_and_time(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the file, the folder, or a checkpoint or log beside it."""
    path = kept(tmp_path)
    for source in (path, tmp_path, tmp_path / 'explorer.00000001.sqlite',
                   tmp_path / 'explorer.log.sqlite'):
        assert printed(source, capsys) == (0, [
            '2026-03-01 12:00:00  home is state 0', '2026-03-01 13:01:01  paused by my panel'], '')


def test_a_line_that_cannot_be_read_is_said_to_be_left_out(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = kept(tmp_path)
    path.write_text(path.read_text() + '{"step": "many"}\n')
    status, lines, errors = printed(tmp_path, capsys)
    assert (status, len(lines)) == (0, 2) and f'{path}: 1 of the lines cannot be read' in errors


def test_what_has_no_events_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(tmp_path, capsys) == (
        1, [], f'mnm_ros events: {tmp_path} has the events of 0 explorers, expected those of one; '
        'a file can be named, too\n')
    os.mkfifo(tmp_path / f'pipe{KEPT}')    # which is not waited for
    missing = tmp_path / 'robot.log.sqlite'
    for source in (missing, tmp_path):
        status, lines, errors = printed(source, capsys)
        assert (status, lines) == (1, [])
        assert 'no such file, expected a file of an explorer' in errors
    kept(tmp_path)
    status, _, errors = printed(tmp_path, capsys)
    assert status == 1 and 'has the events of 2 explorers: explorer, pipe, expected' in errors


def test_a_file_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match='2'):
        events(['--from', str(kept(tmp_path)), '--follow'], 'mnm_ros events')
    assert '--follow: no event follows in a file, expected no --from' in capsys.readouterr().err
