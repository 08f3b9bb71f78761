# SPDX-License-Identifier: Apache-2.0

"""
Files that are read without waiting and within limits, and written whole or not at all.

Files from outside are opened by ``open_regular``, and read by ``read_regular``. Files kept beside
checkpoints are opened by ``open_own`` alone, here or by ``read_own``, ``append_line`` and
``write_whole`` with ``own``. No link is followed to where something is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
import errno
import os
from pathlib import Path
import stat
import sys
from typing import BinaryIO, TypeVar

from mnm_ros.core.errors import FileError

_T = TypeVar('_T')
_OWN = 0o600    # its owner alone may read and write it


def config_file(name: str) -> Path:
    """Return the path of a file in ``config``; FileError if the package came without it."""
    for directory in config_folders():
        if (path := directory / name).is_file():
            return path
    raise FileError(f'{name} is not among the files of the package, expected it in config')


def config_folders(*within: str) -> Iterator[Path]:
    """Yield where the folder ``config`` of the package, or a folder within it, may be."""
    folder = Path('config', *within)
    yield Path(__file__).resolve().parents[1] / folder
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for prefix in (*filter(None, prefixes), sys.prefix):
        yield Path(prefix, 'share', 'mnm_ros') / folder


def open_streams() -> None:
    """
    Let what is printed go nowhere where the standard output or error is closed.

    Else the next file or socket has its number, and libraries print into that.
    """
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'w'))


def regular(path: Path) -> Path:
    """
    Return a path that can be opened at once; to open a pipe waits for its other end.

    :raises OSError: if nothing is there, or anything but a regular file.
    """
    if not path.is_file():
        raise OSError(f'{path} is no regular file' if path.exists() else f'no such file: {path}')
    return path


def user_path(text: str | Path) -> Path:
    """
    Return a path in which ``~`` and ``~name`` stand for the home folder of a user.

    :raises FileError: if nothing is known of that user.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise FileError(f"{text}: '{Path(text).parts[0]}' has no home folder on this machine, "
                        'expected ~, ~ and the name of a user, or a path without ~') from None


def open_regular(path: Path, what: str, most: int) -> BinaryIO:
    """
    Return a file from outside, opened for reading; a link to it is followed.

    :param what: was expected there, such as ``map``.
    :param most: bytes that it may have.
    :raises FileError: if it cannot be read, is no regular file, or has more bytes.
    """
    try:
        _check_regular(os.stat(path))    # before it is opened, because that may set off a device
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        file = os.fdopen(descriptor, 'rb')
        try:
            found = os.fstat(descriptor)
            _check_regular(found)    # another one may be there by now
        except OSError:
            file.close()
            raise
    except (OSError, ValueError) as error:    # ValueError of a name that has a NUL, for example
        reason = getattr(error, 'strerror', None) or str(error)
        raise FileError(f'{path}: cannot be read ({reason}), expected a {what} file') from None
    if found.st_size > most:
        file.close()
        raise _too_long(path, what, most)
    return file


def _check_regular(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, 'no regular file')


def read_regular(path: Path, what: str, most: int) -> bytes:
    """Return what is in a file from outside; the arguments and errors are as of the above."""
    with open_regular(path, what, most) as file:
        data = file.read(most + 1)    # a file may grow, and some in /proc have no size
    if len(data) > most:
        raise _too_long(path, what, most)
    return data


def _too_long(path: Path, what: str, most: int) -> FileError:
    return FileError(f'{path}: the file has more than {most:,} bytes, expected a {what} of at '
                     'most as many')


def open_own(path: Path, flags: int) -> int:
    """
    Return the descriptor of a file that is for its owner only, which is made so if it is written.

    The file is opened without following a link, and without waiting for the end of a pipe.

    :param flags: as ``os.open`` has them.
    :raises OSError: if that fails, or if anything but a regular file is there.
    """
    descriptor = _open_unfollowed(path, flags)
    try:
        found = os.fstat(descriptor)
        if (flags & (os.O_WRONLY | os.O_RDWR) and stat.S_IMODE(found.st_mode) != _OWN
                and found.st_uid == os.geteuid() and found.st_nlink == 1):
            os.fchmod(descriptor, _OWN)    # an earlier version has made it
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _open_unfollowed(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, _OWN)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, 'a link, which is not followed', str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f'{path} is no regular file')
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

    The rights of the old file are kept.

    :param own: that it is as ``open_own`` has it instead.
    :raises OSError: if that fails, or if something else than a regular file is there, such as a
        link, which is not followed; what was there is as it was.
    """
    draft = path.with_name(f'{path.name}.{os.getpid()}.tmp')
    rights = None
    if os.path.lexists(path):
        # Refused where it must not be written.
        old = open_own(path, os.O_WRONLY) if own else _open_unfollowed(path, os.O_WRONLY)
        rights = None if own else stat.S_IMODE(os.fstat(old).st_mode)
        os.close(old)
    draft.unlink(missing_ok=True)
    try:
        with open(draft, 'xb', opener=_opener_of_own if own else None) as file:
            file.write(content.encode('utf-8') if isinstance(content, str) else content)
            file.flush()
            if rights is not None:
                os.fchmod(file.fileno(), rights)
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None    # no word of the draft
    finally:
        draft.unlink(missing_ok=True)
    flush_folder(path.parent)
    return path


def write_output(path: Path, content: bytes) -> None:
    """
    Write what a user asks for: a file, what a link leads to, or into a pipe or a device.

    :raises OSError: if that fails.
    """
    if path.exists() and not path.is_file():    # a pipe, or /dev/stdout
        path.write_bytes(content)
    else:
        write_whole(path.resolve() if path.exists() else path, content)    # of a link, its end


def _opener_of_own(path: str, flags: int) -> int:
    return os.open(path, flags, _OWN)


def flush_folder(folder: Path) -> None:
    """Flush a folder, so that files renamed or removed there stay so after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
