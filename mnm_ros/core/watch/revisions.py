# SPDX-License-Identifier: Apache-2.0

"""
All that revises the hypothesis during checks: the watch phase says when.

Two parts of the round's delta are for revisions:

- *Deletion.* A policy's ``Detector`` raises the alarm. Each of the round has its ``share`` of the
  part for its delta. With a policy, those are deleted whose usual way leads through its target, as
  they would play a RESET there from then on. Without a change that is wrong only if the policy is
  deleted wrongly in the first place, by its detector or by a model, so that it takes no delta.
- *Reach.* An added state reveals a change if it is within the radius for sure (``reach.py``).
  The steps that it seems to take do not count: rediscoveries certify as early as they can, and
  each of them is a new try.

A rediscovery starts again when a policy is deleted, as its samples may be older than the change;
unless that is explained by a pair on the way that has changed, or by a state that was deleted for
one, and the base can go on (``revise``), with what ``doubts`` reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnm_ros.core.mnm.capabilities import Relearns, Reports
from mnm_ros.core.model.policy import over_own_targets, Policy
from mnm_ros.core.progress.events import MovesChange, PairChange
from mnm_ros.core.progress.said import (
    ChangeTooLong,
    MostHasChanged,
    ProofsTooLong,
    RediscoveryTooLong,
    Said,
    StatesAdded,
    StatesDeleted,
    StatesNearer,
    StatesRecalled,
    WaysReplaced,
)
from mnm_ros.core.watch.doubts import Doubts
from mnm_ros.core.watch.watch_parts import WatchParts

_GROWTH = 1.5    # power of the known states with which the steps grow that learning takes


class Revisions:
    """
    Revises the policies of the hypothesis; each method that does so reports that.

    :param doubts: what a change, or a hint of one, puts in doubt.
    :ivar parts: of the phase, the hypothesis among them.
    :ivar refuted: whether the round is over.
    """

    def __init__(self, parts: WatchParts, doubts: Doubts) -> None:
        self.parts = parts
        self._round = parts.round
        self._doubts = doubts
        self._begun_with = len(parts.policies)
        self.refuted = False

    def adopt(self, policies: tuple[Policy, ...]) -> None:
        """Make ``policies`` the hypothesis; each keeps its detector unless it has changed."""
        parts, before = self.parts, self.parts.policies
        parts.policies = over_own_targets(policies)
        monitor = parts.checks.monitor
        monitor.change(before, parts.policies[1:], doubted=self._round.log.open)
        parts.checks.turns.change(monitor.detectors)
        parts.checks.patrol.change(parts.policies)
        parts.relearning.keep(monitor.detectors)

    def recall(self) -> None:
        """Take back the policies whose pairs lead again where they did."""
        recalled = self._round.memory.recall({policy.target for policy in self.parts.policies})
        if recalled:
            self.adopt((*self.parts.policies, *recalled))
            targets = [policy.target for policy in recalled]
            self._doubts.doubt(targets)
            self._round.log.tell(StatesRecalled(self._round.number, tuple(targets)))

    def add_found(self) -> None:
        """
        Add what the rediscovery has certified.

        While a change is open, one that seems to be within the radius may reveal another, unless
        it was deleted for this one: what was proven before counts no more.
        """
        rediscovery, relearning = self.parts.rediscovery, self.parts.relearning
        base, known = rediscovery.base, {policy.target for policy in self.parts.policies}
        found = [policy for policy in base.policies if policy.target not in known]
        if not found:
            return
        self.adopt((*self.parts.policies, *found))
        rediscovery.limit.set(base.step_bound(len(self.parts.policies)))
        relearning.notice()
        targets = [policy.target for policy in found]
        if not self._round.problem.support or relearning.deleted.keys() <= known.union(targets):
            self._doubts.look_around()    # else declared ways to what was deleted come first
        self.parts.reach.enter(targets)
        estimates = base.estimates if isinstance(base, Reports) else {}
        if self._round.log.open and any(
                estimates.get(target, 0.0) <= self._round.problem.radius
                for target in targets if target not in relearning.deleted):
            self._doubts.notice_all()
        self._round.log.tell(StatesAdded(self._round.number, tuple(targets)))
        self._round.memory.reached(found)
        self.recall()

    def judge_added(self) -> None:
        """Notice a change where a new state is within the radius; others may come and go."""
        within = [] if self._round.log.open else self.parts.reach.found(self.parts.policies)
        if within:
            self._doubts.notice_all()
            self._doubts.look_around()
            self._round.log.tell(StatesNearer(self._round.number, tuple(within)), 'change')

    def examine(self) -> list[Policy]:
        """Return what models say is too slow; else take the better ways, and the proofs."""
        if not (self._round.log.open and self.parts.reach.take_turn()):
            return []
        refuted = self._doubts.too_slow()
        found = self._doubts.better(refuted)
        if found is not None:
            self.parts.relearning.concerned.pop(found.target, None)
            self._take({found.target: found})
        if not refuted:
            self._doubts.prove()
        return refuted

    def divert(self, change: PairChange) -> list[Policy]:
        """
        Let the patrol go where a pair leads now; return the policies that this takes away.

        Memory knows those of an earlier change. Where ways are declared, so that others are found
        soon, these are the policies that come to the pair, and from there not to their targets.
        """
        lost = self._round.memory.lost(change, self.parts.policies[1:])
        end, parts = change.redirected_to, self.parts
        if lost or end is None or not self._round.problem.support:
            return lost

        def leads(state: int, action: int) -> int | None:
            return end if (state, action) == change.pair else parts.transitions.leads(
                state, action)

        patrol = parts.checks.patrol
        patrol.change(self.parts.policies, leads)
        ways = {policy: patrol.way(policy.target) for policy in self.parts.policies[1:]}
        return [policy for policy, way in ways.items()
                if change.pair in way and leads(*way[-1]) != policy.target]

    def cut_off(self) -> list[Policy]:
        """Return the policies through what is closed, which a change concerns by that."""
        cut_off = self.parts.checks.patrol.passing(self.parts.pairs.closed)
        self.parts.relearning.concern(cut_off)    # by what was noticed of the pair
        return [policy for policy in self.parts.policies if policy.target in cut_off]

    def take_other_ways(self) -> None:
        """Take the ways that the run was to find around what is suspected, and has found."""
        rediscovery = self.parts.rediscovery
        found = {policy.target: policy for policy in rediscovery.base.policies
                 if policy.target in rediscovery.sought}
        ways = {policy.target: found[policy.target] for policy in self.parts.policies
                if policy.target in found and not policy.same_as(found[policy.target])}
        self._take(ways)
        if ways and not self._doubts.sought:
            if self.parts.pairs.suspected:
                self._round.log.revise()
            self.parts.pairs.found_ways()
            self._doubts.steer()

    def sought_in_vain(self) -> list[Policy]:
        """
        Return the policies to the targets to which a run has found no other way, at its end.

        By what was seen since it began, it has ruled out that these are within the radius.
        """
        left = {*self.parts.rediscovery.sought}.intersection(self._doubts.sought)
        return [policy for policy in self.parts.policies if policy.target in left]

    def _take(self, ways: Mapping[int, Policy]) -> None:
        """Take other ways to states, by target."""
        if ways:
            self.adopt(tuple(ways.get(policy.target, policy) for policy in self.parts.policies))
            self._round.log.tell(WaysReplaced(self._round.number, tuple(ways)))

    def delete(self, failing: Sequence[Policy]) -> bool:
        """
        Delete policies, and those that lead through their targets.

        :returns: whether the rediscovery can go on.
        """
        parts, relearning, log = self.parts, self.parts.relearning, self._round.log
        self._explain(failing)
        explained = all(policy.target in relearning.concerned for policy in failing)
        targets = parts.checks.patrol.behind([policy.target for policy in failing])
        if not explained:
            parts.reach.start_again()
        left = tuple(policy for policy in self.parts.policies if policy.target not in targets)
        # Where another one may come to their targets by chance, it plays a RESET from now on.
        if explained:
            self._round.memory.keep(
                [policy for policy in self.parts.policies if policy.target in targets],
                {pair: parts.checks.patrol.passing([pair]) for pair in relearning.changed})
        strayed = [target for state in targets
                   for target in parts.transitions.passing(state, left)]
        self.adopt(left)
        parts.transitions.leave(targets)
        parts.pairs.leave(targets)
        for target in targets:
            log.outdate(target)
        if explained:    # what the change does not concern works as before
            relearning.notice()
            self._doubts.doubt(strayed)
        else:
            self._doubts.notice_all()
        relearning.deleted.update(dict.fromkeys(targets))
        log.tell(StatesDeleted(self._round.number, tuple(targets)), 'change')
        base = parts.rediscovery.base
        return (explained and not base.finished and isinstance(base, Relearns)
                and base.revise(self.parts.policies))

    def _explain(self, failing: Sequence[Policy]) -> None:
        """Take it that what is suspected has closed if a policy fails whose way passes it."""
        parts = self.parts
        for pair in parts.pairs.suspected:
            if parts.transitions.change(pair).closed and any(
                    parts.checks.patrol.passes(policy.target, [pair]) for policy in failing):
                self._doubts.changed(parts.transitions.restart(pair))

    def end_as_all_changed(self, moves: MovesChange) -> None:
        """End the round, as the detector of all moves has raised the alarm."""
        self._notice_all_pairs()
        self._end(self._everything_changed, moves)

    def end_if_cut_off(self) -> bool:
        """Record a rediscovery of more than ``W_r`` steps; return whether that ends the round."""
        rediscovery, number = self.parts.rediscovery, self._round.number
        if rediscovery.limit.cut_off(rediscovery.number):
            self._notice_all_pairs()
            self._end(RediscoveryTooLong(
                number, rediscovery.limit.steps, rediscovery.limit.in_a_row, number + 1))
        return self.refuted

    def end_if_dear(self) -> bool:
        """End the round if the next one probably costs less; return whether."""
        number, relearning = self._round.number, self.parts.relearning
        if not self._round.log.open:
            return False
        patience = self._round.patience
        if relearning.swept:    # nothing but proofs is left
            patience = min(patience, self._round.patience_for_proofs)
        if everywhere := self._doubts.shared.of_all:
            self._end(self._everything_changed, everywhere)
        elif relearning.steps > patience * max(
                1.0, len(self.parts.policies) / self._begun_with) ** _GROWTH:
            too_long = ProofsTooLong if relearning.swept else ChangeTooLong
            self._end(too_long(number, relearning.steps, number + 1))
        return self.refuted

    def _notice_all_pairs(self) -> None:
        self._round.log.notice()
        self._round.log.outdate()

    def _end(self, why: Said, moves: MovesChange | None = None) -> None:
        self.refuted = True
        self._round.log.tell(why, 'change', moves)

    @property
    def _everything_changed(self) -> Said:
        return MostHasChanged(self._round.number, self._round.number + 1)
