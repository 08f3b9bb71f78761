# SPDX-License-Identifier: Apache-2.0

"""The one call that explores, and what its result answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
import re
import signal
import subprocess
import sys
from typing import Any

from mnm_ros.core.errors import (
    ExportError,
    InvalidTypeError,
    InvalidValueError,
    UnknownStateError,
)
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
import numpy as np
import pytest
from tiers import strength

CORRIDOR = load('corridor')
BROKEN_OFF = strength(60, 300)    # the step in which Ctrl-C is typed


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
    assert again.exploration.mnm.support.declared == result.exploration.mnm.support.declared


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
    (abs, {}, 'actions is None, expected the names'),
    (lambda: 0, {'actions': 2}, 'robot is <function .*, expected .* a function of one argument'),
    (Simulator, {}, r'robot is the class Simulator, .* call Simulator\(\)'),
    *((abs, {'actions': 2, 'steps': steps}, 'steps is .*, expected an int, at least 1, or None')
      for steps in (0, '100', float('nan'), 1.5, True)),
    *((abs, {'actions': 2, 'seed': seed}, 'seed is .*, expected an int, at least 0')
      for seed in (-1, 1.5, 'a', None, True)),
    *((abs, {'actions': actions}, 'actions is .*, expected the names .* 1 to 1000')
      for actions in (2.0, 'forward', True, {'a': 1}, {'a'}, 0, -1, 10**9)),
    (abs, {'actions': []}, 'actions is empty, expected at least one name'),
    (abs, {'actions': ['a', 3]}, r'actions\[1\] is 3'),
    (abs, {'actions': ['a', 'a']}, 'actions has "a" twice, expected distinct names'),
    (abs, {'actions': 2, 'declared': {}}, r'declared is {}, expected a Declaration, or None'),
    (abs, {'actions': 2, 'overrides': ['horizon']}, 'overrides is .*, expected a mapping'),
    (abs, {'actions': 2, 'overrides': {'horizon': None}}, 'horizon is None, expected a number'),
    (abs, {'actions': 2, 'preset': []}, r'preset is \[\], expected one of'),
    (abs, {'actions': 2, 'discretize': abs}, 'discretize is given with a function'),
    (abs, {'actions': 2, 'radius': 0.5}, 'radius is 0.5'),
    (abs, {'actions': 2, 'overrides': {'look': 1}}, "unknown option 'look'")])
def test_what_is_not_allowed_is_refused(robot: Any, more: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidValueError, match=expected):
        explore(robot, **more)


def ring(reset: Any = (0, {}), answer: Any = None, observation: Any = 0) -> Any:
    """Return an environment of eight states with some answers of its own."""
    gymnasium = pytest.importorskip('gymnasium', reason='gymnasium is not installed')

    class Ring(gymnasium.Env):    # type: ignore[misc, name-defined]
        action_space = gymnasium.spaces.Discrete(2, start=5)
        observation_space = gymnasium.spaces.Discrete(8)

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            return reset

        def step(self, action: int) -> Any:
            assert action in (5, 6)
            return (observation, 0.0, False, False, {}) if answer is None else answer

    return Ring()


@pytest.mark.parametrize(('answers', 'more', 'expected'), [
    *(({'observation': seen}, {}, rf'observation after action \d is {re.escape(repr(seen))}, '
       r'expected a state of Discrete\(8\)') for seen in (1.5, 99, -1, 10**30, 'x', None, True)),
    ({'reset': (9, {})}, {}, 'observation after RESET is 9, expected a state of'),
    ({'reset': 0}, {}, r'env.reset returned 0, expected \(observation, info\)'),
    ({'answer': (0, 0.0, False, {})}, {}, 'env.step returned .*, expected .observation, reward'),
    ({}, {'discretize': 3}, r'discretize is 3, expected .* discretize\(observation, over, env\)'),
    ({}, {'discretize': lambda seen: 0}, r'discretize is .*, expected .*\(observation, over, env'),
    ({}, {'discretize': lambda *seen: 1.5}, 'what discretize returned for 0 is 1.5, expected')])
def test_an_environment_that_answers_otherwise_is_refused(
        answers: dict[str, Any], more: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidValueError, match=expected):
        explore(ring(**answers), 50, progress=False, **more)


@pytest.mark.parametrize('name', ['reset', 'step', 'spec', 'unwrapped'])
def test_an_environment_without_a_method_is_refused(name: str) -> None:
    env = ring()
    spaces = {'action_space': env.action_space, 'observation_space': env.observation_space}
    parts = {each: None for each in ('reset', 'step', 'spec', 'unwrapped') if each != name}
    with pytest.raises(InvalidValueError, match=f'has no {name}, expected an environment'):
        explore(type('Part', (), {**spaces, **parts})(), 5, progress=False)


def test_integers_of_numpy_are_taken() -> None:
    result = explore(Simulator(CORRIDOR, 0).step, np.int64(5), actions=np.int64(2),
                     seed=np.int64(3), progress=False)
    assert result.exploration.steps == 5 and result.identity['actions'] == ['a0', 'a1']
    assert type(result.identity['seed']) is int


@pytest.mark.parametrize('observation', ['x', None, 1.7, {0: 1}, True, [[0], [0, 1]], [0.0]])
def test_observations_that_are_no_states_are_refused(observation: Any) -> None:
    with pytest.raises(InvalidTypeError, match='observation is .*, expected a state, or an array'):
        explored().predict(observation, target=2)


def test_the_action_in_an_unknown_state_is_a_reset() -> None:
    assert explored().predict(77, target=2) == (RESET, None)


def interrupted_at(step: int, interrupt: Callable[[], None]) -> Callable[[int], int]:
    """Return the corridor as a function that calls ``interrupt`` before one of its steps."""
    simulator, steps = Simulator(CORRIDOR, 0), 0

    def robot(action: int) -> int:
        nonlocal steps
        steps += 1
        if steps == step:
            interrupt()
        return simulator.step(action)

    return robot


def ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


def by_hand() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize('interrupt', [ctrl_c, by_hand])
def test_ctrl_c_in_a_step_returns_the_result_so_far(
        interrupt: Callable[[], None], tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = explore(
            interrupted_at(BROKEN_OFF, interrupt), actions=2, radius=9.0, progress=False)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.exploration.steps == BROKEN_OFF - 1 and result.exploration.next_action() == RESET
    result.save(tmp_path / 'broken_off.log.sqlite')
    assert Recording.load(tmp_path / 'broken_off.log.sqlite').inputs == result.inputs


def test_ctrl_c_in_a_computation_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    observe, taken = Exploration.observe, []

    def observed(self: Exploration, action: int, state: int, robot: str = '') -> Any:
        if self.steps == 20:
            ctrl_c()
        taken.append(state)
        return observe(self, action, state, robot)

    monkeypatch.setattr(Exploration, 'observe', observed)
    try:
        result = explore(Simulator(CORRIDOR, 0).step, actions=2, radius=9.0, progress=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.exploration.steps == len(taken) == len(result.inputs) == 21


def test_other_errors_of_the_robot_pass_through() -> None:
    def fails() -> None:
        raise LookupError('no battery')

    with pytest.raises(LookupError, match='no battery'):
        explore(interrupted_at(5, fails), actions=2, progress=False)


def test_a_reset_that_never_leads_home_is_an_error() -> None:
    answers = iter([1])
    with pytest.raises(InvalidValueError, match=(
            'RESET missed home 10 times in a row and ended in state 7, expected home, state 1')):
        explore(lambda action: next(answers, 7), actions=2, progress=False)


BASES = """
from mnm_ros.core.components import BASES


def own(settings, home, rng, policies=()):
    return BASES['disco'](settings, home, rng, policies)


def none(settings, home, rng, policies=()):
    return 3
"""


def test_a_file_of_an_own_base_is_loaded_in_a_new_process(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'own_bases.py').write_text(BASES)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / 'own.log.sqlite'
    explore(Simulator(CORRIDOR, 0).step, 40, actions=2, radius=2.0,
            overrides={'base': 'own_bases:own'}, progress=False).save(path)
    read = f"""
import sys
from mnm_ros.export.recording import Recording
sys.path.insert(0, {str(tmp_path)!r})
for given in {{}}, {{'base': 'own_bases:missing'}}, {{'base': 'own_bases:own'}}:
    try:
        print(Recording.load({str(path)!r}, **given).exploration.steps)
    except Exception as error:
        print(f'{{type(error).__name__}}: {{error}}')
"""
    done = subprocess.run(
        [sys.executable, '-c', read], capture_output=True, text=True, check=True)
    without, missing, steps = done.stdout.splitlines()
    assert "--base own_bases:own, or base='own_bases:own' of Recording.load" in without
    assert missing.startswith("InvalidValueError: base is 'own_bases:missing', expected a module")
    assert steps == '40'


def test_a_base_that_makes_no_base_is_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'bad_bases.py').write_text(BASES)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InvalidTypeError, match=(
            'base bad_bases:none has returned 3, expected a BaseAlgorithm')):
        explore(Simulator(CORRIDOR, 0).step, 40, actions=2,
                overrides={'base': 'bad_bases:none'}, progress=False)
