# SPDX-License-Identifier: Apache-2.0

"""
The checking phase as printed: check-runs, and decisions over the last ``n_r`` of them.

Source: Gajane et al. 2019, section 5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
import math
from typing import Union

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import activity_of
from mnm_ros.core.mnm.checking_phase import CheckingPhase, Round
from mnm_ros.core.model.episode import Attempts
from mnm_ros.core.model.policy import over_own_targets, Policy
from mnm_ros.core.model.problem import pair_of, Problem, RESET
from mnm_ros.core.progress.activity import Evidence, PhaseActivity
from mnm_ros.core.progress.said import (
    CheckRunAttempts,
    CheckRunsTooLong,
    InCheckRun,
    StatesAdded,
    StatesDeleted,
)
from mnm_ros.core.statistics.evaluation import Decision, Evaluation
from mnm_ros.core.statistics.reach import Reach


@dataclass
class CheckRun:
    """
    The findings of one check-run.

    :ivar cut_off: whether part 1 was still running after ``W_r`` steps.
    :ivar found: the output of part 1, by target; empty if cut off.
    :ivar failed: the targets whose policies failed their evaluation in part 2.
    """

    cut_off: bool = False
    found: dict[int, Policy] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)


class CheckRunner:
    """
    Executes one check-run: a fresh base run, then one evaluation of each policy.

    :param base: the fresh run.
    :param policies: of the hypothesis; the first one, for home, needs no evaluation.
    :param limit: ``W_r``, the most steps of part 1.
    :param new_evaluation: makes the evaluation of one policy.
    """

    def __init__(self, base: BaseAlgorithm, policies: tuple[Policy, ...], limit: int,
                 new_evaluation: Callable[[], Evaluation]) -> None:
        self.result = CheckRun()
        self.base = base
        self._limit = limit
        self._new_evaluation = new_evaluation
        self.queue = list(reversed(policies[1:]))
        self._steps = 0
        self.rediscovering = True
        self._here: int | None = None
        if self.queue:
            self._begin_evaluation()

    @property
    def over(self) -> bool:
        """Whether both parts are done."""
        return not self.rediscovering and not self.queue

    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""
        if self.rediscovering:
            return self.base.next_action()
        return RESET if self._here is None else self._attempts.action(self._here)

    def observe(self, action: int, state: int) -> None:
        """Learn that ``action`` ended in ``state``."""
        if self.rediscovering:
            self._rediscover(action, state)
        else:
            self._here = state
            self._evaluate(state)

    def interrupt(self) -> None:
        """Start from home, as the robot may be anywhere; an episode under way is broken off."""
        self.base.interrupt()
        self._here = None
        broken = self._attempts.interrupt() if self.queue else None
        if broken is not None:
            self._evaluation.break_off(broken.length, broken.policy.horizon)

    def activity(self) -> PhaseActivity:
        """Return what it is doing now, for display."""
        if self.rediscovering or not self.queue:
            doing = activity_of(self.base)
            return replace(doing, said=InCheckRun(doing.said), tests=(
                *doing.tests,
                Evidence('rediscovery', None, None, float(self._steps), float(self._limit))))
        target, test = self.queue[-1].target, self._evaluation
        return PhaseActivity(
            'watching',
            CheckRunAttempts(target, test.arrived, test.played, len(self.queue)), target, None,
            (Evidence('policy', target, None, *test.evidence),))

    def _begin_evaluation(self) -> None:
        self._evaluation = self._new_evaluation()
        self._attempts = Attempts(self.queue[-1], self._evaluation.ends_outside)

    def _rediscover(self, action: int, state: int) -> None:
        self.base.observe(action, state)
        self._steps += 1
        if self.base.finished:
            self.result.found = {policy.target: policy for policy in self.base.policies}
            self.rediscovering = False
        elif self._steps >= self._limit:
            self.result.cut_off = True
            self.rediscovering = False

    def _evaluate(self, state: int) -> None:
        episode = self._attempts.observe(state)
        if episode is None:
            return
        decision = self._evaluation.record(episode.length, episode.failed)
        if decision is Decision.UNDECIDED:
            return
        target = self.queue.pop().target
        if decision is Decision.BAD:
            self.result.failed.add(target)
        if self.queue:
            self._begin_evaluation()


class WindowPhase(CheckingPhase):
    """
    The checking phase as printed: check-runs, then three decisions over the last ``n_r``.

    :param round_: what the phase is made from.
    :param policies: of the hypothesis.
    :param window, printed_addition: of the tests of the decisions, see ``HoeffdingTests``.
    :param new_evaluation: makes the evaluation of one policy from the round's problem and the
        number of policies there are then.
    """

    def __init__(self, round_: Round, policies: tuple[Policy, ...], *,
                 window: int, printed_addition: bool,
                 new_evaluation: Callable[[Problem, int], Evaluation]) -> None:
        self.policies = over_own_targets(policies)
        self.refuted = False
        self.tests = HoeffdingTests(
            round_.problem, len(policies), window, printed_addition)
        self.window: deque[CheckRun] = deque(maxlen=self.tests.window)
        self._round = round_
        self._new_evaluation = new_evaluation
        self._runs = 0
        self._quiet_runs = 0
        self._reach = Reach(round_.problem.radius, round_.problem.delta)
        self._here: int | None = None
        self._asked: int | None = None
        self.check_steps = round_.check_steps
        self._start_run()

    @property
    def rediscovering(self) -> bool:  # type: ignore[override]
        """Whether part 1 of a check-run is under way."""
        return self.runner.rediscovering

    def next_action(self) -> int:
        self._asked = self.runner.next_action()
        return self._asked

    def observe(self, action: int, state: int) -> None:
        """Go on with the check-run; at its end decide, and start the next one."""
        pair, self._here, self._asked = pair_of(self._here, action), state, None
        if pair is not None:
            self._reach.add_transition(*pair, state)
        self.runner.observe(action, state)
        if self.runner.over:
            self.window.append(self.runner.result)
            self._runs += 1
            self._decide()
            if not self.refuted:
                self._start_run()

    def interrupt(self) -> None:
        if pair := pair_of(self._here, self._asked):
            self._reach.sets.add_censored(*pair)
        self._here = self._asked = None
        self.runner.interrupt()

    def activity(self) -> PhaseActivity:
        return self.runner.activity()

    def figures(self) -> Mapping[str, Union[str, int, float]]:
        """Count the check-runs in the window that went wrong in some way."""
        wrong = sum(bool(run.cut_off or run.failed) for run in self.window)
        return {'check_window': self.tests.window,
                'failures': f'{wrong} of {len(self.window)} check-runs',
                'failure_threshold': round(self.tests.threshold, 4)}

    def _start_run(self) -> None:
        known = len(self.policies)
        self.base = self._round.new_base(self._round.problem, ())
        if not self.check_steps:
            self.check_steps = self.base.step_bound(known)
        self.runner = CheckRunner(
            self.base, self.policies, self.check_steps,
            lambda: self._new_evaluation(self._round.problem, known))

    def _decide(self) -> None:
        """Take the three decisions, once ``n_r`` check-runs came before the last one."""
        known = {policy.target: policy for policy in self.policies}
        if self._runs > self.tests.window:
            runs = len(self.window)
            cut_off = sum(run.cut_off for run in self.window)
            if self.tests.refutes(cut_off, runs):
                self.refuted = True
                self._notice()
                self._round.log.outdate()
                number = self._round.number
                self._round.log.tell(CheckRunsTooLong(
                    number, self.check_steps, cut_off, runs, number + 1), 'change')
                return
            self._delete(known, runs)
            self._add(known, runs)
            # MNM compares the tuple itself, not what is in it.
            if list(known) != [policy.target for policy in self.policies]:
                self.policies = over_own_targets(known.values())
        self._settle(set(known))

    def _delete(self, known: dict[int, Policy], runs: int) -> None:
        deleted = [state for state in known if self.tests.refutes(
            sum(state in run.failed for run in self.window), runs)]
        for state in deleted:
            del known[state]
            self._round.log.outdate(state)
        if deleted:
            self._notice()
            self._round.log.tell(StatesDeleted(self._round.number, tuple(deleted)), 'change')

    def _add(self, known: dict[int, Policy], runs: int) -> None:
        found = {state: policy for run in self.window for state, policy in run.found.items()}
        added = [state for state in found if state not in known and self.tests.adds(
            sum(state in run.found for run in self.window), runs)]
        for state in added:
            known[state] = found[state]
            # The failures in the window are those of the policy that it had before.
            for run in self.window:
                run.failed.discard(state)
        if added:
            self._reach.enter(added)
            self._round.log.tell(StatesAdded(self._round.number, tuple(added)))

    def _notice(self) -> None:
        self._round.log.notice()
        self._quiet_runs = 0

    def _settle(self, known: set[int]) -> None:
        """
        Judge by the last run whether anything is still at odds with the hypothesis.

        A state that was added indicates a change only if it is within the radius for sure: states
        between ``L`` and ``(1 + epsilon) L`` may come and go without one.
        """
        run = self.window[-1]
        if not self._round.log.open and self._reach.found(self.policies):
            self._notice()
        quiet = not run.cut_off and not run.failed and known.issuperset(run.found)
        self._quiet_runs = self._quiet_runs + 1 if quiet else 0
        if self._quiet_runs >= self.tests.window:
            if self._round.log.open:
                self._reach.start_again()
            self._round.log.settle()


class HoeffdingTests:
    """
    The printed tests over the last ``n_r`` check-runs of a round.

    :param problem: with the delta ``delta_r`` of the round.
    :param known: ``|K_r|``.
    :param window: replaces ``n_r`` if positive.
    :param printed_addition: take the addition test as printed, ``delta_r - (1 - v/n_r) >
        alpha_r``. It can hold only if ``alpha_r < delta_r``, which no real ``n_r`` gives: nothing
        is ever added. The sound reading ``(1 - v/n_r) - delta_r <= alpha_r`` adds what is missed
        no more often than a reachable state would be.
    :ivar window: ``n_r``.
    :ivar alpha: ``alpha_r``.
    :ivar threshold: the fraction of failures above which a test refutes.

    Source: Gajane et al. 2019, section 5.
    """

    def __init__(self, problem: Problem, known: int, window: int = 0,
                 printed_addition: bool = False) -> None:
        self._delta = problem.delta
        # With an epsilon so large that the logarithm is below 1, the formulas mean nothing.
        log = max(1.0, math.log(known * problem.all_actions * problem.radius
                                / (problem.epsilon * problem.delta)))
        self.window = window or math.ceil(log ** 3)
        self.alpha = math.sqrt(-math.log(problem.delta) / (2 * log ** 3))
        self.threshold = self.alpha + self._delta
        self._printed_addition = printed_addition

    def refutes(self, failures: int, runs: int) -> bool:
        """Return whether ``b / n_r > alpha_r + delta_r``; for cut-off runs and for policies."""
        return failures / runs > self.threshold

    def adds(self, seen: int, runs: int) -> bool:
        """Return whether a state in the output of ``seen`` of the last ``runs`` is added."""
        missed = 1 - seen / runs
        if self._printed_addition:
            return self._delta - missed > self.alpha
        return missed - self._delta <= self.alpha
