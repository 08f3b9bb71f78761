# SPDX-License-Identifier: Apache-2.0

"""Sampling every action of the known states, so that no reachable neighbour stays unseen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
import heapq
import math

from mnm_ros.core.model.counts import Counts, Pair, usual
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET


class Discovery(ABC):
    """
    Where to go and what to try during state discovery.

    :ivar learns_everywhere: whether unknown states met outside state discovery become
        candidates.
    """

    learns_everywhere: bool

    @abstractmethod
    def begin(self, known: Sequence[int], states: Sequence[int], policy: Policy) -> None:
        """
        Set out to sample some known states.

        :param known: ``K``, home first.
        :param states: those of it that lack samples, not empty.
        :param policy: leads to the last of ``states``.
        """

    @abstractmethod
    def pending(self, known: Sequence[int]) -> tuple[int, ...]:
        """Return the known states that still lack samples."""

    @abstractmethod
    def done(self) -> bool:
        """Return whether the states of ``begin`` have all their samples."""

    @abstractmethod
    def action(self, here: int) -> int:
        """Return the next action in ``here``; only while not ``done``."""

    @abstractmethod
    def observe(self, here: int, action: int, state: int) -> None:
        """Record a step made for discovery."""

    def restart(self) -> None:
        """Record that the robot has come home after an interruption."""

    def observe_elsewhere(self, state: int) -> None:
        """Record that another run has sampled an action in ``state``."""

    def request(self, state: int, action: int) -> None:
        """Sample a pair once before all others, if a way there is known; optional."""


class OnTheWayDiscovery(Discovery):
    """
    Counts every execution toward the quota, and samples first what is near.

    A state of ``S_L->`` follows some pair (known state, action) with probability at least ``1/L``,
    or its expected time would exceed ``L``. The missing state of lowest rank ``i <= |K| + 1``
    (ranks as in ``kl_optimism``) thus stays unseen in ``n`` executions of one certain pair with
    probability at most ``(1 - 1/L)^n``; with ``n >= log(i (i - 1) / delta') / -log(1 - 1/L)`` the
    sum over the ranks is ``delta'``; a pair that is forgotten begins again (``kl_optimism``).
    Which way the robot takes to a sample, and what is requested before others, is a heuristic
    without influence on this.

    :param problem: with the delta of the run, which is not used here.
    :param delta: the part ``delta'`` of it that discovery may use.
    :param counts: of the run; the caller adds each step to them.
    """

    learns_everywhere = True

    def __init__(self, problem: Problem, delta: float, counts: Counts) -> None:
        self._problem = problem
        self._delta = delta
        self._counts = counts
        self._requested: dict[Pair, None] = {}
        self._open: dict[int, None] = {}
        self._way: dict[int, int] = {}
        self._since_sample = 0
        self._astray = 0

    def quota(self, known: int) -> int:
        """Return how often each action has to be executed in each of ``known`` states."""
        if self._problem.radius == 1:
            return 1    # such a state follows for sure, and the formula divides by log(0)
        return math.ceil(math.log(known * (known + 1) / self._delta)
                         / -math.log1p(-1 / self._problem.radius))

    def begin(self, known: Sequence[int], states: Sequence[int], policy: Policy) -> None:
        """Sample ``states`` up to the quota for the known states there are now."""
        self._known = tuple(known)
        self._quota = self.quota(len(known))
        self._horizon = policy.horizon
        self._open = {state: None for state in states if self._lacking(state) is not None}
        self._find_ways()

    def pending(self, known: Sequence[int]) -> tuple[int, ...]:
        """Return the states below the quota, which grows with ``|K|``."""
        quota = self.quota(len(known))
        return tuple(
            state for state in known
            if min(self._visits(state)) < quota)

    def done(self) -> bool:
        return not self._open and not self._requested

    def request(self, state: int, action: int) -> None:
        if not self._problem.support.forbids(state, action):
            self._requested[state, action] = None
            if len(self._requested) == 1:    # ways to others are found when it is done
                self._find_ways()

    def action(self, here: int) -> int:
        """
        Return an action that lacks samples here, else one on the way to the nearest.

        As long as anything is requested, nothing else lacks samples.

        Where no way is known, it is the least executed one: the way may lead through an outcome
        that was not met within the quota. What is tried so long without coming to a sample
        ends with a RESET, as there may be states that nothing else leads out of.
        """
        forbids = self._problem.support.forbids
        if forbids(here, self._way.get(here, RESET)):    # it was found before that was declared
            self._find_ways()
        wanted = [action for state, action in self._requested if state == here]
        if wanted:
            return wanted[0]
        action = self._lacking(here) if here in self._open and not self._requested else None
        if action is not None:
            return action
        if self._requested and here == self._known[0] and here not in self._way:
            self._requested.clear()    # no way to any of them is known
            self._find_ways()
            if here in self._open:
                return self.action(here)
        if (here in self._way or here in self._open or here not in self._known
                or self._astray >= self._horizon):
            return self._way.get(here, RESET)
        visits = self._visits(here)
        return visits.index(min(visits)) if min(visits) < math.inf else RESET

    def observe(self, here: int, action: int, state: int) -> None:
        """Search for new ways when a state is done, or when the present ones lead nowhere."""
        sampled = (here, action) in self._requested if self._requested else here in self._open
        self._since_sample = 0 if sampled else self._since_sample + 1
        lost = action != RESET and here not in self._way and here not in self._open
        self._astray = self._astray + 1 if lost else 0
        if (here, action) in self._requested:
            del self._requested[here, action]
            if all(state != here for state, _ in self._requested):
                self._find_ways()
        self.observe_elsewhere(here)
        # The counts behind the ways may be wrong by chance; more of them mend that.
        if self._since_sample > self._horizon:
            self._since_sample = 0
            if self._requested:    # no way seems to lead to the nearest any more
                nearest = self._heading(here)
                self._requested = {
                    pair: None for pair in self._requested if pair[0] != nearest}
            self._find_ways()

    def _heading(self, here: int) -> int:
        """Return the state with a request that is nearest, by where ways have mostly led."""
        states, passed = {state for state, _ in self._requested}, set()
        while here not in states and here not in passed:
            passed.add(here)
            action = self._way.get(here, RESET)
            after = None if action == RESET else usual(self._counts.next_states(here, action))
            here = self._known[0] if after is None else after
        return here if here in states else next(iter(states))

    def observe_elsewhere(self, state: int) -> None:
        """Go to ``state`` no longer once it has all its samples."""
        if state in self._open and self._lacking(state) is None:
            del self._open[state]
            self._find_ways()

    def _lacking(self, state: int) -> int | None:
        """Return the least executed action of ``state`` if it is below the quota."""
        visits = self._visits(state)
        least = min(visits)
        return visits.index(least) if least < self._quota else None

    def _visits(self, state: int) -> list[float]:
        """Return how often each action was executed; one never to be commanded needs no more."""
        visits = self._counts.visits_of_all(state, self._problem.actions)
        support = self._problem.support
        return [math.inf if support.forbids(state, action) else count
                for action, count in enumerate(visits)] if support else [*visits]

    def _find_ways(self) -> None:
        """
        Point every known state to the nearest open one, by Dijkstra's algorithm.

        An observed transition costs the executions that it takes on average.
        """
        arriving: dict[int, list[tuple[float, int, int]]] = {}
        for state in self._known:
            arriving.setdefault(self._known[0], []).append((1.0, state, RESET))
            for action in range(self._problem.actions):
                if self._problem.support.forbids(state, action):
                    continue
                visits = self._counts.visits(state, action)
                for following, count in self._counts.next_states(state, action).items():
                    arriving.setdefault(following, []).append((visits / count, state, action))
        self._way = {}
        queue = [(0.0, state, RESET) for state in dict.fromkeys(
            state for state, _ in self._requested) or self._open]
        settled: set[int] = set()
        while queue:
            cost, state, action = heapq.heappop(queue)
            if state in settled:
                continue
            settled.add(state)
            if cost:
                self._way[state] = action
            for more, before, step in arriving.get(state, ()):
                if before not in settled:
                    heapq.heappush(queue, (cost + more, before, step))


class PerVisitDiscovery(Discovery):
    """
    State discovery as printed.

    Each action is executed ``ceil(L log(8 A L |K|^2 / delta))`` times in the new state, each time
    on a new way from home, which is restarted after ``horizon`` steps without arrival.

    Source: Lim & Auer 2012, section 3.1.
    """

    learns_everywhere = False

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._remaining: list[int] = []
        self._attempt = 0

    def quota(self, known: int) -> int:
        """Return how often each action is executed in the state that makes ``|K|`` ``known``."""
        problem = self._problem
        return math.ceil(problem.radius * math.log(
            8 * problem.all_actions * problem.radius * known ** 2 / problem.delta))

    def begin(self, known: Sequence[int], states: Sequence[int], policy: Policy) -> None:
        """Give the last state, the only new one, its full quota."""
        quota = self.quota(len(known))
        self._remaining = [a for a in range(self._problem.actions) for _ in range(quota)
                           if not self._problem.support.forbids(policy.target, a)]
        self._policy = policy
        self._go_home = True

    def pending(self, known: Sequence[int]) -> tuple[int, ...]:
        """Return nothing: each state is sampled once and for all when it becomes known."""
        return ()

    def done(self) -> bool:
        return not self._remaining

    def action(self, here: int) -> int:
        """Return RESET, then the actions of the policy, then the one to sample."""
        if self._go_home:
            return RESET
        if here == self._policy.target:
            forbids = self._problem.support.forbids
            while self._remaining and forbids(here, self._remaining[-1]):    # declared since
                self._remaining.pop()
            self._go_home = not self._remaining
            return self._remaining[-1] if self._remaining else RESET
        return self._policy.action(self._attempt, here)

    def restart(self) -> None:
        """Begin the way to the sample again, at home."""
        self._go_home = False
        self._attempt = 0

    def observe(self, here: int, action: int, state: int) -> None:
        """Go home after a sample, and where the horizon is over without arrival."""
        if self._go_home:
            self.restart()
        elif here == self._policy.target:
            self._remaining.pop()
            self._go_home = True
        else:
            self._attempt += 1
            self._go_home = (self._attempt >= self._policy.horizon
                             and state != self._policy.target)
