"""MNM: autonomous exploration of a CMP that changes (Gajane, Ortner, Auer, Szepesvari 2019)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
import math

from mnm_ros.core.base import BaseAlgorithm, BaseFactory
from mnm_ros.core.building import Building
from mnm_ros.core.checking import CheckRun, CheckRunner
from mnm_ros.core.checks import Checks
from mnm_ros.core.machine import Phased
from mnm_ros.core.policy import Hypothesis, Policy
from mnm_ros.core.problem import RESET, Problem
from mnm_ros.core.streams import StreamSchedule


class MnmPhase(Enum):
    """Where in a round MNM is."""

    HOMING = 'homing'
    BUILDING = 'building'
    REDISCOVERY = 'checking/rediscovery'
    EVALUATION = 'checking/evaluation'


MNM_TRANSITIONS = (
    ('home_found', MnmPhase.HOMING, MnmPhase.BUILDING),
    ('hypothesis_found', MnmPhase.BUILDING, MnmPhase.REDISCOVERY),
    ('rediscovered', MnmPhase.REDISCOVERY, MnmPhase.EVALUATION),
    ('run_over', MnmPhase.EVALUATION, MnmPhase.REDISCOVERY),
    ('hypothesis_refuted', MnmPhase.EVALUATION, MnmPhase.BUILDING),
)


def round_confidence(confidence: float, round_number: int) -> float:
    """Return ``delta_r = 3 delta / (4 pi^2 r^2)``; all rounds together use ``delta / 8``."""
    return 3 * confidence / (4 * math.pi ** 2 * round_number ** 2)


class Mnm(Phased):
    """The whole meta-algorithm, driven step by step; its first action is RESET.

    problem: with the confidence of the whole run.
    new_base: makes a fresh base run from a problem and the home state.
    new_schedule: makes the schedule of the streams of one round.
    new_checks: makes the statistics of a round from its problem and ``|K_r|``.
    shared_data: whether streams learn from each other's steps.
    check_steps: replaces ``W_r`` if positive.
    on_event: called with one sentence for people whenever something is decided.
    """

    state: MnmPhase

    def __init__(self, problem: Problem, new_base: BaseFactory,
                 new_schedule: Callable[[], StreamSchedule],
                 new_checks: Callable[[Problem, int], Checks], *,
                 shared_data: bool = False, check_steps: int = 0,
                 on_event: Callable[[str], None] = lambda sentence: None) -> None:
        self._problem = problem
        self._new_base = new_base
        self._new_schedule = new_schedule
        self._new_checks = new_checks
        self._shared_data = shared_data
        self._fixed_check_steps = check_steps
        self._on_event = on_event
        self.round = 0
        self.home: int | None = None
        self.hypothesis: Hypothesis | None = None
        self.building: Building | None = None
        self.runner: CheckRunner | None = None
        self.checks: Checks | None = None
        self.check_steps = 0
        self.window: deque[CheckRun] = deque()
        self.changes_noticed = 0
        self.changes_relearnt = 0
        self._start_machine(MNM_TRANSITIONS, MnmPhase.HOMING)

    @property
    def active(self) -> BaseAlgorithm | None:
        """The run of the base algorithm that has the robot now, or had it last."""
        if self.runner is not None:
            return self.runner.base
        return self.building.active if self.building is not None else None

    @property
    def under_revision(self) -> bool:
        """Whether the hypothesis was refuted and the next one is still being built."""
        return self.hypothesis is not None and self.state is MnmPhase.BUILDING

    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""
        driver = self.runner or self.building
        return RESET if driver is None else driver.next_action()

    def observe(self, state: int) -> None:
        """Take note of the state in which the last ``next_action`` ended."""
        if self.runner is not None:
            self._check(self.runner, state)
        elif self.building is not None:
            self.building.observe(state)
            if self.building.result is not None:
                self._adopt(self.building.result)
        else:
            self.home = state
            self._on_event(f'home is state {state}, building the first hypothesis')
            self.trigger('home_found')
            self._begin_round()

    def interrupt(self) -> None:
        """The robot may be anywhere: the next action is RESET."""
        driver = self.runner or self.building
        if driver is not None:
            driver.interrupt()

    def _round_problem(self) -> Problem:
        return replace(self._problem,
                       confidence=round_confidence(self._problem.confidence, self.round))

    def _fresh_base(self) -> BaseAlgorithm:
        assert self.home is not None
        return self._new_base(self._round_problem(), self.home)

    def _begin_round(self) -> None:
        self.round += 1
        self.runner = None
        self.building = Building(self._fresh_base, self._new_schedule(), self._shared_data)

    def _adopt(self, result: BaseAlgorithm) -> None:
        """Take the output of a stream as the hypothesis of the round."""
        assert self.hypothesis is None or self.hypothesis.round < self.round
        policies = result.policies
        self._publish(0, policies)
        self.building = None
        self.checks = self._new_checks(self._round_problem(), len(policies))
        self.check_steps = self._fixed_check_steps or result.step_bound(len(policies))
        self.window = deque(maxlen=self.checks.window)
        self._runs = 0
        self._quiet_runs = 0
        self._settled = self.round == 1
        self._added: set[int] = set()
        self.trigger('hypothesis_found')
        self._on_event(f'round {self.round}: {len(policies)} states known, now checking them')
        self._begin_run()

    def _publish(self, revision: int, policies: tuple[Policy, ...]) -> None:
        """Make ``policies`` the hypothesis, all over the states that they lead to."""
        targets = [policy.target for policy in policies]
        self.hypothesis = Hypothesis(
            self.round, revision, policies[0].horizon,
            tuple(policy.on(targets) for policy in policies))

    def _begin_run(self) -> None:
        assert self.hypothesis is not None and self.home is not None
        self.runner = CheckRunner(
            self._fresh_base(), self.home, self.hypothesis.policies, self.check_steps)

    def _check(self, runner: CheckRunner, state: int) -> None:
        runner.observe(state)
        if self.state is MnmPhase.REDISCOVERY and not runner.rediscovering:
            self.trigger('rediscovered')
        if not runner.over:
            return
        self.window.append(runner.result)
        self._runs += 1
        if self._decide():
            self.trigger('hypothesis_refuted')
            self._begin_round()
        else:
            self.trigger('run_over')
            self._begin_run()

    def _decide(self) -> bool:
        """Take the three decisions; return whether the round is over."""
        assert self.checks is not None and self.hypothesis is not None
        runs = len(self.window)
        known = {policy.target: policy for policy in self.hypothesis.policies}
        if self.checks.ready(self._runs):
            cut_off = sum(run.cut_off for run in self.window)
            if self.checks.refutes(cut_off, runs):
                self._on_event(
                    f'round {self.round}: rediscovery took more than {self.check_steps} steps in '
                    f'{cut_off} of the last {runs} check-runs, round {self.round + 1} begins')
                self._notice()
                return True
            self._delete(known, runs)
            self._add(known, runs)
            if tuple(known) != self.hypothesis.targets:
                self._publish(self.hypothesis.revision + 1, tuple(known.values()))
        self._settle(set(known))
        return False

    def _delete(self, known: dict[int, Policy], runs: int) -> None:
        assert self.checks is not None
        deleted = [state for state in known if self.checks.refutes(
            sum(state in run.failed for run in self.window), runs)]
        for state in deleted:
            del known[state]
            if self.checks.forgets:
                self._forget_sightings(state)
        if deleted:
            self._added.difference_update(deleted)
            self._notice()
            self._tell(deleted, 'no longer reached by its policy, deleted',
                       'no longer reached by their policies, deleted')

    def _forget_sightings(self, state: int) -> None:
        """Drop what was found before the policy was first seen to fail."""
        failed = False
        for run in self.window:
            if not failed:
                run.found.pop(state, None)
            failed = failed or state in run.failed

    def _add(self, known: dict[int, Policy], runs: int) -> None:
        assert self.checks is not None
        found = {state: policy for run in self.window for state, policy in run.found.items()}
        added = [state for state in found if state not in known and self.checks.adds(
            sum(state in run.found for run in self.window), runs)]
        for state in added:
            known[state] = found[state]
            for run in self.window:
                run.failed.discard(state)
        if added:
            self._added.update(added)
            self._tell(added, 'found, added', 'found, added')

    def _tell(self, states: list[int], one: str, several: str) -> None:
        subject = f'state {states[0]} {one}' if len(states) == 1 else (
            f'states {", ".join(map(str, states))} {several}')
        self._on_event(f'round {self.round}: {subject}')

    def _notice(self) -> None:
        """A decision that a world without change hardly brings about."""
        self.changes_noticed += self._settled
        self._settled = False
        self._quiet_runs = 0

    def _settle(self, known: set[int]) -> None:
        """Judge by the last run whether anything is still at odds with the hypothesis.

        An added state tells of a change only if it is reached within the radius: states
        between ``L`` and ``(1 + eps) L`` may come and go without one.
        """
        assert self.checks is not None
        run = self.window[-1]
        if any(steps <= self._problem.radius for state, steps in run.mean_steps.items()
               if state in self._added):
            self._notice()
        self._added -= set(run.mean_steps)
        quiet = not run.cut_off and not run.failed and known.issuperset(run.found)
        self._quiet_runs = self._quiet_runs + 1 if quiet else 0
        if not self._settled and self._quiet_runs >= self.checks.quiet:
            self._settled = True
            self.changes_relearnt += 1
