# SPDX-License-Identifier: Apache-2.0

"""
Sample, then plan: autonomous exploration by a model, in the manner of DisCo.

After J. Tarbouriech, M. Pirotta, M. Valko, A. Lazaric, *Improved sample complexity for incremental
autonomous exploration in MDPs*, NeurIPS 2020. States that seem to be within reach are sampled
until optimistic planning rules out all others, and become known by a certificate: of the model,
or of attempts with one policy, whichever is cheaper. What differs from the paper, and why the
promise holds, is in ``docs/disco.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
import math

from mnm_ros.core.disco.disco_activity import Certifying, sampling_now, testing_now
from mnm_ros.core.disco.evidence import Evidence
from mnm_ros.core.disco.failed_certificates import Setbacks
from mnm_ros.core.disco.policy_tests import PolicyTests
from mnm_ros.core.disco.sampling import most_relevant, Sampling
from mnm_ros.core.disco.sampling_plan import Requirement
from mnm_ros.core.mnm.base import BaseAlgorithm, FEW
from mnm_ros.core.mnm.recollection import Step
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.episode import Attempts
from mnm_ros.core.model.model import Model
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.planning.optimistic_planner import OptimisticPlanner
from mnm_ros.core.progress.activity import Doing
from mnm_ros.core.progress.prediction import Outlook
from mnm_ros.core.statistics.certificate import Certificate, PolicyModel
from mnm_ros.core.statistics.evaluation import Decision, longest
from mnm_ros.core.task.machine import Phased

ALLOWANCE = 3
"""How much longer than the step bound of a preset a run may take."""

PROMISING = (1.17, 1.0)
"""A state is worth a certificate up to so many times the radius, or so many steps beyond it.

Ruling a state out that is hardly beyond the radius takes far more steps than certifying it.
"""

GROWTH = 1.5
"""By how much the samples of a pair grow at most before a certificate is looked at again."""

_HARDLY = 1e-6    # weight of a failure where the counts are to be taken as they are

_TENTH = 0.1    # pairs with less of the largest weight hardly matter to a certificate


class DiscoPhase(Enum):
    """What Disco is doing; planning happens between two steps."""

    SAMPLING = 'sampling'
    PLANNING = 'planning'
    EVALUATION = 'evaluation'
    FINISHED = 'finished'


DISCO_TRANSITIONS = (
    ('sampled', DiscoPhase.SAMPLING, DiscoPhase.PLANNING),
    ('undersampled', DiscoPhase.PLANNING, DiscoPhase.SAMPLING),
    ('target_chosen', DiscoPhase.PLANNING, DiscoPhase.EVALUATION),
    ('attempted', DiscoPhase.EVALUATION, DiscoPhase.PLANNING),
    ('nothing_left', DiscoPhase.PLANNING, DiscoPhase.FINISHED),
)


@dataclass(frozen=True)
class DiscoParts:
    """
    The parts of a run for one problem.

    :ivar horizon: of every policy, in steps.
    :ivar counts: transitions without RESET.
    :ivar evidence: for certificates, over these counts.
    :ivar planner: rules out.
    :ivar step_bound: ``W`` from ``|K|``.
    """

    horizon: int
    counts: Counts
    evidence: Evidence
    planner: OptimisticPlanner
    step_bound: Callable[[int], int]


class Disco(Phased, BaseAlgorithm):
    """
    One run of Disco, driven step by step.

    :param problem: with the delta of this run.
    :param home: the start state ``s0``.
    :param parts: made for this run alone.
    :param policies: known from the start, home first; empty for home alone. With them, a state
        that is new is certified at once, as somebody waits for it; without, all is certified in
        the end, when most of what certificates need is there.
    """

    state: DiscoPhase

    def __init__(self, problem: Problem, home: int, parts: DiscoParts,
                 policies: tuple[Policy, ...] = ()) -> None:
        self.quantum = parts.horizon
        self._problem = problem
        self._parts = parts
        self._at_once = bool(policies)
        room = problem.limit - problem.radius
        self._reach = min(max(PROMISING[0] * problem.radius, problem.radius + PROMISING[1]),
                          problem.radius + room / 4)
        self._rows = TransitionRows(parts.counts, problem.actions)
        self._sampling = Sampling(parts.counts, self._rows, parts.horizon)
        self._requirement = Requirement(problem, parts.planner)
        self._known: dict[int, Policy] = {}
        self._estimates: dict[int, float] = {}
        self._seen: dict[int, None] = {}
        self._close: dict[int, None] = {}    # several ways lead there, no single one is short
        self._distance: dict[int, float] = {home: 0.0}
        self._ruled_out: tuple[tuple[int, ...], int] | None = None    # all but these, of so many
        self._here: int | None = None
        self._asked: int | None = None
        self._attempts: Attempts | None = None
        self._tests = PolicyTests(parts.horizon, problem.limit)
        self._setbacks = Setbacks(parts.counts)
        self._evidence = [parts.evidence]    # since the beginning, and perhaps since a notice
        self._news = False
        self._certifying = False
        self._certificate = Certifying()
        self._start_machine(DISCO_TRANSITIONS, DiscoPhase.SAMPLING)
        for policy in policies or (Policy(home, parts.horizon, (home,), ((RESET,),)),):
            self._known[policy.target] = policy
            self._sampling.enter(policy.target, policy)

    @property
    def finished(self) -> bool:
        """Whether the output is final."""
        return self.state is DiscoPhase.FINISHED

    @property
    def evaluating(self) -> bool:
        """Whether a quantum is one episode."""
        return self.state is DiscoPhase.EVALUATION

    @property
    def between_attempts(self) -> bool:
        """Whether another run may have the robot now without breaking anything off."""
        return self._attempts is None or not self._attempts.under_way

    @property
    def policies(self) -> tuple[Policy, ...]:
        """One policy per known state, in the order in which they became known."""
        return tuple(self._known.values())

    @property
    def candidates(self) -> tuple[int, ...]:
        """States met that are not known yet, in the order of discovery."""
        return tuple(state for state in self._seen if state not in self._known)

    @property
    def estimates(self) -> Mapping[int, float]:
        """Return the expected steps as estimated when the policies were certified."""
        return self._estimates

    def activity(self) -> Doing:
        """Return what it is doing now, for display."""
        if self.evaluating and self._attempts is not None:
            return testing_now(self._attempts.policy.target, self._tests)
        return sampling_now(self._here, self._sampling, self._tests,
                            self._certificate.evidence(self._parts.counts))

    @property
    def outlook(self) -> Outlook:
        """Return how much seems to be left to do, for display."""
        sampling = self._sampling
        return Outlook(len(sampling.sampled), len(self._known),
                       sampling.executions_lacking * sampling.price, self._requirement.ruled_out)

    def step_bound(self, known: int) -> int:
        """Return ``W`` for ``|K| = known``."""
        return ALLOWANCE * self._parts.step_bound(known)

    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""
        if self._asked is None:
            self._asked = self._choose()
        return self._asked

    def observe(self, action: int, state: int) -> None:
        """Learn that ``action`` ended in ``state``, and plan where that is due."""
        here, self._here, self._asked = self._here, state, None
        self.episode_over = False
        if here is not None and action != RESET:
            self._learn(here, action, state)
        if self.evaluating:
            self._evaluate(here, action, state)
        else:
            if here is not None:
                self._sampling.observe(here, action, state)
            if not self._sampling.open or self._at_once and (
                    self._news or self._certifying and not self._sampling.preferring):
                self.trigger('sampled')
                self._plan()

    def may_plan(self, action: int, state: int) -> bool:
        """Return whether the step may end what was sampled or attempted."""
        return len(self._rows.places) > FEW and (
            self._at_once or self.evaluating or len(self._sampling.open) <= 1)

    def interrupt(self) -> None:
        """Start again from home; what is under way is counted as broken off."""
        if self._here is not None and self._asked not in (None, RESET):
            assert self._asked is not None
            self.miss(self._here, self._asked)
        self._here = self._asked = None
        broken = self._attempts.interrupt() if self._attempts else None
        if broken is not None and broken.policy.target in self._tests:
            _, test = self._tests[broken.policy.target]
            test.break_off(broken.length, broken.most)

    def witness(self, state: int, action: int, next_state: int) -> None:
        """Learn from somebody else's step in the same CMP."""
        self._learn(state, action, next_state)
        self._sampling.reopen(state)

    def miss(self, state: int, action: int) -> None:
        """Count a step that was broken off, whoever made it: it may have led anywhere."""
        for evidence in self._evidence:
            evidence.sets.lose(state, action)

    def recall(self, steps: Sequence[Step]) -> bool:
        """Learn from steps made before: all that is learnt from pairs holds for them, too."""
        for state, action, next_state in steps:
            if next_state is None:
                self.miss(state, action)
            else:
                self._learn(state, action, next_state)
        for state in tuple(self._sampling.sampled):
            self._sampling.reopen(state)
        return True

    def forget(self, state: int, action: int) -> None:
        """Forget all transitions of the pair, and sample it anew."""
        for evidence in self._evidence:
            evidence.forget(state, action)
        self._rows.forget(state, action)
        self._start_over()
        self._sampling.reopen(state)

    def revise(self, policies: tuple[Policy, ...]) -> bool:
        """Take other policies as what is known; a target that was deleted may be found again."""
        kept = {policy.target: policy for policy in policies}
        # Nobody watches over the transitions of states that were deleted, so they may be stale.
        for target in self._known:
            if target not in kept:
                self._seen[target] = None
                for action in range(self._problem.actions):
                    self.forget(target, action)
        self._known = kept
        self._start_over()
        for target, policy in kept.items():
            if target not in self._sampling.sampled:
                self._sampling.enter(target, policy)
        for state in tuple(self._sampling.sampled):
            if state not in kept:
                self._sampling.leave(state)
        return True

    def want(self, state: int, action: int) -> None:
        """Execute the pair once more before all else."""
        if self._rows.number(state) is not None and not self.finished:
            self._sampling.urge((state, action))

    def lower_bound(self, policy: Policy) -> float:
        """Return steps above the limit only if ``policy`` takes more than the limit for sure."""
        models = [self._model(evidence, policy) for evidence in self._evidence]
        return max(model.lower_bound(doubt=model.lower_bound(doubt=False) > self._problem.limit)
                   for model in models)

    def renew(self, delta: float) -> None:
        """Certify by what is learnt from now on as well, wrongly with probability ``delta``."""
        self._evidence[1:] = [Evidence(self._problem, self._parts.horizon, delta)]
        self._tests.clear()

    def _start_over(self) -> None:
        """Drop what was found out with counts or policies that are no more."""
        self._tests.clear()
        self._setbacks.clear()
        self._ruled_out = None

    def _model(self, evidence: Evidence, policy: Policy) -> PolicyModel:
        return PolicyModel(evidence.counts, evidence.sets, policy, self._problem.limit)

    def _choose(self) -> int:
        if self._here is None:
            return RESET
        if self._attempts is None:
            return self._sampling.action(self._here)
        home = self._rows.states[0]
        if (not self._attempts.under_way and self._here != home
                and self._here in self._sampling.open):
            # The way back home can wait for what is to be sampled here.
            action = self._sampling.lacking(self._here)
            if action is not None:
                return action
        return self._attempts.action(self._here)

    def _learn(self, state: int, action: int, next_state: int) -> None:
        for evidence in self._evidence:
            evidence.sets.add(state, action, next_state)
        self._rows.add(state, action, next_state)
        if self._rows.number(state) is None or next_state in self._known:
            return
        times = self._parts.counts.next_states(state, action)[next_state]
        self._seen[next_state] = None
        # One sight may be chance, and counts nothing in the sets of certificates.
        if self._at_once and times <= 2:
            self._news = self._news or times == 2
            self.want(state, action)

    def _evaluate(self, here: int | None, action: int, state: int) -> None:
        """Make a step of an attempt, or of what is sampled between two attempts."""
        assert self._attempts is not None
        if not self._attempts.under_way:
            if here is not None and action != RESET:
                self._sampling.observe(here, action, state)
            else:
                self._attempts.observe(state)
            return
        episode = self._attempts.observe(state)
        if episode is None:
            return
        self.episode_over = True
        # A test that began before something was forgotten is there no more.
        if episode.policy.target in self._tests:
            policy, test = self._tests[episode.policy.target]
            decision = test.record(episode.length, episode.failed)
            if decision is Decision.UNDECIDED and test.played % self._look_again:
                return
            if decision is Decision.GOOD:
                self._make_known(policy, test.mean_steps, self._evidence[-1])
            elif decision is Decision.BAD:
                self._tests.end(policy.target)
        self._attempts = None
        self.trigger('attempted')
        self._plan()

    def _plan(self) -> None:
        """Find out what is left to do: to sample, to certify, or nothing."""
        self._news = self._certifying = False
        self._certificate = Certifying()
        while True:
            self._expand()
            near = self._promising()
            if self._at_once and self._certify(near):
                return
            inside = (*self._known, *near)
            again = self._ruled_out != self._all_but(inside)
            if self._sampling.open or again and self._require(inside):
                self.trigger('undersampled')
                return
            before = len(self._known)
            if self._certify(near):
                return
            if len(self._known) == before and (again and not near or not self._require(
                    tuple(self._known))):
                self.trigger('nothing_left')
                return

    def _expand(self) -> None:
        """Sample whatever seems to be near; what follows it may be near, too."""
        found: list[int] | None = None
        while found is None or found:
            self._distance = self._sampling.distances()
            found = [state for state, steps in self._distance.items()
                     if (steps <= self._reach or state in self._close)
                     and state not in self._sampling.sampled]
            for state in found:
                self._sampling.enter(state)
                if self._at_once:
                    self._sampling.prefer(state)
        for state in tuple(self._sampling.sampled):
            if (state not in self._known and state not in self._close
                    and self._distance[state] > self._reach):
                self._sampling.leave(state)

    def _promising(self) -> tuple[int, ...]:
        """Return the states sampled that are worth a certificate, near ones first."""
        return tuple(sorted(
            (state for state in self._sampling.sampled if state not in self._known),
            key=lambda state: self._distance[state]))

    def _require(self, states: Sequence[int]) -> bool:
        """Want what ruling out all other states takes; False if they are ruled out."""
        inside = set(states)
        model = Model.of(self._rows, states)
        wanted = self._requirement.samples(
            model, [state for state in self._rows.places if state not in inside], self._distance)
        self._close = {
            state: None for state in (*self._close, *self._requirement.open_targets)
            if model.hits(state).any()
            and model.smoothed_plan(state, self._reach, _HARDLY)[1] <= self._reach}
        for pair, executions in wanted.items():
            self._sampling.want(pair, executions)
        self._ruled_out = None if wanted else self._all_but(states)
        return bool(wanted)

    def _all_but(self, states: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Return what tells whether the same was ruled out: these, and how many were met."""
        return tuple(sorted(states)), len(self._rows.places)

    def _certify(self, near: Sequence[int]) -> bool:
        """Make known what can be; return whether there is something to do for another."""
        chosen: tuple[Model, Policy, Evidence, Certificate, float] | None = None
        # Whoever has begun a test goes on with it first.
        for target in sorted(near, key=lambda state: state not in self._tests):
            if target in self._known or (
                    chosen is not None and not self._setbacks.due(target, len(self._known))):
                continue
            known = tuple(self._known)
            model = Model.of(self._rows, known)
            if not model.hits(target).any():
                continue
            moves, steps = model.smoothed_plan(
                target, self._problem.limit, guess=self._setbacks.moves(target))
            if steps > self._problem.limit:
                # Perhaps only because nobody has had a reason to try its pairs more often.
                moves, steps = model.smoothed_plan(target, self._problem.limit, _HARDLY)
                if steps > self._problem.limit:
                    continue
            policy = Policy(target, self._parts.horizon, known,
                            (tuple(int(move) for move in moves),))
            evidence, certificate = min(
                ((each, self._model(each, policy).certify()) for each in self._evidence),
                key=lambda found: found[1].bound)
            if certificate.bound <= self._problem.limit:
                self._make_known(policy, certificate.steps, evidence)
                continue
            self._setbacks.note(target, len(known), moves, tuple(certificate.weights))
            if (chosen is None and certificate.steps <= self._reach
                    and certificate.empirical < self._problem.limit):
                chosen = model, policy, evidence, certificate, steps
        if chosen is not None:
            self._pursue(*chosen)
        return chosen is not None

    def _pursue(self, model: Model, policy: Policy, evidence: Evidence,
                certificate: Certificate, steps: float) -> None:
        """Sample or attempt, whichever seems to lead to a certificate in fewer steps."""
        limit = self._problem.limit
        self._tests.settle(self._evidence[-1], self._certifies)
        offer = self._tests.offer(policy, steps, model, self._evidence[-1])
        short = certificate.bound - certificate.empirical
        factor = short / max(1e-9, limit - certificate.empirical)
        pairs = {pair: evidence.counts.visits(*pair)
                 for pair in most_relevant(certificate.weights, _TENTH)}
        samples = sum(visits * (factor - 1) + 1 for visits in pairs.values())
        if pairs and samples * self._sampling.price < offer.steps:
            for pair, visits in pairs.items():
                more = math.ceil(visits * min(factor, GROWTH)) + 1 - visits
                self._sampling.want(pair, self._parts.counts.visits(*pair) + more)
                if self._at_once:
                    self._sampling.prefer(pair[0])
            self._certifying = True
            self._certificate = Certifying(policy.target, {
                pair: math.ceil(visits * factor) + 1 for pair, visits in pairs.items()})
            self.trigger('undersampled')
            return
        self._tests.begin(offer, self._evidence[-1])
        self._attempts = Attempts(offer.policy, ends_outside=True, certify=limit,
                                  most=longest(policy.horizon, self._problem))
        self._look_again = max(5, int(offer.attempts / 4))
        self.trigger('target_chosen')

    def _certifies(self, policy: Policy) -> bool:
        return self._model(self._evidence[-1], policy).certify().bound <= self._problem.limit

    def _make_known(self, policy: Policy, steps: float, evidence: Evidence) -> None:
        self._known[policy.target] = policy
        self._estimates[policy.target] = steps
        self._tests.certified(policy, evidence)
        self._setbacks.forget(policy.target)
        self._parts.planner.forget(policy.target)
