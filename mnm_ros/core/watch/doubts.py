# SPDX-License-Identifier: Apache-2.0

"""
The policies that a change, or a hint of one, puts in doubt, and what models say of them.

What changes one pair may change others, so that the run which goes on executes each pair of the
known states twice before anything far away: if another one has changed, its detector shows it, and
it is forgotten, too, long before the next run would come to it. Which pairs are executed next has
no influence on the promise.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
import math

from mnm_ros.core.detection.pair_watch import News, Status
from mnm_ros.core.mnm.capabilities import Certifies, Relearns, Steered
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.events import MovesChange, PairChange
from mnm_ros.core.progress.said import (
    ActionChanged,
    Hinted,
    HintRaised,
    HintWithdrawn,
    NotProvenSince,
    Said,
)
from mnm_ros.core.watch.shared_change import SharedChange
from mnm_ros.core.watch.watch_parts import WatchParts

_AT_ONCE = 2    # policies that are checked for a proof by a model


class Doubts:
    """
    Records changes and hints, and finds the policies that they concern.

    Two models are used: that of the run is as old as the run, and that of ``Reach`` as the
    change.

    :param parts: of the phase; the log of its round gets hints and changes.
    :ivar all_moves: the change of all moves once their detector raises the alarm, else None.
    :ivar shared: whether many moves share the change that is open.
    """

    def __init__(self, parts: WatchParts) -> None:
        self._parts = parts
        self._round = parts.round
        self.all_moves: MovesChange | None = None
        self._left = False    # whether a run was to leave pairs alone
        self.shared = SharedChange(parts.transitions, parts.reach, parts.relearning)

    @property
    def doubted(self) -> dict[int, Said]:
        """Return why a policy is doubted, by target."""
        parts = self._parts
        hinted = {target: Hinted(*pair, parts.pairs.failures(pair))
                  for pair in parts.pairs.suspected
                  for target in self._concerned(pair)}
        unproven = parts.checks.monitor.unproven_targets if self._round.log.open else ()
        return {**hinted, **{
            target: NotProvenSince() for target in unproven
            if target in parts.relearning.concerned or target in parts.transitions.suspected}}

    @property
    def sought(self) -> tuple[int, ...]:
        """Return the targets to which ways around failing pairs are sought."""
        pairs = self._parts.pairs.scarce if self._round.log.open else self._parts.pairs.detoured
        return tuple({target: None for pair in pairs for target in self._concerned(pair)})

    @property
    def kept(self) -> list[int]:
        """Return the targets of policies without a proof that nothing speaks against."""
        unexplained = self._unexplained
        doubted = self.doubted if unexplained else ()
        return [target for target in unexplained if target not in doubted]

    def _concerned(self, pair: Pair) -> tuple[int, ...]:
        """Return the targets of the policies that may execute a pair."""
        return self._parts.transitions.concerned(pair, self._parts.policies)

    @property
    def _unexplained(self) -> Collection[int]:
        """Return the targets without a proof since a change that no pair explains."""
        return self._parts.checks.monitor.unproven_targets if (
            self._round.log.open and self._parts.relearning.all_doubted) else ()

    def count(self, pair: Pair | None) -> None:
        """Count a step; None is a RESET, or one from where it is not known."""
        parts, pairs = self._parts, self._parts.pairs
        parts.checks.patrol.executed(pair)
        if pairs.rows and pairs.step():
            self.steer()
        parts.blocked.executed(parts.rediscovery.base, pair, pairs.shut if pairs.rows else ())
        parts.relearning.steps += self._round.log.open

    def observe(self, state: int, action: int, next_state: int) -> PairChange | None:
        """Record where a pair has led; return the change if that raises the pair's alarm."""
        parts, pairs, pair = self._parts, self._parts.pairs, (state, action)
        transitions, raised = parts.transitions, parts.transitions.raised
        was_raised = pair in raised    # before this execution is recorded
        parts.reach.add_transition(state, action, next_state)
        self.all_moves = self.all_moves or parts.pooled_detector.record(pair, next_state)
        change = transitions.record(state, action, next_state)
        # A pair whose evidence is not raised has not opened.
        opens = (pair in raised or parts.blocked.opening) and parts.blocked.opens(pair, next_state)
        if change:
            self.changed(change)
            return change
        # Ways around it were found, or are sought if it is not suspected yet.
        detoured = pair in pairs.rows and pairs.rows[pair].ways.preferred
        # While a change is relearnt, all pairs are tried again at once.
        news = pairs.record(
            pair, next_state, transitions.usual(pair), rests=not self._round.log.open)
        row = pairs.rows.get(pair)
        if row or news:    # seldom
            self._report(pair, news, detoured)
        if parts.relearning.unseen and parts.relearning.seen(pair):
            self.sample(pair)
        if pair in raised:
            # Policies through a suspicious pair make attempts, as they execute it, too.
            transitions.suspect(pair, parts.policies)
        if row and row.left:
            self.steer()
        elif not (row and pairs.avoids(pair)):
            if pair in raised:
                parts.rediscovery.follow_up(pair, was_raised and not opens)
            if row and row.status is Status.SUSPECTED:    # it is tried again first
                parts.rediscovery.sample(pair)
        return None

    def changed(self, change: PairChange) -> None:
        """Record that a pair leads elsewhere than before."""
        parts, pair = self._parts, change.pair
        base, log = parts.rediscovery.base, self._round.log
        concerned = self._concerned(pair)
        if not (log.open or pair in parts.pairs.detoured):    # the run that seeks ways began later
            parts.rediscovery.renew()
        parts.pairs.change(change)
        self._round.memory.note(change)
        if self._joins(change):
            self._join(concerned)
        else:
            self.notice()
            self.doubt(concerned)
            parts.relearning.steps = 0
        if change.led_to is not None:
            parts.relearning.changed[pair] = change
        log.tell_changed(self._round.number, change)
        self._tell_action(pair[1])
        parts.reach.sets.forget(*pair)
        if isinstance(base, Relearns):
            base.forget(*pair)
        self.sample(pair)
        ways = self._round.problem.support and parts.pairs.shut    # ways around are declared
        if {policy.target for policy in parts.policies}.issuperset(change.after) and not ways:
            self.look_around()    # else what is new there, or a way around it, comes first

    def _joins(self, change: PairChange) -> bool:
        """
        Return whether what has changed is part of the change that is open.

        It is if the pair seems to have shown nothing but its new ends since that was noticed: then
        nothing that was learnt since rests on what has changed. The second alarm of a pair since
        then is another change.
        """
        counts = self._parts.reach.sets.counts
        return (self._round.log.open and change.pair not in counts.forgotten
                and sum(change.after.values()) >= counts.visits(*change.pair))

    def _tell_action(self, action: int) -> None:
        """Report once for a change that all moves with an action share it."""
        relearning = self._parts.relearning
        found = None if relearning.told_action else self.shared.of_action(action)
        if found is not None:
            relearning.told_action = True
            self._round.log.tell(ActionChanged(self._round.number, action), 'change', found)

    def _join(self, concerned: Collection[int]) -> None:
        """
        Add a pair to the change that is open; the proofs since then stand.

        :param concerned: the targets of the policies that may execute the pair.
        """
        parts = self._parts
        parts.pairs.pause_closed(True)
        self.steer()
        if parts.relearning.swept:
            parts.relearning.notice()
        parts.relearning.concern(concerned)
        unproven = parts.checks.monitor.unproven_targets
        parts.checks.turns.prefer([target for target in concerned if target in unproven])

    def _report(self, pair: Pair, news: News | None, detoured: bool) -> None:
        """
        Report the news of a pair that is not normal, or was not, and have it tried if it is due.

        :param detoured: whether ways around the pair were sought or found before.
        """
        pairs, log, number = self._parts.pairs, self._round.log, self._round.number
        if news is News.SUSPECTED:
            concerned = self._concerned(pair)
            if concerned or detoured:
                log.tell(HintRaised(number, *pair, pairs.failures(pair)), 'hint',
                         self._parts.transitions.change(pair))
                if not (concerned or log.open):
                    log.revise()
            else:
                pairs.withdraw(pair)
            self._parts.checks.turns.prefer(concerned)
            return
        if news is News.WORKS:
            log.tell(HintWithdrawn(number, *pair), 'hint')
            self.steer()
        elif news:
            log.tell_recheck(number, pair, news)
        if news in (News.OPEN, News.STILL_CLOSED) or pair in pairs.due:
            self.steer()

    def notice(self, *, declared: bool = False) -> None:
        """
        Record a change, perhaps of what is declared alone.

        No policy may profit from its past: it has to prove again that it works, also if another
        change is being relearnt, and a whole rediscovery has to follow.
        """
        parts, problem = self._parts, self._round.problem
        parts.reach.start_again()
        if not declared:
            if not parts.blocked.noticed:
                parts.relearning.look_at(
                    (policy.target, action) for policy in parts.policies
                    for action in range(problem.actions)
                    if not problem.support.forbids(policy.target, action))
            parts.blocked.notice(parts.rediscovery.base)
        parts.pairs.end_pauses()
        parts.pairs.pause_closed(True)
        self.steer()
        parts.relearning.notice()
        parts.checks.monitor.notice()
        self._round.log.notice()

    def support_changed(self, pairs: Collection[Pair]) -> None:
        """
        Let the policies prove again that they work that may come to the pairs; all else stays.

        That is by what was seen, and by what is declared now of other pairs, too.
        """
        def after(state: int, action: int) -> tuple[int, ...]:
            return (*self._parts.transitions.following(state, action),
                    *self._round.problem.support.declared_ends(state, action))

        home, *others = self._parts.policies
        plays = {policy.target: {*policy.may_play(home.target, after, len(policy.actions))}
                 for policy in others}
        concerned = [*dict.fromkeys(
            target for pair in pairs for target, played in plays.items() if pair in played)]
        if concerned:
            self.notice(declared=True)
            self.doubt(concerned)

    def notice_all(self) -> None:
        """Record a change that no pair explains, so that all policies are doubted."""
        self.notice()
        self.doubt_all()

    def doubt(self, concerned: Collection[int]) -> None:
        """Let the policies that a change concerns prove soon that they work."""
        self._parts.checks.monitor.doubt(concerned)
        self._parts.checks.turns.prefer(concerned)
        self._parts.relearning.concern(concerned)

    def doubt_all(self) -> None:
        """Doubt all policies, once for a change, as one of them has revealed it."""
        monitor, relearning = self._parts.checks.monitor, self._parts.relearning
        if not relearning.all_doubted:
            monitor.doubt(monitor.detectors)
            relearning.all_doubted = True

    def settle(self) -> None:
        """Close the change if all has been sampled and all policies are proven since."""
        parts, log = self._parts, self._round.log
        if parts.relearning.swept and not parts.checks.monitor.unproven_targets:
            if log.open:
                parts.reach.start_again()
                parts.pooled_detector.start_again()
            log.settle()
            parts.pairs.pause_closed(False)
            parts.relearning.settle()
            parts.blocked.settle()

    def look_around(self) -> None:
        """Have the pairs executed first that were not executed since the change."""
        for pair in self._parts.relearning.unseen:
            self.sample(pair)

    def steer(self) -> None:
        """Let the run avoid pairs that rest or are closed, and try first those that are due."""
        rediscovery, pairs = self._parts.rediscovery, self._parts.pairs
        if isinstance(rediscovery.base, Steered):
            rediscovery.base.avoid(pairs.resting)
            left = (*pairs.shut, *pairs.detoured)
            if pairs.scheduled or left or self._left:
                rediscovery.base.leave_closed(left)
            self._left = bool(left)
        rediscovery.sample(*pairs.due)

    def hurry(self, pair: Pair) -> None:
        """Have a pair tried soon, without a pause, unless a caller schedules its re-check."""
        if self._parts.pairs.hurry(pair):
            self.steer()
        self.sample(pair)

    def sample(self, pair: Pair) -> None:
        """Have a pair tried soon, unless it is closed."""
        if pair not in self._parts.pairs.shut:
            self._parts.rediscovery.sample(pair)

    def too_slow(self) -> list[Policy]:
        """Return the policies through changed pairs that are too slow for sure."""
        parts, limit, refuted = self._parts, self._round.problem.limit, []
        base = parts.rediscovery.base
        for policy in parts.policies[1:]:
            too_slow, likely = parts.reach.too_slow(policy, limit)
            parts.relearning.likely[policy.target] = likely
            if policy.target in parts.relearning.concerned and (
                    too_slow or isinstance(base, Certifies)
                    and base.lower_bound(policy) > limit):
                refuted.append(policy)
        return refuted

    def prove(self) -> None:
        """Prove by a model that some of the policies without a proof work, if they do."""
        parts, limit = self._parts, self._round.problem.limit
        unproven = parts.checks.monitor.unproven_targets
        waiting = [policy for policy in parts.policies[1:] if policy.target in unproven
                   and parts.relearning.likely.get(policy.target, math.inf) < limit]
        if not waiting:
            return
        turn = parts.relearning.look = (parts.relearning.look + 1) % len(waiting)
        for policy in (waiting[turn:] + waiting[:turn])[:_AT_ONCE]:
            if parts.reach.within(policy, limit):
                parts.checks.monitor.prove(policy)

    def better(self, refuted: Sequence[Policy]) -> Policy | None:
        """
        Return a policy that the run certifies, to the target of one that is not proven.

        One state is checked in a turn, of those that do not seem to be within the radius.

        :param refuted: policies that are deleted anyway.
        """
        run, likely = self._parts.rediscovery, self._parts.relearning.likely
        unproven = {*self.doubted, *self._unexplained} - {policy.target for policy in refuted}
        slow = [policy for policy in self._parts.policies[1:] if policy.target in unproven
                and likely[policy.target] > self._round.problem.radius]
        if not slow or run.base.finished or not isinstance(run.base, Certifies):
            return None
        return run.base.better(slow[run.since % len(slow)])
