# SPDX-License-Identifier: Apache-2.0

"""
Rediscovery: one run of the base after the other, which samples all known states again.

It takes the policies that there are as known, and so finds new states and ways. It learns from its
own steps and from those of the attempts made meanwhile. Its parts of the round's delta are for

- *Addition.* Each rediscovery is a base run with its ``share`` of half of the part: what it
  certifies is added at once, or takes the place of a policy that is doubted. What its
  ``lower_bound`` says is over the limit is deleted, by the same delta, if its way passes a pair
  whose change was noticed, or may pass a state deleted for that. The other half is for
  *renewals*: when a pair raises the alarm while no change is open, and when a rediscovery is
  begun while one is, or to find ways around a pair, the run under way begins to certify by what it
  learns after that moment alone, too, with ``1/(k (k + 1))`` of the half for renewal number ``k``.
  Transitions and attempts after a moment that the past decides are as independent as all others,
  so that renewal ``k`` is wrong with no more than its delta, conditional on the past, and the sum
  over all is the part, whatever is noticed and how often. A late rediscovery has a small delta;
  this is why it does not make what has just changed dear.
- *Restart.* Let a rediscovery take more than ``W_r`` steps with probability at most the part,
  whatever came before: then ``k`` in a row do with the ``k``-th power of that. The number ``k``
  that refutes grows with the number of rediscoveries, so that the sum over all is the part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
import math

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.mnm.capabilities import Certifies, Foresees, Samples, TakesTurns
from mnm_ros.core.mnm.checking_phase import Round
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.events import PairChange
from mnm_ros.core.statistics.delta_spending import share

_ALLOWANCE = 4
"""A rediscovery may take so many times the steps that led to the hypothesis."""

_LOOKS = 2
"""So often each pair is executed soon after a change; once may show what it did before by chance.
"""


class Rediscovery:
    """
    The run of the base under way, its delta, and how long it may take.

    :param round_: what the phase is made from.
    :param addition, restart: the parts of the round's delta for these.
    :ivar base: the run under way, or the last one.
    :ivar sought: targets to which it seeks other ways.
    :ivar number: how many have begun.
    :ivar renewals: how often one of them has begun to certify again.
    :ivar limit: ``W_r``.
    :ivar too_long: whether it had taken more than ``W_r`` at the last step.
    :ivar fresh: whether the run under way has learnt nothing yet.
    :ivar turn: steps that its turn, or its last one, takes at least.
    :ivar since: steps since the run began; likely: how many the last one took.
    """

    base: BaseAlgorithm

    def __init__(self, round_: Round, addition: float, restart: float) -> None:
        self._round = round_
        self._delta = addition
        self.likely = round_.steps_taken
        self.number = self.renewals = 0
        self.limit = StepLimit(restart, round_.steps_taken, round_.check_steps)

    def begin(self, policies: tuple[Policy, ...], sought: Collection[int]) -> None:
        """
        Begin the next run.

        :param policies: what is known, home first.
        :param sought: targets to which the run is to find ways as if there were none.
        """
        self.number += 1
        self.sought = sought
        self.base = self._round.new_base(
            replace(self._round.problem, delta=self._delta / 2 * share(self.number)),
            tuple(policy for policy in policies if policy.target not in sought))
        self._renewed = self._round.log.open or bool(sought)
        if self._renewed:
            self.renew()
        self.limit.set(self.base.step_bound(len(policies)))
        self._steps = self.since = self.turn = 0
        self.fresh = True
        self._following_up = self.too_long = False

    def forget_last(self) -> None:
        """Let the next run take the place of the last one, which has learnt nothing."""
        self.number -= 1
        self.renewals -= self._renewed

    def renew(self) -> None:
        """Let the run certify by what it learns after this moment alone, too."""
        self.renewals += 1
        if isinstance(self.base, Certifies):
            self.base.restart_confidence(
                self._delta / (2 * self.renewals * (self.renewals + 1)))

    def sample(self, *pairs: Pair) -> None:
        """Have pairs executed as soon as possible, if the run can do that."""
        if isinstance(self.base, Samples):
            for pair in pairs:
                self.base.request_sample(*pair)

    def begin_turn(self, quanta: int, raised: Collection[Pair]) -> None:
        """
        Let the run have the robot for some quanta.

        :param raised: pairs whose alarm may be near; every other turn follows them up.
        """
        self._left = self.turn = quanta * self.base.quantum
        self.base.interrupt()
        self._following_up = bool(raised) and not self._following_up
        if self._following_up:
            self.sample(*raised)

    def follow_up(self, pair: Pair, was_raised: bool) -> None:
        """Try a pair again whose alarm may be near."""
        if self._following_up or not was_raised:
            self.sample(pair)

    def turn_over(self) -> bool:
        """
        Count a step; return whether it is time to judge what the run has found out.

        A quantum that is over waits for the end of an episode of policy evaluation: an
        interruption would drop the episode. None may ever begin where a pair is followed up again
        and again. What is followed up does not count for ``W_r``.
        """
        self._steps += not self._following_up
        self._left -= 1
        self.too_long = self._steps >= self.limit.steps
        base = self.base
        return base.finished or self.too_long or self._left <= 0 and (
            not isinstance(base, TakesTurns) or base.episode_over or not base.evaluating
            or base.between_attempts)

    def finished(self) -> None:
        """Record that the run is over."""
        self.limit.finished(self._steps)
        self.likely = self.since

    @property
    def sweep(self) -> tuple[int, int]:
        """Return the steps since the run began, and those that it is likely to take."""
        lacking = (math.ceil(self.base.outlook.lacking)
                   if isinstance(self.base, Foresees) else 1)
        return self.since, max(self.likely, self.since + lacking)

    @property
    def evidence(self) -> Evidence:
        """Return the steps so far and ``W_r``, for display."""
        return Evidence(
            'rediscovery', None, None, float(self._steps), float(self.limit.steps))


class StepLimit:
    """
    ``W_r``, and how often it was exceeded.

    Each run cut off doubles it, so that a run that is merely slow ends; each one that would have
    stayed below half of it takes a doubling back.

    :param delta: the probability with which a round is ever refuted without a change, if a
        rediscovery takes more than ``W_r`` with at most this probability.
    :param steps_taken: until the hypothesis was found.
    :param given: replaces ``W_r`` if positive.
    :ivar steps: ``W_r``.
    :ivar cut_offs: rediscoveries that took more; in_a_row: the last of them without one that
        ended.
    """

    def __init__(self, delta: float, steps_taken: int, given: int) -> None:
        self._delta = delta
        self._least = _ALLOWANCE * steps_taken
        self._given = given
        self._doublings = self.cut_offs = self.in_a_row = 0
        self.steps = given

    def set(self, bound: int) -> None:    # noqa: A003
        """Set ``W_r`` by the bound of the base."""
        self.steps = self._given or max(bound, self._least) * 2 ** self._doublings

    def finished(self, steps: int) -> None:
        """Record a rediscovery that has ended after ``steps``."""
        self.in_a_row = 0
        if 2 * steps <= self.steps:
            self._doublings = max(0, self._doublings - 1)

    def cut_off(self, number: int) -> bool:
        """
        Record that rediscovery ``number`` was cut off; return whether the round is refuted.

        It is after ``k`` in a row, the least number with ``d^k <= d / (j (j + 1))``, where ``d``
        is the delta and ``j`` the number of the rediscovery.
        """
        self.cut_offs += 1
        self.in_a_row += 1
        self._doublings += 1
        more = math.ceil(math.log(number * (number + 1)) / -math.log(self._delta))
        return self.in_a_row > more


class Relearning:
    """
    The sampling that a change has made necessary, and the policies that it concerns.

    :ivar swept: whether a whole rediscovery, begun since the last notice, has found nothing.
    :ivar all_doubted: whether all policies were doubted since the change was noticed.
    :ivar concerned: targets of policies through pairs that have changed.
    :ivar deleted: targets of policies that were deleted since the change was noticed.
    :ivar likely: by target, what an attempt seems to take since then, as ``evaluation`` counts.
    :ivar changed: for each move that has raised the alarm, its change.
    :ivar told_action: whether a change of one action was reported.
    :ivar steps: since the change was noticed, or the last alarm that was no part of it.
    :ivar look: the place of the policy that was last checked by a model.
    :ivar unseen: pairs to be examined because of the change, and how often they still are.
    """

    def __init__(self) -> None:
        self.unseen: dict[Pair, int] = {}
        self.changed: dict[Pair, PairChange] = {}
        self.told_action = False
        self.look = self.steps = 0
        self.swept = self.all_doubted = False
        self.concerned: dict[int, None] = {}
        self.deleted: dict[int, None] = {}
        self.likely: dict[int, float] = {}
        self._quiet = True

    def begin_rediscovery(self) -> None:
        """Record that a rediscovery is begun, which examines all pairs in any case."""
        self._quiet = True
        self.unseen = {}

    def end_rediscovery(self) -> None:
        """Record that the rediscovery has sampled all known states."""
        self.swept = self._quiet

    def notice(self) -> None:
        """Record something new: all has to be sampled since then."""
        self._quiet = self.swept = False

    def look_at(self, pairs: Iterable[Pair]) -> None:
        """Have pairs examined, as what has changed one of them may have changed others."""
        self.unseen = dict.fromkeys(pairs, _LOOKS)

    def seen(self, pair: Pair) -> bool:
        """Record that a pair was executed; return whether to examine it once more."""
        left = self.unseen.pop(pair, 0) - 1
        if left > 0:
            self.unseen[pair] = left
        return left > 0

    def concern(self, targets: Iterable[int]) -> None:
        """Add targets of policies that the change concerns."""
        self.concerned.update(dict.fromkeys(targets))

    def keep(self, targets: Collection[int]) -> None:
        """Record the targets that are left."""
        self.concerned = {target: None for target in self.concerned if target in targets}

    def settle(self) -> None:
        """Record that the change is relearnt."""
        self.concerned, self.deleted, self.likely, self.unseen = {}, {}, {}, {}
        self.all_doubted, self.steps, self.changed = False, 0, {}
        self.told_action = False
