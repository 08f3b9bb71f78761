# SPDX-License-Identifier: Apache-2.0

"""The interface of the optimistic planners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.policy import Policy


@dataclass(frozen=True)
class Plan:
    """The candidate to try next and the policy to try it with."""

    target: int
    policy: Policy


class Optimism(ABC):
    """
    Plans for the candidate that looks most reachable.

    :ivar sets: into how many sets the planner needs the transitions dealt.
    """

    sets: int = 1

    @abstractmethod
    def plan(self, counts: Counts, known: Sequence[int],
             candidates: Sequence[int]) -> Plan | None:
        """
        Return a plan, or None if no candidate can be within reach any more.

        :param counts: dealt into ``sets``.
        :param known: ``K``, home first.
        :param candidates: ``U``, not empty.
        """

    def round_failed(self) -> None:
        """Take note that the last plan failed its evaluation; nothing by default."""
