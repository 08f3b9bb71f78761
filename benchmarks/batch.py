# SPDX-License-Identifier: Apache-2.0

"""
Run many seeded trials: in this process, in several, or on a Dask cluster.

All benchmarks that run seeded trials do it here. A trial is a function of its task alone, and what
came of it is a row of texts, so that a row that is read from a file is as good as a new one: who
made it, when and in which order makes no difference. With a file, a run that was ended in the
middle, however hard, goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
import sys
from typing import Any

from batch_table import BatchError, Row, Table
from code_version import package_version
from mnm_ros.study import processes
import numpy as np

Task = tuple[Any, ...]
Trial = Callable[[Any], Mapping[str, object]]
"""A function of a module, or a ``partial`` of one: from a task to the columns of its results."""


@dataclass(frozen=True)
class Engine:
    """
    Where the trials run.

    jobs: processes of this machine; 1 is this process itself.
    cluster: address of a Dask scheduler, ``local`` for one that is started here, or '' for none.
    """

    jobs: int = 1
    cluster: str = ''

    def __str__(self) -> str:
        if self.cluster and self.cluster != 'local':
            return f'on the cluster {self.cluster}'
        return f'with {self.jobs} processes'


def run_batch(
    trial: Trial, tasks: Sequence[Task], names: Callable[[Any], Mapping[str, object]],
    engine: Engine, output: Path | None = None,
    tell: Callable[[Any, Row], None] = lambda task, row: None,
) -> list[Row]:
    """
    Return the rows of all tasks, in their order.

    :param names: from a task to the columns that tell it from all others; with the version of the
        code they come first in its row.
    :param output: the file with the rows; those in it are not made again, and in the end they are
        in the order of the tasks.
    :param tell: is given each task and its row, those of the file first, then each as it is made.
    :raises BatchError: if the file has something else in it, or the cluster is not as it must be.
    """
    versions = {'version': package_version(), 'numpy': np.__version__}
    heads = {task: _texts({**versions, **names(task)}) for task in tasks}
    with Table(output, list(heads.values()), len(versions)) as table:
        rows = {task: row for task, head in heads.items()
                if (row := table.found.get(tuple(head.values())))}
        left = [task for task in heads if task not in rows]
        if rows:
            print(f'{len(rows)} of {len(heads)} trials are in {output}', file=sys.stderr)
        for task, row in rows.items():
            tell(task, row)
        with _progress_bar(len(rows), len(heads)) as advance:
            for index, columns in completed(trial, left, engine):
                task = left[index]
                rows[task] = row = {**heads[task], **_texts(columns)}
                table.add(row)
                tell(task, row)
                advance()
        table.put_in_order([rows[task] for task in heads])
    return [rows[task] for task in heads]


def _texts(columns: Mapping[str, object]) -> Row:
    return {name: str(value) for name, value in columns.items()}


def completed(trial: Trial, tasks: Sequence[Task],
              engine: Engine) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield the number of each task and what came of it, as they are completed."""
    if not tasks:
        return
    if engine.cluster:
        from batch_cluster import on_cluster
        yield from on_cluster(trial, tasks, engine.cluster, engine.jobs)
        return
    try:
        yield from processes.completed(trial, tasks, engine.jobs)
    except BrokenProcessPool:
        raise BatchError('one of the processes was killed; with --output, the same command '
                         'goes on from where it was') from None


@contextmanager
def _progress_bar(done: int, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal; give what moves it on."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
    columns = ('{task.completed:.0f}/{task.total:.0f}', BarColumn(), TimeElapsedColumn(), 'left',
               TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True,
                  redirect_stdout=sys.stdout.isatty()) as progress:
        bar = progress.add_task('', total=total, completed=done)
        yield partial(progress.advance, bar)


def exit_with(main: Callable[[], int]) -> None:
    """End the program with what ``main`` returns; what ends a batch is told in one line."""
    try:
        sys.exit(main())
    except BatchError as error:
        sys.exit(f'{Path(sys.argv[0]).stem}: {error}')
    except KeyboardInterrupt:
        sys.exit(130)
