# SPDX-License-Identifier: Apache-2.0

"""Hints: soon where something breaks, hardly ever where nothing does, and withdrawn again."""

from __future__ import annotations

import math

from mnm_ros.core import PairChange, RESET, Trust
from mnm_ros.core.detection.pair_watch import News, PairWatch
from mnm_ros.core.mnm.change_log import Decided
from mnm_ros.core.model.counts import Floats
from mnm_ros.core.progress.said import Hinted, HintRaised, HintWithdrawn, NotProvenSince
import numpy as np
import pytest
from scripted import decided, HOME
from test_trust import RADIUS, Run, targets
from test_watch_changes import teachable
from test_watch_phase import known, run, Script, World
from tiers import strength, thorough

PAIR = (3, 1)
LONGEST = strength(70, 300)    # executions of a pair for which hints at rest are worked out


class Pairs:
    """One pair, and what it has done so far."""

    def __init__(self, worked: int, failed: int) -> None:
        self.watch = PairWatch()
        self.worked, self.executions = worked, worked + failed

    def execute(self, *, works: bool) -> News | None:
        self.worked += works
        self.executions += 1
        return self.watch.record(
            PAIR, 4 if works else 3, (4, self.worked, self.executions), rests=False)


def times_until_hint(worked: int, failed: int, most: int) -> int | None:
    """Return how many failures in a row raise a hint, of at most so many."""
    pair = Pairs(worked, failed)
    return next((times for times in range(1, most + 1)
                 if pair.execute(works=False) is News.SUSPECTED), None)


@pytest.mark.parametrize(('worked', 'failed', 'times'), [
    (20, 0, 6), (50, 0, 4), (100, 0, 3), (19, 1, 8), (95, 5, 6), (18, 2, 10), (90, 10, 7),
    (900, 100, 7), (16, 4, 14), (80, 20, 10), (800, 200, 9), (9, 0, 8),
    (2, 0, 19), (3, 0, 9), (5, 1, 8), (3, 2, 19), (1, 0, None), (1, 1, None), (60, 40, None)])
def test_so_many_failures_in_a_row_that_come_once_in_a_million(
        worked: int, failed: int, times: int | None) -> None:
    assert times_until_hint(worked, failed, 30) == times
    pair = Pairs(worked, failed)
    told = [pair.execute(works=False) for _ in range(30)]
    assert told.count(News.SUSPECTED) == (times is not None)


def test_what_works_again_is_no_longer_suspected_and_failures_in_between_count() -> None:
    pair = Pairs(50, 0)
    for _ in range(4):
        pair.execute(works=False)
    assert [*pair.watch.suspected] == [PAIR] and pair.watch.failures(PAIR) == 4
    told = [pair.execute(works=works) for works in (True, True, False, True, True)]
    assert told == [None, None, None, None, News.WORKS] and not pair.watch.suspected
    assert not any(pair.execute(works=False) for _ in range(2))


@pytest.fixture(scope='module')
def failures_to_hint() -> dict[tuple[int, int], int]:
    """Return how many failures in a row raise a hint, by the executions before and the failed."""
    return {(before, failed): times for before in range(10, LONGEST)
            for failed in range(before * 2 // 5)
            if (times := times_until_hint(before - failed, failed, 60)) is not None}


def hints_at_rest(fails: float, failures_to_hint: dict[tuple[int, int], int]) -> Floats:
    """
    Return the hints to be expected at each execution of a pair that fails with a chance.

    One is raised by a run of failures that begins after an execution that worked. That none is
    raised while one is open is left out, as it only makes them fewer.
    """
    before, failed = np.array([*failures_to_hint]).T
    times = np.array([*failures_to_hint.values()])
    log_ways = np.array([math.lgamma(n) - math.lgamma(f + 1) - math.lgamma(n - f)
                         for n, f in failures_to_hint])
    chances = np.exp(
        log_ways + (failed + times) * math.log(fails) + (before - failed) * math.log1p(-fails))
    return np.bincount(before + times, chances, minlength=LONGEST)[:LONGEST]


@pytest.mark.parametrize('ends', [
    *((1 - percent / 100, percent / 100) for percent in (1, 2, 3, 4, *range(5, 55, 5))),
    (1 / 3, 1 / 3, 1 / 3), (0.5, 0.25, 0.25), (0.7, 0.2, 0.1), (0.9, 0.05, 0.05)])
def test_at_rest_one_hint_in_a_million_executions_is_expected_at_most(
        ends: tuple[float, ...], failures_to_hint: dict[tuple[int, int], int]) -> None:
    # Any of the ends may be the usual one.
    hints = sum(hints_at_rest(1 - chance, failures_to_hint) for chance in ends)
    expected = np.cumsum(hints)
    assert expected[-1] > 0 and (expected <= 1e-6 * np.arange(LONGEST)).all()


def test_at_rest_one_pair_in_a_hundred_is_ever_suspected_after_few_executions() -> None:
    suspects = {(before, failed): times for before in range(1, 10) for failed in range(before)
                if (times := times_until_hint(before - failed, failed, 300)) is not None}
    assert (2, 0) in suspects
    worst = max(sum(math.comb(before - 1, failed) * fails ** (failed + times)
                    * (1 - fails) ** (before - failed)
                    for (before, failed), times in suspects.items())
                for fails in np.linspace(0.01, 0.99, 99))
    assert 0.001 < worst <= 0.01


@thorough(
    'core/test_hints.py::test_so_many_failures_in_a_row_that_come_once_in_a_million '
    'core/test_hints.py::test_at_rest_one_hint_in_a_million_executions_is_expected_at_most')
def test_at_rest_hints_come_as_rarely_as_worked_out() -> None:
    """With all that a pair may do, withdrawals included, where hints are least rare."""
    pairs, executions, wrong = 8000, 60, []
    for seed in range(pairs):
        rng = np.random.default_rng(seed)
        pair, fails = Pairs(0, 0), rng.choice([0.2, 0.3, 0.4])
        wrong += [seed for works in rng.random(executions) >= fails
                  if pair.execute(works=bool(works)) is News.SUSPECTED]
    mean = 1e-6 * pairs * executions    # of a binomial distribution, which is nearly Poisson's
    fewer = sum(math.exp(-mean) * mean ** count / math.factorial(count)
                for count in range(len(wrong)))
    assert 1 - fewer > 1e-3, f'hints with seeds {wrong}'


def test_a_hint_makes_the_robot_try_again_and_changes_nothing_that_is_known() -> None:
    script = Script((HOME, 3, 5), life=0)
    checking, log = teachable(script, (HOME, 3, 5), steps_taken=10**6)
    world = World()
    for _ in range(1500):
        checking.observe(action := checking.next_action(), world.step(action))
    assert not decided(log) and not checking.doubted
    world.closed = {5}
    run(checking, world, lambda: bool(checking.parts.pairs.suspected))
    base, policies = checking.base, checking.policies
    hint, = decided(log)
    change = hint.change
    assert isinstance(hint.said, HintRaised) and hint.kind == 'hint'
    assert isinstance(change, PairChange)
    assert (change.state, change.action, change.after) == (HOME, 5, {HOME: 3})
    assert [*change.before] == [5] and change.before[5] > 50
    assert {*checking.doubted} == {5} and isinstance(checking.doubted[5], Hinted)
    assert not log.open and not base.forgotten    # type: ignore[attr-defined]
    assert base.wanted[-1] == (HOME, 5)           # type: ignore[attr-defined]
    world.closed = set()
    run(checking, world, lambda: not checking.parts.pairs.suspected)
    assert decided(log)[1:] == [Decided(HintWithdrawn(1, 0, 5), 'hint')]
    assert not checking.doubted and not log.noticed and checking.policies is policies
    assert checking.base is base and known(checking) == (HOME, 3, 5)


@thorough('core/test_scarce_hints.py::test_soon_doubted_and_led_another_way')
def test_policies_behind_a_door_are_doubted_within_an_attempt() -> None:
    exploring = Run('two_rooms', 0, RADIUS)
    exploring.until_hypothesis(every=10 ** 6)
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
    assert doubted and all(isinstance(each.said, (Hinted, NotProvenSince))
                           for each in doubted)
    assert RESET not in {each.policy.target for each in doubted}
    assert any(event.kind == 'hint' for event in exploring.exploration.events)
