# SPDX-License-Identifier: Apache-2.0

"""The Kullback-Leibler divergence, and the least mean in balls of it, many balls at once."""

from __future__ import annotations

from collections.abc import Sequence
import math

from mnm_ros.core.model.counts import Floats
import numpy as np

_MOST_NEWTON_STEPS = 60
_PRECISION = 1e-7
_LONGEST_STEP = 6.0
_FEW_ROWS = 16    # that are solved sooner one by one than together
_LEAST_RADIUS = 1e-9    # radius of a ball that holds hardly more than its centre


def divergence(one: float, other: float) -> float:
    """Return ``KL(Bernoulli(one) || Bernoulli(other))``; ``one`` is above 0."""
    return one * math.log(one / other) + (
        (1 - one) * math.log((1 - one) / (1 - other)) if one < 1 else 0.0)


def least_mean(fractions: Floats, values: Floats, radius: Floats,
               tilt: Floats) -> tuple[Floats, Floats]:
    """
    Minimise ``Q v`` over distributions with ``KL(P^ || Q) <= radius``, row by row.

    ``Q`` may also put mass where ``v`` is 0, its least value. The minimiser is
    ``Q = eta P^ / (v + xi)``: with ``xi = 0`` while some mass is left over for the value 0, else
    with the ``xi`` at which the divergence is met. For any ``xi >= 0`` the bound that is returned
    is at most the minimum (Gibbs), so that rounding never makes it too large.

    :param fractions: ``P^``, as [row, next]; a row of zeros stands for no samples at all.
    :param values: ``v >= 0``, as [row, next]; both are taken soonest if rows are next to each
        other in memory.
    :param radius: as [row]; not examined where there are no samples.
    :param tilt: ``log xi`` of an earlier call to begin with, NaN where there is none; it is
        overwritten.
    :returns: ``Q`` on the observed next states, as [row, next], and the bound on ``Q v``, as
        [row].

    Source: Honda & Takemura 2010.
    """
    # Rows are many and short: what follows goes along the many.
    fractions, values = np.ascontiguousarray(fractions.T), np.ascontiguousarray(values.T)
    seen = fractions > 0
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        logs = _sums(np.where(seen, fractions * np.log(values), 0.0))
        bound = np.exp(logs - radius)
        plausible = np.where(seen, bound * fractions / values, 0.0)
        mass = _sums(plausible)
        # Nothing can be gained, and the formulas divide by 0, without samples, where only the
        # value 0 was observed, or in a ball without room.
        plain = _sums(fractions * values)
        sure = (plain <= 0) | (radius < _LEAST_RADIUS)
        np.copyto(plausible, fractions, where=sure)
        np.copyto(bound, plain, where=sure)
        tight = np.flatnonzero(~(sure | (mass <= 1)))
        if len(tight):
            plausible[:, tight], bound[tight], tilt[tight] = _tilted(
                np.take(fractions, tight, axis=1), np.take(values, tight, axis=1),
                radius[tight], tilt[tight])
    return plausible.T, bound


def _tilted(fractions: Floats, values: Floats, radius: Floats,
            guess: Floats) -> tuple[Floats, Floats, Floats]:
    """Return ``Q``, the bound and ``log xi`` where no mass is left over, as [next, row]."""
    if len(guess) > _FEW_ROWS:
        return _tilted_together(fractions, values, radius, guess)
    found = [_tilted_alone(*row) for row in zip(
        fractions.T.tolist(), values.T.tolist(), radius.tolist(), guess.tolist())]
    masses, bound, tilt = zip(*found)
    return np.array(masses).T, np.array(bound), np.array(tilt)


def _tilted_alone(fractions: Sequence[float], values: Sequence[float], radius: float,
                  guess: float) -> tuple[list[float], float, float]:
    """Do the same for one row: for a few, numpy takes ten times as long."""
    seen = [(fraction, value) for fraction, value in zip(fractions, values) if fraction]
    if not math.isfinite(guess):
        mean = sum(fraction * value for fraction, value in seen)
        variance = max(sum(fraction * value ** 2 for fraction, value in seen) - mean ** 2, 1e-300)
        guess = 0.5 * math.log(variance / (2 * max(radius, 1e-300)))
    low, high = -math.inf, math.inf
    for _ in range(_MOST_NEWTON_STEPS):
        shift = math.exp(guess)
        inverse = logs = curve = 0.0
        for fraction, value in seen:
            shifted = value + shift
            ratio = fraction / shifted
            inverse += ratio
            logs += fraction * math.log(shifted)
            curve += ratio / shifted
        divergence = logs + math.log(inverse)
        if divergence > radius:
            low = guess
        else:
            high = guess
        slope = shift * (inverse - curve / inverse)
        nearest, farthest = max(low, guess - _LONGEST_STEP), min(high, guess + _LONGEST_STEP)
        following = (guess - divergence * math.log(divergence / radius) / slope
                     if divergence > 0 and slope else math.nan)
        if not nearest < following < farthest:
            following = (nearest + farthest) / 2
        if abs(following - guess) < _PRECISION:
            break
        guess = following
    bound = max(0.0, math.exp(logs - radius) - shift)
    return [fraction / (value + shift) / inverse
            for fraction, value in zip(fractions, values)], bound, guess


def _tilted_together(fractions: Floats, values: Floats, radius: Floats,
                     guess: Floats) -> tuple[Floats, Floats, Floats]:
    """
    Solve for ``xi`` by a safeguarded Newton iteration on its logarithm.

    The divergence falls as ``xi`` grows, and its logarithm is nearly linear in ``log xi``, so
    Newton steps are taken for ``log divergence = log radius``; one that would leave the bracket
    is replaced by a bisection.

    :param fractions, values: as [next, row].
    """
    cold = ~np.isfinite(guess)
    if cold.any():
        mean = _sums(fractions * values)
        variance = np.maximum(_sums(fractions * values ** 2) - mean ** 2, 1e-300)
        # For a large xi the divergence is about variance / (2 xi^2).
        guess = np.where(cold, 0.5 * np.log(variance / (2 * np.maximum(radius, 1e-300))), guess)
    low, high = np.full(len(guess), -np.inf), np.full(len(guess), np.inf)
    # Most calls are about a few rows: what takes the time is to call numpy, so it sums up at once.
    terms = np.empty((3, *fractions.shape))
    ratios, weighted, squares = terms
    for _ in range(_MOST_NEWTON_STEPS):
        shift = np.exp(guess)
        shifted = values + shift
        np.divide(fractions, shifted, out=ratios)
        np.multiply(fractions, np.log(shifted), out=weighted)
        np.divide(ratios, shifted, out=squares)
        inverse, logs, curve = np.add.reduce(terms, axis=1)
        divergence = logs + np.log(inverse)
        too_far = divergence > radius
        np.copyto(low, guess, where=too_far)
        np.copyto(high, guess, where=~too_far)
        # The derivative of the divergence with respect to log xi.
        slope = shift * (inverse - curve / inverse)
        newton = guess - divergence * np.log(divergence / radius) / slope
        # Where the slope is flat the next Newton point may be anywhere. That of a row which has
        # ended before others is no longer inside of its bracket.
        nearest = np.maximum(low, guess - _LONGEST_STEP)
        farthest = np.minimum(high, guess + _LONGEST_STEP)
        change = np.abs(newton - guess)
        inside = (newton > nearest) & (newton < farthest) | (change < _PRECISION)
        if not inside.all():
            newton = np.where(inside, newton, (nearest + farthest) / 2)
            change = np.abs(newton - guess)
        if change.max() < _PRECISION:
            break
        guess = newton
    bound = np.maximum(0.0, np.exp(logs - radius) - shift)
    return ratios / inverse, bound, guess


def _sums(columns: Floats) -> Floats:
    """Return the sum of each row, as ``sum(axis=0)`` does, without what that adds to it."""
    total: Floats = np.add.reduce(columns)
    return total
