# SPDX-License-Identifier: Apache-2.0

"""What is kept beside checkpoints is for its owner only, and no link or pipe there is used."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path

from mnm_ros.checkpoint.event_log import EventLog
from mnm_ros.checkpoint.whole_files import append_line, make_own, read_lines, read_own, write_whole
from mnm_ros.checkpoint.world_log import append, World
from mnm_ros.core.progress.events import Event
import pytest

Write = Callable[[Path], object]
WRITERS: dict[str, Write] = {
    'make': make_own,
    'line': lambda path: append_line(path, 'line'),
    'whole': lambda path: write_whole(path, 'whole', own=True),
    'world': lambda path: append(path, World(1, 'one')),
}


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest) -> Write:
    return WRITERS[request.param]


def test_a_file_becomes_its_owners_alone(write: Write, tmp_path: Path) -> None:
    path = tmp_path / 'kept'
    path.write_text('before\n')
    path.chmod(0o644)
    write(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_neither_links_nor_pipes_are_written(write: Write, tmp_path: Path) -> None:
    precious, path = tmp_path / 'precious', tmp_path / 'kept'
    precious.write_text('content')
    precious.chmod(0o644)
    path.symlink_to(precious)
    with pytest.raises(OSError, match=r'link.*kept'):
        write(path)
    assert path.is_symlink()
    assert precious.read_text() == 'content' and precious.stat().st_mode & 0o777 == 0o644
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match='kept'):
        write(path)
    assert sorted(tmp_path.iterdir()) == [path, precious]


def test_neither_links_nor_pipes_are_read(tmp_path: Path) -> None:
    (tmp_path / 'other').write_text('content')
    (tmp_path / 'link').symlink_to(tmp_path / 'other')
    os.mkfifo(tmp_path / 'pipe')
    for name in ('link', 'pipe', 'nothing'):
        assert read_lines(tmp_path / name) == []
        with pytest.raises(OSError, match=name):
            read_own(tmp_path / name)
    assert read_lines(tmp_path / 'other') == ['content']


def test_events_go_to_no_link(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / 'precious').write_text('content')
    (tmp_path / 'kept').symlink_to(tmp_path / 'precious')
    log = EventLog(tmp_path / 'kept', told.append)
    log.append(Event(1, 'event'))
    assert log.past == [] and (tmp_path / 'precious').read_text() == 'content'
    assert len(told) == 1 and 'a link, which is not followed' in told[0]
