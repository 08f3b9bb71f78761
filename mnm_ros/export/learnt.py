# SPDX-License-Identifier: Apache-2.0

"""What an exploration has learnt, wherever it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
import math
from typing import NamedTuple

from mnm_ros.checkpoint.input_log import Saved
from mnm_ros.core.model.policy import Policy
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import expected_steps
from mnm_ros.view.heard import Counts

_ENOUGH = 1 + 1e-9    # of the limit, which rounding must not exceed


class Transition(NamedTuple):
    """
    What was counted.

    :ivar following: the next state.
    :ivar times: how often it followed.
    :ivar probability: how often of all the times that the action was played there.
    """

    state: int
    action: int
    following: int
    times: int
    probability: float


@dataclass(frozen=True)
class Learnt:
    """
    What an exploration has learnt.

    :ivar source: where this comes from, in a few words.
    :ivar steps: made so far.
    :ivar known: home first.
    :ivar policies: one for each known state; without those that are not at hand.
    :ivar counts: since the last change that was noticed.
    :ivar candidates: states that may still become known.
    :ivar lost: states that were known before the last change noticed.
    :ivar limit: expected steps that a policy may take; None if that is not known.
    :ivar description: names of actions and states, and places of these, as far as they are known.
    :ivar told: expected steps by known state, where others have said them.
    :ivar saved: the file with the transitions one by one, if it comes from one.
    """

    source: str
    steps: int
    home: int | None
    known: tuple[int, ...]
    policies: tuple[Policy, ...]
    counts: Counts
    candidates: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    limit: float | None = None
    description: RobotDescription = UNDESCRIBED
    told: Mapping[int, float | None] = field(default_factory=dict)
    saved: Saved | None = None

    @cached_property
    def states(self) -> tuple[int, ...]:
        """Return all states: the known ones as they became known, then the others by their ids."""
        following = {after for _, nexts in self._pairs() for after in nexts}
        home = () if self.home is None else (self.home,)
        others = {*self.counts, *following, *home, *self.lost, *self.candidates}
        return (*self.known, *sorted(others - {*self.known}))

    @property
    def beyond(self) -> tuple[int, ...]:
        """Return the states that were seen, but are too far away, by what is known so far."""
        return tuple(state for state in self.states if self.kind(state) == 'beyond')

    def kind(self, state: int) -> str:
        """Return ``home``, ``known``, ``lost``, ``candidate``, ``beyond`` or ``seen``."""
        if state == self.home:
            return 'home'
        for kind, states in (('known', self.known), ('lost', self.lost),
                             ('candidate', self.candidates)):
            if state in states:
                return kind
        return 'beyond' if self.known else 'seen'

    @cached_property
    def transitions(self) -> tuple[Transition, ...]:
        """Return what was counted, in order of state, action and next state."""
        return tuple(transition for (state, action), _ in self._pairs()
                     for transition in self.after(state, action))

    def after(self, state: int, action: int) -> tuple[Transition, ...]:
        """Return where an action has led to from a state."""
        nexts = self.counts.get(state, {}).get(action, {})
        return tuple(Transition(state, action, following, count, count / sum(nexts.values()))
                     for following, count in sorted(nexts.items()))

    def visits(self, state: int) -> int:
        """Return how often a step has ended in a state."""
        return self._visits.get(state, 0)

    def policy(self, target: int) -> Policy | None:
        """Return the policy to a state, if it is at hand."""
        return next((policy for policy in self.policies if policy.target == target), None)

    def steps_to(self, state: int) -> float | None:
        """
        Return what the policy to a known state takes if the counts were the truth.

        None is that nobody can say: there is no policy, or by the counts it never arrives.
        """
        policy = self.policy(state)
        if policy is None or self.home is None:
            return self.told.get(state)
        found = expected_steps(self._cmp, policy)
        return found if math.isfinite(found) else None

    def over_limit(self, state: int) -> bool:
        """Return whether the policy takes more steps than it may, by the counts."""
        steps = self.steps_to(state)
        return steps is not None and self.limit is not None and steps > self.limit * _ENOUGH

    def _pairs(self) -> Iterator[tuple[tuple[int, int], Mapping[int, int]]]:
        for state, actions in sorted(self.counts.items()):
            for action, nexts in sorted(actions.items()):
                yield (state, action), nexts

    @cached_property
    def _visits(self) -> Mapping[int, int]:
        visits: dict[int, int] = {}
        for _, nexts in self._pairs():
            for after, count in nexts.items():
                visits[after] = visits.get(after, 0) + count
        return visits

    @cached_property
    def _cmp(self) -> TableCmp:
        assert self.home is not None
        played = max((max(row, default=0) for policy in self.policies for row in policy.actions),
                     default=0)
        return TableCmp.from_counts(self.home, played + 1, dict(self._pairs()))


def nested(rows: Iterable[tuple[int, int, int, int]]) -> Counts:
    """Return rows of state, action, next state and count as ``Counts``."""
    counts: dict[int, dict[int, dict[int, int]]] = {}
    for state, action, following, count in rows:
        counts.setdefault(state, {}).setdefault(action, {})[following] = count
    return counts
