# SPDX-License-Identifier: Apache-2.0

"""The scenes of a log are those that were to be seen when it was written."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
import sqlite3

from mnm_ros.checkpoint import event_log, world_log
from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.checkpoint.world_log import World
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.knowledge.knowledge import nested
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import OPTIONS, settings
from mnm_ros.core.progress.events import Event
from mnm_ros.robot_description import beside, KEPT, RobotDescription
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.trial.scenes import Scenes
from mnm_ros.view.telemetry import Telemetry
import pytest

STEPS = 600
NOON = 1_800_000_000.0


@pytest.fixture(scope='module')
def explored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Exploration]:
    """Explore a corridor, and keep the log."""
    scenario = load('corridor')
    simulator = Simulator(scenario, 1)
    exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1), 'onboard'), 3)
    inputs = []
    while exploration.steps < STEPS:
        action = exploration.next_action()
        inputs.append(exploration.observe(action, simulator.step(action)).input)
    path = tmp_path_factory.mktemp('log') / 'explorer.log.sqlite'
    log = InputLog.create(path, {
        'actions': list(scenario.actions), 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', 'seed': 3, 'version': '0.1.0',
        **{option.name: option.default for option in OPTIONS}}, None)
    log.append(inputs)
    log.close()
    return path, exploration


def played(path: Path, most: int = 10**6) -> list[tuple[Telemetry, Hypothesis | None]]:
    found: list[tuple[Telemetry, Hypothesis | None]] = []
    Scenes(path).play(lambda *scene: found.append(scene), lambda: len(found) >= most)
    return found


def test_they_lead_from_the_first_step_to_what_was_known_at_the_end(
        explored: tuple[Path, Exploration]) -> None:
    path, exploration = explored
    scenes = played(path)
    assert 150 <= len(scenes) <= 200
    steps = [heard.steps for heard, _ in scenes]
    assert steps[0] == 1 and steps[-1] == STEPS and steps == sorted(steps)
    assert max(after - before for before, after in zip(steps, steps[1:])) <= STEPS // 150
    (first, none), (last, hypothesis) = scenes[0], scenes[-1]
    assert first.known == () and none is None and first.phase.startswith('building')
    assert hypothesis == exploration.hypothesis and last.known == hypothesis.targets
    assert last.counts == nested(exploration.history.rows())
    assert last.count('changes_noticed') == 0 and last.activity.home == exploration.home
    # Every decision has a scene of its own, which tells of it last.
    decided = [heard.events[-1].step for heard, _ in scenes if (
        heard.events and heard.events[-1].step == heard.steps)]
    assert len(last.events) >= 2 and {event.step for event in last.events} <= {*decided}


def test_what_was_kept_beside_it_has_its_times(explored: tuple[Path, Exploration],
                                               tmp_path: Path) -> None:
    source, _ = explored
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes())
    kept = [Event(200, 'paused by hand', 'pause', time=NOON),
            Event(500, 'going on', 'pause', time=NOON + 60)]
    (tmp_path / f'explorer{event_log.KEPT}').write_text(
        ''.join(f'{event.to_json()}\n' for event in kept))
    for heard, _ in played(path):
        assert [event for event in heard.events if event.time] == [
            event for event in kept if event.step <= heard.steps]
        assert all(event.time or event.step < 200 for event in heard.events)


def test_nothing_yet_is_a_scene_too(
        explored: tuple[Path, Exploration], tmp_path: Path) -> None:
    path = tmp_path / 'explorer.log.sqlite'
    path.write_bytes(explored[0].read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute('DELETE FROM inputs')
    (heard, none), = played(path)
    assert heard.count('steps') == 0 and none is None


def test_it_ends_when_it_is_not_wanted_any_more(explored: tuple[Path, Exploration]) -> None:
    path, _ = explored
    assert 1 <= len(played(path, most=1)) < 150


def test_what_cannot_be_played_is_refused(tmp_path: Path,
                                          explored: tuple[Path, Exploration]) -> None:
    path = tmp_path / 'explorer.log.sqlite'
    with pytest.raises((CheckpointError, OSError), match='explorer.log.sqlite'):
        Scenes(path)
    path.write_bytes(b'no log')
    with pytest.raises(CheckpointError, match='explorer.log.sqlite'):
        Scenes(path)


def test_walls_and_names_are_those_of_then(explored: tuple[Path, Exploration]) -> None:
    path, _ = explored
    here = {state: (float(state), 0.0) for state in range(4)}
    worlds = [RobotDescription(('east', 'west'), 0, 'map', names, here, walls)
              for names, walls in (({1: 'porch'}, ()), ({2: 'hall'}, ((1.5, -1.0, 1.5, 1.0),)))]
    kept = beside(path, world_log.KEPT)
    for step, world in zip((1, 300), worlds):
        world_log.append(kept, World(step, world.to_text()))
    beside(path, KEPT).write_text(worlds[1].to_text(), encoding='utf-8')
    try:
        scenes = [heard for heard, _ in played(path)]
    finally:
        kept.unlink()
        beside(path, KEPT).unlink()
    assert {(heard.steps >= 300, heard.description.walls, heard.description.names.get(1))
            for heard in scenes} == {(False, (), 'porch'), (True, worlds[1].walls, None)}
    assert all(heard.description.names[2] == 'hall' for heard in scenes)    # no name before
    assert len({id(heard.description) for heard in scenes}) == 2
