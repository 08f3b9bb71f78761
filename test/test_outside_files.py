# SPDX-License-Identifier: Apache-2.0

"""
Files from outside, and files beside checkpoints: no pipe is waited for, no link written through.

What is kept beside checkpoints is for its owner only.
"""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path

from mnm_ros.checkpoint.event_log import EventLog
from mnm_ros.checkpoint.world_log import append, World
from mnm_ros.core.errors import FileError
from mnm_ros.core.progress.events import Event
from mnm_ros.files import (
    append_line,
    make_own,
    read_lines,
    read_own,
    read_regular,
    user_path,
    write_whole,
)
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


def test_a_file_from_outside_is_read_within_limits(tmp_path: Path) -> None:
    path, link = tmp_path / 'file', tmp_path / 'link'
    path.write_bytes(b'content')
    link.symlink_to(path)
    assert read_regular(path, 'map', 7) == read_regular(link, 'map', 7) == b'content'
    with pytest.raises(FileError, match=r'file: the file has more than 6 bytes, expected a map'):
        read_regular(path, 'map', 6)
    with pytest.raises(FileError, match='more than 3 bytes'):    # its size is said to be 0
        read_regular(Path('/proc/self/status'), 'map', 3)


@pytest.mark.parametrize(('name', 'reason'), [
    ('pipe', 'no regular file'), ('device', 'no regular file'), ('folder', 'Is a directory'),
    ('nothing', 'No such file or directory'), ('a\0b', 'null byte')])
def test_nothing_else_is_opened(tmp_path: Path, name: str, reason: str) -> None:
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'device').symlink_to('/dev/zero')
    with pytest.raises(FileError, match=rf'cannot be read \(.*{reason}\), expected a map file'):
        read_regular(tmp_path / name, 'map', 100)


def test_a_home_folder_is_put_in_place_of_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('HOME', '/home/me')
    assert user_path('~/map.yaml') == Path('/home/me/map.yaml')
    with pytest.raises(FileError, match="'~nosuchuser' has no home folder on this machine"):
        user_path('~nosuchuser/map.yaml')


def test_what_is_written_whole_goes_to_no_link(tmp_path: Path) -> None:
    (tmp_path / 'kept').symlink_to(tmp_path / 'precious')
    for there in (False, True):
        if there:
            (tmp_path / 'precious').write_text('content')
        with pytest.raises(OSError, match=r'link, which is not followed.*kept'):
            write_whole(tmp_path / 'kept', 'whole')
        assert (tmp_path / 'precious').exists() is there
    assert (tmp_path / 'precious').read_text() == 'content'


def test_what_is_replaced_keeps_its_rights_and_is_never_gone(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash just before the new file gets its name leaves the old one."""
    path = tmp_path / 'kept'
    path.write_text('before')
    path.chmod(0o640)
    calls: list[str] = []
    replace = Path.replace

    def renamed(draft: Path, target: Path) -> Path:
        calls.append(path.read_text())
        return replace(draft, target)

    monkeypatch.setattr(Path, 'replace', renamed)
    write_whole(path, 'after')
    assert calls == ['before'] and path.read_text() == 'after'
    assert path.stat().st_mode & 0o777 == 0o640


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
