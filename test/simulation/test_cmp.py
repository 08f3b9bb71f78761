# SPDX-License-Identifier: Apache-2.0

"""What every CMP must do, and what each kind does."""

from __future__ import annotations

from math import fsum

from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import (
    Cmp,
    GENERATORS,
    grid_cmp,
    GRID_MOVES,
    MoveCmp,
    support,
    TableCmp,
)
from mnm_ros.simulation.scenario import load, shipped
import pytest

MOVES = tuple(GRID_MOVES)
EAST, WEST, SOUTH, NORTH = range(4)
SHIPPED = [
    pytest.param(setting.cmp, id=f'{name}-{index}')
    for name in shipped() for index, setting in enumerate(load(name).settings)]


def nearby(cmp: Cmp, most: int = 60) -> list[int]:
    """Return up to ``most`` states, those next to home first."""
    states = {cmp.start: None}
    for state in (queue := [cmp.start]):
        for action in range(cmp.actions):
            for after, _ in cmp.transitions(state, action):
                if after not in states and len(states) < most:
                    states[after] = None
                    queue.append(after)
    return list(states)


@pytest.mark.parametrize('cmp', SHIPPED)
def test_every_cmp_keeps_the_contract(cmp: Cmp) -> None:
    for state in (*nearby(cmp), 10**6, 2**62, 2**63 - 1):
        assert cmp.transitions(state, RESET) == ((cmp.start, 1.0),)
        for action in range(cmp.actions):
            outcomes = cmp.transitions(state, action)
            states = [after for after, _ in outcomes]
            assert len(set(states)) == len(states)
            assert all(-2**63 <= after < 2**63 for after in states)
            assert all(probability > 0 for _, probability in outcomes)
            assert fsum(probability for _, probability in outcomes) == pytest.approx(1, abs=1e-9)
            assert cmp.transitions(state, action) == outcomes


@pytest.mark.parametrize('cmp', SHIPPED)
@pytest.mark.parametrize('offset', (0, 1, 100))
def test_every_cmp_refuses_unknown_actions(cmp: Cmp, offset: int) -> None:
    with pytest.raises(ValueError, match=rf'action is {cmp.actions + offset}, expected -1'):
        cmp.transitions(cmp.start, cmp.actions + offset)
    with pytest.raises(ValueError, match=f'action is {-2 - offset}, expected -1'):
        cmp.transitions(cmp.start, -2 - offset)


def test_table_stays_put_without_an_entry() -> None:
    cmp = TableCmp(7, 2, {(7, 0): ((-5, 0.25), (7, 0.75))})
    assert cmp.transitions(7, 0) == ((-5, 0.25), (7, 0.75))
    assert cmp.transitions(7, 1) == ((7, 1.0),)
    assert cmp.transitions(-5, 0) == ((-5, 1.0),)


def test_grid_moves_slips_and_is_blocked() -> None:
    cmp = grid_cmp(['.#.', '.S.'], 0.25, MOVES)
    assert (cmp.start, cmp.actions) == (4, 4)
    assert cmp.transitions(4, EAST) == ((5, 0.75), (4, 0.25))
    assert cmp.transitions(4, WEST) == ((3, 0.75), (4, 0.25))
    assert cmp.transitions(4, NORTH) == ((4, 1.0),)
    assert cmp.transitions(4, SOUTH) == ((4, 1.0),)
    assert cmp.transitions(3, NORTH) == ((0, 0.75), (3, 0.25))
    assert cmp.transitions(2, SOUTH) == ((5, 0.75), (2, 0.25))


def test_grid_does_not_wrap_round_its_edges() -> None:
    cmp = grid_cmp(['S..', '...'], 0, MOVES)
    assert cmp.transitions(2, EAST) == ((2, 1.0),)
    assert cmp.transitions(3, WEST) == ((3, 1.0),)
    assert cmp.transitions(0, EAST) == ((1, 1.0),)


def test_only_reset_frees_a_robot_inside_a_wall() -> None:
    cmp = grid_cmp(['S#.'], 0, MOVES)
    assert [cmp.transitions(1, action) for action in range(4)] == [((1, 1.0),)] * 4
    assert cmp.transitions(1, RESET) == ((0, 1.0),)


def test_grid_numbers_its_actions_as_named() -> None:
    cmp = grid_cmp(['S.', '..'], 0, ('north', 'south', 'west', 'east'))
    assert [cmp.transitions(0, action)[0][0] for action in range(4)] == [0, 2, 0, 1]


def test_moves_that_never_succeed_stay_put() -> None:
    assert MoveCmp(0, [lambda state: state + 1], 0.0).transitions(3, 0) == ((3, 1.0),)


def test_endless_corridor_has_no_ends() -> None:
    rules = GENERATORS['endless_corridor'].build(success=0.5)
    assert rules.moves['east'](10**15) == 10**15 + 1
    assert rules.moves['west'](-10**15) == -10**15 - 1


def test_endless_tree_doubles_and_ends_with_int64() -> None:
    rules = GENERATORS['endless_tree'].build(success=0.5)
    assert [rules.moves[name](5) for name in ('left', 'right')] == [10, 11]
    deepest = rules.start
    for _ in range(62):
        deepest = rules.moves['right'](deepest)
    assert deepest == 2**63 - 1
    assert rules.moves['left'](deepest) == rules.moves['right'](deepest) == deepest


@pytest.mark.parametrize('name', GENERATORS)
def test_generators_name_what_they_build(name: str) -> None:
    generator = GENERATORS[name]
    defaults = {key: parameter.default for key, parameter in generator.parameters.items()}
    assert set(generator.build(**defaults).moves) == set(generator.actions)
    for parameter in generator.parameters.values():
        assert parameter.minimum <= parameter.default <= parameter.maximum


@pytest.mark.parametrize('cmp', SHIPPED)
def test_the_support_has_every_end_and_no_other(cmp: Cmp) -> None:
    declared = support(cmp, 60)
    declared.check(cmp.actions)
    assert [*declared.successors] == nearby(cmp)[:len(declared.successors)]
    for state, lists in declared.successors.items():
        for action, ends in enumerate(lists):
            assert {*ends} == {after for after, _ in cmp.transitions(state, action)}
    assert len(declared.successors) == len(nearby(cmp))
