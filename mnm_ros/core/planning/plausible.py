# SPDX-License-Identifier: Apache-2.0

"""
Bound what may be true of a missing state, conditional on the counted transitions.

Order the states of ``S_L->`` as they become reachable, home first. If exploration stopped with one
missing, take the first missing state ``s``, of rank ``i``; all earlier ones are in ``K``, so ``i
<= |K| + 1``. By definition some fixed policy ``pi`` on those reaches ``s`` within ``L`` expected
steps. Let ``v`` be its expected steps to go, a fixed function of the state with ``v(s) = 0`` and
``1 + v(home)`` outside of those. Conditional on all that came before, the next state of a pair is
drawn from its distribution, whenever that is. Where steps are broken off, only those that were
answered are used, and ``P`` is the distribution of what follows these. The assumption is that it
does not vary in time, and that ``P v`` is no more than the mean over all steps. It holds if
whether a step gets an answer depends on where it leads and on chance alone, and no outcome is more
likely to be broken off than another one from which ``pi`` takes more steps (Chebyshev's
inequality). Then ``1 + P v <= v``: in the *chain* of these rows, too, it is at most ``L`` expected
steps from home to ``s``. Let ``h`` be the chance that it ever visits a state; their sum is at most
``L``. Let ``p = P(s)``, ``P' = P(. | not s)`` and ``r = -log(1 - p)``. For each of the ``i - 1``
pairs of ``pi``, these are nonnegative supermartingales that start at 1:

- 1,
- ``H``: ``(1 - p)^-N``, and 0 once ``s`` has followed,
- ``Q``: the product of predicted over true probabilities of what followed, where each prediction
  depends on the past alone, of all pairs (``model/row_predictions.py``). What had not followed
  before is predicted as *new*, and counts as if it had been certain. With ``f`` the frequencies of
  what followed in the ``N`` other steps, ``log Q >= N KL(f || P) - G``, where ``G`` is the code
  length of all predictions less ``N`` times the entropy of ``f``.
- ``V``: bets on ``v(next) - P v`` in all ``n`` steps, mixed as in the universal portfolio of Cover
  & Ordentlich 1996, so that ``log V >= n KL_inf(f', P v) - log 2 - log(n + 1) / 2``. Here ``f'``
  are the frequencies in all steps, and ``KL_inf(f', m)`` is the least ``KL(f' || D)`` over
  distributions ``D`` with mean at most ``m`` that may put mass on the value 0.
- ``V'``: the same for bets on ``v(next) - P' v``, times ``H``. ``D`` may put mass on the least
  ``v`` of a known state, as ``P'`` leads to nothing better.
- ``R``, a mixture of the last three: ``1 - c`` of ``Q``, and ``c / 2`` of ``V`` and of ``V'``.

What the region says of ``R`` below holds for each of the three, with its own ``G``; the least one
counts. For ``Q`` it holds for ``P``; for the bets it holds for some ``D`` with ``D v <= P v``, or
``D v <= P' v``, which is as good. As all states that are not known have the same ``v``, but for
``s``, ``D`` may divide the mass on these as ``f'`` does. So only the classes count: each known
state, ``s``, all others. With ``H`` the entropy over classes, ``n KL(f' || D) >= N KL(f || D) + N
H(f) - n H(f')``, as no step has a probability above 1. So ``G = log(4 / c) + log(n + 1) / 2 + n
H(f') - N H(f)`` (``model/empirical_model.py``). For several states at once ``G`` is the largest.

So is a mixture of them with fixed weights, ``M = (1 - w) (a + (1 - a) H) + w R``, and the product
of the ``M`` of all ``i - 1`` pairs, in whatever order they are executed. Here ``w / (1 - w) = k h
+ u``, with ``u = U / (i - 1)``. With probability ``1 - d`` the product is at most ``1/d`` at all
times (Ville), where ``d`` is the ``share`` of ``delta`` for number ``i - 1`` (*Known states* has
another one). ``M`` is at least the floor ``m = 1 - w`` as long as ``s`` has not followed, and ``m
= (1 - w) a`` in any case. Call ``e = log(M / m)`` what a pair has *spent*, in nats. As ``-log(1 -
w) <= k h + u``, all pairs of ``pi`` together have spent at most the *budget* ``B = log(1/d) + U +
k min(L, i - 1) - n log(a)`` if ``s`` has followed ``n`` of them. What is plausible for a pair that
has spent ``e``, with ``x = (exp(e) - 1) (1 - w) / w``, is its *region*:

- if ``s`` has not followed it, ``N r <= log((exp(e) - a) / (1 - a))`` and ``N (KL(f || P') + r) <=
  log(x) + G``,
- else ``N KL(f || P) <= log(x a) + G``.

As ``KL(f || P') + r`` is ``KL(f || P)`` where ``s`` has not followed, ``N KL(f || P) <= log(x) +
G`` in both cases. So that is the region for several states at once, where some of them have.

**What is charged.** ``h`` is not known, but ``x <= (exp(B) - 1) / u``. Where spending is charged
at first visits, with the chance ``h``, it need not be known at all. Take ``e'`` with ``exp(e') - 1
= (exp(e) - 1) / z``, ``z = min(1, h + u / k)``. Then ``e <= e'`` and ``x <= (exp(e') - 1) / k``,
so the region of ``e'``, with ``1 / k`` for ``(1 - w) / w``, holds that of ``e``; and ``h e' <= z
log(1 + (exp(e) - 1) / z) <= e``, as the logarithm is concave. So if each is charged ``e'`` at its
first visit, all that is expected to be charged is at most ``B``. Who is charged more than ``B``
has what ``B`` leaves to any.

``B`` and the region are largest for the last rank that is possible and for all known states that
``s`` has followed, so that these are taken. A state in which ``pi`` plays RESET counts as well, as
a pair that is never executed.

**Known states.** The processes may begin when there is a set ``C`` of states already, the moment
and the set decided by the past: a rediscovery begins with what is known, and a run without a map
starts again, once, when all that seems near has been tried (*Starting again* in
``docs/explanation/disco.md``). Transitions from before that moment are left out. (Those of several
robots count in the order in which they began, so that a slow one under way is as fresh as any, see
``docs/explanation/fleet.md``.) If ``s`` is outside of ``C``, it has a number ``j`` among the
states of ``S_L->`` outside of ``C``, in their order. All before it are in ``K``, so that ``j <= |K
- C| + 1``, which is 1 if nothing new was found. Conditional on the past, the state of number ``j``
is as fixed as that of rank ``i`` is, so that ``d`` is ``7 / (8 j (j + 1))`` of ``delta``; ``|C| +
j >= i`` takes the place of ``i``. Those in ``C`` are missing only if they are known no more: then
each has ``1 / (8 |C| j (j + 1))``, with ``j - 1`` states outside of ``C`` before it. Where the run
starts again, the past chooses ``a``, too.

**Kept samples.** Of some pairs a rediscovery counts all that was seen since their detectors
were made, before it began, too. Which ones depends on what they did, so that their products are
not 1 when it begins, and states are no more numbered from ``C``: neither the budget nor
``j`` is for them. Instead each has its own statement. For detector number ``m`` and the missing
state of rank ``i``, home first, let ``A`` be the ``M`` of the pair of ``pi`` that this detector is
for, from the making of the detector on. Both numbers are fixed then, and the transitions of a pair
at rest are independent whenever they are made; so ``A`` ever reaches ``1/d`` with probability at
most ``d``. With ``d = share(m) share(i - 1)`` of a part of the round's delta, all ``A`` stay below
at once, for all rediscoveries of the round, whichever they carry and when. In ``A``, ``w / (1 - w)
= k``, and predictions rest on the pair alone, so that all rediscoveries have the same. The region
of a pair with kept samples is that of ``A``, whatever it has spent. In the run its ``M`` is 1, and
so the budget of the others is what it was; once its samples are dropped, it begins again.

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
"""Of delta, for states outside of ``C``; the rest is for those in it, should one get lost."""

LEVELS = (0.0, 0.1, 0.25, 0.5, *(0.75 * 1.25 ** power for power in range(15)))
"""Nats that a pair is charged; in between, it has the region of the next level."""

# The weights of the mixture. A short way bends few pairs, so that the weight of all bets together
# grows with ``L``.
IDLE, IDLE_IF_ALL_KNOWN = 0.5, 0.15
"""``a``. It is small where all states met are known when the first transition is drawn.

A missing state that was never seen costs ``-log(1 - a)`` nats where it does not follow, and one
that followed in ``n`` known states costs ``-n log(a)``.
"""
_BETS_PER_STEP = 0.125    # k
_MOST_BETS = 5.5    # of k times L
_EVEN_BETS = 0.1    # U


@dataclass(frozen=True)
class ConfidenceRegion:
    """
    How far rows may be from their counts, for one target.

    :ivar budget: in nats.
    :ivar spent: what is charged, as [level].
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

    @property
    def whole(self) -> ConfidenceRegion:
        """Return the region in which each pair has the whole budget, and nothing is charged."""
        return replace(self, spent=np.zeros(1), radius=self.radius[-1:], mass=self.mass[-1:],
                       rest=self.rest[-1:])

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
    The missing state in question.

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


def budget(rank: Rank, delta: float, radius: float, seers: int = 0, idle: float = IDLE) -> float:
    """Return ``B`` for a missing state of this rank."""
    pairs = rank.number - 1
    return (-math.log(rank.part * delta)
            + _EVEN_BETS + _bets_per_step(radius) * min(pairs, radius)
            - seers * math.log(idle))


def _bets_per_step(radius: float) -> float:
    """Return ``k``."""
    return min(_BETS_PER_STEP, _MOST_BETS / radius)


def confidence_region(model: EmpiricalModel, hits: Bools, leads: Bools, seers: int, rank: Rank,
                      delta: float, radius: float, carried: Floats | None = None,
                      several: bool = False, idle: float = IDLE) -> ConfidenceRegion:
    """
    Return the region for a target that followed in so many of the known states.

    Pairs are charged by level for what they spend (*What is charged*).

    :param model: for ruling out.
    :param several: whether the hits are of several targets; none has followed in more states.
    :param carried: ``log(1/d)`` of the rows with kept samples, else NaN, as [row]; None for none.
    :param idle: ``a``, which is ``IDLE`` where samples are kept.
    """
    total, per_step = budget(rank, delta, radius, seers, idle), _bets_per_step(radius)
    spent = np.array([*(level for level in LEVELS if level < total), total])
    most = np.append(spent[1:], total)[:, None]
    bets = np.full(most.shape, per_step)    # w / (1 - w)
    bets[-1] = _EVEN_BETS / (rank.number - 1)
    saw = np.asarray(np.any(hits, axis=1))
    if carried is not None:
        own = carried + math.log1p(per_step) - np.where(saw, math.log(idle), 0.0)
        most, bets = (np.where(np.isnan(own), each, mine) for each, mine in (
            (most, own), (bets, per_step)))
    seen = np.where(hits, model.excess.seen, 0.0).max(axis=1)
    excess = np.where(saw, np.maximum(seen, model.excess.unseen) if several else seen,
                      model.excess.unseen)
    jump = np.log((np.exp(most) - idle) / (1 - idle))
    whole = np.maximum(0.0, np.log(
        np.expm1(most) / bets * np.where(saw & ~several, idle, 1.0)) + excess)
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
    where the whole ball, which counts that mass, has its minimum, unless this is more than what
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
