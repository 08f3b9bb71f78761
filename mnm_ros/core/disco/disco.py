# SPDX-License-Identifier: Apache-2.0

"""
Sample, then plan: autonomous exploration by a model, in the manner of DisCo.

After J. Tarbouriech, M. Pirotta, M. Valko, A. Lazaric, *Improved sample complexity for incremental
autonomous exploration in MDPs*, NeurIPS 2020. States that seem to be within reach are sampled
until optimistic planning rules out all others, and become known by a certificate: of the model,
or of attempts with one policy, whichever is cheaper. What differs from the paper, and why the
promise holds, is in ``docs/explanation/disco.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
import math

from mnm_ros.core.disco.agenda import Agenda
from mnm_ros.core.disco.certify import Certifier
from mnm_ros.core.disco.evidence import CertificateEvidence
from mnm_ros.core.disco.provisional import CertificateMemory, ProvisionalPolicies
from mnm_ros.core.disco.rule_out import Exclusion
from mnm_ros.core.disco.sample import Sampling
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import (
    CarriedPair,
    Certifies,
    FEW_STATES,
    Foresees,
    Learns,
    ProvisionalPolicy,
    Recollects,
    Relearns,
    Reports,
    Samples,
    Steered,
    Step,
    TakesTurns,
)
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import pair_of, Problem, RESET
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.planning.planner import Planner
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.prediction import Outlook
from mnm_ros.core.task.step_task import machine_of, PhaseMachine

STEP_BOUND_FACTOR = 3
"""How much longer than the step bound of a preset a run may take."""


class DiscoPhase(Enum):
    """The activities of Disco; planning happens between two steps."""

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


class Disco(PhaseMachine, BaseAlgorithm, TakesTurns, Reports, Foresees, Learns, Recollects,
            Relearns, Samples, Steered, Certifies):
    """
    One run of Disco, driven step by step.

    :param problem: with the delta of this run.
    :param home: the start state ``s0``.
    :param horizon: of every policy, in steps.
    :param evidence: for certificates; its counts are those of the run, without RESET.
    :param planner: rules out, for this run alone.
    :param step_bound: ``W`` from ``|K|``.
    :param policies: known from the start, home first; empty for home alone. With them, a state
        that is new is certified at once, as a check waits for it; without, all is certified in
        the end, when most of what certificates need is there.
    :ivar sampling: says which pairs are sampled.
    :ivar ruling_out: says which states need no policy.
    :ivar certifier: has the policies, and finds others.
    :ivar agenda: says what the run does next.
    """

    _machine = machine_of(DISCO_TRANSITIONS)
    state: DiscoPhase

    def __init__(self, problem: Problem, home: int, horizon: int, evidence: CertificateEvidence,
                 planner: Planner, step_bound: Callable[[int], int],
                 policies: tuple[Policy, ...] = ()) -> None:
        self.quantum = horizon
        self._problem = problem
        self._planner = planner
        self._step_bound = step_bound
        self._at_once = bool(policies)
        self._counts = evidence.sets.counts
        self._rows = TransitionRows(self._counts, problem.actions, problem.support)
        self.sampling = Sampling(self._counts, self._rows, horizon)
        self.ruling_out = Exclusion(
            problem, home, self._rows, self.sampling, planner, self._at_once)
        self.certifier = Certifier(
            problem, horizon, self._rows, self.sampling, self.ruling_out.reach, evidence, planner)
        self.agenda = Agenda(
            problem, self.sampling, self.ruling_out, self.certifier, self._at_once)
        self._seen: dict[int, None] = {}
        self._here: int | None = None
        self._asked: int | None = None
        self.state = DiscoPhase.SAMPLING
        for policy in policies or (Policy(home, horizon, (home,), ((RESET,),)),):
            self.certifier.known.policies[policy.target] = policy
            self.sampling.enter(policy.target, policy)

    @property
    def replaceable(self) -> tuple[object, ...]:
        """Return the parts that may be of other packages, see ``snapshot.covers``."""
        return (self._planner,)

    @property
    def finished(self) -> bool:
        return self.state is DiscoPhase.FINISHED

    @property
    def evaluating(self) -> bool:
        return self.state is DiscoPhase.EVALUATION

    @property
    def between_attempts(self) -> bool:
        attempts = self.certifier.attempts
        return attempts is None or not attempts.under_way

    @property
    def policies(self) -> tuple[Policy, ...]:
        return tuple(self.certifier.known.policies.values())

    @property
    def candidates(self) -> tuple[int, ...]:
        return tuple(state for state in self._seen if state not in self.certifier.known.policies)

    @property
    def estimates(self) -> Mapping[int, float]:
        return self.certifier.known.estimates

    def provisional(self, memory: CertificateMemory | None = None, at_most: int | None = None,
                    ) -> tuple[Sequence[ProvisionalPolicy], CertificateMemory]:
        """Return the policies on the way, each of which it examines again in its turn."""
        found = ProvisionalPolicies(
            self.certifier, self.ruling_out, self._problem, memory or CertificateMemory())
        return found.look(at_most), found.memory

    def activity(self) -> PhaseActivity:
        return self.certifier.activity(self._here)

    @property
    def outlook(self) -> Outlook:
        sampling, ruling_out = self.sampling, self.ruling_out
        return Outlook(len(sampling.sampled), len(self.certifier.known.policies),
                       sampling.executions_lacking * sampling.price, ruling_out.plan.ruled_out,
                       ruling_out.distance.values())

    def step_bound(self, known: int) -> int:
        return STEP_BOUND_FACTOR * self._step_bound(known)

    def next_action(self) -> int:
        if self._asked is None:
            self._asked = self._choose()
            # An attempt with a policy from before the declaration may still be under way.
            if self._here is not None and self._problem.support.forbids(self._here, self._asked):
                self._asked = RESET
        return self._asked

    def observe(self, action: int, state: int) -> None:
        here, self._here, self._asked = self._here, state, None
        self.episode_over = False
        if here is not None and action != RESET:
            self._learn(here, action, state)
        if self.state is DiscoPhase.EVALUATION:
            self._evaluate(here, action, state)
        else:
            was_urgent = bool(self.sampling.urgent)
            if here is not None:
                self.sampling.observe(here, action, state)
            if self.agenda.is_due(was_urgent):
                self.trigger('sampled')
                self._plan()

    def may_plan(self, action: int, state: int) -> bool:
        """Return whether the step may end what was sampled or attempted."""
        # All tests of declared policies begin with the first plan.
        states = max(len(self._rows.places), len(self._problem.support.declared.successors))
        return states > FEW_STATES and (self.evaluating or self.agenda.may_be_due())

    def interrupt(self) -> None:
        if pair := pair_of(self._here, self._asked):
            self.add_censored(*pair)
        self._here = self._asked = None
        self.certifier.interrupt()

    def add_transition(self, state: int, action: int, next_state: int) -> None:
        self._learn(state, action, next_state)
        self.certifier.witness()
        self.sampling.reopen(state)
        self.ruling_out.look_on(self.certifier.known.policies)

    def add_censored(self, state: int, action: int) -> None:
        """Count a step that was broken off, of any run: it may have led anywhere."""
        for evidence in self.certifier.evidence:
            evidence.sets.add_censored(state, action)

    def load_transitions(self, steps: Sequence[Step]) -> None:
        """Learn from steps made before: all that is learnt from pairs holds for them, too."""
        if steps:
            self.ruling_out.keep_all()
        for state, action, next_state in steps:
            if next_state is None:
                self.add_censored(state, action)
            else:
                self._learn(state, action, next_state)
                self.certifier.witness()
        for state in tuple(self.sampling.sampled):
            self.sampling.reopen(state)

    def carry(self, seen: Mapping[Pair, CarriedPair]) -> None:
        """Count them where all else is ruled out; certificates know nothing of it."""
        changed = self._rows.carry({pair: carried.tally for pair, carried in seen.items()})
        self._planner.carry({pair: carried.delta for pair, carried in seen.items()})
        self.sampling.want_again(changed)
        self.ruling_out.start_over()

    def forget(self, state: int, action: int) -> bool:
        """Forget all transitions of the pair, and sample it again."""
        for evidence in self.certifier.evidence:
            evidence.sets.forget(state, action)
        carried = self._rows.carried((state, action))
        self._rows.forget(state, action)
        if not self._at_once:    # else the caller says which of its policies to revise
            self.certifier.known.check_again(((state, action),), attempts=False)
            self.agenda.outdated = True    # a plan leaves what may not be reached any more
        if carried:
            self._planner.forget_carried((state, action))
            self.sampling.want_again([(state, action)])
        self._start_over()
        self.sampling.reopen(state)
        return True

    def revise(self, policies: tuple[Policy, ...]) -> bool:
        """Take other policies as what is known; a target that was deleted may be found again."""
        kept = {policy.target: policy for policy in policies}
        # No detector watches the transitions of states that were deleted, so they may be stale.
        for target in self.certifier.known.policies:
            if target not in kept:
                self._seen[target] = None
                for action in range(self._problem.actions):
                    self.forget(target, action)
        self.certifier.known.policies = kept
        self._start_over()
        for target, policy in kept.items():
            if target not in self.sampling.sampled:
                self.sampling.enter(target, policy)
        for state in tuple(self.sampling.sampled):
            if state not in kept:
                self.sampling.leave(state)
        return True

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """Recompute what rests on where the pairs may lead; all that was counted stays."""
        self.sampling.declare_again()
        self.certifier.known.check_again(pairs)
        self.certifier.start_over(tests=False)
        self.ruling_out.start_over()

    def request_sample(self, state: int, action: int) -> None:
        if state in self._rows.numbers and not self.finished:
            self.sampling.urge((state, action))

    def auditable(self) -> Mapping[Pair, float]:
        if self.finished:
            return {}
        ends, away = self._problem.support.ends, self.sampling.distances()
        return {(state, action): away[state]
                for state in self.sampling.sampled if away[state] < math.inf
                for action in range(self._problem.actions) if ends(state, action)}

    def prefer(self, states: Sequence[int]) -> None:
        if not self._at_once:    # else a check waits for what is certified at all
            self.agenda.preferred = tuple(states)
            self.agenda.outdated = True

    def avoid(self, pairs: Collection[Pair]) -> None:
        self.sampling.avoid(pairs)

    def leave_closed(self, pairs: Collection[Pair]) -> None:
        self.sampling.leave_closed(pairs)
        if self.certifier.examiner.closed != tuple(pairs):    # else a plan would find the same
            self.certifier.leave_closed(pairs)
            self.agenda.outdated = True

    def better(self, policy: Policy) -> Policy | None:
        return self.certifier.better(policy)

    def lower_bound(self, policy: Policy) -> float:
        return self.certifier.examiner.lower_bound(policy)

    def restart_confidence(self, delta: float) -> None:
        self.certifier.restart_confidence(delta)

    def _start_over(self) -> None:
        """Drop what was found out with counts or policies that are no more."""
        self.certifier.start_over()
        self.ruling_out.start_over()

    def _choose(self) -> int:
        if self._here is None:
            return RESET
        attempts = self.certifier.attempts
        if attempts is None or self.sampling.urgent and not attempts.under_way:
            return self.sampling.action(self._here)
        if (not attempts.under_way and self._here != self._rows.states[0]
                and self._here in self.sampling.open):
            # The way back home can wait for what is to be sampled here.
            action = self.sampling.lacking(self._here)
            if action is not None:
                return action
        return attempts.action(self._here)

    def _learn(self, state: int, action: int, next_state: int) -> None:
        """Count a transition, once what it shows to be declared wrongly is taken back."""
        support = self._problem.support
        if support.refuted_by(state, action, next_state):    # within MNM, that is done
            support.refute(state, action, next_state)
            self.support_changed([(state, action)])
        for evidence in self.certifier.evidence:
            evidence.sets.add(state, action, next_state)
        self._rows.add(state, action, next_state)
        self.sampling.arrive(next_state)
        if next_state in self.certifier.known.policies or state not in self._rows.numbers:
            return
        times = self._counts.next_states(state, action)[next_state]
        self._seen[next_state] = None
        # One sight may be chance, and counts nothing in the sets of certificates.
        if self._at_once and times <= 2:
            self.agenda.news = self.agenda.news or times == 2
            self.request_sample(state, action)

    def _evaluate(self, here: int | None, action: int, state: int) -> None:
        """Make a step of an attempt, or of what is sampled between two attempts."""
        attempts = self.certifier.attempts
        assert attempts is not None
        if not attempts.under_way and here is not None and (
                action != RESET or self.sampling.urgent):
            self.sampling.observe(here, action, state)
            return
        episode = attempts.observe(state)
        self.episode_over = episode is not None
        if episode is not None and (self.certifier.judge(episode)
                                    or not self.agenda.come_first([episode.policy.target])):
            self.certifier.attempts = None
            self.trigger('attempted')
            self._plan()

    def _plan(self) -> None:
        self.trigger(self.agenda.plan().value)
