# SPDX-License-Identifier: Apache-2.0

"""
What is plausible of rows that share a budget of nats: the computation of ``joint.py``.

``Kernels`` is for any rows that share it. ``drives_backwards`` is for rows that lead to two
columns at most, each with the whole budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from mnm_ros.core.model.counts import Bools, Floats, Indices
from mnm_ros.core.statistics.kl_ball import least_mean
import numpy as np

_MOST_NEWTON_STEPS = 40
_CLOSE = 1e-13    # nats beyond the radius
_WIDER = 1e-12    # for rounding
_NEARLY_SURE = 1 - 1e-12


class Shares(NamedTuple):
    """
    How units of a budget are divided.

    :ivar units: in all.
    :ivar mine, left: units that a row takes, and that are left behind it, by their sum.
    :ivar first: where each sum begins.
    """

    units: int
    mine: Indices
    left: Indices
    first: Indices


@cache
def shares(units: int) -> Shares:
    """Return all divisions of up to so many units."""
    mine, left = np.array([(own, both - own) for both in range(units + 1)
                           for own in range(both + 1)]).T
    return Shares(units, mine, left, np.flatnonzero(mine == 0))


class Rows(NamedTuple):
    """
    What is plausible of some rows, beside their slots.

    :ivar made: executions.
    :ivar own: ``G_x - r_x``.
    :ivar closed: whether a row leads nowhere else.
    :ivar floors: ``c_x``, of those that are ``floored``.
    :ivar on: the columns of the ends to which these lead on.
    """

    made: Indices
    own: Floats
    closed: Bools
    floors: Floats
    floored: Bools
    on: Indices

    def some(self, chosen: list[int]) -> Rows:
        """Return some of them, in this order."""
        return Rows(self.made[chosen], self.own[chosen], self.closed[chosen],
                    self.floors[chosen], self.floored[chosen], self.on[chosen])

    def radius(self, levels: Floats) -> Floats:
        """Return the radius of the ball of each row that takes so many nats, as [level, row]."""
        found = np.full((len(levels), len(self.made)), np.inf)
        np.divide(levels[:, None] + self.own, self.made, out=found, where=self.made > 0)
        return found

    def chances(self, slots: Sequence[dict[int, float]], columns: Indices, fractions: Floats,
                levels: Floats) -> tuple[Floats, Floats]:
        """Return the least and the most chance of the first slot, as [level, row]."""
        one = np.array([len(each) == 1 for each in slots])
        least, most = _between(np.where(one, 1.0, fractions[:, 0]), self.radius(levels))
        first = columns[:, 0] == self.on
        least = np.where(self.floored, np.minimum(
            least, np.where(first, self.floors, 0.0)), least)
        most = np.where(self.floored, np.maximum(
            most, np.where(first, 1.0, 1 - self.floors)), most)
        least[:, one] = most[:, one] = 1.0
        return least, most


def drives_backwards(slots: Sequence[dict[int, float]], rows: Rows, budget: float,
                     last: Floats, horizon: int) -> list[Floats]:
    """
    Return the most steps at each step, each row with the whole budget, from the end on.

    :param slots: of each row, by column; one or two, and it leads nowhere else.
    :param rows: what is plausible of them.
    :param budget: ``B``.
    :param last: the values at the end, by column: of the rows, elsewhere, and the target.
    """
    columns, fractions = _two_slots(slots)
    one, other = columns.T
    (least,), (most,) = rows.chances(slots, columns, fractions, np.array([budget]))
    values = np.tile(last, (horizon + 1, 1))
    highest = last[-2]
    for before, after in zip(values[1:], values):
        ahead = after[other]
        more = after[one] - ahead
        before[:-2] = 1 + ahead + np.where(more > 0, most, least) * more
        before[-2] = max(highest, 1 + after[0])
    return [*values]


class Kernels:
    """
    The rows of some states, and which distributions are plausible of each.

    :param slots: of each row, by column.
    :param rows: their columns, in the order of the states.
    :param plausible: what is plausible of them.
    :param budget: ``B``.
    :param by: the shares in which it is divided.
    :param least: whether a row that takes some units has the ball of just these. Else it has that
        of one unit more, so that what it takes between two numbers of units is in it, too.
    """

    def __init__(self, slots: Sequence[dict[int, float]], rows: Sequence[int],
                 plausible: Rows, budget: float, by: Shares, *, least: bool = False) -> None:
        found, self._fractions = _two_slots(slots)
        all_slots = np.concatenate([found, plausible.on[:, None]], axis=1)
        place = np.full(1 + max(all_slots.max(), *rows), -1)
        place[[*rows]] = np.arange(len(rows))
        behind = place[all_slots]
        own = np.arange(len(rows))[:, None]
        self._plausible = plausible
        self._more = np.flatnonzero(
            ~plausible.closed | np.array([len(each) > 2 for each in slots]))
        if not len(self._more):
            all_slots, behind = all_slots[:, :2], behind[:, :2]
        # Where the value of each slot, and of the end that is led on to, is found, in ``taken``,
        # ``together`` and ``elsewhere`` one after the other, as [share, row, slot].
        after = len(by.mine) * len(rows)
        self._ahead = np.where(
            behind == own, (np.arange(len(by.mine))[:, None] * len(rows) + own.T)[..., None],
            np.where(behind > own, after + by.left[:, None, None] * len(rows) + behind,
                     after + (by.units + 1) * len(rows) + all_slots))
        taken = np.arange(by.units + 1)
        levels: Floats = budget / by.units * (
            taken if least else np.minimum(by.units, taken + 1)).astype(float)
        self._radius = plausible.radius(levels)[by.mine]
        self._tilts: Floats | None = None
        self._least, self._most = (chance[by.mine] for chance in plausible.chances(
            slots, found, self._fractions, levels))

    def worst(self, taken: Floats, together: Floats, elsewhere: Floats) -> Floats:
        """
        Return what is to come after a step in the worst case, as [share, row].

        :param taken, together: ``W`` as [share, row], and ``Z`` as [units, row].
        :param elsewhere: ``U``, as [column].
        """
        ahead = np.concatenate([taken.ravel(), together.ravel(), elsewhere])[self._ahead]
        other = ahead[..., 1]
        more = ahead[..., 0] - other
        result: Floats = other + np.where(more > 0, self._most, self._least) * more
        if len(self._more):
            result[..., self._more] = self._worst_of_more(
                ahead[:, self._more, :-1], ahead[:, self._more, -1], float(elsewhere.max()))
        return result

    def _worst_of_more(self, ahead: Floats, on: Floats, highest: float) -> Floats:
        """Do the same for rows that lead to more than two columns, or anywhere."""
        rows = self._plausible
        top = np.where(rows.closed[self._more], ahead.max(axis=-1), highest)
        gains = np.maximum(0.0, top[..., None] - ahead).reshape(-1, ahead.shape[-1])
        fractions = np.broadcast_to(self._fractions[self._more], ahead.shape).reshape(
            gains.shape)
        radius = np.broadcast_to(self._radius[:, self._more], top.shape).ravel()
        if self._tilts is None:
            self._tilts = np.full(len(gains), np.nan)
        _, gain = least_mean(fractions, gains, radius, self._tilts)
        found = top - gain.reshape(top.shape)
        free = top - rows.floors[self._more] * (top - on)    # above its floor, at worst
        worst: Floats = np.where(rows.floored[self._more], np.maximum(found, free), found)
        return worst


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


def _between(fractions: Floats, radius: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most chance of one of two, as [level, row], a little too wide."""
    return _least_chance(fractions, radius), 1 - _least_chance(1 - fractions, radius)


def _least_chance(fractions: Floats, radius: Floats) -> Floats:
    """
    Return the least chance in the balls around some fractions, a little too small.

    ``KL(f || p)`` is convex in ``log p``, and no less than its asymptote ``-f log p - H(f)``. So
    Newton's method from where that meets the radius stays outside of the ball.
    """
    seen = (fractions > 0) & np.isfinite(radius)
    often, room = np.where(seen, fractions, 1.0), np.where(seen, radius, 0.0)
    rarely = 1 - often
    room = room - often * np.log(often) - rarely * np.log(np.where(rarely > 0, rarely, 1.0))
    logs = -room / often
    for _ in range(_MOST_NEWTON_STEPS):
        chance = np.minimum(np.exp(logs), _NEARLY_SURE)
        beyond = -often * logs - rarely * np.log1p(-chance) - room
        if not (beyond > _CLOSE).any():
            break
        logs += beyond / (often - rarely * chance / (1 - chance))
    return np.where(seen, np.maximum(0.0, np.exp(logs) - _WIDER), 0.0)
