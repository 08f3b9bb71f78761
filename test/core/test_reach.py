# SPDX-License-Identifier: Apache-2.0

"""New states beyond the radius come and go without a change; those within it tell of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from binomial import binomial_tail
from mnm_ros.core import Policy, Problem, RESET, Round, settings
from mnm_ros.core.components import CHECKS, part
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.model import snapshot
from mnm_ros.core.statistics.delta_spending import round_delta
from mnm_ros.core.statistics.reach import Reach
from mnm_ros.core.watch.watch_phase import WatchPhase
import numpy as np
import pytest
from scripted import alarm, HOME, ScriptedBase
from test_watch_changes import far, Slow, slow_watching
from test_watch_phase import known, run, Script
from tiers import strength, thorough

LIMIT = 8.0


class Optimistic(ScriptedBase):
    """Takes every state for a near one."""

    estimates = {3: 1.0, 5: 3.0}


def watching_five(chance: float) -> tuple[WatchPhase, ChangeLog, Slow]:
    """Return a phase that is about to add state 5, which takes ``1 / chance`` steps."""
    checking, log = slow_watching(Script((HOME, 3, 5)), (HOME, 3))
    checking.parts.rediscovery.base = Optimistic(10, (HOME, 3, 5))
    return checking, log, Slow({5: chance}, 0)


def test_a_state_that_only_seems_to_be_within_the_radius_tells_of_no_change() -> None:
    checking, log, world = watching_five(1 / 4.8)
    run(checking, world, lambda: known(checking) == (HOME, 3, 5))
    assert log.noticed == 0
    for _ in range(5000):
        checking.observe(action := checking.next_action(), world.step(action))
    assert log.noticed == 0


def test_a_state_within_the_radius_tells_of_a_change_once_that_is_certain() -> None:
    checking, log, world = watching_five(0.8)
    run(checking, world, lambda: known(checking) == (HOME, 3, 5))
    assert run(checking, world, lambda: log.noticed == 1) < 1000
    run(checking, world, lambda: log.relearnt == 1)
    # It is part of what is known from now on.
    for _ in range(3000):
        checking.observe(action := checking.next_action(), world.step(action))
    assert log.noticed == 1


def through_five(reach: Reach, times: int) -> tuple[Policy, ...]:
    """
    Let ``reach`` see two states, 5 and 7, each of which is near with the help of the other alone.

    The action leads to either with a chance of 0.2 and else stays, and from one to the other:
    with a RESET in the other one, each takes 6 steps, and with the other one's help 3.
    """
    for _ in range(times):
        for after in (5, 7, HOME, HOME, HOME):
            reach.add_transition(HOME, 1, after)
        reach.add_transition(5, 1, 7)
        reach.add_transition(7, 1, 5)
    states = (HOME, 5, 7)
    return (Policy(HOME, 12, states, ((RESET,) * 3,)), Policy(5, 12, states, ((1, RESET, 1),)),
            Policy(7, 12, states, ((1, 1, RESET),)))


def test_what_is_near_only_by_way_of_states_beyond_the_radius_tells_of_no_change() -> None:
    reach = Reach(4.0, 0.001)
    policies = through_five(reach, 2000)
    reach.enter((5, 7))
    assert reach.within(policies[1], 4.0) and reach.within(policies[2], 4.0)
    assert reach.found(policies) == []
    # Where the radius is larger, both are within it.
    reach = Reach(9.0, 0.001)
    through_five(reach, 2000)
    reach.enter((5, 7))
    assert reach.found(policies) == [5, 7]


def test_steps_that_were_broken_off_may_have_led_anywhere() -> None:
    found = []
    for lost in (0, 40):
        reach = Reach(2.0, 0.001)
        for _ in range(100):
            reach.add_transition(HOME, 5, 5)
        for _ in range(lost):
            reach.sets.add_censored(HOME, 5)
        reach.enter((5,))
        found.append(reach.found((far(HOME), far(5))))
    assert found == [[5], []]


def test_all_moments_from_which_on_it_looks_share_one_delta() -> None:
    reach, given = Reach(4.0, 0.01), []
    for _ in range(200):
        given.append(reach.sets.delta)
        reach.start_again()
    assert given[0] == 0.005 and sum(given) < 0.01


def test_it_goes_on_from_a_snapshot_as_if_nothing_had_happened() -> None:
    reach = Reach(9.0, 0.001)
    policies = through_five(reach, 2000)
    reach.enter((5,))
    again = Reach(9.0, 0.001)
    snapshot.put(snapshot.take(reach), again)
    assert again.found(policies) == reach.found(policies) == [5]
    assert snapshot.take(again) == snapshot.take(reach)


def star(base: str, seed: int, steps: int, tries: float) -> tuple[int, int]:
    """
    Return what was noticed and added in checks of a star that never changes, from home alone.

    Each of four states is hit by an action of its own, which else stays put.
    """
    resolved = settings(Problem(4, 4.0, 3.0, 0.1), overrides={'base': base})
    runs, rng, log, here = 0, np.random.default_rng(seed), ChangeLog(), HOME

    def new_base(problem: Problem, policies: tuple[Policy, ...]):    # noqa: ANN202
        nonlocal runs
        runs += 1
        return part('base', base)(replace(resolved, problem=problem), HOME,
                           np.random.default_rng([seed, runs]), policies)

    home = Policy(HOME, resolved.steps_horizon, (HOME,), ((RESET,),))
    problem = replace(resolved.problem, delta=round_delta(0.1, 1))
    checking = CHECKS['watch'](resolved)(Round(1, problem, new_base, 0, 5000, log), (home,))
    for _ in range(steps):
        action = checking.next_action()
        if action == RESET:
            here = HOME
        elif here == HOME and rng.random() < 1 / tries:
            here = action + 1
        checking.observe(action, here)
    return log.noticed, len(checking.policies) - 1


@pytest.mark.parametrize('base, seeds, steps', [
    ('disco', strength([11, 12, 14], range(11, 17)), 400),
    pytest.param('ucb_explore', range(6), 1500, marks=thorough(
        'core/test_reach.py::'
        'test_states_a_little_beyond_the_radius_are_added_and_tell_of_no_change'))])
def test_states_a_little_beyond_the_radius_are_added_and_tell_of_no_change(
        base: str, seeds: Sequence[int], steps: int) -> None:
    found = [star(base, seed, steps, 5.2) for seed in seeds]
    assert sum(added for _, added in found) >= 3
    assert [noticed for noticed, _ in found] == [0] * len(found)


def too_slow_after(chance: float, delta: float, times: int, seed: int) -> int | None:
    """Return after how many transitions a policy over one step is found to be too slow."""
    reach, rng = Reach(4.0, delta), np.random.default_rng(seed)
    for number, arrives in enumerate(rng.random(times) < chance):
        reach.add_transition(HOME, 3, 3 if arrives else HOME)
        if number % 20 == 19 and reach.too_slow(far(3), LIMIT)[0]:
            return number
    return None


def test_a_policy_is_too_slow_by_the_sets_as_rarely_as_their_delta_says() -> None:
    """It takes just the limit; and one that takes twice as long is found out."""
    trials = strength(12, 40)
    wrong = [seed for seed in range(trials)
             if too_slow_after(0.129, 0.4, 600, seed) is not None]
    assert binomial_tail(trials, 0.2, len(wrong)) > 1e-3, f'seeds {wrong}'
    assert all(too_slow_after(0.04, 0.001, 600, seed) is not None for seed in range(3))


def test_a_notice_begins_the_sets_again_and_an_alarm_forgets_its_pair() -> None:
    checking, log = slow_watching(Script((HOME, 3)), (HOME, 3))
    world = Slow({}, 0)
    for _ in range(200):
        checking.observe(action := checking.next_action(), world.step(action))
    reach = checking.parts.reach
    assert reach.sets.counts.visits(HOME, 3) and not log.open
    checking.doubts.notice()
    assert log.open and not reach.sets.counts.visits(HOME, 3)
    for _ in range(50):
        checking.observe(action := checking.next_action(), world.step(action))
    assert reach.sets.counts.visits(HOME, 3)
    checking.doubts.notice()    # so that what is proven by them is since then
    assert not reach.sets.counts.visits(HOME, 3)
    for _ in range(50):
        checking.observe(action := checking.next_action(), world.step(action))
    assert reach.sets.counts.visits(HOME, 3)
    checking.parts.transitions.record = alarm    # type: ignore[method-assign]
    checking.doubts.observe(HOME, 3, 3)
    assert not reach.sets.counts.visits(HOME, 3)
