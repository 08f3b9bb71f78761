# SPDX-License-Identifier: Apache-2.0

"""Patrols: whose attempt is next, for which policies it counts, and how soon each pair is met."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
import random

from binomial import binomial_tail
from mnm_ros.core import Detector, Policy, Problem, RESET, Round
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.statistics.delta_spending import share
from mnm_ros.core.watch.patrol import Patrol
from mnm_ros.core.watch.policy_checks import PolicyChecks, Turns
from mnm_ros.core.watch.policy_monitor import PolicyMonitor
from mnm_ros.core.watch.watch_phase import WatchPhase
import numpy as np
import pytest
from saved import again
from scripted import HOME, ScriptedBase
from tiers import strength, thorough

LIMIT, HORIZON = 8.0, 12
TREE = {0: (1, 2), 1: (3, 4), 2: (5, 6), 3: (7, 8), 6: (9, 10), 9: (11, 12)}
"""Two actions lead to two other states, with a slip of 0.1; elsewhere they stay."""


@lru_cache(maxsize=1)
def transitions() -> TransitionMonitor:
    """Return what was seen of the tree."""
    seen = TransitionMonitor(0.01)
    for state in range(13):
        for action in range(2):
            for end in (TREE.get(state, (state, state))[action],) * 2 + (state,):
                seen.record(state, action, end)
    return seen


def policy(target: int, detour: Mapping[int, int] | None = None) -> Policy:
    """Return the policy to a state of the tree, elsewhere with what is given."""
    plays, state = dict(detour or {}), target
    while state != HOME:
        before, ends = next((s, ends) for s, ends in TREE.items() if state in ends)
        plays[before], state = ends.index(state), before
    return Policy(target, HORIZON, tuple(range(13)),
                  (tuple(plays.get(state, RESET) for state in range(13)),))


def patrol(*policies: Policy) -> Patrol:
    made = Patrol(transitions())
    made.change((policy(HOME), *policies))
    return made


def test_what_is_behind_a_state_has_it_on_its_way_or_something_that_has() -> None:
    made = patrol(*map(policy, range(1, 13)))
    assert sorted(made.behind([6])) == [6, 9, 10, 11, 12] and made.behind([4]) == [4]


def test_an_attempt_counts_for_what_is_passed_where_both_play_the_same() -> None:
    made = patrol(*map(policy, range(1, 13)))
    assert made.passed[11] == (2, 6, 9) and made.passed[1] == ()
    # Two ways to 6: the one that turns off at 2 would also play something in 3.
    assert patrol(policy(2), policy(6, {3: 1}), policy(9)).passed == {2: (), 6: (2,), 9: (2, 6)}
    assert patrol(policy(2, {0: 0}), policy(6)).passed[6] == (2,)    # the last word counts
    other = Policy(6, HORIZON, tuple(range(13)), ((0, 1, 1, *[0] * 10),))
    assert patrol(policy(2), other).passed[6] == ()


def test_the_pair_that_has_waited_longest_has_the_next_turn() -> None:
    made = patrol(*map(policy, range(1, 13)))
    assert made.next(1) is None
    for _ in range(5):
        made.executed(None)
    assert made.next(6) is None and made.next(5) in (7, 8)
    for state, action in ((0, 0), (1, 0), (3, 0), (3, 1), (1, 1)):
        made.executed((state, action))
    assert made.next(10) in (11, 12) and made.next(11) is None
    for state, action in ((0, 1), (2, 1), (6, 0), (9, 0)):
        made.executed((state, action))
    assert made.next(5) == 5    # which has waited all the time
    assert again(made).next(5) == made.next(5)


class Idle(ScriptedBase):
    """Stays at home for turns of several steps, and finds nothing."""

    quantum = 6


def test_every_pair_of_a_policy_is_executed_soon() -> None:
    """Although two of three steps are for a rediscovery that executes none of them."""
    rng, here, log = np.random.default_rng(0), HOME, ChangeLog()
    phase = WatchPhase(
        Round(1, Problem(2, 4.0, 1.0, 0.0076), lambda problem, policies: Idle(0), 10**6, 30, log),
        tuple(map(policy, range(13))), quanta=4)
    last: dict[Pair, int] = {}
    gaps: list[int] = []
    for step in range(strength(4000, 8000)):
        action = phase.next_action()
        pair, here = (here, action), HOME if action == RESET else (
            here if rng.random() < 0.1 or here not in TREE else TREE[here][action])
        phase.observe(action, here)
        if action != RESET:
            gaps.append(step - last.get(pair, 0))
            last[pair] = step
    assert len(last) == 12 and not log.noticed
    waits = [*gaps[200:], *(step - each for each in last.values())]
    assert max(waits) < 14 * len(last) and float(np.mean(waits)) < 4 * len(last)


def attempted(chance: float, target: int, seed: int, attempts: int) -> Mapping[int, Detector]:
    """Make attempts with the policy to a state behind 2, to which a step leads with a chance."""
    policies = [policy(HOME), policy(2), policy(6)]
    checks = PolicyChecks(PolicyMonitor(LIMIT, HORIZON, 0.4, 0.1, (2, 6)), Turns((2, 6)),
                          patrol(*policies[1:]), policies[0])
    rng = np.random.default_rng(seed)
    for _ in range(attempts):
        checks.begin(target, policies)
        here, ended = HOME, checks.observe(HOME, proving=False)
        while ended is None:
            here = 6 if here == 2 else 2 if rng.random() < chance else HOME
            ended = checks.observe(here, proving=False)
    return checks.monitor.detectors


def test_what_is_passed_is_tested_as_by_attempts_of_its_own() -> None:
    beside, alone = (attempted(0.3, target, 1, 50)[2] for target in (6, 2))
    assert beside.to_state()['episodes'] == alone.to_state()['episodes'] == 50
    assert abs(beside.evidence - alone.evidence) < 1


def excess(chance: float, aside: float) -> float:
    """Return ``E[X] - m`` of the policy to 2, which goes home from 1, where it comes aside."""
    home, away, total = 1.0, 0.0, 0.0
    for length in range(1, HORIZON + 1):
        total += home * chance * length
        home, away = home * (1 - chance - aside) + away, home * aside
    return total + (home + away) * (HORIZON + 1 + LIMIT) - LIMIT


def at_the_limit(aside: float) -> float:
    """Return the chance with which the policy to 2 takes just the limit."""
    low, high = 0.01, 1 - aside
    for _ in range(60):
        chance = (low + high) / 2
        low, high = (chance, high) if excess(chance, aside) > 0 else (low, chance)
    return high


def passed_by(seed: int, chance: float, aside: float, attempts: int) -> tuple[bool, bool]:
    """Return whether attempts of the policy to 6 alone tell against that to 2, and for it."""
    policies = (policy(HOME), policy(2), policy(6, {1: 0}))    # which part where they come aside
    monitor = PolicyMonitor(LIMIT, HORIZON, DELETION, PROOFS, (2, 6))
    checks = PolicyChecks(monitor, Turns((2, 6)), patrol(*policies[1:]), policies[0])
    rng, detector, alarm = random.Random(seed), monitor.detectors[2], False
    for _ in range(attempts):
        checks.begin(6, policies)
        here, ended = HOME, checks.observe(HOME, proving=True)
        while ended is None:
            drawn = rng.random()
            here = 6 if here != HOME else (
                2 if drawn < chance else 1 if drawn < chance + aside else HOME)
            ended = checks.observe(here, proving=True)
        alarm = alarm or detector.alarm
    return alarm, detector.proven


DELETION, PROOFS = 0.5, 0.9    # of which the policy to 2 has the first and the second share


@pytest.mark.parametrize('aside', [0.1, pytest.param(0.0, marks=thorough(
    'core/test_patrol.py::'
    'test_alarms_and_proofs_by_what_others_do_are_as_rare_as_their_deltas_say'))])
def test_alarms_and_proofs_by_what_others_do_are_as_rare_as_their_deltas_say(
        aside: float) -> None:
    """The policy to 2 takes just the limit, so that both are wrong."""
    trials, chance = strength(60, 300), at_the_limit(aside)
    told = [passed_by(seed, chance, aside, 60) for seed in range(trials)]
    for place, delta in enumerate((DELETION * share(1), PROOFS * share(2))):
        wrong = [seed for seed, each in enumerate(told) if each[place]]
        assert binomial_tail(trials, delta, len(wrong)) > 1e-3, f'{place} with seeds {wrong}'
