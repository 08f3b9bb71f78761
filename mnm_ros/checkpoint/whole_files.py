# SPDX-License-Identifier: Apache-2.0

"""
Files that are read without waiting, and written whole or not at all.

What is kept beside checkpoints is opened by ``open_own`` alone, here or by ``read_own``,
``append_line`` and ``write_whole`` with ``own``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import errno
import os
from pathlib import Path
import stat
from typing import TypeVar

_T = TypeVar('_T')
_OWN = 0o600    # its owner alone may read and write it


def regular(path: Path) -> Path:
    """
    Return a path that can be opened at once; to open a pipe waits for its other end.

    :raises OSError: if nothing is there, or anything but a regular file.
    """
    if not path.is_file():
        raise OSError(f'{path} is no regular file' if path.exists() else f'no such file: {path}')
    return path


def open_own(path: Path, flags: int) -> int:
    """
    Return the descriptor of a file that is for its owner only, which is made so if it is written.

    The file is opened without following a link, and without waiting for the end of a pipe.

    :param flags: as ``os.open`` has them.
    :raises OSError: if that fails, or if anything but a regular file is there.
    """
    always = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | always, _OWN)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, 'a link, which is not followed', str(path)) from None
        raise
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f'{path} is no regular file')
        if (flags & (os.O_WRONLY | os.O_RDWR) and stat.S_IMODE(found.st_mode) != _OWN
                and found.st_uid == os.geteuid() and found.st_nlink == 1):
            os.fchmod(descriptor, _OWN)    # an earlier version has made it
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read_own(path: Path) -> bytes:
    """Return what is in a file that is kept beside checkpoints; OSError as ``open_own``."""
    with open(open_own(path, os.O_RDONLY), 'rb') as file:
        return file.read()


def read_lines(path: Path) -> list[str]:
    """Return the lines of such a file that are not blank; none if it cannot be read."""
    try:
        text = read_own(path).decode('utf-8', errors='replace')
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()]


def read_each(path: Path, meaning: Callable[[str], _T]) -> tuple[list[_T], int]:
    """Return what these lines mean, and how many mean nothing, of which it raises ValueError."""
    found, lines = [], read_lines(path)
    for line in lines:
        with suppress(ValueError):
            found.append(meaning(line))
    return found, len(lines) - len(found)


def unread_lines(path: Path, count: int) -> str:
    """Say of a file that is read line by line that so many of them mean nothing."""
    return (f'{path}: {count} of the lines cannot be read; they are left out, and stay in the '
            'file until it is shortened')


def append_line(path: Path, line: str) -> None:
    """
    Write one more line of such a file; what was cut off before stays a line of its own.

    :raises OSError: if that fails.
    """
    with open(open_own(path, os.O_RDWR | os.O_APPEND), 'ab+') as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
        cut_off = file.read(1) not in (b'', b'\n')    # by a crash or a full disk
        file.write(b'\n' * cut_off + f'{line}\n'.encode())


def make_own(path: Path) -> None:
    """Make such a file if there is none; OSError as ``open_own``."""
    os.close(open_own(path, os.O_WRONLY | os.O_CREAT))


def write_whole(path: Path, content: str | bytes, own: bool = False) -> Path:
    """
    Write a file and return its path; a reader sees the old file or the new one, never a part.

    A link is followed, and the rights of the old file are kept.

    :param own: that it is as ``open_own`` has it instead.
    :raises OSError: if that fails, or if something else than a regular file is there; what was
        there is as it was.
    """
    target = path if own else path.resolve()
    draft = target.with_name(f'{target.name}.{os.getpid()}.tmp')
    rights = None
    if own and os.path.lexists(target):
        os.close(open_own(target, os.O_WRONLY))
    elif target.exists():
        with regular(target).open('ab') as old:    # refused where it must not be written
            rights = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
    draft.unlink(missing_ok=True)
    try:
        with open(draft, 'xb', opener=_opener_of_own if own else None) as file:
            file.write(content.encode('utf-8') if isinstance(content, str) else content)
            file.flush()
            if rights is not None:
                os.fchmod(file.fileno(), rights)
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None    # no word of the draft
    finally:
        draft.unlink(missing_ok=True)
    flush_folder(target.parent)
    return path


def _opener_of_own(path: str, flags: int) -> int:
    return os.open(path, flags, _OWN)


def flush_folder(folder: Path) -> None:
    """Flush a folder, so that files renamed or removed there stay so after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
