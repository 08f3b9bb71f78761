# SPDX-License-Identifier: Apache-2.0

"""Which robot of a fleet goes where, and what is wanted soon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from types import SimpleNamespace
from unittest.mock import Mock

from mnm_ros.core import RESET
from mnm_ros.core.fleet.assignments import Assignments, look_ahead, RECENT_OUTCOMES
from mnm_ros.core.mnm.capabilities import FEW_STATES
from mnm_ros.core.mnm.checking_phase import CheckingPhase
from mnm_ros.core.model.counts import Pair
import numpy as np
import pytest
from scripted import ScriptedBase


def assignments(**wanted: list[int]) -> Assignments:
    """Return assignments on a line 0 - 1 - 2 - 3, where action 1 leads on and action 0 back."""
    found = Assignments(home=0)
    for state in range(4):
        found.ended((state, 1), min(state + 1, 3))
        found.ended((state, 0), max(state - 1, 0))
    found.want({(int(name[1:]), 0): steps for name, steps in wanted.items()}, robots=2)
    return found


def test_robots_go_where_something_is_wanted_and_not_all_to_one_place() -> None:
    sent = assignments(s3=[5], s1=[6])
    assert sent.open == 2 and sent.wanted((3, 0)) and not sent.wanted((3, 1))
    assert sent.action('one', 2) == 1 and sent.action('two', 2) == 0
    assert sent.action('one', 3) == 0    # where it is wanted, what is wanted
    assert sent.begun((3, 0)) and not sent.begun((3, 0)) and sent.open == 1
    assert sent.action('one', 3) is None    # somebody is on the way to the rest
    del sent.claims['two']
    assert sent.action('one', 2) == 0    # from 3, a RESET would take as long
    sent.want({(0, 0): [0]}, 2)
    assert sent.action('one', 3) == RESET    # which is nearer than to go back


def test_what_is_wanted_first_is_nearer_and_nothing_leads_where_no_robot_was() -> None:
    assert assignments(s3=[900], s1=[1]).action('one', 2) == 0
    assert assignments(s3=[1], s1=[900]).action('one', 2) == 1
    assert assignments(s9=[0]).action('one', 1) is None


def test_a_way_costs_what_it_has_taken_lately() -> None:
    """By the last outcomes alone, and a RESET is a step of its own."""
    sent = Assignments(home=0)
    for _ in range(RECENT_OUTCOMES):
        sent.ended((0, 1), 9)    # forgotten by and by
    for number in range(RECENT_OUTCOMES):
        sent.ended((0, 1), 5 if number % 4 == 0 else 0)    # four tries on average
        sent.ended((0, 2), 5 if number % 2 == 0 else 0)    # two
    sent.ended((5, 1), 6)
    sent.want({(6, 0): [0]}, robots=1)
    assert sent.action('one', 0) == 2 and sent.action('one', 5) == 1
    assert sent.steps(0, 6) == 3 and sent.steps(5, 6) == 1
    assert sent.steps(77, 6) == 4    # where nobody has been: home first
    assert sent.steps(0, 9) == sent.steps(0, 77) == math.inf
    sent.want({(6, 0): [0], (0, 3): [0]}, robots=1)
    del sent.claims['one']
    assert sent.action('one', 6) == 0 and sent.action('two', 5) == RESET


def test_shorter_ways_are_found_after_some_steps_of_each_robot_and_new_states_at_once() -> None:
    for robots in (2, 3):
        sent = assignments()
        sent.want({(3, 0): [0]}, robots)
        for _ in range(2):    # it begins to count anew
            assert sent.action('one', 0) == 1
            for _ in range(64 * robots):
                sent.ended((0, 5), 3)
                assert sent.action('one', 0) == 1
            sent.ended((0, 5), 3)
            assert sent.action('one', 0) == 5
            sent.outdate(0, 5)
        assert sent.action('one', 77) == RESET
        sent.ended((77, 2), 3)
        sent.ended((0, 5), 77)    # nobody was there before
        assert sent.action('one', 77) == 2


def test_of_several_actions_that_wanted_first_comes_first() -> None:
    sent = assignments()
    sent.want({(2, 0): [4, 8], (2, 1): [1, 9]}, robots=1)
    assert sent.open == 4
    played = []
    for _ in range(4):
        action = sent.action('one', 2)
        assert action is not None and sent.begun((2, action))
        played.append(action)
    assert played == [1, 0, 0, 1] and sent.open == 0
    assert sent.action('one', 2) is None and not sent.begun((2, 1))


def test_nothing_is_wanted_before_anybody_has_said_so() -> None:
    sent = Assignments()
    assert sent.open == 0 and sent.home is None and not sent.wanted((0, 0))
    assert sent.action('one', 0) is None and not sent.begun((0, 0))
    sent.want({(0, 3): [0]}, robots=1)    # where nobody has been either
    assert sent.action('one', 0) == 3 and sent.action('two', 5) is None


def test_no_more_robots_go_to_a_state_than_executions_are_wanted_there() -> None:
    sent = assignments(s3=[5, 6], s0=[7])
    sent.want({(3, 0): [5, 6], (0, 0): [7]}, robots=3)
    assert [sent.action(name, 2) for name in ('one', 'two', 'three')] == [1, 1, RESET]
    assert sent.action('four', 2) is None
    assert sent.action('one', 2) == 1    # a robot keeps its way


@pytest.mark.parametrize('sooner, robots, further', [
    (8, 1, False), (12, 1, True), (12, 4, False), (44, 4, True)])
def test_ten_steps_sooner_are_worth_a_step_of_detour_for_each_robot(
        sooner: int, robots: int, further: bool) -> None:
    """From 1, home is one step away, and 3 two."""
    sent = assignments()
    sent.want({(0, 0): [3 + sooner, 9000], (3, 0): [3, 9000]}, robots)
    assert (sent.action('one', 1) == 1) is further


def test_ways_that_have_changed_are_forgotten() -> None:
    sent = assignments(s3=[0])
    assert sent.action('one', 2) == 1
    sent.outdate(2, 1)
    assert sent.action('one', 2) is None
    sent.ended((2, 0), 3)
    sent.want({(3, 0): [0]}, 1)
    assert sent.action('one', 2) == 0
    sent.outdate(None, None)
    assert sent.recent == {}


def test_ways_are_found_while_another_thread_forgets_some() -> None:
    class Forgetting(dict):    # type: ignore[type-arg]

        def items(self):    # type: ignore[no-untyped-def]
            for pair, outcomes in super().items():
                yield pair, outcomes
                sent.outdate(*pair)
    sent = assignments(s3=[0])
    sent.recent = Forgetting(sent.recent)
    assert sent.action('one', 2) == 1


def test_a_robot_keeps_its_way_and_chooses_again_once_it_is_there() -> None:
    """What is wanted sooner elsewhere turns nobody aside, but goes before what is wanted here."""
    sent = assignments(s3=[400])
    assert sent.action('one', 2) == 1
    sent.want({(3, 1): [400], (2, 0): [0]}, robots=2)
    assert sent.action('one', 2) == 1 and sent.action('one', 3) == 0


class Asks:
    """Stand in for ``Mnm``: asks for action 1 in each state, and records where that leads."""

    home = 0

    def __init__(self, plans_in: int | None = None, states: int = 0) -> None:
        base = ScriptedBase(0, range(states))
        base.may_plan = lambda action, state: state == plans_in
        self.phase = SimpleNamespace(base=base)
        self.led: list[int] = []

    def next_action(self) -> int:
        return 1

    def observe(self, action: int, state: int) -> None:
        self.led.append(state)

    def ahead(self, steps: int, ready: Mapping[Pair, Sequence[int | None]],
              recent: Mapping[Pair, Sequence[int]]) -> tuple[dict[Pair, list[int]], bool]:
        return look_ahead(
            self, 5, steps, ready, recent, np.random.default_rng(0))    # type: ignore[arg-type]


def test_a_pair_is_led_where_that_is_known_one_execution_after_the_other() -> None:
    asks = Asks()
    asked, _ = asks.ahead(6, {(5, 1): [5, None, 6], (6, 1): [5]}, {(5, 1): [9], (9, 1): [5]})
    assert asks.led == [5, 9, 5, 6, 5, 9]
    assert asked == {(5, 1): [0, 1, 3, 5], (9, 1): [2], (6, 1): [4]}


def test_where_a_pair_leads_is_else_drawn_from_all_that_it_did_lately() -> None:
    asked, _ = Asks().ahead(400, {}, {(5, 1): [5, 6, 5], (6, 1): [5]})
    assert 1 / 4 < len(asked[6, 1]) / len(asked[5, 1]) < 5 / 12


@pytest.mark.parametrize(('states', 'plans_in', 'ended'), [
    (2 * FEW_STATES + 1, 6, True), (2 * FEW_STATES, 6, False), (2 * FEW_STATES + 1, None, False)])
def test_a_lookahead_ends_before_a_plan_for_many_states(
        states: int, plans_in: int | None, ended: bool) -> None:
    asks = Asks(plans_in, states)
    assert asks.ahead(3, {(5, 1): [5, 6, 5]}, {}) == (
        {(5, 1): [0, 1]} if ended else {(5, 1): [0, 1], (6, 1): [2]}, ended)
    assert asks.led == ([5] if ended else [5, 6, 6])


@pytest.mark.parametrize(('checked', 'ended'), [(FEW_STATES + 1, True), (FEW_STATES, False)])
def test_a_lookahead_ends_before_many_policies_are_checked(checked: int, ended: bool) -> None:
    asks = Asks(None, 2 * FEW_STATES + 1)
    asks.phase = Mock(CheckingPhase, base=asks.phase.base, policies=range(checked))
    assert asks.ahead(3, {(5, 1): [5]}, {})[1] is ended
