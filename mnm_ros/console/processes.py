# SPDX-License-Identifier: Apache-2.0

"""Child processes that are started and stopped together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Any

POLL_S = 0.02
MOMENT_S = 0.5    # in which a node ends that does not lead its robot home

# The kernel sends SIGTERM once the thread that started the process has ended, however that came
# about; this survives exec. Set after the fork, in a program of its own: with other threads, as
# ROS has them, little is allowed in between. A parent that was killed before goes unnoticed.
_LEASHED = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)    # PR_SET_PDEATHSIG
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class Interrupt:
    """A context manager in which SIGINT, SIGTERM and SIGHUP do nothing but count."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.number = 0
        self.times = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        for number in self.SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        self.times += 1


class Child:
    """
    A running command, which leads a process group of its own.

    On Linux it is sent SIGTERM when the thread that has made it ends, by SIGKILL, too.

    :param command: begins with the path of a program.
    """

    def __init__(
            self, name: str, command: Sequence[str], log: Path, env: Mapping[str, str]) -> None:
        self.name = name
        self.log = log
        with log.open('wb') as stream:
            self._process = subprocess.Popen(
                [*_leash(), *command], stdin=subprocess.DEVNULL, stdout=stream,
                stderr=subprocess.STDOUT, env=dict(env), start_new_session=True)

    @property
    def pid(self) -> int:
        """Return the id of the process and of its group."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Return the exit status, which is negative after a signal; None while it runs."""
        return self._process.poll()

    @property
    def ending(self) -> str:
        """In words, how it has ended."""
        status = self.status
        if status is None:
            return 'still runs'
        if status < 0:
            return f'was ended by {signal.Signals(-status).name}'
        return f'ended with exit status {status}'

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the whole group if the process still runs."""
        if self.status is None:
            os.killpg(self.pid, number)

    def wait(self) -> None:
        """Wait until it has ended."""
        self._process.wait()

    def tail(self, lines: int = 15) -> list[str]:
        """Return the last lines of its log."""
        with self.log.open('rb') as stream:
            stream.seek(max(0, self.log.stat().st_size - 16384))
            return stream.read().decode(errors='replace').splitlines()[-lines:]


def _leash() -> list[str]:
    """Return what goes before a command that is to end with this process."""
    if sys.platform != 'linux':    # no other kernel informs a child
        return []
    return [sys.executable, '-I', '-S', '-c', _LEASHED, str(os.getpid())]


def stop(
        children: Sequence[Child], grace: tuple[float, float] = (5.0, 2.0),
        hurry: Callable[[], bool] = lambda: False) -> None:
    """
    Stop all children, by SIGINT, then SIGTERM, then SIGKILL, and wait for each.

    :param grace: the time in s after SIGINT and after SIGTERM before the next signal.
    :param hurry: returns whether to wait no longer than a moment for each.
    """
    for number, seconds in zip((signal.SIGINT, signal.SIGTERM), grace, strict=True):
        for child in children:
            child.send(number)
        begun = time.monotonic()
        while any(child.status is None for child in children):
            if time.monotonic() > begun + (min(seconds, MOMENT_S) if hurry() else seconds):
                break
            time.sleep(POLL_S)
    for child in children:
        child.send(signal.SIGKILL)
        child.wait()
