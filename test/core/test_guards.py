# SPDX-License-Identifier: Apache-2.0

"""What comes into the core from elsewhere is refused by name and value, or taken as is meant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mnm_ros.core import (
    components,
    Exploration,
    Fleet,
    InvalidTypeError,
    InvalidValueError,
    Member,
    MnmError,
    play,
    Problem,
    RESET,
    settings,
    SnapshotError,
)
from mnm_ros.core.model.integers import as_state
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.gym_robot import GymRobot
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from scripted import ScriptedBase

PROBLEM = Problem(actions=2, radius=4.0, epsilon=1.0, delta=0.1)
BIG = 2**63


class Astray(ScriptedBase):
    """A base that asks for what there is not."""

    def __init__(self, wanted: Any) -> None:
        super().__init__(0)
        self.wanted = wanted

    def next_action(self) -> Any:
        return self.wanted


def astray(wanted: Any, monkeypatch: pytest.MonkeyPatch) -> Exploration:
    """Return an exploration that is at home, and whose base wants something."""
    monkeypatch.setitem(components.BASES, 'astray', lambda *_: Astray(wanted))
    exploration = Exploration(replace(settings(PROBLEM), base='astray'))
    exploration.observe(RESET, 0)
    return exploration


@pytest.mark.parametrize(('action', 'state', 'kind', 'text'), [
    (7, 3, InvalidValueError, r'action is 7, expected an int from -1 \(RESET\) to 1'),
    (-2, 3, InvalidValueError, 'action is -2, expected'),
    ('east', 3, InvalidTypeError, "action is 'east', expected"),
    (True, 3, InvalidTypeError, 'action is True, expected'),
    (RESET, 'kitchen', InvalidTypeError, "state is 'kitchen', expected a state, an int of 64"),
    (RESET, 2.0, InvalidTypeError, 'state is 2.0, expected a state'),
    (RESET, BIG, InvalidValueError, f'state is {BIG}, expected a state'),
])
def test_what_is_no_step_is_refused_and_counts_for_nothing(
        action: Any, state: Any, kind: type[MnmError], text: str) -> None:
    exploration = Exploration(settings(PROBLEM))
    fleet = Fleet(exploration)
    for task in (exploration, Member(fleet, 'r1')):
        before = task.state
        with pytest.raises(kind, match=text):
            task.observe(action, state)
        assert (task.steps, task.state, task.last_state) == (0, before, None)
    if action == RESET:
        for task in (exploration, Member(fleet, 'r2')):
            with pytest.raises(kind, match=text):
                task.relocate(state)


def test_integers_of_numpy_are_taken_as_those_of_python() -> None:
    simulators = Simulator(load('grid_3x3'), 1), Simulator(load('grid_3x3'), 1)
    explorations = [Exploration(settings(Problem(count, 4.0, 1.0, 0.1)), seed=1)
                    for count in (4, np.int64(4))]
    play(explorations[0], simulators[0].step, 300)
    play(explorations[1], lambda action: np.int64(simulators[1].step(action)), 300)
    plain, taken = explorations
    assert plain.counts == taken.counts and type(taken.home) is int
    assert {type(each) for nexts in taken.counts.values() for each in nexts} == {int}
    taken.relocate(np.int32(3))
    assert type(taken.last_state) is int
    assert [as_state(each) for each in (np.uint8(7), -BIG, BIG - 1)] == [7, -BIG, BIG - 1]


@pytest.mark.parametrize(('wanted', 'kind'), [(9, InvalidValueError), ('x', InvalidTypeError)])
def test_what_a_base_asks_for_is_an_action(
        wanted: Any, kind: type[MnmError], monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []
    with pytest.raises(kind, match=f'next action of the base algorithm is {wanted!r}, expected'):
        play(astray(wanted, monkeypatch), lambda action: played.append(action) or 0, 5)
    assert played == []


def test_what_a_base_asks_for_by_numpy_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(astray(np.int64(1), monkeypatch).next_action()) is int


@pytest.mark.parametrize(('resume', 'text'), [
    ({'a': 1}, 'resume lacks mnm, steps, known, news, sources, within, expected what'),
    (7, 'resume is 7, expected what to_state has returned'),
    (['counts'], r"resume is \['counts'\], expected")])
def test_a_resume_point_of_something_else_is_refused(resume: Any, text: str) -> None:
    with pytest.raises(SnapshotError, match=text):
        Exploration(settings(PROBLEM), resume=resume)


@pytest.mark.parametrize(('arguments', 'text'), [
    ((1, 2, 3), 'outcomes is 3, expected a mapping'),
    (('a', 2, {}), "start is 'a', expected a state"),
    ((0, 2.5, {}), 'actions is 2.5, expected an int'),
])
def test_a_table_that_is_none_is_refused(arguments: Any, text: str) -> None:
    with pytest.raises(MnmError, match=text):
        TableCmp(*arguments)


def test_what_is_no_environment_is_refused() -> None:
    with pytest.raises(InvalidValueError, match='env is None, which has no action_space'):
        GymRobot(None)
