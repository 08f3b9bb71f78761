# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What is kept on disk leads back to the same place, and damaged files are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import hashlib
import os
from pathlib import Path
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from types import SimpleNamespace

from mnm_ros.checkpoint import generations, pace
from mnm_ros.checkpoint import store as store_module
from mnm_ros.checkpoint.__main__ import describe
from mnm_ros.checkpoint.input_log import Abandoned, InputLog, Refused, Saved
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration, Input
from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.presets import settings
from mnm_ros.core.problem import Problem, RESET
from mnm_ros.simulation.robots import Manner, Robots
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest

CORRIDOR = load('corridor')
SETTINGS = settings(Problem(2, 4.0, 1.0, 0.1))
IDENTITY = {'version': '0.1.0', 'actions': ['east', 'west'], 'radius': 4.0, 'epsilon': 1.0,
            'delta': 0.1, 'preset': 'onboard', 'seed': 0}
DOCS = Path(__file__).parents[2] / 'docs' / 'checkpoints.md'


def keep(exploration: Exploration, store: Store) -> None:
    """Keep all inputs from now on, with a generation at each resume point."""
    store.begin_generation(0, None)
    store.attach(exploration, between=1)


def drive(exploration: Exploration, simulator: Simulator, steps: int) -> None:
    for _ in range(steps):
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))


def explored(folder: Path, steps: int) -> Exploration:
    """Return an exploration that was kept for so many steps."""
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(folder, 'explorer', IDENTITY, transition_log=True)
    keep(exploration, store)
    drive(exploration, simulator, steps // 2)
    exploration.relocate(2)
    simulator.state = 2
    drive(exploration, simulator, steps - steps // 2)
    assert store.flush()
    store.close()
    return exploration


def restored(folder: Path, identity: dict | None = None) -> tuple[Exploration | None, Store]:
    store = Store(folder, 'explorer', identity or IDENTITY, transition_log=True)
    loaded = store.load(revive)
    return (loaded[1] if loaded else None), store


def revive(saved: Saved) -> Exploration:
    exploration = Exploration(SETTINGS, resume=saved.point)
    saved.replay(exploration)
    return exploration


def same(first: Exploration, second: Exploration | None) -> bool:
    """Compare all but whether the robot answers, which is not kept."""
    for exploration in filter(None, (first, second)):
        exploration.robot_answers()
    return second is not None and (
        first.next_action(), first.hypothesis, first.counts, first.diagnostics()) == (
        second.next_action(), second.hypothesis, second.counts, second.diagnostics())


@pytest.mark.parametrize('steps', [1, 700, 1500, 9000])
def test_it_goes_on_where_it_was_bit_for_bit(tmp_path: Path, steps: int) -> None:
    first = explored(tmp_path, steps)
    second, store = restored(tmp_path)
    assert store.refusals == [] and same(first, second) and second is not None
    world, other = Simulator(CORRIDOR, 7), Simulator(CORRIDOR, 7)
    drive(first, world, 3000)
    drive(second, other, 3000)
    assert same(first, second)
    store.close()


def test_it_is_kept_which_robot_has_made_a_step(tmp_path: Path) -> None:
    """Of a file without that, from before there were several, everything else is read."""
    exploration = Exploration(SETTINGS)
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)
    keep(exploration, store)
    robots = Robots(Fleet(exploration, 2, 8.0), [Simulator(CORRIDOR, seed) for seed in range(3)],
                    [Manner(), Manner(lambda state, *_: 9.0 * (state == 1), joins=20.0),
                     Manner(dies=50.0)])
    while exploration.hypothesis is None:
        robots.step()
    for _ in range(100):    # so that the newest file can complete what the log will lack
        robots.step()
    assert store.flush()
    store.close()
    path = tmp_path / 'explorer.log.sqlite'
    log = Saved(path)
    made = Counter(log.robots.values())
    assert {*made} == {'robot 0', 'robot 1', 'robot 2'}
    broken = {log.robots.get(number) for number, (kind, *_) in enumerate(log.inputs, 1)
              if kind is Input.INTERRUPTED}
    assert broken - {None} <= {'robot 1', 'robot 2'} and 'robot 1' in broken
    resets = {number for number, (_, _, action) in enumerate(log.inputs, 1) if action == RESET}
    assert not resets & {*log.robots}
    assert f'of robot robot 2: {made["robot 2"]}' in describe(path)
    log.forget_after(log.number - 2)
    assert max(log.robots) <= log.number
    InputLog.reopen(log).close()
    assert Saved(path).robots == log.robots
    second, store = restored(tmp_path)
    assert same(exploration, second)
    store.close()    # and what the log lacked is there again
    assert Counter(Saved(path).robots.values()) == made
    database = sqlite3.connect(path)
    database.execute('DROP TABLE robots')
    database.close()
    old = Saved(path)
    assert old.robots == {} and same(exploration, revive(old))
    old_log = InputLog.reopen(old)
    old_log.append([(Input.OBSERVED, 1, 0)], ['r1'])
    old_log.close()
    assert Saved(path).robots == {old.number + 1: 'r1'}


def test_one_explorer_of_a_name_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path, 'explorer', IDENTITY)
    with pytest.raises(OSError, match='another explorer of this name keeps'):
        Store(tmp_path, 'explorer', IDENTITY)
    Store(tmp_path, 'robot_2.explorer', IDENTITY).close()
    store.close()
    Store(tmp_path, 'explorer', IDENTITY).close()


def test_while_building_a_restart_repeats_no_more_than_some_seconds(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is most of the time taken up by resume points, however much each of them costs."""
    clock, points = [0.0], []
    monkeypatch.setattr(pace, 'REPLAY', 0.02)
    monkeypatch.setattr(pace, 'time', SimpleNamespace(process_time=lambda: clock[0]))
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path, 'explorer', IDENTITY)
    store.begin_generation(0, None)
    store.attach(exploration)
    copy = exploration.to_state

    def to_state() -> dict:
        points.append(exploration.steps)
        clock[0] += 0.005
        return copy()

    exploration.to_state = to_state
    for _ in range(240):
        clock[0] += 0.001
        drive(exploration, simulator, 1)
    assert points == [20, 120, 220]    # 20 ms, and 20 times 5 ms
    assert not exploration.keeping_is_slow() and store.flush()
    store.close()
    second, store = restored(tmp_path)
    saved = Saved(sorted(tmp_path.glob('explorer.0*.sqlite'))[-1])
    assert same(exploration, second) and len(saved.inputs) == 20
    assert exploration.hypothesis is None
    store.close()


def test_what_is_being_loaded_can_be_abandoned(tmp_path: Path) -> None:
    explored(tmp_path, 1500)
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)

    def rebuild(saved: Saved) -> Exploration:
        exploration = Exploration(SETTINGS, resume=saved.point)
        saved.replay(exploration, lambda: True)
        return exploration

    with pytest.raises(Abandoned):
        store.load(rebuild)
    assert store.refusals == [] and not [*tmp_path.glob('*.aside.*')]
    assert store.load(revive) is not None
    store.close()


def test_two_generations_are_kept(tmp_path: Path) -> None:
    explored(tmp_path, 9000)
    assert len(list(tmp_path.glob('explorer.0*.sqlite'))) == 2


def test_the_transition_log_replays_from_the_beginning_bit_for_bit(tmp_path: Path) -> None:
    first = explored(tmp_path, 5000)
    again, store = restored(tmp_path)
    assert again is not None
    keep_on, simulator = again, Simulator(CORRIDOR, 9)
    keep_on.on_input = lambda kind, state, action: store.append(kind, state, action)
    drive(keep_on, simulator, 500)
    assert store.flush()
    store.close()
    log = Saved(tmp_path / 'explorer.log.sqlite', IDENTITY)
    assert log.point is None and log.number == 5501 and first.steps == 5000
    replayed = Exploration(SETTINGS)
    log.replay(replayed)
    assert same(keep_on, replayed)
    with pytest.raises(Refused, match='tells of action'):
        log.replay(Exploration(settings(Problem(2, 3.0, 1.0, 0.1))))


def test_the_replay_shown_in_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = explored(tmp_path, 5000)
    monkeypatch.chdir(tmp_path)
    code = re.findall(r'```python\n(.*?)```', DOCS.read_text(encoding='utf-8'), re.DOTALL)[-1]
    names: dict = {}
    exec(code, names)
    assert first.hypothesis is not None and same(first, names['exploration'])


def test_a_transition_log_that_does_not_fit_is_set_aside(tmp_path: Path) -> None:
    explored(tmp_path, 3000)
    begun = Saved(newest(tmp_path)).number - len(Saved(newest(tmp_path)).inputs)
    assert begun > 100
    run_sql('DELETE FROM inputs WHERE number > 100')(tmp_path / 'explorer.log.sqlite')
    exploration, store = restored(tmp_path)
    assert exploration is not None and exploration.steps == 3000
    assert f'has inputs 1 to 100, expected {begun} among them' in store.refusals[0]
    store.close()


def test_a_transition_log_gets_what_a_crash_has_kept_from_it(tmp_path: Path) -> None:
    explored(tmp_path, 3000)
    path = tmp_path / 'explorer.log.sqlite'
    run_sql('DELETE FROM inputs WHERE number > 2990')(path)
    exploration, store = restored(tmp_path)
    store.append(Input.INTERRUPTED, 0, -1)
    assert store.refusals == [] and store.flush()
    store.close()
    log = Saved(path, IDENTITY)
    assert exploration is not None and log.point is None and log.number == 3002
    exploration.lose_place()
    replayed = Exploration(SETTINGS)
    log.replay(replayed)
    assert same(exploration, replayed)


def newest(folder: Path) -> Path:
    return sorted(folder.glob('explorer.0*.sqlite'))[-1]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3000])


def scribble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[200:3800] = random.Random(0).randbytes(3600)
    path.write_bytes(bytes(data))


def run_sql(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with sqlite3.connect(path) as database:
            database.execute(statement)
        database.close()
    return change


@pytest.mark.parametrize(('damage', 'reason'), [
    (truncate, 'cannot be read'),
    (scribble, 'cannot be read'),
    (lambda path: path.write_bytes(b''), 'cannot be read'),
    (lambda path: path.write_text('not a database'), 'cannot be read'),
    (run_sql("UPDATE meta SET value = '0' WHERE key = 'format'"), "format '0', expected 1"),
    (run_sql("UPDATE meta SET value = replace(value, '1', '2') WHERE key = 'point'"), 'SHA-256'),
    (run_sql("DELETE FROM meta WHERE key = 'identity'"), 'is damaged'),
    (run_sql('UPDATE inputs SET state = state + 1 WHERE number % 7 = 0'), 'its checksum'),
    (run_sql('DELETE FROM inputs WHERE number % 7 = 0'), 'its checksum'),
])
def test_a_damaged_file_is_set_aside_and_the_older_generation_taken(
        tmp_path: Path, damage: Callable[[Path], None], reason: str) -> None:
    explored(tmp_path, 9000)
    path = newest(tmp_path)
    damage(path)
    content = path.read_bytes()
    exploration, store = restored(tmp_path)
    assert exploration is not None and exploration.steps > 0
    assert len(store.refusals) == 1 and reason in store.refusals[0]
    assert path.name in store.refusals[0]
    assert path.with_name(path.name + '.aside.1').read_bytes() == content
    store.close()


def test_a_file_that_leads_elsewhere_is_set_aside(tmp_path: Path) -> None:
    explored(tmp_path, 9000)
    store = Store(tmp_path, 'explorer', IDENTITY)
    before = newest(tmp_path)

    def refuse_once(saved: Saved) -> Exploration:
        if saved.path == before:
            saved.replay(Exploration(settings(Problem(2, 3.0, 1.0, 0.1))))
        return revive(saved)

    loaded = store.load(refuse_once)
    assert loaded is not None and loaded[0].path < before
    assert 'tells of action' in store.refusals[0] and not before.exists()
    store.close()


def test_a_file_that_breaks_whoever_goes_on_from_it_is_set_aside(tmp_path: Path) -> None:
    """As one written before a change of the code that did not change the version."""
    explored(tmp_path, 9000)
    path = newest(tmp_path)
    with sqlite3.connect(path) as database:
        text, = database.execute("SELECT value FROM meta WHERE key = 'point'").fetchone()
        text = text.replace('"mnm"', '"old"')
        database.execute("UPDATE meta SET value = ? WHERE key = 'point'", (text,))
        database.execute("UPDATE meta SET value = ? WHERE key = 'sha256'",
                         (hashlib.sha256(text.encode()).hexdigest(),))
    database.close()
    exploration, store = restored(tmp_path)
    assert exploration is not None and len(store.refusals) == 1
    assert f"{path}: KeyError('mnm'); kept as " in store.refusals[0]
    store.close()


def test_a_file_that_cannot_even_be_set_aside_is_left(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: Path) -> Path:
        raise OSError('Read-only file system')

    explored(tmp_path, 9000)
    truncate(newest(tmp_path))
    monkeypatch.setattr(generations, 'set_aside', read_only)
    exploration, store = restored(tmp_path)
    assert exploration is not None
    assert 'left where it is: Read-only file system' in store.refusals[0]
    store.close()


@pytest.mark.parametrize(('name', 'value'), [
    ('version', '0.0.9'), ('actions', ['up']), ('radius', 5.0), ('seed', 1), ('more', 1)])
def test_a_file_for_something_else_is_set_aside(
        tmp_path: Path, name: str, value: object) -> None:
    explored(tmp_path, 9000)
    exploration, store = restored(tmp_path, {**IDENTITY, name: value})
    assert exploration is None and len(store.refusals) == 2
    assert f'is for {name} {IDENTITY.get(name)!r}, expected {value!r}' in store.refusals[0]
    assert len(list(tmp_path.glob('explorer.0*.aside.1'))) == 2
    store.close()


def test_a_disk_that_takes_nothing_stops_nothing_and_is_told(tmp_path: Path) -> None:
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path / 'kept', 'explorer', IDENTITY)
    shutil.rmtree(tmp_path / 'kept')
    (tmp_path / 'kept').write_text('in the way')
    keep(exploration, store)
    drive(exploration, simulator, 3000)
    assert not store.flush() and 'kept' in store.problem
    (tmp_path / 'kept').unlink()
    (tmp_path / 'kept').mkdir()
    assert store.flush() and store.problem == ''
    store.close()
    second, other = restored(tmp_path / 'kept')
    assert same(exploration, second)
    other.close()


def full(log: InputLog, *inputs: object) -> None:
    raise sqlite3.OperationalError('database or disk is full')


def test_what_a_full_disk_did_not_take_is_not_written_after_a_load(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path, 'explorer', IDENTITY)
    store.begin_generation(0, None)
    exploration.on_input = store.append
    drive(exploration, simulator, 300)
    assert store.flush()
    with monkeypatch.context() as patch:
        patch.setattr(InputLog, 'append', full)
        drive(exploration, simulator, 200)
        assert not store.flush() and 'full' in store.problem
        loaded = store.load(revive)
    assert loaded is not None and loaded[1].steps == 300
    second = loaded[1]
    second.on_input = store.append
    second.lose_place()
    drive(second, simulator, 100)
    assert store.flush()
    store.close()
    third, other = restored(tmp_path)
    assert other.refusals == [] and same(second, third)
    other.close()


def test_a_disk_that_is_full_at_the_start_costs_no_file(tmp_path: Path) -> None:
    first = explored(tmp_path, 9000)
    store = Store(tmp_path, 'explorer', IDENTITY)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))    # as if no more fitted on it
    try:
        with pytest.raises(OSError):
            store.load(revive)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert not [*tmp_path.glob('*.aside.*')]
    loaded = store.load(revive)
    assert loaded is not None and store.refusals == [] and same(first, loaded[1])
    store.close()


def test_more_than_can_be_remembered_leaves_what_was_written_before(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, '_BACKLOG', 300)
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path, 'explorer', IDENTITY)
    store.begin_generation(0, None)
    exploration.on_input = store.append
    drive(exploration, simulator, 200)
    assert store.flush()
    with monkeypatch.context() as patch:
        patch.setattr(InputLog, 'append', full)
        drive(exploration, simulator, 400)
        assert not store.flush()
    drive(exploration, simulator, 100)
    assert not store.flush() and 'until the next resume point' in store.problem
    store.close()
    second, other = restored(tmp_path)
    assert second is not None and second.steps == 200 and other.refusals == []
    other.close()


def test_what_is_not_kept_when_all_files_were_refused_is_told(tmp_path: Path) -> None:
    def refuse(saved: Saved) -> Exploration:
        raise ValueError('it leads elsewhere')

    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(tmp_path, 'explorer', IDENTITY)
    store.begin_generation(0, None)
    exploration.on_input = store.append
    drive(exploration, simulator, 200)
    assert store.flush() and store.load(refuse) is None
    drive(exploration, simulator, 200)
    assert not store.flush() and 'all files were refused' in store.problem
    store.begin_generation(400, None)
    assert store.flush() and store.path is not None and store.path.is_file()
    store.close()


def test_copies_beside_the_files_are_left_alone(tmp_path: Path) -> None:
    explored(tmp_path, 9000)
    copies = [shutil.copy(newest(tmp_path), tmp_path / f'explorer.00000001{name}.sqlite')
              for name in ('.bak', '_old')]
    exploration, store = restored(tmp_path)
    assert exploration is not None
    store.begin_generation(10000, None)
    assert store.flush(), store.problem
    store.close()
    assert all(Path(copy).exists() for copy in copies)


def test_whatever_cannot_be_written_is_told_and_ends_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, 'explorer', IDENTITY)
    store.begin_generation(0, {'no JSON': object()})
    assert not store.flush() and 'JSON' in store.problem
    store.begin_generation(0, None)
    assert store.flush() and store.problem == ''
    store.close()


def test_what_a_file_holds_can_be_printed(tmp_path: Path) -> None:
    explored(tmp_path, 9000)
    printed = subprocess.run(
        [sys.executable, '-m', 'mnm_ros.checkpoint', str(newest(tmp_path))],
        capture_output=True, text=True, timeout=60)
    assert printed.returncode == 0 and 'known states: 0 1 2 3' in printed.stdout
    (tmp_path / 'none').write_text('')
    with pytest.raises(Refused, match='none'):
        describe(tmp_path / 'none')


_WRITER = """
import sys
from pathlib import Path
from mnm_ros.core.exploration import Input
from mnm_ros.checkpoint.input_log import InputLog
log = InputLog.create(Path(sys.argv[1]), {}, None)
number = 0
while True:
    log.append([(Input.OBSERVED, number + i, 0) for i in range(5)])
    number += 5
    print(number, flush=True)
"""


def test_a_process_killed_while_writing_loses_no_more_than_the_write_under_way(
        tmp_path: Path) -> None:
    rng = random.Random(0)
    for trial in range(20):
        path = tmp_path / f'{trial}.sqlite'
        writer = subprocess.Popen(
            [sys.executable, '-c', _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(rng.randint(1, 60)):
            confirmed = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        confirmed = max([confirmed, *map(int, writer.stdout.read().split())])
        writer.wait(timeout=30)
        saved = Saved(path, {})
        states = [state for _, state, _ in saved.inputs]
        assert states == list(range(len(states))) and len(states) % 5 == 0
        assert confirmed <= len(states) <= confirmed + 5
        InputLog.reopen(saved).close()


def test_what_was_asked_for_before_is_gone_on_from(tmp_path: Path) -> None:
    first = explored(tmp_path, 4000)
    other = Store(tmp_path, 'explorer', {**IDENTITY, 'radius': 3.0})
    assert other.load(revive) is None and len(other.refusals) == 2
    other.begin_generation(0, None)
    assert other.flush()
    other.close()
    second, store = restored(tmp_path)
    assert second is not None and same(first, second)
    assert len(store.refusals) == 1    # that of the other radius, which is kept in its turn
    store.attach(second, second.steps + 1)
    drive(second, Simulator(CORRIDOR, 7), 3000)
    assert store.flush()
    store.close()
    third, again = restored(tmp_path)
    again.close()
    assert third is not None and third.steps == 7000


def test_damaged_files_that_were_set_aside_are_not_taken_back(tmp_path: Path) -> None:
    explored(tmp_path, 4000)
    for path in tmp_path.glob('explorer.0*.sqlite'):
        truncate(path)
    for refused in (2, 0):
        exploration, store = restored(tmp_path)
        store.close()
        assert exploration is None and len(store.refusals) == refused


def test_the_lock_changes_no_file_of_others(tmp_path: Path) -> None:
    precious = tmp_path / 'precious'
    precious.write_text('content')
    lock = tmp_path / 'explorer.lock'
    lock.symlink_to(precious)
    with pytest.raises(OSError, match='explorer.lock'):
        Store(tmp_path, 'explorer', IDENTITY)
    lock.unlink()
    os.link(precious, lock)
    explored(tmp_path, 1000)
    truncate(newest(tmp_path))    # so that it is asked for room on the disk
    restored(tmp_path)[1].close()
    assert precious.read_text() == 'content'


def test_a_lock_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'explorer.lock')
    with pytest.raises(OSError, match='no regular file'):
        Store(tmp_path, 'explorer', IDENTITY)


def test_a_generation_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    explored(tmp_path / 'other', 1000)
    (tmp_path / 'explorer.00000001.sqlite').symlink_to(newest(tmp_path / 'other'))
    exploration, store = restored(tmp_path)
    store.close()
    assert exploration is None and 'no regular one' in store.refusals[0]


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    explored(tmp_path / 'made', 3000)
    files = [tmp_path / 'made', *(tmp_path / 'made').iterdir()]
    assert len(files) >= 4
    assert [path.name for path in files if path.stat().st_mode & 0o077] == []
