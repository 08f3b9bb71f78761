# SPDX-License-Identifier: Apache-2.0

"""
Predictions of each row by what all rows did, and their cost.

Rows are compared by *roles*: to stay, the first other state that was seen to follow, the second,
and so on; a *kind* of row has so many others. What follows a row is predicted in proportion to
what followed so far and the weights of the roles, as with a Dirichlet prior. What was not seen
there before has a small weight, and does not count when it comes, as it is paid for as if it had
been certain; nor does the first execution, which need not be predicted. Where moves hardly ever
fail, that is soon known of all rows.

The weights are learnt from all rows, and stay as they are from one check to the next. So a
prediction depends on the past alone, and what came between two checks costs the same in any
order. What came in a row before it was examined is predicted by the first weights, as those since
may have been learnt after it.
"""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.core.model.counts import Bools, Floats, Indices
import numpy as np

_ROLES = 4    # to stay, first, second, all others
_STRENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
_SMOOTHING = 0.5    # executions of each role, to begin with
_NEW, _LEAST_NEW, _MOST_NEW = 0.25, 0.02, 1.0    # weights of what was not seen there before
_GROWTH = 1.1    # of the executions, until the weights are learnt again


class RowPredictions:
    """
    The predictions of rows, and what counts of what came.

    :ivar before: what came before all began, as [row, slot].
    :ivar aside: that, and what else does not count, as [row, slot].
    :ivar paid: code length of what came since, in nats, as [row].
    """

    def __init__(self) -> None:
        self.before: Floats = np.zeros((0, 0))
        self.aside: Floats = np.zeros((0, 0))
        self.paid: Floats = np.zeros(0)
        self._seen: Floats = np.zeros((0, 0))    # as [row, slot], when last examined
        self._carried_rows: set[int] = set()
        self._late_rows: set[int] = set()
        self._weights, self._new = _at_first()    # as [kind, role] and [kind]
        self._learnt_from = 0.0

    def begin(self) -> None:
        """Let only what comes from now on count."""
        self.before, self.aside = self._seen.copy(), self._seen.copy()
        self.paid[:] = 0.0

    def forget(self, row: int) -> None:
        """Begin again with a row of which nothing is counted any more."""
        if row < len(self.paid):
            self.paid[row] = 0.0
            self.before[row] = self.aside[row] = self._seen[row] = 0.0
        self._carried_rows.discard(row)
        self._late_rows.discard(row)

    def enter_late(self, row: int) -> None:
        """Predict what a row did so far by the first weights, when it is examined next."""
        self._late_rows.add(row)

    def set_aside(self, row: int, tally: Floats) -> None:
        """Let nothing count that came in a row so far, as [slot]."""
        self._grow((row + 1, len(tally)))
        self.forget(row)
        for each in (self.before, self.aside, self._seen):
            each[row, :len(tally)] = tally

    def carry(self, row: int) -> None:
        """Predict a row by itself alone, as its kept samples came before all others."""
        self._carried_rows.add(row)

    def look(self, tally: Floats, stays: Bools, declared: Bools,
             first_slot: Callable[[int], int]) -> None:
        """
        Predict what has come since the last time.

        :param tally: of all rows, as [row, slot].
        :param stays, declared: whether that is to stay, and to be expected, as [row, slot].
        :param first_slot: that of the first execution of a row.
        """
        self._grow(tally.shape)
        news = (tally > self._seen[:, :tally.shape[1]]).any(axis=1)
        carried = np.zeros(len(tally), dtype=np.bool_)
        carried[[*self._carried_rows]] = True
        fresh = news & ~self._seen.any(axis=1) & ~carried & ~declared.any(axis=1)
        for row in np.flatnonzero(fresh).tolist():
            slot = first_slot(row)
            self._seen[row, slot] = self.aside[row, slot] = 1.0
        again = news & carried    # in one piece, whenever it was examined
        self._seen[again] = self.aside[again] = self.paid[again, None] = 0.0
        rows = np.flatnonzero(news)
        if len(rows):
            self._predict(rows, tally[rows], stays[rows], declared[rows])
        made = float(tally.sum())
        if made > _GROWTH * self._learnt_from:
            self._learnt_from = made
            self._weights, self._new = _learnt(tally, stays, declared)

    def _predict(self, rows: Indices, tally: Floats, stays: Bools, declared: Bools) -> None:
        """Pay for what is in the tally of some rows and was not seen yet."""
        width = tally.shape[1]
        before, alone = self._seen[rows, :width], np.array([
            row in self._carried_rows or row in self._late_rows for row in rows.tolist()])
        self._late_rows.difference_update(rows.tolist())
        known = stays | declared | (before > 0)
        kinds, (weights, new) = _kinds(known, stays), _at_first()
        weights = np.where(alone[:, None], weights[kinds], self._weights[kinds])
        new = np.where(alone, new[kinds], self._new[kinds])
        more = tally - before
        own = np.where(known, np.take_along_axis(weights, _roles(stays), axis=1) + before, 0.0)
        total = np.where(stays, 0.0, own).sum(axis=1) + weights[:, 0] + new + np.where(
            stays, before, 0.0).sum(axis=1)
        first = ~known & (more > 0)
        # A new state has the weight of one execution from the second on.
        likely = np.where(known, _rising(np.where(known, own, 1.0), more), np.where(
            first, _rising(np.ones_like(more), np.maximum(0.0, more - 1)), 0.0))
        self.paid[rows] += (_rising(total, more.sum(axis=1)) - likely.sum(axis=1)
                            - first.sum(axis=1) * np.log(new))
        self.aside[rows, :width] += first
        self._seen[rows, :width] = tally

    def _grow(self, shape: tuple[int, ...]) -> None:
        more = [(0, max(0, wanted - there)) for wanted, there in zip(shape, self._seen.shape)]
        if more != [(0, 0), (0, 0)]:
            self.before, self.aside, self._seen = (
                np.pad(each, more) for each in (self.before, self.aside, self._seen))
            self.paid = np.pad(self.paid, more[0])


def _at_first() -> tuple[Floats, Floats]:
    """Return the weights as [kind, role], and that of what is new, as [kind]."""
    return np.full((_ROLES, _ROLES), _SMOOTHING), np.full(_ROLES, _NEW)


def _roles(stays: Bools) -> Indices:
    """Return the role of each slot."""
    found: Indices = np.where(stays, 0, np.minimum(np.cumsum(~stays, axis=1), _ROLES - 1))
    return found


def _kinds(known: Bools, stays: Bools) -> Indices:
    """Return the kind of each row."""
    found: Indices = np.minimum((known & ~stays).sum(axis=1), _ROLES - 1)
    return found


def _learnt(tally: Floats, stays: Bools, declared: Bools) -> tuple[Floats, Floats]:
    """Return weights with which all that came would have cost little."""
    weights, new = _at_first()
    known = stays | declared | (tally > 0)
    kinds, roles, made = _kinds(known, stays), _roles(stays), tally.sum(axis=1)
    for kind in set(kinds[made > 0].tolist()):
        rows = (kinds == kind) & (made > 0)
        counts, there = tally[rows], known[rows]
        of = roles[rows]
        each = np.bincount(of.ravel(), counts.ravel(), _ROLES) + _SMOOTHING
        several = np.bincount(of[there], minlength=_ROLES) / len(counts)    # in a row
        base = each / each[:kind + 1].sum() / np.maximum(1.0, several)
        tried = np.multiply.outer(_STRENGTHS, base)
        own = np.where(there, tried[:, of], 1.0)
        total = np.where(there & ~stays[rows], own, 0.0).sum(axis=2) + tried[:, :1]
        gained = (_rising(own, np.broadcast_to(counts, own.shape)).sum(axis=2)
                  - _rising(total, np.broadcast_to(made[rows], total.shape))).sum(axis=1)
        weights[kind] = tried[gained.argmax()]
        # Rows of later kinds were of this one, until one more followed; but for the first.
        beyond = (kinds > kind).sum() if kind else 0
        new[kind] = np.clip((_NEW + beyond) / (1 + np.log1p(made[kinds >= kind]).sum()),
                            _LEAST_NEW, _MOST_NEW)
    return weights, new


def _rising(start: Floats, steps: Floats) -> Floats:
    """Return the logarithm of ``start (start + 1) ...``, of so many factors."""
    # Takes a while, which the start of a node need not.
    from scipy.special import gammaln
    found: Floats = gammaln(start + steps) - gammaln(start)
    return found
