# SPDX-License-Identifier: Apache-2.0

"""The building phase of MNM: streams of the base algorithm take turns until one finishes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Union

from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.inputs import LookInput, Preference, Wish
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import (
    activity_of,
    Foresees,
    Learns,
    provisional_of,
    Relearns,
    Samples,
    Steered,
    TakesTurns,
)
from mnm_ros.core.mnm.certificate_watch import CertificateWatch
from mnm_ros.core.mnm.change_log import ChangeLog
from mnm_ros.core.mnm.memory import HeldHypothesis
from mnm_ros.core.mnm.phase import Directives, MnmPhase, MnmState
from mnm_ros.core.mnm.schedule import Schedule
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import pair_of
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.events import PairChange
from mnm_ros.core.progress.prediction import Outlook
from mnm_ros.core.progress.said import InStream, Said

if TYPE_CHECKING:
    from mnm_ros.core.mnm.mnm import Mnm

_MOST_QUANTA = 4
"""So long a quantum may last at most: only a base that does not keep its word is broken off."""


class BuildingPhase(MnmPhase):
    """
    Runs quanta of streams.

    A quantum is one episode for a stream in policy evaluation, else ``quantum`` steps; it ends
    early where a stream leaves state discovery. It lasts until the stream is between two
    attempts, so that taking turns never breaks anything off.

    When a pair raises the alarm, all streams forget it. If it has changed since they began, what
    they know of other pairs may be older than the change, too: a stream that begins at the alarm,
    with the delta of its number, replaces them, and the schedule begins again. It is there for
    changes that no pair shows. The oldest stream that could forget the pair goes on learning
    without the robot, as what it has certified by other pairs still holds.

    :param new_stream: makes the run of the base algorithm with a number (1, 2, ...).
    :param schedule: says whose quantum is next; it has not begun.
    :param shared: whether a stream also learns from the steps that other streams take after its
        start. If nothing has changed since, they come from the same CMP; if something has,
        the stream is as worthless as it would be on its own.
    :param transitions: sees the steps of all streams; None if it is not asked for.
    :param pairs: that fail, are suspected or closed.
    :param log: receives what changes, and whether closed pairs lead on again.
    :param round_number: of the round, for the log.
    :param held: the hypothesis that is published meanwhile.
    :ivar base: the stream that has the robot.
    :ivar steps_taken: steps of all streams.
    :ivar withdrawn: targets of certified policies that a pair took away by its alarm.

    Source: Gajane et al. 2019, section 4.
    """

    kind = MnmState.BUILDING
    base: BaseAlgorithm

    def __init__(self, new_stream: Callable[[int], BaseAlgorithm],
                 schedule: Schedule, shared: bool,
                 transitions: TransitionMonitor | None, pairs: PairWatch, log: ChangeLog,
                 round_number: int, held: HeldHypothesis) -> None:
        self.schedule = schedule
        self._new_stream = new_stream
        self._shared = shared
        self._transitions = transitions
        self._pairs = pairs
        self._log, self._round = log, round_number
        self._held = held
        self.steps_taken = 0
        self.withdrawn: dict[int, None] = {}
        self._worked = False    # whether they have learnt from what others had executed
        self._begun = 0    # streams so far
        self._learning: dict[int, BaseAlgorithm] = {}    # by number, in the order of their start
        self._started: dict[int, int] = {}    # by number of those that take turns: steps before
        self._closed: tuple[Pair, ...] = ()    # that are not tried; none was ever if empty
        self._executed: dict[Pair, int] = {}    # since the first of these began
        self._watches: dict[int, CertificateWatch] = {}    # by number of those that take turns
        self._here: int | None = None
        self._asked: int | None = None
        self._activate()

    @property
    def known_policies(self) -> Iterator[Policy]:
        """Yield the policies of the streams that take turns."""
        for stream in self.streams:
            yield from stream.policies

    @property
    def streams(self) -> list[BaseAlgorithm]:
        """Return the streams that take turns, in the order of their start."""
        return [self._learning[number] for number in self._started]

    @property
    def learning(self) -> tuple[BaseAlgorithm, ...]:
        """Return all streams that learn, the latest first; one at most has no turn."""
        return tuple(reversed(self._learning.values()))

    @property
    def numbered(self) -> dict[int, BaseAlgorithm]:
        """Return the same by number, which no two streams of the phase share."""
        return dict(reversed(self._learning.items()))

    def keep_transitions(self, stream: BaseAlgorithm) -> TransitionMonitor | None:
        """Keep the detectors of known states alone, and none from before ``stream`` began."""
        if self._transitions is not None:
            self._transitions.keep([policy.target for policy in stream.policies]
                                   if self.steps_of(stream) == self.steps_taken else [])
        return self._transitions

    def steps_of(self, stream: BaseAlgorithm) -> int:
        """Return the steps of all streams since the start of ``stream``."""
        return self.steps_taken - next(
            started for number, started in self._started.items()
            if self._learning[number] is stream)

    @property
    def doubted(self) -> Mapping[int, Said]:
        return self._held.doubted

    @property
    def kept(self) -> Collection[int]:
        return self._held.kept

    @property
    def can_snapshot(self) -> bool:
        """Whether it can be saved: all streams are of the core, or none has learnt anything."""
        return self.steps_taken == 0 and not self._worked or not self.foreign

    @property
    def foreign(self) -> Sequence[object]:
        """Return the phase itself if no snapshot can be taken of one of the streams."""
        return () if all(map(snapshot.covers, self.learning)) else (self,)

    @property
    def outlooks(self) -> list[tuple[int, Outlook]]:
        """Return for each stream the steps before its start, and what is left to it."""
        return [(started, stream.outlook)
                for started, stream in zip(self._started.values(), self.streams)
                if isinstance(stream, Foresees)]

    def activity(self) -> PhaseActivity:
        """Return what the active stream is doing, for display."""
        doing = activity_of(self.base)
        if len(self.streams) == 1:
            return doing
        number = self.streams.index(self.base) + 1
        return replace(doing, said=InStream(doing.said, number, len(self.streams)))

    def figures(self) -> Mapping[str, Union[str, int, float]]:
        return {'quantum': self.schedule.quanta, 'streams': len(self.streams)}

    def next_action(self) -> int:
        """Return the action of the active stream; the same until ``after`` is called."""
        self._asked = self.base.next_action()
        return self._asked

    def after(self, action: int, state: int, mnm: Mnm) -> MnmPhase:
        """Make a step; once a stream has finished, its policies are checked."""
        self.observe(action, state)
        stream = self.base
        if not stream.finished:
            return self
        return mnm.check(stream.policies, self.steps_of(stream), self.keep_transitions(stream))

    def observe(self, action: int, state: int) -> None:
        """Pass a step on to the streams and end the quantum where it is due."""
        pair, self._here, self._asked = pair_of(self._here, action), state, None
        self.base.observe(action, state)
        self._steps += 1
        self.steps_taken += 1
        change = None
        if pair is not None:
            for stream in self._learners(self.base):
                stream.add_transition(*pair, state)
            change = self._watch(pair, state)
        self._watch_certificates(pair, state)
        # The stream that finished is the result: no other stream may have the robot any more.
        if not self.base.finished and self._quantum_over():
            self._activate()
        if pair is not None:
            self._take(pair, state, change)

    def observe_work(self, state: int, action: int, after: int | None) -> None:
        """
        Let all streams learn from a step that is none of theirs, if they learn from each other.

        :param after: where it has led; None if it was broken off.
        """
        self._worked = True
        for stream in self._learners():
            if after is None:
                stream.add_censored(state, action)
            else:
                stream.add_transition(state, action, after)
        if after is not None:
            pair = state, action
            self._take(pair, after, self._watch(pair, after))

    def _learners(self, but: BaseAlgorithm | None = None) -> list[Learns]:
        """Return the streams that learn from each other, but one."""
        return [stream for stream in self.learning
                if stream is not but and isinstance(stream, Learns)] if self._shared else []

    def _watch(self, pair: Pair, next_state: int) -> PairChange | None:
        """Record where a pair has led; at its alarm, let the streams forget it."""
        if self._transitions is None:
            return None
        executed = self._executed[pair] = self._executed.get(pair, 0) + 1
        change = self._transitions.record(*pair, next_state)
        if change is not None:
            self.withdrawn.update(dict.fromkeys(
                found.policy.target for stream in self.learning
                for found in provisional_of(stream)[0]
                if found.certified and found.policy.plays(frozenset([pair]))))
            forgotten = [stream for stream in self.learning
                         if isinstance(stream, Relearns) and stream.forget(*pair)]
            self._executed[pair] = 0
            if sum(change.after.values()) < executed or self.base not in forgotten:
                self._replace(forgotten[-1:])
        return change

    def _watch_certificates(self, pair: Pair | None, next_state: int) -> None:
        """Have what certified policies usually do executed now and then, and what has failed."""
        if self._certificates is None or self.base.finished or not isinstance(
                self.base, Samples):
            return
        due = self._certificates.executed(pair, next_state)
        if due is not None:
            self.base.request_sample(*due)

    def _replace(self, kept: Sequence[BaseAlgorithm]) -> None:
        """Let a stream that begins now take the place of all others, but go on with ``kept``."""
        self._learning = {
            number: stream for number, stream in self._learning.items() if stream in kept}
        self._started, self._watches = {}, {}
        self._executed.clear()
        self.schedule.restart()
        self._activate()

    def support_changed(self, pairs: Collection[Pair]) -> None:
        for stream in self.learning:
            if isinstance(stream, Relearns):
                stream.support_changed(pairs)

    def heed(self, directives: Directives, wish: Wish) -> None:
        """Do what is wished: certify the ways to preferred states first, or re-check pairs."""
        if isinstance(wish, Preference):
            for stream in self.learning:
                if isinstance(stream, Steered):
                    stream.prefer(directives.preferred)
        elif isinstance(wish, LookInput):
            if not wish.only_announces:
                self._pairs.recheck(wish.pair)
            self._leave_closed()

    def keep_closed(self) -> None:
        """Let the streams not try what was closed in the last round; all else is normal again."""
        self._pairs.keep_closed()
        self._leave_closed()

    def _take(self, pair: Pair, next_state: int, change: PairChange | None) -> None:
        """Record the status of a pair that was executed, and what it changes."""
        if change is not None:
            self._pairs.change(change)
            self._leave_closed()
        news = self._pairs.executed(pair, next_state)
        if news:
            self._log.tell_recheck(self._round, pair, news)
        if news or pair in self._pairs.due:
            self._leave_closed()
        if change is not None:
            self._log.notice()
            self._log.tell_changed(self._round, change)
            self._held.follow(change)

    def auditable(self) -> Mapping[Pair, float]:
        # Before its first step, all that there is to say of the phase is that it begins.
        return super().auditable() if self.steps_taken else {}

    def _leave_closed(self) -> None:
        """Let all streams execute closed pairs when nothing else is left, unless a try is due."""
        if not self._pairs.scheduled:
            return
        shut = tuple(self._pairs.shut)
        if shut or self._closed:
            self._closed = shut
            for stream in self.learning:
                if isinstance(stream, Steered):
                    stream.leave_closed(shut)
        for pair in self._pairs.due:
            self.request_sample(*pair)

    def interrupt(self) -> None:
        """
        Let the active stream start from home, as the robot may be anywhere.

        The other streams are between two attempts. But a step that was broken off is none that
        they may leave out: what they learn from would be a choice of the steps that were made.
        """
        if pair := pair_of(self._here, self._asked):
            for stream in self._learners(self.base):
                stream.add_censored(*pair)
        self._here = self._asked = None
        self.base.interrupt()

    def _quantum_over(self) -> bool:
        stream = self.base
        turns = stream if isinstance(stream, TakesTurns) else None
        if turns is not None and not turns.between_attempts:
            return self._steps >= _MOST_QUANTA * stream.quantum
        if self._evaluating:
            # Where planning has ended the evaluation, there is no end of an episode to wait for.
            return bool(turns and turns.episode_over) or self._steps > 2 * stream.quantum
        return self._steps >= stream.quantum or stream.evaluating

    def _activate(self) -> None:
        """Begin the next quantum; a stream that was interrupted begins with a RESET."""
        chosen = self.schedule.next()
        if chosen == len(self._started):
            self._begun += 1
            new = self._learning[self._begun] = self._new_stream(self._begun)
            self._started[self._begun] = self.steps_taken
            if self._transitions is not None:
                self._watches[self._begun] = CertificateWatch(new, self._transitions)
            if self._closed and isinstance(new, Steered):
                new.leave_closed(self._closed)
        number = list(self._started)[chosen]
        stream = self._learning[number]
        if self.schedule.quanta == 1 or stream is not self.base:
            stream.interrupt()
        self.base = stream
        self._certificates = self._watches.get(number)
        self._evaluating = stream.evaluating
        self._steps = 0
