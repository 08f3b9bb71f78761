"""Sample, then plan: autonomous exploration by a model, in the manner of DisCo.

After J. Tarbouriech, M. Pirotta, M. Valko, A. Lazaric, *Improved sample complexity for incremental
autonomous exploration in MDPs*, NeurIPS 2020: every action of every known state is sampled to
a target accuracy, then a candidate becomes known if the model certifies a policy for it. No
policy is tried out. What differs from the paper is in ``docs/disco.md``, with the argument why
the promise holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
import math

from mnm_ros.core.base import BaseAlgorithm
from mnm_ros.core.certificate import ConfidenceSets, PessimisticModel
from mnm_ros.core.counts import Counts, Pair
from mnm_ros.core.discovery import OnTheWayDiscovery
from mnm_ros.core.evaluation import Evaluation
from mnm_ros.core.machine import Phased
from mnm_ros.core.optimism import Optimism, Plan
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET, Problem

GROWTH = 1.25
"""By how much the samples of a pair grow when a candidate can be neither taken nor ruled out."""

ALLOWANCE = 3
"""How much longer than the step bound of a preset a run may take; the longest seen took 1.7."""

RELEVANT = 0.5
"""Pairs with this share of the largest weight get more samples."""

PATIENCE = 25
"""How often one tries to rule out a candidate that could be taken but seems out of reach: this
often if it seems to be at the limit, proportionally less often nearer to the radius."""


class DiscoPhase(Enum):
    """What Disco is doing; planning happens between two steps."""

    SAMPLING = 'sampling'
    PLANNING = 'planning'
    FINISHED = 'finished'


DISCO_TRANSITIONS = (
    ('sampled', DiscoPhase.SAMPLING, DiscoPhase.PLANNING),
    ('accepted', DiscoPhase.PLANNING, DiscoPhase.SAMPLING),
    ('undecided', DiscoPhase.PLANNING, DiscoPhase.SAMPLING),
    ('undersampled', DiscoPhase.PLANNING, DiscoPhase.SAMPLING),
    ('nothing_left', DiscoPhase.PLANNING, DiscoPhase.FINISHED),
)


class Sampling(OnTheWayDiscovery):
    """State discovery on the way in which some pairs are to have more samples than the quota."""

    def __init__(self, problem: Problem, budget: float, counts: Counts) -> None:
        super().__init__(problem, budget, counts)
        self._targets: dict[Pair, int] = {}

    def want_more(self, pairs: Iterable[Pair]) -> None:
        """Raise the number of executions wanted of these pairs above what they have."""
        for pair in pairs:
            visits = self._counts.visits(*pair)
            self._targets[pair] = max(visits + 1, math.ceil(visits * GROWTH))

    def _lacking(self, state: int) -> int | None:
        """Return the action of ``state`` that lacks most executions, if any does."""
        lack = [max(self._quota, self._targets.get((state, a), 0))
                - self._counts.visits(state, a) for a in range(self._problem.actions)]
        most = max(lack)
        return lack.index(most) if most > 0 else None


@dataclass(frozen=True)
class DiscoParts:
    """The parts of Disco for one problem; all share ``counts``.

    check: makes a policy evaluation for the checks of a hypothesis from its ``|K|``.
    step_bound: ``W`` from ``|K|``.
    """

    horizon: int
    counts: Counts
    sets: ConfidenceSets
    optimism: Optimism
    sampling: Sampling
    check: Callable[[int], Evaluation]
    step_bound: Callable[[int], int]


class Disco(Phased, BaseAlgorithm):
    """One run of Disco, driven step by step.

    problem: with the delta of this run.
    home: the start state ``s0``.
    policies: known from the start, home first; empty for home alone.
    """

    state: DiscoPhase
    evaluating = False

    def __init__(self, problem: Problem, home: int, parts: DiscoParts,
                 policies: tuple[Policy, ...] = ()) -> None:
        self.quantum = parts.horizon
        self._problem = problem
        self._parts = parts
        self._known = {policy.target: policy for policy in policies or (
            Policy(home, parts.horizon, (home,), ((RESET,),)),)}
        self._candidates: dict[int, None] = {}
        self._estimates: dict[int, float] = {}
        self._tries: dict[int, int] = {}
        self._here: int | None = None
        self._start_machine(DISCO_TRANSITIONS, DiscoPhase.SAMPLING)
        self._sample(tuple(self._known))

    @property
    def finished(self) -> bool:
        """Whether the output is final."""
        return self.state is DiscoPhase.FINISHED

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
        """Expected steps in the model when the policies were certified."""
        return self._estimates

    def step_bound(self, known: int) -> int:
        """Return ``W`` for ``|K| = known``."""
        return ALLOWANCE * self._parts.step_bound(known)

    def evaluation(self, known: int) -> Evaluation:
        """Return a policy evaluation for a hypothesis with ``|K| = known``."""
        return self._parts.check(known)

    def next_action(self) -> int:
        """Return the action to execute next."""
        return RESET if self._here is None else self._parts.sampling.action(self._here)

    def observe(self, action: int, state: int) -> None:
        """Learn that ``action`` ended in ``state``, and plan where that is due."""
        here = self._here
        self._here = state
        if here is not None:
            if action != RESET:
                self._learn(here, action, state)
            self._parts.sampling.observe(here, action, state)
        if self._parts.sampling.done():
            self.trigger('sampled')
            self._plan()

    def interrupt(self) -> None:
        """Start again from home."""
        self._here = None

    def witness(self, state: int, action: int, next_state: int) -> None:
        """Learn from somebody else's step in the same CMP."""
        self._learn(state, action, next_state)
        self._parts.sampling.witness(state)

    def _learn(self, state: int, action: int, next_state: int) -> None:
        self._parts.sets.add(state, action, next_state)
        if next_state not in self._known and state in self._known:
            self._candidates[next_state] = None

    def _sample(self, states: Sequence[int]) -> None:
        self._parts.sampling.begin(
            tuple(self._known), states, next(reversed(self._known.values())))

    def _plan(self) -> None:
        """Decide about the most promising candidate, or what else is left to do."""
        known = tuple(self._known)
        plan = None
        if self._candidates:
            plan = self._parts.optimism.plan(self._parts.counts, known, self.candidates)
        if plan is not None:
            wanted = self._judge(plan, known)
            if wanted:
                self._parts.sampling.want_more(wanted)
            self._sample([state for state, _ in wanted] or [plan.target])
            self.trigger('undecided' if wanted else 'accepted')
            return
        pending = self._parts.sampling.pending(known)
        if pending:
            self._sample(pending)
        self.trigger('undersampled' if pending else 'nothing_left')

    def _judge(self, plan: Plan, known: tuple[int, ...]) -> tuple[Pair, ...]:
        """Accept the candidate, or return the pairs on which the decision depends.

        First comes the policy that is best in the worst case. Where it would not pass even if
        the counts were the truth, a better way may look bad by chance: then the optimistic
        policy counts; so it does where a candidate seems out of reach, to rule it out.
        """
        problem, target = self._problem, plan.target
        model = PessimisticModel(self._parts.counts, self._parts.sets, known, problem.actions,
                                 self._parts.horizon, problem.limit)
        optimistic = plan.policy.actions[0]
        hopeless = problem.limit - (problem.limit - problem.radius) / 4
        for actions in (model.plan(target), optimistic):
            certificate = model.certify(target, actions)
            if certificate.bound <= problem.limit:
                beyond = (certificate.steps - problem.radius) / (problem.limit - problem.radius)
                if self._tries.get(target, 0) >= PATIENCE * min(1.0, beyond):
                    policy = Policy(target, self._parts.horizon, known, (actions,))
                    self._accept(policy, certificate.steps)
                    return ()
                self._tries[target] = self._tries.get(target, 0) + 1
                certificate = model.certify(target, optimistic)
                break
            if certificate.empirical <= hopeless:
                break
        weights = certificate.weights
        least = RELEVANT * max(weights.values(), default=0.0)
        # A planner that plays RESET at home leaves nothing to weigh.
        return tuple(pair for pair, weight in weights.items() if weight >= least) or tuple(
            (state, action) for state in known for action in range(problem.actions))

    def _accept(self, policy: Policy, steps: float) -> None:
        """Make a state known; what follows it may be a candidate."""
        target = policy.target
        self._known[target] = policy
        self._estimates[target] = steps
        del self._candidates[target]
        for action in range(self._problem.actions):
            for state in self._parts.counts.next_states(target, action):
                if state not in self._known:
                    self._candidates[state] = None
