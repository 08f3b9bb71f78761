# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
Sample, then plan: autonomous exploration by a model, in the manner of DisCo.

After J. Tarbouriech, M. Pirotta, M. Valko, A. Lazaric, *Improved sample complexity for incremental
autonomous exploration in MDPs*, NeurIPS 2020: every action of every known state is sampled to
a target accuracy, then a candidate becomes known if the model certifies a policy for it. No
policy is tried out. What differs from the paper, and why the promise holds, is in
``docs/disco.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
import math

from mnm_ros.core.certificate import ConfidenceSets, PessimisticModel
from mnm_ros.core.counts import Counts, Pair
from mnm_ros.core.discovery import OnTheWayDiscovery
from mnm_ros.core.incremental import BaseParts, IncrementalBase
from mnm_ros.core.optimism import Plan
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import Problem

GROWTH = 1.25
"""By how much the samples of a pair grow when a candidate is neither accepted nor ruled out."""

ALLOWANCE = 3
"""How much longer than the step bound of a preset a run may take; the longest seen took 1.7."""

RELEVANT = 0.5
"""Pairs with at least this fraction of the largest weight get more samples."""

RULE_OUT_TRIES = 25
"""How often a candidate that could be accepted but seems beyond the radius is given more samples,
to rule it out: this often if it seems to be at the limit, proportionally less often nearer to
the radius."""


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
    """State discovery on the way in which some pairs get more samples than the quota."""

    def __init__(self, problem: Problem, delta: float, counts: Counts) -> None:
        super().__init__(problem, delta, counts)
        self._targets: dict[Pair, int] = {}

    def want_more(self, pairs: Iterable[Pair]) -> None:
        """Raise the number of executions wanted of these pairs above what they have."""
        for pair in pairs:
            visits = self._counts.visits(*pair)
            self._targets[pair] = max(visits + 1, math.ceil(visits * GROWTH))

    def _lacking(self, state: int) -> int | None:
        """Return the action of ``state`` that lacks most executions, if any does."""
        lack = [max(self._quota, self._targets.get((state, action), 0)) - visits for action, visits
                in enumerate(self._counts.visits_of_all(state, self._problem.actions))]
        most = max(lack)
        return lack.index(most) if most > 0 else None


@dataclass(frozen=True)
class DiscoParts(BaseParts):
    """The parts of Disco for one problem; ``sets`` are over the same counts."""

    discovery: Sampling
    sets: ConfidenceSets


class Disco(IncrementalBase):
    """One run of Disco, driven step by step; the arguments are those of its base class."""

    state: DiscoPhase
    evaluating = False
    _parts: DiscoParts

    def __init__(self, problem: Problem, home: int, parts: DiscoParts,
                 policies: tuple[Policy, ...] = ()) -> None:
        super().__init__(problem, home, parts, policies)
        self._tries: dict[int, int] = {}
        self._start_machine(DISCO_TRANSITIONS, DiscoPhase.SAMPLING)

    @property
    def finished(self) -> bool:
        """Whether the output is final."""
        return self.state is DiscoPhase.FINISHED

    def step_bound(self, known: int) -> int:
        """Return ``W`` for ``|K| = known``."""
        return ALLOWANCE * super().step_bound(known)

    def _learn(self, state: int, action: int, next_state: int) -> None:
        self._parts.sets.add(state, action, next_state)
        self._meet(state, next_state)

    def _pursue(self, plan: Plan) -> None:
        wanted = self._judge(plan)
        if wanted:
            self._parts.discovery.want_more(wanted)
        self._sample([state for state, _ in wanted] or [plan.target])
        self.trigger('undecided' if wanted else 'accepted')

    def _judge(self, plan: Plan) -> tuple[Pair, ...]:
        """
        Accept the candidate, or return the pairs on which the decision depends.

        The policy that is best in the worst case comes first. If it would hardly pass even if
        the counts were the truth, a better way may look bad by chance, so that the optimistic
        policy is judged instead. That is also done to rule out a candidate that could be
        accepted but seems beyond the radius.
        """
        problem, target, known = self._problem, plan.target, tuple(self._known)
        model = PessimisticModel(self._parts.counts, self._parts.sets, known, problem.actions,
                                 self._parts.horizon, problem.limit)
        optimistic = plan.policy.actions[0]
        hopeless = problem.limit - (problem.limit - problem.radius) / 4
        for actions in (model.plan(target), optimistic):
            certificate = model.certify(target, actions)
            if certificate.bound <= problem.limit:
                beyond = (certificate.steps - problem.radius) / (problem.limit - problem.radius)
                if self._tries.get(target, 0) >= RULE_OUT_TRIES * min(1.0, beyond):
                    policy = Policy(target, self._parts.horizon, known, (actions,))
                    self._make_known(policy, certificate.steps)
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
