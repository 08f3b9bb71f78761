# SPDX-License-Identifier: Apache-2.0

"""
What the phases of MNM have in common: each has the robot until another phase follows it.

``Mnm`` holds the phase under way, and asks the phase without knowing which one it is.
``MnmPhase.after`` returns the phase that follows each step, which is the same phase as a rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TYPE_CHECKING, Union

from mnm_ros.core.inputs import ImproveInput, Preference, Wish
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import Samples, Steered
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.said import GoingHomeFirst, Said

if TYPE_CHECKING:
    from mnm_ros.core.mnm.checking_phase import NearlyBest
    from mnm_ros.core.mnm.mnm import Mnm

_MOST_PREFERRED = 1000    # states, the last ones


class MnmState(Enum):
    """Where in a round MNM is."""

    HOMING = 'homing'
    BUILDING = 'building'
    REDISCOVERY = 'checking/rediscovery'
    EVALUATION = 'checking/evaluation'


@dataclass(frozen=True)
class Directives:
    """
    The sum of the wishes of people that hold on, as one value that the next wish replaces.

    The promise does not depend on it. ``PairWatch`` keeps whether a caller schedules the re-checks
    of closed pairs.

    :ivar preferred: states, in the order in which they were first preferred.
    :ivar improved: what policies are to be within of the best, by target.
    """

    preferred: tuple[int, ...] = ()
    improved: Mapping[int, float] = field(default_factory=dict)

    def after(self, wish: Preference | ImproveInput) -> Directives:
        """Return the value after another wish."""
        if isinstance(wish, Preference):
            if wish.state in self.preferred:
                return self
            return replace(self, preferred=(*self.preferred, wish.state)[-_MOST_PREFERRED:])
        return replace(self, improved={} if wish.state is None else {
            **self.improved, wish.state: wish.within})


class MnmPhase(ABC):
    """
    Drives the robot, until another phase follows.

    A phase overrides those of the other members that concern it.

    :ivar base: the run of the base algorithm that has the robot now, or had it last; None if
        there was none.
    :ivar check_steps: ``W_r``, the most steps of a rediscovery; 0 if there is none.
    :ivar withdrawn: targets of certified policies that a pair took away by its alarm.
    :ivar can_improve: whether ``ImproveInput`` is heeded, here or by the checks that follow.
    """

    base: BaseAlgorithm | None = None
    check_steps: int = 0
    withdrawn: Collection[int] = ()
    can_improve: bool = True

    @property
    @abstractmethod
    def kind(self) -> MnmState:
        """Return where in a round it is."""

    @abstractmethod
    def next_action(self) -> int:
        """Return the action to execute; the same until ``after`` is called."""

    @abstractmethod
    def after(self, action: int, state: int, mnm: Mnm) -> MnmPhase:
        """
        Learn that ``action``, which was the ``next_action``, ended in ``state``.

        :param mnm: makes another phase, and has what outlasts this one.
        :returns: the phase that has the robot from now on: itself as a rule.
        """

    def observe_work(self, state: int, action: int, after: int | None) -> None:
        """Learn from a step that somebody else had executed, see ``Mnm``."""

    def interrupt(self) -> None:
        """Start from home, as the robot may be anywhere; an attempt under way is broken off."""

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """Recompute what rests on where the pairs may lead."""

    def heed(self, directives: Directives, wish: Wish) -> None:
        """
        Do what is wished, as far as the phase can.

        :param directives: what all wishes come to, with this one.
        """

    def request_sample(self, state: int, action: int) -> None:
        """Have a pair executed soon by the run of the base."""
        if isinstance(self.base, Samples):
            self.base.request_sample(state, action)

    def auditable(self) -> Mapping[Pair, float]:
        """Return the declared pairs that can be tried now, each with its steps from home."""
        return self.base.auditable() if isinstance(self.base, Steered) else {}

    @property
    def known_policies(self) -> Iterable[Policy]:
        """Return all policies by which it may drive."""
        return ()

    @property
    def doubted(self) -> Mapping[int, Said]:
        """
        Return why a policy of the hypothesis is doubted, by target.

        A change concerns it and it is not proven since, or there is a hint of one.
        """
        return {}

    @property
    def kept(self) -> Collection[int]:
        """Return the targets of policies that are not proven since a change, and not doubted."""
        return ()

    @property
    def nearly_best(self) -> Mapping[int, NearlyBest]:
        """Return what is proven of policies that were to be improved, by target."""
        return {}

    @property
    def numbered(self) -> Mapping[int, BaseAlgorithm]:
        """Return the streams that learn, by number."""
        return {}

    @property
    def sweep(self) -> tuple[int, int]:
        """Return the steps since the rediscovery began, and those that it is likely to take."""
        return 0, 0

    @property
    def can_snapshot(self) -> bool:
        """Whether it can be saved: by a snapshot, but for ``foreign`` that can begin again."""
        return False

    @property
    def foreign(self) -> Sequence[object]:
        """Return what a snapshot leaves out, because of parts of other packages."""
        return ()

    def foreign_detectors(self) -> Any:
        """Return what detectors of other packages hold, as plain data."""

    @abstractmethod
    def activity(self) -> PhaseActivity:
        """Return what it is doing now, for display."""

    def figures(self) -> Mapping[str, Union[str, int, float]]:
        """Return figures for diagnostics."""
        return {}


class HomingPhase(MnmPhase):
    """Goes home before all rounds: the first RESET says where home is."""

    kind = MnmState.HOMING

    def next_action(self) -> int:
        return RESET

    def after(self, action: int, state: int, mnm: Mnm) -> MnmPhase:
        return mnm.begin_at(state)

    def activity(self) -> PhaseActivity:
        return PhaseActivity('sampling', GoingHomeFirst())
