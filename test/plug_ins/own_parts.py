# SPDX-License-Identifier: Apache-2.0

"""Parts that another distribution brings: each the least that there can be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mnm_ros import Format
from mnm_ros.core import (
    BaseAlgorithm,
    CheckingPhase,
    Detector,
    EmpiricalModel,
    InWords,
    OptimisticPlan,
    OptimisticPlanner,
    over_own_targets,
    PhaseActivity,
    Policy,
    RESET,
    Round,
    Settings,
)
import numpy as np


class Homebody(BaseAlgorithm):
    """A base algorithm that comes home once, and knows home alone."""

    def __init__(self, settings: Settings, home: int, rng: np.random.Generator,
                 policies: Sequence[Policy] = ()) -> None:
        self.quantum = 1
        self._home, self._horizon, self._is_home = home, settings.steps_horizon, False

    @property
    def finished(self) -> bool:
        return self._is_home

    @property
    def evaluating(self) -> bool:
        return False

    @property
    def policies(self) -> tuple[Policy, ...]:
        return (Policy(self._home, self._horizon, (self._home,), ((RESET,),)),)

    def step_bound(self, known: int) -> int:
        return 100

    def next_action(self) -> int:
        return RESET

    def observe(self, action: int, state: int) -> None:
        self._is_home = True

    def interrupt(self) -> None:
        """There is nothing to give up."""


class CautiousPlanner:
    """Rules out with half of what it may be wrong with."""

    made = planned = 0

    def __init__(self, delta: float, radius: float, given: Collection[int] = ()) -> None:
        CautiousPlanner.made += 1
        self._planner = OptimisticPlanner(delta / 2, radius, given)

    def plan(self, model: EmpiricalModel, target: int | None) -> OptimisticPlan:
        CautiousPlanner.planned += 1
        return self._planner.plan(model, target)

    def plan_for_any(self, model: EmpiricalModel, targets: Sequence[int]) -> OptimisticPlan:
        return self._planner.plan_for_any(model, targets)

    def budget(self, states: Collection[int]) -> float:
        return self._planner.budget(states)

    def forget(self, target: int) -> None:
        self._planner.forget(target)

    def give(self, states: Collection[int], others: bool) -> None:
        self._planner.give(states, others)

    def carry(self, deltas: Mapping[tuple[int, int], float]) -> None:
        self._planner.carry({pair: delta / 2 for pair, delta in deltas.items()})

    def forget_carried(self, pair: tuple[int, int]) -> None:
        self._planner.forget_carried(pair)


class CountingDetector(Detector):
    """Counts the attempts that all of its kind have heard of."""

    heard = 0

    def record(self, length: int, failed: bool) -> None:
        CountingDetector.heard += 1
        super().record(length, failed)


class Trusting(CheckingPhase):
    """Checks no policy: it looks for new states once, and stays at home."""

    rediscovering, refuted = True, False

    def __init__(self, round_: Round, policies: tuple[Policy, ...]) -> None:
        self.policies = over_own_targets(policies)
        self.base = round_.new_base(round_.problem, policies)
        self.check_steps = self.base.step_bound(len(policies))

    def next_action(self) -> int:
        return RESET if self.base.finished else self.base.next_action()

    def observe(self, action: int, state: int) -> None:
        if not self.base.finished:
            self.base.observe(action, state)

    def interrupt(self) -> None:
        self.base.interrupt()

    def activity(self) -> PhaseActivity:
        return PhaseActivity('sampling', InWords('trusting all policies'))

    def figures(self) -> Mapping[str, str | int | float]:
        return {'check_window': 0, 'failures': '', 'failure_threshold': 0.0}


def trusting(settings: Settings) -> type[Trusting]:
    """Return what makes the checking phase of a round."""
    return Trusting


def count_states(learnt: Any) -> bytes:
    """Write how many states were seen."""
    return f'{len(learnt.knowledge.kinds)} states\n'.encode()


STATES = Format('how many states were seen', count_states)
