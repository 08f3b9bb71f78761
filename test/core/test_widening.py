# SPDX-License-Identifier: Apache-2.0

"""An end that was not declared is added to what is, for good, and told once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
import json

from mnm_ros.core import (
    Counts,
    Declaration,
    Exploration,
    Fleet,
    Problem,
    settings,
    Support,
)
from mnm_ros.core.model import snapshot
from mnm_ros.core.progress.said import EndAdded
from mnm_ros.simulation.cmp import GRID_MOVES, support
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from robots import Robots
from saved import again
from tiers import strength, thorough

RADIUS = 3.0
SIDE = 5
Lists = dict[int, tuple[tuple[int, ...], ...]]


def grid() -> Lists:
    """Return the moves of an empty grid: each leads one cell on, or slips."""
    def end(state: int, down: int, right: int) -> int:
        row, column = state // SIDE + down, state % SIDE + right
        return row * SIDE + column if 0 <= row < SIDE and 0 <= column < SIDE else state
    return {state: tuple((state, end(state, *move)) if end(state, *move) != state else (state,)
                         for move in GRID_MOVES.values()) for state in range(SIDE * SIDE)}


def near(state: int, moves: int) -> set[int]:
    return {other for other in range(SIDE * SIDE) if moves >= abs(
        other // SIDE - state // SIDE) + abs(other % SIDE - state % SIDE)}


GRID = Declaration(grid(), {}, 0.0)
MIDDLE = 12


@pytest.mark.parametrize(('end', 'reach'), [(MIDDLE + 2, 2), (MIDDLE - 1, 1)])
def test_what_lies_as_near_as_an_end_is_added_with_it(end: int, reach: int) -> None:
    """As by a move that goes one cell too far, or another way."""
    declared = Support(GRID)
    assert declared.refuted_by(MIDDLE, 0, end)
    added = declared.refute(MIDDLE, 0, end)
    assert added[0] == end
    assert {*(declared.ends(MIDDLE, 0) or ())} == near(MIDDLE, reach)
    assert not any(declared.refuted_by(MIDDLE, 0, state) for state in near(MIDDLE, reach))
    assert declared.ends(MIDDLE, 1) == GRID.successors[MIDDLE][1]    # that pair alone


def seen(pair: tuple[int, int], *ends: int) -> Counts:
    """Return that a pair was seen to lead to each of some states."""
    counts = Counts()
    for end in ends:
        counts.add(*pair, end)
    return counts


def test_an_end_far_away_is_added_alone() -> None:
    declared = Support(GRID)
    assert declared.refute(MIDDLE, 0, 24) == (24,) == declared.refute(MIDDLE, 1, 24)
    assert declared.refute(MIDDLE, 0, 99) == (99,)
    assert declared.ends(MIDDLE, 0) == (*GRID.successors[MIDDLE][0], 24, 99)
    # What was added to one pair is no way to what lies near.
    assert declared.refute(MIDDLE, 2, 23) == (23,)


def test_a_pair_that_is_to_be_left_alone_stays_so() -> None:
    lists = {**GRID.successors, MIDDLE: ((), *GRID.successors[MIDDLE][1:])}
    declared = Support(replace(GRID, successors=lists))
    assert not declared.refuted_by(MIDDLE, 0, 7)
    opened = Support(GRID)
    opened.refute(MIDDLE, 0, 24)
    opened.declare(declared.declared, seen((MIDDLE, 0), 24, 7))
    assert opened.forbids(MIDDLE, 0) and opened.ends(MIDDLE, 0) == ()
    opened.declare(GRID, Counts())    # what was seen counts again
    assert 24 in (opened.ends(MIDDLE, 0) or ())


def test_another_declaration_does_not_undo_what_was_seen() -> None:
    declared = Support(GRID)
    declared.refute(MIDDLE, 0, 24)
    ends = declared.ends(MIDDLE, 0)
    for other in (replace(GRID, audit=0.1), Declaration(), GRID):
        assert declared.declare(other, Counts())[1] == []
    assert declared.ends(MIDDLE, 0) == ends
    # Nor is it told again; but what was seen and not known is.
    assert declared.declare(GRID, seen((MIDDLE, 0), 24)) == ([], [])
    assert declared.declare(GRID, seen((MIDDLE, 1), 20)) == (
        [(MIDDLE, 1)], [(MIDDLE, 1)])
    assert declared.refute(MIDDLE, 1, 21) == (21,)


def test_it_is_as_it_was_after_it_was_written_and_read() -> None:
    declared = Support(GRID)
    declared.refute(MIDDLE, 0, 24)
    read = again(declared)
    assert read.ends(MIDDLE, 0) == declared.ends(MIDDLE, 0)
    assert read.declared == GRID and vars(read.copy()) == vars(declared.copy())


def falsified() -> Lists:
    """Return lists of the grid of a scenario in which no move is said to slip."""
    lists = support(load('grid_3x3').settings[0].cmp).successors
    return {state: tuple(tuple(end for end in ends if end != state) or (state,)
                         for ends in each) for state, each in lists.items()}


class Run:
    """An exploration of that scenario, and how often what was told."""

    def __init__(self, seed: int = 0, resume: object = None) -> None:
        self.simulator = Simulator(load('grid_3x3'), seed)
        problem = Problem(4, RADIUS, 1.0, 0.1, Support(Declaration(falsified())))
        self.exploration = Exploration(settings(problem), seed)
        self.told: Counter[str] = Counter()

    def step(self) -> None:
        action = self.exploration.next_action()
        taken = self.exploration.observe(action, self.simulator.step(action))
        self.told.update(sentence(event.said) for event in taken.events
                         if isinstance(event.said, EndAdded))

    def explore(self, steps: int) -> None:
        for _ in range(steps):
            self.step()


def test_over_rediscoveries_restarts_and_the_same_map_again_each_end_is_told_once() -> None:
    run = Run()
    run.explore(strength(250, 1500))
    assert run.exploration.hypothesis is not None
    for _ in range(strength(2, 3)):
        while not run.exploration.can_snapshot:
            run.step()
        widened = snapshot.take(run.exploration.mnm.support)
        point = json.loads(json.dumps(run.exploration.to_state()))
        run.exploration = Exploration(settings(Problem(4, RADIUS, 1.0, 0.1)), 0, point)
        run.exploration.lose_place()
        assert run.exploration.declare(Declaration(falsified())) is None
        assert snapshot.take(run.exploration.mnm.support) == widened
        run.explore(strength(100, 1500))
        # Another one and back again, as by a robot side that is started with another map.
        assert run.exploration.declare(Declaration()) is not None
        run.explore(20)
        assert run.exploration.declare(Declaration(falsified())) is not None
    assert len(run.told) > 8 and set(run.told.values()) == {1}, run.told


@thorough(
    'core/test_widening.py::'
    'test_over_rediscoveries_restarts_and_the_same_map_again_each_end_is_told_once')
def test_robots_that_explore_together_add_each_end_once() -> None:
    scenario, told = load('grid_3x3'), Counter[str]()
    exploration = Exploration(settings(
        Problem(4, RADIUS, 1.0, 0.1, Support(Declaration(falsified())))), 0)
    robots = Robots(Fleet(exploration),
                    [Simulator(scenario, seed) for seed in range(3)], (), 0)
    heard = 0
    for _ in range(2500):
        robots.step()
        heard = max(heard, len(exploration.events))
    told.update(sentence(event.said) for event in exploration.events
                if isinstance(event.said, EndAdded))
    assert heard < 1000 and exploration.hypothesis is not None
    assert len(told) > 8 and set(told.values()) == {1}, told
