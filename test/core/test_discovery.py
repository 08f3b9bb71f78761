# SPDX-License-Identifier: Apache-2.0

"""State discovery: quotas by hand, and where the robot is sent."""

from __future__ import annotations

from mnm_ros.core import Counts, Discovery, Policy, Problem, RESET
from mnm_ros.core.paper.discovery import OnTheWayDiscovery, PerVisitDiscovery
import numpy as np
import pytest

PROBLEM = Problem(2, 3.0, 1.0, 0.1)
TO_TWO = Policy(2, 5, (0, 1), ((0, 0),))


def explore(discovery: Discovery, counts: Counts, start: int, rng: np.random.Generator,
            limit: int = 10_000) -> list[tuple[int, int, int]]:
    """Walk in a corridor of three states where moves succeed with 0.9 until it is done."""
    here, steps = start, []
    while not discovery.done():
        assert len(steps) < limit
        action = discovery.action(here)
        if action == RESET:
            state = 0
        else:
            moved = rng.random() < 0.9
            state = min(2, max(0, here + (1, -1)[action])) if moved else here
            counts.add(here, action, state)
        discovery.observe(here, action, state)
        steps.append((here, action, state))
        here = state
    return steps


def test_what_is_requested_comes_before_all_else_unless_no_way_leads_there() -> None:
    counts = Counts()
    discovery = OnTheWayDiscovery(PROBLEM, 0.1, counts)
    for state, after in ((0, 1), (1, 2), (2, 1)):
        counts.add(state, 0, after)
    discovery.begin((0, 1, 2, 3), (0,), TO_TWO)
    discovery.request(2, 1)
    discovery.request(3, 0)    # nothing is known to lead there
    assert [discovery.action(state) for state in (0, 1, 2)] == [0, 0, 1]
    assert not discovery.done()
    for state, after in ((0, 1), (1, 2), (2, 1)):
        discovery.observe(state, action := discovery.action(state), after)
        counts.add(state, action, after)
    assert discovery.action(0) == 1    # the least executed one of home, which comes next
    explore(discovery, counts, 0, np.random.default_rng(0))
    assert min(counts.visits_of_all(0, 2)) >= discovery.quota(4)


def test_a_request_that_is_never_served_is_given_up() -> None:
    counts = Counts()
    discovery = OnTheWayDiscovery(PROBLEM, 0.1, counts)
    counts.add(0, 0, 1)    # it never leads there again
    discovery.begin((0, 1), (0,), TO_TWO)
    discovery.request(1, 0)
    for _ in range(2 * TO_TWO.horizon):
        action = discovery.action(0)
        discovery.observe(0, action, 0)
        counts.add(0, action, 0)
    assert min(counts.visits_of_all(0, 2)) > 1


def test_the_printed_quota() -> None:
    # 3 log(8 * 3 * 3 / 0.1) = 19.74; with |K| = 4: 3 log(72 * 16 / 0.1) = 28.06.
    discovery = PerVisitDiscovery(PROBLEM)
    assert (discovery.quota(1), discovery.quota(4)) == (20, 29)


def test_as_printed_each_sample_is_reached_on_a_new_way_from_home() -> None:
    discovery = PerVisitDiscovery(PROBLEM)
    discovery.begin((0, 1, 2), (2,), TO_TWO)
    steps = explore(discovery, Counts(), 1, np.random.default_rng(0))
    samples = [action for here, action, _ in steps
               if here == 2 and action != RESET]
    assert sorted(samples) == [0] * discovery.quota(3) + [1] * discovery.quota(3)
    assert steps[0][1] == RESET
    for (here, sampled, _), (_, action, _) in zip(steps, steps[1:]):
        assert here != 2 or sampled == RESET or action == RESET


def test_as_printed_the_way_is_restarted_after_the_horizon() -> None:
    discovery = PerVisitDiscovery(PROBLEM)
    discovery.begin((0, 1, 2), (2,), TO_TWO)
    discovery.observe(1, RESET, 0)
    for _ in range(5):
        assert discovery.action(0) == 0
        discovery.observe(0, 0, 0)
    assert discovery.action(0) == RESET


def test_the_quota_that_rules_out_a_missed_neighbour() -> None:
    # log(1 * 2 / 0.03) / -log(2/3) = 10.36; four known states: log(20 / 0.03) / 0.405 = 16.04.
    discovery = OnTheWayDiscovery(PROBLEM, 0.03, Counts())
    assert (discovery.quota(1), discovery.quota(4)) == (11, 17)
    sure = OnTheWayDiscovery(Problem(2, 1.0, 1.0, 0.1), 0.03, Counts())
    assert sure.quota(9) == 1


def test_on_the_way_every_execution_counts() -> None:
    counts = Counts()
    discovery = OnTheWayDiscovery(PROBLEM, 0.03, counts)
    for state in range(3):
        for _ in range(discovery.quota(3) - 1):
            counts.add(state, 0, min(2, state + 1))
            counts.add(state, 1, max(0, state - 1))
    assert discovery.pending((0, 1, 2)) == (0, 1, 2)
    discovery.begin((0, 1, 2), (0, 1, 2), TO_TWO)
    steps = explore(discovery, counts, 0, np.random.default_rng(1))
    assert discovery.pending((0, 1, 2)) == ()
    assert len(steps) < 25


def test_on_the_way_the_robot_is_sent_where_samples_are_wanting() -> None:
    counts = Counts()
    discovery = OnTheWayDiscovery(PROBLEM, 0.03, counts)
    for state in range(3):
        for _ in range(40):
            counts.add(state, 0, min(2, state + 1))
            if state != 2:
                counts.add(state, 1, max(0, state - 1))
    discovery.begin((0, 1, 2), (2,), TO_TWO)
    assert [discovery.action(here) for here in (0, 1, 2, 77)] == [0, 0, 1, RESET]


def test_on_the_way_what_another_run_sampled_is_done() -> None:
    counts = Counts()
    discovery = OnTheWayDiscovery(PROBLEM, 0.03, counts)
    discovery.begin((0,), (0,), Policy(0, 5, (0,), ((RESET,),)))
    for action in range(2):
        for _ in range(discovery.quota(1)):
            assert not discovery.done()
            counts.add(0, action, 0)
            discovery.observe_elsewhere(0)
    assert discovery.done()


@pytest.mark.parametrize('seed', range(5))
def test_on_the_way_ends_from_anywhere(seed: int) -> None:
    counts = Counts()
    discovery = OnTheWayDiscovery(PROBLEM, 0.03, counts)
    discovery.begin((0, 1, 2), (0, 1, 2), TO_TWO)
    explore(discovery, counts, seed % 3, np.random.default_rng(seed))
    assert all(counts.visits(s, a) >= discovery.quota(3) for s in range(3) for a in range(2))


def test_on_the_way_no_way_known_is_no_reason_to_stay_at_home() -> None:
    """State 1 follows home once in 60 executions: it may not have been met within the quota."""
    for seed in range(20):
        rng, counts = np.random.default_rng(seed), Counts()
        discovery = OnTheWayDiscovery(PROBLEM, 0.03, counts)
        for _ in range(discovery.quota(2)):
            counts.add(0, 0, 0)
            counts.add(0, 1, 0)
        discovery.begin((0, 1), (0, 1), Policy(1, 5, (0, 1), ((0, 0),)))
        here, resets, steps = 0, 0, 0
        while not discovery.done():
            action = discovery.action(here)
            resets += action == RESET
            state = 0 if action == RESET or here or rng.random() > 1 / 60 else 1
            if action != RESET:
                counts.add(here, action, state)
            discovery.observe(here, action, state)
            here, steps = state, steps + 1
            assert steps < 20_000, f'seed {seed}'
        assert resets < steps / 4, f'seed {seed}'


def test_on_the_way_a_trap_is_left_where_no_way_is_known() -> None:
    """From home, action 0 leads into the trap 1, and action 1 after a while to 2."""
    counts = Counts()
    discovery = OnTheWayDiscovery(PROBLEM, 0.03, counts)
    for _ in range(discovery.quota(3)):
        for state, action, following in ((0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 1)):
            counts.add(state, action, following)
    discovery.begin((0, 1, 2), (2,), Policy(2, 5, (0, 1, 2), ((1, RESET, 0),)))
    here, rng = 0, np.random.default_rng(0)
    for _ in range(2000):
        if discovery.done():
            break
        action = discovery.action(here)
        if action == RESET:
            state = 0
        else:
            state = 1 if here == 1 or (here, action) == (0, 0) else 0
            state = 2 if here == 2 or (here, action) == (0, 1) and rng.random() < 0.05 else state
            counts.add(here, action, state)
        discovery.observe(here, action, state)
        here = state
    assert discovery.done()


def test_ways_take_the_fewest_executions_on_average() -> None:
    counts = Counts()
    for state, action, after, times in (
            (0, 0, 1, 1), (0, 0, 0, 3), (0, 1, 2, 4), (2, 0, 1, 2), (2, 0, 2, 2), (1, 1, 3, 5),
            (2, 1, 3, 1), (2, 1, 0, 8), (4, 0, 2, 1)):
        for _ in range(times):
            counts.add(state, action, after)
    discovery = OnTheWayDiscovery(Problem(2, 3.0, 1.0, 0.1), 0.1, counts)
    discovery.begin((0, 1, 2, 3, 4, 5), (3,), Policy(3, 5, (0,), ((0,),)))
    # From 0 by 1 it is 4 + 1 steps, by 2 it is 1 + 2 + 1; from 4 by 2 it is 1 + 2 + 1 as well.
    assert [discovery.action(state) for state in (0, 1, 2, 4)] == [1, 1, 0, 0]
    assert discovery.action(5) == RESET    # nothing else leads away from there
    assert discovery.action(3) == 0 and not discovery.done()
    discovery.begin((0, 1, 2, 3, 4, 5), (3, 2), Policy(3, 5, (0,), ((0,),)))
    assert [discovery.action(state) for state in (0, 1, 4)] == [1, 1, 0]


def test_who_tries_in_vain_for_the_horizon_is_sent_home() -> None:
    """A state that no way is known from: what was tried least there, then a RESET."""
    counts = Counts()
    discovery = OnTheWayDiscovery(Problem(2, 3.0, 1.0, 0.1), 0.1, counts)
    counts.add(0, 0, 1)
    discovery.begin((0, 1, 2), (2,), Policy(2, 4, (0, 1), ((0, 0),)))
    here, played = 0, []
    for _ in range(6):
        action = discovery.action(here)
        played.append(action)
        if action == RESET:
            break
        counts.add(here, action, 0)
        discovery.observe(here, action, 0)
    assert played[:2] == [1, 0] and played[-1] == RESET and len(played) == 5
    discovery.observe(0, RESET, 0)
    assert discovery.action(0) != RESET    # and the search begins anew


def test_which_kinds_learn_on_the_way() -> None:
    assert OnTheWayDiscovery.learns_everywhere and not PerVisitDiscovery.learns_everywhere
