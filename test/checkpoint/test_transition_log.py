# SPDX-License-Identifier: Apache-2.0

"""The whole history on disk, from the first step."""

from __future__ import annotations

from pathlib import Path
import re

from kept_explorations import (
    CORRIDOR,
    drive,
    explored,
    IDENTITY,
    keep,
    LONG,
    newest,
    restored,
    run_sql,
    same,
    SETTINGS,
)
from mnm_ros.checkpoint.__main__ import describe
from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.inputs import Interruption, Observation, Update
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.simulation.simulator import Simulator
import pytest
from robots import Manner, Robots
from tiers import thorough

DOCS = Path(__file__).parents[2] / 'docs' / 'reference' / 'files_on_disk.md'


@thorough('export/test_export.py::test_the_log_of_several_robots_names_them')
def test_it_is_kept_which_robot_has_made_a_step(tmp_path: Path) -> None:
    """Of a file without that, from before there were several, everything else is read."""
    exploration = Exploration(SETTINGS)
    store = Store(tmp_path, 'explorer', IDENTITY, transition_log=True)
    keep(exploration, store)
    robots = Robots(Fleet(exploration), [Simulator(CORRIDOR, seed) for seed in range(3)],
                    [Manner(), Manner(lambda state, *_: 9.0 * (state == 1), joins=20.0),
                     Manner(dies=50.0)])
    while exploration.steps < 150 or len(SavedInputs(newest(tmp_path)).inputs) < 2:
        robots.step()    # until the newest file has what the log will lack
        assert exploration.steps < 150 or store.flush()
    store.close()
    path = tmp_path / 'explorer.log.sqlite'
    log = SavedInputs(path)
    made = log.made_by()
    assert {*made} == {'robot 0', 'robot 1', 'robot 2'}
    broken = {each.robot for each in log.inputs if isinstance(each, Interruption)}
    assert broken - {''} <= {'robot 1', 'robot 2'} and 'robot 1' in broken
    assert {each.robot for each in log.inputs
            if isinstance(each, Observation) and each.action == RESET} == {''}
    assert f'transitions reported by robot 2: {exploration.sources["robot 2"]}' in describe(path)
    assert log.sources() == exploration.sources
    for table in ('inputs', 'robots'):
        run_sql(f'DELETE FROM {table} WHERE number > {log.number - 2}')(path)
    assert SavedInputs(path).number == log.number - 2
    second, store = restored(tmp_path)
    assert same(exploration, second)
    store.close()    # and what the log lacked is there again
    assert SavedInputs(path).made_by() == made


def test_the_transition_log_replays_from_the_beginning_bit_for_bit(tmp_path: Path) -> None:
    first = explored(tmp_path, LONG)
    again, store = restored(tmp_path)
    assert again is not None
    keep_on, simulator = again, Simulator(CORRIDOR, 9)
    keep_on.listeners.append(store.append)
    drive(keep_on, simulator, 100)
    assert store.flush()
    store.close()
    log = SavedInputs(tmp_path / 'explorer.log.sqlite', IDENTITY)
    assert log.point is None and log.number == LONG + 101 and first.steps == LONG
    replayed = Exploration(SETTINGS)
    log.replay(replayed)
    assert same(keep_on, replayed)
    with pytest.raises(CheckpointError, match='tells of action'):
        log.replay(Exploration(settings(Problem(2, 3.0, 1.0, 0.1))))


def test_the_replay_shown_in_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = explored(tmp_path, LONG)
    monkeypatch.chdir(tmp_path)
    code = re.findall(r'```python\n(.*?)```', DOCS.read_text(encoding='utf-8'), re.DOTALL)[-1]
    names: dict = {}
    exec(code, names)
    assert first.hypothesis is not None and same(first, names['exploration'])


def test_the_last_decision_is_described_in_words(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    assert '\nlast decision: round 1: 4 states known, now checking\n' in describe(newest(tmp_path))


def test_a_transition_log_that_does_not_fit_is_set_aside(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    begun = SavedInputs(newest(tmp_path)).number - len(SavedInputs(newest(tmp_path)).inputs)
    assert begun > 100
    run_sql('DELETE FROM inputs WHERE number > 100')(tmp_path / 'explorer.log.sqlite')
    exploration, store = restored(tmp_path)
    assert exploration is not None and exploration.steps == LONG
    assert f'has inputs 1 to 100, expected {begun} among them' in store.refusals[0]
    store.close()


def test_a_transition_log_gets_what_a_crash_has_kept_from_it(tmp_path: Path) -> None:
    explored(tmp_path, LONG)
    path = tmp_path / 'explorer.log.sqlite'
    run_sql(f'DELETE FROM inputs WHERE number > {LONG - 10}')(path)
    exploration, store = restored(tmp_path)
    store.append(Update(Interruption()))
    assert store.refusals == [] and store.flush()
    store.close()
    log = SavedInputs(path, IDENTITY)
    assert exploration is not None and log.point is None and log.number == LONG + 2
    exploration.lose_place()
    replayed = Exploration(SETTINGS)
    log.replay(replayed)
    assert same(exploration, replayed)
