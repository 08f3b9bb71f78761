# SPDX-License-Identifier: Apache-2.0

"""Declared policies are certified by walking, and more true evidence never takes more steps."""

from __future__ import annotations

from collections.abc import Mapping
import math
import random
from statistics import fmean

from mnm_ros.core import Declaration, Exploration, Policy, Problem, RESET, settings, Support
from mnm_ros.core.disco.evidence import CertificateEvidence
from mnm_ros.core.statistics.certificate import ConfidenceSets
from mnm_ros.core.statistics.joint import JointEvidence
from tiers import strength

FAILS = 0.06
Graph = Mapping[int, tuple[int, ...]]


def random_graph(rng: random.Random, places: int) -> Graph:
    """Return the neighbours by place: a random tree with a few more edges, both ways."""
    ways: dict[int, dict[int, None]] = {0: {}}
    for place in range(1, places):
        other = rng.randrange(max(0, place - 3), place)
        ways[place] = {other: None}
        ways[other][place] = None
    for _ in range(places // 4):
        one, other = rng.sample(range(places), 2)
        ways[one][other] = ways[other][one] = None
    return {place: tuple(others) for place, others in ways.items()}


def depth(graph: Graph) -> int:
    """Return the most hops from place 0."""
    found, queue = {0: 0}, [0]
    for place in queue:
        for after in graph[place]:
            if after not in found:
                found[after] = found[place] + 1
                queue.append(after)
    return max(found.values())


class Run:
    """An exploration of a declared graph; ``legs`` reports each move of a way home."""

    def __init__(self, graph: Graph, seed: int, legs: bool) -> None:
        self._graph, self._rng, self._legs = graph, random.Random(seed), legs
        self._toward_home = {place: min(others) for place, others in graph.items()}
        actions = max(map(len, graph.values()))
        self.exploration = Exploration(settings(Problem(
            actions, 1.15 * depth(graph), 1.0, 0.1, Support(Declaration({
                place: tuple((others[action], place) if action < len(others) else ()
                             for action in range(actions))
                for place, others in graph.items()})))), seed)
        self.resets = 0
        here = 0
        while self.exploration.hypothesis is None:
            assert self.exploration.steps < 5000
            action = self.exploration.next_action()
            here = self._go_home(here) if action == RESET else self._moved(here, action)
            self.resets += action == RESET
            self.exploration.observe(action, here)

    def _moved(self, here: int, action: int) -> int:
        return here if self._rng.random() < FAILS else self._graph[here][action]

    def _go_home(self, here: int) -> int:
        while here:
            action = self._graph[here].index(self._toward_home[here])
            after = self._moved(here, action)
            if self._legs:
                self.exploration.observe_work(here, action, after)
            here = after
        return here


def test_more_true_evidence_takes_no_more_steps() -> None:
    """In the mean over random graphs, within what chance leaves of that."""
    number, most = strength((3, 9), (50, 20))
    rng = random.Random(45)
    graphs = [random_graph(rng, rng.randrange(8, most)) for _ in range(number)]
    saved = [Run(graph, seed, legs=False).exploration.steps
             - Run(graph, seed, legs=True).exploration.steps
             for seed, graph in enumerate(graphs)]
    mean = fmean(saved)
    error = math.sqrt(fmean((each - mean) ** 2 for each in saved) / number)
    assert mean > -2 * error, saved


def test_it_takes_few_steps_and_seldom_goes_home() -> None:
    """Attempts from home took 190 steps here, and 46 RESETs."""
    graph = random_graph(random.Random(1), 20)
    run = Run(graph, 0, legs=False)
    found = run.exploration.hypothesis
    assert found is not None and len(found.targets) == 20
    assert run.exploration.steps < 170
    assert run.resets < 20


def test_a_policy_near_the_limit_gives_way_to_one_that_is_far_from_it() -> None:
    """
    The direct move works with 0.2, so that the way takes 6 steps of 8; the way round takes 3.2.

    To prove the direct way took more than 2,000 steps.
    """
    works = {(0, 0): (1, 1.0), (1, 0): (2, 0.2), (1, 1): (3, 0.9), (3, 0): (2, 0.9)}
    declared = Declaration({
        state: tuple((works[state, action][0], state) if (state, action) in works else ()
                     for action in (0, 1)) for state in range(4)})
    took = []
    for seed in range(strength(3, 30)):
        exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1, Support(declared))), seed)
        rng, here = random.Random(seed), 0
        while exploration.hypothesis is None and exploration.steps < 2_000:
            action = exploration.next_action()
            end, chance = (0, 1.0) if action == RESET else works[here, action]
            here = end if rng.random() < chance else here
            exploration.observe(action, here)
        took.append(exploration.steps)
    assert fmean(took) < 300, took    # about 120


def test_what_a_test_leaves_out_costs_it_nothing() -> None:
    """It has the record that it would have if the pair had not been executed meanwhile."""
    declared = Support(Declaration({0: ((1, 0),)}))
    budgets = []
    for left_out in (0, 30):
        sets = ConfidenceSets(0.1, declared)
        evidence = JointEvidence(sets, [(0, 0)])
        for end in (1, 1, 0):
            sets.add(0, 0, end)
        evidence.count((0, 0), False)
        before = evidence.record((0, 0))
        for number in range(left_out):
            sets.add(0, 0, number % 2)
        assert evidence.record((0, 0)) == before
        evidence.count((0, 0), True)
        assert evidence.record((0, 0)) == before
        sets.add(0, 0, 1)
        assert evidence.executions == (4,)
        budgets.append(evidence.balls(1.0).budget)
    assert 1 < budgets[0] < 4 and budgets[0] != budgets[1]


def test_the_last_of_several_tests_takes_no_more_than_the_first() -> None:
    problem = Problem(1, 3.0, 1.0, 0.1, Support(Declaration({
        state: ((state + 1, state),) for state in range(3)})))
    evidence = CertificateEvidence(problem, 0.05)
    tests = [evidence.new_test(Policy(target, 12, tuple(range(target)), ((0,) * target,)))
             for target in (1, 2, 3)]
    first = evidence.nats_of_pairs(tests)
    assert evidence.nats_of_pairs(tests[1:]) > first
    evidence.release(tests[0], given=True)
    evidence.release(tests[1], given=True)
    assert tests[2].declared
    assert evidence.nats_of_pairs(tests[2:]) == first
