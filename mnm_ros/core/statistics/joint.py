# SPDX-License-Identifier: Apache-2.0

"""
One budget of nats for all pairs of a policy: certificates where it is declared what pairs lead to.

**The budget.** Take a policy that is fixed when its test begins, and the pairs ``x`` that it may
come to by then. From then on, let ``R_x`` be the product of predicted (``predictions.py``) over
true probabilities of what followed ``x``. The product of all ``R_x`` is a nonnegative
supermartingale that starts at 1, whoever chooses which pair is executed when. So with probability
``1 - d``, at all times (Ville),

    sum over x of n_x KL(f_x || P_x)  <=  B = log(1/d) + sum over x of G_x,

with ``f_x`` the frequencies of what followed in ``n_x`` executions, and the excess code length
``G_x`` the code length of the predictions less ``n_x`` times the entropy of ``f_x``. A state that
was not declared when it followed counts in ``G_x`` alone, as if it had been certain. So all pairs
*together* are off by no more than ``B``, where a ball for each pair grants as much to each.

**Floors.** Each pair that has failed adds to the excess, but a bad policy needs no more than one
bad pair. So when the test begins, an ``x`` that stays or leads on gets a floor ``c_x`` for the
chance ``p_x`` of its end. Let ``S(P)`` be the pairs without a floor, and those with ``p_x < c_x``.
The true ``P`` is fixed, and so is its ``S(P)``: the product of ``R_x`` over ``S(P)`` is a
supermartingale, too. So with probability ``1 - d``, at all times,

    sum over x in S(P) of (n_x KL(f_x || P_x) - G_x)  <=  log(1/d).

Let ``r_x`` be ``G_x`` without a floor, else ``max(0, G_x - n_x KL(f_x || min(f_x, c_x)))``. Say
that ``x`` *takes* ``n_x KL(f_x || P_x) - (G_x - r_x)`` nats, or none if ``p_x >= c_x``. That is
never less than 0, and all pairs together take no more than ``B = log(1/d) + sum over x of r_x``.
So a pair may be as bad as its floor for nothing, and what is less likely pays for its own excess.

**The certificate.** ``V_h`` is what ``certificate.py`` defines, for rows ``P``. Each row takes no
more than ``B``; let ``U_h`` be the bound that this gives. Put the states in any order. Backwards
over the horizon, for ``b <= B``,

    W_h(x, e, b) = 1 + max over Q for which x takes no more than e of Q A_{h+1},
    Z_h(x, b) = max over e <= b of W_h(x, e, b - e),

where ``A_{h+1}`` is ``W_{h+1}(x, e, b)`` in ``x`` itself, ``Z_{h+1}(y, b)`` in a ``y`` behind it
in the order, and ``U_{h+1}`` elsewhere. If ``x`` takes ``e`` nats, and what is behind it no more
than ``b`` together, ``V_h(x) <= W_h(x, e, b)``; if both take no more than ``b``, ``V_h(x) <=
Z_h(x, b)``: by induction, as what is behind a ``y`` behind ``x`` is behind ``x``, too. So
``V_0(home) <= Z_0(home, B)``. Nats are counted in whole units: a row that takes some between two
numbers of units has the ball of the upper one, and takes the lower one.

**Which executions count** may be chosen by the past. Before an execution, it is decided whether
its factor is part of ``R_x``; a factor of 1 in its place leaves a supermartingale. So a test
leaves out a pair that has been executed often enough, until it needs more of it
(``JointEvidence.count``): each execution that counts adds to ``G_x``. For the same reason the
past may choose where the robot walks, for which tests, and when a test ends. No attempt from home
is needed: the argument asks nothing about the order of the pairs.

A step that was broken off, and what is plausible of a pair where one was, is as in
``certificate.py``. Where an end is added, more is plausible from then on; the product is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import math
from typing import NamedTuple

from mnm_ros.core.model.counts import Floats, Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.support import Support
from mnm_ros.core.statistics.certificate import columns, ConfidenceSets, PolicyModel
from mnm_ros.core.statistics.joint_rows import drives_backwards, Kernels, Rows, Shares, shares
from mnm_ros.core.statistics.kl_ball import divergence
from mnm_ros.core.statistics.predictions import NOTHING, Record
import numpy as np

UNITS = 24    # of the budget
_FEW_UNITS = 6    # a part of these


@dataclass(frozen=True)
class Floor:
    """
    From which chance on nothing is bet against a pair.

    :ivar end: that the pair leads to, if it does not stay.
    :ivar chance: ``c_x`` of this end.
    """

    end: int
    chance: float


class _Counted(NamedTuple):
    """
    What counts of a pair.

    :ivar excess: ``G_x``.
    :ivar own: ``G_x - r_x``, the nats that it takes for nothing.
    """

    record: Record
    excess: float
    own: float


_NOTHING = _Counted(NOTHING, 0.0, 0.0)


class JointEvidence:
    """
    The evidence for a policy since now.

    :param sets: that record transitions, with predictions of what is declared.
    :param pairs: that the policy may come to.
    :param floors: of some of them.
    :ivar before: the record of each pair when its executions began to count.
    """

    def __init__(self, sets: ConfidenceSets, pairs: Sequence[Pair],
                 floors: Mapping[Pair, Floor] | None = None) -> None:
        self._sets = sets
        self._floors = dict(floors or {})
        self.before = {pair: sets.predictions.record(pair) for pair in pairs}
        self._counted: dict[Pair, Record] = {}    # until the pair was left out
        self._left_out: dict[Pair, None] = {}

    @cached_property
    def _found(self) -> dict[Pair, tuple[Record | None, _Counted]]:
        """Return by pair the last answer, and before it the record of all predictions then."""
        return {}

    def floor(self, pair: Pair) -> float:
        """Return how likely the end of a pair is at worst for nothing; 1 without a floor."""
        floor = self._floors.get(pair)
        return 1.0 if floor is None else floor.chance

    def record(self, pair: Pair) -> Record:
        """Return what counts of a pair."""
        return self._count(pair).record

    def _count(self, pair: Pair) -> _Counted:
        """Return what counts of a pair; asked for each test at each check."""
        now = None if pair in self._left_out else self._sets.predictions.record(pair)
        found = self._found.get(pair)
        if found is None or found[0] is not now:
            since = NOTHING if now is None else now.since(self.before[pair])
            counted = self._counted.get(pair)
            record = since if counted is None else counted.plus(since)
            found = self._found[pair] = now, _counted(record, self._floors.get(pair))
        return found[1]

    def count(self, pair: Pair, counts: bool) -> None:
        """Let the executions of a pair count from now on, or leave them out."""
        if counts and pair in self._left_out:
            self.before[pair] = self._sets.predictions.record(pair)
            del self._left_out[pair]
        elif not counts and pair not in self._left_out:
            self._counted[pair] = self.record(pair)
            self._left_out[pair] = None
        else:
            return
        self._found.pop(pair, None)

    def balls(self, nats: float) -> JointBalls:
        """Return what is plausible of the pairs, with a chance of ``exp(-nats)`` to err."""
        return JointBalls(nats, self._sets, {pair: self._count(pair) for pair in self.before},
                          self._floors)

    @property
    def executions(self) -> tuple[int, ...]:
        """Return how often each pair was executed that was."""
        made = (self._count(pair).record.made for pair in self.before)
        return tuple(each for each in made if each)


class JointBalls:
    """
    The balls of some pairs, each with the whole budget.

    :ivar counts: of the run.
    :ivar budget: ``B``.
    :ivar floors: of pairs that have any.
    """

    def __init__(self, nats: float, sets: ConfidenceSets, counted: Mapping[Pair, _Counted],
                 floors: Mapping[Pair, Floor]) -> None:
        self.counts = sets.counts
        self.floors = floors
        self._counted = counted
        self.budget = nats + math.fsum(each.excess for each in counted.values()) - math.fsum(
            each.own for each in counted.values())

    def own(self, pair: Pair) -> float:
        """Return ``G_x - r_x``, the nats that a pair takes for nothing."""
        return self._counted.get(pair, _NOTHING).own

    def made(self, pair: Pair) -> int:
        """Return ``n_x``."""
        return self._counted.get(pair, _NOTHING).record.made

    def ball(self, state: int, action: int) -> tuple[list[float], float]:
        """Return ``f`` in the order of the counts, the reserved place last, and the radius."""
        record, _, own = self._counted.get((state, action), _NOTHING)
        nexts, made = self.counts.next_states(state, action), record.made
        if not made:
            return [0.0] * (len(nexts) + 1), math.inf
        tally = [*(record.tally.get(end, 0) for end in nexts), record.lost]
        return [count / made for count in tally], (self.budget + own) / made


def _counted(record: Record, floor: Floor | None) -> _Counted:
    """Return what counts of a pair."""
    made = record.made
    excess = record.paid + math.fsum(
        count * math.log(count / made) for count in (*record.tally.values(), record.lost) if count)
    if floor is None:
        return _Counted(record, excess, 0.0)
    chance = record.tally.get(floor.end, 0) / made if made else 0.0
    least = made * divergence(chance, floor.chance) if chance > floor.chance else 0.0
    return _Counted(record, excess, min(excess, least))


class JointModel(PolicyModel):
    """
    One policy under the joint budget.

    :param balls: of the pairs of the policy.
    :param policy, limit, support: as for ``PolicyModel``.
    """

    def __init__(self, balls: JointBalls, policy: Policy, limit: float,
                 support: Support) -> None:
        super().__init__(balls, policy, limit, support)
        self._budget = balls.budget
        pairs = [*zip(policy.states, policy.actions[0])]
        column, nothing = columns(policy.states, policy.target), Floor(policy.target, 1.0)
        floors = [balls.floors.get(pair, nothing) for pair in pairs]
        self._plausible = Rows(
            np.array([balls.made(pair) for pair in pairs]),
            np.array([balls.own(pair) for pair in pairs]), self._closed,
            np.array([floor.chance for floor in floors]),
            np.array([pair in balls.floors for pair in pairs]),
            np.array([column.get(floor.end, len(pairs)) for floor in floors]))

    @cached_property
    def bound(self) -> float:
        """
        Return steps that ``E[X]`` of an attempt does not exceed.

        Many units take long, and a few mostly tell on which side of the limit it is: within it if
        they do not exceed it, and beyond it if the units that rows take suffice for that, without
        one more for each row.
        """
        alone = self._drives_alone() or self._alone
        bound = float(alone[-1][0])
        if bound <= self._limit or self._resets[0]:
            return bound
        rows, few = self.rows(alone[-1]), shares(_FEW_UNITS)
        soon = self._together(alone, rows, few)
        if soon <= self._limit or self._together(alone, rows, few, least=True) > self._limit:
            return min(bound, soon)
        return min(bound, self._together(alone, rows, shares(UNITS)))

    def _drives_alone(self) -> list[Floats]:
        """Return ``_alone`` sooner, or nothing unless each row leads to two columns at most."""
        slots = [self.slots(row) for row in range(len(self._resets))]
        if self._resets.any() or not self._closed.all() or max(map(len, slots)) > 2:
            return []
        return drives_backwards(
            slots, self._plausible, self._budget, self._at_last(), self._policy.horizon)

    def _worst(self, values: Floats, tilts: Floats) -> Floats:
        """Do so with floors, too: what a pair may do above its floor is at worst."""
        steps, rows = super()._worst(values, tilts), self._plausible
        if not rows.floored.any():
            return steps
        top = self._never_seen(values)
        free = 1 + top - rows.floors * (top - values[rows.on])
        return np.where(rows.floored, np.maximum(steps, free), steps)

    def _together(self, alone: Sequence[Floats], rows: list[int], by: Shares, *,
                  least: bool = False) -> float:
        """
        Return the same by the joint budget, from ``U`` at the end and backwards.

        :param rows: in their order.
        :param by: the shares in which the budget is divided.
        :param least: whether the result is no more than that by any multiple of these units, in
            place of no less.
        """
        kernels = Kernels([self.slots(row) for row in rows], rows, self._plausible.some(rows),
                          self._budget, by, least=least)
        taken = np.full((len(by.mine), len(rows)), 1 + self._limit)    # W
        together = np.full((by.units + 1, len(rows)), 1 + self._limit)    # Z
        for elsewhere in alone[:-1]:
            taken = 1 + kernels.worst(taken, together, elsewhere)
            together = np.maximum.reduceat(taken, by.first)
        return float(together[by.units, 0])

    def rows(self, steps: Floats) -> list[int]:
        """
        Return the states that it may come to and play no RESET in, home and far ones first.

        :param steps: from each state, by which they are ordered.
        """
        known = len(self._resets)
        met, todo = {0: None}, [0]
        while todo:
            row = todo.pop()
            for column in self.slots(row):
                if column < known and not self._resets[column] and column not in met:
                    met[column] = None
                    todo.append(column)
        return [0, *sorted((row for row in met if row), key=lambda row: (-steps[row], row))]

    def slots(self, row: int) -> dict[int, float]:
        """Return the columns to which a row may lead, and how often it did, if it is closed."""
        found = dict.fromkeys(self._ends[row].tolist() if self._closed[row] else (), 0.0)
        for column, fraction, reserved in zip(
                self._following[row].tolist(), self._fractions[row].tolist(),
                self._reserved[row].tolist()):
            if not reserved and (fraction or not self._closed[row]):
                found[column] = found.get(column, 0.0) + fraction
        return found
