# SPDX-License-Identifier: Apache-2.0

"""Which pairs are sampled next, and the ways there."""

from __future__ import annotations

from mnm_ros.core import Counts, Policy, RESET, TransitionRows
from mnm_ros.core.disco.sample import FIRST_EXECUTIONS, Sampling
from mnm_ros.core.planning.shortest_ways import least_costs
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

EAST, WEST = 0, 1
PATIENCE = 50


class Corridor:
    """States 0, 1, 2, ... in a row, of which ``entered`` are sampled; every move succeeds."""

    def __init__(self, entered: int = 1) -> None:
        self.here = 0
        self.counts = Counts()
        self.rows = TransitionRows(self.counts, 2)
        self.sampling = Sampling(self.counts, self.rows, PATIENCE)
        for state in range(entered):
            self.sampling.enter(state)

    def step(self) -> tuple[int, int]:
        here = self.here
        action = self.sampling.action(here)
        self.here = 0 if action == RESET else max(0, here + (1 if action == EAST else -1))
        if action != RESET:
            self.counts.add(here, action, self.here)
            self.rows.add(here, action, self.here)
        self.sampling.observe(here, action, self.here)
        return here, action

    def sample_all(self, most: int = 300) -> int:
        for step in range(most):
            if not self.sampling.open:
                return step
            self.step()
        raise AssertionError(f'still open: {self.sampling.open}')

    def visits(self, state: int, action: int) -> int:
        return self.counts.visits(state, action)


def test_every_action_of_a_state_that_is_entered_is_executed() -> None:
    corridor = Corridor(4)
    corridor.sample_all()
    assert all(corridor.visits(state, action) >= FIRST_EXECUTIONS
               for state in range(4) for action in (EAST, WEST))
    assert corridor.sampling.samples <= corridor.sampling.steps
    assert corridor.sampling.price > 0


def test_what_is_wanted_is_executed_so_often_and_no_oftener_than_needed() -> None:
    corridor = Corridor(3)
    corridor.sample_all()
    corridor.sampling.want((2, WEST), 9)
    corridor.sampling.want((2, WEST), 4)    # less than what is wanted changes nothing
    assert list(corridor.sampling.open) == [2]
    corridor.sample_all()
    assert corridor.visits(2, WEST) == 9


def test_the_nearest_open_state_comes_first() -> None:
    corridor = Corridor(6)
    corridor.sample_all()
    while corridor.here != 0:
        corridor.here = 0
    for state in (5, 1):
        corridor.sampling.want((state, WEST), corridor.visits(state, WEST) + 1)
    assert [corridor.step() for _ in range(2)] == [(0, EAST), (1, WEST)]


def test_ways_lead_through_states_and_home_by_reset() -> None:
    corridor = Corridor(8)
    corridor.sample_all()
    corridor.sampling.want((0, WEST), corridor.visits(0, WEST) + 1)
    corridor.here = 6
    assert corridor.step() == (6, RESET)
    assert corridor.step() == (0, WEST)
    distances = corridor.sampling.distances()
    assert distances[0] == 0 and distances[3] <= 3 * 2    # half of the moves may go another way


def test_what_is_urgent_comes_before_the_state_at_hand() -> None:
    corridor = Corridor(4)
    corridor.sample_all()
    corridor.here = 0
    corridor.sampling.want((0, WEST), 50)
    before = corridor.visits(3, EAST)
    corridor.sampling.urge((3, EAST))
    played = [corridor.step() for _ in range(4)]
    assert played == [(0, EAST), (1, EAST), (2, EAST), (3, EAST)]
    assert corridor.visits(3, EAST) == before + 1
    assert corridor.step() != (3, EAST)    # it was urgent once


def test_what_is_urgent_elsewhere_is_not_played_here() -> None:
    corridor = Corridor(4)
    corridor.sample_all()
    for state in range(4):    # so that action EAST of each leads east, and nothing else does
        corridor.sampling.want((state, EAST), 20)
    corridor.sample_all(900)
    for here, urgent, way in ((2, (1, EAST), WEST), (1, (3, WEST), EAST), (3, (0, WEST), RESET)):
        corridor.here = here
        corridor.sampling.urge(urgent)
        assert corridor.step() == (here, way)
        while corridor.step() != urgent:
            pass


def test_what_no_way_leads_to_keeps_nothing_else_from_being_sampled() -> None:
    """Urgent or preferred, it is so no more once that is known."""
    for hurry in (lambda sampling: sampling.urge((9, WEST)), lambda sampling: sampling.prefer(9)):
        corridor = Corridor(3)
        corridor.sample_all()
        sampling = corridor.sampling
        sampling.enter(9)
        for _ in range(3):
            sampling.want((2, WEST), corridor.visits(2, WEST) + 1)
            hurry(sampling)
            assert sampling.action(0) in (EAST, WEST) and not sampling.preferred
            assert [sampling.action(state) for state in range(3)] == [EAST, EAST, WEST]
        lacking = sampling.executions_lacking
        sampling.urge((1, EAST))
        assert sampling.executions_lacking == lacking + 1 and 1 in sampling.open


def test_new_ways_are_looked_for_after_so_many_steps_without_a_sample() -> None:
    corridor = Corridor(3)
    corridor.sample_all()
    sampling = corridor.sampling
    sampling.want((2, WEST), 99)
    assert sampling.action(0) == EAST    # found now
    looked: list[int] = []
    found = sampling._find_ways
    sampling._find_ways = lambda: (looked.append(1), found())[1]    # type: ignore[method-assign]
    for _ in range(2):
        for _ in range(PATIENCE):
            sampling.observe(0, EAST, 0)    # the wheels spin
            sampling.action(0)
        assert not looked
        sampling.observe(0, EAST, 0)
        sampling.action(0)
        assert looked.pop()
    for _ in range(PATIENCE):
        sampling.observe(0, EAST, 0)
    sampling.observe(2, WEST, 1)    # a sample
    sampling.action(1)
    assert not looked


def test_what_is_headed_for_is_what_will_be_sampled_next() -> None:
    corridor = Corridor(5)
    corridor.sample_all()
    sampling = corridor.sampling
    for state in range(5):    # East leads on, and nothing else does
        sampling.want((state, EAST), 20)
    corridor.sample_all(900)
    assert sampling.heading(0) is None is sampling.heading(None)
    sampling.want((3, WEST), 30)
    sampling.want((1, WEST), 30)
    for prepare, here, heading in (
            (lambda: None, 0, (1, WEST)), (lambda: None, 2, (3, WEST)),
            (lambda: None, 4, (3, WEST)), (lambda: sampling.prefer(3), 0, (3, WEST)),
            (lambda: sampling.urge((0, WEST)), 4, (0, WEST)),
            (lambda: sampling.urge((2, EAST)), 1, (2, EAST)),
            (lambda: None, 0, (3, WEST))):    # it is preferred still
        prepare()
        corridor.here = here
        sampling.action(here)    # finds the ways
        assert sampling.heading(here) == heading
        while True:
            done = corridor.step()
            if done == heading:
                break
            assert done[0] != heading[0]
        sampling.want(heading, corridor.visits(*heading) + 1)


def test_a_move_costs_the_executions_that_it_takes_on_average() -> None:
    """And the cheapest of several counts; a RESET costs one."""
    counts = Counts()
    rows = TransitionRows(counts, 2)
    sampling = Sampling(counts, rows, PATIENCE)
    for state in range(3):
        sampling.enter(state)
    for action, after, times in ((EAST, 1, 2), (EAST, 0, 3), (WEST, 1, 2), (WEST, 0, 1)):
        for _ in range(times):
            counts.add(0, action, after)
            rows.add(0, action, after)
    for after in (2, 2, 2, 0):
        counts.add(1, WEST, after)
        rows.add(1, WEST, after)
    assert sampling.distances() == pytest.approx({0: 0.0, 1: 3 / 2, 2: 3 / 2 + 4 / 3})
    assert [sampling.action(state) for state in range(3)] == [WEST, EAST, EAST]
    for state in (0, 1):
        sampling.leave(state)
    assert [sampling.action(state) for state in (0, 1)] == [WEST, WEST]
    sampling.leave(2)
    sampling.enter(0)
    sampling.want((0, EAST), 50)
    assert [sampling.action(state) for state in (1, 2)] == [RESET, RESET]


def test_the_price_of_a_sample_is_what_samples_have_cost() -> None:
    corridor = Corridor(3)
    assert corridor.sampling.price == 2    # before any is known
    steps = corridor.sample_all()
    assert corridor.sampling.steps == steps >= corridor.sampling.samples
    for state in range(3):
        corridor.sampling.want((state, EAST), 500)
    before = corridor.sampling.samples
    steps = corridor.sample_all(5000)
    assert corridor.sampling.samples - before <= steps
    assert corridor.sampling.price == pytest.approx(
        corridor.sampling.steps / corridor.sampling.samples, rel=0.02)
    lacking = corridor.sampling.executions_lacking
    assert lacking == 0
    corridor.sampling.want((1, WEST), corridor.visits(1, WEST) + 7)
    assert corridor.sampling.executions_lacking == 7


def test_executions_that_walking_wants_too_are_lacking_once_and_of_sampled_states() -> None:
    corridor = Corridor(3)
    corridor.sample_all()
    sampling = corridor.sampling
    west, east = corridor.visits(1, WEST), corridor.visits(2, EAST)
    sampling.want((1, WEST), west + 7)
    sampling.walk({(1, WEST): west + 2, (2, EAST): east + 4})
    assert sampling.executions_lacking == 7 + 4
    sampling.walk({(1, WEST): west + 9})    # in place of those
    assert sampling.executions_lacking == 9
    sampling.leave(1)
    assert sampling.executions_lacking == 0


def test_what_is_preferred_comes_first_until_it_lacks_nothing() -> None:
    corridor = Corridor(4)
    corridor.sample_all()
    corridor.here = 0
    corridor.sampling.prefer(2)
    assert not corridor.sampling.preferred    # it lacks nothing
    for state in (0, 2):
        corridor.sampling.want((state, WEST), corridor.visits(state, WEST) + 2)
    corridor.sampling.prefer(2)
    assert corridor.sampling.preferred
    assert [corridor.step() for _ in range(3)] == [(0, EAST), (1, EAST), (2, WEST)]
    while corridor.sampling.preferred:
        corridor.step()
    assert list(corridor.sampling.open) == [0]


def test_a_state_that_is_left_is_not_sampled_any_more() -> None:
    corridor = Corridor(3)
    corridor.sample_all()
    corridor.sampling.want((2, WEST), 50)
    corridor.sampling.leave(2)
    assert 2 not in corridor.sampling.sampled and not corridor.sampling.open
    corridor.sampling.enter(2)    # and what was wanted still is
    assert list(corridor.sampling.open) == [2]


def test_without_a_way_a_policy_leads_there_and_a_state_out_of_its_reach_is_left_out() -> None:
    corridor = Corridor(1)
    sampling = corridor.sampling
    corridor.sample_all()
    path = Policy(7, 6, (0, 7), ((EAST, RESET),))
    sampling.enter(7, path)
    assert sampling.action(5) == RESET    # away from home the way begins with a RESET
    trips = 0
    for _ in range(500):
        if not sampling.open:
            break
        action = sampling.action(0)
        trips += action == EAST
        sampling.observe(0, action, 0)    # it never arrives
    assert not sampling.open and trips
    assert 7 in sampling.sampled
    sampling.observe(0, EAST, 7)    # whoever is met there is no longer given up
    sampling.reopen(7)
    assert list(sampling.open) == [7]


def test_without_way_or_policy_the_least_tried_action_at_home() -> None:
    corridor = Corridor(1)
    corridor.sample_all()
    corridor.sampling.enter(9)
    corridor.counts.add(0, EAST, 0)
    corridor.rows.add(0, EAST, 0)
    assert corridor.visits(0, EAST) > corridor.visits(0, WEST)
    assert corridor.sampling.action(0) == WEST
    corridor.sampling.urge((9, WEST))
    corridor.sampling.action(0)
    assert not corridor.sampling.urgent    # what no way leads to is urgent no more


def test_ways_are_those_of_a_matrix_that_scipy_has_sorted() -> None:
    """Among ways of equal cost, too: what is explored next must not depend on it."""
    random = np.random.default_rng(1)
    for size in (1, 2, 9, 40):
        pairs = random.permutation(size * size)[:3 * size]
        origins, ends = pairs // size, pairs % size
        costs = random.integers(1, 4, len(pairs)).astype(float)
        for options in ({'indices': 0}, {
                'indices': [0, size - 1], 'min_only': True, 'return_predecessors': True}):
            expected = dijkstra(csr_matrix((costs, (origins, ends)), (size, size)), **options)
            found = least_costs(size, costs, origins, ends, **options)
            np.testing.assert_equal(found, expected)
