# SPDX-License-Identifier: Apache-2.0

"""Hints: soon where something breaks, hardly ever where nothing does, and withdrawn again."""

from __future__ import annotations

import json
import math

from mnm_ros.core.detection.hints import Hints
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.trust import Trust
import numpy as np
import pytest
from scripted import HOME
from test_trust import Run, targets
from test_watch_changes import teachable
from test_watch_phase import known, run, Script, World

PAIR = (3, 1)


class Pairs:
    """One pair, and what it has done so far."""

    def __init__(self, worked: int, failed: int) -> None:
        self.hints = Hints()
        self.worked, self.executions = worked, worked + failed

    def execute(self, *, works: bool) -> bool | None:
        self.worked += works
        self.executions += 1
        return self.hints.record(PAIR, works, self.executions, self.worked)


@pytest.mark.parametrize(('worked', 'failed', 'times'), [
    (50, 0, 4), (90, 10, 7), (900, 100, 7), (75, 25, 11), (9, 0, None), (60, 40, None)])
def test_so_many_failures_in_a_row_that_come_once_in_a_million(
        worked: int, failed: int, times: int | None) -> None:
    pair = Pairs(worked, failed)
    told = [pair.execute(works=False) for _ in range(30)]
    assert (told.index(True) + 1 if True in told else None) == times
    assert told.count(True) == pair.hints.raised == (times is not None)


def test_what_works_again_is_no_longer_suspected_and_failures_in_between_count() -> None:
    pair = Pairs(50, 0)
    for _ in range(4):
        pair.execute(works=False)
    assert [*pair.hints.open] == [PAIR] and pair.hints.failures(PAIR) == 4
    again = Hints(json.loads(json.dumps(pair.hints.to_state())))
    assert again.to_state() == pair.hints.to_state()
    told = [pair.execute(works=works) for works in (True, True, False, True, True)]
    assert told == [None, None, None, None, False] and not pair.hints.open
    assert not any(pair.execute(works=False) for _ in range(2))


def test_at_rest_hints_are_as_rare_as_said() -> None:
    """At most one in 20,000 executions, of pairs of all kinds and from their first one on."""
    wrong, executions = [], 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        pair, fails = Pairs(0, 0), rng.choice([0.0, 0.02, 0.05, 0.1, 0.2, 0.3])
        for works in rng.random(1000) >= fails:
            executions += 1
            if pair.execute(works=bool(works)):
                wrong.append(seed)
    # So few would have a chance of less than 5% at that rate (Poisson).
    mean = executions / 20_000
    chance = sum(math.exp(-mean) * mean ** count / math.factorial(count)
                 for count in range(len(wrong) + 1))
    assert chance < 0.05, f'hints with seeds {wrong}'


def test_a_hint_makes_the_robot_try_again_and_changes_nothing_that_is_known() -> None:
    script = Script((HOME, 3, 5), life=0)
    checking, log, sentences = teachable(script, (HOME, 3, 5), steps_taken=10**6)
    world = World()
    for _ in range(1500):
        checking.observe(action := checking.next_action(), world.step(action))
    assert not sentences and not checking.doubted
    world.closed = {5}
    run(checking, world, lambda: bool(checking.hints.raised))
    base, policies = checking.base, checking.policies
    assert sentences == ['round 1: hint, outside of the promise: action 5 in state 0 nearly '
                         'always worked and has failed 3 times in a row']
    assert {*checking.doubted} == {5} and 'hint' in checking.doubted[5]
    assert not log.open and not base.forgotten    # type: ignore[attr-defined]
    assert base.wanted[-1] == (HOME, 5)           # type: ignore[attr-defined]
    world.closed = set()
    run(checking, world, lambda: not checking.hints.open)
    assert sentences[1:] == ['round 1: hint withdrawn, action 5 in state 0 works again']
    assert not checking.doubted and not log.noticed and checking.policies is policies
    assert checking.base is base and known(checking) == (HOME, 3, 5)


def test_policies_behind_a_door_are_doubted_within_an_attempt() -> None:
    exploring = Run('two_rooms', 0)
    exploring.until_hypothesis()
    for _ in range(1000):
        exploring.step()
    assert not targets(exploring.exploration.trust(), Trust.DOUBTED)
    exploring.simulator.change()
    for _ in range(300):
        exploring.step()
        doubted = [each for each in exploring.exploration.trust(0)
                   if each.trust is Trust.DOUBTED]
        if doubted:
            break
    assert doubted and all('outside of the promise' in each.why or 'change' in each.why
                           for each in doubted)
    assert RESET not in {each.policy.target for each in doubted}
    assert any('hint' in event.text for event in exploring.exploration.events)
