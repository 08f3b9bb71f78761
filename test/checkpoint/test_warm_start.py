# SPDX-License-Identifier: Apache-2.0

"""A transition log starts another exploration of the same world, and the promise is kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from binomial import binomial_tail
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.warm_start import recalled, recollect, warm_start
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Interruption
from mnm_ros.core.mnm.base import Recollection
from mnm_ros.core.presets import OPTIONS, settings_by_name
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from tiers import strength

WHEEL = load('broken_wheel')
DELTA = strength(0.5, 0.1)
RUNS = strength(5, 29)


def identity(radius: float, seed: int = 1, **options: object) -> dict:
    return {'version': '0.1.0', 'actions': list(WHEEL.actions), 'radius': radius, 'epsilon': 1.0,
            'delta': DELTA, 'preset': 'onboard', 'seed': seed,
            **{option.name: option.default for option in OPTIONS}, **options}


def begun_log(asked: dict) -> SavedInputs:
    """Return a log without inputs, to which some are added in memory."""
    with TemporaryDirectory() as folder:
        InputLog.create(Path(folder, 'log'), asked, None).close()
        return SavedInputs(Path(folder, 'log'))


def explored(radius: float, seed: int, remembered: Recollection | None = None,
             ) -> tuple[Exploration, SavedInputs]:
    """Explore to the first hypothesis."""
    asked = identity(radius, seed)
    exploration = Exploration(settings_by_name(asked), seed, recollection=remembered)
    robot, log = Simulator(WHEEL, seed), begun_log(asked)
    exploration.listeners.append(lambda taken: log.inputs.append(taken.input))
    while exploration.hypothesis is None:
        action = exploration.next_action()
        exploration.observe(action, robot.step(action))
    return exploration, log


@lru_cache(maxsize=None)
def kept(seed: int) -> SavedInputs:
    """Return the log of an exploration to the first hypothesis, for tests that only read it."""
    return explored(strength(1.0, 2.0), seed)[1]


def remembered(log: SavedInputs) -> Recollection:
    return Recollection(0, tuple(
        (before.state, each.action, each.state)
        for before, each in zip(log.inputs, log.inputs[1:]) if each.action >= 0))


def test_the_promise_is_kept_and_steps_are_saved() -> None:
    """
    Of first hypotheses after a warm start, no more are wrong than delta allows.

    If delta of the runs or more were wrong, so few would be with probability 0.05 at most. None
    is of 29 at delta 0.1, or of 5 at delta 0.5.
    A log of a smaller radius spares few of 290 steps, one of the same radius half of them.
    """
    wrong = warm = cold = 0
    for seed in range(RUNS):
        log = remembered(explored(1.0, seed)[1])
        after, _ = explored(2.0, 1000 + seed, log)
        wrong += not judge(WHEEL.settings[0].cmp, after.hypothesis, 2.0, 1.0).ok
        if seed < strength(1, 3):
            assert 'warm start with' in sentence(after.events[1].said)
            _, other = explored(2.0, seed)
            assert recollect(other) == remembered(other)
            warm += explored(2.0, 1000 + seed, remembered(other))[0].steps
            cold += explored(2.0, 1000 + seed)[0].steps
    assert 1 - binomial_tail(RUNS, DELTA, wrong + 1) <= 0.05
    assert warm < 0.7 * cold


def written(path: Path, log: SavedInputs) -> Path:
    made = InputLog.create(path, log.identity, None)
    made.append(log.inputs)
    made.close()
    return path


def test_it_is_part_of_what_an_exploration_was_asked_for(tmp_path: Path) -> None:
    """So that a replay begins with the same steps, and a log that has changed is refused."""
    radius = strength(2.0, 3.0)
    path = written(tmp_path / 'a.log.sqlite', kept(1))
    asked = identity(radius, 2)
    found, used = warm_start(path, asked)
    exploration, log = explored(radius, 2, found)
    log.identity['warm_start'] = used
    second = written(tmp_path / 'b.log.sqlite', log)
    again = SavedInputs(second)
    replayed = Exploration(settings_by_name(again.identity), 2,
                           recollection=recalled(again.identity))
    again.replay(replayed)
    assert replayed.hypothesis == exploration.hypothesis and recalled(asked) is None
    assert recollect(again).steps
    path.unlink()
    with pytest.raises(CheckpointError, match='a.log.sqlite cannot be read'):
        recalled(again.identity)
    written(path, kept(3))
    with pytest.raises(CheckpointError, match='has changed since'):
        recalled(again.identity)


def test_what_is_taken() -> None:
    """Steps without RESETs, broken-off ones as such, and none from before a change noticed."""
    asked = identity(strength(2.0, 3.0))
    exploration = Exploration(settings_by_name(asked), 1)
    log, robot = begun_log(asked), Simulator(WHEEL, 1)
    exploration.listeners.append(lambda taken: log.inputs.append(taken.input))
    noticed = 0
    while not noticed:
        if exploration.hypothesis is not None and robot.setting == 0:
            robot.change()
        action = exploration.next_action()
        exploration.observe(action, robot.step(action))
        noticed = exploration.changes_noticed
    with pytest.raises(CheckpointError, match='no step that could be taken'):
        recollect(log)
    while exploration.next_action() < 0:
        exploration.observe(-1, robot.step(-1))
    here, action = exploration.last_state, exploration.next_action()
    exploration.lose_place()
    taken = recollect(log)
    assert taken.steps[-1] == (here, action, None)
    assert taken.home == 0 and len(taken.steps) < 10
    assert log.inputs[-1] == Interruption(action)
    for after in (0, None):    # at work, wherever the exploration takes the robot to be
        exploration.next_action()
        exploration.observe_work(3, 1, after)
    assert recollect(log).steps[-2:] == ((3, 1, 0), (3, 1, None))


def test_an_interruption_between_two_steps_breaks_off_none() -> None:
    asked = identity(2.0)
    exploration, log, robot = Exploration(settings_by_name(asked), 1), begun_log(asked), Simulator(
        WHEEL, 1)
    exploration.listeners.append(lambda taken: log.inputs.append(taken.input))
    while exploration.steps < 9:
        action = exploration.next_action()
        exploration.observe(action, robot.step(action))
    steps = recollect(log).steps
    exploration.lose_place()
    assert log.inputs[-1] == Interruption(None) and recollect(log).steps == steps


def test_nothing_is_taken_from_before_a_second_change_that_belongs_to_the_first() -> None:
    """It is not counted, as the first is not relearnt yet, but it was noticed."""
    asked = identity(2.0)
    exploration = Exploration(settings_by_name(asked), 1)
    log, robot = begun_log(asked), Simulator(WHEEL, 1)
    exploration.listeners.append(lambda taken: log.inputs.append(taken.input))
    alarms: list[int] = []
    exploration.listeners.append(lambda taken: alarms.extend(
        event.step for event in taken.events if 'elsewhere' in sentence(event.said)))

    def go_on(until: Callable[[], object]) -> None:
        while not until():
            assert exploration.steps < 20_000
            action = exploration.next_action()
            exploration.observe(action, robot.step(action))

    go_on(lambda: exploration.steps == 400)
    robot.change()
    go_on(lambda: exploration.changes_noticed)
    noticed = exploration.steps
    go_on(lambda: exploration.steps == noticed + 200)    # so that there is something to contradict
    assert exploration.changes_noticed == 1 and exploration.changes_relearnt == 0
    robot.change()
    alarms.clear()
    go_on(lambda: alarms)
    go_on(lambda: exploration.steps == alarms[0] + 50)
    assert exploration.changes_noticed == 1 and exploration.changes_relearnt == 0
    assert 0 < len(recollect(log).steps) <= 50


@pytest.mark.parametrize('options, complaint', [
    ({'base': 'ucb_explore'}, 'the base ucb_explore cannot begin with a log'),
    ({'preset': 'paper'}, 'the base ucb_explore cannot begin with a log'),
    ({'actions': ['up', 'down']}, 'is for the actions')])
def test_what_cannot_be_proven_is_refused(
        tmp_path: Path, options: dict, complaint: str) -> None:
    path = written(tmp_path / 'a.log.sqlite', kept(1))
    with pytest.raises(CheckpointError, match=complaint):
        warm_start(path, identity(4.0, 1, **options))


def test_it_goes_on_from_any_point_as_if_nothing_had_happened() -> None:
    """In the middle of building, too, where the first stream is made again."""
    found = recollect(explored(1.0, 1)[1])
    asked = settings_by_name(identity(3.0))
    exploration, robot = Exploration(asked, 1, recollection=found), Simulator(WHEEL, 1)
    followers: list[Exploration] = []
    points, steps = strength(((0, 40), 200), ((0, 1, 40, 300), 400))
    for step in range(steps):
        action = exploration.next_action()
        assert all(each.next_action() == action for each in followers), step
        state = robot.step(action)
        for each in (exploration, *followers):
            each.observe(action, state)
        if step in points:
            point = json.loads(json.dumps(exploration.to_state()))
            followers.append(Exploration(asked, 1, resume=point, recollection=found))
            assert followers[-1].status != '' and not followers[-1].events
    for each in followers:
        assert each.diagnostics() == exploration.diagnostics()
        assert each.hypothesis == exploration.hypothesis


def test_with_another_home_it_begins_from_nothing() -> None:
    exploration = Exploration(
        settings_by_name(identity(2.0)), 1, recollection=Recollection(3, ((3, 0, 4),)))
    exploration.observe(-1, 0)
    assert 'no warm start: home was state 3' in sentence(exploration.status)
