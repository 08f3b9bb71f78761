# SPDX-License-Identifier: Apache-2.0

"""UcbExplore: autonomous exploration of a CMP that does not change (Lim & Auer, COLT 2012)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import (
    FEW_STATES,
    Learns,
    Relearns,
    Reports,
    Samples,
    TakesTurns,
)
from mnm_ros.core.model.counts import Counts, Pair
from mnm_ros.core.model.episode import Attempts
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.paper.discovery import Discovery
from mnm_ros.core.paper.optimism import Optimism, OptimisticPolicy
from mnm_ros.core.progress.activity import Evidence, PhaseActivity
from mnm_ros.core.progress.said import Sampling, TestingAttempts
from mnm_ros.core.statistics.evaluation import Decision, Evaluation, longest
from mnm_ros.core.task.step_task import machine_of, PhaseMachine

_SIGHTS = 8
"""After a change, a state that a pair has led to so often is examined before all is sampled."""


class UcbPhase(Enum):
    """The activities of UcbExplore; planning happens between two steps."""

    DISCOVERY = 'discovery'
    PLANNING = 'planning'
    EVALUATION = 'evaluation'
    FINISHED = 'finished'


UCB_TRANSITIONS = (
    ('sampled', UcbPhase.DISCOVERY, UcbPhase.PLANNING),
    ('undersampled', UcbPhase.PLANNING, UcbPhase.DISCOVERY),
    ('target_chosen', UcbPhase.PLANNING, UcbPhase.EVALUATION),
    ('nothing_left', UcbPhase.PLANNING, UcbPhase.FINISHED),
    ('round_failed', UcbPhase.EVALUATION, UcbPhase.PLANNING),
    ('round_skipped', UcbPhase.EVALUATION, UcbPhase.PLANNING),
    ('round_succeeded', UcbPhase.EVALUATION, UcbPhase.DISCOVERY),
)


@dataclass(frozen=True)
class UcbParts:
    """
    The interchangeable parts of UcbExplore for one problem; all of them share ``counts``.

    :ivar horizon: of every policy, in steps.
    :ivar counts: transitions without RESET, of the kind that ``optimism`` needs.
    :ivar optimism: plans for the next candidate.
    :ivar discovery: samples the known states.
    :ivar step_bound: ``W`` from ``|K|``.
    :ivar evaluate: makes the evaluation of round ``i`` from ``|K|`` and ``i`` (1, 2, ...).
    """

    horizon: int
    counts: Counts
    optimism: Optimism
    discovery: Discovery
    step_bound: Callable[[int], int]
    evaluate: Callable[[int, int], Evaluation]


class UcbExplore(PhaseMachine, BaseAlgorithm, TakesTurns, Reports, Learns, Relearns, Samples):
    """
    Samples the known states, then plans for a candidate and tests its policy, until none is left.

    Once a pair has changed, it plans for what is new before all is sampled: a test that begins
    early is a test as any other, and the end comes when all is sampled.

    :param problem: with the delta of this run.
    :param home: the start state ``s0``.
    :param parts: made for this run alone.
    :param policies: known from the start, home first; empty for home alone.
    """

    _machine = machine_of(UCB_TRANSITIONS)
    state: UcbPhase

    def __init__(self, problem: Problem, home: int, parts: UcbParts,
                 policies: tuple[Policy, ...] = ()) -> None:
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
        self._attempts: Attempts | None = None
        self._evaluation: Evaluation | None = None
        self._rounds = 0
        self._given_up = False    # whether the policy is not to be evaluated any more
        self._sample(tuple(self._known))
        self.state = UcbPhase.DISCOVERY

    @property
    def finished(self) -> bool:
        return self.state is UcbPhase.FINISHED

    @property
    def evaluating(self) -> bool:
        return self.state is UcbPhase.EVALUATION

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

    def activity(self) -> PhaseActivity:
        test, attempts = self._evaluation, self._attempts
        if not self.evaluating or test is None or attempts is None:
            return PhaseActivity('sampling', Sampling())
        target = attempts.policy.target
        return PhaseActivity(
            'testing', TestingAttempts(target, test.arrived, test.played), target, None,
            (Evidence('policy', target, None, *test.evidence),))

    def next_action(self) -> int:
        if self._here is None:
            return RESET
        if self.evaluating:
            assert self._attempts is not None
            action = RESET if self._given_up else self._attempts.action(self._here)
        else:
            action = self.parts.discovery.action(self._here)
        # A way to a sample may have been found before the declaration.
        return RESET if self._problem.support.forbids(self._here, action) else action

    def observe(self, action: int, state: int) -> None:
        here, self._here = self._here, state
        self.episode_over = False
        if here is not None and action != RESET:
            self._learn(here, action, state)
        if self.evaluating:
            self._evaluate(here, action, state)
            return
        discovery = self.parts.discovery
        if here is None:
            discovery.restart()
        else:
            discovery.observe(here, action, state)
        if discovery.done() or self._news:
            self.trigger('sampled')
            self._plan()

    def may_plan(self, action: int, state: int) -> bool:
        """Return whether there are so many states that any plan may take long."""
        return len(self._known) + len(self._candidates) > FEW_STATES

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

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """Attempt no policy any more that plays what is never to be commanded."""
        if self.evaluating and self._attempts is not None:
            self._given_up = self._attempts.policy.plays(self._problem.support.all_forbidden)

    def _start_over(self) -> None:
        """Drop what was found out with counts or policies that are no more."""
        if self.evaluating:
            self._given_up = True
        elif not self.finished:
            known = tuple(self._known)
            self._sample(self.parts.discovery.pending(known) or known[:1])

    @property
    def between_attempts(self) -> bool:
        """Whether no attempt is under way that counts in an evaluation."""
        return (self._evaluation is None or self._attempts is None
                or not self._attempts.under_way)

    def interrupt(self) -> None:
        """Start again from home; an episode under way is broken off, and counts as such."""
        self._here = None
        broken = self._attempts.interrupt() if self._attempts is not None else None
        if broken is not None and self._evaluation is not None:
            self._evaluation.break_off(broken.length, broken.most)

    def _learn(self, state: int, action: int, next_state: int) -> None:
        """Count a transition; its end may be a candidate."""
        _, before = self.parts.counts.add(state, action, next_state)
        if self._news is not None and before + 1 == _SIGHTS and next_state not in self._known:
            self._news[next_state] = None
        if self.parts.discovery.learns_everywhere or self.state is UcbPhase.DISCOVERY:
            self._meet(state, next_state)

    def _plan(self) -> None:
        """Pursue the plan for a candidate, or find out what else is left to do."""
        known, early = tuple(self._known), not self.parts.discovery.done()
        candidates = self._first_candidates() if early else self.candidates
        self._news = None if self._news is None else {}
        plan = self.parts.optimism.plan(
            self.parts.counts, known, candidates) if candidates else None
        if plan is not None:
            self._pursue(plan)
            return
        # A test may go on over a skip, but not over a return to state discovery.
        self._evaluation = None
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
        first = tuple(state for state in self._news or () if state in self._candidates)
        if self._evaluation is None or self._attempts is None:
            return first
        # A policy under test goes on with it.
        return tuple(dict.fromkeys((self._attempts.policy.target, *first)))

    def _pursue(self, plan: OptimisticPolicy) -> None:
        """Evaluate the policy; the very policy that was under evaluation may just go on."""
        self.trigger('target_chosen')
        self._executed: dict[Pair, int] = {}
        self._before: dict[Pair, int] = {}
        if (self._evaluation and self._evaluation.continues
                and self._attempts and plan.policy == self._attempts.policy):
            return
        self._rounds += 1
        self._evaluation = self.parts.evaluate(len(self._known), self._rounds)
        # The policy will be published over states that become known later, too.
        self._attempts = Attempts(plan.policy, self._evaluation.ends_outside,
                                  certify=self._problem.limit,
                                  most=longest(plan.policy.horizon, self._problem))

    def _evaluate(self, here: int | None, action: int, state: int) -> None:
        """
        Make a step of the round.

        As printed, a skip comes before a success: the round is over with the step that doubles
        a pair's executions, whatever its last episode would say. A test that ``continues`` does
        not depend on where rounds end, so there a success counts at once.
        """
        evaluation, attempts = self._evaluation, self._attempts
        assert evaluation is not None and attempts is not None
        if self._given_up:
            self._given_up, self._evaluation = False, None
            self.trigger('round_skipped')
            self._plan()
            return
        skipped = (attempts.under_way and action != RESET and here is not None
                   and self._doubled((here, action)))
        episode = attempts.observe(state)
        decision = Decision.UNDECIDED
        if episode is not None:
            self.episode_over = True
            decision = evaluation.record(episode.length, episode.failed)
        if decision is Decision.BAD:
            self._evaluation = None
            self.parts.optimism.round_failed()
            self.trigger('round_failed')
            self._plan()
        elif decision is Decision.GOOD and (evaluation.continues or not skipped):
            self._evaluation = None
            self._make_known(attempts.policy, evaluation.mean_steps)
            self._sample((attempts.policy.target,))
            self.trigger('round_succeeded')
        elif skipped:
            self.trigger('round_skipped')
            self._plan()
            # If the same attempt goes on, the quantum does, too.
            self.episode_over = not (self._attempts and self._attempts.under_way)

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

    def _doubled(self, pair: Pair) -> bool:
        """Count an execution in this round; return whether it doubles those before the round."""
        executed = self._executed[pair] = self._executed.get(pair, 0) + 1
        if executed == 1:
            self._before[pair] = self.parts.counts.visits(*pair) - 1
        return executed >= max(1, self._before[pair])
