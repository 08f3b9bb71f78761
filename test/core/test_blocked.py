# SPDX-License-Identifier: Apache-2.0

"""Pairs known to be blocked: carried soundly, tried again at a rate, sampled after a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
import math

from mnm_ros.core import (
    CarriedPair,
    Counts,
    Declaration,
    EmpiricalModel,
    Exploration,
    OptimisticPlanner,
    Problem,
    RESET,
    Samples,
    settings,
    Steered,
    Support,
    TransitionRows,
)
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.paper.ucb_explore import UcbExplore
from mnm_ros.core.planning.plausible import confidence_region, Rank
from mnm_ros.core.statistics.delta_spending import SHARES
from mnm_ros.core.watch.blocked import BlockedPairs
import numpy as np
import pytest
from saved import again
from tiers import strength, thorough

RATE, DELTA = 0.05, 1e-4
RADIUS = 5.0


class Plain(Samples):
    """A run that takes note of what it is asked for, and cannot carry anything."""

    def __init__(self) -> None:
        self.carried: dict[Pair, CarriedPair] = {}
        self.asked: list[Pair] = []

    def request_sample(self, state: int, action: int) -> None:
        self.asked.append((state, action))


class Base(Plain, Steered):
    """A run that records the counts that it begins with."""

    auditable = prefer = avoid = leave_closed = None    # type: ignore[assignment]

    def carry(self, seen: Mapping[Pair, CarriedPair]) -> None:
        self.carried = dict(seen)


def watch(stays: Collection[Pair], executions: int = 40) -> TransitionMonitor:
    found = TransitionMonitor(DELTA)
    for state, action in stays:
        for _ in range(executions):
            found.record(state, action, state)
    return found


def blocked(
        transitions: TransitionMonitor, declared: Declaration | None = None) -> BlockedPairs:
    anywhere = Declaration({at: ((at, 99), (at, 99)) for at in range(3)})
    return BlockedPairs(transitions, Support(declared or anywhere), RATE, DELTA, False)


def begun(pairs: BlockedPairs, known: Collection[int], base: Base) -> Base:
    pairs.begin(base, known)    # type: ignore[arg-type]
    return base


def test_what_nearly_always_stayed_is_known_to_be_blocked() -> None:
    transitions = watch([(0, 0)])
    for step in range(100):
        transitions.record(0, 1, 0 if step != 50 else 7)
        transitions.record(1, 0, 1 if step % 20 else 7)
    for _ in range(9):
        transitions.record(1, 1, 1)
    found = {pair: (tally, part) for pair, tally, part in transitions.blocked}
    assert found.keys() == {(0, 0), (0, 1)}
    assert found[0, 1][0] == {0: 99, 7: 1}
    assert 1 > found[0, 0][1] > found[0, 1][1] > 0    # the share of the detector's number


@pytest.mark.parametrize('share_of_new', [True, False])
def test_the_least_recently_executed_comes_first_at_the_stated_rate(share_of_new: bool) -> None:
    """Three of four times it is one that may lead to a state that is not known."""
    pairs = [(state, 0) for state in range(6)]
    declared = Declaration({state: ((state, 10 + state if share_of_new and state < 3 else 5),)
                            for state in range(5)} | {5: ((5, 99),)})
    tried = blocked(watch(pairs), declared)
    base = begun(tried, range(6), Base())
    assert base.carried.keys() == {*pairs}
    executed: Counter[Pair] = Counter()
    order = []
    for _ in range(24_000):
        pair = base.asked.pop(0) if base.asked else None
        tried.executed(base, pair)    # type: ignore[arg-type]
        if pair is not None:
            executed[pair] += 1
            order.append(pair)
    assert sum(executed.values()) <= 24_000 * RATE + 1
    new = [pair for pair in order if pair[0] < 3 or pair[0] == 5] if share_of_new else [
        pair for pair in order if pair[0] == 5]    # to where nothing is known
    if share_of_new:
        assert len(order) >= 24_000 * RATE - 2
        assert len(new) / len(order) == pytest.approx(3 / 4, abs=0.01)
        assert all(a == b for a, b in zip(new[:-4], new[4:]))
    else:    # it waits as long as if there were three
        assert len(new) <= 24_000 * RATE / 3 + 1
    others = [pair for pair in order if pair not in new]
    around = 2 if share_of_new else 5
    assert all(a == b for a, b in zip(others[:-around], others[around:]))


def test_what_a_run_executes_for_itself_is_no_debt() -> None:
    """Issue: after 500 such executions nothing was tried again for 20,000 steps."""
    pairs = [(state, 0) for state in range(3)]
    tried = blocked(watch(pairs), Declaration({state: ((state, 9),) for state in range(3)}))
    base = begun(tried, range(3), Base())
    for step in range(500):
        tried.executed(base, pairs[step % 3])    # type: ignore[arg-type]
    base.asked.clear()
    last, longest = dict.fromkeys(pairs, 0), 0
    for step in range(4000):
        pair = base.asked.pop(0) if base.asked else None
        tried.executed(base, pair)    # type: ignore[arg-type]
        if pair is not None:
            longest = max(longest, step - last[pair])
            last[pair] = step
    longest = max(longest, *(4000 - before for before in last.values()))
    assert longest <= 4 * len(pairs) / RATE


def test_a_change_is_relearnt_without_what_is_carried_and_a_base_may_not_take_it() -> None:
    tried = blocked(watch([(0, 0), (1, 0)]))
    base = begun(tried, [0], Base())
    assert base.carried.keys() == {(0, 0)}    # 1 is not known
    assert base.carried[0, 0].tally == {0: 40}
    tried.notice(base)    # type: ignore[arg-type]
    assert not base.carried and not begun(tried, [0], Base()).carried
    resumed = again(tried, blocked(watch([(0, 0)])))
    assert not begun(resumed, [0], Base()).carried
    resumed.settle()
    assert begun(resumed, [0], Base()).carried
    undeclared = BlockedPairs(watch([(0, 0)]), Support(), RATE, DELTA, False)
    assert not begun(undeclared, [0], Base()).carried
    unable = begun(resumed, [0], Plain())
    for _ in range(1000):
        resumed.executed(unable, None)    # type: ignore[arg-type]
    assert not unable.asked


def test_what_led_on_once_is_tried_at_once_until_it_did_not_twice() -> None:
    transitions = watch([(0, 0)], 500)
    tried = blocked(transitions)
    begun(tried, [0], Base())
    told = []
    for after in (7, 0, 7, 0, 0):
        transitions.record(0, 0, after)
        told.append(tried.opens((0, 0), after))
    assert told == [True, True, True, True, False] and not tried.opening


def model_of(stays: int, carried: int) -> EmpiricalModel:
    """Return home, whose one action always stayed, in the run and before."""
    counts = Counts()
    rows = TransitionRows(counts, 1)
    rows.enter(0)
    for _ in range(stays):
        counts.add(0, 0, 0)
        rows.add(0, 0, 0)
    rows.carry({(0, 0): {0: carried}} if carried else {})
    return EmpiricalModel.of(rows, [0])


@pytest.mark.parametrize('chance', [0.05, 0.2, 0.6, pytest.param(0.01, marks=thorough(
    'core/test_blocked.py::'
    'test_a_carried_pair_that_leads_on_after_all_is_ruled_out_no_more_often_than_its_delta'))])
def test_a_carried_pair_that_leads_on_after_all_is_ruled_out_no_more_often_than_its_delta(
        chance: float) -> None:
    """It is carried for having stayed, so that nothing but its own statement may count."""
    nats = -math.log(DELTA)
    for executions in range(1, 3000):
        model = model_of(0, executions)
        hits = np.zeros(model.places.shape, dtype=bool)
        region = confidence_region(
            model, hits, model.leads(None), 0, Rank.last([0], [0], [None]), 0.1, RADIUS,
            np.array([nats]))
        assert (region.mass[0] == region.mass[1]).all()    # whatever it has spent
        if region.mass[0, 0] < chance:
            break
    assert executions < 2999
    assert (1 - chance) ** executions <= DELTA < (1 - chance) ** (executions / 1.2 - 2)


def test_the_rank_of_what_is_carried_counts_all_states() -> None:
    """However small the budget of the run is for what was not given."""
    model = model_of(3, 400)
    planner = OptimisticPlanner(0.1, RADIUS, [0])
    before = planner.plan(model, None).steps
    planner.carry({(0, 0): DELTA})
    carried = planner.plan(model, None).steps
    assert carried < before    # as all of them count as those of the run otherwise
    planner.forget_carried((0, 0))
    assert planner.plan(model, None).steps == pytest.approx(before)


def test_rows_have_what_is_carried_until_the_pair_is_forgotten() -> None:
    counts = Counts()
    rows = TransitionRows(counts, 2)
    rows.carry({(0, 1): {0: 50, 3: 1}})
    rows.enter(0)
    counts.add(0, 1, 0)
    rows.add(0, 1, 0)
    assert rows.carried((0, 1)) == 51 and rows.tally.sum() == 52
    assert rows.carry({(0, 0): {0: 30}}) == [(0, 1), (0, 0)]
    assert rows.tally.sum(axis=1).tolist() == [30, 1]
    rows.forget(0, 0)
    assert rows.carried((0, 0)) == 0 and rows.tally.sum(axis=1).tolist() == [0, 1]


def test_the_part_of_delta_is_set_aside() -> None:
    assert sum(SHARES.values()) == pytest.approx(1) and SHARES['blocked'] > 0


def flat_with_a_closet(opened: int, steps: int, base: str, seed: int,
                       ) -> tuple[Exploration, list[int]]:
    """Explore four places in a row; by the map a closet is off the last one, but it is blocked."""
    ends = {state: (tuple({min(state + 1, 3), state}), tuple({max(state - 1, 0), state}),
                    (9, 3) if state == 3 else (state,)) for state in (0, 1, 2, 3)}
    exploration = Exploration(
        settings(Problem(3, RADIUS, 1.0, 0.1), overrides={'base': base}), seed)
    exploration.declare(Declaration({**ends, 9: ((9,), (3, 9), (9,))}))
    rng, here, tried = np.random.default_rng(seed), 0, []
    while exploration.steps < steps and not exploration.changes_noticed:
        action = exploration.next_action()
        works = rng.random() < 0.9
        if (here, action) == (3, 2) and exploration.hypothesis is not None:
            tried.append(exploration.steps)
        if action == RESET:
            here = 0
        elif here == 9:
            here = 3 if action == 1 and works else 9
        elif action < 2 and works:
            here = min(3, here + 1) if action == 0 else max(0, here - 1)
        elif (here, action) == (3, 2) and exploration.steps >= opened:
            here = 9 if works else 3
        exploration.observe(action, here)
    return exploration, tried


def test_a_blocked_door_is_pushed_rarely_and_its_opening_is_noticed() -> None:
    opened = strength(600, 8000)
    exploration, tried = flat_with_a_closet(opened, opened + 1000, 'disco', 0)
    half = opened // 2
    late = [step for step in tried if half <= step < opened]
    assert 0.0025 * half <= len(late) <= 0.01 * half, len(late)
    assert exploration.changes_noticed
    assert opened < exploration.steps < opened + 600, exploration.steps


def test_the_other_base_samples_all_in_each_rediscovery() -> None:
    assert not issubclass(UcbExplore, Steered)
