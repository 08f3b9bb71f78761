# SPDX-License-Identifier: Apache-2.0

"""Ctrl-C in a program that spins a node and expects ``KeyboardInterrupt``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
import signal
import threading
from typing import TypeVar

_T = TypeVar('_T', bound='InterruptedLate')


@contextmanager
def held_back() -> Iterator[None]:
    """
    Let a Ctrl-C that comes meanwhile raise ``KeyboardInterrupt`` at the end, and not in between.

    Raised inside of rclpy, it is lost in a destructor, or another error takes its place. rclpy is
    to have no handler (``SignalHandlerOptions.NO``), as this one would take its place. Where
    Python has another one, and in a thread, nothing is changed.
    """
    if (threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


class InterruptedLate(ABC):
    """A context manager around a node, which a Ctrl-C neither begins nor ends half-way."""

    def __enter__(self: _T) -> _T:
        try:
            with held_back():
                self._begin()
        except KeyboardInterrupt:    # else the node would be seen for a while
            self.__exit__()
            raise
        return self

    @held_back()
    def __exit__(self, *_: object) -> None:
        self._end()

    @abstractmethod
    def _begin(self) -> None:
        """Make the node."""

    @abstractmethod
    def _end(self) -> None:
        """Destroy it."""
