# SPDX-License-Identifier: Apache-2.0

"""The interface of the planners of ``disco``, which prove that states are too far."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mnm_ros.core.model.counts import Floats, Indices, Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel


@dataclass(frozen=True)
class OptimisticPlan:
    """
    The most favourable plausible way to a target.

    :ivar steps: expected steps from home.
    :ivar moves: the action by known state.
    :ivar gains: by known state, what its pair owes to optimism: expected visits times the steps
        that the counts, taken as the truth, would add.
    """

    steps: float
    moves: Indices
    gains: Floats


class Planner(Protocol):
    """
    Plans optimistically: with probability ``1 - delta`` no plan takes more than the best way.

    So a state is too far if its plan takes more steps than the radius. The promise of ``disco``
    rests on that.
    """

    def plan(self, model: EmpiricalModel, target: int | None) -> OptimisticPlan:
        """Return the plan for a state met, or None for any state that was never seen."""

    def plan_for_any(self, model: EmpiricalModel, targets: Sequence[int]) -> OptimisticPlan:
        """
        Return a plan that rules out states met or unseen, if they are farther than the radius.

        An attempt that comes to any of them has arrived.
        """

    def budget(self, states: Collection[int]) -> float:
        """Return how much evidence against a pair, in nats, is enough if these are known."""

    def forget(self, target: int) -> None:
        """Let go of what is kept for a target."""

    def give(self, states: Collection[int], others: bool) -> None:
        """
        Take these as known: all models from now on are of what is counted from now on.

        :param others: whether any other state was met.
        """

    def carry(self, deltas: Mapping[Pair, float]) -> None:
        """
        Set the pairs with samples kept from before, each with a delta for all ranks.

        See *Kept samples* in ``plausible``.
        """

    def forget_carried(self, pair: Pair) -> None:
        """Keep the earlier samples of a pair no longer."""


class PlannerFactory(Protocol):
    """Makes the planner of one run."""

    def __call__(self, delta: float, radius: float, given: Collection[int]) -> Planner:
        """
        Return a fresh planner.

        :param delta: its part of the probability of error.
        :param given: states that are known from the start; ``give`` may replace them, once.
        """
