# SPDX-License-Identifier: Apache-2.0

"""The one interface between MNM and the algorithms that explore a CMP that does not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any, Optional, Protocol

from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.prediction import Outlook
from mnm_ros.core.progress.said import Sampling, Testing
import numpy as np

Step = tuple[int, int, Optional[int]]
"""State, action and next state; None for a step that was broken off."""


@dataclass(frozen=True)
class Recollection:
    """
    Transitions that were made before an exploration began.

    :ivar home: where RESET has led.
    :ivar steps: in the order in which they were made, RESETs left out.
    """

    home: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class CarriedPair:
    """
    What a run is told of a pair that is known to be blocked.

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


class BaseAlgorithm(ABC):
    """
    One run of an autonomous-exploration algorithm in a stationary CMP.

    A base that concludes anything from ``problem.support`` refutes it by what it observes
    (``Support.refute``) before it learns from that; a run that is alone has nobody else to do so.

    Its promise: with probability ``1 - delta`` it finishes, every incrementally reachable
    state has a policy then, and each policy needs at most ``(1 + epsilon) L`` expected steps.
    It is driven one step at a time: ``next_action()``, then ``observe(action, state)``. Just after
    its creation and after ``interrupt()`` the robot may be anywhere: its next action is RESET.

    :ivar quantum: steps of one quantum outside policy evaluation, at least 1.
    :ivar episode_over: whether the last step ended an episode of policy evaluation.
    """

    quantum: int
    episode_over: bool = False

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether the output is final; there is no next action then."""

    @property
    @abstractmethod
    def evaluating(self) -> bool:
        """Whether a quantum is one episode of policy evaluation now."""

    @abstractmethod
    def step_bound(self, known: int) -> int:
        """Return the steps a whole run stays below with high probability, ``known`` = ``|K|``."""

    @abstractmethod
    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""

    @abstractmethod
    def observe(self, action: int, state: int) -> None:
        """Learn that ``action``, which was the ``next_action``, ended in ``state``."""

    def may_plan(self, action: int, state: int) -> bool:
        """
        Return whether ``observe`` of this step may take more than some milliseconds.

        Such a step is handed over to a thread, so that others are served meanwhile. That costs
        some microseconds, and changes nothing else, so True is never wrong. Optional.
        """
        return True

    @abstractmethod
    def interrupt(self) -> None:
        """
        Forget where the robot is, and take what was under way as broken off.

        What was learnt stays. An attempt that was under way must be counted with care, not left
        out: what takes long is broken off more often. If ``next_action`` was asked since the
        last ``observe``, the same holds for that step, as it may have been made, and led
        anywhere. Nothing is broken off while ``between_attempts`` and no step is open.
        """

    @property
    def between_attempts(self) -> bool:
        """
        Whether another run may have the robot now without breaking anything off.

        Within ``quantum`` steps it has to become true, as others wait for it.
        """
        return True

    @property
    @abstractmethod
    def policies(self) -> tuple[Policy, ...]:
        """
        Return the output so far, one policy per known state, home first.

        Each has the horizon ``settings.steps_horizon``. Published over more states, with a RESET
        in each of these, they are within the limit, too.
        """

    @property
    def candidates(self) -> tuple[int, ...]:
        """States met that are not known yet."""
        return ()

    @property
    def estimates(self) -> Mapping[int, float]:
        """Estimated expected steps to states that this run has certified, where it has any."""
        return {}

    def provisional(self, memory: Any = None, at_most: int | None = None,
                    ) -> tuple[Sequence[ProvisionalPolicy], Any]:
        """
        Return the policies on the way, without home, and what to hand over next time. Optional.

        By default it is the output so far. The run stays as it is.

        :param memory: what the last call has returned, which can be pickled; None at first.
        :param at_most: so many policies are worked out; None for all.
        """
        return [ProvisionalPolicy(policy, True, self.estimates.get(policy.target), None)
                for policy in self.policies[1:]], None

    def activity(self) -> PhaseActivity:
        """Return what it is doing now, for display; it must not change anything. Optional."""
        if self.evaluating:
            return PhaseActivity('testing', Testing())
        return PhaseActivity('sampling', Sampling())

    @property
    def outlook(self) -> Outlook | None:
        """Return how much seems to be left to do, for display; None if unknown."""
        return None

    def add_transition(self, state: int, action: int, next_state: int) -> None:
        """
        Learn from a step, no RESET, of another run in the same CMP; optional.

        It never finishes the run.
        """

    def add_censored(self, state: int, action: int) -> None:
        """
        Take note of a step of another run in the same CMP that was broken off; optional.

        It is no RESET, and where it led is not known. A base that learns by
        ``add_transition``, and whose certificates rest on it, has to count such steps as its own.
        It never finishes the run.
        """

    def load_transitions(self, steps: Sequence[Step]) -> bool:
        """
        Learn from steps that were made in the same CMP before this run; return whether it can.

        To be called before the first action. The next state is None for a step that was broken
        off. It never finishes the run. Optional.
        """
        return False

    def carry(self, seen: Mapping[Pair, CarriedPair]) -> bool:
        """
        Rule out by what was seen of some pairs before this run, too; return whether it can.

        It takes the place of what was carried so far. It never finishes the run. Optional.
        """
        return False

    def forget(self, state: int, action: int) -> bool:
        """
        Forget all transitions of the pair, as it leads elsewhere than before.

        All else that was learnt stays; but what the run has made known itself by the pair it
        knows no more. It never finishes the run. Optional.

        :returns: Whether it can. A run that cannot is replaced by one that begins then.
        """
        return False

    def revise(self, policies: tuple[Policy, ...]) -> bool:
        """
        Take ``policies``, home first, as what is known from now on; return whether it can.

        Some were deleted, as pairs that the run was told to ``forget`` explain. All that was
        learnt stays. A run that cannot do that is replaced by a fresh one. It never finishes
        the run. Optional.
        """
        return False

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """
        Find out anew what was concluded from where pairs were declared to lead; optional.

        The support of the problem is another now: of these pairs it rules out less than before,
        and of any others perhaps more. All that was counted stays. It never finishes the run.
        """

    def request_sample(self, state: int, action: int) -> None:
        """Execute the pair as soon as possible, once, to see where it leads now; optional."""

    def request_audit(self, tries: Callable[[int, int], int]) -> Pair | None:
        """
        Execute, as soon as possible, a pair that is declared and that may be commanded.

        Of those in states that it samples it is one with few ``tries``, the fewer the farther from
        home; the pair is returned. None by default: where each pair is sampled, whatever is
        declared, there is nothing to audit. Optional.
        """
        return None

    def prefer(self, states: Sequence[int]) -> None:
        """
        Certify the ways to these states before others, the first one first; optional.

        They take the place of those that were preferred so far.
        """

    def avoid(self, pairs: Collection[Pair]) -> None:
        """
        Leave these pairs alone where anything else is to be done; optional.

        They take the place of those that were avoided so far.
        """

    def leave_closed(self, pairs: Collection[Pair]) -> None:
        """
        Leave these pairs alone as well, as they are closed for long; optional.

        What lies behind them is left alone, too. They take the place of those so far.
        """

    def restart_confidence(self, delta: float) -> None:
        """
        Certify by what is learnt from now on alone, too, and be wrong with that at ``delta``.

        This ``delta`` comes beside that of the run, whose part the other certificates keep, and
        replaces one that was given before. Optional.
        """

    def better(self, policy: Policy) -> Policy | None:
        """
        Return another policy to the target of a known one, with fewer steps by what was seen.

        It is certified as all that becomes known, and is what this run knows from now on; None if
        there is none. Optional.
        """
        return None

    def lower_bound(self, policy: Policy) -> float:
        """
        Return steps above the limit only if ``policy`` takes more than the limit on average.

        By what this run has learnt; below the limit, the result may be anything. This belongs to
        the promise of the run, and of what was renewed: with their deltas, all that it ever
        returns is right at once, as well as its policies. Optional.
        """
        return -math.inf


class BaseFactory(Protocol):
    """Makes runs of a base algorithm."""

    def __call__(self, settings: Settings, home: int, rng: np.random.Generator,
                 policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
        """
        Return a fresh run.

        :param settings: with the problem of this run, its delta included.
        :param home: the state after a RESET.
        :param rng: makes all random choices of the run.
        :param policies: home first; the run may take their targets as known from the start, as
            the policies are monitored meanwhile. A base that cannot starts without.
        """
