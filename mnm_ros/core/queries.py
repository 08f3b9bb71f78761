# SPDX-License-Identifier: Apache-2.0

"""All that can be asked of an exploration; no answer changes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from typing import Union

from mnm_ros.core.knowledge.expected_plays import MOST_AT_ONCE, Plays, steps_of
from mnm_ros.core.knowledge.knowledge import Knowledge, nested
from mnm_ros.core.mnm.capabilities import candidates_of, Step
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.mnm.phase import MnmState
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.direct_way import direct_way, DirectWay
from mnm_ros.core.model.history import History
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import new_mnm
from mnm_ros.core.progress.activity import Activity, closest
from mnm_ros.core.progress.said import AtStep, Reason, Said, WaitingForHome
from mnm_ros.core.progress.trust import Trust, TrustedPolicy
from mnm_ros.core.progress_estimator import ProgressEstimator
from mnm_ros.core.source_watch import SourceWatch
from mnm_ros.core.task.step_task import PausableTask, RunState
from mnm_ros.core.view import View


class Phase(Enum):
    """The activities of the explorer, as published on ``phase``."""

    WAITING_FOR_ROBOT = 'waiting_for_robot'
    BUILDING_DISCOVERY = 'building/discovery'
    BUILDING_EVALUATION = 'building/evaluation'
    CHECKING_REDISCOVERY = 'checking/rediscovery'
    CHECKING_EVALUATION = 'checking/evaluation'
    PAUSED = 'paused'
    FAULT = 'fault'
    DONE = 'done'


class Queries(PausableTask):
    """
    The queries of an ``Exploration``, which alone changes what they read.

    :ivar settings: the problem, and the parts that solve it.
    :ivar seed: of every random choice.
    :ivar problem: with the ends that were added to what is declared.
    :ivar mnm: the algorithm that the exploration drives.
    :ivar history: the transitions that it has observed.
    :ivar steps: all that it has asked for and observed, RESETs included.
    :ivar work: executions that others have ordered and that it has learnt from, without RESETs.
    :ivar provisional: policies beside those of the hypothesis, as ``trust`` has returned them
        last; observers show them, and goals may follow them.
    :ivar sources: how many transitions each source has reported, without RESETs.
    """

    settings: Settings
    seed: int
    problem: Problem
    mnm: Mnm
    history: History
    work: int
    provisional: tuple[TrustedPolicy, ...]
    sources: dict[str, int]
    _estimator: ProgressEstimator
    _last_change: AtStep | None
    _watch: SourceWatch

    @property
    def can_snapshot(self) -> bool:
        """
        Whether ``to_state`` can be called now.

        If all parts are of the core it can after the first RESET, but not during the checks
        ``hoeffding``. Else it can where a run begins: no part of another package has learnt then.
        """
        return self.mnm.can_snapshot

    @property
    def phase(self) -> Phase:
        """Return what it is doing, as published."""
        if self.state is not RunState.RUNNING:
            return Phase(self.state.value)
        if self.mnm.state in (MnmState.HOMING, MnmState.BUILDING):
            base = self.mnm.phase.base
            evaluating = base is not None and base.evaluating
            return Phase.BUILDING_EVALUATION if evaluating else Phase.BUILDING_DISCOVERY
        return Phase(self.mnm.state.value)

    @property
    def status(self) -> Reason:
        """The last decision, or why it stopped in the words of who has stopped it."""
        return self.reason or self._decision

    @property
    def _decision(self) -> Said:
        """Return the last decision; before the first, that it waits for home."""
        return self._last_change.said if self._last_change else WaitingForHome()

    @property
    def hypothesis(self) -> Hypothesis | None:
        """Return what is known; None before the first hypothesis."""
        return self.mnm.hypothesis

    @property
    def _policies(self) -> tuple[Policy, ...]:
        """Return the policies of the hypothesis, home first; none before the first."""
        return self.hypothesis.policies if self.hypothesis else ()

    @property
    def revising(self) -> bool:
        """Whether a change is open, or another hypothesis is being built."""
        return self.mnm.under_revision or self.mnm.log.open

    @property
    def candidates(self) -> tuple[int, ...]:
        """States that the active run has met and does not know yet."""
        return candidates_of(self.mnm.phase.base)

    @property
    def lost(self) -> tuple[int, ...]:
        """States whose policies were deleted since the last notice, and not found again."""
        return tuple(self._estimator.lost)

    @property
    def home(self) -> int | None:
        """Return the state after the first RESET; None before."""
        return self.homing.home

    @property
    def quarantined(self) -> Collection[str]:
        """Return the sources that contradict the others, and do not count any more."""
        return self._watch.quarantined.keys()

    @property
    def counts(self) -> Mapping[Pair, Mapping[int, int]]:
        """All transitions ever observed, RESET included."""
        return self.history.counts.as_dict()

    @property
    def recorded(self) -> tuple[Step, ...]:
        """Return the last transitions of sources that count, in order: none before a change."""
        return tuple(self.history.recorded(self._watch.quarantined.values()))

    @property
    def states(self) -> int:
        """How many states it has ever met, candidates included."""
        return len(self.history.met)

    @property
    def closed(self) -> Mapping[Pair, int]:
        """Return the ways that are closed, and how often a test move has failed since."""
        return self.mnm.pairs.closed

    @property
    def changes_noticed(self) -> int:
        """Return how many changes led to a revision so far."""
        return self.mnm.log.noticed

    @property
    def changes_relearnt(self) -> int:
        """Noticed changes after which the checks found nothing to revise any more."""
        return self.mnm.log.relearnt

    def activity(self, view: View | None = None) -> Activity:
        """
        Return what is being done now, for display.

        :param view: of the last check; without one, a simulation takes up to a second.
        """
        if view is None:
            view = View()
            self.play_on(view)
        doing = self.mnm.phase.activity()
        running = self.state is RunState.RUNNING
        expected_steps = {target: steps_of(plays) for target, plays in self._expected_plays(
            view, MOST_AT_ONCE).items()}
        played = view.continuation.steps_left(self.steps)
        return Activity(
            self.steps, doing.doing if running else 'idle', doing.target if running else None,
            doing.action if running else None, '', closest(doing.tests),
            self._estimator.progress(self.steps, expected_steps, played),
            self.last_state, self.home, self.candidates, self.lost,
            self.problem.limit, expected_steps, self.revising, self.work, {
                f'{name} (not counted)' if name in self.quarantined else name: count
                for name, count in self.sources.items()},
            doing.said if running else self.reason if isinstance(self.reason, Said) else None)

    def understudy(self) -> Mnm | None:
        """Return an MNM that would do the same from here on; None where there can be none."""
        return new_mnm(self.settings, self.seed, resume=self.mnm.to_state()) if (
            self.can_snapshot) else None

    def play_on(self, view: View) -> None:
        """Play on in simulation if it is due, so that a view knows how many steps are left."""
        if self.hypothesis is None and view.continuation.is_due(self.steps):
            view.continuation.play(
                self.mnm, self.steps, self.last_state, iter(self.understudy, None),
                self.counts)

    def trust(self, at_most: int | None = None,
              view: View | None = None) -> tuple[TrustedPolicy, ...]:
        """
        Return every policy with its trust, home first, before the first hypothesis as well.

        To print how many steps each policy takes, and what holds for it::

            for each in exploration.trust():
                print(each.policy.target, each.trust.value,
                      each.expected_steps, each.at_most_steps)
            # 2 proven 2.2 8.0: state 2 takes about 2.2 steps, and proven at most 8

        :param at_most: the trust of how many policies to compute; None for all, which may take
            seconds.
        :param view: of the last call, so that the next call computes the trust of other policies.
        """
        view = View() if view is None else view
        return view.ledger.policies(
            self.mnm, self.settings, self.steps,
            self._expected_plays(view, None if at_most is None else MOST_AT_ONCE),
            self.history.next_states, at_most)

    def _expected_plays(self, view: View, at_most: int | None) -> dict[int, Plays | None]:
        """Return how often the published policies play each action, by target."""
        return view.plays.of(self._policies, self.mnm.home, self.history.next_states, at_most)

    def knowledge(self, trust: Iterable[TrustedPolicy] | None = None,
                  names: Mapping[int, str] | None = None,
                  places: Mapping[int, tuple[float, float]] | None = None) -> Knowledge:
        """
        Return all that is known now.

        :param trust: what ``trust`` has returned; None to compute all again, which may take long.
        :param names, places: of states, as far as they are known.
        """
        told = {each.policy.target: each for each in (self.trust() if trust is None else trust)}
        policies = {target: each.policy for target, each in told.items()}
        policies.update((policy.target, policy) for policy in self._policies)
        return Knowledge(
            self.steps, self.home, tuple(policy.target for policy in self._policies),
            self.candidates, self.lost, self.revising, nested(self.history.rows()),
            () if self.last_state is None else (self.last_state,),
            policies, told, {}, self.problem.limit, names or {}, places or {}, tuple(self.closed))

    def policy_to(self, target: int) -> Policy | None:
        """Return the policy for a state, of the hypothesis if it has one; None without any."""
        for policy in self._policies:
            if policy.target == target:
                return policy
        return next((told.policy for told in self._told if told.policy.target == target), None)

    def direct_way(self, target: int) -> DirectWay | None:
        """Return how to reach a state without going home first; None where that is no shorter."""
        policies = self._policies or tuple(
            told.policy for told in self._told if told.trust.rank <= Trust.CERTIFIED.rank)
        return direct_way(
            target, policies, self.history, self.problem, self.settings.steps_horizon,
            self.mnm.pairs.doubtful) if policies else None

    @property
    def _told(self) -> tuple[TrustedPolicy, ...]:
        """Return the policies that may be followed without a hypothesis."""
        return self.provisional or self.trust(0)

    def diagnostics(self) -> dict[str, Union[str, int, float, Said]]:
        """Return the figures of the diagnostics message by name."""
        return {
            'round': self.mnm.round,
            'phase': self.phase.value,
            'quantum': 0, 'streams': 0,
            'known': len(self._policies),
            'candidates': len(self.candidates),
            'states': self.states,
            'steps': self.steps,
            'reset_misses': self.homing.misses,
            'check_steps': self.mnm.phase.check_steps,
            'check_window': 0, 'failures': '', 'failure_threshold': 0.0,
            **self.mnm.phase.figures(),
            'last_change': self._last_change or '',
            'changes_noticed': self.changes_noticed,
            'changes_relearnt': self.changes_relearnt,
            'quarantined': ', '.join(self.quarantined),
        }
