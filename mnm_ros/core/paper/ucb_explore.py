# SPDX-License-Identifier: Apache-2.0

"""UcbExplore: autonomous exploration of a CMP that does not change (Lim & Auer, COLT 2012)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
import math

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.episode import Attempts
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.paper.incremental import BaseParts, IncrementalBase
from mnm_ros.core.paper.optimism import OptimisticPolicy
from mnm_ros.core.progress.activity import Evidence, PhaseActivity
from mnm_ros.core.progress.said import Sampling, TestingAttempts
from mnm_ros.core.statistics.evaluation import Decision, Evaluation, longest

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
class UcbParts(BaseParts):
    """
    The interchangeable parts of UcbExplore for one problem.

    :ivar evaluate: makes the evaluation of round ``i`` from ``|K|`` and ``i`` (1, 2, ...).
    """

    evaluate: Callable[[int, int], Evaluation]


class UcbExplore(IncrementalBase):
    """One run of UcbExplore, driven step by step; the arguments are those of its base class."""

    state: UcbPhase
    parts: UcbParts

    def __init__(self, problem: Problem, home: int, parts: UcbParts,
                 policies: tuple[Policy, ...] = ()) -> None:
        super().__init__(problem, home, parts, policies)
        self._attempts: Attempts | None = None
        self._evaluation: Evaluation | None = None
        self._rounds = 0
        self._given_up = False    # whether the policy is not to be evaluated any more
        self._start_machine(UCB_TRANSITIONS, UcbPhase.DISCOVERY)

    @property
    def finished(self) -> bool:
        return self.state is UcbPhase.FINISHED

    @property
    def evaluating(self) -> bool:
        return self.state is UcbPhase.EVALUATION

    def activity(self) -> PhaseActivity:
        test, attempts = self._evaluation, self._attempts
        if not self.evaluating or test is None or attempts is None:
            return PhaseActivity('sampling', Sampling())
        target = attempts.policy.target
        return PhaseActivity(
            'testing', TestingAttempts(target, test.arrived, test.played), target, None,
            (Evidence('policy', target, None, *test.evidence),))

    def next_action(self) -> int:
        if self._here is None or not self.evaluating:
            action = super().next_action()
        else:
            assert self._attempts is not None
            action = RESET if self._given_up else self._attempts.action(self._here)
        # A way to a sample may have been found before the declaration.
        forbidden = self._here is not None and self._problem.support.forbids(self._here, action)
        return RESET if forbidden else action

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """Attempt no policy any more that plays what is never to be commanded."""
        if self.evaluating and self._attempts is not None:
            self._given_up = self._attempts.policy.plays(self._problem.support.all_forbidden)

    def _start_over(self) -> None:
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
        super().interrupt()
        broken = self._attempts.interrupt() if self._attempts is not None else None
        if broken is not None and self._evaluation is not None:
            self._evaluation.break_off(broken.length, broken.most)

    def _learn(self, state: int, action: int, next_state: int) -> None:
        _, before = self.parts.counts.add(state, action, next_state)
        if self._news is not None and before + 1 == _SIGHTS and next_state not in self._known:
            self._news[next_state] = None
        if self.parts.discovery.learns_everywhere or self.state is UcbPhase.DISCOVERY:
            self._meet(state, next_state)

    def _step(self, here: int | None, action: int, state: int) -> None:
        self.episode_over = False
        if self.evaluating:
            self._evaluate(here, action, state)
        else:
            super()._step(here, action, state)

    def _plan(self) -> None:
        super()._plan()
        # A test may go on over a skip, but not over a return to state discovery.
        if not self.evaluating:
            self._evaluation = None

    def _first_candidates(self) -> tuple[int, ...]:
        first = super()._first_candidates()
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

    def _doubled(self, pair: Pair) -> bool:
        """Count an execution in this round; return whether it doubles those before the round."""
        executed = self._executed[pair] = self._executed.get(pair, 0) + 1
        if executed == 1:
            self._before[pair] = self.parts.counts.visits(*pair) - 1
        return executed >= max(1, self._before[pair])


class MonteCarloEvaluation(Evaluation):
    """
    Policy evaluation as printed: ``lambda`` episodes.

    :param problem: with the delta of the run.
    :param accuracy: the inner accuracy ``e``.
    :param known: ``|K|``.
    :param checking: whether a policy that was accepted before is checked. An episode that is
        broken off counts against a new policy and for one that is checked.

    Source: Lim & Auer 2012, section 3.3.
    """

    ends_outside = False
    continues = False

    def __init__(self, problem: Problem, accuracy: float, known: int,
                 checking: bool = False) -> None:
        super().__init__()
        e = accuracy
        self.episodes = math.ceil(6 / e ** 3 * math.log(16 * known ** 2 / problem.delta))
        self._radius = problem.radius
        self._accuracy = e
        self._checking = checking

    @property
    def evidence(self) -> tuple[float, float]:
        """Return the episodes so far and those that are due."""
        return float(self.played), float(self.episodes)

    def break_off(self, length: int, horizon: int) -> None:
        """Count an episode that was broken off as the paper, which knows none, would have to."""
        if self._checking:
            self.record(length, False)
        else:
            super().break_off(length, horizon)

    def _judge(self, length: int, failed: bool) -> Decision:
        """Both means are divided by ``lambda``, not by the episodes so far, as printed."""
        e = self._accuracy
        steps = self._lengths / self.episodes + e * self._radius
        failure = self._failures / self.episodes + e
        if failure >= 1 or (steps + failure) / (1 - failure) > (1 + 8 * e) * self._radius:
            return Decision.BAD
        return Decision.GOOD if self.played >= self.episodes else Decision.UNDECIDED
