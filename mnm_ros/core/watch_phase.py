# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
A checking phase that is valid at every moment: policies are watched all the time.

Rediscovery and watching take turns, some quanta of the one and an attempt of the other. Over any
length of time without a change, the chance of any wrong decision is at most the round's
delta ``delta_r``, a third of it for each kind of decision:

- *Deletion.* A policy's ``Detector`` raises the alarm. The delta of number ``i`` of the round is
  ``1/(i (i + 1))`` of the third.
- *Addition.* Rediscovery number ``j`` is a base run with delta ``1/(j (j + 1))`` of the
  third: what it certifies is added at once.
- *Restart.* A rediscovery takes more than ``W_r`` steps with probability at most ``delta_r / 3``,
  whatever came before, so ``k`` in a row do with the ``k``-th power of that. The number ``k`` that
  refutes grows with the number of rediscoveries, so that the sum over all of them is the third.

A rediscovery takes the watched policies as known and learns from its own steps only: it samples
every known state anew, and so finds new states and ways. It begins anew when a policy is
deleted, as its samples may be older than the change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
import math
from typing import Any, Union

from mnm_ros.core.checking_phase import CheckingPhase, Round
from mnm_ros.core.detector import Detector
from mnm_ros.core.episode import Attempts
from mnm_ros.core.policy import over_own_targets, Policy
from mnm_ros.core.problem import RESET

_MARGIN = 4
"""A rediscovery may take so many times the steps that led to the hypothesis."""


class WatchPhase(CheckingPhase):
    """
    The checking phase with detectors and repeated rediscovery.

    :param round_: what the phase is made from.
    :param policies: of the hypothesis.
    :param state: of a phase with these policies, from ``to_state``; None for a new one.
    :param quanta: of rediscovery for one attempt of a policy under watch.
    """

    def __init__(self, round_: Round, policies: tuple[Policy, ...],
                 state: Mapping[str, Any] | None = None, *, quanta: int = 4) -> None:
        self.refuted = False
        self.rediscovering = True
        self._round = round_
        self._quanta = quanta
        # Of each kind of decision; round_.problem.delta is that of the round.
        self._delta = round_.problem.delta / 3
        self.policies = over_own_targets(policies)
        self._detectors_made = 0
        self._detectors = {policy.target: self._new_detector() for policy in self.policies[1:]}
        self._rediscoveries = 0
        self._cut_off = 0
        self._doublings = 0
        self._here: int | None = None
        self._turns = deque(self.policies[1:])
        self._attempts = Attempts(self.policies[0], ends_outside=True)
        if state is not None:
            self._load(state)
        self._rediscover_again()
        if state is not None and not state['rediscovering']:
            self._begin_watch()

    @property
    def resumable(self) -> bool:
        """Whether a rediscovery has not begun yet, so that ``to_state`` says all there is."""
        return self._steps == 0 and self._here is None and not self._attempts.under_way

    def to_state(self) -> dict[str, Any]:
        """Return all of it as plain data; only while ``resumable``."""
        return {
            'rediscovering': self.rediscovering,
            'rediscoveries': self._rediscoveries,
            'cut_off': self._cut_off,
            'doublings': self._doublings,
            'detectors_made': self._detectors_made,
            'detectors': {str(target): detector.to_state()
                          for target, detector in self._detectors.items()},
            'turns': [policy.target for policy in self._turns],
        }

    def _load(self, state: Mapping[str, Any]) -> None:
        by_target = {policy.target: policy for policy in self.policies}
        self._detectors_made = state['detectors_made']
        self._detectors = {
            int(target): Detector.from_state(
                self._round.problem.limit, self.policies[0].horizon, detector)
            for target, detector in state['detectors'].items()}
        self._turns = deque(by_target[target] for target in state['turns'])
        # The rediscovery under way is begun anew, and counted then.
        self._rediscoveries = state['rediscoveries'] - 1
        self._cut_off = state['cut_off']
        self._doublings = state['doublings']

    def next_action(self) -> int:
        """Return what the rediscovery, or the policy under watch, does next."""
        if self.rediscovering:
            return self.base.next_action()
        return RESET if self._here is None else self._attempts.action(self._here)

    def observe(self, action: int, state: int) -> None:
        """Make a step of the rediscovery or of the attempt under way."""
        if self.rediscovering:
            self._rediscover(action, state)
        else:
            self._watch(state)

    def interrupt(self) -> None:
        """Go on from home."""
        self.base.interrupt()
        self._here = None
        self._attempts.interrupt()

    def figures(self) -> Mapping[str, Union[str, int, float]]:
        """Return the evidence against the policy that has most of it, in nats."""
        evidence, threshold, target = max(
            ((detector.evidence, detector.threshold, target)
             for target, detector in self._detectors.items()), default=(0.0, 0.0, 0))
        return {'check_window': 0,
                'failures': f'{evidence:.1f} nats against the policy for state {target}',
                'failure_threshold': round(threshold, 1)}

    def _adopt(self, policies: tuple[Policy, ...]) -> None:
        """Make ``policies`` the hypothesis; each keeps its detector unless it has changed."""
        before = {policy.target: policy for policy in self.policies}
        self.policies = over_own_targets(policies)
        now = {policy.target: policy for policy in self.policies[1:]}
        self._detectors = {
            target: (self._detectors[target]
                     if target in before and policy.same_as(before[target])
                     else self._new_detector())
            for target, policy in now.items()}
        # What was never tried is tried first.
        waiting = [policy.target for policy in self._turns if policy.target in now]
        new = [target for target in now if target not in waiting]
        self._turns = deque(now[target] for target in (*new, *waiting))

    def _new_detector(self) -> Detector:
        self._detectors_made += 1
        number = self._detectors_made
        return Detector(self._round.problem.limit, self.policies[0].horizon,
                        self._delta / (number * (number + 1)))

    def _rediscover_again(self) -> None:
        self._rediscoveries += 1
        number = self._rediscoveries
        problem = replace(self._round.problem, delta=self._delta / (number * (number + 1)))
        self.base = self._round.new_base(problem, self.policies)
        self._allow_steps()
        self._steps = 0
        self._here = None
        self._quiet = True
        self._begin_quantum()

    def _allow_steps(self) -> None:
        """Set ``W_r``; each cut off run doubles it, so that a run that is merely slow ends."""
        bound = max(self.base.step_bound(len(self.policies)), _MARGIN * self._round.steps_taken)
        self.check_steps = self._round.check_steps or bound * 2 ** self._doublings

    def _begin_quantum(self) -> None:
        self.rediscovering = True
        # While policies lack their proof after a change, watching gets as many turns.
        quanta = 1 if self._round.log.open and self._unproven() else self._quanta
        self._left = quanta * self.base.quantum
        self.base.interrupt()

    def _rediscover(self, action: int, state: int) -> None:
        """
        Make a step of the rediscovery; what it has certified is added after each quantum.

        A quantum that is over waits for the end of an episode of policy evaluation: an
        interruption would drop the episode.
        """
        base = self.base
        base.observe(action, state)
        self._steps += 1
        self._left -= 1
        cut_off = self._steps >= self.check_steps
        if not (base.finished or cut_off or self._left <= 0 and (
                base.episode_over or not base.evaluating)):
            return
        self._add_new_states()
        if base.finished:
            self._cut_off = 0    # only those in a row refute the round
            # It has sampled all known states without finding a new one, nor was one deleted.
            if self._quiet and not self._unproven():
                self._round.log.settle()
            self._rediscover_again()
        elif cut_off:
            self._cut_off += 1
            self._doublings += 1
            if self._cut_off >= self._cut_offs_to_refute():
                self._refute()
                return
            self._rediscover_again()
        self._begin_watch()

    def _cut_offs_to_refute(self) -> int:
        """Return the least ``k`` with ``d^k <= d / (j (j + 1))``, where ``d`` is the third."""
        number = self._rediscoveries
        return 1 + math.ceil(math.log(number * (number + 1)) / -math.log(self._delta))

    def _refute(self) -> None:
        self.refuted = True
        self._round.log.notice()
        self._round.log.tell(
            f'round {self._round.number}: rediscovery took more than {self.check_steps} steps '
            f'{self._cut_off} times in a row, round {self._round.number + 1} begins')

    def _add_new_states(self) -> None:
        """
        Add what the rediscovery has certified.

        A state within the radius tells of a change; others may come and go without one.
        """
        known = {policy.target for policy in self.policies}
        found = [policy for policy in self.base.policies if policy.target not in known]
        if not found:
            return
        self._adopt((*self.policies, *found))
        self._allow_steps()
        self._quiet = False
        targets = [policy.target for policy in found]
        if any(self.base.estimates.get(target, 0.0) <= self._round.problem.radius
               for target in targets):
            self._notice()
        self._round.log.tell_states(
            self._round.number, targets, 'found, added', 'found, added')

    def _notice(self) -> None:
        """
        Take note of a change.

        The detectors have seen the policies before the change: no policy may profit from its
        past, so all of them begin anew. While the change is not relearnt, they go on.
        """
        if not self._round.log.open:
            self._detectors = {target: self._new_detector() for target in self._detectors}
        self._round.log.notice()

    def _unproven(self) -> bool:
        """Whether some policy has not shown since the last change that it works."""
        return not all(detector.proven for detector in self._detectors.values())

    def _begin_watch(self) -> None:
        """Let the policy whose turn it is make an attempt; after a change, one without a proof."""
        self._here = None
        if self._turns:
            if self._round.log.open and self._unproven():
                while self._detectors[self._turns[0].target].proven:
                    self._turns.rotate(-1)
            self.rediscovering = False
            self._attempts = Attempts(self._turns[0], ends_outside=True)
        else:
            self._begin_quantum()

    def _watch(self, state: int) -> None:
        """Make a step of the attempt, and judge the policy at its end."""
        self._here = state
        episode = self._attempts.observe(state)
        if episode is None:
            return
        policy = self._attempts.policy
        detector = self._detectors[policy.target]
        detector.record(episode.length, episode.failed)
        if detector.alarm:
            self._delete(policy)
        elif episode.failed:
            # Only more attempts tell bad luck from a change, the sooner the better.
            self._begin_watch()
        else:
            self._turns.rotate(-1)
            self._begin_quantum()

    def _delete(self, failing: Policy) -> None:
        self._adopt(tuple(policy for policy in self.policies if policy is not failing))
        self._notice()
        self._round.log.tell_states(
            self._round.number, [failing.target],
            'no longer reached by its policy, deleted', '')
        self._rediscover_again()
