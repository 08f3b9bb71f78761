# SPDX-License-Identifier: Apache-2.0

"""
What may be true of a state that is missing, given how often which transition was seen.

Order the states of ``S_L->`` as they become reachable, home first. If exploration stopped with one
missing, take the first missing state ``s``, of rank ``i``; all earlier ones are in ``K``, so ``i
<= |K| + 1``. By definition some fixed policy ``pi`` on those reaches ``s`` within ``L`` expected
steps. Let ``v`` be its expected steps to go, a fixed function of the state with ``v(s) = 0`` and
``1 + v(home)`` outside of those, ``p`` the probability of ``s`` after a pair of ``pi``, and ``r =
-log(1 - p)``. Given all that came before, the next state of a pair is drawn from its distribution
``P``, whenever that is. Where steps are broken off, only those that were answered are used, and
the next state of such a step is drawn from some ``P_t`` that may vary with time and with all that
came before. Write ``P'`` and ``P_t'`` for ``P(. | not s)`` and ``P_t(. | not s)``. The assumption
is

    P_t(s) >= p  and  P_t' v <= P' v  at all times.

It holds if at no time an outcome is more likely to be broken off than another one from which
``pi`` takes more steps (Chebyshev's inequality: chances of an answer that fall with ``v`` make
``s``, where ``v`` is 0, no less likely, and no mean of ``v`` larger). For each of the ``i - 1``
pairs of ``pi``, these are nonnegative supermartingales that start at 1, whatever ``P`` and
``P_t``:

- 1,
- ``H``: ``(1 - p)^-N``, and 0 once ``s`` has followed,
- ``V``: bets on ``v(next) - P v``, mixed as in the universal portfolio of Cover & Ordentlich 1996,
  so that ``log V >= N KL_inf(P^, P v) - log 2 - log(N + 1) / 2``; ``KL_inf(P^, m)`` is the least
  ``KL(P^ || Q)`` over ``Q`` with mean at most ``m`` that may put mass on the value 0,
- ``U``: the same for bets on ``v(next) - P' v``, as long as ``s`` does not follow, times ``H``;
  ``Q`` may put mass on the least ``v`` of a known state, as ``P'`` leads to nothing better.

With a bet ``b >= 0``, an answered step changes the capital by a factor of mean ``(1 - P_t(s)) / (1
- p)`` in ``H``, ``1 + b (P_t v - P v)`` in ``V`` and ``(1 - P_t(s)) / (1 - p) (1 + b (P_t' v - P'
v))`` in ``U``, none of which is above 1: ``P_t v = (1 - P_t(s)) P_t' v <= (1 - p) P' v = P v``.
For ``U`` it would not be enough that ``P_t(s) >= p`` and ``P_t v <= P v``: where ``s`` follows
more often, what follows else may be worse, and its bets are larger than those of ``V``.

So is a mixture of them with fixed weights, ``M = (1 - w) (a + (1 - a) H) + w (b V + (1 - b) U)``,
and the product of the ``M`` of all ``i - 1`` pairs, in whatever order they are executed. With
probability ``1 - d`` that is at most ``1/d`` at all times (Ville), where ``d`` is the ``share`` of
``delta`` for number ``i - 1`` (*What is given* has another one). ``M`` is at least the floor ``m =
1 - w`` as long as ``s`` has not followed, and ``m = (1 - w) a`` in any case. Call ``e = log(M /
m)`` what a pair has *spent*, in nats. All pairs of ``pi`` together have spent at most the *budget*
``B = log(1/d) - (i - 1) log(1 - w) - n log(a)`` if ``s`` has followed ``n`` of them. What is
plausible for a pair that has spent ``e`` is its *region*:

- if ``s`` has not followed it, ``N r <= log((exp(e) - a) / (1 - a))`` and ``N (KL_inf(P^, P' v) +
  r) <= log((exp(e) - 1) (1 - w) / (w (1 - b))) + log 2 + log(N + 1) / 2``,
- else ``N KL_inf(P^, P v) <= log((exp(e) - 1) (1 - w) a / (w b)) + log 2 + log(N + 1) / 2``.

``B`` and the region are largest for the last rank that is possible and for all known states that
``s`` has followed, so that these are taken. A state in which ``pi`` plays RESET counts as well, as
a pair that is never executed.

**What is given.** A run may begin with a set ``C`` of known states, which the past decides. If
``s`` is outside of ``C``, it has a number ``j`` among the states of ``S_L->`` outside of ``C``, in
their order. All before it are in ``K``, so that ``j <= |K - C| + 1``, which is 1 if nothing new
was found. Given the past, the state of number ``j`` is as fixed as that of rank ``i`` is, so that
``d`` is ``7 / (8 j (j + 1))`` of ``delta``; ``|C| + j >= i`` takes the place of ``i``. Those in
``C`` are missing only if they are known no more: then each has ``1 / (8 |C| j (j + 1))``, with ``j
- 1`` states outside of ``C`` before it.

**What is carried.** Of some pairs a rediscovery counts all that was seen since their detectors
were made, before it began, too. Which ones depends on what they did, so that their products are
not 1 when it begins, and states are no more numbered by what is given: neither the budget nor
``j`` is for them. Instead each has its own statement. For detector number ``m`` and the missing
state of rank ``i``, home first, let ``A`` be the ``M`` of the pair of ``pi`` that this detector is
for, from the making of the detector on. Both numbers are fixed then, and the transitions of a pair
at rest are independent whenever they are made; so ``A`` ever reaches ``1/d`` with probability at
most ``d``. With ``d = share(m) share(i - 1)`` of a part of the round's delta, all ``A`` stay below
at once, for all rediscoveries of the round, whichever they carry and when. The region of a pair
that is carried is that of ``A``, whatever it has spent. Its ``M`` in the run is at least its
floor, and so the budget of the others is what it was.

The number of candidates and of actions does not enter, and samples may come from anywhere and any
time since the CMP last changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
import math
from typing import NamedTuple

from mnm_ros.core.model.counts import Bools, Floats, Indices
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
from mnm_ros.core.statistics.kl_ball import least_mean
import numpy as np

_OUTSIDE = 7 / 8
"""Of delta, for states that were not given; the rest is for those given, should one get lost."""

LEVELS = (0.0, 0.1, 0.25, 0.5, *(0.75 * 1.25 ** power for power in range(15)))
"""Nats that a pair may have spent; in between, it has the region of the next level."""

# The weights of the mixture. A short way bends few pairs, so that the weight of all bets together
# grows with ``L``; with 6, the budget would no longer grow with the rank. A row that saw one of
# several targets has no smaller region than one that saw none, as ``a / b >= 1 / (1 - b)``.
_IDLE = 0.25    # a
_SEERS = 0.15    # b
_BETS_PER_STEP = 0.125
_MOST_BETS = 5.5
_MOST_WEIGHT = 0.25    # w


@dataclass(frozen=True)
class ConfidenceRegion:
    """
    How far rows may be from their counts, for one target.

    :ivar budget: in nats.
    :ivar spent: the least that is spent, as [level].
    :ivar saw: whether the target followed, as [row].
    :ivar radius: of the whole ball, mass on the target included, as [level, row].
    :ivar mass: the most on a target that did not follow, as [level, row].
    :ivar rest: the radius that is left then, as [level, row].
    """

    budget: float
    spent: Floats
    saw: Bools
    radius: Floats
    mass: Floats
    rest: Floats

    def less(self, times: float) -> ConfidenceRegion:
        """Return the region that would be left by so many times the samples."""
        return replace(self, radius=self.radius / times, mass=self.mass / times,
                       rest=self.rest / times)

    def at(self, cells: Indices) -> ConfidenceRegion:
        """Return the region of some cells, as [cell], by their places in [level, row]."""
        level, row = np.divmod(cells, len(self.saw))
        return replace(self, spent=self.spent[level], saw=self.saw[row], radius=np.take(
            self.radius, cells), mass=np.take(self.mass, cells), rest=np.take(self.rest, cells))


@dataclass(frozen=True)
class Favourable:
    """
    The most favourable distribution of each of some rows.

    :ivar masses: on what followed, as [row, slot].
    :ivar left: on whichever state has the lowest value, as [row]; what lacks is on the target.
    :ivar expected: steps to go after the step, as [row].
    """

    masses: Floats
    left: Floats
    expected: Floats


_HARDLY = 1e-9
"""Chance of the target where it is declared not to follow; with none, some ways would not end."""


class Rank(NamedTuple):
    """
    Which missing state it is.

    :ivar number: in the order in which they become reachable, at most.
    :ivar part: of the delta.
    """

    number: int
    part: float

    @classmethod
    def last(cls, states: Collection[int], given: Collection[int],
             targets: Sequence[int | None]) -> Rank:
        """
        Return the last rank that is possible.

        :param states: that are known.
        :param given: those that were known when the first transition was drawn.
        :param targets: any of which may be missing; None for a state that was never seen.
        """
        if not given:
            return cls(len(states) + 1, share(len(states), EVEN_PARTS))
        lost = set(given).difference(states)
        others = len(states) + len(lost) - len(given) + 1
        inside = lost.intersection(targets) or lost and None in targets
        part = (1 - _OUTSIDE) / len(given) if inside else _OUTSIDE
        return cls(len(given) + others, part / (others * (others + 1)))


def budget(rank: Rank, delta: float, radius: float, seers: int = 0) -> float:
    """Return ``B`` for a missing state of this rank."""
    pairs = rank.number - 1
    return (-math.log(rank.part * delta)
            - pairs * math.log1p(-_weight(rank.number, radius)) - seers * math.log(_IDLE))


def _weight(rank: int, radius: float) -> float:
    """Return ``w``."""
    return min(_MOST_WEIGHT, min(_MOST_BETS, _BETS_PER_STEP * radius) / (rank - 1))


def confidence_region(model: EmpiricalModel, hits: Bools, leads: Bools, seers: int, rank: Rank,
                      delta: float, radius: float, levels: Sequence[float],
                      carried: Floats | None = None) -> ConfidenceRegion:
    """
    Return the region for a target that followed in so many of the known states.

    :param carried: ``log(1/d)`` of the rows that are carried, else NaN, as [row]; None for none.
    """
    total, weight = budget(rank, delta, radius, seers), _weight(rank.number, radius)
    spent = np.array([level for level in levels if level < total])
    most = np.append(spent[1:], total)[:, None]
    saw = np.asarray(np.any(hits, axis=1))
    if carried is not None:
        own = carried - math.log1p(-weight) - np.where(saw, math.log(_IDLE), 0.0)
        most = np.where(np.isnan(own), most, own)
    floor = (1 - weight) / weight * np.where(saw, _IDLE / _SEERS, 1 / (1 - _SEERS))
    jump = np.log((np.exp(most) - _IDLE) / (1 - _IDLE))
    whole = np.maximum(0.0, np.log(np.expm1(most) * floor) + math.log(2)
                       + np.log1p(model.visits) / 2)
    with np.errstate(divide='ignore', invalid='ignore'):
        return ConfidenceRegion(
            total, spent, saw, radius=whole / model.visits,
            mass=np.where(leads, -np.expm1(-jump / model.visits), _HARDLY),
            rest=np.maximum(0.0, whole - np.where(leads, jump, 0.0)) / model.visits)


def most_favourable(fractions: Floats, region: ConfidenceRegion, ahead: Floats, lowest: Floats,
                    tilts: Floats) -> Favourable:
    """
    Return the least plausible steps to go of some rows at some levels.

    Over the mass on a target that did not follow, they first fall and then rise. They are least
    where the whole ball, which counts that mass, has its minimum, unless this is beyond what the
    mass may be at most.

    :param fractions: as [cell, slot].
    :param region: of the cells.
    :param ahead: steps to go, as [cell, slot].
    :param lowest: the least steps to go from any known state, as [cell].
    :param tilts: of ``least_mean`` for the whole ball and for what is left, as [2, cell].
    """
    masses, expected = least_mean(fractions, ahead, region.radius, tilts[0])
    left = np.zeros(len(fractions))
    over = np.flatnonzero(~region.saw & (1 - masses.sum(axis=1) > region.mass))
    if len(over):
        tilt, mass, lowest = tilts[1, over], region.mass[over], lowest[over]
        inside, means = least_mean(
            np.take(fractions.T, over, axis=1).T,
            np.maximum(np.take(ahead.T, over, axis=1) - lowest, 0.0).T, region.rest[over], tilt)
        tilts[1, over] = tilt
        masses.T[:, over] = (1 - mass) * inside.T
        left[over] = (1 - mass) * np.maximum(0.0, 1 - inside.sum(axis=1))
        expected[over] = (1 - mass) * (lowest + means)
    return Favourable(masses, left, expected)
