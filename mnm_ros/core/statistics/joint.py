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

**The certificate.** ``V_h`` is what ``certificate.py`` defines, for rows ``P``. Each row is in the
ball ``n_x KL(f_x || P_x) <= B``; let ``U_h`` be the bound that this gives. Put the states in any
order. Backwards over the horizon, for ``b <= B``,

    W_h(x, e, b) = 1 + max over Q with n_x KL(f_x || Q) <= e of Q A_{h+1},
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

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
import math

from mnm_ros.core.model.counts import Bools, Floats, Indices, Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.support import Support
from mnm_ros.core.statistics.certificate import ConfidenceSets, PolicyModel
from mnm_ros.core.statistics.kl_ball import least_mean
from mnm_ros.core.statistics.predictions import NOTHING, Record
import numpy as np

_UNITS = 24    # of the budget
_BISECTIONS = 30


class JointEvidence:
    """
    What speaks for a policy since now.

    :param sets: that take note of transitions, with predictions of what is declared.
    :param pairs: that the policy may come to.
    """

    def __init__(self, sets: ConfidenceSets, pairs: Sequence[Pair]) -> None:
        self._sets = sets
        self._before = {pair: sets.record(pair) for pair in pairs}
        self._counted: dict[Pair, Record] = {}    # until the pair was left out
        self._left_out: dict[Pair, None] = {}

    @property
    def of(self) -> AbstractSet[Pair]:
        """Return the pairs."""
        return self._before.keys()

    def record(self, pair: Pair) -> Record:
        """Return what counts of a pair."""
        found = None if pair in self._left_out else self._sets.record(pair)
        since = NOTHING if found is None else found.since(self._before[pair])
        counted = self._counted.get(pair)    # of few pairs: asked for each test at each look
        return since if counted is None else counted.plus(since)

    def count(self, pair: Pair, counts: bool) -> None:
        """Let the executions of a pair count from now on, or leave them out."""
        if counts and pair in self._left_out:
            self._before[pair] = self._sets.record(pair)
            del self._left_out[pair]
        elif not counts and pair not in self._left_out:
            self._counted[pair] = self.record(pair)
            self._left_out[pair] = None

    def balls(self, nats: float) -> JointBalls:
        """Return what is plausible of the pairs, with a chance of ``exp(-nats)`` to err."""
        return JointBalls(nats, self._sets, self._since())

    @property
    def executions(self) -> tuple[int, ...]:
        """Return how often each pair was executed that was."""
        return tuple(record.made for record in self._since().values() if record.made)

    def _since(self) -> dict[Pair, Record]:
        return {pair: self.record(pair) for pair in self._before}


class JointBalls:
    """
    The balls of some pairs, each with the whole budget.

    :ivar counts: of the run.
    :ivar budget: ``B``.
    """

    def __init__(self, nats: float, sets: ConfidenceSets, records: dict[Pair, Record]) -> None:
        self.counts, self._sets, self._records = sets.counts, sets, records
        self.budget = nats + math.fsum(map(_excess, records.values()))

    def made(self, pair: Pair) -> int:
        """Return ``n_x``."""
        record = self._records.get(pair)
        return 0 if record is None else record.made

    def lost(self, pair: Pair) -> int:
        """Return how many steps of the pair were ever broken off."""
        return self._sets.lost(pair)

    def ball(self, state: int, action: int) -> tuple[list[float], float]:
        """Return ``f`` in the order of the counts, the reserved place last, and the radius."""
        pair, nexts = (state, action), self.counts.next_states(state, action)
        made = self.made(pair)
        if not made:
            return [0.0] * (len(nexts) + 1), math.inf
        record = self._records[pair]
        tally = [*(record.tally.get(end, 0) for end in nexts), record.lost]
        return [count / made for count in tally], self.budget / made


def _excess(record: Record) -> float:
    """Return ``G_x``."""
    counts = [count for count in (*record.tally.values(), record.lost) if count]
    made = sum(counts)
    return record.paid + math.fsum(count * math.log(count / made) for count in counts)


class JointModel(PolicyModel):
    """
    One policy under the joint budget.

    :param balls: of the pairs of the policy.
    :param policy, limit, support: as for ``PolicyModel``.
    """

    def __init__(self, balls: JointBalls, policy: Policy, limit: float,
                 support: Support) -> None:
        super().__init__(balls.counts, balls, policy, limit, support)
        self._budget = balls.budget
        self._made = np.array([balls.made(pair) for pair in zip(
            policy.states, policy.actions[0])])

    def bound(self) -> float:
        """Return steps that ``E[X]`` of an attempt does not exceed."""
        drives = self._drives()
        alone = self._backwards(drives)
        bound = float(alone[-1][0])
        if bound > self._limit and not self._resets[0] and not (
                drives and drives.by_one_row(self._policy.horizon) > self._limit):
            bound = min(bound, self._together(alone))
        return bound

    def _drives(self) -> _Drives | None:
        """Return the rows if each leads to no more than two columns, for sure."""
        slots = [self.slots(row) for row in range(len(self._resets))]
        if self._resets.any() or not self._closed.all() or max(map(len, slots)) > 2:
            return None
        return _Drives(slots, self._budget, self._made, self._at_last())

    def _backwards(self, drives: _Drives | None) -> list[Floats]:
        """Return what the pairs take at worst, each for itself, from the end on."""
        values, tilts = [self._at_last()], np.full(len(self._resets), np.nan)
        for _ in range(self._policy.horizon):
            values.append(self._step_back(
                values[-1], drives.worst(values[-1]) if drives else
                self._worst(values[-1], tilts)[0]))
        return values

    def _together(self, alone: Sequence[Floats]) -> float:
        """Return the same by the joint budget, from ``U`` at the end and backwards."""
        rows = self.rows()
        kernels = _Kernels([self.slots(row) for row in rows], rows, self._budget,
                           self._made[rows], self._closed[rows])
        taken = np.full((len(kernels.shares), len(rows)), 1 + self._limit)    # W
        together = np.full((_UNITS + 1, len(rows)), 1 + self._limit)    # Z
        for elsewhere in alone[:-1]:
            taken = 1 + kernels.worst(taken, together, elsewhere)
            together = np.maximum.reduceat(taken, kernels.first_shares)
        return float(together[_UNITS, 0])

    def rows(self) -> list[int]:
        """Return the states that it may come to and play no RESET in, far ones first."""
        known = len(self._resets)
        met, todo = {0: None}, [0]
        while todo:
            row = todo.pop()
            for column in self.slots(row):
                if column < known and not self._resets[column] and column not in met:
                    met[column] = None
                    todo.append(column)
        plain = self._at_last()
        for _ in range(self._policy.horizon):
            plain = self._plain_before(plain)
        return [0, *sorted((row for row in met if row), key=lambda row: (-plain[row], row))]

    def slots(self, row: int) -> dict[int, float]:
        """Return the columns to which a row may lead, and how often it did, if it is closed."""
        found = dict.fromkeys(self._ends[row].tolist() if self._closed[row] else (), 0.0)
        for column, fraction, reserved in zip(
                self._following[row].tolist(), self._fractions[row].tolist(),
                self._reserved[row].tolist()):
            if not reserved and (fraction or not self._closed[row]):
                found[column] = found.get(column, 0.0) + fraction
        return found


class _Drives:
    """
    Rows that lead to one or two columns each, and nowhere else.

    :param slots: of each row, by column.
    :param budget: ``B``.
    :param made: executions of each row.
    :param last: the values at the end, by column.
    """

    def __init__(self, slots: Sequence[dict[int, float]], budget: float, made: Indices,
                 last: Floats) -> None:
        self._columns, self._fractions = _two_slots(slots)
        self._last = last
        radius = np.full((1, len(slots)), np.inf)
        np.divide(budget, made, out=radius[0], where=made > 0)
        (self._least,), (self._most,) = _chances(slots, self._fractions, radius)

    def worst(self, values: Floats) -> Floats:
        """Return the most steps before ``values``, each row with the whole budget."""
        one, other = values[self._columns.T]
        found: Floats = 1 + other + np.where(
            one > other, self._most, self._least) * (one - other)
        return found

    def by_one_row(self, horizon: int) -> float:
        """
        Return steps that the joint budget allows at home: all of it is for the worst row.

        It is no more than ``Z_0(home, B)``, which takes far longer.
        """
        size = len(self._columns)
        own = np.arange(size)
        values = np.tile(self._last, (size, 1))    # as [row that has the budget, column]
        chance = np.tile(self._fractions[:, 0], (size, 1))
        chance[:, self._columns[:, 0] == self._columns[:, 1]] = 1.0
        for _ in range(horizon):
            one, other = values[:, self._columns[:, 0]], values[:, self._columns[:, 1]]
            chance[own, own] = np.where(
                one[own, own] > other[own, own], self._most, self._least)
            values[:, :size] = 1 + other + chance * (one - other)
        return float(values[:, 0].max())


class _Kernels:
    """
    The rows of some states, and which distributions are plausible of each.

    :param slots: of each row, by column.
    :param rows: their columns, in the order of the states.
    :param budget: ``B``.
    :param made: executions of each row.
    :param closed: whether a row leads nowhere else.
    :ivar shares: units that a row takes, and that are left behind it, by their sum.
    :ivar first_shares: where each sum begins.
    """

    def __init__(self, slots: Sequence[dict[int, float]], rows: Sequence[int], budget: float,
                 made: Indices, closed: Bools) -> None:
        place = {column: number for number, column in enumerate(rows)}
        columns, self._fractions = _two_slots(slots)
        behind = np.vectorize(lambda column: place.get(column, -1), otypes=[np.intp])(columns)
        own = np.arange(len(rows))[:, None]
        self._closed = closed
        self.shares = np.array([(own, both - own) for both in range(_UNITS + 1)
                                for own in range(both + 1)])
        self.first_shares = np.flatnonzero(self.shares[:, 0] == 0)
        mine, left = self.shares.T
        # Where the value of each slot is found, in ``taken``, ``together`` and ``elsewhere`` one
        # after the other, as [share, row, slot].
        after = len(self.shares) * len(rows)
        self._ahead = np.where(
            behind == own, (np.arange(len(mine))[:, None] * len(rows) + own.T)[..., None],
            np.where(behind > own, after + left[:, None, None] * len(rows) + behind,
                     after + (_UNITS + 1) * len(rows) + columns))
        levels = budget / _UNITS * np.minimum(_UNITS, np.arange(_UNITS + 1) + 1)
        radius = np.full((len(levels), len(rows)), np.inf)
        np.divide(levels[:, None], made, out=radius, where=made > 0)
        self._radius = radius[mine]
        self._more = np.flatnonzero(~closed | np.array([len(each) > 2 for each in slots]))
        self._tilts: Floats | None = None
        least, most = _chances(slots, self._fractions, radius)
        self._least, self._most = least[mine], most[mine]

    def worst(self, taken: Floats, together: Floats, elsewhere: Floats) -> Floats:
        """
        Return what is to come after a step in the worst case, as [share, row].

        :param taken, together: ``W`` as [share, row], and ``Z`` as [units, row].
        :param elsewhere: ``U``, as [column].
        """
        ahead = np.concatenate([taken.ravel(), together.ravel(), elsewhere])[self._ahead]
        one, other = ahead[..., 0], ahead[..., 1]
        chance = np.where(one > other, self._most, self._least)
        result: Floats = other + chance * (one - other)
        if len(self._more):
            result[..., self._more] = self._worst_of_more(
                ahead[:, self._more], float(elsewhere.max()))
        return result

    def _worst_of_more(self, ahead: Floats, highest: float) -> Floats:
        """Do the same for rows that lead to more than two columns, or anywhere."""
        top = np.where(self._closed[self._more], ahead.max(axis=-1), highest)
        gains = np.maximum(0.0, top[..., None] - ahead).reshape(-1, ahead.shape[-1])
        fractions = np.broadcast_to(self._fractions[self._more], ahead.shape).reshape(
            gains.shape)
        radius = np.broadcast_to(self._radius[:, self._more], top.shape).ravel()
        if self._tilts is None:
            self._tilts = np.full(len(gains), np.nan)
        _, gain = least_mean(fractions, gains, radius, self._tilts)
        found: Floats = top - gain.reshape(top.shape)
        return found


def _two_slots(slots: Sequence[dict[int, float]]) -> tuple[Indices, Floats]:
    """Return columns and fractions as [row, slot]; what is empty is the first column again."""
    width = max(2, max(map(len, slots)))
    columns, fractions = np.zeros((len(slots), width), dtype=np.intp), np.zeros(
        (len(slots), width))
    for number, each in enumerate(slots):
        found = [*each] or [0]
        columns[number] = found + found[:1] * (width - len(found))
        fractions[number, :len(each)] = [*each.values()]
    return columns, fractions


def _chances(slots: Sequence[dict[int, float]], fractions: Floats,
             radius: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most chance of the first slot, as [level, row]."""
    one = np.array([len(each) == 1 for each in slots])
    least, most = _between(np.where(one, 1.0, fractions[:, 0]), radius)
    least[:, one] = most[:, one] = 1.0
    return least, most


def _between(fractions: Floats, radius: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most chance of one of two, as [level, row], a little too wide."""
    ends = np.array([0.0, 1.0])[:, None, None]
    inner = np.broadcast_to(fractions, (2, *radius.shape)).copy()
    outer = np.broadcast_to(ends, inner.shape).copy()
    for _ in range(_BISECTIONS):
        middle = (inner + outer) / 2
        inside = _divergence(fractions, middle) <= radius
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    least, most = np.where(np.isinf(radius), ends, outer)
    return least, most


def _divergence(one: Floats, other: Floats) -> Floats:
    """Return ``KL(Bernoulli(one) || Bernoulli(other))``."""
    with np.errstate(divide='ignore', invalid='ignore'):
        found: Floats = (np.where(one > 0, one * np.log(one / other), 0.0)
                         + np.where(one < 1, (1 - one) * np.log((1 - one) / (1 - other)), 0.0))
    return found
