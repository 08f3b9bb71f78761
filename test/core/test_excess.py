# SPDX-License-Identifier: Apache-2.0

"""What bets on the next states may lose: what the text says, and no more than it says."""

from __future__ import annotations

from collections.abc import Iterator
import math

from mnm_ros.core import Counts, EmpiricalModel, TransitionRows
from mnm_ros.core.model.empirical_model import BETS_ON_MEANS, excess
import numpy as np
import pytest

STEPS = 7
BETS = math.log(4 / BETS_ON_MEANS)


def tallies(steps: int, ends: int) -> Iterator[tuple[int, ...]]:
    if ends == 1:
        yield (steps,)
        return
    for first in range(steps + 1):
        for others in tallies(steps - first, ends - 1):
            yield (first, *others)


def least_divergence(tally: np.ndarray, values: np.ndarray, mean: float) -> float:
    """Return ``n KL_inf``: it is dual to the best bet in hindsight."""
    bets = np.linspace(0.0, 1.0, 2001)[:-1] / mean
    return float((tally @ np.log1p(bets * (values[:, None] - mean))).max())


@pytest.mark.parametrize('chances', [(0.7, 0.2, 0.1), (0.1, 0.1, 0.8), (0.34, 0.33, 0.33)])
@pytest.mark.parametrize('values', [(0.0, 2.0, 5.0), (1.0, 1.0, 6.0)])
def test_nobody_wins_by_bets_on_the_mean(
        chances: tuple[float, ...], values: tuple[float, ...]) -> None:
    """In the mean over all that may follow, exactly."""
    likely, ahead = np.array(chances), np.array(values)
    total = 0.0
    for tally in map(np.array, tallies(STEPS, len(chances))):
        times = math.factorial(STEPS) / np.prod([math.factorial(each) for each in tally])
        gained = (least_divergence(tally, ahead, float(likely @ ahead))
                  - math.log(2) - math.log(STEPS + 1) / 2)
        total += times * np.prod(likely ** tally) * math.exp(gained)
    assert total <= 1.0


@pytest.mark.parametrize('seed', range(20))
def test_joined_ends_and_first_times_lose_what_the_text_says(seed: int) -> None:
    """
    For every distribution over the classes.

    Slots: two known states, the missing one, and two others; each followed at least once.
    """
    rng = np.random.default_rng(seed)
    followed = rng.integers(1, 9, 5).astype(float)
    counted = followed - [0, 0, 1, 1, 1]
    known = np.array([[True, True, False, False, False]])
    found = excess(np.array([1e9]), counted[None], followed[None], known)
    for lost, classes in ((found.seen[0, 2], ([0], [1], [2], [3, 4])),
                          (found.unseen[0], ([0], [1], [2, 3, 4]))):
        more, less = (np.array([counts[each].sum() for each in classes])
                      for counts in (followed, counted))
        for chances in rng.dirichlet(np.ones(len(classes)), 20):
            gained = divergence(more, chances) - BETS - 0.5 * math.log(1 + more.sum())
            assert gained >= divergence(less, chances) - lost - 1e-9


def divergence(counts: np.ndarray, chances: np.ndarray) -> float:
    """Return ``n KL``."""
    return float((counts * np.log(np.maximum(counts, 1e-300) / counts.sum() / chances)).sum())


@pytest.mark.parametrize(('ends', 'most'), [(1, 1.0), (12, BETS + 0.5 * math.log(301) + 2)])
def test_many_ends_outside_lose_hardly_more_than_a_few(ends: int, most: float) -> None:
    """The likelihood alone would lose half of ``log(300)`` for each end, and more at its first."""
    counts, rng = Counts(), np.random.default_rng(0)
    rows = TransitionRows(counts, 1)
    rows.enter(0)
    for end in rng.integers(ends, size=300).tolist():
        counts.add(0, 0, 100 + end)
        rows.add(0, 0, 100 + end)
        rows.look()
    model = EmpiricalModel.for_ruling_out(rows, [0])
    assert model.excess.unseen[0] < most
    assert (rows.predictions.paid[0] > 60) == (ends > 1)
