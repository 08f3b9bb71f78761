# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from mnm_ros.console.processes import _leash, Child, Interrupt, stop
import pytest

DEADLINE = 240.0    # s, against standing still
SLEEP = 'import time; print("ready", flush=True); time.sleep(60)'
DEAF = 'import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); ' + SLEEP
STUBBORN = 'import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); ' + DEAF


class Nursery:

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.children: list[Child] = []

    def start(self, code: str, ready: bool = True) -> Child:
        name = f'child_{len(self.children)}'
        child = Child(
            name, [sys.executable, '-c', code], self._directory / f'{name}.log', os.environ)
        self.children.append(child)
        if ready:
            wait_for(lambda: child.tail() == ['ready'])
        return child


def wait_for(condition) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(pid: int) -> bool:
    """Whether a process is gone, or would be if its new parent looked after it."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] == 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    nursery = Nursery(tmp_path)
    yield nursery
    stop(nursery.children, grace=(0, 0))


def test_stop_sends_sigint_first(nursery: Nursery) -> None:
    child = nursery.start(SLEEP)
    stop([child], grace=(DEADLINE, 0))
    assert child.status == -signal.SIGINT
    assert child.ending == 'was ended by SIGINT'
    assert child.tail()[-1] == 'KeyboardInterrupt'


def test_stop_goes_further_after_the_deadline(nursery: Nursery) -> None:
    children = [nursery.start(code) for code in (SLEEP, DEAF, STUBBORN)]
    stop(children, grace=(2.0, 1.0))    # enough for the polite ones on a busy machine
    assert [child.status for child in children] == [
        -signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL]


def test_stop_reaches_the_whole_group(nursery: Nursery) -> None:
    child = nursery.start(
        f'import subprocess, sys; subprocess.call([sys.executable, "-c", {SLEEP!r}])')
    stop([child])
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)


def test_stop_does_not_wait_when_in_a_hurry(nursery: Nursery) -> None:
    child = nursery.start(STUBBORN)
    started = time.monotonic()
    stop([child], grace=(2 * DEADLINE, 2 * DEADLINE), hurry=lambda: True)
    assert time.monotonic() - started < DEADLINE
    assert child.status == -signal.SIGKILL


def test_stop_leaves_an_ended_child_alone(nursery: Nursery) -> None:
    child = nursery.start('import sys; sys.exit(3)', ready=False)
    wait_for(lambda: child.status is not None)
    stop([child])
    assert child.ending == 'ended with exit status 3'


def test_tail_is_the_end_of_both_streams(nursery: Nursery) -> None:
    child = nursery.start(
        'import sys\nfor i in range(9999): print(i)\nsys.stdout.flush()\nsys.exit("out of luck")',
        ready=False)
    wait_for(lambda: child.status is not None)
    assert child.tail(3) == ['9997', '9998', 'out of luck']


def test_a_child_is_deaf_to_the_terminal(nursery: Nursery) -> None:
    assert os.getpgid(nursery.start(SLEEP).pid) != os.getpgid(0)


def test_interrupt_counts_signals_and_restores_their_handlers() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        assert interrupt.times == 0
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for(lambda: interrupt.times == 2)
    assert interrupt.number in (signal.SIGINT, signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before


PARENT = """
import os, sys, time
from pathlib import Path
from mnm_ros.console.processes import Child
child = Child('child', [sys.executable, '-c', sys.argv[1]], Path(sys.argv[2]), os.environ)
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='asks the kernel of Linux')
def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    log = tmp_path / 'child.log'
    with subprocess.Popen([sys.executable, '-c', PARENT, SLEEP, str(log)],
                          stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        try:
            wait_for(lambda: log.read_text() == 'ready\n')
            parent.kill()
            wait_for(lambda: ended(child))
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != 'linux', reason='asks the kernel of Linux')
def test_a_child_whose_parent_has_been_killed_before_it_began(tmp_path: Path) -> None:
    """The kernel tells of what comes after it was asked, not of what was before."""
    begun = tmp_path / 'begun'
    done = subprocess.run(
        [*_leash()[:-1], '-1', sys.executable, '-c', f'open({str(begun)!r}, "w")'],
        timeout=DEADLINE)
    assert done.returncode == 0 and not begun.exists()
