# SPDX-License-Identifier: Apache-2.0

"""A checkpoint of an earlier version is gone on from, or set aside with the reason."""

from __future__ import annotations

import json
from pathlib import Path
import sqlite3
from typing import Any

from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import (
    DeclarationInput,
    ImproveInput,
    Interruption,
    LookInput,
    Observation,
    Preference,
    Relocation,
    TimesInput,
    Update,
    WorkObservation,
)
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.step_times import StepTimes
from mnm_ros.core.presets import OPTIONS, settings, settings_by_name
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest

DUMP = Path(__file__).with_name('data') / 'corridor_0_1_0.sql'
EAST, WEST = 0, 1
LATER = {'look_again': 0.0, 'planner': '', 'detector': ''}
"""Options that were added since, as nobody asks for them."""
KNOWN = (0, 1, 2, 3)
HYPOTHESIS = Hypothesis(1, 0, 12, tuple(
    Policy(target, 12, KNOWN, (tuple(EAST if state < target else RESET for state in KNOWN),))
    for target in KNOWN))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file that was written before."""
    path = tmp_path / 'explorer.00000002.sqlite'
    with sqlite3.connect(path) as database:
        database.executescript(DUMP.read_text(encoding='utf-8'))
    database.close()
    return path


def rebuild(saved: SavedInputs) -> Exploration:
    exploration = Exploration(settings_by_name(saved.identity), saved.identity['seed'],
                              saved.point)
    saved.replay(exploration)
    return exploration


def asked_for(path: Path, **different: Any) -> dict[str, Any]:
    return {**SavedInputs(path).identity, **different}


def test_it_is_what_is_asked_for_today(path: Path) -> None:
    """A parameter that was renamed, added or removed would have every checkpoint set aside."""
    assert {*asked_for(path), *LATER} == {
        'version', 'actions', 'radius', 'epsilon', 'delta', 'preset', 'seed',
        *(option.name for option in OPTIONS)}
    assert {option.name: option.default for option in OPTIONS if option.name not in LATER}.items(
        ) <= asked_for(path).items()


def test_it_is_loaded_and_gone_on_from(path: Path) -> None:
    store = Store(path.parent, 'explorer', asked_for(path, **LATER))
    loaded = store.load(rebuild)
    assert loaded is not None and store.refusals == [] and store.path == path
    saved, exploration = loaded
    assert {type(made) for made in saved.inputs} == {Observation, Relocation, Interruption}
    assert saved.point is not None
    checking = saved.point['mnm']['checking']
    assert checking['policies']['detectors'] and checking['transitions']['detectors']
    assert (saved.number, len(saved.inputs), exploration.steps) == (2243, 154, 2241)
    assert exploration.status == 'round 1: 4 states known, now checking'
    assert exploration.hypothesis == HYPOTHESIS
    assert (exploration.last_state, exploration.next_action()) == (3, WEST)
    store.append(Update(Interruption()))
    assert store.flush()
    store.close()
    again = SavedInputs(path)
    assert again.number == 2244 and rebuild(again).next_action() == RESET


def test_what_was_withdrawn_of_a_declaration_stays_so_until_it_is_declared_again() -> None:
    """A resume point in the middle of a run, of ``grid_3x3`` with no move said to slip."""
    point = json.loads(DUMP.with_name('declared_0_1_0.json').read_text(encoding='utf-8'))
    withdrawn = [tuple(pair) for pair in point['mnm']['support']['withdrawn']]
    exploration = Exploration(settings(Problem(4, 3.0, 1.0, 0.1)), 3, point)
    simulator = Simulator(load('grid_3x3'), 3)
    exploration.lose_place()

    def explore(steps: int) -> list[str]:
        for _ in range(steps):
            action = exploration.next_action()
            exploration.observe(action, simulator.step(action))
        return [event.text for event in exploration.events if 'declared was' in event.text]
    assert withdrawn and all(exploration.support.ends(*pair) is None for pair in withdrawn)
    assert all('withdrawn' in text for text in explore(600))
    declared = exploration.support.declared
    assert exploration.declare(declared) is not None    # as the robot side says it again
    assert all(exploration.support.ends(*pair) for pair in withdrawn)
    told = explore(1500)
    assert exploration.hypothesis is not None and exploration.hypothesis.targets
    assert len({*told}) == len(told)


def test_a_file_has_the_rows_that_it_has_always_had(tmp_path: Path) -> None:
    """As the version 0.1.0 has written them, and as any other program reads them."""
    inputs = [
        Observation(RESET, 7), Observation(1, -3, 'deck/r2'), Relocation(5), Relocation(5, RESET),
        Relocation(5, 1), Interruption(), Interruption(RESET, 'r1'), Interruption(0),
        DeclarationInput(Declaration({7: ((7,), (8, 9))}, audit=0.01)),
        DeclarationInput(Declaration(), RESET)]
    log = InputLog.create(tmp_path / 'log.sqlite', {}, None)
    log.append(inputs)
    log.close()
    with sqlite3.connect(log.path) as database:
        rows = database.execute('SELECT * FROM inputs ORDER BY number').fetchall()
        robots = database.execute('SELECT * FROM robots ORDER BY number').fetchall()
    database.close()
    assert [row[:-1] for row in rows] == [
        (1, 0, 7, -1), (2, 0, -3, 1), (3, 1, 5, -1), (4, 1, 5, -2), (5, 1, 5, 1), (6, 2, 0, -1),
        (7, 2, 0, -2), (8, 2, 0, 0), (9, 3, 202426208, -1), (10, 3, 2745614147, -2)]
    assert rows[-1][-1] == 125452915
    assert robots == [
        (2, 'deck/r2'), (7, 'r1'), (9, '{"successors": {"7": [[7], [8, 9]]}, "audit": 0.01}'),
        (10, '{}')]
    assert SavedInputs(log.path).inputs == inputs


def test_what_others_have_had_executed_is_kept_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    inputs = [WorkObservation(-3, 1, 2**40), WorkObservation(5, 0, None, RESET),
              WorkObservation(5, 0, 5, 2, 'deck/r2'), Preference(-3), Preference(7, 1),
              TimesInput(StepTimes({RESET: 20.5, 0: 3.0}, {(-3, RESET): 11.0}), RESET),
              LookInput(), LookInput(-3, 2, RESET), LookInput(None, RESET, 1),
              ImproveInput(2**40, 0.05, RESET)]
    log = InputLog.create(tmp_path / 'log.sqlite', {}, None)
    log.append(inputs)
    log.close()
    assert SavedInputs(log.path).inputs == inputs
    with sqlite3.connect(log.path) as database:
        assert database.execute('SELECT kind, action FROM inputs').fetchall() == [
            (4, -1), (4, -2), (4, 2), (5, -1), (5, 1), (6, -2), (7, -1), (7, -2), (7, 1), (8, -2)]
        database.execute("UPDATE robots SET robot = replace(robot, '-3', '-4')")
    database.close()
    with pytest.raises(CheckpointError, match='has CRC-32'):
        SavedInputs(log.path)


@pytest.mark.parametrize(('name', 'before'), [('checks', 'binomial'), ('optimism', 'none')])
def test_a_choice_that_no_longer_exists(path: Path, name: str, before: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'identity'",
                         (json.dumps(asked_for(path, **{name: before}), sort_keys=True),))
    database.close()
    content = path.read_bytes()
    store = Store(path.parent, 'explorer', asked_for(path, **{name: ''}))
    assert store.load(rebuild) is None
    refusal, = store.refusals
    assert f"{path} is for {name} '{before}', expected ''; kept as {path.name}.aside.1" == refusal
    assert path.with_name(f'{path.name}.aside.1').read_bytes() == content
    store.close()
