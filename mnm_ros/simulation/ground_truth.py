# SPDX-License-Identifier: Apache-2.0

"""The truth about a known CMP, and how a hypothesis compares with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from mnm_ros.core.knowledge.expected_plays import expected_plays, steps_of
from mnm_ros.core.model.counts import Floats, Indices
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.scenario import Scenario
import numpy as np

_TOLERANCE = 1 + 1e-9
"""Keeps rounding from deciding whether a time that equals the limit is within it."""

_ROUNDING = 1 + 1e-6
"""Far above the errors of ``best_time``, so that bounds exclude no state that it includes."""


def reachable_states(cmp: Cmp, radius: float) -> tuple[int, ...]:
    """
    Return the incrementally reachable set ``S_L->``, in the order in which it is found.

    Beginning with home, every state is added that some policy on the states found so far
    reaches within ``radius`` expected steps.

    Source: Lim & Auer 2012, definition 4.
    """
    members = [cmp.start]
    while True:
        added = [
            state for state, least in _border(cmp, members).items() if least <= radius * _ROUNDING
            and best_time(cmp, members, state) <= radius * _TOLERANCE]
        if not added:
            return tuple(members)
        members += added


def _border(cmp: Cmp, members: Sequence[int]) -> dict[int, float]:
    """
    Return the states that follow members, in the order in which they are found.

    Each has a lower bound of its ``best_time``, which costs much less. Nothing leads to the state
    before the steps that its nearest member is away from home. From then on, each step arrives
    with no more than the largest chance of all pairs.
    """
    hops, known, border = {cmp.start: 0}, {*members}, dict[int, tuple[int, float]]()
    leads = {member: [cmp.transitions(member, action) for action in range(cmp.actions)]
             for member in members}
    waiting = [cmp.start]
    for member in waiting:
        for after in (after for outcomes in leads[member] for after, _ in outcomes):
            if after in known and after not in hops:
                hops[after] = hops[member] + 1
                waiting.append(after)
    for member in members:
        for outcomes in leads[member]:
            for state in dict.fromkeys(after for after, _ in outcomes if after not in known):
                chance = sum(probability for after, probability in outcomes if after == state)
                before, most = border.get(state, (hops[member], chance))
                border[state] = min(before, hops[member]), max(most, chance)
    return {state: before + 1 / most if most else inf for state, (before, most) in border.items()}


def best_time(cmp: Cmp, members: Sequence[int], target: int) -> float:
    """
    Return the least expected steps from home to ``target``; inf if no policy reaches it.

    The minimum is over the policies that play RESET outside of ``members``, which include home.
    It is found by policy iteration, exact up to rounding.
    """
    if target == cmp.start:
        return 0.0
    cost, move, arrival = _stochastic_shortest_path(cmp, members, target)
    home = [state for state in members if state != target].index(cmp.start)
    choice = _proper_policy(move, arrival)
    if choice is None:
        return inf
    rows = np.arange(len(choice))
    best, total = inf, inf
    while True:
        try:
            times = np.linalg.solve(np.eye(len(rows)) - move[choice, rows], cost[choice, rows])
        except np.linalg.LinAlgError:    # arriving is so unlikely that rounding hides it
            return best
        if not times.sum() < total:
            return best
        best, total = float(times[home]), times.sum()
        after = cost + move @ times
        improved = after.argmin(axis=0)
        # Rounding may make a policy that never arrives seem as good, so only real gains count.
        gain = times - after[improved, rows] > 1e-12 * times
        choice = np.where(gain, improved, choice)


def _stochastic_shortest_path(
        cmp: Cmp, members: Sequence[int], target: int,
) -> tuple[Floats, Floats, Floats]:
    """
    Return the shortest path problem between ``n`` members by ``A`` actions, RESET last.

    A next state that is neither a member nor the target counts as home, at the cost of a RESET.

    :returns: The expected costs (A, n), the probabilities of moves between members (A, n, n) and
        those of arriving at the target (A, n).
    """
    states = [state for state in members if state != target]
    index = {state: i for i, state in enumerate(states)}
    actions = (*range(cmp.actions), RESET)
    cost = np.ones((len(actions), len(states)))
    move = np.zeros((len(actions), len(states), len(states)))
    arrival = np.zeros_like(cost)
    for i, state in enumerate(states):
        for a, action in enumerate(actions):
            for after, probability in cmp.transitions(state, action):
                if after == target:
                    arrival[a, i] += probability
                elif after in index:
                    move[a, i, index[after]] += probability
                else:
                    move[a, i, index[cmp.start]] += probability
                    cost[a, i] += probability
    return cost, move, arrival


def _proper_policy(move: Floats, arrival: Floats) -> Indices | None:
    """Return an action per state with which the target is reached for sure, or None."""
    choice = np.zeros(arrival.shape[1], dtype=int)
    arriving = np.zeros(arrival.shape[1], dtype=bool)
    while not arriving.all():
        closer = arrival + move @ arriving
        new = (closer.max(axis=0) > 0) & ~arriving
        if not new.any():
            return None
        choice[new] = closer.argmax(axis=0)[new]
        arriving |= new
    return choice


def expected_steps(cmp: Cmp, policy: Policy) -> float:
    """
    Return the expected steps from home until ``policy.target`` is first reached.

    The result is exact for the published meaning of a policy: each attempt begins at home with
    step 0, and outside of the listed states and after the horizon a RESET, which is a step,
    begins the next attempt. It is inf if no attempt can succeed.
    """
    steps = steps_of(expected_plays(
        policy, cmp.start, lambda *pair: dict(cmp.transitions(*pair)), negligible=0.0))
    return inf if steps is None else steps


@dataclass(frozen=True)
class Verdict:
    """
    The faults of a hypothesis.

    :ivar missing: the reachable states that are not known.
    :ivar over_limit: the targets whose policy takes too long, with its expected steps.
    """

    missing: tuple[int, ...]
    over_limit: tuple[tuple[int, float], ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.missing and not self.over_limit


def judge(cmp: Cmp, hypothesis: Hypothesis | None, radius: float, epsilon: float,
          reachable: Sequence[int] | None = None) -> Verdict:
    """
    Compare a hypothesis with the CMP in force; a hypothesis None knows no state.

    It must know every state reachable within ``radius`` expected steps, and each of its policies
    must reach its target within ``(1 + epsilon) * radius``.

    :param reachable: within ``radius``, where that has been worked out.
    :raises ValueError: if a policy plays an unknown action.
    """
    if reachable is None:
        reachable = reachable_states(cmp, radius)
    limit = (1 + epsilon) * radius
    policies = hypothesis.policies if hypothesis else ()
    known = {policy.target for policy in policies}
    times = ((policy.target, expected_steps(cmp, policy)) for policy in policies)
    return Verdict(
        tuple(state for state in reachable if state not in known),
        tuple((target, time) for target, time in times if time > limit * _TOLERANCE))


class ExplorationSteps:
    """
    Counts exploration steps, at which the published hypothesis is wrong (Gajane et al. 2019).

    :ivar total: the exploration steps so far.
    """

    def __init__(self, scenario: Scenario, radius: float, epsilon: float) -> None:
        self.total = 0
        self._scenario = scenario
        self._radius, self._epsilon = radius, epsilon
        self._reachable: dict[int, tuple[int, ...]] = {}
        self._hypothesis: Hypothesis | None = None
        self._verdicts: dict[int, Verdict] = {}

    def count(self, setting: int, hypothesis: Hypothesis | None) -> int:
        """Count one step in ``setting`` while ``hypothesis`` is published; return the total."""
        self.total += not self.verdict(setting, hypothesis).ok
        return self.total

    def verdict(self, setting: int, hypothesis: Hypothesis | None) -> Verdict:
        """Return the verdict in a setting, computed once per setting and hypothesis."""
        # By identity: the versions repeat if the explorer starts again.
        if hypothesis is not self._hypothesis:
            self._hypothesis = hypothesis
            self._verdicts.clear()
        if setting not in self._verdicts:
            cmp = self._scenario.settings[setting].cmp
            if setting not in self._reachable:
                self._reachable[setting] = reachable_states(cmp, self._radius)
            self._verdicts[setting] = judge(
                cmp, hypothesis, self._radius, self._epsilon, self._reachable[setting])
        return self._verdicts[setting]
