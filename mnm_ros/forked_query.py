# SPDX-License-Identifier: Apache-2.0

"""Answers in a fork of the process, so that a thread which may not wait goes on at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import ctypes
import gc
import os
import pickle
import signal
import traceback
from typing import Any, Generic, NoReturn, TypeVar

_T = TypeVar('_T')

PATIENCE = 60.0    # s, after which a copy is killed: one that took over a lock waits for ever
_SIZE = 1 << 20    # bytes, read at once
_PR_SET_PDEATHSIG = 1    # of Linux
_LIBC = ctypes.CDLL(None)


class ForkedQuery(Generic[_T]):
    """
    Puts one question at a time to a copy of the process: a snapshot of all that it holds.

    To make the copy takes some milliseconds, whatever it is to work out. The question cannot
    change anything here. It may read what this thread alone writes, and may neither wait for
    other threads, of which the copy has none, nor use what they share. The copy holds no file
    open, and is killed with the thread that has made it, and after ``PATIENCE``.

    :ivar running: whether an answer is awaited.
    """

    def __init__(self) -> None:
        self._copy = 0    # its process id
        self._reader = -1
        self._read = bytearray()
        self._over: list[int] = []    # copies that end now, without anybody waiting for it

    @property
    def running(self) -> bool:
        """Whether an answer is awaited."""
        return bool(self._copy)

    def ask(self, question: Callable[[], _T]) -> None:
        """
        Begin to work an answer out; it has to be one that can be pickled.

        :raises OSError: if there can be no copy, for lack of memory or of processes.
        """
        self.close()
        self._over = [copy for copy in self._over if not _has_ended(copy)]
        parent, (self._reader, writer) = os.getpid(), os.pipe()
        try:
            self._copy = os.fork()
        except OSError:
            os.close(self._reader)
            os.close(writer)
            raise
        if not self._copy:
            _answer(question, writer, parent)
        os.close(writer)
        os.set_blocking(self._reader, False)

    def answer(self) -> _T | None:
        """
        Return the answer once it is there, without waiting for it; None before, and once only.

        :raises ChildProcessError: says what went wrong if there will be no answer.
        """
        try:
            while self._copy and (data := os.read(self._reader, _SIZE)):
                self._read += data
        except BlockingIOError:
            return None
        if not self._copy:
            return None
        read = bytes(self._read)
        self._let_go()
        if not read:
            raise ChildProcessError('a copy of the process was killed before it had an answer')
        succeeded, answer = pickle.loads(read)
        if not succeeded:
            raise ChildProcessError(answer)
        result: _T = answer
        return result

    def close(self) -> None:
        """End what is under way, without waiting for its end."""
        if self._copy:
            with suppress(ProcessLookupError):
                os.kill(self._copy, signal.SIGKILL)
            self._let_go()

    def _let_go(self) -> None:
        os.close(self._reader)
        self._over.append(self._copy)
        self._copy = 0
        self._read.clear()


def _has_ended(copy: int) -> bool:
    """Return whether a copy has ended, which it is asked for until it has."""
    try:
        return bool(os.waitpid(copy, os.WNOHANG)[0])
    except ChildProcessError:    # where SIGCHLD is ignored
        return True


def _answer(question: Callable[[], Any], writer: int, parent: int) -> NoReturn:
    """Be the copy: answer, and end without anything that the process does at its end."""
    try:
        _part(writer, parent)
        try:
            told = pickle.dumps((True, question()), pickle.HIGHEST_PROTOCOL)
        except Exception:
            told = pickle.dumps((False, traceback.format_exc().strip()))
        while told:
            told = told[os.write(writer, told):]
    finally:
        os._exit(0)


def _part(writer: int, parent: int) -> None:
    """Let go of all that is the parent's, and end with it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    if hasattr(_LIBC, 'prctl'):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    gc.freeze()    # else objects of rclpy might be destroyed here
    # Locks of files would outlive the parent, and its ports would stay taken.
    os.closerange(3, writer)
    os.closerange(writer + 1, os.sysconf('SC_OPEN_MAX'))
