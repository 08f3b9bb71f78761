# SPDX-License-Identifier: Apache-2.0

"""Files that are read without waiting, and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
import stat


def regular(path: Path) -> Path:
    """
    Return a path that can be opened at once; to open a pipe waits for its other end.

    :raises OSError: if nothing is there, or anything but a regular file.
    """
    if not path.is_file():
        raise OSError(f'{path} is no regular file' if path.exists() else f'no such file: {path}')
    return path


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file that are not blank; none if it cannot be read."""
    try:
        text = regular(path).read_text(encoding='utf-8', errors='replace')
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()]


def append_line(path: Path, line: str) -> None:
    """
    Write one more line of a file that is there; what was cut off before stays a line of its own.

    :raises OSError: if that fails.
    """
    with regular(path).open('ab+') as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
        cut_off = file.read(1) not in (b'', b'\n')    # by a crash or a full disk
        file.write(b'\n' * cut_off + f'{line}\n'.encode())


def write_whole(path: Path, content: str | bytes) -> Path:
    """
    Write a file and return its path; a reader sees the old file or the new one, never a part.

    A link is followed, and the rights of the old file are kept.

    :raises OSError: if that fails, or if something else than a regular file is there; what was
        there is as it was.
    """
    target = path.resolve()
    draft = target.with_name(f'{target.name}.{os.getpid()}.tmp')
    rights = None
    if target.exists():
        with regular(target).open('ab') as old:    # refused where it must not be written
            rights = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
    draft.unlink(missing_ok=True)
    try:
        with draft.open('xb') as file:
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


def flush_folder(folder: Path) -> None:
    """Flush a folder, so that files renamed or removed there stay so after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
