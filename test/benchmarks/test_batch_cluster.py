# SPDX-License-Identifier: Apache-2.0

"""The workers of a cluster make the rows of a single process, also where one is killed."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
import pickle
import signal
import subprocess
import sys
from threading import Thread
import time
from types import SimpleNamespace

from batch_table import BatchError
from late import late
import promise
import pytest
from tiers import thorough

distributed, batch_cluster = map(late, ('distributed', 'batch_cluster'))

RUN = ['--families', 'corridor', 'confusing_chain', '--trials', '6', '--radius', '2.5']


@pytest.fixture(scope='module')
def cluster() -> Iterator[distributed.LocalCluster]:
    with batch_cluster._local_cluster(2) as found:
        yield found


def lines(path: Path) -> int:
    return path.read_bytes().count(b'\n') if path.exists() else 0


def test_the_rows_are_those_of_a_single_process(tmp_path: Path) -> None:
    one, other = tmp_path / 'one.csv', tmp_path / 'other.csv'
    run = ['--families', 'corridor', '--trials', '3', '--radius', '2']
    with distributed.LocalCluster(1, processes=False, dashboard_address=None) as cluster:
        assert promise.main([*run, '--cluster', cluster.scheduler_address,
                             '--output', str(other)]) == 0
    assert promise.main([*run, '--jobs', '1', '--output', str(one)]) == 0
    assert one.read_bytes() == other.read_bytes() and lines(one) == 4


@thorough('benchmarks/test_batch_cluster.py::test_the_rows_are_those_of_a_single_process '
          'benchmarks/test_batch.py::test_a_run_that_is_killed_goes_on')
def test_a_worker_that_is_killed_changes_nothing(
    cluster: distributed.LocalCluster, tmp_path: Path,
) -> None:
    one, other = tmp_path / 'one.csv', tmp_path / 'other.csv'
    with distributed.Client(cluster) as client:
        victim, *_ = client.run(os.getpid).values()
    written: list[int] = []

    def kill() -> None:
        deadline = time.monotonic() + 240
        while lines(other) < 3 and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(victim, signal.SIGKILL)
        written.append(lines(other))
    killer = Thread(target=kill)
    killer.start()
    try:
        assert promise.main([*RUN, '--cluster', cluster.scheduler_address,
                             '--output', str(other)]) == 0
    finally:
        killer.join()
    assert 3 <= written[0] < 10
    assert promise.main([*RUN, '--jobs', '1', '--output', str(one)]) == 0
    assert one.read_bytes() == other.read_bytes()


def test_other_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('distributed.get_worker', lambda: SimpleNamespace(
        address='tcp://there:1'))
    work = batch_cluster.worker_function(
        {**batch_cluster.environment(), 'mnm_ros': 'abc'}, '9.9.9')
    kind, told = work(b'never opened')
    assert kind == 'refused' and told.startswith('worker tcp://there:1 ')
    assert ' instead of 9.9.9; mnm_ros ' in told and ' instead of abc): start it with' in told


@thorough('benchmarks/test_batch_cluster.py::test_other_code_is_refused')
def test_a_worker_with_other_code_is_refused(
    cluster: distributed.LocalCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    here = batch_cluster.environment()
    monkeypatch.setattr('batch_cluster.environment', lambda: {**here, 'mnm_ros': 'abc'})
    monkeypatch.setattr('batch_cluster.package_version', lambda: '9.9.9')
    output = tmp_path / 'none.csv'
    with pytest.raises(BatchError) as refused:
        promise.main([*RUN, '--cluster', cluster.scheduler_address, '--output', str(output)])
    told = str(refused.value)
    assert told.startswith('worker tcp://') and '\n' not in told
    assert ' instead of 9.9.9; mnm_ros ' in told and ' instead of abc): start it with' in told
    # One that comes later is not asked beforehand, but by the task itself.
    monkeypatch.setattr('batch_cluster._look_at_workers', lambda *_: None)
    with pytest.raises(BatchError, match='has other code'):
        promise.main([*RUN, '--cluster', cluster.scheduler_address, '--output', str(output)])
    assert lines(output) == 0


def test_a_worker_without_the_project_is_told() -> None:
    cloudpickle = pytest.importorskip('cloudpickle')
    packed = cloudpickle.dumps(batch_cluster.worker_function({'mnm_ros': 'abc'}, '9.9.9'))
    program = """
import pickle, sys, types
sys.modules['distributed'] = types.SimpleNamespace(
    get_worker=lambda: types.SimpleNamespace(address='tcp://there:1'))
print(*pickle.load(sys.stdin.buffer)(b'never opened'))
"""
    ended = subprocess.run([sys.executable, '-I', '-c', program], input=packed,
                           capture_output=True, timeout=240, check=True)
    told = ended.stdout.decode()
    assert told.startswith('refused worker tcp://there:1 on ')
    assert "lacks the project (No module named 'batch_cluster'): start it with" in told


def test_no_scheduler_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('batch_cluster.ANSWER_WITHIN', 1)
    with pytest.raises(BatchError, match="no Dask scheduler answers at 'tcp://127.0.0.1:1'"):
        promise.main([*RUN, '--cluster', 'tcp://127.0.0.1:1'])


def test_a_task_is_named_by_its_module() -> None:
    packed = pickle.dumps((*batch_cluster._by_name(promise.trial), (
        'corridor', 0, promise.Configuration(radius=2.0))))
    assert batch_cluster.call(packed)['end'] == 'found'
