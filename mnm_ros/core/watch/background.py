# SPDX-License-Identifier: Apache-2.0

"""The task of the robot at rest beside checking, as a plug-in of the watch phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mnm_ros.core.mnm.checking_phase import NearlyBest
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import PhaseActivity

if TYPE_CHECKING:
    from mnm_ros.core.watch.revisions import Revisions


class BackgroundTask:
    """
    Has nothing to do; a plug-in that has something to do overrides these methods.

    It then has two of three steps while nothing is suspected, between a patrol and a rediscovery.
    For all else, these steps are as those that others have ordered. Each phase has a task of its
    own, which is part of its snapshots.

    :param held: has the parts of the phase, the hypothesis among them; the task may ``adopt``
        other policies.
    """

    def __init__(self, held: Revisions) -> None:
        self._held = held

    @property
    def proven(self) -> Mapping[int, NearlyBest]:
        """Return what is proven of policies of the hypothesis, by target."""
        return {}

    def ask(self, target: int | None, within: float) -> None:
        """Improve the policy to a state until it is within so much of the best; None ends all."""

    def heed(self, redeclared: bool = False) -> None:
        """
        React to a step of the phase.

        :param redeclared: whether the declaration has changed.
        """

    def begin(self, steps: int) -> bool:
        """Begin a turn of so many steps, with a RESET; return False if there is nothing to do."""
        return False

    def action(self, here: int | None) -> int:
        """Return the next action; ``here`` is None where RESET is the only choice."""
        return RESET

    def executed(self, pair: Pair | None) -> bool:
        """
        Count a step; return whether the turn goes on.

        :param pair: None for a RESET.
        """
        return False

    def shown(self, activity: PhaseActivity) -> PhaseActivity:
        """Return what it is doing, from what the phase shows of itself."""
        return activity
