# SPDX-License-Identifier: Apache-2.0

"""
A sceptic looks at a fleet: whether anything but the order of beginning decides what is learnt.

The argument is in ``docs/explanation/fleet.md``; each step of it has an experiment here that fails
without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from mnm_ros.core import (
    Exploration,
    Fleet,
    Interruption,
    Member,
    Observation,
    Problem,
    RESET,
    RunState,
    settings,
)
from mnm_ros.core.fleet.assignments import look_ahead
from mnm_ros.core.fleet.fleet import SamplePool, Ticket
from mnm_ros.core.inputs import Input
from mnm_ros.core.model.counts import Pair
from mnm_ros.simulation.scenario import load
import numpy as np
import pytest
from small_worlds import closing_row
from tiers import strength

CORRIDOR = strength(closing_row(), load('corridor'))
PROBLEM = Problem(len(CORRIDOR.actions), strength(2.0, 4.0), 1.0, strength(0.5, 0.1))


class Stacks:
    """Outcomes of each pair that were drawn before anything happened."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn: dict[Pair, list[int]] = {}
        self.begun: Counter[Pair] = Counter()

    def next(self, pair: Pair) -> int:    # noqa: A003
        if pair not in self._drawn:
            rng = np.random.default_rng([self._seed, pair[0], pair[1]])
            outcomes = CORRIDOR.settings[0].cmp.transitions(*pair)
            self._drawn[pair] = rng.choice(
                [state for state, _ in outcomes], size=4000, p=[p for _, p in outcomes]).tolist()
        self.begun[pair] += 1
        return self._drawn[pair][self.begun[pair] - 1]


class WatchedFleet(Fleet):
    """Keeps what each robot has to settle."""

    def __init__(self, seed: int) -> None:
        super().__init__(Exploration(settings(PROBLEM), seed), seed)
        self.tickets: dict[str, Ticket | None] = {}

    def _choose(self, name: str, here: int) -> tuple[int, Ticket | None]:
        action, self.tickets[name] = super()._choose(name, here)
        return action, self.tickets[name]


def new_fleet(seed: int = 0) -> WatchedFleet:
    return WatchedFleet(seed)


def recorded(fleet: Fleet) -> list[Input]:
    """Return what is taken from now on, whichever robot has made it."""
    taken: list[Input] = []
    fleet.exploration.listeners.append(
        lambda each: taken.append(replace(each.input, robot='')))
    return taken


def explore(robots: int, delay: Callable[[int, Pair, int], int], lost: float = 0.0) -> list[Input]:
    """Return what the virtual robot takes until the first hypothesis; all stacks are the same."""
    fleet, stacks, surplus = new_fleet(), Stacks(7), Stacks(8 + robots)
    taken, rng = recorded(fleet), np.random.default_rng(9)
    members = [Member(fleet, f'robot {number}') for number in range(robots)]
    due: dict[Member, tuple[int, int | None]] = dict.fromkeys(members, (0, None))
    now = 0
    while fleet.exploration.hypothesis is None:
        now += 1
        for number, member in enumerate(members):
            when, state = due[member]
            if when > now:
                continue
            if state is not None:
                member.observe(member.next_action(), state)
            before, action = member.last_state, member.next_action()
            if action == RESET or before is None:
                due[member] = now + 1, CORRIDOR.start
                continue
            # What is not recorded must not matter, so it comes from elsewhere.
            filled = stacks if fleet.tickets[f'robot {number}'] else surplus
            after = filled.next((before, action))
            due[member] = now + delay(number, (before, action), after), after
            if rng.random() < lost:
                member.lose_place()
                due[member] = now + 1, None
        fleet.advance()
    return taken


def test_executions_are_taken_in_the_order_in_which_they_began() -> None:
    pool, pair = SamplePool(), (0, 1)
    first, second, third = (pool.begin(pair, name) for name in ('one', 'two', 'one'))
    other = pool.begin((2, 0))
    second.settle(5)
    second.settle(6)    # only the first end counts
    assert pool.take(pair) is None is pool.take((7, 7)) and pool.waiting(pair) == 3
    assert pool.outcomes() == {pair: [], (2, 0): []}
    first.settle(None)
    assert pool.outcomes()[pair] == [None, 5]
    assert pool.take(pair) is first and pool.take(pair) is second and pool.take(pair) is None
    assert second.state == 5 and pool.taken == 2 and list(pool.lately) == [pair, pair]
    assert pool.waiting(pair) == 1 and pool.begun == {pair: 3, (2, 0): 1}
    pool.clear()
    assert pool.begun[pair] == 2 and pool.begun[2, 0] == 0 and pool.outcomes() == {}
    third.settle(1)
    assert pool.take(pair) is None and not other.settled


def test_what_is_learnt_depends_on_the_stacks_alone() -> None:
    """Not on how many robots fill them, nor on how long which outcome takes for whom."""
    alone = explore(1, lambda number, pair, after: 1)
    if strength(False, True):
        assert explore(3, lambda number, pair, after: 1) == alone
        assert explore(2, lambda number, pair, after: 30 if after > pair[0] else 1) == alone
    assert explore(strength(4, 7),
                   lambda number, pair, after: 1 + (after * 5 + number) % 13) == alone


def test_looking_ahead_leaves_no_trace() -> None:
    """What was taken leads an exploration that is not looked ahead of to the same place."""
    taken = explore(strength(2, 4), lambda number, pair, after: 1 + after % 3, lost=0.05)
    exploration = Exploration(settings(PROBLEM), 0)
    for made in taken:
        if isinstance(made, Observation):
            assert exploration.next_action() == made.action
            exploration.observe(made.action, made.state, made.robot)
        else:
            exploration.take(made)
    assert exploration.hypothesis is not None
    assert sum(isinstance(made, Interruption) for made in taken) > 3


def settle_all(fleet: Fleet, members: list[Member]) -> None:
    for member in members:
        action = member.next_action()
        member.observe(action, CORRIDOR.start)


def test_a_run_of_the_base_learns_nothing_from_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = new_fleet()
    members = [Member(fleet, f'robot {number}') for number in range(3)]
    for _ in range(4):
        settle_all(fleet, members)
        fleet.advance()
    settle_all(fleet, members)
    assert sum(ticket is not None and ticket.settled for ticket in fleet.tickets.values()) > 1
    runs, taken = fleet.exploration.mnm.runs.made, recorded(fleet)
    # As if another run of the base had begun.
    monkeypatch.setattr(fleet.exploration.mnm.runs, 'made', runs + 1)

    def learnt() -> int:
        return sum(made != Observation(RESET, CORRIDOR.start) for made in taken)

    fleet.advance()
    fleet.advance()
    assert learnt() == 1    # after which it is noticed
    clear = SamplePool.clear
    # Nothing is taken in another thread before all is gone.
    monkeypatch.setattr(SamplePool, 'clear', lambda pool: (fleet.advance(), clear(pool)))
    members[0].next_action()
    fleet.advance()
    assert learnt() == 1


@pytest.mark.parametrize('end', ['pause', 'finish', 'fail', 'robot_lost', 'join', 'relocate'])
def test_no_robot_waits_for_an_answer_that_may_never_come(end: str) -> None:
    fleet = new_fleet()
    member, other = Member(fleet, 'one'), Member(fleet, 'other')
    settle_all(fleet, [member, other])
    fleet.advance()
    assert member.next_action() != RESET
    ticket = fleet.tickets['one']
    assert ticket is not None and not ticket.settled
    if end == 'join':
        assert fleet.members['one'] is not Member(fleet, 'one')
    elif end == 'relocate':
        member.relocate(3)
    else:
        getattr(member, end)('as a test')
    assert ticket.settled and ticket.state is None
    if end == 'robot_lost':    # it answers in the end: too late for this, but it is there again
        member.observe(member.next_action(), 1)
        assert ticket.state is None and member.state is RunState.RUNNING
        assert member.counts.as_dict()[0, 0] == {1: 1} or member.counts.as_dict()[0, 1] == {1: 1}
    taken = recorded(fleet)
    fleet.advance()
    assert isinstance(taken[0], Interruption)


def test_a_lookahead_follows_what_is_known_and_then_what_was_seen() -> None:
    exploration = new_fleet().exploration
    for _ in range(2):    # the very first RESET, and that of the run
        exploration.observe(exploration.next_action(), 0)
    first, mnm = exploration.next_action(), exploration.understudy()
    assert mnm is not None
    seen = {(0, 0): [1], (0, 1): [1], (1, 0): [0], (1, 1): [0]}
    asked, ended = look_ahead(mnm, 0, 60, {(0, first): [0, None]}, seen, np.random.default_rng(0))
    assert not ended and asked[0, first][0] == 0 and asked.keys() <= seen.keys()
    assert sum(map(len, asked.values())) <= 60 and any(state == 1 for state, _ in asked)
    assert all(steps == sorted(steps) for steps in asked.values())
    # Nothing of it was learnt by the exploration.
    assert exploration.steps == 2 and exploration.next_action() == first


def test_a_lookahead_begins_at_home_and_takes_what_is_known_in_its_order() -> None:
    """Where nothing is known nothing moves, and a RESET asks for nothing."""
    exploration = new_fleet().exploration
    for _ in range(2):
        exploration.observe(exploration.next_action(), 0)
    first = exploration.next_action()
    for here, ready, recent in ((0, {(0, first): [1, 1]}, {}), (0, {}, {(0, first): [1]}),
                                (0, {}, {}), (None, {}, {(0, first): [1]})):
        mnm = exploration.understudy()
        assert mnm is not None
        asked, ended = look_ahead(mnm, here, 4, ready, recent, np.random.default_rng(0))
        assert not ended
        if here is None:    # it only finds out where it is
            assert 0 not in [step for steps in asked.values() for step in steps]
        else:
            assert asked[0, first][0] == 0
            executed = sum(map(len, asked.values()))
            assert executed < 4 if ready or recent else executed == 4    # it came back by RESET
