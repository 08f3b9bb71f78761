# SPDX-License-Identifier: Apache-2.0

"""The interface of the checking phases of MNM, which watch over a hypothesis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
import math
from typing import Any, Protocol, TYPE_CHECKING, Union

from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import Relearns
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.memory import Memory
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.mnm.phase import MnmPhase, MnmState
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem

if TYPE_CHECKING:
    from mnm_ros.core.mnm.mnm import Mnm


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


class CheckingPhase(MnmPhase):
    """
    Drives the robot to check, reduce and extend a hypothesis.

    :ivar policies: the hypothesis as it stands, home first, all over the states that they lead
        to (``over_own_targets``). Another tuple is a revision, even if it is equal.
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
    can_improve = False

    @property
    def kind(self) -> MnmState:
        return MnmState.REDISCOVERY if self.rediscovering else MnmState.EVALUATION

    def after(self, action: int, state: int, mnm: Mnm) -> MnmPhase:
        """Make a step, and publish what is revised; a refuted hypothesis ends the round."""
        self.observe(action, state)
        mnm.held.publish(mnm.round, self.policies)
        return mnm.new_round() if self.refuted else self

    @abstractmethod
    def observe(self, action: int, state: int) -> None:
        """Learn that ``action`` ended in ``state``, and decide what follows from it."""

    @property
    def known_policies(self) -> Sequence[Policy]:
        """Return the policies of the hypothesis and of the rediscovery."""
        return (*self.policies, *self.base.policies)

    def restore_foreign(self, detectors: Any) -> None:
        """Make the parts of other packages again, after all else was restored."""

    def support_changed(self, pairs: Collection[Pair]) -> None:
        if isinstance(self.base, Relearns):
            self.base.support_changed(pairs)

    @abstractmethod
    def interrupt(self) -> None:
        """Start from home, as the robot may be anywhere; an episode under way is broken off."""

    @abstractmethod
    def figures(self) -> Mapping[str, Union[str, int, float]]:
        """Return figures for diagnostics, such as ``check_window``; perhaps none."""


class CheckingPhaseFactory(Protocol):
    """Makes the checking phase of a round."""

    def __call__(self, round_: Round, policies: tuple[Policy, ...]) -> CheckingPhase:
        """Return a phase for a new hypothesis."""


class ChecksFactory(Protocol):
    """Chooses the checking phases of an exploration."""

    def __call__(self, settings: Settings) -> CheckingPhaseFactory:
        """Return what makes the phase of each round."""
