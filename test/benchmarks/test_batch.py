# SPDX-License-Identifier: Apache-2.0

"""A batch of trials goes on where it was, and its file is that of a single process."""

from __future__ import annotations

from collections import Counter
import csv
import fcntl
from pathlib import Path
import signal
import subprocess
import sys
import time

import arguments
import batch
from batch import BatchError, Engine, run_batch
import code_version
import exploration_steps
import prediction
import progress
import promise
import pytest
import references
from tiers import strength

BENCHMARKS = Path(batch.__file__).parent
TASKS = [(letter, number) for letter in 'ab' for number in range(3)]
PROMISE = ['--families', 'corridor', 'confusing_chain', '--trials', '3', '--radius',
           strength('2', '2.5')]


def names(task: tuple[str, int]) -> dict[str, object]:
    return dict(zip(('letter', 'number'), task))


class Trials:
    """Trials that say which of them were made, and may end the batch at one."""

    def __init__(self, fails_at: tuple[str, int] | None = None) -> None:
        self.made: list[tuple[str, int]] = []
        self._fails_at = fails_at

    def __call__(self, task: tuple[str, int]) -> dict[str, object]:
        if task == self._fails_at:
            raise ZeroDivisionError
        self.made.append(task)
        return {'text': f'{task[0]}, "{task[1]}"', 'square': task[1] ** 2}


def run(path: Path | None, trials: Trials, tasks: list[tuple[str, int]] = TASKS) -> list[dict]:
    return run_batch(trials, tasks, names, Engine(), path)


def test_a_batch_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture,
) -> None:
    whole, path = tmp_path / 'whole.csv', tmp_path / 'path.csv'
    rows = run(whole, Trials())
    assert rows == list(csv.DictReader(whole.open(newline=''))) == run(None, Trials())
    with pytest.raises(ZeroDivisionError):
        run(path, Trials(fails_at=('a', 2)))
    left = path.read_bytes()
    assert left == b''.join(whole.read_bytes().splitlines(True)[:3])
    # Half a line, as of a run that was killed while it wrote.
    for torn in (left[:-4], left.splitlines()[0][:-4], b''):
        path.write_bytes(torn)
        trials = Trials()
        told: dict[tuple, dict] = {}
        assert run_batch(trials, TASKS, names, Engine(), path, told.__setitem__) == rows
        assert trials.made == TASKS[max(0, torn.count(b'\n') - 1):]
        assert list(told.items()) == list(zip(TASKS, rows))
        assert path.read_bytes() == whole.read_bytes()
    assert '1 of 6 trials are in' in capsys.readouterr().err
    # More trials, another order, and one asked for twice.
    trials = Trials()
    run(path, trials, [('c', 0), *reversed(TASKS), ('c', 0)])
    assert trials.made == [('c', 0)]
    assert [row['letter'] for row in csv.DictReader(path.open())] == list('cbbbaaa')
    assert sorted(tmp_path.iterdir()) == [path, whole]


def test_a_file_of_something_else_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / 'path.csv'
    run(path, Trials())
    made = path.read_text()

    def refused(text: str, error: str) -> None:
        path.write_text(text)
        with pytest.raises(BatchError, match=error):
            run(path, Trials())
        assert path.read_text() == text
    refused('hello\n', 'path.csv does not begin with the columns version, numpy, letter')
    refused(made.replace('letter', 'word'), 'does not begin with the columns')
    refused(made.replace(',b,0', ',z,0'), r'line 5: not asked for \(.*letter z, number 0\)')
    refused(f'{made}1,2\n', 'line 8: expected as many values as columns')
    path.write_text(made)
    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        refused(made, 'is being written by another run')
    with pytest.raises(BatchError, match='Is a directory'):
        run(tmp_path, Trials())
    monkeypatch.setattr(batch, 'package_version', lambda: '0.0.0')
    refused(made, r'line 2: made by version 0\.1\.0.*, this is 0\.0\.0; go on with that one')


def test_the_version_tells_which_code_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fresh() -> tuple[str, str]:
        code_version.digest.cache_clear()
        code_version.package_version.cache_clear()
        return code_version.digest(), code_version.package_version()
    (tmp_path / 'mnm_ros').mkdir()
    (tmp_path / 'package.xml').write_text('<p><version>1.2.3</version></p>')
    code = tmp_path / 'mnm_ros' / 'one.py'
    monkeypatch.setattr(code_version, 'ROOT', tmp_path)
    monkeypatch.setenv('GIT_CEILING_DIRECTORIES', str(tmp_path.parent))
    try:
        code.write_text('1')
        one = fresh()
        (tmp_path / 'README.md').write_text('text')
        assert fresh() == one == (one[0], f'1.2.3+{one[0]}')
        code.write_text('2')
        assert fresh()[0] != one[0]
    finally:
        monkeypatch.undo()
        fresh()


def test_a_run_that_is_killed_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """A whole run with its processes, by SIGKILL; then one of the processes alone."""
    one, other = tmp_path / 'one.csv', tmp_path / 'other.csv'
    command = [sys.executable, str(BENCHMARKS / 'promise.py'), *PROMISE, '--jobs', '2',
               '--output', str(other)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 240
        while not other.exists() or other.read_bytes().count(b'\n') < 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        children = [int(pid) for pid in Path(
            f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()]
        assert len(children) >= 2
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = other.read_text().splitlines()
    assert 3 <= len(kept) < 7
    deadline = time.monotonic() + 240
    while any(alive(pid) for pid in children):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert promise.main([*PROMISE, '--jobs', '1', '--output', str(other)]) == 0
    assert f'{len(kept) - 1} of 6 trials are in {other}' in capsys.readouterr().err
    assert promise.main([*PROMISE, '--jobs', '1', '--output', str(one)]) == 0
    assert one.read_bytes() == other.read_bytes()


def alive(pid: int) -> bool:
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(') ')[2][0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_process_that_is_killed_ends_the_batch(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match='one of the processes was killed; with --output, the'):
        run_batch(kill_itself, [('a', 0), ('a', 1)], names, Engine(2), tmp_path / 'path.csv')


def kill_itself(task: tuple[str, int]) -> dict[str, object]:
    signal.raise_signal(signal.SIGKILL)
    return {}


def test_a_row_is_as_good_as_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a benchmark makes of a row is what it would make of the run itself."""
    def texts(columns: dict[str, object]) -> dict[str, str]:
        return {name: str(value) for name, value in columns.items()}
    task, steps = strength(
        (('random_tree', 2, 1.0, 0.2), 1_000), (('random_tree', 3, 0.5, 0.1), 20_000))
    for base in ('', *strength((), ('ucb_explore',))):
        made = prediction.run(steps, base, task)
        row = texts({**prediction.names(steps, base, task), **made.columns()})
        assert prediction.Run.of(row) == made and made.steps > 0
        assert len(made.told) == (0 if base else len(prediction.WAY))
    given = strength(1000, 2000), '', ('broken_wheel', 1)
    told = progress.run(*given)
    if strength(True, False):    # that a run repeats itself is no matter of its row
        monkeypatch.setattr(progress, 'run', lambda *_: told)
    assert told and progress.told_in(texts(progress.trial(*given))) == told
    trial = references.Trial(3, [5, 2], 1, False, 90, 4,
                             Counter(dict.fromkeys(references.REASONS, 2)))
    monkeypatch.setitem(exploration_steps.ALL_METHODS, 'mnm', lambda *_: trial)
    assert exploration_steps.trial_of(texts(exploration_steps.run(
        references.Configuration(), ('mnm', 'broken_wheel', 0)))) == trial


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(arguments, 'find_spec', lambda name: None)
    with pytest.raises(SystemExit) as ended:
        promise.main(['--cluster', 'local'])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.count('\n') == 1 and 'needs Dask, the extra "cluster"' in told


def test_what_ends_a_batch_is_told_in_one_line(capsys: pytest.CaptureFixture) -> None:
    def fails() -> int:
        raise BatchError('there it is')
    with pytest.raises(SystemExit) as ended:
        batch.exit_with(fails)
    assert str(ended.value.code).endswith(': there it is')
