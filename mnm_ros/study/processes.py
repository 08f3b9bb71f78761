# SPDX-License-Identifier: Apache-2.0

"""Calls of one function, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
import multiprocessing
import os
import signal
from threading import Thread
from typing import TypeVar

_Task = TypeVar('_Task')
_Result = TypeVar('_Result')


def completed(function: Callable[[_Task], _Result], tasks: Sequence[_Task],
              jobs: int) -> Iterator[tuple[int, _Result]]:
    """
    Yield the number of each task and what the function returns, as they are completed.

    :param function: of a module, or a ``partial`` of one, where there are several processes.
    :param jobs: processes; 1 is this one itself.
    :raises BrokenProcessPool: if one of them was killed.
    """
    if jobs == 1:
        yield from enumerate(map(function, tasks))
        return
    spawn = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(jobs, spawn, _begin_process) as executor:
        futures = {executor.submit(function, task): number for number, task in enumerate(tasks)}
        try:
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _begin_process() -> None:
    """End at once on Ctrl-C, and with the process that started this one, however that ended."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)
    Thread(target=end_with_parent, daemon=True).start()
