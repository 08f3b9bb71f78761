# SPDX-License-Identifier: Apache-2.0

"""
Abilities that a base algorithm may have beside those that ``BaseAlgorithm`` asks for.

A base declares a capability by inheriting from its class. MNM and the checking phases ask for it
by ``isinstance``; they do without where a base has not declared it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, TYPE_CHECKING

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.prediction import Outlook
from mnm_ros.core.progress.said import Sampling, Testing

if TYPE_CHECKING:
    from mnm_ros.core.mnm.base import BaseAlgorithm

Step = tuple[int, int, Optional[int]]
"""State, action and next state; None for a step that was broken off."""


@dataclass(frozen=True)
class CarriedPair:
    """
    The counts of a blocked pair that a run begins with.

    :ivar tally: how often each next state has followed since the detector of the pair was made.
    :ivar delta: of the pair, for all ranks of a missing state together.
    """

    tally: Mapping[int, int]
    delta: float


FEW_STATES = 30
"""Planning over so few states holds nothing up: it takes some milliseconds."""


@dataclass(frozen=True)
class ProvisionalPolicy:
    """
    A policy that a run has before it finishes.

    :ivar certified: whether it takes at most ``(1 + epsilon) L`` expected steps for sure, by the
        delta of the run; if not, nothing is promised.
    :ivar expected_steps: if the counts were the truth; None where nothing is known.
    :ivar at_most_steps: what is certain; None if nothing is.
    """

    policy: Policy
    certified: bool
    expected_steps: float | None
    at_most_steps: float | None


class TakesTurns(ABC):
    """
    A base that says when others may have the robot, and which steps take long.

    Without it, any moment will do, and each step may take long.

    :ivar episode_over: whether the last step ended an episode of policy evaluation.
    """

    episode_over: bool = False

    @property
    @abstractmethod
    def between_attempts(self) -> bool:
        """
        Whether another run may have the robot now without breaking anything off.

        Within ``quantum`` steps it has to become true, as others wait for it.
        """

    @abstractmethod
    def may_plan(self, action: int, state: int) -> bool:
        """
        Return whether ``observe`` of this step may take more than some milliseconds.

        Where a run has met many states, a fleet plans ahead no further than to such a step.
        Nothing else depends on it, so True is never wrong.
        """


class Reports(ABC):
    """A base that says what it is doing, and with which states."""

    @property
    @abstractmethod
    def candidates(self) -> tuple[int, ...]:
        """States met that are not known yet."""

    @property
    @abstractmethod
    def estimates(self) -> Mapping[int, float]:
        """Estimated expected steps to states that this run has certified."""

    @abstractmethod
    def activity(self) -> PhaseActivity:
        """Return what it is doing now, for display; it must not change anything."""


class Foresees(ABC):
    """A base that knows policies before it is finished, and how much seems to be left."""

    @property
    @abstractmethod
    def outlook(self) -> Outlook:
        """Return how much seems to be left to do, for display."""

    @abstractmethod
    def provisional(self, memory: Any = None, at_most: int | None = None,
                    ) -> tuple[Sequence[ProvisionalPolicy], Any]:
        """
        Return the policies on the way, without home, and what to hand over next time.

        The run stays as it is.

        :param memory: what the last call has returned, which can be pickled; None at first.
        :param at_most: so many policies are worked out; None for all.
        """


class Learns(ABC):
    """A base that learns from steps of other runs in the same CMP; they never finish the run."""

    @abstractmethod
    def add_transition(self, state: int, action: int, next_state: int) -> None:
        """Learn from a step, no RESET, of another run."""

    @abstractmethod
    def add_censored(self, state: int, action: int) -> None:
        """
        Record a step of another run that was broken off; the step is no RESET.

        It is not known where it led. A base whose certificates rest on the steps of others has to
        count such steps as its own.
        """


class Recollects(ABC):
    """A base that can begin with what was learnt before."""

    @abstractmethod
    def load_transitions(self, steps: Sequence[Step]) -> None:
        """
        Learn from steps that were made in the same CMP before this run.

        To be called before the first action. The next state is None for a step that was broken
        off. It never finishes the run.
        """


class Relearns(ABC):
    """A base that goes on when some of what it knows is no longer true; that never finishes it."""

    @abstractmethod
    def forget(self, state: int, action: int) -> bool:
        """
        Forget all transitions of the pair, as it leads elsewhere than before.

        All else that was learnt stays; but what the run has made known itself by the pair it
        knows no more.

        :returns: Whether it can. A run that cannot is replaced by one that begins then.
        """

    @abstractmethod
    def revise(self, policies: tuple[Policy, ...]) -> bool:
        """
        Take ``policies``, home first, as what is known from now on; return whether it can.

        Some were deleted, as the pairs that the run had to ``forget`` explain. All that was
        learnt stays. A run that cannot do that is replaced by a fresh one.
        """

    @abstractmethod
    def support_changed(self, pairs: Collection[Pair]) -> None:
        """
        Repeat the conclusions from the declared successors of pairs.

        The support of the problem is another now: of these pairs it rules out less than before,
        and of any others perhaps more. All that was counted stays.
        """


class Samples(ABC):
    """A base that executes single pairs on request."""

    @abstractmethod
    def request_sample(self, state: int, action: int) -> None:
        """Execute the pair as soon as possible, once, to see where it leads now."""


class Steered(ABC):
    """A base that heeds what others know or wish of pairs and states; the last call holds."""

    @abstractmethod
    def auditable(self) -> Mapping[Pair, float]:
        """
        Return the declared pairs that may be commanded in the states that it samples.

        Each with the steps from home. Where each pair is sampled, whatever is declared, there is
        nothing to audit.
        """

    @abstractmethod
    def prefer(self, states: Sequence[int]) -> None:
        """Certify the ways to these states before others, the first one first."""

    @abstractmethod
    def avoid(self, pairs: Collection[Pair]) -> None:
        """Leave these pairs alone where anything else is to be done."""

    @abstractmethod
    def leave_closed(self, pairs: Collection[Pair]) -> None:
        """Leave these pairs, which are closed for long, and what lies behind them alone, too."""

    @abstractmethod
    def carry(self, seen: Mapping[Pair, CarriedPair]) -> None:
        """Rule out by what was seen of some pairs before this run, too; that never finishes it."""


class Certifies(ABC):
    """A base whose certificates can be asked for during a change."""

    @abstractmethod
    def restart_confidence(self, delta: float) -> None:
        """
        Certify by what is learnt from now on alone, too, and be wrong with that at ``delta``.

        This ``delta`` comes beside that of the run, whose part the other certificates keep, and
        replaces an earlier one.
        """

    @abstractmethod
    def better(self, policy: Policy) -> Policy | None:
        """
        Return another policy to the target of a known one, with fewer steps by what was seen.

        It is certified as all that becomes known, and is what this run knows from now on; None if
        there is none.
        """

    @abstractmethod
    def lower_bound(self, policy: Policy) -> float:
        """
        Return steps above the limit only if ``policy`` takes more than the limit on average.

        By what this run has learnt; below the limit, the result may be anything. This belongs to
        the promise of the run, and of what was renewed: with their deltas, all that it ever
        returns is right at once, as well as its policies.
        """


def activity_of(base: BaseAlgorithm) -> PhaseActivity:
    """Return what a base is doing now, for display."""
    if isinstance(base, Reports):
        return base.activity()
    if base.evaluating:
        return PhaseActivity('testing', Testing())
    return PhaseActivity('sampling', Sampling())


def candidates_of(base: BaseAlgorithm | None) -> tuple[int, ...]:
    """Return the states that a base has met and does not know, as far as it names them."""
    return base.candidates if isinstance(base, Reports) else ()


def provisional_of(base: BaseAlgorithm, memory: Any = None, at_most: int | None = None,
                   ) -> tuple[Sequence[ProvisionalPolicy], Any]:
    """Return what ``Foresees.provisional`` does, or the output so far."""
    if isinstance(base, Foresees):
        return base.provisional(memory, at_most)
    estimates = base.estimates if isinstance(base, Reports) else {}
    return [ProvisionalPolicy(policy, True, estimates.get(policy.target), None)
            for policy in base.policies[1:]], None
