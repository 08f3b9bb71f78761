# SPDX-License-Identifier: Apache-2.0

"""A Ctrl-C waits for the end of what must not be interrupted, and is not lost."""

from __future__ import annotations

from collections.abc import Iterator
import os
import signal
import threading

from mnm_ros.interrupt import held_back, InterruptedLate
import pytest


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Deaf:
    """Sends a Ctrl-C in its destructor, as it may come: an exception there is ignored."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_it_comes_at_the_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
            done.append(1)
            del (deaf := [Deaf()])[0]
            done.append(2)
    assert done == [1, 2] and deaf == []
    with held_back():    # it was that one
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_is_no_less_than_it() -> None:
    with pytest.raises(ValueError, match='first'):
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
            raise ValueError('first')


def test_a_program_that_has_a_handler_keeps_it() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    with held_back():
        os.kill(os.getpid(), signal.SIGINT)
        assert heard == [signal.SIGINT]


def test_another_thread_has_no_handler() -> None:
    done: list[int] = []

    def work() -> None:
        with held_back():
            done.append(1)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]


class Node(InterruptedLate):
    """Gets a Ctrl-C while it is made and, once more, while it is destroyed."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def _begin(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        self.done.append('made')

    def _end(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        self.done.append('destroyed')


def test_what_is_made_is_destroyed() -> None:
    node = Node()
    with pytest.raises(KeyboardInterrupt):
        with node:
            node.done.append('used')
    assert node.done == ['made', 'destroyed']
