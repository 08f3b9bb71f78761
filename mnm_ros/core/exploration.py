# SPDX-License-Identifier: Apache-2.0

"""
The exploration as an operator drives it: inputs, what each of them changes, and what is saved.

``queries.py`` has all that can be asked of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from mnm_ros.core.errors import InvalidValueError, SnapshotError
from mnm_ros.core.inputs import (
    DeclarationInput,
    ImproveInput,
    Input,
    Interruption,
    LookInput,
    Observation,
    PLACING,
    Preference,
    Relocation,
    ROBOT,
    Update,
    WorkObservation,
)
from mnm_ros.core.mnm.audit import Audit
from mnm_ros.core.mnm.base import Recollection
from mnm_ros.core.mnm.change_log import ChangeNoticed, Decided
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.history import History
from mnm_ros.core.model.integers import as_action, as_state
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import pair_of, RESET
from mnm_ros.core.presets import new_mnm
from mnm_ros.core.progress.events import begun, begun_together, Event, MovesChange, PairChange
from mnm_ros.core.progress.said import (
    AtStep,
    ChangeRelearnt,
    SourceContradicts,
    SourceQuarantined,
)
from mnm_ros.core.progress.trust import TrustedPolicy
from mnm_ros.core.progress_estimator import ProgressEstimator
from mnm_ros.core.queries import Queries
from mnm_ros.core.source_watch import Finding, Reported, SourceWatch
from mnm_ros.core.task.step_task import Homing

_STATE = ('mnm', 'steps', 'known', 'news', 'sources', 'within')
_SAVED = ('history', 'homing', 'last_state', 'sources', 'steps', 'work', '_audit', '_epoch',
          '_estimator', '_last_change', '_watch')

ALGORITHM = 24
"""To be raised with whatever leads the same inputs elsewhere, or shares delta out otherwise."""


class Exploration(Queries):
    """
    An exploration from the first RESET on, driven one step at a time.

    :param resume: what ``to_state`` of such an exploration returned, to go on from there with a
        RESET; None to begin.
    :ivar recollection: what is known of the CMP from before; the promise holds as without.
    :ivar events: the last decisions, oldest first; at most 1,000.
    :ivar listeners: called with each input in this order, once it is taken in; for what has
        to know of all of them: ``resume`` and ``recover`` give inputs, too. What gives the inputs
        itself finds the same in what ``observe`` and its like return.
    :raises SnapshotError: if ``resume`` is nothing of the kind.
    """

    def __init__(self, settings: Settings, seed: int = 0,
                 resume: Mapping[str, Any] | None = None,
                 recollection: Recollection | None = None) -> None:
        point = None if resume is None else _point(resume)
        self.settings, self.seed = settings, seed
        self.recollection = recollection
        self.mnm = new_mnm(settings, seed, point and point['mnm'], recollection)
        self.homing = Homing(self.mnm.home)
        self.problem = replace(settings.problem, support=self.mnm.support)
        self.history = History()
        self._watch = SourceWatch()
        self._audit = Audit()
        self._estimator = ProgressEstimator(self.mnm, settings.problem)
        self._epoch = self.mnm.log.notices, self.mnm.round
        self._decided_since: list[Event] = []    # since the last input, as what follows
        self._outdated_since: list[tuple[int | None, int | None]] = []
        self.listeners: list[Callable[[Update], object]] = []
        self.last_state: int | None = None
        self._last_change: AtStep | None = None
        self.events: deque[Event] = deque(maxlen=1000)
        self.steps = self.work = 0
        self.provisional: tuple[TrustedPolicy, ...] = ()
        self.sources: dict[str, int] = {}
        self._open: int | None = None    # the action asked for and not observed yet
        if point is not None:
            fresh = [getattr(self, name) for name in _SAVED]
            for name, saved in zip(_SAVED, snapshot.put(point['within'], fresh)):
                setattr(self, name, saved)

    def to_state(self) -> dict[str, Any]:
        """Return plain data from which it can go on; only if ``can_snapshot``."""
        return {'mnm': self.mnm.to_state(), 'steps': self.steps, 'news': self._decision.to_plain(),
                'known': [policy.target for policy in self._policies],
                'sources': dict(self.sources),    # these are for readers of a checkpoint
                'within': snapshot.take([getattr(self, name) for name in _SAVED])}

    def on_event(self, hear: Callable[[Event], object]) -> Callable[[Event], object]:
        """
        Call a function with every event from now on, as soon as its input is taken in.

        :returns: The function, so that this can stand above it as a decorator.
        """
        self.listeners.append(lambda update: [*map(hear, update.events)])
        return hear

    def next_action(self) -> int:
        if self._open is None:
            self._open = self.mnm.next_action()
        return self._open

    def observe(self, action: int, state: int, robot: str = '') -> Update:
        """
        Count the transition by ``action``, which was ``next_action``, to ``state``.

        A RESET that misses home is no step of the algorithm: the next action is RESET again.
        The robot has answered.

        :raises InvalidTypeError: if one of them is no integer; nothing is counted.
        :raises InvalidValueError: if there is no such action, or no such state.
        """
        made = Observation(as_action(action, self.problem.actions), as_state(state), robot)
        self.robot_answers()
        return self.take(made)

    def observe_work(self, state: int, action: int, after: int | None, robot: str = '',
                     node: str = '') -> Update:
        """
        Learn from an execution that somebody else has ordered: a navigator, a driver, a person.

        It may come at any time, paused or not, and says nothing of where the robot is later:
        ``resume``, ``relocate`` or ``lose_place`` have to follow before the next step. Whoever
        reports some executions of others has to report all of them, and before it is known where
        they lead it has to be certain that they will be.

        :param after: where it has led; None if the step was broken off.
        :param robot: that has made it, if there are several.
        :param node: that has reported it, if that was not the robot side.
        :raises InvalidTypeError: if one of them is no integer; nothing is counted.
        :raises InvalidValueError: if the action is none, or RESET, which teaches nothing, or if
            there is no such state.
        """
        return self.take(WorkObservation(
            as_state(state), as_action(action, self.problem.actions, 'action at work', False),
            None if after is None else as_state(after), robot=robot, node=node))

    def prefer(self, state: int) -> Update:
        """
        Sample first the way to a state to which somebody wants to go.

        That is what ``disco`` does while the first hypothesis is built; other bases may not.

        :raises InvalidTypeError: if it is no integer.
        :raises InvalidValueError: if it has more than 64 bits.
        """
        return self.take(Preference(as_state(state)))

    def leave_closed(self) -> Update | None:
        """
        Leave ways that close alone from now on, until ``look`` names them; None if that is so.

        For whoever has a clock: the exploration has none.
        """
        return None if self.mnm.pairs.scheduled else self.take(LookInput(None, RESET))

    def look(self, state: int | None = None, action: int = 0) -> Update:
        """
        Make a test move at a closed way, or at all closed ways, at the request of the caller.

        As with ``leave_closed``, a way that closes is not tried from then on.

        :raises InvalidTypeError: if one of them is no integer.
        :raises InvalidValueError: if there is no such action, or no such state.
        """
        return self.take(LookInput() if state is None else LookInput(
            as_state(state), as_action(action, self.problem.actions, 'action to look at', False)))

    def improve(self, state: int, within: float = 0.1) -> Update:
        """
        Go on until the policy to a state is proven to be nearly the best of all on known states.

        Until then two of three steps are made for that, at rest; ``trust`` returns what is proven.
        It begins again after each change, and when other states become known.

        :param within: it is to take at most ``1 + within`` times the expected steps of the best.
        :raises InvalidTypeError: if the state is no integer.
        :raises InvalidValueError: if there is no such state, or no such part, if nothing is known
            yet, or if the checks cannot improve policies.
        :raises UnknownStateError: if there is no policy to that state.
        """
        target = as_state(state)
        if not 0 < within <= 1:
            raise InvalidValueError(f'within is {within!r}, expected a number in (0, 1]')
        if self.hypothesis is None:
            raise InvalidValueError(
                f'state {target} has no policy yet: there is no hypothesis, expected to be asked '
                'after the first one')
        self.hypothesis.policy_for(target)
        if target == self.home:
            raise InvalidValueError(f'state {target} is home, where RESET leads, expected another')
        if not self.mnm.phase.can_improve:
            raise InvalidValueError(
                f"policies are not improved with checks '{self.settings.checks}', expected "
                "'watch'")
        return self.take(ImproveInput(target, float(within)))

    def improve_no_more(self) -> Update:
        """Let go of all policies that are to be improved, and of what is proven of any."""
        return self.take(ImproveInput(None, 0.0))

    def relocate(self, state: int) -> Update:
        return self.take(Relocation(as_state(state)))

    def lose_place(self, robot: str = '') -> Update:
        return self.take(Interruption(robot=robot))

    def declare(self, declared: Declaration) -> Update | None:
        """
        Take it that actions lead to declared states alone, and to where they were seen to lead.

        It replaces what was declared before, at any time; the hypothesis stays as far as it does
        not rest on that. In a share of the steps, ``declared.audit``, it is tried.

        :returns: What has come of it; None if just that is declared already.
        :raises ValueError: if it is for another number of actions.
        """
        declared.check(self.problem.actions)
        declared = declared.audited()
        if declared == self.mnm.support.declared:
            return None
        return self.take(DeclarationInput(declared))

    def take(self, made: Input) -> Update:
        """Take an input, and return it with the action that was open, and what has come of it."""
        mnm = self.mnm
        before, relearnt, phase = mnm.held.hypothesis, mnm.log.relearnt, mnm.phase
        if isinstance(made, Observation):
            reported = self._take_step(made)
        else:
            # Whether a step is broken off matters, so that a log of inputs has to say it.
            if made.asked is not None:
                self.next_action()
            made = replace(made, asked=self._open)
            reported = self._take_other(made)
        if mnm.log.news:
            self._hear(before)
        self._weigh(reported)
        if isinstance(made, PLACING):
            self._open = None
        held = mnm.held.hypothesis
        revision = None if held is before else held
        if revision is not None:
            self._estimator.revised(
                before, revision, () if mnm.under_revision else phase.withdrawn)
        if mnm.log.relearnt > relearnt:    # no news for ``status``: nothing is revised
            self._happened(Event(self.steps, '', 'change', said=ChangeRelearnt(),
                                 ways=self._estimator.relearnt(self.history.next_states)))
        update = Update(
            made, tuple(self._decided_since), tuple(self._outdated_since), revision)
        self._decided_since.clear()
        self._outdated_since.clear()
        for listener in self.listeners:
            listener(update)
        return update

    def _take_step(self, made: Observation) -> Reported | None:
        action, state, source = made.action, made.state, made.source
        here, self.last_state = self.last_state, state
        self.steps += 1
        if action != RESET:
            self.sources[source] = self.sources.get(source, 0) + 1
        reported = self._record(here, action, state, source)
        if here is not None:
            self.mnm.refute(here, action, state)
        if not self.homing.missed(action, state):
            self.mnm.observe(action, state)
        self._audit.step(self.steps, self.history.counts, self.mnm)
        return reported

    def _take_other(self, made: Input) -> Reported | None:
        """Take what is no observation."""
        if isinstance(made, WorkObservation):
            return self._take_work(made)
        if isinstance(made, DeclarationInput):
            self.mnm.declare(made.declaration, self.history)
        elif isinstance(made, (Preference, LookInput, ImproveInput)):
            self.mnm.direct(made)
        elif isinstance(made, (Relocation, Interruption)):
            if made.asked is not None:
                self._record(self.last_state, made.asked, None, made.robot or ROBOT)
            self.last_state = made.state if isinstance(made, Relocation) else None
            self.mnm.interrupt()
        return None

    def _record(self, before: int | None, action: int, after: int | None, source: str,
                robot_side: bool = True) -> Reported | None:
        """Record what a source, perhaps a robot side, says; return what others can contradict."""
        pair = pair_of(before, action)
        self.history.add(before, action, after, self._watch.number(source, robot_side)
                         if pair else 0, self.steps)
        return None if pair is None or after is None else (pair, after, source)

    def _weigh(self, reported: Reported | None) -> None:
        """Compare the source of a transition with the others."""
        found = None if reported is None else self._watch.compare(*reported)
        if found is not None:
            self._contradicted(found)
        epoch = self.mnm.log.notices, self.mnm.round
        if epoch != self._epoch:    # as ``warm_start`` has it: the world may have changed
            self._epoch = epoch
            if found is None or not found.quarantined:
                self.history.begin_record()

    def _contradicted(self, found: Finding) -> None:
        """Say that a source contradicts another one, and begin again without it if need be."""
        what = found.source, found.reference, *found.pair
        self._decided(Decided(
            SourceQuarantined(*what, self.sources[found.source]) if found.quarantined
            else SourceContradicts(*what), 'source'))
        if found.quarantined and self.home is not None:
            self.history.keep_only(self._watch.quarantined.values())
            self.mnm.rebuild_from(Recollection(self.home, self.recorded))
            self._hear(self.hypothesis)

    def _take_work(self, made: WorkObservation) -> Reported | None:
        state, action, after, source = made.state, made.action, made.after, made.source
        self.work += 1
        self.sources[source] = self.sources.get(source, 0) + 1
        if source in self.quarantined:
            return None
        reported = self._record(state, action, after, source, robot_side=not made.node)
        if after is not None:
            self.mnm.refute(state, action, after)
        if not self.mnm.support.forbids(state, action):    # where nothing is to be learnt
            self.mnm.observe_work(state, action, after)
        return reported

    def _hear(self, held: Hypothesis | None) -> None:
        """Take in what MNM has decided since, with the hypothesis that it held before."""
        for each in self.mnm.log.take():
            if isinstance(each, Decided):
                self._decided(each)
            elif isinstance(each, ChangeNoticed):
                self._estimator.noticed(self.steps, held, self.history.next_states)
            else:
                self.history.outdate(each.state, each.action)
                self._watch.change(each.state, each.action)
                self._outdated_since.append((each.state, each.action))

    def _decided(self, made: Decided) -> None:
        self._last_change = AtStep(self.steps, made.said)
        moves = made.change if isinstance(made.change, MovesChange) else None
        pair = made.change if isinstance(made.change, PairChange) else None
        self._happened(Event(
            self.steps, '', made.kind, said=made.said,
            change=pair and replace(pair, step=begun(pair, self.history.latest())),
            moves=moves and begun_together(moves, self.history.latest())))

    def _happened(self, event: Event) -> None:
        self.events.append(event)
        self._decided_since.append(event)


def _point(resume: Any) -> Mapping[str, Any]:
    if not isinstance(resume, Mapping):
        raise SnapshotError(
            f'resume is {shortened(resume)}, expected what to_state has returned')
    lacking = [name for name in _STATE if name not in resume]
    if lacking:
        raise SnapshotError(
            f'resume lacks {", ".join(lacking)}, expected what to_state has returned')
    return resume
