# SPDX-License-Identifier: Apache-2.0

"""
Sees what SQLite does to its files, for disks that forget, or are full.

SQLite writes through a virtual file system (https://sqlite.org/vfs.html), which is wrapped here.
"""

from __future__ import annotations

import _sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import ctypes
from ctypes import c_char_p, c_int, c_longlong, c_void_p, CFUNCTYPE, POINTER, Structure
from functools import partial
from pathlib import Path

import pytest

_OK, _FULL, _CANNOT_OPEN, _NO_FLUSH = 0, 13, 14, 10 | 4 << 8
_OPEN_WAL, _OPEN_JOURNAL, _CREATE = 0x80000, 0x800, 4
_Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_longlong)
_Truncate = CFUNCTYPE(c_int, c_void_p, c_longlong)
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)
_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)

# SQLite may still call these for a database that is closed later, when garbage is collected.
_alive: list[tuple[_Vfs, list[object]]] = []


class _Methods(Structure):
    """Is ``sqlite3_io_methods``, version 3."""

    _fields_ = [('version', c_int), ('close', c_void_p), ('read', c_void_p), ('write', _Write),
                ('truncate', _Truncate), ('sync', _Sync), *((name, c_void_p) for name in (
                    'size', 'lock', 'unlock', 'reserved', 'control', 'sector', 'characteristics',
                    'map', 'shared_lock', 'barrier', 'unmap', 'fetch', 'unfetch'))]


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


@contextmanager
def watched(fails: Callable[[str, Path], bool] = lambda operation, path: False,
            after_flush: Callable[[Path, bool], object] | None = None) -> Iterator[None]:
    """
    Watch all files of SQLite that this process opens, until the context ends.

    :param fails: says before each ``write``, ``truncate``, ``flush`` and ``create`` whether it
        fails.
    :param after_flush: called after each flush with the path, and whether the name is flushed,
        too; None to flush nothing, which is quick.
    """
    library = _library()
    usual = library.sqlite3_vfs_find(None)
    wrapped, kept = _wrapped(usual, fails, after_flush)
    _alive.append((wrapped, kept))
    library.sqlite3_vfs_register(ctypes.byref(wrapped), 1)
    try:
        yield
    finally:
        library.sqlite3_vfs_register(usual, 1)
        library.sqlite3_vfs_unregister(ctypes.byref(wrapped))


def _wrapped(usual: POINTER(_Vfs), fails: Callable[[str, Path], bool],    # type: ignore
             after_flush: Callable[[Path, bool], object] | None) -> tuple[_Vfs, list[object]]:
    """Return a file system that calls these functions, and what has to be kept."""
    kept: list[object] = []
    tables: dict[tuple[int, str, bool], _Methods] = {}

    def methods_of(table: int, path: str, named: bool) -> _Methods:
        if (table, path, named) not in tables:
            before = _Methods.from_address(table)
            own = tables[table, path, named] = _watched_methods(
                before, Path(path), fails, after_flush and partial(after_flush, Path(path), named))
            kept.extend((before, own.sync, own.write, own.truncate))
        return tables[table, path, named]

    def open_file(vfs: int, name: int | None, file: int, flags: int, opened: int | None) -> int:
        path = ctypes.string_at(name).decode() if name else ''
        if path and flags & _CREATE and not Path(path).exists() and fails('create', Path(path)):
            ctypes.cast(file, POINTER(c_void_p))[0] = None
            return _CANNOT_OPEN
        # SQLite keeps the pointer to the name, so the pointer itself is passed on.
        status = int(usual.contents.open(ctypes.cast(usual, c_void_p), name, file, flags, opened))
        table = ctypes.cast(file, POINTER(c_void_p))
        if status == _OK and name and table[0]:
            own = methods_of(table[0], path, bool(flags & (_OPEN_WAL | _OPEN_JOURNAL)))
            table[0] = ctypes.addressof(own)
        return status

    result = _Vfs.from_buffer_copy(usual.contents)
    result.name, result.next, result.open = b'watched', None, _Open(open_file)
    kept.extend((result.open, tables))
    return result, kept


def _watched_methods(before: _Methods, path: Path, fails: Callable[[str, Path], bool],
                     after_flush: Callable[[], object] | None) -> _Methods:
    own = _Methods.from_buffer_copy(before)

    def sync(file: int, flags: int) -> int:
        if fails('flush', path):
            return _NO_FLUSH
        if after_flush is None:
            return _OK
        status = int(before.sync(file, flags))
        if status == _OK:
            after_flush()
        return status

    def write(file: int, data: int, size: int, offset: int) -> int:
        return _FULL if fails('write', path) else before.write(file, data, size, offset)

    def truncate(file: int, size: int) -> int:
        return _FULL if fails('truncate', path) else before.truncate(file, size)

    own.sync, own.write, own.truncate = _Sync(sync), _Write(write), _Truncate(truncate)
    return own
