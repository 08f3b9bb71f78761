# SPDX-License-Identifier: Apache-2.0

"""
A checking phase that is valid at every moment: policies and transitions are monitored.

Rediscovery and attempts take turns, some quanta of the one and a patrol of the other. Which
attempts are made, and for which policies one counts beside that to its own target, is decided by
the past before each of them (``patrol``). Conditional on the past, an attempt is distributed as
one with any policy for which it counts, until the two part, where it is broken off for that one.
So each capital is a supermartingale whatever is chosen. Over any length of time without a change,
the chance of any wrong decision is at most the round's delta ``delta_r``. The parts of it, in
``SHARES``, are for

- *Deletion* of policies, and *Reach*, which says that an added state reveals a change
  (``revisions``).
- *Addition* and *Restart*: what rediscoveries certify, and how long they take (``rediscovery``).
- *Transitions.* The detector of a pair (state, action) raises the alarm (``TransitionMonitor``): a
  change is noticed, and the run under way forgets that pair alone. They go on from what the
  building phase has seen.
- *Pooled.* All moves together raise the alarm (``PooledDetector``): the round is over.
- *Proofs.* After a change, each policy has to prove that it works before the change counts as
  relearnt. Each proof of the round is wrong with its ``share`` of the part. When a change is
  noticed that is no part of the open one, all proofs are withdrawn.

``watch_parts`` has the hypothesis, and ``doubts`` what may be wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Union

from mnm_ros.core.detection.detector import Detector, DetectorFactory
from mnm_ros.core.inputs import LookInput, Preference, Wish
from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import activity_of, Learns
from mnm_ros.core.mnm.checking_phase import CheckingPhase, NearlyBest, Round
from mnm_ros.core.mnm.phase import Directives
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import over_own_targets, Policy
from mnm_ros.core.model.problem import pair_of, RESET
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.events import PairChange
from mnm_ros.core.progress.said import Rediscovering, Said
from mnm_ros.core.watch.background import BackgroundTask
from mnm_ros.core.watch.doubts import Doubts
from mnm_ros.core.watch.policy_checks import WatchSchedule
from mnm_ros.core.watch.revisions import Revisions
from mnm_ros.core.watch.watch_parts import WatchParts


class WatchPhase(CheckingPhase):
    """
    The checking phase with detectors and repeated rediscovery.

    :param round_: what the phase is made from.
    :param policies: of the hypothesis.
    :param quanta: of rediscovery between two patrols, each of which takes half as many steps.
    :param look_again: the share of the steps for pairs that are known to be blocked.
    :param new_detector: makes the detector of a policy.
    :param new_background: makes what is done at rest beside checking.
    :ivar parts: the hypothesis, and what it is checked with; only the phase changes them.
    :ivar doubts: what a change, or a hint of one, puts in doubt.
    :ivar revisions: what revises the hypothesis.
    """

    can_improve = True

    def __init__(self, round_: Round, policies: tuple[Policy, ...], *, quanta: int = 4,
                 look_again: float = 1.0, new_detector: DetectorFactory = Detector,
                 new_background: Callable[[Revisions], BackgroundTask] = BackgroundTask) -> None:
        self.rediscovering = True
        self._round = round_
        self._here: int | None = None
        self._asked: int | None = None
        self.parts = parts = WatchParts.of(
            round_, over_own_targets(policies), look_again, new_detector)
        self.doubts = Doubts(parts)
        self.revisions = Revisions(parts, self.doubts)
        self._background, self._in_background = new_background(self.revisions), False
        self._schedule = WatchSchedule(parts, quanta)
        if round_.log.open:
            self.doubts.doubt_all()
        self._rediscover_again()

    @property
    def policies(self) -> tuple[Policy, ...]:  # type: ignore[override]
        return self.parts.policies

    @property
    def refuted(self) -> bool:  # type: ignore[override]
        return self.revisions.refuted

    @property
    def base(self) -> BaseAlgorithm:  # type: ignore[override]
        return self.parts.rediscovery.base

    @property
    def check_steps(self) -> int:  # type: ignore[override]
        return self.parts.rediscovery.limit.steps

    @property
    def doubted(self) -> Mapping[int, Said]:
        return self.doubts.doubted

    @property
    def kept(self) -> Collection[int]:
        return self.doubts.kept

    @property
    def can_snapshot(self) -> bool:
        begins = (self.parts.rediscovery.fresh and self._here is None
                  and not self.parts.checks.attempts.under_way)
        return begins or not self.foreign

    @property
    def foreign(self) -> Sequence[object]:
        parts = self.base, *self.parts.checks.monitor.detectors.values()
        return [each for each in parts if not snapshot.covers(each)]

    def foreign_detectors(self) -> Any:
        return self.parts.checks.monitor.foreign_detectors()

    def restore_foreign(self, detectors: Any) -> None:
        self.parts.checks.monitor.restore_detectors(detectors)
        target = None if self.rediscovering else self.parts.checks.target
        self.parts.rediscovery.forget_last()
        self._rediscover_again()
        if target is not None:
            self._attempt(target)

    def next_action(self) -> int:
        if self.rediscovering:
            self._asked = self.parts.rediscovery.base.next_action()
        elif self._in_background:
            self._asked = self._background.action(self._here)
        else:
            self._asked = RESET if self._here is None else self.parts.checks.attempts.action(
                self._here)
        return self._asked

    def observe(self, action: int, state: int) -> None:
        """Make a step of the rediscovery or of the attempt under way."""
        pair, self._here, self._asked = pair_of(self._here, action), state, None
        rediscovery = self.parts.rediscovery
        rediscovery.since += 1
        self.doubts.count(pair)
        rediscovery.fresh &= not self.rediscovering and pair is None
        if self.rediscovering:
            rediscovery.base.observe(action, state)
        elif pair and isinstance(rediscovery.base, Learns):
            rediscovery.base.add_transition(*pair, state)
        change = self.doubts.observe(*pair, state) if pair else None
        again = pair is not None and self._round.memory.executed(pair, state)
        if moves := self.doubts.all_moves:
            self.revisions.end_as_all_changed(moves)
            return
        if self.rediscovering:
            self._rediscover()
        elif self._in_background:
            self._go_on_in_background(pair)
        else:
            self._check(state)
        if change or again:
            self._remember(change)
        self._background.heed()

    def observe_work(self, state: int, action: int, after: int | None) -> None:
        """Learn from it as from a step of an attempt, but that it is part of none."""
        self.parts.rediscovery.fresh = False
        if after is None:
            self.parts.reach.sets.add_censored(state, action)
            if isinstance(self.base, Learns):
                self.base.add_censored(state, action)
            return
        self.doubts.count((state, action))
        if isinstance(self.base, Learns):
            self.base.add_transition(state, action, after)
        change = self.doubts.observe(state, action, after)
        if self._round.memory.executed((state, action), after) or change:
            self._remember(change)
        self._background.heed()

    def _remember(self, change: PairChange | None) -> None:
        """Delete what a change has taken away; take back what works again."""
        if self.refuted:
            return
        if change and (lost := self.revisions.divert(change)):
            self.parts.checks.interrupt()
            self._delete(lost)
        self.revisions.recall()

    def interrupt(self) -> None:
        if pair := pair_of(self._here, self._asked):
            if self.rediscovering:    # the run learns from that itself
                self.parts.reach.sets.add_censored(*pair)
            else:
                self.observe_work(*pair, None)
        self.base.interrupt()
        self._here = self._asked = None
        self.parts.checks.interrupt()

    def support_changed(self, pairs: Collection[Pair]) -> None:
        self.doubts.support_changed(pairs)
        super().support_changed(pairs)
        self._background.heed(redeclared=True)

    def heed(self, directives: Directives, wish: Wish) -> None:
        if isinstance(wish, Preference):
            self.parts.checks.turns.prefer({wish.state}.intersection(self.doubted))
        elif isinstance(wish, LookInput):
            if not wish.only_announces and self.parts.pairs.recheck(wish.pair):
                self.parts.rediscovery.fresh = False    # a restarted run would have another order
            self.doubts.steer()
        else:
            self.parts.rediscovery.fresh = False    # a restarted run would not know the wish
            self._background.ask(wish.state, wish.within)

    @property
    def nearly_best(self) -> Mapping[int, NearlyBest]:
        return self._background.proven

    def request_sample(self, state: int, action: int) -> None:
        self.parts.rediscovery.fresh = False
        self.doubts.hurry((state, action))

    def activity(self) -> PhaseActivity:
        rediscovery, monitor = self.parts.rediscovery, self.parts.checks.monitor
        tests = *monitor.tests, *self.parts.transitions.evidence, rediscovery.evidence
        if self.rediscovering:
            run = activity_of(self.base)
            return replace(run, tests=(*run.tests, *tests),
                           said=Rediscovering(rediscovery.number, run.said))
        target = self.parts.checks.target
        shown = PhaseActivity('watching', monitor.said(target), target, None, tests)
        return self._background.shown(shown) if self._in_background else shown

    @property
    def sweep(self) -> tuple[int, int]:
        return self.parts.rediscovery.sweep

    def figures(self) -> Mapping[str, Union[str, int, float]]:
        return self.parts.checks.monitor.figures()

    def _rediscover_again(self) -> None:
        self.parts.rediscovery.begin(self.policies, self.doubts.sought)
        self.parts.relearning.begin_rediscovery()
        self.parts.checks.patrol.change(self.policies)
        self.parts.blocked.begin(
            self.base, {policy.target for policy in self.policies},
            [pair for pair in self.parts.pairs.shut
             if not self.parts.checks.patrol.passing([pair])])
        self.doubts.steer()
        self._begin_quantum()

    def _begin_quantum(self) -> None:
        """Let the rediscovery have the robot; every other time, it follows up what was raised."""
        self.rediscovering, self._in_background, self._here = True, False, None
        now, before = self.doubts.sought, self.parts.rediscovery.sought
        if {*now}.difference(before) or before and not now:
            self._rediscover_again()
            return
        self.parts.rediscovery.begin_turn(self._schedule.quanta, tuple(
            pair for pair in self.parts.transitions.raised if not self.parts.pairs.avoids(pair)))

    def _rediscover(self) -> None:
        """Judge the rediscovery after a step; what it has found out counts after each quantum."""
        # Only later is the run asked for its next action: not played, it counts as broken off.
        if self.parts.rediscovery.turn_over():
            self._end_turn(None)
        elif self.parts.pairs.rows:    # seldom
            if waits_for := self._waits_for():
                self._end_turn(waits_for)
            else:
                self._delete_cut_off()

    def _end_turn(self, waits_for: Pair | None) -> None:
        """
        Take from the rediscovery what it has found out, and let attempts follow.

        :param waits_for: the stopped pair for which it has to wait; None if its time is over.
        """
        self.revisions.take_other_ways()
        if self.parts.rediscovery.sought and waits_for in self.parts.pairs.detoured:
            self.parts.pairs.insist()
        self.revisions.add_found()
        self.revisions.judge_added()
        if self._delete_refuted() or self.base.finished and self._delete_cut_off():
            return
        if self.base.finished:
            if lost := self.revisions.sought_in_vain():
                self._delete(lost)
                return
            self.parts.rediscovery.finished()
            # It has sampled all known states without finding a new one, and nothing was noticed.
            self.parts.relearning.end_rediscovery()
            self.doubts.settle()
            self._rediscover_again()
        elif self.parts.rediscovery.too_long:
            if self.revisions.end_if_cut_off():
                return
            self._rediscover_again()
        if not self.revisions.end_if_dear():
            if not self.parts.checks.patrol.complete:
                self.parts.checks.patrol.change(self.policies)
            self._attempt(None if self.parts.blocked.opening else self._schedule.begin())

    def _waits_for(self) -> Pair | None:
        """Return the stopped pair if only such are left for the run; attempts may have others."""
        stopping = self.parts.pairs.stopping
        ahead = pair_of(self._here, self.base.next_action()) if stopping else None
        return ahead if ahead in stopping else None

    def _delete_refuted(self) -> bool:
        """Delete what models say is too slow; return whether there is any."""
        if refuted := self.revisions.examine():
            self._delete(refuted)
        return bool(refuted)

    def _delete_cut_off(self) -> bool:
        """Delete policies through what is closed if the run has nothing else to do; return so."""
        shut = self.parts.pairs.shut
        idle = shut and (self.base.finished or (self._here, self.base.next_action()) in shut)
        cut_off = self.revisions.cut_off() if idle else ()
        if cut_off:
            self._delete(cut_off)
        return bool(cut_off)

    def _attempt(self, target: int | None) -> None:
        """Let the policy for a target make an attempt, or others go on if None."""
        if target is None or self.parts.checks.patrol.passes(target, self.parts.pairs.resting):
            self.parts.checks.turns.prefer(() if target is None else (target,))
            self._begin_background()
            return
        self._here, self.rediscovering = None, False
        self.parts.checks.begin(target, self.policies)

    def _begin_background(self) -> None:
        """Make twice as many steps in the background as for all else, if there is any need."""
        turn = self._schedule.quanta * self.base.quantum    # a patrol takes half as much
        if self._at_rest and self._background.begin(2 * (turn + turn // 2)):
            self.rediscovering, self._in_background, self._here = False, True, None
            self.parts.rediscovery.fresh = False
        else:
            self._begin_quantum()

    @property
    def _at_rest(self) -> bool:
        """Whether nothing is suspected."""
        return not (self._round.log.open or self.parts.transitions.suspected
                    or self.parts.blocked.opening)

    def _go_on_in_background(self, pair: Pair | None) -> None:
        """Judge a step that was made in the background."""
        goes_on = self._background.executed(pair)
        ahead = self._here, self._background.action(self._here)
        if not goes_on or not self._at_rest or ahead in self.parts.pairs.stopping:
            self._begin_quantum()

    def _check(self, state: int) -> None:
        """Make a step of the attempt, and judge the policies at its end."""
        self.parts.checks.patrol.left -= 1
        ended = self.parts.checks.observe(state, proving=self._round.log.open)
        if ended is None:
            if self.parts.pairs.bars((state, self.parts.checks.attempts.action(state))):
                self.parts.checks.interrupt()
                self._attempt(self._schedule.go_on())
            return
        episode, failing = ended
        if failing:
            self._delete(failing)
        elif self._delete_refuted():
            return    # the run has learnt from this attempt, too
        elif episode.failed:
            # Only more attempts distinguish bad luck from a change, the sooner the better.
            self._attempt(episode.policy.target)
        else:
            self.doubts.settle()
            self._attempt(self._schedule.go_on())

    def _delete(self, failing: Sequence[Policy]) -> None:
        """Delete policies; the rediscovery goes on only if it is known what has changed."""
        if self.revisions.delete(failing):
            self._begin_quantum()
        else:
            self._rediscover_again()
