"""UcbExplore: autonomous exploration of a CMP that does not change (Lim & Auer, COLT 2012)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from mnm_ros.core.base import BaseAlgorithm
from mnm_ros.core.counts import Counts, Pair
from mnm_ros.core.discovery import Discovery
from mnm_ros.core.episode import Attempts
from mnm_ros.core.evaluation import Decision, Evaluation
from mnm_ros.core.machine import Phased
from mnm_ros.core.optimism import Optimism
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET, Problem


class UcbPhase(Enum):
    """What UcbExplore is doing; planning happens between two steps."""

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
    """The interchangeable parts of UcbExplore for one problem.

    evaluate: makes the evaluation of round ``i`` from ``|K|`` and ``i`` (1, 2, ...).
    check: makes a policy evaluation for the checks of a hypothesis from its ``|K|``.
    step_bound: ``W`` from ``|K|``.
    """

    horizon: int
    counts: Counts
    optimism: Optimism
    discovery: Discovery
    evaluate: Callable[[int, int], Evaluation]
    check: Callable[[int], Evaluation]
    step_bound: Callable[[int], int]


class UcbExplore(Phased, BaseAlgorithm):
    """One run of UcbExplore, driven step by step.

    problem: with the delta of this run.
    home: the start state ``s0``.
    policies: known from the start, home first; empty for home alone.
    """

    state: UcbPhase

    def __init__(self, problem: Problem, home: int, parts: UcbParts,
                 policies: tuple[Policy, ...] = ()) -> None:
        self.quantum = parts.horizon
        self._problem = problem
        self._parts = parts
        self._home = home
        self._known: dict[int, Policy] = {}
        self._candidates: dict[int, None] = {}
        self._here: int | None = None
        self._attempts: Attempts | None = None
        self._evaluation: Evaluation | None = None
        self._rounds = 0
        self._start_machine(UCB_TRANSITIONS, UcbPhase.DISCOVERY)
        self._estimates: dict[int, float] = {}
        for policy in policies or (Policy(home, parts.horizon, (home,), ((RESET,),)),):
            self._known[policy.target] = policy
        known = tuple(self._known)
        parts.discovery.begin(known, known, self._known[known[-1]])

    @property
    def finished(self) -> bool:
        """Whether the output is final."""
        return self.state is UcbPhase.FINISHED

    @property
    def evaluating(self) -> bool:
        """Whether a quantum is one episode."""
        return self.state is UcbPhase.EVALUATION

    @property
    def policies(self) -> tuple[Policy, ...]:
        """One policy per known state, in the order in which they became known."""
        return tuple(self._known.values())

    @property
    def candidates(self) -> tuple[int, ...]:
        """``U``, in the order of discovery."""
        return tuple(self._candidates)

    @property
    def estimates(self) -> Mapping[int, float]:
        """Mean steps in the evaluations that certified the policies."""
        return self._estimates

    def step_bound(self, known: int) -> int:
        """Return ``W`` for ``|K| = known``."""
        return self._parts.step_bound(known)

    def evaluation(self, known: int) -> Evaluation:
        """Return a policy evaluation for a hypothesis with ``|K| = known``."""
        return self._parts.check(known)

    def next_action(self) -> int:
        """Return the action to execute next."""
        if self._here is None:
            return RESET
        if self.state is UcbPhase.DISCOVERY:
            return self._parts.discovery.action(self._here)
        assert self._attempts is not None
        return self._attempts.action(self._here)

    def observe(self, action: int, state: int) -> None:
        """Learn that ``action`` ended in ``state``, and plan where that is due."""
        here = self._here
        self._here = state
        self.episode_over = False
        if here is not None and action != RESET:
            self._learn(here, action, state)
        if self.state is UcbPhase.DISCOVERY:
            if here is None:
                self._parts.discovery.restart()
            else:
                self._parts.discovery.observe(here, action, state)
            if self._parts.discovery.done():
                self.trigger('sampled')
                self._plan()
        elif self.state is UcbPhase.EVALUATION:
            self._evaluate(here, action, state)

    def interrupt(self) -> None:
        """Start again from home: an episode under way does not count."""
        self._here = None
        if self._attempts is not None:
            self._attempts.interrupt()

    def witness(self, state: int, action: int, next_state: int) -> None:
        """Learn from somebody else's step in the same CMP."""
        self._learn(state, action, next_state)
        if self.state is UcbPhase.DISCOVERY:
            self._parts.discovery.witness(state)

    def _learn(self, state: int, action: int, next_state: int) -> None:
        self._parts.counts.add(state, action, next_state)
        if (next_state not in self._known and state in self._known
                and (self._parts.discovery.learns_everywhere
                     or self.state is UcbPhase.DISCOVERY)):
            self._candidates[next_state] = None

    def _add(self, policy: Policy) -> None:
        """Make a state known and set out to sample it."""
        target = policy.target
        self._known[target] = policy
        self._candidates.pop(target, None)
        if self._parts.discovery.learns_everywhere:
            for action in range(self._problem.actions):
                for state in self._parts.counts.next_states(target, action):
                    if state not in self._known:
                        self._candidates[state] = None
        self._parts.discovery.begin(tuple(self._known), (target,), policy)

    def _plan(self) -> None:
        """Choose the next target, or what else is left to do."""
        known = tuple(self._known)
        plan = None
        if self._candidates:
            plan = self._parts.optimism.plan(self._parts.counts, known, self.candidates)
        if plan is not None:
            self._begin_round(plan.policy)
            self.trigger('target_chosen')
            return
        self._evaluation = None
        pending = self._parts.discovery.pending(known)
        if pending:
            self._parts.discovery.begin(known, pending, self._known[pending[-1]])
            self.trigger('undersampled')
        else:
            self.trigger('nothing_left')

    def _begin_round(self, policy: Policy) -> None:
        """Evaluate ``policy``; the very policy that was under evaluation may just go on."""
        self._executed: dict[Pair, int] = {}
        self._before: dict[Pair, int] = {}
        if (self._evaluation and self._evaluation.continues
                and self._attempts and policy == self._attempts.policy):
            return
        self._rounds += 1
        self._evaluation = self._parts.evaluate(len(self._known), self._rounds)
        self._attempts = Attempts(self._home, policy, self._evaluation.ends_outside)

    def _evaluate(self, here: int | None, action: int, state: int) -> None:
        """Make a step of the round; a skip comes before a success, as printed."""
        evaluation, attempts = self._evaluation, self._attempts
        assert evaluation is not None and attempts is not None
        skipped = (attempts.under_way and action != RESET and here is not None
                   and self._doubled((here, action)))
        episode = attempts.observe(state)
        verdict = Decision.UNDECIDED
        if episode is not None:
            self.episode_over = True
            verdict = evaluation.record(episode.length, episode.failed)
        if verdict is Decision.BAD:
            self._evaluation = None
            self._parts.optimism.round_failed()
            self.trigger('round_failed')
            self._plan()
        elif verdict is Decision.GOOD and (evaluation.continues or not skipped):
            self._evaluation = None
            self._estimates[attempts.policy.target] = evaluation.mean_steps
            self._add(attempts.policy)
            self.trigger('round_succeeded')
        elif skipped:
            self.trigger('round_skipped')
            self._plan()
            self.episode_over = not (self._attempts and self._attempts.under_way)

    def _doubled(self, pair: Pair) -> bool:
        """Count an execution in this round; is the pair's knowledge doubled by it?"""
        executed = self._executed[pair] = self._executed.get(pair, 0) + 1
        if executed == 1:
            self._before[pair] = self._parts.counts.visits(*pair) - 1
        return executed >= max(1, self._before[pair])
