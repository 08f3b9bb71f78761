# SPDX-License-Identifier: Apache-2.0

"""
The next pair, and the way to it: step 1, *Sample*, of ``docs/explanation/disco.md``.

What is to be sampled is decided by ``rule_out`` and ``certify``; this only makes the tour short.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
import math

from mnm_ros.core.disco import ways
from mnm_ros.core.model.counts import Counts, Pair, usual
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.transition_rows import TransitionRows

FIRST_EXECUTIONS = 1
"""Executions of each action of a state that has just been entered."""

_LOOK_COST = 1500
"""The square of the number of sampled states over the steps from one plan to the next."""

_IN_VAIN = 2
"""Times the patience, in steps without a sample, after which to check again what is near."""

_MOST_TRIPS = 3
"""Trips to a state that did not arrive, after which it is left out."""


class Sampling:
    """
    Executes every pair as often as it is wanted, near ones first. All of it is heuristic.

    :param counts: of the run; the caller adds each step to them, and to the rows.
    :param rows: of all states that are sampled.
    :param patience: steps after which new ways are searched for if none led to a sample.
    :ivar sampled: the states that are sampled.
    :ivar open: those with an action that lacks executions.
    :ivar urgent: pairs that come before all others.
    :ivar preferred: states that come before others.
    :ivar samples, steps: executions that were wanted, and steps made for them.
    """

    def __init__(self, counts: Counts, rows: TransitionRows, patience: int) -> None:
        self.sampled: dict[int, None] = {}
        self.open: dict[int, None] = {}
        self.urgent: dict[Pair, None] = {}
        self.preferred: dict[int, None] = {}
        self.samples = self.steps = 0
        self._counts = counts
        self._rows = rows
        self._patience = patience
        self._wanted: dict[Pair, int] = {}
        self._walked: Mapping[Pair, int] = {}    # wanted, too, but for certificates by walking
        self._walks = 0    # steps since that was planned
        self._avoided: dict[Pair, None] = {}
        self._closed: dict[Pair, None] = {}
        self._leaves_closed = False    # whether the robot ever has pairs not to try
        self._behind: dict[int, None] = {}    # states to which no way seems to lead but those
        self._way: dict[int, int] = {}
        self._led: dict[int, Policy] = {}
        self._trips: dict[int, int] = {}
        self._stale = True
        self._since = self._vain = 0

    @property
    def price(self) -> float:
        """Return the steps that a sample has taken on average."""
        return (self.steps + 10) / (self.samples + 5)

    def plan_is_due(self, more: int = 0) -> bool:
        """
        Return whether to plan again, after more steps.

        After some steps walking certificates may lack something else. If no sample was made for
        long, a pair on the way may have led on by chance, or before a change.
        """
        if self._walked and self._walks + more >= len(self.sampled) ** 2 // _LOOK_COST:
            return True
        vain = self._vain + more
        return vain > 0 and vain % (_IN_VAIN * self._patience) == 0

    def enter(self, state: int, policy: Policy | None = None) -> None:
        """Sample a state from now on; ``policy`` leads there where no way is known."""
        if state not in self._rows.numbers:
            self._rows.enter(state)
        self.sampled[state] = None
        if policy is not None:
            self._led[state] = policy
        for action in range(self._rows.actions):
            self.want((state, action), self._first_executions((state, action)))

    def want_again(self, pairs: Collection[Pair]) -> None:
        """Want of these pairs what is wanted of any, because their kept samples have changed."""
        for pair in pairs:
            self._wanted.pop(pair, None)
            self.urgent.pop(pair, None)
            if pair[0] in self.sampled:
                self.want(pair, self._first_executions(pair))
        self._stale = True

    def _first_executions(self, pair: Pair) -> int:
        """Return how often a pair is wanted before anything is planned."""
        # Of a pair that is declared, or has kept samples, informative samples are known.
        if self._rows.support.ends(*pair) is not None:
            return self._rows.support.tries
        return 0 if self._rows.carried(pair) else FIRST_EXECUTIONS

    def leave(self, state: int) -> None:
        """Sample a state no longer."""
        del self.sampled[state]
        self._withdraw(state)
        self.reopen(state)

    def want(self, pair: Pair, executions: int) -> None:
        """See to it that the pair has been executed so often."""
        if executions > self._wanted.get(pair, 0) and not self._rows.support.forbids(*pair):
            self._wanted[pair] = executions
        self.reopen(pair[0])

    def walk(self, wanted: Mapping[Pair, int]) -> None:
        """Have pairs executed so often, in place of those that this was last called with."""
        before = self._walked
        self._walks = 0
        if not (wanted or before):
            return
        self._walked = wanted
        for state in {pair[0]: None for pair in (*before, *wanted)}:
            self.reopen(state)

    def urge(self, pair: Pair) -> None:
        """Have the pair executed once more before any other."""
        self.want(pair, self._counts.visits(*pair) + 1)
        self.urgent[pair] = None
        self._stale = True

    def avoid(self, pairs: Collection[Pair]) -> None:
        """Leave these pairs alone for now, as long as there is anything else to sample."""
        self._avoided = dict.fromkeys((*pairs, *self._closed))
        self._stale = True

    def leave_closed(self, pairs: Collection[Pair]) -> None:
        """Leave these pairs alone likewise, and what lies behind them."""
        left = [pair for pair in self._avoided if pair not in self._closed]
        self._closed = dict.fromkeys(pairs)
        self._leaves_closed = True
        # An attempt may have executed since then what was to be executed soon.
        self.urgent = {pair: None for pair in self.urgent if pair not in self._closed}
        self._behind = {}
        self.avoid(left)

    def arrive(self, state: int) -> None:
        """Record that any step led to a state: what was left out for its trips comes back."""
        # An exploration without closed ways goes on as before there were any.
        if self._leaves_closed and state in self._trips:
            del self._trips[state]
            self.reopen(state)

    def prefer(self, state: int) -> None:
        """Sample what a state lacks now before other states."""
        if state in self.open:
            self.preferred[state] = None
            self._stale = True

    def _withdraw(self, state: int) -> None:
        """Take back what is urgent there."""
        self.urgent = {pair: None for pair in self.urgent if pair[0] != state}
        self._stale = True

    def reopen(self, state: int) -> None:
        """Check again whether a state lacks executions."""
        lacks = (state in self.sampled and self.lacking(state) is not None
                 and self._trips.get(state, 0) < _MOST_TRIPS)
        if lacks and state not in self.open:
            self.open[state] = None
            self._stale = True
        elif not lacks and state in self.open:
            del self.open[state]
            self.preferred.pop(state, None)
            self._stale = True

    def lacking(self, state: int) -> int | None:
        """Return the least executed action of those that lack executions."""
        wanted, walked, made = self._wanted, self._walked, self._counts.by_pair    # at each step
        first, found = (True, math.inf), None    # what is avoided comes last
        for action in range(self._rows.actions):
            pair = state, action
            visits = made.get(pair, 0)
            if visits < wanted.get(pair, 0) or walked and visits < walked.get(pair, 0):
                rank = pair in self._avoided, visits
                if rank < first:
                    first, found = rank, action
        return found

    def declare_again(self) -> None:
        """Record that the support has changed: where it is more, little may be known."""
        self._rows.declare_again()
        self._stale = True
        support = self._rows.support
        for pair in [pair for pair in (*self._wanted, *self.urgent) if support.forbids(*pair)]:
            self._wanted.pop(pair, None)
            self.urgent.pop(pair, None)
        for state in self.sampled:
            self.enter(state)

    @property
    def executions_lacking(self) -> int:
        """How many executions are wanted that have not been made."""
        wanted = {**self._wanted, **{
            pair: max(executions, self._wanted.get(pair, 0))
            for pair, executions in self._walked.items()}}
        return sum(max(0, executions - self._counts.visits(*pair))
                   for pair, executions in wanted.items() if pair[0] in self.sampled)

    def heading(self, here: int | None) -> Pair | None:
        """Return the pair that seems to be sampled next, by where ways have mostly led so far."""
        passed: set[int] = set()
        while here is not None and here not in passed:
            passed.add(here)
            urgent = next((pair for pair in self.urgent if pair[0] == here), None)
            if urgent is not None:
                return urgent
            lacking = self.lacking(here) if here in (self.preferred or self.open) else None
            if lacking is not None and not self.urgent:
                return here, lacking
            action = self._way.get(here, RESET)
            here = self._rows.states[0] if action == RESET else usual(
                self._counts.next_states(here, action))
        return None

    def action(self, here: int) -> int:
        """Return a wanted action of this state, else one that leads to the nearest open one."""
        if self.urgent:
            for state, action in self.urgent:
                if state == here:
                    return action
        elif here in (self.preferred or self.open):
            lacking = self.lacking(here)
            waits = (here, lacking) in self._avoided and self._not_avoided()
            if lacking is not None and not waits:
                return lacking
            # The ways may still lead here, though all that is lacking here can wait.
            self._stale = self._stale or lacking is not None and here not in self._way
        if self._since > self._patience and self.urgent:
            # No way seems to lead to the nearest any more.
            self._withdraw((self.heading(here) or next(iter(self.urgent)))[0])
        if self._stale or self._since > self._patience:
            self._find_ways()
        if here in self._way:
            return self._way[here]
        return self._fallback(here)

    def _not_avoided(self) -> list[int]:
        """Return the states that lack more than what is avoided."""
        return [state for state in self.preferred or self.open
                if (state, self.lacking(state)) not in self._avoided
                and state not in self._behind]

    def observe(self, here: int, action: int, state: int) -> None:
        """Record a step made for a sample."""
        self.steps += 1
        self._walks += 1
        sampled = here in self.open
        self._since = 0 if sampled else self._since + 1
        self._vain = 0 if sampled else self._vain + 1
        self.samples += sampled
        if state in self._trips:
            del self._trips[state]
        if self._behind:
            self._behind.pop(state, None)
        self.reopen(here)
        if (here, action) in self.urgent:
            del self.urgent[here, action]
            self._stale = True

    def distances(self) -> dict[int, float]:
        """
        Return by state met the steps from home, as if each pair could be tried on the spot.

        A way around a closed pair counts, as no policy executes such a pair.
        """
        return ways.distances(self._rows, self._closed)

    def way_to(self, state: int) -> list[tuple[int, int, int]]:
        """Return state, action and next state of the moves from home by ``distances``."""
        return ways.way_to(self._rows, state)

    def _fallback(self, here: int) -> int:
        """
        Where no way is known: try what was tried least, or follow a policy from home.

        A state that its policy does not reach either is left out after some trips, as is one to
        which no way leads that is declared.
        """
        home = self._rows.states[0]
        if self._closed and not self.urgent and not self.preferred and self._find_behind():
            return self.action(here)
        if here != home:
            return RESET
        # A pair that no known way can reach is urgent no more.
        self._stale = self._stale or bool(self.urgent or self.preferred)
        self.urgent.clear()
        self.preferred.clear()
        for state in list(self.open):
            policy = self._led.get(state)
            if policy is not None and policy.covers(here):
                self._trips[state] = self._trips.get(state, 0) + 1
                self._way = {known: policy.action(0, known) for known in policy.states
                             if known != state and known in self._rows.numbers
                             and not self._rows.support.forbids(known, policy.action(0, known))}
                self._since = -policy.horizon
                self.reopen(state)
                return self._way.get(here, self._least_tried(here))
            if self._rows.support:    # where a way is declared there may be none
                self._trips[state] = self._trips.get(state, 0) + 1
                self.reopen(state)
        return self._least_tried(here)

    def _find_behind(self) -> bool:
        """Leave alone what no way seems to lead to but those that are closed; return if any."""
        closed = frozenset(self._closed)
        found = [state for state in self._not_avoided()
                 if (policy := self._led.get(state)) is None or policy.plays(closed)]
        self._behind.update(dict.fromkeys(found))
        self._stale = self._stale or bool(found)
        return bool(found)

    def _least_tried(self, here: int) -> int:
        visits = [self._counts.visits(here, action) + self._rows.carried((here, action))
                  for action in range(self._rows.actions)]
        allowed = [action for action in range(self._rows.actions)
                   if not self._rows.support.forbids(here, action)]
        return min(allowed, key=visits.__getitem__, default=RESET)

    def _find_ways(self) -> None:
        """Point every state to the nearest open one."""
        self._stale = False
        self._since = 0
        wanted = (dict.fromkeys(state for state, _ in self.urgent)
                  or self._avoided and self._not_avoided() or self.preferred or self.open)
        self._way = ways.to_nearest(self._rows, wanted, self._avoided)
