# SPDX-License-Identifier: Apache-2.0

"""Ways from elsewhere than home, and what they may cost."""

from __future__ import annotations

from mnm_ros.core import (
    Declaration,
    DirectWay,
    Exploration,
    Navigation,
    play,
    Policy,
    Problem,
    RESET,
    settings,
    StepsToGo,
    Support,
)
from mnm_ros.core.model.direct_way import direct_way, MOST_STATES
from mnm_ros.core.model.history import History
from mnm_ros.simulation.cmp import grid_cmp
import numpy as np
import pytest
from tiers import thorough

EAST, WEST = 0, 1
HOME, FAR, TARGET = 2, 0, 1    # in a row of five
PROBLEM, HORIZON = Problem(2, 3.0, 1.0, 0.1), 9
ROW = (HOME, 1, 3, 0, 4)
POLICY = Policy(TARGET, HORIZON, ROW, ((WEST, RESET, WEST, RESET, RESET),))
POLICIES = [POLICY if target == TARGET else Policy(target, HORIZON, ROW, ((EAST,) * 5,))
            for target in ROW]


def row(times: int = 1000, slipped: int = 0) -> History:
    observed = History()
    for state in range(5):
        for action, after in ((EAST, min(4, state + 1)), (WEST, max(0, state - 1))):
            for number in range(times):
                observed.add(state, action, state if number < slipped else after)
    return observed


def found(target: int, observed: History) -> DirectWay:
    way = direct_way(target, POLICIES, observed, PROBLEM, HORIZON)
    assert way is not None
    return way


def test_where_it_is_no_longer_than_by_way_of_home() -> None:
    way = found(TARGET, row())
    # From 4 it takes three steps, and two by way of home; from 3 two either way.
    assert way.policy.states[-1] == FAR and {*way.policy.states} <= {FAR, 3}
    assert way.policy.action(0, FAR) == EAST and way.policy.action(0, 4) == RESET
    assert way.expected_steps[FAR] == pytest.approx(1, abs=0.01)
    assert way.by_home == pytest.approx(2, abs=0.01) and way.limit == 6.0
    assert found(TARGET, row(1000, 500)).expected_steps[FAR] == pytest.approx(2, abs=0.01)


def test_only_along_what_was_tried() -> None:
    observed = row()
    observed.outdate(FAR, EAST)
    assert FAR not in found(TARGET, observed).expected_steps
    observed.add(FAR, EAST, TARGET)    # which may be chance
    assert FAR not in found(TARGET, observed).expected_steps
    for _ in range(20):
        observed.add(FAR, EAST, TARGET)
    assert FAR in found(TARGET, observed).expected_steps


def test_what_is_declared() -> None:
    def declared(ends: tuple[int, ...]) -> Problem:
        return Problem(2, 3.0, 1.0, 0.1, Support(Declaration({FAR: (ends, ())})))

    observed = row()
    observed.outdate(FAR, EAST)
    way = direct_way(TARGET, POLICIES, observed, declared((TARGET,)), HORIZON)
    assert way is not None and way.expected_steps[FAR] == pytest.approx(1, abs=0.01)
    way = direct_way(TARGET, POLICIES, observed, declared(()), HORIZON)    # never to be commanded
    assert way is not None and FAR not in way.expected_steps


def test_by_way_of_home_is_what_the_policy_takes() -> None:
    slow = Policy(TARGET, HORIZON, ROW, ((EAST, RESET, EAST, RESET, WEST),))    # 2, 3, 4, 3, ...
    policies = [slow if policy.target == TARGET else policy for policy in POLICIES]
    way = direct_way(TARGET, policies, row(), PROBLEM, HORIZON)
    assert way is not None and way.by_home == 1 + PROBLEM.limit    # it never arrives
    quick = found(4, row())
    # By way of home it is 3 to 4; from 3 one step, and from 1 as well by home, where it goes on.
    assert quick.by_home == pytest.approx(3, abs=0.01)
    assert quick.expected_steps[3] == pytest.approx(1, abs=0.01)
    assert quick.expected_steps.get(1, 3) == pytest.approx(3, abs=0.01)


def test_there_is_none_to_home_and_among_too_many_states() -> None:
    assert direct_way(HOME, POLICIES, row(1), PROBLEM, HORIZON) is None
    assert direct_way(9, POLICIES, row(1), PROBLEM, HORIZON) is None    # never met
    assert direct_way(TARGET, [POLICY] * (MOST_STATES + 1), row(1), PROBLEM, HORIZON) is None


@thorough('core/test_direct_way.py::test_what_is_played')
@pytest.mark.parametrize('base', ['disco', 'ucb_explore'])
def test_an_exploration_knows_them(base: str) -> None:
    cmp = grid_cmp(['..S..'], 0.1, ('east', 'west'))
    rng = np.random.default_rng(1)
    here = cmp.start

    def robot(action: int) -> int:
        nonlocal here
        ends = ((cmp.start, 1.0),) if action == RESET else cmp.transitions(here, action)
        here = int(rng.choice([end for end, _ in ends], p=[chance for _, chance in ends]))
        return here

    exploration = Exploration(settings(PROBLEM, overrides={'base': base}), 1)
    assert exploration.direct_way(TARGET) is None
    while exploration.hypothesis is None:
        play(exploration, robot, 100)
    way, policy = exploration.direct_way(TARGET), exploration.hypothesis.policy_for(TARGET)
    assert way is not None and way.expected_steps[FAR] < way.by_home
    while here != FAR:
        robot(WEST)
    navigation = Navigation(policy, HOME, here=FAR, direct=way)
    while not navigation.result:
        play(navigation, robot, 1)
    assert navigation.result.startswith('reached 1 in ') and navigation.attempts == 1
    assert here == TARGET


def test_not_along_what_fails_though_most_counts_are_from_before() -> None:
    """In a ring of six, where the way from 1 to 2 is also that of a policy."""
    rng, here, on = np.random.default_rng(1), 0, 0

    def robot(action: int) -> int:
        nonlocal here
        if action == RESET:
            here = 0
        elif rng.random() < 0.9:
            here = (here + (1, -1)[action]) % 6
        return here

    exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.5)), 1)
    while exploration.hypothesis is None:
        play(exploration, robot, 100)
    before = exploration.direct_way(2)
    assert before is not None and before.policy.action(0, 1) == on
    for _ in range(20):
        if (1, on) not in exploration.mnm.pairs.suspected:
            exploration.observe_work(1, on, 1)
    assert (1, on) in exploration.mnm.pairs.suspected
    after = exploration.direct_way(2)
    assert after is None or after.policy.action(0, 1) != on


def navigate(here: int | None, *states: int, known: StepsToGo | None = None,
             ) -> tuple[Navigation, list[int]]:
    """Let the actions lead to these states; return the actions, with the one that is next."""
    way = Navigation(POLICY, HOME, known, here, found(TARGET, row()))
    actions = []
    for state in states:
        actions.append(way.next_action())
        way.observe(actions[-1], state)
    return way, actions if way.result else [*actions, way.next_action()]


@pytest.mark.parametrize(('here', 'states', 'actions', 'steps', 'attempts'), [
    (None, (HOME, TARGET), [RESET, WEST], 1, 1),
    (HOME, (TARGET,), [WEST], 1, 1),
    (4, (HOME, TARGET), [RESET, WEST], 1, 1),                      # no direct way
    (FAR, (TARGET,), [EAST], 1, 1),
    (FAR, (FAR, TARGET), [EAST, EAST], 2, 1),
    (FAR, (FAR,) * HORIZON, [EAST] * HORIZON + [RESET], 9, 1),     # the horizon
    (FAR, (4, HOME, FAR), [EAST, RESET, WEST, RESET], 3, 2),       # elsewhere, then as published
    (FAR, (HOME, TARGET), [EAST, WEST], 2, 2),                     # by chance at home
    (FAR, (7, 4, HOME, TARGET), [EAST, RESET, RESET, WEST], 4, 2),    # RESET has missed home
    (TARGET, (), [], 0, 0)])
def test_what_is_played(here: int | None, states: tuple[int, ...], actions: list[int],
                        steps: int, attempts: int) -> None:
    way, played = navigate(here, *states)
    assert (played, way.steps, way.attempts) == (actions, steps, attempts)
    assert (way.result == f'reached 1 in {steps} steps') == ((states or (here,))[-1] == TARGET)


def test_the_plan_in_words() -> None:
    assert navigate(FAR)[0].plan == 'from where it is: about 1.0 steps; by way of home 2.0'
    assert navigate(4)[0].plan == 'by way of home, as no shorter way is known from 4'
    assert navigate(HOME)[0].plan == 'from home, where it is'
    assert navigate(None)[0].plan == 'by way of home'


def test_a_robot_that_is_moved_goes_home() -> None:
    for move in (lambda way: way.relocate(FAR), lambda way: way.lose_place()):
        way, _ = navigate(FAR, FAR)
        move(way)
        assert way.next_action() == RESET
        way.observe(RESET, HOME)
        assert way.next_action() == WEST


def test_the_steps_left() -> None:
    way, _ = navigate(FAR, FAR)
    assert way.expected_steps_left == pytest.approx(1, abs=0.01)
    known = StepsToGo(POLICY)
    for here in (FAR, HOME, HOME):    # that from elsewhere says nothing about ways from home
        navigate(here, FAR if here == FAR else HOME, TARGET, known=known)
    assert known.expected(HOME) == 1.5 and known.expected(FAR) is None


def test_no_more_than_is_promised_in_all() -> None:
    """Whatever the robot does: the bound of ``Navigation``, at every moment."""
    rng, direct = np.random.default_rng(0), found(TARGET, row(20))
    for chance in (0.0, 0.1, 0.5, 1.0):
        known, total, begun = StepsToGo(POLICY), 0.0, 0
        for _ in range(300):
            way = Navigation(POLICY, HOME, known, FAR, direct)
            if way.next_action() == RESET:
                assert known.credit < 0
                assert way.plan == 'by way of home, as direct ways took too long'
                continue
            begun += 1
            while not way.result and way.next_action() != RESET:
                if rng.random() < 0.05:
                    way.pause('enough')
                else:
                    way.observe(EAST, TARGET if rng.random() < chance else FAR)
            total += way.steps + (0 if way.result else 1 + PROBLEM.limit)
            assert total <= begun * (1 + PROBLEM.limit) + 2 * HORIZON, (chance, begun)
        assert (begun == 300) == (chance >= 0.5), (chance, begun)
