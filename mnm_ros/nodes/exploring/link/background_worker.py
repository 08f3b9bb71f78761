# SPDX-License-Identifier: Apache-2.0

"""Work in a thread of its own, so that a node is served while a plan is made."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
import threading

_AT_ONCE = 0.01    # s; most plans take less, and are waited for: that is quicker


class Aside:
    """
    Does one thing at a time in a thread of its own.

    :param wake: called in that thread when something is done that took long. It has to see to it
        that ``collect`` is called soon.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._work: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._done = threading.Lock()
        self._done.acquire()
        self._error: Exception | None = None
        self._left_alone = False    # whether nobody waits for the end
        self._thread: threading.Thread | None = None

    @property
    def here(self) -> bool:
        """Whether it is this thread that asks."""
        return threading.current_thread() is self._thread

    def run(self, work: Callable[[], object]) -> bool:
        """
        Begin to do something; return whether it is done already.

        :raises Exception: whatever ``work`` has raised, if it is done.
        """
        if self._thread is None:
            # It must not keep the process from ending: a plan cannot be broken off.
            self._thread = threading.Thread(target=self._run, name='aside', daemon=True)
            self._thread.start()
        self._left_alone = False
        self._work.put(work)
        if self.collect(_AT_ONCE):
            return True
        self._left_alone = True    # before the last look, so that its end is seen or told
        return self.collect()

    def collect(self, timeout: float = 0.0) -> bool:
        """
        Return whether what was begun is done; only True once.

        :raises Exception: whatever it has raised.
        """
        if not self._done.acquire(timeout=timeout):
            return False
        error, self._error = self._error, None
        if error is not None:
            raise error
        return True

    def close(self) -> None:
        """End the thread after what it is doing."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except Exception as error:
                self._error = error
            self._done.release()
            if self._left_alone:
                self._wake()
