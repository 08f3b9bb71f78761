# SPDX-License-Identifier: Apache-2.0

"""What the shipped scenarios are meant to show, within four expected steps."""

from __future__ import annotations

from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.ground_truth import best_time, reachable_states
from mnm_ros.simulation.scenario import load, shipped
import pytest

RADIUS = 4.0
SIZES = {
    'broken_wheel': (6, 4),
    'corridor': (4,),
    'endless_corridor': (7,),
    'endless_tree': (15,),
    'grid_3x3': (8,),
    'moving_wall': (11, 11),
    'shortcut': (4, 7),
    'trap': (5,),
    'two_rooms': (11, 6, 11),
}


def reachable(name: str) -> list[set[int]]:
    return [set(reachable_states(setting.cmp, RADIUS)) for setting in load(name).settings]


def border(cmp: Cmp, members: set[int]) -> set[int]:
    return {
        after for state in members for action in range(cmp.actions)
        for after, _ in cmp.transitions(state, action)} - members


def test_all_are_covered() -> None:
    assert tuple(SIZES) == shipped()


@pytest.mark.parametrize('name', SIZES)
def test_reachable_states(name: str) -> None:
    assert tuple(map(len, reachable(name))) == SIZES[name]


@pytest.mark.parametrize('name', SIZES)
def test_no_state_is_borderline(name: str) -> None:
    for setting in load(name).settings:
        for limit in (RADIUS, 2 * RADIUS):
            # The tree grows too fast to look beyond the radius, and is the same all the way.
            radius = RADIUS if name == 'endless_tree' else limit
            members = set(reachable_states(setting.cmp, radius))
            for state in members | border(setting.cmp, members):
                time = best_time(setting.cmp, tuple(members), state)
                assert abs(time - limit) > 0.02 * limit, (state, time)


@pytest.mark.parametrize('name', SIZES)
def test_first_line_says_what_it_shows(name: str) -> None:
    first, second = load(name).path.read_text().splitlines()[:2]
    assert first.startswith('# ') and len(first) <= 99 and second.startswith('name: ')


def test_two_rooms_loses_the_second_room_and_gets_it_back() -> None:
    open_, closed, open_again = reachable('two_rooms')
    assert closed < open_ == open_again
    assert open_ - closed == {3, 7, 8, 9, 13}
    assert [setting.until for setting in load('two_rooms').settings] == [60000, 160000, None]


def test_moving_wall_loses_and_gains() -> None:
    before, after = reachable('moving_wall')
    assert before - after == {11, 16, 21}
    assert after - before == {7, 8, 9}


def test_broken_wheel_only_loses() -> None:
    before, after = reachable('broken_wheel')
    assert before - after == {1, 2} and after < before


def test_shortcut_only_gains() -> None:
    before, after = reachable('shortcut')
    assert after - before == {4, 5, 6} and before < after


def test_only_reset_leaves_the_trap() -> None:
    cmp = load('trap').settings[0].cmp
    assert [cmp.transitions(9, action) for action in range(cmp.actions)] == [((9, 1.0),)] * 3
    # V1 = 1 + 0.1 (1 + V0), V0 = 1 + V1: falling in costs a RESET and the way back.
    assert best_time(cmp, (0, 1), 2) == pytest.approx(1 + 1.2 / 0.9)
