# SPDX-License-Identifier: Apache-2.0

"""The one call that explores, and what its result answers."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
import re
from typing import Any

from mnm_ros.core.errors import ExportError, InvalidValueError, UnknownStateError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.task.step_task import play
from mnm_ros.export import contents
from mnm_ros.export.recording import Recording
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.explore import explore
import pytest

CORRIDOR = load('corridor')


@lru_cache(maxsize=None)
def explored() -> Recording:
    return explore(Simulator(CORRIDOR, 0).step, 400, actions=CORRIDOR.actions, radius=2.0,
                   overrides={'look_again': 0.05}, progress=False)


def test_the_known_states_have_policies_that_keep_the_promise() -> None:
    result = explored()
    assert result.exploration.steps == 400 and result.known == (0, 1, 2)
    assert [*result.policies] == [0, 1, 2] and result.policies[2].target == 2
    assert judge(CORRIDOR.settings[0].cmp, result.exploration.hypothesis, 2.0, 1.0).ok


def test_it_predicts_the_way_to_a_known_state() -> None:
    result, robot = explored(), Simulator(CORRIDOR, 7)
    state, action = robot.step(RESET), 0
    for _ in range(20):
        action, after = result.predict(state, target=2)
        state = robot.step(action)
        if state == 2:
            break
    assert state == 2 and after is None
    assert [*result.predict([0, 1], 2, episode_start=[True, False])[0]] == [0, 0]
    with pytest.raises(UnknownStateError, match='state 9 has no policy, expected one of'):
        result.predict(0, target=9)


def test_without_a_number_of_steps_it_stops_at_the_first_hypothesis() -> None:
    result = explore(Simulator(CORRIDOR, 0).step, actions=2, radius=2.0, progress=False)
    (step, hypothesis), = result.hypotheses
    assert step == result.exploration.steps and hypothesis.targets == result.known
    assert result.identity['actions'] == ['a0', 'a1']


def test_nothing_is_known_before_the_first_hypothesis() -> None:
    result = explore(Simulator(CORRIDOR, 0).step, 1, actions=2, progress=False)
    assert result.known == () and result.policies == {}
    with pytest.raises(UnknownStateError, match='nothing is known yet, expected more steps'):
        result.predict(0, target=0)


def test_what_is_saved_is_loaded_and_goes_on_alike(tmp_path: Path) -> None:
    result, path = explored(), tmp_path / 'corridor.log.sqlite'
    for _ in range(2):    # the second replaces the first
        result.save(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert contents.read(path, log=True).knowledge.known == result.known
    again, other = Recording.load(path), Recording.load(path)
    assert again.identity == result.identity and again.identity['look_again'] == 0.05
    assert again.inputs == result.inputs and again.policies == result.policies
    for each in (again, other):
        play(each.exploration, Simulator(CORRIDOR, 3).step, 50)
    assert again.inputs == other.inputs and len(again.inputs) == 450
    again.save(path)
    assert Recording.load(path).exploration.steps == 450


def test_what_is_declared_saves_steps_and_is_saved(tmp_path: Path) -> None:
    declared = Declaration({state: tuple(tuple({state, end}) for end in (
        min(state + 1, 3), max(state - 1, 0))) for state in range(4)})
    without, result = (explore(Simulator(CORRIDOR, 0).step, actions=2, declared=each,
                               progress=False) for each in (None, declared))
    assert {*result.known} == {0, 1, 2, 3} == {*without.known}
    assert result.exploration.steps < without.exploration.steps / 2
    result.save(tmp_path / 'corridor.log.sqlite')
    again = Recording.load(tmp_path / 'corridor.log.sqlite')
    assert again.exploration.support.declared == result.exploration.support.declared


def test_what_was_learnt_before_the_recording_cannot_be_saved(tmp_path: Path) -> None:
    exploration = Exploration(explored().exploration.settings)
    play(exploration, Simulator(CORRIDOR, 0).step, 1)
    with pytest.raises(ExportError, match='expected one that began with the exploration'):
        Recording(exploration).save(tmp_path / 'late.log.sqlite')
    assert [*tmp_path.iterdir()] == []


def test_a_bar_shows_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    explore(Simulator(CORRIDOR, 0).step, 30, actions=2)
    shown = capsys.readouterr()
    assert shown.out == ''
    assert re.search(r'30/30 steps, 0 states known, \d candidates', shown.err)


def test_an_environment_of_gymnasium_names_its_actions() -> None:
    gymnasium = pytest.importorskip('gymnasium', reason='gymnasium is not installed')
    env = gymnasium.make('FrozenLake-v1', is_slippery=False)
    result = explore(env, 20, seed=3, progress=False)
    assert result.identity['actions'] == ['left', 'down', 'right', 'up']
    assert result.exploration.home == 0 and result.exploration.seed == 3
    with pytest.raises(InvalidValueError, match='actions is 4, expected None'):
        explore(env, 20, actions=4)
    seen = explore(env, 5, discretize=lambda seen, over, env: 7, progress=False)
    assert seen.exploration.home == 7


@pytest.mark.parametrize(('robot', 'more', 'expected'), [
    (3, {}, 'robot is 3, expected an environment of Gymnasium or a function'),
    (abs, {}, 'actions is None, expected the number or the names'),
    (abs, {'actions': 0}, r'actions is \[\], expected the number'),
    (abs, {'actions': 2, 'steps': 0}, 'steps is 0, expected at least 1, or None'),
    (abs, {'actions': 2, 'discretize': abs}, 'discretize is given with a function'),
    (abs, {'actions': 2, 'radius': 0.5}, 'radius is 0.5'),
    (abs, {'actions': 2, 'overrides': {'look': 1}}, "unknown option 'look'")])
def test_what_is_not_allowed_is_refused(robot: Any, more: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidValueError, match=expected):
        explore(robot, **more)
