# SPDX-License-Identifier: Apache-2.0

"""An exploration that is kept as it goes: its tables, its files, and its data set for Minari."""

from __future__ import annotations

from collections import Counter
import csv
from functools import lru_cache
import io
import json
from pathlib import Path
import sys
from typing import Any

from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.core.errors import CheckpointError, ExportError, InvalidValueError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import OPTIONS, settings_by_name
from mnm_ros.core.task.step_task import play
from mnm_ros.export.contents import ExportContents, read
from mnm_ros.export.formats import export_as, FORMATS, named
from mnm_ros.export.recording import Recording
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation import scenario
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from tiers import strength

STEPS = strength(400, 1500)
IDENTITY = {
    'version': '0.1.0', 'actions': ['east', 'west'], 'radius': 2.0, 'epsilon': 1.0, 'delta': 0.1,
    'preset': 'onboard', 'seed': 0, **{option.name: option.default for option in OPTIONS}}
FAR = 2**62    # is added to each state; no float has such numbers
CORRIDOR = RobotDescription(('east', 'west'), 0, names={1: 'hall', 2: 'Küche'},
                            positions={0: (0.0, 0.0), 1: (1.0, 0.0), 2: (2.0, 0.0)})


@lru_cache(maxsize=None)
def recorded(steps: int = STEPS, away: int = 0) -> tuple[Recording, list[tuple[int, int]]]:
    """Return a recording of the corridor, and what was played: actions and where they led."""
    exploration = Exploration(settings_by_name(IDENTITY), 0)
    recording, simulator = Recording(exploration), Simulator(scenario.load('corridor'), 0)
    played: list[tuple[int, int]] = []

    def robot(action: int) -> int:
        played.append((action, away + simulator.step(action)))
        return played[-1][1]

    play(exploration, robot, steps)
    exploration.relocate(away + 1)
    exploration.declare(Declaration({away: ((away + 1, away), (away,))}))
    exploration.lose_place()
    return recording, played


def test_the_steps_as_a_table() -> None:
    pytest.importorskip('pandas', reason='pandas is not installed')
    number = strength(100, STEPS)
    recording, played = recorded(number, away=FAR)
    steps = recording.to_dataframe()
    assert list(steps.columns) == ['step', 'state', 'action', 'next', 'robot']
    assert steps['step'].tolist() == list(range(1, number + 1))
    assert list(zip(steps['action'].tolist(), steps['next'].tolist())) == played
    assert steps['state'].isna().tolist() == [True] + [False] * (number - 1)
    assert steps['state'].tolist()[1:] == steps['next'].tolist()[:-1]    # not rounded
    counted = Counter(steps.dropna().itertuples(index=False, name=None))
    assert {(state, action, after): times for state, action, after, times
            in recording.exploration.history.rows()} == Counter(
                each[1:4] for each in counted.elements())


def test_what_others_execute_or_prefer_does_not_move_the_robot() -> None:
    pytest.importorskip('pandas', reason='pandas is not installed')
    exploration = Exploration(settings_by_name(IDENTITY), 0)
    recording, simulator = Recording(exploration), Simulator(scenario.load('corridor'), 0)
    for _ in range(10):
        play(exploration, simulator.step, 10)
        exploration.prefer(7)
        exploration.observe_work(1, 1, 0)
    steps = recording.to_dataframe()
    assert steps['state'].tolist()[1:] == steps['next'].tolist()[:-1]


def test_what_was_decided_as_tables() -> None:
    pytest.importorskip('pandas', reason='pandas is not installed')
    recording, _ = recorded()
    exploration = recording.exploration
    events = recording.to_dataframe('events')
    assert events['text'].tolist() == [sentence(event.said) for event in exploration.events]
    assert events['step'].tolist() == [event.step for event in exploration.events]
    hypotheses, known = recording.to_dataframe('hypotheses'), exploration.hypothesis
    last = hypotheses[(hypotheses['round'] == known.round)
                      & (hypotheses['revision'] == known.revision)]
    assert last['state'].tolist() == list(known.targets)
    assert hypotheses['step'].tolist()[0] in events['step'].tolist()
    trust = recording.to_dataframe('trust')
    assert trust['state'].tolist() == [told.policy.target for told in exploration.trust()]
    assert {*trust['trust']} <= {'proven', 'certified', 'assumed', 'doubted'}
    with pytest.raises(InvalidValueError, match="table is 'rewards', expected one of steps, "):
        recording.to_dataframe('rewards')


def test_a_recording_that_has_heard_nothing_has_empty_tables() -> None:
    pytest.importorskip('pandas', reason='pandas is not installed')
    recording = Recording(Exploration(settings_by_name(IDENTITY), 0))
    for table in ('steps', 'events', 'hypotheses'):
        frame = recording.to_dataframe(table)
        assert len(frame) == 0 and len(frame.columns) > 2


@pytest.mark.parametrize(('library', 'call'), [
    ('pandas', lambda recording: recording.to_dataframe()),
    ('minari', lambda recording: recording.to_minari('test/corridor-v0'))])
def test_what_is_not_installed_is_named(
        library: str, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ExportError, match=f'{library} cannot be imported: in the clone'):
        call(recorded(20)[0])


@pytest.fixture(scope='module')
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a transition log of the same exploration, beside what the robot side has said."""
    path = tmp_path_factory.mktemp('kept') / 'explorer.log.sqlite'
    kept = InputLog.create(path, IDENTITY, None)
    kept.append(recorded()[0].inputs)
    kept.close()
    path.with_name('explorer.robot_side.json').write_text(CORRIDOR.to_text(), encoding='utf-8')
    return path


@pytest.fixture(scope='module')
def again(log: Path) -> Recording:
    """Return what the log was recorded as."""
    return Recording.load(log)


@pytest.fixture(scope='module')
def contents(log: Path) -> dict[bool, ExportContents]:
    """Return what formats are written from, by whether they are of all steps one by one."""
    return {all_steps: read(log, all_steps) for all_steps in (False, True)}


def test_a_log_is_recorded_as_if_it_happened_again(
        log: Path, again: Recording, tmp_path: Path) -> None:
    first = recorded()[0]
    assert again.inputs == first.inputs and again.events == first.events
    assert again.hypotheses == first.hypotheses and len(first.hypotheses) > 0
    assert again.identity['seed'] == 0 and again.first == 0
    damaged = tmp_path / log.name
    damaged.write_bytes(log.read_bytes()[:5000])
    with pytest.raises(CheckpointError, match='cannot be read|damaged'):
        Recording.load(damaged)


@pytest.mark.parametrize('name', FORMATS)
def test_in_memory_it_is_written_as_from_a_file(
        name: str, log: Path, again: Recording, contents: dict[bool, ExportContents]) -> None:
    if name == 'log-mcap':
        pytest.importorskip('mcap_ros2', reason='mcap-ros2-support is not installed')
    if name == 'graphml':
        pytest.importorskip('networkx', reason='networkx is not installed')
    from_file = named(name).write(contents[FORMATS[name].log])
    written = export_as(again, name, CORRIDOR)
    assert written.replace(b'an exploration', str(log).encode()) == from_file


def test_formats_of_all_steps_need_a_recording() -> None:
    recording, played = recorded(50)
    rows = list(csv.DictReader(io.StringIO(export_as(recording, 'log-csv').decode())))
    assert [int(row['action']) for row in rows if row['kind'] == 'observed'] == [
        action for action, _ in played]
    assert json.loads(export_as(recording.exploration, 'json'))['actions'] is None
    with pytest.raises(ExportError, match='log-csv is of all steps one by one, expected a Rec'):
        export_as(recording.exploration, 'log-csv')
    with pytest.raises(InvalidValueError, match="'parquet'"):
        export_as(recording, 'parquet')


def test_a_data_set_for_minari(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip('minari', reason='minari is not installed')
    monkeypatch.setenv('MINARI_DATASETS_PATH', str(tmp_path))
    recording, played = recorded(strength(150, STEPS), away=10)
    made = recording.to_minari('test/corridor-v0', algorithm_name='MNM')
    kept = minari.load_dataset('test/corridor-v0')
    assert kept.total_episodes == made.total_episodes > 10
    assert kept.action_space.n == 2 and kept.observation_space.start == 10
    steps = []
    for episode in kept.iterate_episodes():
        assert episode.observations[0] == 10    # home
        assert episode.truncations.tolist() == [False] * (len(episode.actions) - 1) + [True]
        assert not episode.terminations.any() and not episode.rewards.any()
        assert all(kept.observation_space.contains(state) for state in episode.observations)
        steps += zip(episode.actions.tolist(), episode.observations.tolist()[1:])
    assert steps == [each for each in played if each[0] != RESET]


def test_an_episode_ends_where_the_robot_is_moved_or_lost(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip('minari', reason='minari is not installed')
    monkeypatch.setenv('MINARI_DATASETS_PATH', str(tmp_path))
    exploration = Exploration(settings_by_name(IDENTITY), 0)
    recording = Recording(exploration)
    with pytest.raises(ExportError, match='no step was recorded but RESETs'):
        recording.to_minari('test/nothing-v0')
    simulator = Simulator(scenario.load('corridor'), 0)
    moves = strength(25, 100)
    for _ in range(moves):
        play(exploration, simulator.step, 1)
        while exploration.next_action() == RESET:
            play(exploration, simulator.step, 1)
        play(exploration, simulator.step, 1)
        exploration.relocate(3)
    made = recording.to_minari('test/moved-v0')
    assert made.total_episodes >= moves
    assert all(episode.observations[0] == 0 for episode in made.iterate_episodes())
    assert minari.load_dataset('test/moved-v0').total_steps == made.total_steps
