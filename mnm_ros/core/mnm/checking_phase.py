# SPDX-License-Identifier: Apache-2.0

"""The interface of the checking phases of MNM, which watch over a hypothesis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
import math
from typing import Any, Protocol, Union

from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.inputs import Wish
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import FEW_STATES, may_plan, Relearns, Samples
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.directives import Directives
from mnm_ros.core.mnm.memory import Memory
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.said import Said


@dataclass(frozen=True)
class NearlyBest:
    """
    A proof that the policy of the hypothesis is nearly the best.

    :ivar within: it takes at most ``1 + within`` times what the best takes.
    :ivar at_least: steps that any policy takes; at_most: that this one takes.
    """

    within: float
    at_least: float
    at_most: float


@dataclass(frozen=True)
class Round:
    """
    The values from which the checking phase of one round is made.

    :ivar number: of the round, ``r``.
    :ivar problem: with the delta ``delta_r`` of the checking phase of the round.
    :ivar new_base: makes a fresh base run from a problem and the policies that it may take as
        known.
    :ivar check_steps: replaces ``W_r`` if positive.
    :ivar steps_taken: since the start of the stream that found the hypothesis.
    :ivar log: receives what was decided.
    :ivar transitions: what was seen since the start of that stream; None to begin with nothing.
    :ivar memory: of what changes have taken away.
    :ivar pairs: that fail, are suspected or closed; None to begin with nothing.
    :ivar patience: steps for which a change may be open, if no state is found meanwhile.
    :ivar patience_for_proofs: the same once nothing but proofs is left.
    """

    number: int
    problem: Problem
    new_base: Callable[[Problem, tuple[Policy, ...]], BaseAlgorithm]
    check_steps: int
    steps_taken: int
    log: ChangeLog
    transitions: TransitionMonitor | None = None
    memory: Memory = field(default_factory=Memory)
    pairs: PairWatch | None = None
    patience: float = math.inf
    patience_for_proofs: float = math.inf


class CheckingPhase(ABC):
    """
    Drives the robot to check, reduce and extend a hypothesis.

    :ivar policies: the hypothesis as it stands, home first, all over the states that they lead
        to; another tuple after each revision.
    :ivar base: the rediscovery run under way, or the last one.
    :ivar rediscovering: whether it has the robot; if not, policies are being evaluated.
    :ivar refuted: whether the round is over.
    :ivar check_steps: ``W_r``, the most steps of a rediscovery.
    """

    policies: tuple[Policy, ...]
    base: BaseAlgorithm
    rediscovering: bool
    refuted: bool
    check_steps: int

    @property
    def known_policies(self) -> Sequence[Policy]:
        """Return the policies of the hypothesis and of the rediscovery."""
        return (*self.policies, *self.base.policies)

    @property
    def doubted(self) -> Mapping[int, Said]:
        """
        Return why a policy is doubted, by target.

        A change concerns it and it is not proven since, or there is a hint of one.
        """
        return {}

    @property
    def kept(self) -> Collection[int]:
        """Return the targets of policies that are not proven since a change, and not doubted."""
        return ()

    def heed(self, directives: Directives, wish: Wish) -> None:
        """
        Do what is wished, as far as the phase can; optional.

        :param directives: what all wishes come to, with this one.
        """

    @property
    def can_improve(self) -> bool:
        """Whether it heeds ``ImproveInput``."""
        return False

    @property
    def nearly_best(self) -> Mapping[int, NearlyBest]:
        """Return what is proven of policies that were to be improved, by target."""
        return {}

    @property
    def can_snapshot(self) -> bool:
        """Whether it can be saved: by a snapshot, but for ``foreign`` that can begin again."""
        return False

    @property
    def foreign(self) -> Sequence[object]:
        """Return the parts of other packages, of which no snapshot can be taken."""
        return ()

    def foreign_detectors(self) -> Any:
        """Return what detectors of other packages hold, as plain data."""

    def begin_again(self, detectors: Any) -> None:
        """Make the parts of other packages again, once all else is put here."""

    @abstractmethod
    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""

    @abstractmethod
    def observe(self, action: int, state: int) -> None:
        """Learn that ``action`` ended in ``state``, and decide what follows from it."""

    def observe_work(self, state: int, action: int, after: int | None) -> None:
        """Learn from a step that somebody else had executed, see ``Mnm``; optional."""

    def may_plan(self, action: int, state: int) -> bool:
        """Return whether ``observe`` of this step may take more than some milliseconds."""
        return len(self.policies) > FEW_STATES or may_plan(self.base, action, state)

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """Recompute what rests on where the pairs may lead."""
        if isinstance(self.base, Relearns):
            self.base.support_changed(pairs)

    def request_sample(self, state: int, action: int) -> None:
        """Let the rediscovery execute a pair soon."""
        if isinstance(self.base, Samples):
            self.base.request_sample(state, action)

    @abstractmethod
    def interrupt(self) -> None:
        """Start from home, as the robot may be anywhere; an episode under way is broken off."""

    @abstractmethod
    def activity(self) -> PhaseActivity:
        """Return what it is doing now, for display."""

    @property
    def sweep(self) -> tuple[int, int]:
        """Return the steps since the rediscovery began, and those that it is likely to take."""
        return 0, 0

    @abstractmethod
    def figures(self) -> Mapping[str, Union[str, int, float]]:
        """Return ``check_window``, ``failures`` and ``failure_threshold`` for diagnostics."""


class CheckingPhaseFactory(Protocol):
    """Makes the checking phase of a round."""

    def __call__(self, round_: Round, policies: tuple[Policy, ...]) -> CheckingPhase:
        """Return a phase for a new hypothesis."""


class ChecksFactory(Protocol):
    """Chooses the checking phases of an exploration."""

    def __call__(self, settings: Settings) -> CheckingPhaseFactory:
        """Return what makes the phase of each round."""
