# SPDX-License-Identifier: Apache-2.0

"""Observe an exploration, to say what has changed and how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import heappop, heappush
import math
from operator import attrgetter

from mnm_ros.core.knowledge.expected_plays import Following
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.progress.activity import Progress
from mnm_ros.core.progress.events import difference, ways, WaysChange
from mnm_ros.core.progress.prediction import (
    drives_left,
    factors_left,
    predict,
    Prediction,
    REMAINING,
    smaller_radius,
)
from mnm_ros.core.watch.watch_phase import WatchPhase

CHECK_RANGE = (0.4, 1.6)
"""About 5% of rediscoveries took less than so many times the steps of the last one, 5% more."""

RELEARNING_RANGE = (0.3, 2.5)
"""Chosen wide for what is left of relearning a change, over what was predicted for it."""

PLAYED_RANGE = (0.7, 1.4)
"""For what is left of the first hypothesis, over what was simulated of it."""

_TYPICAL_BET = 0.7    # of a detector for a policy, see ``Detector``
_STEPS_FOR_PAIR = 40    # after a change, until models prove the policies of drives


class ProgressEstimator:
    """
    Keeps what is known for display alone.

    :param mnm: what is examined.
    :param problem: with the delta of the exploration.
    :ivar lost: states whose policies were deleted since the last change was noticed, or whose
        certificates while it was built, and that were not found again, in that order.
    """

    left_to_fresh = ('_mnm', '_problem')

    def __init__(self, mnm: Mnm, problem: Problem) -> None:
        self.lost: dict[int, None] = {}
        self._mnm = mnm
        self._problem = problem
        self._noticed_at: int | None = None
        self._ways: dict[int, tuple[Pair, ...]] | None = None    # before the change that is open

    def noticed(self, step: int, held: Hypothesis | None, following: Following) -> None:
        """
        Record that a change was noticed while none was open.

        :param held: the hypothesis then.
        """
        self._noticed_at = step
        self._ways = ways(held.policies, following) if held else None
        self.lost.clear()

    def relearnt(self, following: Following) -> WaysChange | None:
        """Return what has come of the change that was noticed last; None if it is not known."""
        now, home = self._mnm.hypothesis, self._mnm.home
        if self._ways is None or now is None:
            return None
        found = difference(self._ways, ways(now.policies, following))
        return found if home is None or not found.lost else replace(
            found, radius=self._problem.radius,
            away=steps_away(home, found.lost, self._problem.actions, following))

    def revised(self, before: Hypothesis | None, now: Hypothesis,
                withdrawn: Iterable[int]) -> None:
        """
        Record another hypothesis.

        :param withdrawn: states that were certified, until a change was noticed on the way there.
        """
        targets = now.targets
        for target in (*(before.targets if before else ()), *withdrawn):
            if target not in targets:
                self.lost[target] = None
        for target in targets:
            self.lost.pop(target, None)

    def progress(self, step: int, expected_steps: Mapping[int, float | None],
                 played: int | None = None) -> Progress | None:
        """
        Return how far it is; None if unknown.

        :param expected_steps: of the published policies by target.
        :param played: the steps that are left by simulation; None if that is not known.
        """
        phase = self._mnm.phase
        if isinstance(phase, BuildingPhase) and self._mnm.hypothesis is None:
            return self._first(phase, played)
        if self._mnm.log.open:
            return self._relearning(step, expected_steps)
        done, expected = phase.sweep
        low, high = CHECK_RANGE
        return Progress('check', done, expected, max(done, math.floor(low * expected)),
                        max(expected, math.ceil(high * expected))) if expected else None

    def _first(self, building: BuildingPhase, played: int | None) -> Progress | None:
        left = self._until_built(building) if played is None else Prediction.of(
            played, *PLAYED_RANGE)
        if left is None:
            return None
        found = _progress('first hypothesis', building.steps_taken, left)
        outlooks = building.outlooks
        if not outlooks:    # the base has none
            return found
        distances = outlooks[0][1].distances
        smaller = smaller_radius(self._problem.radius, lambda radius: sum(
            distance <= radius for distance in distances))
        return found if smaller is None else replace(
            found, smaller_radius=smaller[0], smaller_expected=round(smaller[1] * found.expected))

    def _relearning(self, step: int, expected_steps: Mapping[int, float | None],
                    ) -> Progress | None:
        phase = self._mnm.phase
        left: Prediction | None = None
        if isinstance(phase, BuildingPhase):
            left = self._until_built(phase)
        elif isinstance(phase, WatchPhase):
            left = Prediction.of(steps_to_relearn(phase, expected_steps), *RELEARNING_RANGE)
        if left is None or self._noticed_at is None:    # it was noticed before a restart
            return None
        return _progress('relearning', step - self._noticed_at, left)

    def _until_built(self, building: BuildingPhase) -> Prediction | None:
        """Return the steps until a stream finishes, if all goes well."""
        drives = self._mnm.support.declared.drives
        left = []
        for started, outlook in building.outlooks:
            done = building.steps_taken - started
            left.append(drives and drives_left(outlook, done) or predict(
                REMAINING, factors_left(outlook, done, self._problem)))
        return min(left, key=attrgetter('steps'), default=None)


def _progress(aim: str, done: int, left: Prediction) -> Progress:
    return Progress(aim, done, done + math.ceil(left.steps), done + math.floor(left.low),
                    done + math.ceil(left.high))


def steps_to_relearn(phase: WatchPhase, expected_steps: Mapping[int, float | None]) -> int:
    """Return how many steps it may take a phase to relearn a change."""
    since, likely = phase.sweep
    monitor, relearning = phase.parts.checks.monitor, phase.parts.relearning
    problem = phase.parts.round.problem
    declared = problem.support.declared
    proofs = steps_until_proven(monitor.unproven_targets, len(monitor.detectors),
                                expected_steps, problem.limit, phase.policies[0].horizon)
    steps = (0 if relearning.swept else likely - since) + proofs
    if not (proofs and declared.drives):
        return steps
    pairs = sum(map(bool, (ends for policy in phase.policies
                           for ends in declared.successors.get(policy.target, ()))))
    return min(steps, steps_until_modelled(pairs, relearning.steps))


def steps_until_proven(
        unproven: Mapping[int, float], policies: int, expected_steps: Mapping[int, float | None],
        limit: float, horizon: int) -> int:
    """
    Return the steps that it may take until all policies are proven.

    After each attempt, the rediscovery has the robot for a quantum, which is as long as the
    horizon. Every other attempt is that of a policy without a proof; for the others, policies take
    turns.

    :param unproven: targets without a proof, with the nats that each lacks.
    :param policies: in all.
    :param expected_steps: by target, as far as they are known.
    :param limit: ``m``, in steps.
    """
    attempts = steps = 0.0
    for target, lacking in unproven.items():
        takes = min(expected_steps.get(target) or 0.5 * limit, 0.9 * limit)
        count = math.ceil(lacking / math.log1p(_TYPICAL_BET * (limit - takes) / (horizon + 1)))
        attempts += count
        steps += count * (takes + 1)
    if not attempts:
        return 0
    share = 0.5 + 0.5 * len(unproven) / policies
    return math.ceil((steps + attempts * horizon) / share)


def steps_until_modelled(pairs: int, made: int) -> int:
    """
    Return the steps that it may take until models have proven the policies of drives.

    In 24 runs on random roads and a published route graph, relearning a closed edge took 24 to 56
    steps for each pair, however many policies lacked a proof: their pairs have to be executed
    often enough since the change.

    :param pairs: of the known states, without those that are never commanded.
    :param made: steps since the change was noticed.
    """
    in_all = _STEPS_FOR_PAIR * pairs
    return max(in_all - made, in_all // 4)


def steps_away(home: int, targets: Iterable[int], actions: int,
               following: Following) -> dict[int, float]:
    """
    Return how many steps states are from home, if each move is made until it does what it can.

    If moves fail by staying, that is at least what the best policy takes by what was counted, and
    close to it. States to which no way was seen are left out.

    :param actions: how many there are, without RESET.
    :param following: says how often each next state followed an action in a state.
    """
    wanted, found = {*targets}, {}
    reached: set[int] = set()
    border = [(0.0, home)]
    while border and wanted:
        steps, state = heappop(border)
        if state in reached:
            continue
        reached.add(state)
        if state in wanted:
            wanted.discard(state)
            found[state] = steps
        for action in range(actions):
            led = following(state, action)
            times = sum(led.values())
            for after, count in led.items():
                if after not in reached and count > 0:
                    heappush(border, (steps + times / count, after))
    return found
