# SPDX-License-Identifier: Apache-2.0

"""A way that has closed is left alone until it is time to look again."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
from typing import Any

from mnm_ros.core import (
    Counts,
    Exploration,
    LookInput,
    PairChange,
    Policy,
    Problem,
    Recollection,
    RESET,
    settings,
    TransitionRows,
)
from mnm_ros.core.detection.pair_watch import News, PairWatch
from mnm_ros.core.disco.sample import Sampling
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.watch.policy_checks import Turns
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.simulation.route_scenario import RouteWorld
from mnm_ros.simulation.scenario import of_graph, Scenario
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from saved import again
from small_worlds import row as row_of_places
from small_worlds import scenario_of
from test_fleet import still
from tiers import strength

CLOSED = PairChange(3, 1, {4: 40, 3: 1}, {3: 9})


def test_what_led_on_and_stays_now_is_closed_until_it_leads_on() -> None:
    watch = PairWatch()
    watch.change(CLOSED)
    assert [*watch.closed] == [(3, 1)] and not watch.shut    # as nobody has a clock
    assert execute(watch, 4) is None
    watch.leave_to_caller()
    for other in (PairChange(3, 1, {3: 40}, {4: 9}), PairChange(3, 1, {4: 40}, {5: 9}),
                  PairChange(3, 1, {4: 40}, {3: 8, 4: 2}), PairChange(3, 1, {4: 40}, {}),
                  PairChange(3, 1, {3: 40, 4: 9}, {3: 9})):
        watch.change(other)
        assert not watch.closed
    watch.change(CLOSED)
    assert watch.closed == {(3, 1): 0} and [*watch.shut] == [(3, 1)] and not watch.due
    for _ in range(3):
        assert execute(watch, 3) is None    # nobody wanted a re-check
    watch.recheck((2, 0))
    assert not watch.due
    watch.recheck((3, 1))
    assert [*watch.due] == [(3, 1)] and not watch.shut
    resumed = again(watch)
    assert execute(resumed, 3) is None and [*resumed.due] == [(3, 1)]
    assert execute(resumed, 3) is News.STILL_CLOSED and resumed.closed == {(3, 1): 1}
    assert execute(resumed, 4) is News.OPEN and not resumed.closed
    watch.leave([9])
    assert watch.closed
    watch.leave([3])
    assert not watch.closed and not watch.due


def execute(watch: PairWatch, next_state: int) -> News | None:
    """Record an execution of the pair after its alarm, since when it mostly stays."""
    return watch.record((3, 1), next_state, (3, 9, 10), rests=True)


def row(policy: Policy | None = None) -> Sampling:
    """Return the sampling of 0, 1, 2 in a row, where 2 and the way there lack an execution."""
    counts = Counts()
    rows = TransitionRows(counts, 2)
    sampling = Sampling(counts, rows, 50)
    for state in range(3):
        sampling.enter(state, policy if state == 2 else None)
        ends = (min(1, state + 1), max(0, state - 1)) if state < 2 else (2, 2)
        for action, after in enumerate(ends):
            for _ in range(5):
                counts.add(state, action, after)
                rows.add(state, action, after)
        sampling.reopen(state)
    sampling.want((1, 0), 6)
    sampling.want((2, 0), 6)
    return sampling


@pytest.mark.parametrize('policy', [
    None, Policy(2, 9, (0, 1, 2), ((0, 0, RESET),))], ids=['no way', 'a way that is closed'])
def test_what_is_behind_is_left_alone_too(policy: Policy | None) -> None:
    sampling = row(policy)
    sampling.leave_closed([(1, 0)])
    assert sampling.action(1) == 0    # nothing else can be done
    sampling.want((0, 1), 6)
    assert sampling.action(1) != 0
    sampling.leave_closed([])
    assert sampling.action(1) == 0


def test_no_way_leads_to_where_all_that_is_lacking_can_wait() -> None:
    """Getting Started's warehouse, seed 6: to and fro for 60,000 steps, on the way of before."""
    counts, ends = Counts(), {0: (1, 2), 1: (1, 1), 2: (2, 2)}
    rows = TransitionRows(counts, 2)
    sampling, here, seen = Sampling(counts, rows, 50), 0, list[Pair]()
    for state in ends:
        sampling.enter(state)

    def step(state: int, action: int) -> int:
        if action == RESET:
            return 0
        counts.add(state, action, ends[state][action])
        rows.add(state, action, ends[state][action])
        return ends[state][action]

    for pair in ((state, action) for state in ends for action in (0, 1)):
        step(*pair)
    for pair in ((1, 0), (2, 0), (2, 1)):
        sampling.want(pair, 2)
    for state in ends:
        sampling.reopen(state)
    sampling.leave_closed([(2, 0)])
    for _ in range(9):
        action = sampling.action(here)
        after = step(here, action)
        sampling.observe(here, action, after)
        seen.append((here, action))
        here = after
    assert seen.index((2, 1)) < seen.index((1, 0)) < seen.index((2, 0)), seen


def test_what_was_left_out_comes_back_with_any_arrival() -> None:
    """Family twice_tree, seed 70003: a rediscovery that came by in attempts alone never ended."""
    for told, left_out in ((False, [3]), (True, [])):
        sampling = row()
        sampling._trips[2] = 3
        sampling.reopen(2)
        assert 2 not in sampling.open
        if told:
            sampling.leave_closed([])
        sampling.arrive(2)
        assert [*sampling._trips.values()] == left_out and (2 in sampling.open) == told


def test_policies_that_wait_have_no_turn() -> None:
    turns = Turns((1, 2, 3))
    turns.prefer([2])
    assert {turns.next({}, 2, [2]) for _ in range(6)} == {1, 3}
    assert turns.next({}, 2, [1, 2, 3]) is None
    assert 2 in {turns.next({}) for _ in range(2)}


_ROW, _CLOSED_ROW = row_of_places(3), row_of_places(3, closed=(1, 0))
WORLD = strength(scenario_of(_ROW, _CLOSED_ROW, _ROW), still('two_rooms'))
LEFT = strength(2, 6)    # places, when the door has closed
SETTLED, MOST = strength((150, 400), (1500, 3000))    # steps before the change, and after it


class Door:
    """An exploration of two rooms, or of a row, that is watched when a door closes."""

    def __init__(self, seed: int, told: bool, state: dict[str, Any] | None = None) -> None:
        self.simulator = Simulator(WORLD, seed)
        self.exploration = Exploration(
            settings(Problem(len(WORLD.actions), 4.0, 1.0, 0.1)), seed, state)
        if told:
            self.exploration.leave_closed()
        while self.exploration.hypothesis is None:
            self.step()
        self.step(SETTLED)
        self.known = self.places

    @property
    def places(self) -> int:
        assert self.exploration.hypothesis is not None
        return len(self.exploration.hypothesis.policies)

    def step(self, times: int = 1) -> list[Pair]:
        """Return what was executed."""
        executed: list[Pair] = []
        for _ in range(times):
            here, action = self.exploration.last_state, self.exploration.next_action()
            self.exploration.observe(action, self.simulator.step(action))
            if here is not None and action != RESET:
                executed.append((here, action))
        return executed

    def until_known(self, places: int, most: int) -> list[Pair]:
        """Go on until so many places are known; return what was executed."""
        executed = []
        for _ in range(most):
            if self.places == places:
                return executed
            executed += self.step()
        raise AssertionError(f'{self.places} places are known, not {places}')

    def change(self) -> set[Pair]:
        """Return the pairs that lead elsewhere now."""
        before = self.simulator.cmp
        self.simulator.change()
        now = self.simulator.cmp
        return {(state, action) for state in range(30) for action in range(now.actions)
                if before.transitions(state, action) != now.transitions(state, action)}


@pytest.mark.parametrize('seed', range(strength(1, 2)))
def test_a_closed_door_is_pushed_less_and_found_open_by_a_look(seed: int) -> None:
    pushed = {}
    for told in (False, True):
        door = Door(seed, told)
        changed = door.change()
        executed = door.until_known(LEFT, MOST)
        cut_off = sum(pair in changed for pair in executed)
        executed += door.step(MOST - len(executed))
        pushed[told] = cut_off, sum(pair in changed for pair in executed)
    assert max(pushed[True][0], pushed[False][0]) < 30, pushed    # a certificate takes some 100
    assert pushed[True][1] < pushed[False][1], pushed
    exploration = door.exploration
    assert exploration.changes_relearnt == 1 and not exploration.revising
    (closed, looks), = exploration.closed.items()
    assert closed in changed and looks == 0
    assert closed not in door.step(300)
    exploration.look(*closed)
    assert closed in door.step(50) and exploration.closed == {closed: 1}
    assert 'is still blocked' in [sentence(event.said) for event in exploration.events][-1]
    door.change()
    assert closed not in door.step(50)
    exploration.look()
    assert closed in door.step(50) and not exploration.closed
    door.until_known(door.known, 4000)


def test_it_goes_on_from_a_snapshot_as_it_would_have() -> None:
    door = Door(1, told=True)
    changed = door.change()
    door.until_known(LEFT, MOST)
    exploration = door.exploration
    for look in (False, True):
        if look:
            assert exploration.look(*[*exploration.closed][0]).input == LookInput(
                *[*exploration.closed][0], asked=None)
        again = Exploration(
            exploration.settings, 1, json.loads(json.dumps(exploration.to_state())))
        again.lose_place()
        exploration.lose_place()
        assert again.closed == exploration.closed
        for _ in range(strength(100, 400)):
            action = exploration.next_action()
            assert again.next_action() == action
            state = door.simulator.step(action)
            exploration.observe(action, state)
            again.observe(action, state)
    assert exploration.closed.keys() & changed


def test_a_new_round_leaves_closed_ways_alone_as_well() -> None:
    exploration = Exploration(settings(Problem(2, 2.0, 1.0, 0.1)), 0)
    assert exploration.leave_closed() is not None and exploration.leave_closed() is None
    assert exploration.mnm.pairs.scheduled    # before home is known
    exploration.observe(RESET, 0)
    while exploration.hypothesis is None:
        exploration.observe(exploration.next_action(), 0)
    checking: Any = exploration.mnm.phase
    assert checking.parts.pairs.scheduled and exploration.closed == {}


def ring() -> tuple[RouteWorld, Scenario]:
    """Return six places in a ring, between two of which a door closes after the first change."""
    graph = PlaceGraph(Path('ring.geojson'), {
        place: Place(4.0 * place, 0.0) for place in range(6)}, tuple(
        Edge(f'{place}{way}', *ends) for place in range(6)
        for way, ends in enumerate(((place, (place + 1) % 6), ((place + 1) % 6, place)))))
    world = RouteWorld(graph, frozenset({(1, 2), (2, 1)}))
    return world, of_graph(world)


def test_a_closed_way_stays_closed_over_a_new_round_until_a_look_shows_it_open() -> None:
    world, scenario = ring()
    graph, radius = world.graph, world.radius + 4    # with the way round
    exploration = Exploration(settings(Problem(graph.actions, radius, 1.0, 0.1)))
    exploration.declare(graph.declaration.audited())
    simulator, tried = Simulator(scenario, 0), list[Pair]()

    def drive(until: Callable[[], object], most: int = 3000) -> None:
        for _ in range(most):
            here, action = exploration.last_state, exploration.next_action()
            if here is not None and (here, action) in exploration.closed:
                tried.append((here, action))
            exploration.observe(action, simulator.step(action))
            if until():
                return
        raise AssertionError(f'not within {most} steps')

    def told(kind: str) -> bool:
        return any(type(event.said).__name__ == kind for event in exploration.events)

    drive(lambda: exploration.hypothesis and exploration.steps > 300)
    exploration.leave_closed()
    simulator.change()
    drive(lambda: exploration.closed)
    (closed, *_), round_ = exploration.closed, exploration.mnm.round
    exploration.mnm.rebuild_from(Recollection(exploration.home, ()))    # nothing else counts
    assert exploration.mnm.round > round_ and closed in exploration.closed
    tried.clear()
    exploration.look(*closed)
    drive(lambda: told('WayStillClosed'))
    assert exploration.mnm.under_revision and tried.count(closed) == 2
    tried.clear()
    drive(lambda: not exploration.mnm.under_revision)
    assert closed in exploration.closed and tried.count(closed) <= 2
    assert exploration.hypothesis.targets and len(exploration.hypothesis.policies) == 6
    exploration.mnm.rebuild_from(Recollection(exploration.home, ()))
    simulator.change()    # back to the first setting
    exploration.look()
    drive(lambda: told('WayOpen'))
    assert closed not in exploration.closed
