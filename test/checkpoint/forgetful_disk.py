# SPDX-License-Identifier: Apache-2.0

"""
A disk that forgets at a power cut what was not flushed, for one folder.

SQLite writes through a virtual file system (https://sqlite.org/vfs.html). ``ForgetfulDisk`` wraps
the methods of its files and ``os.fsync``, so that it sees each flush, whoever makes it. A flush of
a file puts the content of the file on the platter, and a flush of a folder the names in it.
"""

from __future__ import annotations

import _sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import ctypes
from ctypes import c_char_p, c_int, c_void_p, CFUNCTYPE, POINTER, Structure
from itertools import count
import os
from pathlib import Path
import stat

import pytest

_OK, _OPEN_WAL, _OPEN_JOURNAL = 0, 0x80000, 0x800
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)
_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)


class _Methods(Structure):
    """Is ``sqlite3_io_methods``, version 3."""

    _fields_ = [('version', c_int), *((name, c_void_p) for name in (
        'close', 'read', 'write', 'truncate')), ('sync', _Sync), *((name, c_void_p) for name in (
            'size', 'lock', 'unlock', 'reserved', 'control', 'sector', 'characteristics', 'map',
            'shared_lock', 'barrier', 'unmap', 'fetch', 'unfetch'))]


class _Vfs(Structure):
    """Is ``sqlite3_vfs``, version 3."""

    _fields_ = [('version', c_int), ('file_size', c_int), ('longest_path', c_int),
                ('next', c_void_p), ('name', c_char_p), ('data', c_void_p), ('open', _Open),
                *((name, c_void_p) for name in (
                    'delete', 'access', 'full_path', 'dl_open', 'dl_error', 'dl_sym', 'dl_close',
                    'randomness', 'sleep', 'time', 'last_error', 'time64', 'set_call', 'get_call',
                    'next_call'))]


def _library() -> ctypes.CDLL:
    """Return the SQLite that Python uses, or skip the test where its functions are hidden."""
    library = ctypes.CDLL(_sqlite3.__file__)
    if not hasattr(library, 'sqlite3_vfs_find'):
        pytest.skip('the SQLite of this Python hides its functions')
    library.sqlite3_vfs_find.restype = POINTER(_Vfs)
    return library


class ForgetfulDisk:
    """
    What a folder would hold after a power cut.

    :ivar after_each_flush: called when a file or a folder was flushed, if it is not None.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._platter: dict[int, bytes] = {}    # by inode
        self._names: dict[str, int] = {}
        self._cuts = count()
        self.after_each_flush: Callable[[], object] | None = None

    @contextmanager
    def installed(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForgetfulDisk]:
        """See all flushes of this process, until the context ends."""
        library = _library()
        usual = library.sqlite3_vfs_find(None)
        wrapped, kept = _wrapped(usual, self._take_file)
        library.sqlite3_vfs_register(ctypes.byref(wrapped), 1)
        flush = os.fsync

        def fsync(file: int) -> None:
            flush(file)
            self._take(file)

        with monkeypatch.context() as patch:
            patch.setattr(os, 'fsync', fsync)
            try:
                yield self
            finally:
                library.sqlite3_vfs_register(usual, 1)
                library.sqlite3_vfs_unregister(ctypes.byref(wrapped))
                kept.clear()    # the callbacks have to live as long as SQLite may call them

    def after_power_cut(self) -> Path:
        """Return a new folder with what is on the platter now."""
        folder = self.folder.with_name(f'{self.folder.name}_{next(self._cuts)}')
        folder.mkdir()
        for name, inode in self._names.items():
            (folder / name).write_bytes(self._platter.get(inode, b''))
        return folder

    def _take(self, file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            if os.path.samestat(os.fstat(file), self.folder.stat()):
                self._names = {path.name: path.stat().st_ino for path in self.folder.iterdir()}
                self._tell()
        else:
            self._take_file(Path(os.readlink(f'/proc/self/fd/{file}')), False)

    def _take_file(self, path: Path, named: bool) -> None:
        """Put a file on the platter; with its name, where SQLite flushes the folder, too."""
        if path.parent == self.folder:
            inode = path.stat().st_ino
            self._platter[inode] = path.read_bytes()
            if named:
                self._names[path.name] = inode
            self._tell()

    def _tell(self) -> None:
        if self.after_each_flush is not None:
            self.after_each_flush()


def _wrapped(usual: POINTER(_Vfs), take: Callable[[Path, bool], None],    # type: ignore
             ) -> tuple[_Vfs, list[object]]:
    """Return a file system that calls ``take`` after each flush, and what has to be kept."""
    kept: list[object] = []
    tables: dict[tuple[int, str, bool], _Methods] = {}

    def methods_of(table: int, path: str, named: bool) -> _Methods:
        if (table, path, named) not in tables:
            own = _Methods.from_buffer_copy(_Methods.from_address(table))
            flush = _Methods.from_address(table).sync

            def sync(file: int, flags: int) -> int:
                status = int(flush(file, flags))
                if status == _OK:
                    take(Path(path), named)
                return status

            own.sync = _Sync(sync)
            kept.extend((flush, own.sync))
            tables[table, path, named] = own
        return tables[table, path, named]

    def open_file(vfs: int, name: int | None, file: int, flags: int, opened: int | None) -> int:
        # SQLite keeps the pointer to the name, so the pointer itself is passed on.
        status = int(usual.contents.open(ctypes.cast(usual, c_void_p), name, file, flags, opened))
        table = ctypes.cast(file, POINTER(c_void_p))
        if status == _OK and name and table[0]:
            path = ctypes.string_at(name).decode()
            own = methods_of(table[0], path, bool(flags & (_OPEN_WAL | _OPEN_JOURNAL)))
            table[0] = ctypes.addressof(own)
        return status

    result = _Vfs.from_buffer_copy(usual.contents)
    result.name, result.next, result.open = b'forgetful', None, _Open(open_file)
    kept.extend((result.open, tables))
    return result, kept
