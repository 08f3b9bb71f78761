# SPDX-License-Identifier: Apache-2.0

"""Whose turn it is."""

from __future__ import annotations

from mnm_ros.core.watch.policy_checks import Turns
from saved import again


def test_without_anything_urgent_all_take_turns() -> None:
    turns = Turns((3, 4, 5))
    assert [turns.next({}) for _ in range(7)] == [3, 4, 5, 3, 4, 5, 3]
    assert Turns(()).next({3: 0.0}) is None


def test_whatever_is_urgent_everybody_gets_every_second_turn_in_the_ring() -> None:
    turns = Turns(range(6))
    chosen = [turns.next({4: 1.0}) for _ in range(40)]
    assert chosen.count(4) >= 20
    for target in range(6):
        places = [place for place, one in enumerate(chosen) if one == target]
        assert max(b - a for a, b in zip(places, places[1:])) <= 12


def test_a_preferred_one_comes_first_and_once() -> None:
    turns = Turns(range(6))
    turns.prefer((5, 4))
    assert [turns.next({}) for _ in range(6)] == [0, 5, 1, 4, 2, 3]
    turns.prefer((2,))
    turns.change((0, 1, 3))
    assert 2 not in [turns.next({}) for _ in range(6)]


def test_those_never_tried_come_first() -> None:
    turns = Turns((1, 2, 3))
    turns.next({})
    turns.change((1, 2, 9))
    assert [turns.next({}) for _ in range(3)] == [9, 2, 1]


def test_they_go_on_from_their_state() -> None:
    first = Turns(range(5))
    first.prefer((3, 2))
    first.next({})
    second = again(first)
    for _ in range(20):
        assert first.next({4: 1.0}) == second.next({4: 1.0})


def test_of_the_urgent_ones_the_one_that_lacks_least_comes_first() -> None:
    turns = Turns(range(6))
    chosen = [turns.next({2: 3.0, 4: 1.0, 5: 2.0, 9: 0.0}) for _ in range(12)]
    assert chosen[1::2] == [4] * 6 and set(chosen[::2]) == {0, 1, 2, 3, 5}
    assert [turns.next({4: 1.0}, 4) for _ in range(40)].count(4) >= 30
