# SPDX-License-Identifier: Apache-2.0

"""A copy of the process answers from a snapshot, holds nothing up and outlives nobody."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import TypeVar

from mnm_ros.forked_query import ForkedQuery
import pytest

_T = TypeVar('_T')
PATIENCE = 10.0    # s
SLEEPING = """
import os, time
from mnm_ros.forked_query import ForkedQuery
query = ForkedQuery()
query.ask(lambda: time.sleep(60))
print(query._copy, flush=True)
while True:    # a signal that comes just before a sleep is handled after it
    time.sleep(0.1)
"""


def soon(there: Callable[[], _T | None]) -> _T:
    """Return what is there at last."""
    end = time.monotonic() + PATIENCE
    while (found := there()) is None:
        assert time.monotonic() < end, f'nothing came in {PATIENCE} s'
        time.sleep(0.002)
    return found


def ended(process: int) -> bool | None:
    """Return True once a process has ended, whether anybody has asked for its status or not."""
    try:
        state = Path(f'/proc/{process}/stat').read_text(encoding='ascii').rpartition(')')[2]
    except OSError:
        return True
    return True if state.split()[0] == 'Z' else None


def test_it_answers_from_a_snapshot_and_changes_nothing() -> None:
    query: ForkedQuery[list[int]] = ForkedQuery()
    things = [1, 2]

    def question() -> list[int]:
        things.append(3)
        return things
    assert query.answer() is None
    query.ask(question)
    things.append(9)
    assert query.running
    assert soon(query.answer) == [1, 2, 3] and things == [1, 2, 9]
    assert not query.running and query.answer() is None


def test_a_long_answer_is_read_as_it_comes() -> None:
    query: ForkedQuery[bytes] = ForkedQuery()
    query.ask(lambda: b'x' * 5_000_000)
    assert len(soon(query.answer)) == 5_000_000


def test_it_is_not_waited_for() -> None:
    query: ForkedQuery[None] = ForkedQuery()
    begun = time.monotonic()
    query.ask(lambda: time.sleep(60))
    copy = query._copy
    assert query.answer() is None
    query.close()
    assert time.monotonic() < begun + 5 and not query.running
    soon(lambda: ended(copy))
    query.ask(lambda: None)    # which takes note of its end, too
    query.close()
    assert not Path(f'/proc/{copy}').exists()


def test_what_goes_wrong_is_said_and_the_next_question_is_answered() -> None:
    query: ForkedQuery[int] = ForkedQuery()
    query.ask(lambda: 1 // 0)
    with pytest.raises(ChildProcessError, match='division'):
        soon(query.answer)
    query.ask(lambda: os.kill(os.getpid(), signal.SIGKILL) or 0)
    with pytest.raises(ChildProcessError, match='killed before it had an answer'):
        soon(query.answer)
    query.ask(lambda: 7)
    assert soon(query.answer) == 7


def test_it_works_where_nobody_is_told_of_the_end_of_a_process() -> None:
    """As where whoever has started the process ignores SIGCHLD."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        query: ForkedQuery[int] = ForkedQuery()
        for number in range(3):
            query.ask(lambda number=number: number + 1)    # type: ignore[misc]
            assert soon(query.answer) == number + 1
        query.ask(lambda: 1)
        soon(lambda: ended(query._copy))
        query.close()
        query.ask(lambda: 2)
        assert soon(query.answer) == 2
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_it_holds_no_file_open(tmp_path: Path) -> None:
    """A lock of a file would outlive the process that has it."""
    query: ForkedQuery[list[str]] = ForkedQuery()
    with (tmp_path / 'locked').open('w'):
        query.ask(lambda: [os.readlink(f'/proc/self/fd/{each}') for each in map(int, os.listdir(
            '/proc/self/fd')) if each > 2 and os.path.exists(f'/proc/self/fd/{each}')])
        assert not [each for each in soon(query.answer) if str(tmp_path) in each]


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_the_process(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, '-c', SLEEPING], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        copy = int(process.stdout.readline())
        process.send_signal(number)
        process.wait(PATIENCE)
    soon(lambda: ended(copy))
