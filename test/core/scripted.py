# SPDX-License-Identifier: Apache-2.0

"""A base algorithm that follows a script, to see what MNM makes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
import math

from mnm_ros.core import (
    BaseAlgorithm,
    Certifies,
    Learns,
    PairChange,
    PhaseActivity,
    Policy,
    Relearns,
    Reports,
    RESET,
    Samples,
    TakesTurns,
)
from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.change_log import ChangeLog, Decided
from mnm_ros.core.mnm.memory import HeldHypothesis
from mnm_ros.core.mnm.schedule import Schedule
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.statistics.evaluation import Decision, Evaluation
from mnm_ros.view.sentences import sentence

HOME = 0
QUANTUM = 4


def policy(target: int) -> Policy:
    """Return a policy that goes one step to ``target``."""
    return Policy(target, QUANTUM, (HOME,), ((RESET if target == HOME else target,),))


def building_phase(new_stream: Callable[[int], BaseAlgorithm], schedule: Schedule, shared: bool,
                   transitions: TransitionMonitor | None = None, log: ChangeLog | None = None,
                   ) -> BuildingPhase:
    """Return the building phase of a first round."""
    return BuildingPhase(new_stream, schedule, shared, transitions, PairWatch(),
                         log or ChangeLog(), 1, HeldHypothesis())


def decided(log: ChangeLog) -> list[Decided]:
    """Return what was decided so far."""
    return [each for each in log.news if isinstance(each, Decided)]


def sentences(log: ChangeLog) -> list[str]:
    """Return the same in words."""
    return [sentence(each.said) for each in decided(log)]


def alarm(state: int, action: int, next_state: int) -> PairChange:
    """Take each transition as what raises the alarm of its pair, as ``record`` of detectors."""
    return PairChange(state, action, {}, {HOME: 1})


class ScriptedEvaluation(Evaluation):
    """One episode decides: good if it arrived."""

    ends_outside = True
    continues = False

    def _judge(self, length: int, failed: bool) -> Decision:
        return Decision.BAD if failed else Decision.GOOD


class BareBase(BaseAlgorithm):
    """Finishes after ``life`` steps of its own with the given targets; never if ``life`` is 0."""

    quantum = QUANTUM

    def __init__(self, life: int, targets: Iterable[int] = (HOME,), bound: int = 100) -> None:
        self.life = life
        self.targets = tuple(targets)
        self.bound = bound
        self.steps = 0
        self.interruptions = 0

    @property
    def finished(self) -> bool:
        """Whether the life is over."""
        return 0 < self.life <= self.steps

    @property
    def evaluating(self) -> bool:
        """Never: all quanta have ``quantum`` steps."""
        return False

    @property
    def policies(self) -> tuple[Policy, ...]:
        """One for each target."""
        return tuple(policy(target) for target in self.targets)

    def step_bound(self, known: int) -> int:
        """Return the bound given, whatever is known."""
        return self.bound

    def next_action(self) -> int:
        """Stay at home."""
        return RESET

    def observe(self, action: int, state: int) -> None:
        """Count the step."""
        self.steps += 1

    def interrupt(self) -> None:
        """Count the interruption."""
        self.interruptions += 1


class ScriptedBase(BareBase, TakesTurns, Reports, Learns, Relearns, Samples, Certifies):
    """Can be asked for much of what a base may do, and does nothing of that."""

    between_attempts = True
    candidates = ()
    estimates: Mapping[int, float] = {}

    def __init__(self, life: int, targets: Iterable[int] = (HOME,), bound: int = 100) -> None:
        super().__init__(life, targets, bound)
        self.seen: list[tuple[int, int, int]] = []
        self.missed: list[tuple[int, int]] = []

    def activity(self) -> PhaseActivity:
        """Return the same whatever it does."""
        return PhaseActivity('sampling', 'sampling the known states')

    def may_plan(self, action: int, state: int) -> bool:
        """Return True, as that is never wrong."""
        return True

    def forget(self, state: int, action: int) -> bool:
        """Return that it cannot."""
        return False

    def revise(self, policies: tuple[Policy, ...]) -> bool:
        """Return that it cannot."""
        return False

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """Do nothing, as it has concluded nothing."""

    def request_sample(self, state: int, action: int) -> None:
        """Do nothing."""

    def restart_confidence(self, delta: float) -> None:
        """Do nothing, as it certifies nothing."""

    def better(self, policy: Policy) -> Policy | None:
        """Return none."""
        return None

    def lower_bound(self, policy: Policy) -> float:
        """Return what says nothing."""
        return -math.inf

    def add_transition(self, state: int, action: int, next_state: int) -> None:
        """Remember it."""
        self.seen.append((state, action, next_state))

    def add_censored(self, state: int, action: int) -> None:
        """Remember it."""
        self.missed.append((state, action))
