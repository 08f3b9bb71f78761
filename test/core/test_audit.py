# SPDX-License-Identifier: Apache-2.0

"""Audits find what is falsely declared and would never be tried; little is spent on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, cast

from binomial import binomial_tail
from hours import FLAT, flat
from mnm_ros.core import Counts, Declaration, Exploration, Problem, RESET, settings, Support
from mnm_ros.core.disco.disco import Disco
from mnm_ros.core.mnm.audit import Audit
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import AUDIT
from mnm_ros.core.progress.said import EndAdded
from mnm_ros.simulation.cmp import support
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from saved import again
from tiers import strength, thorough

TWO_ROOMS = '.#.', 'S..', '.#.'
HOME_IN_A_DOOR = *FLAT[:5], '....S....', *FLAT[6:], '....#....'    # around it is far
SHARE = strength(0.1, None)    # of all steps; None for that of the package
RADIUS, EPSILON = strength(2.5, 6.0), 1.0
WORLD = flat(strength(TWO_ROOMS, HOME_IN_A_DOOR))
TRUTH = support(WORLD.settings[0].cmp).successors
LIE = WORLD.start, 0    # that leads east, and never stays but when it slips
Lists = Mapping[int, tuple[tuple[int, ...], ...]]
FALSE: Lists = {state: tuple((state,) if (state, action) == LIE else ends
                             for action, ends in enumerate(lists))
                for state, lists in TRUTH.items()}


class Run:
    """An exploration of two rooms, or of a flat of 60 places, with a declaration."""

    def __init__(self, seed: int, audit: float | None, base: str = '',
                 declared: Lists = FALSE) -> None:
        self.simulator = Simulator(WORLD, seed)
        self.exploration = Exploration(settings(
            Problem(4, RADIUS, EPSILON, 0.1, Support(Declaration(declared, {}, audit))),
            overrides={'base': base}), seed)
        self.told: list[str] = []

    def step(self) -> Pair | None:
        here, action = self.exploration.last_state, self.exploration.next_action()
        taken = self.exploration.observe(action, self.simulator.step(action))
        self.told += [sentence(event.said) for event in taken.events
                      if isinstance(event.said, EndAdded)]
        return None if here is None else (here, action)

    def until(self, condition: Callable[[], object], most: int, every: int = 1) -> bool:
        while not condition() and self.exploration.steps < most:
            for _ in range(every):
                self.step()
        return bool(condition())

    @property
    def right(self) -> bool:
        hypothesis = self.exploration.hypothesis
        return hypothesis is not None and judge(
            self.simulator.cmp, hypothesis, RADIUS, EPSILON).ok


def test_a_door_that_is_declared_to_be_none_is_told_soon_and_nothing_is_missing() -> None:
    """It is tried four times by then, and slips each time with probability 1e-4."""
    late, wrong, trials, soon = [], [], strength(4, 5), strength(300, 3000)
    for seed in range(trials):
        run = Run(seed, SHARE)
        if not run.until(lambda run=run: run.told, soon):
            late.append(seed)
        run.until(lambda run=run: run.exploration.hypothesis, 10_000)
        if not run.right:
            wrong.append(seed)
        assert len(run.told) <= 1, seed
    assert binomial_tail(trials, 1e-3, len(late)) > 1e-3, late
    assert binomial_tail(trials, 0.1, len(wrong)) > 1e-3, wrong


@thorough('core/test_audit.py::test_there_are_none_without_a_share')
def test_without_audits_nothing_tells_of_it() -> None:
    run = Run(0, 0.0)
    played = Counter(run.step() for _ in range(3000))
    assert not played[LIE] and not run.told
    assert run.exploration.hypothesis is not None and not run.right
    # As soon as there are any, it is found, and so is all that it has hidden.
    run.exploration.declare(Declaration(FALSE, {}, SHARE))
    assert run.until(lambda: run.told, 6000) and run.until(lambda: run.right, 12_000, every=100)


def test_a_declaration_is_audited_unless_it_says_otherwise() -> None:
    given, later = Run(0, None), Run(0, 0.0)
    given.step()
    assert later.exploration.mnm.support.declared.audit == 0
    later.exploration.declare(Declaration(FALSE))
    for run in (given, later):
        assert run.exploration.mnm.support.declared.audit == AUDIT


def test_ucb_explore_tries_what_is_declared_as_all_else() -> None:
    run = Run(0, 0.0, 'ucb_explore')
    assert run.until(lambda: run.told, 3000)


@pytest.mark.parametrize('share', [0.1, pytest.param(AUDIT, marks=thorough(
    'core/test_audit.py::'
    'test_no_attempt_is_disturbed_and_no_more_is_asked_for_than_the_share'))])
def test_no_attempt_is_disturbed_and_no_more_is_asked_for_than_the_share(share: float) -> None:
    # Attempts are for policies that are not declared as a whole.
    run, attempted = Run(1, share, declared={
        state: lists for state, lists in FALSE.items() if state != WORLD.start}), 0
    exploration = run.exploration
    while exploration.hypothesis is None:
        stream, here = exploration.mnm.phase.base, exploration.last_state
        assert stream is None or isinstance(stream, Disco)
        attempts = stream.certifier.attempts if stream is not None else None
        if attempts is not None and attempts.under_way and here is not None:
            attempted += 1
            assert exploration.next_action() == attempts.action(here)
        run.step()
    assert attempted > strength(40, 500)
    asked = sum(exploration._audit._asked.values())
    assert 0.8 * share * exploration.steps - 1 < asked <= share * exploration.steps


class Asked:
    """Takes the place of MNM and of its phase: there are some pairs that can be tried."""

    def __init__(self, pairs: int, share: float | None) -> None:
        self.support = Support(Declaration({0: ((0,),)}, {}, share))
        self.phase = self
        self.made: Counter[Pair] = Counter()
        self.away: Mapping[Pair, float] = {(0, action): 0.0 for action in range(pairs)}

    def auditable(self) -> Mapping[Pair, float]:
        return self.away

    def request_sample(self, state: int, action: int) -> None:
        self.made[state, action] += 1


@pytest.mark.parametrize('share', [None, 0.0])
def test_there_are_none_without_a_share(share: float | None) -> None:
    asked = Asked(2, share)
    audit = Audit()
    for steps in range(1, 1000):
        audit.step(steps, Counts(), cast(Any, asked))
    assert not asked.made


def test_each_pair_has_its_turn_also_where_another_one_cannot_be_tried() -> None:
    """None of them ever is; and it goes on in the same way from a checkpoint."""
    asked = Asked(5, 0.1)
    audit = Audit()
    for steps in range(1, 1001):
        audit.step(steps, Counts(), cast(Any, asked))
    assert set(asked.made.values()) == {20} and len(asked.made) == 5
    other = Asked(5, 0.1)
    resumed = again(audit)
    for steps in range(1001, 1031):
        audit.step(steps, Counts(), cast(Any, asked))
        resumed.step(steps, Counts(), cast(Any, other))
    assert other.made == Counter({(0, 0): 1, (0, 1): 1, (0, 2): 1})
    assert audit._asked == resumed._asked


def test_what_is_executed_anyhow_is_tried_last() -> None:
    asked, counts = Asked(3, 0.1), Counts()
    for _ in range(100):
        counts.add(0, 1, 0)
    audit = Audit()
    for steps in range(1, 1001):
        audit.step(steps, counts, cast(Any, asked))
    assert asked.made == Counter({(0, 0): 50, (0, 2): 50})


def test_a_run_tries_what_may_be_commanded_the_sooner_the_nearer_it_is() -> None:
    ends = {0: ((0,), (1,), ()), 1: ((1,), (2,), (0,)), 2: ((2,), (2,), (1,))}
    explored = Exploration(settings(
        Problem(3, 3.0, 1.0, 0.1, Support(Declaration(ends, {}, 0.0)))), 0)
    state = 0
    for _ in range(20):
        action = explored.next_action()
        state = 0 if action == RESET else ends[state][action][0]
        explored.observe(action, state)
    mnm = explored.understudy()
    run = mnm.phase.base if mnm is not None else None
    assert run is not None
    asked = Asked(0, 0.5)
    asked.away = run.auditable()
    audit = Audit()
    for steps in range(1, 121):
        audit.step(steps, Counts(), cast(Any, asked))
    tries = asked.made
    assert all(ends[state][action] for state, action in tries)
    assert len(tries) == 8 and tries[0, 0] > tries[1, 0] > tries[2, 0] > 0
