# SPDX-License-Identifier: Apache-2.0

"""MNM: autonomous exploration of a CMP that changes (Gajane, Ortner, Auer, Szepesvari 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from reprlib import repr as shortened
from typing import Any

from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.errors import InvalidTypeError, InvalidValueError
from mnm_ros.core.inputs import ImproveInput, LookInput, Wish
from mnm_ros.core.mnm.base import BaseFactory, Recollection
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.capabilities import Recollects
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.checking_phase import CheckingPhase, CheckingPhaseFactory, Round
from mnm_ros.core.mnm.memory import HeldHypothesis
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.mnm.phase import HomingPhase, MnmPhase, MnmState
from mnm_ros.core.mnm.runs import Runs
from mnm_ros.core.mnm.schedule import new_schedule
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.counts import NextStates
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.integers import as_action
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import (
    ForbiddenPlayed,
    HomeFound,
    HypothesisFound,
    NoWarmStart,
    WarmStart,
)
from mnm_ros.core.statistics.delta_spending import SHARES
from mnm_ros.core.task.step_task import machine_of, PhaseMachine

MNM_TRANSITIONS = (
    ('home_found', MnmState.HOMING, MnmState.BUILDING),
    ('hypothesis_found', MnmState.BUILDING, MnmState.REDISCOVERY),
    ('evaluate', MnmState.BUILDING, MnmState.EVALUATION),    # checks may begin with attempts
    ('evaluate', MnmState.REDISCOVERY, MnmState.EVALUATION),
    ('rediscover', MnmState.EVALUATION, MnmState.REDISCOVERY),
    ('hypothesis_refuted', MnmState.REDISCOVERY, MnmState.BUILDING),
    ('hypothesis_refuted', MnmState.EVALUATION, MnmState.BUILDING),
)
_TRIGGERS = {(source, destination): trigger for trigger, source, destination in MNM_TRANSITIONS}

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
    :ivar phase: the one under way.
    """

    _machine = machine_of(MNM_TRANSITIONS)
    state: MnmState
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
        self.pairs = PairWatch(self.support)
        self.round = 0
        self.home: int | None = None
        self.held = HeldHypothesis()
        self.phase: MnmPhase = HomingPhase()
        self.state = self.phase.kind
        if resume is not None:
            self._resume(resume)

    @property
    def can_snapshot(self) -> bool:
        """Whether ``to_state`` can be called now."""
        # A stream of another package that begins again would begin without the recollection.
        recollects = (self.state is MnmState.BUILDING and self._recollection is not None
                      and self._recollected == self.round)
        return self.phase.can_snapshot and not (recollects and self.phase.foreign)

    def to_state(self) -> dict[str, Any]:
        """Return plain data from which such an MNM can be made again; only if ``can_snapshot``."""
        foreign = self.phase.foreign
        return {'round': self.round, 'home': self.home,
                'checking': self.state is not MnmState.BUILDING,
                'detectors': self.phase.foreign_detectors(),
                'again': bool(foreign), 'within': snapshot.take(self, foreign)}

    def _resume(self, state: Mapping[str, Any]) -> None:
        """Make the phase under way, to which a snapshot leaves functions, and fill all of it."""
        home: int = state['home']
        self.round, self.home, self._recollection = state['round'], home, None
        checking = self._new_checks((Policy(home, 1, (home,), ((RESET,),)),)) if (
            state['checking']) else None
        again = state['again']    # what is of other packages, and has learnt nothing
        if checking is not None:
            self.phase = checking
        elif not again:
            self.phase = self._new_building()
        snapshot.put(state['within'], self)
        if again:
            self.runs.made -= 1
            if checking is None:
                self.phase = self._new_building()
            else:
                checking.restore_foreign(state['detectors'])
        if checking is not None and self.hypothesis is not None:
            # From here on the same tuple stands for the same revision, see ``publish``.
            self.held.hypothesis = replace(self.hypothesis, policies=checking.policies)

    @property
    def hypothesis(self) -> Hypothesis | None:
        """Return the one published; None before the first."""
        return self.held.hypothesis

    @property
    def under_revision(self) -> bool:
        """Whether the hypothesis was refuted and the next one is still being built."""
        return self.hypothesis is not None and self.state is MnmState.BUILDING

    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""
        return as_action(self.phase.next_action(), self._settings.problem.actions,
                         'next action of the base algorithm')

    def observe(self, action: int, state: int) -> None:
        """Learn that ``action``, which was the ``next_action``, ended in ``state``."""
        due = self.held.memory.step()
        if due is not None:
            self.phase.request_sample(*due)
        self._go_on_with(self.phase.after(action, state, self))

    def _go_on_with(self, phase: MnmPhase) -> None:
        """Let a phase have the robot, which may be the one that had it before."""
        self.phase = phase
        if phase.kind is not self.state:
            self.trigger(_TRIGGERS[self.state, phase.kind])

    def observe_work(self, state: int, action: int, after: int | None) -> None:
        """
        Learn from a step that somebody else had executed, no RESET; nothing else goes on by it.

        :param after: where it has led; None if it was broken off.
        """
        self.phase.observe_work(state, action, after)

    def interrupt(self) -> None:
        """Make RESET the next action, as the robot may be anywhere."""
        self.phase.interrupt()

    def refute(self, state: int, action: int, end: int) -> None:
        """Take back what is declared of a pair if that is wrong, as the pair has led to an end."""
        if self.support.refuted_by(state, action, end):
            self._take_back(state, action, end, self.phase)

    def _take_back(self, state: int, action: int, end: int, phase: MnmPhase) -> None:
        """Take back what is declared of a pair, and let a phase learn of that."""
        declared = self.support.declared_ends(state, action)
        added = self.support.refute(state, action, end)
        self.log.tell_refuted((state, action), end, declared, added)
        phase.support_changed([(state, action)])

    def declare(self, declared: Declaration, observed: NextStates) -> None:
        """Take another declaration, and compare it with what was observed."""
        opened, wrong = self.support.declare(declared, observed)
        if wrong:
            self.log.tell_wrong(wrong, extended=declared.audit is not None)
        self.phase.support_changed(opened)
        forbidden = self.support.all_forbidden
        if any(policy.plays(forbidden) for policy in self.phase.known_policies):
            if self.state is not MnmState.BUILDING:
                self.log.notice()
            self.log.tell(ForbiddenPlayed(self.round, self.round + 1), 'change')
            self._go_on_with(self.new_round())
        self.held.forbid(forbidden)

    def direct(self, wish: Wish) -> None:
        """Take a wish, and let the phase under way heed it."""
        if isinstance(wish, LookInput):
            self.pairs.leave_to_caller()
        else:
            self.runs.directives = self.runs.directives.after(wish)
        self.phase.heed(self.runs.directives, wish)

    def rebuild_from(self, recollection: Recollection) -> None:
        """Begin another round with these steps alone, as others were reported falsely."""
        self._recollection, self._recollected = recollection, self.round + 1
        if self.state is not MnmState.BUILDING:
            self.log.notice()
        self._go_on_with(self.new_round())
        self.held.doubt_all()

    def begin_at(self, home: int) -> MnmPhase:
        """Return the first phase after the RESET that has led home."""
        self.home = home
        self.log.tell(HomeFound(home))
        first = self.new_round()
        if (remembered := self._recollection) is not None:
            self.log.tell(WarmStart(len(remembered.steps)) if remembered.home == home else
                          NoWarmStart(remembered.home))
        return first

    def new_round(self) -> MnmPhase:
        """Return the phase that builds another hypothesis; what is doubted now stays doubted."""
        self.held.doubted = dict(self.phase.doubted)
        self.round += 1
        return self._new_building()

    def check(self, policies: tuple[Policy, ...], steps_taken: int,
              transitions: TransitionMonitor | None) -> MnmPhase:
        """
        Publish the output of a stream as the hypothesis, and return the phase that checks it.

        :param steps_taken: since the start of the stream.
        :param transitions: what was seen since then; None to begin with nothing.
        :raises InvalidValueError: if the first policy is not that for home.
        """
        targets = [policy.target for policy in policies]
        if targets[:1] != [self.home]:
            raise InvalidValueError(
                f'base {self._settings.base} has finished with policies for {shortened(targets)}, '
                f'expected one for home, state {self.home}, first')
        self.log.settle()    # it rests on nothing from before what was noticed
        checks = self._new_checks(policies, steps_taken, transitions)
        for target, within in self.runs.directives.improved.items():
            checks.heed(self.runs.directives, ImproveInput(target, within))
        self.held.publish(self.round, checks.policies)
        self.log.tell(HypothesisFound(self.round, len(policies)))
        return checks

    def _new_building(self) -> BuildingPhase:
        assert self.home is not None
        problem = self.runs.problem_of_round(self.round)
        building = BuildingPhase(
            partial(self.runs.new_stream, self.home, self.round),
            new_schedule(self._settings.streams, self._settings.stream_exponent),
            self._settings.stream_data == 'shared',
            TransitionMonitor(problem.delta * SHARES['transitions'])
            if self._settings.checks == 'watch' else None,
            self.pairs, self.log, self.round, self.held)
        self._recollect(building)
        building.keep_closed()
        return building

    def _recollect(self, building: BuildingPhase) -> None:
        """Let the first stream of a round begin with what is known from before, if it is that."""
        # Later streams are there for a change that was not noticed, perhaps before the first.
        remembered = self._recollection
        if remembered is None or (remembered.home, self._recollected) != (self.home, self.round):
            return
        for state, action, end in remembered.steps:
            if end is not None and self.support.refuted_by(state, action, end):
                self._take_back(state, action, end, building)
        if isinstance(building.base, Recollects):
            building.base.load_transitions(remembered.steps)

    def _new_checks(self, policies: tuple[Policy, ...], steps_taken: int = 0,
                    transitions: TransitionMonitor | None = None) -> CheckingPhase:
        assert self.home is not None
        problem = self.runs.problem_of_round(self.round)
        checks = self._new_checking(
            Round(self.round, problem, partial(self.runs.new, self.home),
                  self._settings.check_steps, steps_taken, self.log, transitions,
                  self.held.memory, self.pairs, steps_taken + _FOR_PROOFS * problem.limit,
                  _PROOFS_ALONE * steps_taken), policies)
        # Those of another package are made here for the first time.
        lacking = [name for name in CheckingPhase.__annotations__
                   if getattr(checks, name, None) is None]
        if lacking or not isinstance(checks, CheckingPhase):
            raise InvalidTypeError(
                f'checks {self._settings.checks} have made a {type(checks).__name__}, which lacks '
                f'{", ".join(lacking) or "the base class"}, expected a CheckingPhase')
        return checks
