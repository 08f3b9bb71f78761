# SPDX-License-Identifier: Apache-2.0

"""
The possible loss of the bet ``R`` on the next states of a row: ``G`` of ``planning/plausible.py``.

``R`` is a mixture of the likelihood ``Q`` of ``RowPredictions`` and of bets ``V`` on the mean. The
likelihood loses little in a row that leads to one state or two. It pays ``log(N) / 2`` nats for
each further one, so that an action that spreads over a dozen useless states would take several
times the samples. The bets lose ``log(N) / 2`` in all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from mnm_ros.core.model.counts import Bools, Floats
import numpy as np

BETS_ON_MEANS = 0.1    # c
"""The part of ``R`` that bets on means."""


class Excess(NamedTuple):
    """
    ``G``, in nats.

    :ivar unseen: for a missing state that did not follow, as [row].
    :ivar seen: for the one in that slot, as [row, slot].
    """

    unseen: Floats
    seen: Floats


def excess(paid: Floats, counted: Floats, followed: Floats, known: Bools) -> Excess:
    """
    Return the lesser loss of both parts.

    :param paid: code length of the predictions, in nats, as [row].
    :param counted: how often what followed, as [row, slot], where a first time does not count.
    :param followed: the same with each first time.
    :param known: whether that state is known, as [row, slot].
    """
    likelihood = np.maximum(0.0, paid - _code_length(counted).sum(axis=1) + _code_length(
        counted.sum(axis=1))) - math.log1p(-BETS_ON_MEANS)
    bets = math.log(4 / BETS_ON_MEANS) + 0.5 * np.log1p(followed.sum(axis=1))
    more, less = _class_lengths(followed, known), _class_lengths(counted, known)
    return Excess(
        np.minimum(likelihood, bets + more.unseen - less.unseen),
        np.minimum(likelihood[:, None], bets[:, None] + more.seen - less.seen))


def _class_lengths(counts: Floats, known: Bools) -> Excess:
    """Return ``N H(f)`` of the classes: each known state, the missing state, all others."""
    unknown = np.where(known, 0.0, counts)
    others = unknown.sum(axis=1)
    inside = _code_length(counts).sum(axis=1, where=known) - _code_length(counts.sum(axis=1))
    return Excess(inside + _code_length(others), inside[:, None] + _code_length(unknown)
                  + _code_length(others[:, None] - unknown))


def _code_length(counts: Floats) -> Floats:
    """Return ``-n log(n)``, of which the lengths of sequences with such counts are made up."""
    found: Floats = -counts * np.log(np.maximum(1.0, counts))
    return found
