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

- *Deletion.* A policy's ``Detector`` raises the alarm. Each of the round has its ``share`` of the
  part for its delta. With a policy, those are deleted whose usual way leads through its target, as
  they would play a RESET there from then on. Without a change that is wrong only if the policy is
  deleted wrongly in the first place, by its detector or by a model, so that it takes no delta.
- *Addition* and *Restart*: what rediscoveries certify, and how long they take (``rediscovery``).
- *Transitions.* The detector of a pair (state, action) raises the alarm (``TransitionMonitor``): a
  change is noticed, and the run under way forgets that pair alone. They go on from what the
  building phase has seen.
- *Pooled.* All moves together raise the alarm (``PooledDetector``): the round is over.
- *Reach.* An added state reveals a change if it is within the radius for sure (``reach.py``).
  The steps that it seems to take do not count: rediscoveries certify as early as they can, and
  each of them is a new try.
- *Proofs.* After a change, each policy has to prove that it works before the change counts as
  relearnt. Each proof of the round is wrong with its ``share`` of the part. Whenever something is
  noticed, all proofs are withdrawn.

A rediscovery starts again when a policy is deleted, as its samples may be older than the change;
unless that is explained by a pair on the way that has changed, or by a state that was deleted for
one, and the base can go on (``revise``), with what ``doubts`` reports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Union

from mnm_ros.core.detection.detector import Detector
from mnm_ros.core.detection.policy_detector import DetectorFactory
from mnm_ros.core.mnm.capabilities import activity_of, Learns, Relearns, Reports
from mnm_ros.core.mnm.checking_phase import CheckingPhase, NearlyBest, Round
from mnm_ros.core.mnm.directives import Directives, LeaveClosed, Look, Prefer, Wish
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import over_own_targets, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.events import MovesChange, PairChange
from mnm_ros.core.progress.said import (
    ChangeTooLong,
    MostHasChanged,
    RediscoveryTooLong,
    Said,
    StatesAdded,
    StatesDeleted,
    StatesNearer,
    StatesRecalled,
    WaysReplaced,
)
from mnm_ros.core.watch.background import BackgroundTask
from mnm_ros.core.watch.doubts import Doubts
from mnm_ros.core.watch.policy_checks import WatchSchedule
from mnm_ros.core.watch.policy_monitor import (
    checking_activity,
    steps_until_modelled,
    steps_until_proven,
)
from mnm_ros.core.watch.watch_parts import WatchParts

_GROWTH = 1.5    # power of the known states with which the steps grow that learning takes


class WatchPhase(CheckingPhase):
    """
    The checking phase with detectors and repeated rediscovery.

    :param round_: what the phase is made from.
    :param policies: of the hypothesis.
    :param quanta: of rediscovery between two patrols, each of which takes half as many steps.
    :param look_again: the share of the steps for pairs that are known to be blocked.
    :param new_detector: makes the detector of a policy.
    :param new_background: makes what is done at rest beside checking; None for nothing.
    :ivar round: what the phase is made from.
    :ivar parts: what the phase consists of; only the phase changes them.
    :ivar transitions: the detectors of the pairs.
    :ivar doubts: what a change, or a hint of one, puts in doubt.
    """

    def __init__(self, round_: Round, policies: tuple[Policy, ...], *, quanta: int = 4,
                 look_again: float = 1.0, new_detector: DetectorFactory = Detector,
                 new_background: Callable[[], BackgroundTask] | None = None) -> None:
        self.refuted = False
        self.rediscovering = True
        self.round = round_
        self.policies = over_own_targets(policies)
        self._here: int | None = None
        self._asked: int | None = None
        self._begun_with = len(policies)
        self.parts = parts = WatchParts.of(
            round_, self.policies, look_again, new_detector, new_background)
        self.transitions, self._pairs, self._reach = parts.transitions, parts.pairs, parts.reach
        self._checks, self._rediscovery = parts.checks, parts.rediscovery
        self._relearning, self._blocked = parts.relearning, parts.blocked
        self._background, self._in_background = parts.background, False
        self._sought: Collection[int] = ()    # targets to which the run seeks other ways
        self.doubts = Doubts(round_, parts)
        self._schedule = WatchSchedule(round_, parts, quanta)
        if round_.log.open:
            self.doubts.doubt_all()
        self._rediscover_again()

    @property
    def doubted(self) -> Mapping[int, Said]:
        return self.doubts.doubted(self.policies)

    @property
    def kept(self) -> Collection[int]:
        return self.doubts.kept(self.policies)

    @property
    def can_snapshot(self) -> bool:
        begins = (self._rediscovery.fresh and self._here is None
                  and not self._checks.attempts.under_way)
        return begins or not self.foreign

    @property
    def foreign(self) -> Sequence[object]:
        parts = self.base, *self._checks.monitor.detectors.values()
        return [each for each in parts if not snapshot.covers(each)]

    def outline(self) -> Any:
        return [self._rediscovery.number, self._checks.monitor.foreign_state()]

    def prepare(self, outline: Any) -> None:
        self._rediscovery.number = outline[0] - 1
        self._rediscover_again()

    def begin_again(self, outline: Any) -> None:
        self._checks.monitor.begin_again(outline[1])
        watched = None if self.rediscovering else (self._checks.target,)
        self._rediscovery.forget_last()
        self._rediscover_again()
        if watched:
            self._attempt(*watched)

    def next_action(self) -> int:
        if self.rediscovering:
            self._asked = self.base.next_action()
        elif self._background and self._in_background:
            self._asked = self._background.action(self._here)
        else:
            self._asked = RESET if self._here is None else self._checks.attempts.action(
                self._here)
        return self._asked

    def observe(self, action: int, state: int) -> None:
        """Make a step of the rediscovery or of the attempt under way."""
        here, self._here, self._asked = self._here, state, None
        self._rediscovery.since += 1
        seen = (here, action, state) if here is not None and action != RESET else None
        self._count(seen[:2] if seen else None)
        if self.rediscovering or seen:
            self._rediscovery.fresh = False
        if self.rediscovering:
            self.base.observe(action, state)
        elif seen and isinstance(self.base, Learns):
            self.base.add_transition(*seen)
        change = self.doubts.observe(*seen, self.policies) if seen else None
        if all_moves := self.doubts.all_moves:
            self.round.log.notice()
            self.round.log.outdate()
            self._end_round(self._everything_changed, all_moves)
            return
        if self.rediscovering:
            self._rediscover()
        elif self._in_background:
            self._go_on_in_background(seen[:2] if seen else None)
        else:
            self._check(state)
        self._remember(change)
        self._tell_background()

    def observe_work(self, state: int, action: int, after: int | None) -> None:
        """Learn from it as from a step of an attempt, but that it is part of none."""
        self._rediscovery.fresh = False
        if after is None:
            self._reach.sets.add_censored(state, action)
            if isinstance(self.base, Learns):
                self.base.add_censored(state, action)
            return
        self._count((state, action))
        if isinstance(self.base, Learns):
            self.base.add_transition(state, action, after)
        self._remember(self.doubts.observe(state, action, after, self.policies))
        self._tell_background()

    def _remember(self, change: PairChange | None) -> None:
        """Delete, and take back, what memory says of a change."""
        if change is None or self.refuted:
            return
        if lost := self.round.memory.lost(change, self.policies[1:]):
            self._checks.interrupt()
            self._delete(lost)
        self._recall()

    def _recall(self) -> None:
        """Take back the policies whose pairs lead again where they did."""
        recalled = self.round.memory.recall({policy.target for policy in self.policies})
        if recalled:
            self.adopt((*self.policies, *recalled))
            targets = [policy.target for policy in recalled]
            self.doubts.doubt(targets)
            self.round.log.tell(StatesRecalled(self.round.number, tuple(targets)))

    def _count(self, pair: Pair | None) -> None:
        """Record a step; None is a RESET, or one from where it is not known."""
        self._checks.patrol.executed(pair)
        if self._pairs.step():
            self.doubts.steer()
        self._blocked.executed(self.base, pair, self._pairs.shut)
        self._relearning.steps += self.round.log.open

    def interrupt(self) -> None:
        if self._here is not None and self._asked not in (None, RESET):
            assert self._asked is not None
            self._reach.sets.add_censored(self._here, self._asked)
            if not self.rediscovering:
                self._rediscovery.fresh = False
                if isinstance(self.base, Learns):
                    self.base.add_censored(self._here, self._asked)
        self.base.interrupt()
        self._here = self._asked = None
        self._checks.interrupt()

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """
        Let the policies prove again that they work that may come to the pairs; all else stays.

        That is by what was seen, and by what is declared now of other pairs, too.
        """
        ends, home = self.round.problem.support.ends, self.policies[0].target
        plays = {policy.target: {*policy.may_play(home, lambda *pair: (
            *self.transitions.following(*pair), *(ends(*pair) or ())), len(policy.actions))}
            for policy in self.policies[1:]}
        concerned = [*dict.fromkeys(
            target for pair in pairs for target, played in plays.items() if pair in played)]
        if concerned:
            self.doubts.notice(self.policies, declared=True)
            self.doubts.doubt(concerned)
        super().support_changed(pairs)
        self._tell_background(anew=True)

    def heed(self, directives: Directives, wish: Wish) -> None:
        if isinstance(wish, Prefer):
            self._checks.turns.prefer([
                state for state in directives.preferred[-1:] if state in self.doubted])
        elif isinstance(wish, (LeaveClosed, Look)):
            self._pairs.scheduled = True
            if isinstance(wish, Look) and self._pairs.recheck(wish.pair):
                self._rediscovery.fresh = False    # a restarted run would have another order
            self.doubts.steer()
        else:
            self._rediscovery.fresh = False    # a restarted run would not know the wish
            if self._background:
                self._background.ask(wish.target, wish.within)

    @property
    def can_improve(self) -> bool:
        return self._background is not None

    @property
    def nearly_best(self) -> Mapping[int, NearlyBest]:
        return self._background.proven if self._background else {}

    def request_sample(self, state: int, action: int) -> None:
        self._rediscovery.fresh = False
        self.doubts.sample((state, action))

    def may_plan(self, action: int, state: int) -> bool:
        return self._in_background or super().may_plan(action, state)

    def activity(self) -> PhaseActivity:
        shown = checking_activity(
            activity_of(self.base) if self.rediscovering else None, self._checks.target,
            self._rediscovery.number, self._rediscovery.evidence,
            self._checks.monitor.detectors, self.transitions.evidence)
        return self._background.shown(shown) if (
            self._background and self._in_background) else shown

    @property
    def sweep(self) -> tuple[int, int]:
        return self._rediscovery.sweep

    def steps_to_relearn(self, expected_steps: Mapping[int, float | None]) -> int:
        """Return how many steps it may take to relearn a change, for display."""
        since, likely = self.sweep
        monitor, limit = self._checks.monitor, self.round.problem.limit
        proofs = steps_until_proven(monitor.unproven_targets, len(monitor.detectors),
                                    expected_steps, limit, self.policies[0].horizon)
        steps = (0 if self._relearning.swept else likely - since) + proofs
        declared = self.round.problem.support.declared
        if not (proofs and declared.drives):
            return steps
        pairs = sum(map(bool, (ends for policy in self.policies
                               for ends in declared.successors.get(policy.target, ()))))
        return min(steps, steps_until_modelled(pairs, self._relearning.steps))

    def figures(self) -> Mapping[str, Union[str, int, float]]:
        """Return the evidence against the policy that has most of it, in nats."""
        evidence, threshold, target = self._checks.monitor.most_evidence
        return {'check_window': 0,
                'failures': f'{evidence:.1f} nats against the policy for state {target}',
                'failure_threshold': round(threshold, 1)}

    def adopt(self, policies: tuple[Policy, ...]) -> None:
        """Make ``policies`` the hypothesis; each keeps its detector unless it has changed."""
        before = self.policies
        self.policies = over_own_targets(policies)
        self._checks.change(before, self.policies[1:], doubted=self.round.log.open)
        self._checks.patrol.change(self.policies, self.transitions)
        self._relearning.keep(self._checks.monitor.detectors)

    def _rediscover_again(self) -> None:
        self._sought = self.doubts.sought(self.policies)
        self._rediscovery.begin(self.policies, self._sought)
        self.base = self._rediscovery.base
        self.check_steps = self._rediscovery.limit.steps
        self._relearning.begin_rediscovery()
        self._checks.patrol.change(self.policies, self.transitions)
        self._blocked.begin(self.base, {policy.target for policy in self.policies}, [
            pair for pair in self._pairs.shut if not self._checks.patrol.passing([pair])])
        self.doubts.steer()
        self._begin_quantum()

    def _begin_quantum(self) -> None:
        """Let the rediscovery have the robot; every other time, it follows up what was raised."""
        self.rediscovering, self._in_background = True, False
        self._here = None
        sought = self.doubts.sought(self.policies)
        if {*sought}.difference(self._sought) or self._sought and not sought:
            self._rediscover_again()
            return
        self._rediscovery.begin_turn(self._schedule.quanta, tuple(
            pair for pair in self.transitions.raised if not self._pairs.avoids(pair)))

    def _rediscover(self) -> None:
        """Judge the rediscovery after a step; what it has found out counts after each quantum."""
        over = self._rediscovery.turn_over()
        # What is asked of a run that is interrupted then counts as broken off.
        waits = not over and self._would_not_wait()
        if not over and not waits:
            if self._pairs.shut:    # asked where no interruption follows on what was asked
                self._delete_cut_off()
            return
        too_long = self._rediscovery.too_long
        self._take_other_ways()
        if (waits or self.base.finished) and self.doubts.sought(self.policies):
            self._pairs.insist()    # no other way is left to try: attempts decide
        self._add_new_states()
        self._judge_new_states()
        if self._delete_refuted():
            return
        if self.base.finished:
            self._rediscovery.finished()
            # It has sampled all known states without finding a new one, and nothing was noticed.
            self._relearning.end_rediscovery()
            self.doubts.settle()
            self._rediscover_again()
        elif too_long:
            if self._rediscovery.limit.cut_off(self._rediscovery.number):
                self.round.log.notice()
                self.round.log.outdate()
                self._end_round(RediscoveryTooLong(
                    self.round.number, self.check_steps, self._rediscovery.limit.in_a_row,
                    self.round.number + 1))
                return
            self._rediscover_again()
        if why := self._dearer_than_a_round:
            self._end_round(*why)
            return
        self._begin_patrol()

    @property
    def _dearer_than_a_round(self) -> tuple[Said, MovesChange | None] | None:
        """
        Return why the next round probably costs less than this one; None if it does not.

        With the change of all moves, if that is why.
        """
        if not self.round.log.open:
            return None
        number = self.round.number
        if everywhere := self.doubts.shared.of_all:
            return self._everything_changed, everywhere
        if self._relearning.steps > self.round.patience * max(
                1.0, len(self.policies) / self._begun_with) ** _GROWTH:
            return ChangeTooLong(number, self._relearning.steps, number + 1), None
        return None

    @property
    def _everything_changed(self) -> Said:
        return MostHasChanged(self.round.number, self.round.number + 1)

    def _end_round(self, why: Said, moves: MovesChange | None = None) -> None:
        self.refuted = True
        self.round.log.tell(why, 'change', moves)

    def _would_not_wait(self) -> bool:
        """Return whether only stopped pairs are left for the run; attempts may have others."""
        stopping = self._pairs.stopping
        return bool(stopping) and (self._here, self.base.next_action()) in stopping

    def _add_new_states(self) -> None:
        """
        Add what the rediscovery has certified.

        While a change is open, one that seems to be within the radius may reveal another, unless
        it was deleted for this one: what was proven before counts no more.
        """
        known = {policy.target for policy in self.policies}
        found = [policy for policy in self.base.policies if policy.target not in known]
        if not found:
            return
        self.adopt((*self.policies, *found))
        self._rediscovery.limit.set(self.base.step_bound(len(self.policies)))
        self.check_steps = self._rediscovery.limit.steps
        self._relearning.notice()
        self.doubts.look_around()
        targets = [policy.target for policy in found]
        self._reach.enter(targets)
        estimates = self.base.estimates if isinstance(self.base, Reports) else {}
        if self.round.log.open and any(
                estimates.get(target, 0.0) <= self.round.problem.radius
                for target in targets if target not in self._relearning.deleted):
            self.doubts.notice_all(self.policies)
        self.round.log.tell(StatesAdded(self.round.number, tuple(targets)))
        self.round.memory.reached(targets)
        self._recall()

    def _judge_new_states(self) -> None:
        """Notice a change where a new state is within the radius; others may come and go."""
        within = [] if self.round.log.open else self._reach.found(self.policies)
        if within:
            self.doubts.notice_all(self.policies)
            self.doubts.look_around()
            self.round.log.tell(StatesNearer(self.round.number, tuple(within)), 'change')

    def _delete_refuted(self) -> bool:
        """Delete what models say is too slow, and take the better ways that they know."""
        if not (self.round.log.open and self._reach.take_turn()):
            return False
        refuted = self.doubts.too_slow(self.policies)
        found = self.doubts.better(self.policies, refuted)
        if found is not None:
            self._relearning.concerned.pop(found.target, None)
            self._take({found.target: found})
        if refuted:
            self._delete(refuted)
        else:
            self.doubts.prove(self.policies)
        return bool(refuted)

    def _delete_cut_off(self) -> None:
        """Delete the policies through what is closed, once the run has nothing else to do."""
        if (self._here, self.base.next_action()) not in self._pairs.shut:
            return
        cut_off = self._checks.patrol.passing(self._pairs.closed)
        if cut_off:
            self._relearning.concern(cut_off)    # by what was noticed of the pair
            self._delete([policy for policy in self.policies if policy.target in cut_off])

    def _take_other_ways(self) -> None:
        """Take the ways that were found around what is suspected."""
        found = {policy.target: policy for policy in self.base.policies
                 if policy.target in self._sought}
        ways = {policy.target: found[policy.target] for policy in self.policies
                if policy.target in found and not policy.same_as(found[policy.target])}
        self._take(ways)
        if ways and not self.doubts.sought(self.policies):
            self.round.log.revise()

    def _take(self, ways: Mapping[int, Policy]) -> None:
        """Take other ways to states, by target."""
        if ways:
            self.adopt(tuple(ways.get(policy.target, policy) for policy in self.policies))
            self.round.log.tell(WaysReplaced(self.round.number, tuple(ways)))

    def _begin_patrol(self) -> None:
        """Let the policies whose turn it is make attempts."""
        if not self._checks.patrol.complete:
            self._checks.patrol.change(self.policies, self.transitions)
        self._attempt(None if self._blocked.opening else self._schedule.begin())

    def _attempt(self, target: int | None) -> None:
        """Let the policy for a target make an attempt, or others go on if None."""
        if target is None or self._checks.patrol.passes(target, self._pairs.resting):
            self._checks.turns.prefer(() if target is None else (target,))
            self._begin_background()
            return
        self._here = None
        self.rediscovering = False
        self._checks.begin(target, self.policies)

    def _begin_background(self) -> None:
        """Make twice as many steps in the background as for all else, if there is any need."""
        turn = self._schedule.quanta * self.base.quantum    # a patrol takes half as much
        if not (self._background and self._at_rest
                and self._background.begin(self, 2 * (turn + turn // 2))):
            self._begin_quantum()
            return
        self._here = None
        self.rediscovering, self._rediscovery.fresh, self._in_background = False, False, True

    @property
    def _at_rest(self) -> bool:
        """Whether nothing is suspected."""
        return not (self.round.log.open or self.transitions.suspected or self._blocked.opening)

    def _go_on_in_background(self, pair: Pair | None) -> None:
        """Judge a step that was made in the background."""
        assert self._background is not None
        goes_on = self._background.executed(self, pair)
        ahead = self._here, self._background.action(self._here)
        if not goes_on or not self._at_rest or ahead in self._pairs.stopping:
            self._begin_quantum()

    def _tell_background(self, anew: bool = False) -> None:
        if self._background:
            self._background.heed(self, anew)

    def _check(self, state: int) -> None:
        """Make a step of the attempt, and judge the policies at its end."""
        self._checks.patrol.left -= 1
        ended = self._checks.observe(state, proving=self.round.log.open)
        if ended is None:
            pair = state, self._checks.attempts.action(state)
            if pair in self._pairs.stopping or pair in self._pairs.shut:
                self._checks.interrupt()
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
        """
        Delete policies, and those that lead through their targets.

        The rediscovery goes on only if it is known what has changed.
        """
        explained = all(policy.target in self._relearning.concerned for policy in failing)
        targets = self._checks.patrol.behind([policy.target for policy in failing])
        if not explained:
            self._reach.start_again()
        left = tuple(policy for policy in self.policies if policy.target not in targets)
        # Where another one may come to their targets by chance, it plays a RESET from now on.
        if explained:
            self.round.memory.keep(
                [policy for policy in self.policies if policy.target in targets],
                self._relearning.changed)
        strayed = [target for state in targets for target in self.transitions.passing(state, left)]
        self.adopt(left)
        self.transitions.leave(targets)
        self._pairs.leave(targets)
        for target in targets:
            self.round.log.outdate(target)
        if explained:    # what the change does not concern works as before
            self._relearning.notice()
            self.doubts.doubt(strayed)
        else:
            self.doubts.notice_all(self.policies)
        self._relearning.deleted.update(dict.fromkeys(targets))
        self.round.log.tell(StatesDeleted(self.round.number, tuple(targets)), 'change')
        if (explained and not self.base.finished and isinstance(self.base, Relearns)
                and self.base.revise(self.policies)):
            self._begin_quantum()
        else:
            self._rediscover_again()
