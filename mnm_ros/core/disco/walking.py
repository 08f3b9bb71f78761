# SPDX-License-Identifier: Apache-2.0

"""
Certificates by walking: what the tests of declared policies lack, wherever the robot is.

Where a policy is declared, its test counts whatever its pairs do (``statistics/joint.py``), so
that no attempt has to begin at home. So the tests of all states that seem near begin at once, with
the policies through the declared world, and each step counts for all of them. Each test says how
often which of its pairs is to be executed; the robot walks to the nearest such pair, and goes home
by RESET only if that is the shortest way there (``sample.py``).

A test that is certified leaves its place (``evidence.py``), and the next one takes as few nats as
the first did. So many tests that end together take hardly more than one.

By policy iteration each policy takes some milliseconds, and all of them together would hold a step
up. Drives need no more than Dijkstra's algorithm, once for all places: a pair costs the executions
that it takes on average.

All of it is heuristic: ``Certifier`` decides what is certified.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
import math
from typing import NamedTuple

from mnm_ros.core.disco.evidence import declared_pairs, PolicyTest
from mnm_ros.core.disco.examiner import Examiner
from mnm_ros.core.disco.policy_tests import as_declared, PolicyTests
from mnm_ros.core.disco.rule_out import FAILURE_WEIGHT
from mnm_ros.core.model.counts import Bools, Floats, Indices, Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.planning.shortest_ways import cheapest_edges, least_costs
from mnm_ros.core.statistics.kl_ball import divergence
from mnm_ros.core.statistics.predictions import Record
import numpy as np

_TIE = 1e-9    # steps

_PRIOR, _SUCCESS = 2.0, 0.95    # executions that a pair begins with, and how many of them succeed
_EXCESS = 0.06    # nats that one more execution adds to the budget, as a rule
_MORE, _MOST = 0.25, 5.0    # nats that are added if executions do not suffice, and in all
_CLEARLY = 1.5    # times the margin of the policy under test that another one has to have


_Way = Mapping[Pair, tuple[int, float]]
"""
How a policy seems to go: its pairs that may lead to several ends and decide on the limit.

Each with its executions that count, and the nats that each of them takes from the budget.
"""


@dataclass
class _Seen:
    """
    What was found out of a test: it holds until its pairs are executed.

    :ivar made: executions of its pairs, those broken off included.
    :ivar changes: of the support.
    :ivar drives: whether each pair is declared to stay or to lead to one state.
    :ivar way: None if its policy seems to be over the limit.
    :ivar nats: that its pairs were to take when ``lacking`` was found out; None before.
    :ivar lacking: executions by pair.
    """

    made: int
    changes: int
    drives: bool
    way: _Way | None
    nats: float | None = None
    lacking: Mapping[Pair, int] = field(default_factory=dict)


class WalkingCertificates:
    """
    Begins tests of declared policies, and says what they lack.

    :param problem: with the limit to certify, and the support.
    :param rows: of the states that are sampled.
    :param tests: under way.
    :param examiner: with the evidence that the tests are part of.
    """

    left_to_fresh = ('_seen',)    # found out again
    _seen: Mapping[PolicyTest, _Seen] = {}

    def __init__(self, problem: Problem, rows: TransitionRows, tests: PolicyTests,
                 examiner: Examiner) -> None:
        self._problem = problem
        self._rows = rows
        self._tests = tests
        self._examiner = examiner
        self._counts = examiner.counts
        self._due: dict[int, int] = {}    # executions, by target, until another look

    def begin(self, near: Collection[int], known: Collection[int]) -> None:
        """
        Begin a test for each state that has none, if a declared policy seems to be within limits.

        Another test begins if the policy under test has turned out to be near the limit, and
        another one is clearly farther from it. Where moves may lead to several states, attempts
        take fewer steps.

        :param near: states that lack a certificate, near ones first.
        :param known: states that have one, home first.
        """
        new = [target for target in near if target not in known and self._is_due(target)]
        if not new:
            return
        states, limit = tuple(dict.fromkeys((*known, *near))), self._problem.limit
        model = as_declared(self._examiner.model(states))
        for target, (moves, steps) in zip(new, best_policies(model, new, limit)):
            if target in self._tests.begun and limit - steps < _CLEARLY * self._margin(target):
                continue
            policy = self._through_nearer(Policy(
                target, self._examiner.horizon, states, (tuple(moves.tolist()),)))
            if steps <= limit and self._leads_on(policy):
                self._tests.begin_new(policy)

    def _is_due(self, target: int) -> bool:
        """Return whether a state has no test, or the executions for its test have doubled."""
        test = self._tests.begun.get(target)
        if test is None:
            return True
        if not test.declared:
            return False
        made = sum(test.pairs.executions)
        due = made >= self._due.get(target, 0)
        if due:
            self._due[target] = 2 * made + 1
        return due

    def _margin(self, target: int) -> float:
        """Return the steps by which the policy under test seems to be within the limit."""
        policy = self._tests.begun[target].policy
        model = as_declared(EmpiricalModel.of(self._rows, policy.states))
        limit = self._problem.limit
        return limit - model.smoothed_value(policy.actions[0], target, limit, FAILURE_WEIGHT)

    def wanted(self, targets: Sequence[int]) -> dict[Pair, int]:
        """
        Return how often pairs should have been executed, for the tests of these states.

        :param targets: that lack a certificate.
        """
        begun = (self._tests.begun.get(target) for target in targets)
        self._seen = {test: self._look(test) for test in begun if test and test.declared}
        ways = {test: seen for test, seen in self._seen.items() if seen.way is not None}
        nats = self._examiner.latest.nats_of_pairs(ways)
        found: dict[Pair, int] = {}
        for test, seen in ways.items():
            if seen.nats != nats:
                assert seen.way is not None
                seen.nats, seen.lacking = nats, self._lacking(test, seen.way, nats)
                test.waits = bool(seen.lacking)
                for pair in test.pairs.before:
                    test.pairs.count(pair, not seen.lacking or pair in seen.lacking)
            for pair, executions in seen.lacking.items():
                found[pair] = max(found.get(pair, 0), self._counts.visits(*pair) + executions)
        return found

    def _look(self, test: PolicyTest) -> _Seen:
        """Return what was found out of a test, unless its pairs were executed since."""
        changes = self._problem.support.changes
        made = sum(self._counts.visits(*pair) + self._counts.lost(*pair)
                   for pair in test.pairs.before)
        seen = self._seen.get(test)
        if seen is not None and (seen.made, seen.changes) == (made, changes):
            return seen
        drives = (seen.drives if seen is not None and seen.changes == changes
                  else self._leads_on(test.policy))
        return _Seen(made, changes, drives, self._way(test) if drives else None)

    def _lacking(self, test: PolicyTest, way: _Way, nats: float) -> dict[Pair, int]:
        """Return the executions of pairs that a test lacks; none if nothing seems to help."""
        balls = test.pairs.balls(0.0)
        excess, own = balls.budget, {pair: balls.own(pair) for pair in way}
        more, found = 0.0, _executions(way, nats + excess, own)
        if found or test.suffice(nats):
            return found
        while not found and more < _MOST:
            more += _MORE
            found = _executions(way, nats + more + excess, own)
        return found

    def _leads_on(self, policy: Policy) -> bool:
        """Return whether each pair is declared to stay or to lead to one state, as drives do."""
        support = self._problem.support
        pairs = declared_pairs(policy, support)
        return bool(pairs) and all(
            len({*support.declared_ends(*pair)} - {pair[0]}) == 1 for pair in pairs)

    def _through_nearer(self, policy: Policy) -> Policy:
        """Return a policy over the states before its target that it may come to."""
        states = policy.states
        met = dict(policy.may_play(states[0], self._problem.support.declared_ends))
        return policy.on(state for state in states[:states.index(policy.target)] if state in met)

    def _way(self, test: PolicyTest) -> _Way | None:
        """Return how the policy of a test seems to go; None if it seems to be over the limit."""
        pairs, ends = [*test.pairs.before], self._problem.support.declared_ends
        place = {state: number for number, (state, _) in enumerate(pairs)}
        moves, fails, success = np.zeros((len(pairs), len(pairs))), *np.zeros((2, len(pairs)))
        for number, (state, action) in enumerate(pairs):
            nexts, declared = self._counts.next_states(state, action), ends(state, action)
            stayed, made = nexts.get(state, 0), sum(nexts.values())
            away = [end for end in {**dict.fromkeys(declared), **nexts} if end != state]
            success[number] = min(_success(made, stayed), test.pairs.floor((state, action))
                                  ) if state in declared else 1.0
            for end in away:
                chance = (nexts.get(end, 0) + 1 / len(away)) / (made - stayed + 1)
                if end in place:
                    moves[number, place[end]] += chance
                elif end != test.policy.target:
                    fails[number] += chance
        try:
            often = np.linalg.solve(np.eye(len(pairs)) - moves.T, np.eye(len(pairs))[0])
        except np.linalg.LinAlgError:
            return None
        limit = self._problem.limit
        margin = limit - float((often / success).sum() + often @ fails * (1 + limit))
        return None if margin <= 0 else {
            pair: _nats(test.pairs.record(pair), pair[0], steps, margin / each)
            for pair, each, steps in zip(pairs, often.tolist(), (1 / success).tolist())
            if len(ends(*pair)) > 1 and each * (1 + limit) > margin}


def _nats(record: Record, state: int, steps: float, margin: float) -> tuple[int, float]:
    """
    Return the executions of a pair, and the nats of each if the pair succeeds too seldom.

    :param steps: that the pair takes at each visit, as bad as it may be for nothing.
    :param margin: steps that it may take in addition to these.
    """
    failed = record.tally.get(state, 0) + record.lost
    success = _success(record.made, failed) if failed else 1.0
    return record.made, divergence(success, 1 / (margin + max(steps, 1 / success)))


def _executions(way: _Way, budget: float, own: Mapping[Pair, float]) -> dict[Pair, int]:
    """
    Return how many executions of each pair the bound seems to lack.

    :param budget: in nats, for all pairs.
    :param own: what each pair takes for nothing beside.

    It is within the limit if none of the pairs may succeed so seldom, with all of the budget for
    it, that this alone takes the margin.
    """
    lacking = dict[Pair, int]()
    for _ in range(2):
        expected = budget + _EXCESS * sum(lacking.values())
        lacking = {pair: max(0, math.ceil((expected + own[pair]) / nats) - made)
                   for pair, (made, nats) in way.items()}
    return {pair: executions for pair, executions in lacking.items() if executions}


def _success(made: int, failed: int) -> float:
    return (made - failed + _PRIOR * _SUCCESS) / (made + _PRIOR)


class _Drives(NamedTuple):
    """
    The pairs of a model, as [state, action].

    :ivar ends: that they lead to, if they do not stay.
    :ivar costs: steps until they do so; infinite where they lead nowhere.
    """

    ends: Indices
    costs: Floats


def best_policies(model: EmpiricalModel, targets: Sequence[int],
                  limit: float) -> list[tuple[Indices, float]]:
    """
    Return the best policy for each target, by ``smoothed_plan`` with ``FAILURE_WEIGHT``.

    Where all pairs are drives, the policies play RESET beside their way from home.

    :param targets: among the states of the model, and not home.
    :returns: the action by state of the model, and the value at home.
    """
    drives = _drives(model, limit)
    if drives is None:
        return [model.smoothed_plan(target, limit, FAILURE_WEIGHT) for target in targets]
    places = {state: place for place, state in enumerate(model.states)}
    ends = np.array([places[target] for target in targets], dtype=np.intp)
    moves = np.full((len(targets), len(places)), RESET)
    steps, here = np.zeros(len(targets)), np.zeros(len(targets), dtype=np.intp)
    left = _steps_to(drives, ends)
    steps[np.isinf(left[:, 0])] = np.inf
    while (going := np.flatnonzero((here != ends) & np.isfinite(steps))).size:
        at = here[going]
        ahead = drives.costs[at] + left[going[:, None], drives.ends[at]]
        # Of ways that are equally short the first action is taken, as by ``smoothed_plan``.
        action = (ahead <= ahead.min(axis=1, keepdims=True) + _TIE).argmax(axis=1)
        moves[going, at] = action
        steps[going] += drives.costs[at, action]
        here[going] = drives.ends[at, action]
    return [*zip(moves, steps.tolist())]


def _drives(model: EmpiricalModel, limit: float) -> _Drives | None:
    """Return the pairs of a model if each of them is a drive."""
    own = np.repeat(np.arange(len(model.states)), model.actions)[:, None]
    leads: Bools = (model.tally > 0) & (model.columns != own)
    if (leads.sum(axis=1) > 1).any():
        return None
    rows, slots = np.arange(len(own)), leads.argmax(axis=1)
    ends, often = model.columns[rows, slots], np.where(leads, model.tally, 0.0).sum(axis=1)
    costs = np.full(len(own), np.inf)
    np.divide(model.visits + FAILURE_WEIGHT * (2 + limit), often + FAILURE_WEIGHT, out=costs,
              where=leads.any(axis=1) & (ends >= 0) & ~model.forbidden)
    shape = len(model.states), model.actions
    return _Drives(np.maximum(0, ends).reshape(shape), costs.reshape(shape))


def _steps_to(drives: _Drives, targets: Indices) -> Floats:
    """Return the steps to each target, as [target, state]."""
    origins, actions = np.nonzero(np.isfinite(drives.costs))
    ends, costs = drives.ends[origins, actions], drives.costs[origins, actions]
    cheapest = cheapest_edges(costs, origins, ends)
    found: Floats = least_costs(
        len(drives.ends), costs[cheapest], ends[cheapest], origins[cheapest], indices=targets)
    return found
