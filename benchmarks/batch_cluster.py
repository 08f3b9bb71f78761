# SPDX-License-Identifier: Apache-2.0

"""
Trials on the workers of a Dask cluster; ``batch`` is what uses it.

A worker needs a copy of this project and ``benchmarks/dask worker``; the scheduler needs nothing
but Dask. What is sent is one function by value, which finds out whether the worker has the same
code, and each task as bytes that only such a worker opens. So a worker that comes later, or comes
again after it was killed, is looked at as the first ones were. A task whose worker is gone is
given to another one, and as it depends on nothing but itself, the same comes of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
import importlib
import logging
from pathlib import Path
import pickle
import signal
import sys
from threading import current_thread, main_thread
from typing import Any

from batch_table import BatchError
from code_version import environment, package_version
from distributed import as_completed, Client, KilledWorker, LocalCluster
from distributed.comm import CommClosedError

ANSWER_WITHIN, WORKERS_WITHIN = 10, 60    # s
Answer = tuple[str, Any]
"""``refused`` and why, or ``done`` and what came of the task."""


def on_cluster(trial: Callable[[Any], Mapping[str, object]], tasks: Sequence[tuple[Any, ...]],
               address: str, jobs: int) -> Iterator[tuple[int, Mapping[str, object]]]:
    """
    Yield the number of each task and what came of it, as they are completed.

    :raises BatchError: if no scheduler or worker answers, a worker has other code, or a task ends
        its workers.
    """
    module, function, arguments = _by_name(trial)
    work = worker_function(environment(), package_version())
    logging.getLogger('distributed.client').setLevel(logging.CRITICAL)    # it is told below
    with _connected(address, jobs) as client:
        _look_at_workers(client, work)
        packed = [pickle.dumps((module, function, arguments, task)) for task in tasks]
        futures = {future: number for number, future in enumerate(
            client.map(work, packed, pure=False))}
        for future in as_completed(list(futures)):
            number = futures.pop(future)
            try:
                verdict, found = future.result()
            except KilledWorker as error:
                raise BatchError(
                    f'trial {tasks[number]} has ended one worker after the other, the last one '
                    f'{getattr(error.last_worker, "address", "")}') from None
            except (CancelledError, CommClosedError):
                raise BatchError(f'the scheduler at {address} is gone; with --output, the same '
                                 'command goes on from where it was') from None
            if verdict == 'refused':
                raise BatchError(found)
            yield number, found


def _by_name(trial: Callable[[Any], Mapping[str, object]]) -> tuple[str, str, tuple[Any, ...]]:
    """Return the module and the name of a function, also of the program itself, and arguments."""
    arguments: tuple[Any, ...] = ()
    if isinstance(trial, partial):
        trial, arguments = trial.func, trial.args
    return Path(trial.__code__.co_filename).stem, trial.__name__, arguments


def call(packed: bytes) -> Mapping[str, object]:
    """Run a task on a worker."""
    module, function, arguments, task = pickle.loads(packed)
    return getattr(importlib.import_module(module), function)(*arguments, task)


def worker_function(wanted: Mapping[str, str], version: str) -> Callable[[bytes], Answer]:
    """
    Return what a worker calls; it is sent by value, and so needs nothing of the project to begin.

    Without a task it only says whether the worker would do; then Dask says which one it is.
    """
    def work(packed: bytes, dask_worker: Any = None) -> Answer:
        import socket

        from distributed import get_worker
        who = f'worker {(dask_worker or get_worker()).address} on {socket.gethostname()}'
        remedy = 'start it with benchmarks/dask worker in a copy of this project'
        try:
            from batch_cluster import call
            from code_version import environment, package_version
        except ImportError as error:
            return 'refused', f'{who} lacks the project ({error}): {remedy}'
        found = environment()
        differing = [f'{name} {found.get(name, "missing")} instead of {value}'
                     for name, value in wanted.items() if found.get(name) != value]
        if differing:
            return 'refused', (f'{who} has other code ({package_version()} instead of {version}; '
                               f'{", ".join(differing)}): {remedy} as it is here')
        return 'done', call(packed) if packed else {}
    return work


@contextmanager
def _connected(address: str, jobs: int) -> Iterator[Client]:
    if address == 'local':
        with _local_cluster(jobs) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout=ANSWER_WITHIN)
    except (OSError, ValueError) as error:
        raise BatchError(f'no Dask scheduler answers at {address!r} within {ANSWER_WITHIN} s '
                         f'({str(error).splitlines()[0]})') from None
    with client:
        yield client


def _local_cluster(jobs: int) -> LocalCluster:
    """Start a cluster whose workers leave Ctrl-C to this process, as they inherit."""
    before = signal.getsignal(signal.SIGINT)
    here = current_thread() is main_thread()
    if here:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return LocalCluster(
            n_workers=jobs, threads_per_worker=1, memory_limit=0, dashboard_address=None)
    finally:
        if here:
            signal.signal(signal.SIGINT, before)


def _look_at_workers(client: Client, work: Callable[[bytes], Answer]) -> None:
    """Wait for a worker, and see that all there are have the same code as this process."""
    address = client.scheduler.address
    if not client.nthreads():
        print(f'waiting for workers: benchmarks/dask worker {address}', file=sys.stderr)
    try:
        client.wait_for_workers(1, timeout=WORKERS_WITHIN)
    except (TimeoutError, asyncio.TimeoutError):    # the same from Python 3.11 on
        raise BatchError(f'no worker has come to {address} within {WORKERS_WITHIN} s: start one '
                         f'with benchmarks/dask worker {address}') from None
    answers = client.run(work, b'', on_error='return')
    wrong = sorted(str(answer[1]) if isinstance(answer, tuple) else f'worker {worker}: {answer!r}'
                   for worker, answer in answers.items()
                   if not (isinstance(answer, tuple) and answer[0] == 'done'))
    if wrong:
        more = f' (the first of {len(wrong)} workers that will not do)' if wrong[1:] else ''
        raise BatchError(wrong[0] + more)
