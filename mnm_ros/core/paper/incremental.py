# SPDX-License-Identifier: Apache-2.0

"""The common part of base algorithms that make one state after the other known."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import (
    FEW_STATES,
    Learns,
    Relearns,
    Reports,
    Samples,
    TakesTurns,
)
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.paper.discovery import Discovery
from mnm_ros.core.paper.optimism import Optimism, OptimisticPolicy
from mnm_ros.core.task.step_task import PhaseMachine


@dataclass(frozen=True)
class BaseParts:
    """
    The parts of a run for one problem; all of them share ``counts``.

    :ivar horizon: of every policy, in steps.
    :ivar counts: transitions without RESET, of the kind that ``optimism`` needs.
    :ivar optimism: plans for the next candidate.
    :ivar discovery: samples the known states.
    :ivar step_bound: ``W`` from ``|K|``.
    """

    horizon: int
    counts: Counts
    optimism: Optimism
    discovery: Discovery
    step_bound: Callable[[int], int]


class IncrementalBase(
        PhaseMachine, BaseAlgorithm, TakesTurns, Reports, Learns, Relearns, Samples):
    """
    Samples the known states, then plans for a candidate, until none is left.

    Once a pair has changed, it plans for what is new before all is sampled: a
    test that begins early is a test as any other, and the end comes when all is sampled.

    The table of a subclass has the triggers ``sampled`` (to planning), ``undersampled`` (back to
    state discovery) and ``nothing_left`` (the end); planning happens between two steps.

    :param problem: with the delta of this run.
    :param home: the start state ``s0``.
    :param parts: made for this run alone.
    :param policies: known from the start, home first; empty for home alone.
    """

    parts: BaseParts

    def __init__(self, problem: Problem, home: int, parts: BaseParts,
                 policies: tuple[Policy, ...]) -> None:
        self.quantum = parts.horizon
        self._problem = problem
        self.parts = parts
        self._known = {policy.target: policy for policy in policies or (
            Policy(home, parts.horizon, (home,), ((RESET,),)),)}
        self._candidates: dict[int, None] = {}
        self._estimates: dict[int, float] = {}
        # Candidates to plan for at once; None as long as nothing is known to have changed.
        self._news: dict[int, None] | None = None
        self._here: int | None = None
        self._sample(tuple(self._known))

    @property
    def policies(self) -> tuple[Policy, ...]:
        return tuple(self._known.values())

    @property
    def candidates(self) -> tuple[int, ...]:
        return tuple(self._candidates)

    @property
    def estimates(self) -> Mapping[int, float]:
        return self._estimates

    def step_bound(self, known: int) -> int:
        return self.parts.step_bound(known)

    def next_action(self) -> int:
        return RESET if self._here is None else self.parts.discovery.action(self._here)

    def observe(self, action: int, state: int) -> None:
        here, self._here = self._here, state
        if here is not None and action != RESET:
            self._learn(here, action, state)
        self._step(here, action, state)

    def may_plan(self, action: int, state: int) -> bool:
        """Return whether there are so many states that any plan may take long."""
        return len(self._known) + len(self._candidates) > FEW_STATES

    def interrupt(self) -> None:
        self._here = None

    def add_transition(self, state: int, action: int, next_state: int) -> None:
        self._learn(state, action, next_state)
        if not self.evaluating:
            self.parts.discovery.observe_elsewhere(state)

    def add_censored(self, state: int, action: int) -> None:
        """Leave it out: what is promised rests on attempts of this run alone."""

    def request_sample(self, state: int, action: int) -> None:
        if state in self._known and not self.finished:
            self.parts.discovery.request(state, action)

    def forget(self, state: int, action: int) -> bool:
        """Forget the transitions of the pair, but not which policies were evaluated through it."""
        if self.parts.discovery.learns_everywhere:
            self.parts.counts.forget(state, action)
            self._news = self._news or {}
            self._start_over()
        return False

    def revise(self, policies: tuple[Policy, ...]) -> bool:
        if not self.parts.discovery.learns_everywhere:
            return False
        kept = {policy.target: policy for policy in policies}
        # No detector watches the transitions of states that were deleted, so they may be stale.
        for target in self._known:
            if target not in kept:
                self._estimates.pop(target, None)
                for action in range(self._problem.actions):
                    self.parts.counts.forget(target, action)
        self._known = kept
        self._candidates = {}
        for target in kept:
            self._meet_all(target)
        self._start_over()
        return True

    def _start_over(self) -> None:
        """Drop what was found out with counts or policies that are no more."""

    @abstractmethod
    def _learn(self, state: int, action: int, next_state: int) -> None:
        """Count a transition; its end may be a candidate."""

    @abstractmethod
    def _pursue(self, plan: OptimisticPolicy) -> None:
        """Do what the plan says, and leave the phase of planning."""

    def _step(self, here: int | None, action: int, state: int) -> None:
        """Make a step of state discovery; plan once there is nothing left to sample."""
        discovery = self.parts.discovery
        if here is None:
            discovery.restart()
        else:
            discovery.observe(here, action, state)
        if discovery.done() or self._news:
            self.trigger('sampled')
            self._plan()

    def _plan(self) -> None:
        """Pursue the plan for a candidate, or find out what else is left to do."""
        known, early = tuple(self._known), not self.parts.discovery.done()
        candidates = self._first_candidates() if early else self.candidates
        self._news = None if self._news is None else {}
        plan = None
        if candidates:
            plan = self.parts.optimism.plan(self.parts.counts, known, candidates)
        if plan is not None:
            self._pursue(plan)
            return
        if early:
            self.trigger('undersampled')
            return
        # The quota grows with the known states: those sampled early may lack some by now.
        pending = self.parts.discovery.pending(known)
        if pending:
            self._sample(pending)
        self.trigger('undersampled' if pending else 'nothing_left')

    def _sample(self, states: Sequence[int]) -> None:
        """Set out to sample some known states."""
        self.parts.discovery.begin(tuple(self._known), states, self._known[states[-1]])

    def _first_candidates(self) -> tuple[int, ...]:
        """Return the candidates that do not wait until all known states are sampled."""
        return tuple(state for state in self._news or () if state in self._candidates)

    def _meet(self, state: int, next_state: int) -> None:
        """Make a candidate of what follows a known state and is not known itself."""
        if next_state not in self._known and state in self._known:
            self._candidates[next_state] = None

    def _make_known(self, policy: Policy, steps: float) -> None:
        """Make the target of a certified policy known; what follows it may be a candidate."""
        target = policy.target
        self._known[target] = policy
        self._estimates[target] = steps
        self._candidates.pop(target, None)
        if self.parts.discovery.learns_everywhere:
            self._meet_all(target)

    def _meet_all(self, target: int) -> None:
        """Make candidates of what has followed a known state."""
        for action in range(self._problem.actions):
            for state in self.parts.counts.next_states(target, action):
                self._meet(target, state)
