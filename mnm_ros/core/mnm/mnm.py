# SPDX-License-Identifier: Apache-2.0

"""MNM: autonomous exploration of a CMP that changes (Gajane, Ortner, Auer, Szepesvari 2019)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from reprlib import repr as shortened
from typing import Any

from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.inputs import ImproveInput, LookInput, Wish
from mnm_ros.core.mnm.base import BaseAlgorithm, BaseFactory, Recollection
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.capabilities import Recollects, Steered
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.checking_phase import (
    CheckingPhase,
    CheckingPhaseFactory,
    NearlyBest,
    Round,
)
from mnm_ros.core.mnm.held import HeldHypothesis
from mnm_ros.core.mnm.memory import Memory
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.mnm.runs import Runs
from mnm_ros.core.mnm.schedule import new_schedule
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.counts import NextStates, Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.integers import as_action
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.events import PairChange
from mnm_ros.core.progress.said import (
    ForbiddenPlayed,
    GoingHomeFirst,
    HomeFound,
    HypothesisFound,
    NoWarmStart,
    Said,
    WarmStart,
)
from mnm_ros.core.statistics.delta_spending import SHARES
from mnm_ros.core.task.step_task import machine_of, PhaseMachine


class MnmPhase(Enum):
    """Where in a round MNM is."""

    HOMING = 'homing'
    BUILDING = 'building'
    REDISCOVERY = 'checking/rediscovery'
    EVALUATION = 'checking/evaluation'


MNM_TRANSITIONS = (
    ('home_found', MnmPhase.HOMING, MnmPhase.BUILDING),
    ('hypothesis_found', MnmPhase.BUILDING, MnmPhase.REDISCOVERY),
    ('evaluate', MnmPhase.REDISCOVERY, MnmPhase.EVALUATION),
    ('rediscover', MnmPhase.EVALUATION, MnmPhase.REDISCOVERY),
    ('hypothesis_refuted', MnmPhase.REDISCOVERY, MnmPhase.BUILDING),
    ('hypothesis_refuted', MnmPhase.EVALUATION, MnmPhase.BUILDING),
)

_FOR_PROOFS = 100    # times the limit, for which a change may be open beside what learning took
_PROOFS_ALONE = 3    # times what learning took, for which it may be if nothing but proofs is left


class Mnm(PhaseMachine):
    """
    The whole meta-algorithm, driven step by step; its first action is RESET.

    :param settings: with the delta of the whole exploration.
    :param seed: of all random choices.
    :param new_base: makes runs of the base algorithm.
    :param new_checking: makes the checking phase of a round from the output of a stream.
    :param resume: what ``to_state`` of such an MNM returned, to go on from there.
    :param recollection: with which the first stream begins.
    :ivar support: what is declared of where pairs lead, and what was added to it.
    :ivar log: what was decided, and how many changes were noticed and relearnt.
    :ivar round: number of the round, 0 before the first RESET.
    :ivar runs: makes the runs of the base algorithm.
    :ivar home: the state after the first RESET; None before.
    :ivar held: the hypothesis that is published.
    :ivar pairs: those that fail, are suspected or closed.
    :ivar building, checking: the phase under way; None for the other one.
    """

    _machine = machine_of(MNM_TRANSITIONS)
    state: MnmPhase
    left_to_fresh = ('_settings', '_recollection', '_new_checking')

    def __init__(self, settings: Settings, seed: int, new_base: BaseFactory,
                 new_checking: CheckingPhaseFactory, *,
                 resume: Mapping[str, Any] | None = None,
                 recollection: Recollection | None = None) -> None:
        self._recollection = recollection
        self._recollected = 1    # the round whose first stream begins with it
        self.support = settings.problem.support.copy()
        self.support.declared = self.support.declared.audited()
        self._settings = replace(settings, problem=replace(
            settings.problem, support=self.support))
        self.runs = Runs(self._settings, seed, new_base)
        self._new_checking = new_checking
        self.log = ChangeLog()
        self._memory = Memory()
        self.pairs = PairWatch(self.support)
        self.round = 0
        self.home: int | None = None
        self.held = HeldHypothesis()
        self.building: BuildingPhase | None = None
        self.checking: CheckingPhase | None = None
        self.state = MnmPhase.HOMING
        if resume is not None:
            self._resume(resume)

    @property
    def _driver(self) -> CheckingPhase | BuildingPhase | None:
        """Return the phase under way; None before the first RESET."""
        return self.checking or self.building

    @property
    def can_snapshot(self) -> bool:
        """Whether ``to_state`` can be called now."""
        driver = self._driver
        if driver is None or not driver.can_snapshot:
            return False
        recollects = self._recollection is not None and self._recollected == self.round
        return driver is self.checking or not (recollects and driver.foreign)

    def to_state(self) -> dict[str, Any]:
        """Return plain data from which such an MNM can be made again; only if ``can_snapshot``."""
        driver = self._driver
        assert driver is not None
        foreign = driver.foreign
        given = [self.building] if foreign and self.building else foreign
        return {'round': self.round, 'home': self.home, 'checking': self.checking is not None,
                'detectors': self.checking and self.checking.foreign_detectors(),
                'again': bool(foreign), 'within': snapshot.take(self, given)}

    def _resume(self, state: Mapping[str, Any]) -> None:
        """Make the phase under way, to which a snapshot leaves functions, and fill all of it."""
        home: int = state['home']
        self.round, self.home, self._recollection = state['round'], home, None
        again = state['again']    # what is of other packages, and has learnt nothing
        if state['checking']:
            self.checking = self._check_policies((Policy(home, 1, (home,), ((RESET,),)),))
        elif not again:
            self._build()
        snapshot.put(state['within'], self)
        if again:
            self.runs.made -= 1
            if self.checking is None:
                self._build()
            else:
                self.checking.begin_again(state['detectors'])
        if self.checking is not None and self.hypothesis is not None:
            # From here on the same tuple stands for the same revision, see _check.
            self.held.hypothesis = replace(self.hypothesis, policies=self.checking.policies)

    @property
    def active(self) -> BaseAlgorithm | None:
        """Return the run of the base algorithm that has the robot now, or had it last."""
        if self.checking is not None:
            return self.checking.base
        return self.building.active if self.building is not None else None

    @property
    def hypothesis(self) -> Hypothesis | None:
        """Return the one published; None before the first."""
        return self.held.hypothesis

    @property
    def under_revision(self) -> bool:
        """Whether the hypothesis was refuted and the next one is still being built."""
        return self.hypothesis is not None and self.state is MnmPhase.BUILDING

    def activity(self) -> PhaseActivity:
        """Return what it is doing now, for display."""
        return self._driver.activity() if self._driver else PhaseActivity(
            'sampling', GoingHomeFirst())

    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""
        return RESET if self._driver is None else as_action(
            self._driver.next_action(), self._settings.problem.actions,
            'next action of the base algorithm')

    def observe(self, action: int, state: int) -> None:
        """Learn that ``action``, which was the ``next_action``, ended in ``state``."""
        due = self._memory.step()
        if due is not None:
            self.request_sample(*due)
        if self.checking is not None:
            self._check(self.checking, action, state)
        elif self.building is not None:
            self._take_change(self.building.observe(action, state))
            if self.building.result is not None:
                self._adopt(self.building.result)
        else:
            self.home = state
            self.log.tell(HomeFound(state))
            self.trigger('home_found')
            self._begin_round()
            if (remembered := self._recollection) is not None:
                self.log.tell(WarmStart(len(remembered.steps)) if remembered.home == state else
                              NoWarmStart(remembered.home))

    def observe_work(self, state: int, action: int, after: int | None) -> None:
        """
        Learn from a step that somebody else had executed, no RESET; nothing else goes on by it.

        :param after: where it has led; None if it was broken off.
        """
        if self.checking is not None:
            self.checking.observe_work(state, action, after)
        elif self.building is not None:
            self._take_change(self.building.observe_work(state, action, after))

    def _take_change(self, change: PairChange | None) -> None:
        if change is not None:
            self.log.notice()
            self._memory.note(change)
            self.log.tell_changed(self.round, change)
            self.held.follow(change, self._memory)

    def may_plan(self, action: int, state: int) -> bool:
        """Return whether ``observe`` of this step may take more than some milliseconds."""
        return self._driver is not None and self._driver.may_plan(action, state)

    def interrupt(self) -> None:
        """Make RESET the next action, as the robot may be anywhere."""
        if self._driver is not None:
            self._driver.interrupt()

    def refute(self, state: int, action: int, end: int) -> None:
        """Take back what is declared of a pair if that is wrong, as the pair has led to an end."""
        if not self.support.refuted_by(state, action, end):
            return
        declared = self.support.ends(state, action) or ()
        added = self.support.refute(state, action, end)
        self.log.tell_refuted((state, action), end, declared, added)
        self._support_changed([(state, action)])

    def auditable(self) -> Mapping[Pair, float]:
        """Return the declared pairs that can be tried now, each with its steps from home."""
        # Before its first step, all that there is to say of a building phase is that it begins.
        begins = self.building is not None and not self.building.steps_taken
        run = self.active
        return run.auditable() if isinstance(run, Steered) and not begins else {}

    def request_sample(self, state: int, action: int) -> None:
        """Have a pair executed soon."""
        if self._driver is not None:
            self._driver.request_sample(state, action)

    def direct(self, wish: Wish) -> None:
        """Take a wish, and let the phase under way heed it."""
        if isinstance(wish, LookInput):
            self.pairs.leave_to_caller()
        else:
            self.runs.directives = self.runs.directives.after(wish)
        if self._driver is not None:
            self._driver.heed(self.runs.directives, wish)

    def begin_again(self, recollection: Recollection) -> None:
        """Begin another round with these steps alone, as others were reported falsely."""
        self._recollection, self._recollected = recollection, self.round + 1
        if self.checking is not None:
            self.log.notice()
        self._begin_round()
        self.held.doubt_all()

    @property
    def can_improve(self) -> bool:
        """Whether the checks under way can do that."""
        return self.checking is None or self.checking.can_improve

    @property
    def doubted(self) -> Mapping[int, Said]:
        """Return why a policy of the hypothesis is doubted, by target."""
        return self.held.doubted if self.checking is None else self.checking.doubted

    @property
    def kept(self) -> Collection[int]:
        """Return the targets of those that are neither proven since a change nor doubted."""
        return self.held.kept if self.checking is None else self.checking.kept

    @property
    def nearly_best(self) -> Mapping[int, NearlyBest]:
        """Return what is proven of policies that were to be improved, by target."""
        return self.checking.nearly_best if self.checking else {}

    def declare(self, declared: Declaration, observed: NextStates) -> None:
        """Take another declaration, and compare it with what was observed."""
        opened, wrong = self.support.declare(declared, observed)
        if wrong:
            self.log.tell_wrong(wrong, extended=declared.audit is not None)
        self._support_changed(opened)
        forbidden = self.support.all_forbidden
        if self._driver is not None and any(
                policy.plays(forbidden) for policy in self._driver.known_policies):
            if self.checking is not None:
                self.log.notice()
            self.log.tell(ForbiddenPlayed(self.round, self.round + 1), 'change')
            self._begin_round()
        self.held.forbid(forbidden)

    def _support_changed(self, pairs: Collection[Pair]) -> None:
        if self._driver is not None:
            self._driver.support_changed(pairs)

    def _begin_round(self) -> None:
        """Build another hypothesis; a round whose policies were being checked is refuted."""
        if self.checking is not None:
            self.trigger('hypothesis_refuted')
            self.held.doubted = dict(self.checking.doubted)
        self.round += 1
        self.checking = None
        self._build()

    def _build(self) -> None:
        assert self.home is not None
        problem = self.runs.problem_of_round(self.round)
        self.building = BuildingPhase(
            partial(self.runs.new_stream, self.home, self.round),
            new_schedule(self._settings.streams, self._settings.stream_exponent),
            self._settings.stream_data == 'shared',
            TransitionMonitor(problem.delta * SHARES['transitions'])
            if self._settings.checks == 'watch' else None,
            self.pairs, self.log, self.round)
        self._recollect(self.building.active)
        self.building.keep_closed()

    def _recollect(self, run: BaseAlgorithm) -> None:
        """Let the first stream of a round begin with what is known from before, if it is that."""
        # Later streams are there for a change that was not noticed, perhaps before the first.
        remembered = self._recollection
        if remembered is None or (remembered.home, self._recollected) != (self.home, self.round):
            return
        for state, action, end in remembered.steps:
            if end is not None:
                self.refute(state, action, end)
        if isinstance(run, Recollects):
            run.load_transitions(remembered.steps)

    def _check_policies(self, policies: tuple[Policy, ...], steps_taken: int = 0,
                        transitions: TransitionMonitor | None = None) -> CheckingPhase:
        assert self.home is not None
        problem = self.runs.problem_of_round(self.round)
        return self._new_checking(
            Round(self.round, problem, partial(self.runs.new, self.home),
                  self._settings.check_steps, steps_taken, self.log, transitions,
                  self._memory, self.pairs, steps_taken + _FOR_PROOFS * problem.limit,
                  _PROOFS_ALONE * steps_taken), policies)

    def _adopt(self, result: BaseAlgorithm) -> None:
        """Take the output of a stream as the hypothesis of the round."""
        assert self.building is not None
        targets = [policy.target for policy in result.policies]
        if targets[:1] != [self.home]:
            raise InvalidValueError(
                f'base {self._settings.base} has finished with policies for {shortened(targets)}, '
                f'expected one for home, state {self.home}, first')
        building, self.building = self.building, None
        self.log.settle()    # it rests on nothing from before what was noticed
        self.checking = self._check_policies(
            result.policies, building.steps_of(result), building.transitions_of(result))
        for target, within in self.runs.directives.improved.items():
            self.checking.heed(self.runs.directives, ImproveInput(target, within))
        self.held.publish(self.round, self.checking.policies)
        self.trigger('hypothesis_found')
        self.log.tell(HypothesisFound(self.round, len(result.policies)))

    def _check(self, checking: CheckingPhase, action: int, state: int) -> None:
        """Make a step of the checking phase and publish what it has revised."""
        assert self.hypothesis is not None
        checking.observe(action, state)
        # A phase that has revised its policies has another tuple, equal or not.
        if checking.policies is not self.hypothesis.policies:
            self.held.publish(self.round, checking.policies)
        if checking.refuted:
            self._begin_round()
        elif checking.rediscovering != (self.state is MnmPhase.REDISCOVERY):
            self.trigger('rediscover' if checking.rediscovering else 'evaluate')
