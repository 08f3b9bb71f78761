# SPDX-License-Identifier: Apache-2.0

"""What is done in a thread beside a node, and how it ends."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

from mnm_ros.nodes.exploring.link.callback_guard import BackgroundWorker, CallbackGuard
from node_processes import DEADLINE
import pytest


@pytest.fixture
def guard() -> CallbackGuard:
    """Return a guard that is asked by hand whether the work has ended."""
    logger = SimpleNamespace(error=lambda *text, **_: None)
    node = SimpleNamespace(executor=None, get_logger=lambda: logger)
    failures: list[str] = []
    found = CallbackGuard(node, failures.append, None)    # type: ignore[arg-type]
    found.failures = failures    # type: ignore[attr-defined]
    return found


def fail_after(gate: threading.Event, error: BaseException) -> None:
    gate.wait(DEADLINE)
    raise error


@pytest.mark.parametrize('slow', [False, True])
def test_an_exit_of_the_process_in_the_thread_is_one_of_the_node(
        guard: CallbackGuard, slow: bool) -> None:
    gate, followed = threading.Event(), list[float]()
    if not slow:
        gate.set()
    with pytest.raises(SystemExit):
        guard.aside(lambda: fail_after(gate, SystemExit()), followed.append)
        gate.set()
        guard.look(DEADLINE)
    assert not (guard.busy or followed)
    guard.aside(lambda: None, followed.append)
    guard.look(DEADLINE)
    assert len(followed) == 1
    guard.close()


def test_an_error_in_the_thread_is_a_fault_and_nothing_follows_on_it(guard: CallbackGuard) -> None:
    gate, followed = threading.Event(), list[float]()
    guard.aside(lambda: fail_after(gate, ValueError('no such thing')), followed.append)
    gate.set()
    guard.look(DEADLINE)
    assert guard.failures == ['ValueError: no such thing']    # type: ignore[attr-defined]
    assert not (guard.busy or followed)
    guard.close()


def test_work_goes_on_after_a_ctrl_c_while_its_end_is_waited_for(
        guard: CallbackGuard, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, done, followed = threading.Event(), list[int](), list[float]()

    def interrupted(worker: BackgroundWorker, timeout: float) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(BackgroundWorker, 'wait', interrupted)
        guard.aside(lambda: (gate.wait(DEADLINE), done.append(1)), followed.append)
    assert guard.busy and not followed    # so that nothing else touches the exploration
    gate.set()
    guard.look(DEADLINE)
    assert done == [1] and len(followed) == 1 and not guard.busy
    # The end of that work is none of the next.
    slowly = threading.Event()
    guard.aside(lambda: (slowly.wait(DEADLINE), done.append(2)), followed.append)
    assert guard.busy and done == [1]
    slowly.set()
    guard.look(DEADLINE)
    assert done == [1, 2] and len(followed) == 2
    guard.close()


def test_quick_work_is_waited_for_after_slow_work(guard: CallbackGuard) -> None:
    followed = list[float]()
    for seconds in (0.05, 0.0, 0.0):
        guard.aside(lambda seconds=seconds: time.sleep(seconds), followed.append)
        guard.look(DEADLINE)
    assert len(followed) == 3
    woken = list[int]()
    worker = BackgroundWorker(lambda: woken.append(1))
    assert not worker.run(lambda: time.sleep(0.1)) and worker.wait(DEADLINE)
    end = time.monotonic() + DEADLINE
    while not woken and time.monotonic() < end:
        time.sleep(0.01)
    assert woken == [1]
    worker.close()
    guard.close()
