# SPDX-License-Identifier: Apache-2.0

"""
Whether one source contradicts another one, where both have reported outcomes of the same pairs.

The null hypothesis for a suspect and a reference: of each pair (state, action), both draw from
one distribution, which may change once in the course of a window. An outcome has one of three
*roles*: the usual one, which is the first that the reference has reported in the window; to stay,
if that is another one; and all others. The evidence of a window is

    E = product of q(b_t) / max over tau, p, p' of the likelihood of b_1 .. b_n

where ``b_t`` is the role of outcome ``t``, ``q`` predicts each ``b_t`` before it is seen, and the
likelihood is that of the chances ``p`` up to ``tau`` and ``p'`` from there on, whoever reports.
The reference is predicted by its own counts, the suspect by ``(1 - lie) r + lie u``, where ``r``
is the prediction for the reference, and ``u`` the chances of the roles in a lie. Divided by the
true probability instead, which is no larger than the maximum, the numerator is a nonnegative
martingale that starts at 1, whatever the past makes one choose: which source executes which pair,
and when the test is examined. So is the product over all windows of ``1 - w + w E``, and the mean
of these products over three ``w`` and the lies of ``LIES``. It ever reaches ``1 / d`` with a
probability of at most ``d`` (Ville), whatever the distributions.

Source: Wasserman, Ramdas & Balakrishnan 2020, *Universal inference*, section 7 (sequences).
"""

from __future__ import annotations

from mnm_ros.core.model.counts import Bools, Floats, Indices
import numpy as np

WINDOW = 256
"""Outcomes of a pair, of all sources together, after which its window ends."""

ROLES = 3    # to be usual, to stay, and any other

LIES = np.array([(0.1, 0.1, 0.1, 0.8), (0.3, 0.1, 0.1, 0.8), (0.6, 0.1, 0.1, 0.8),
                 (1.0, 0.1, 0.8, 0.1), (1.0, 0.1, 0.1, 0.8), (1.0, 0.98, 0.01, 0.01)])
"""Each the part of lies, and the chance of each role in a lie."""

_WEIGHTS = np.array([[0.03], [0.15], [0.6]])    # w: which pairs say anything is not known before
_FIRST = np.array([1.5, 0.25, 0.25])    # what the reference has reported before, as it were


def log_factors(suspect: Bools, roles: Indices) -> Floats:
    """
    Return the logarithm of ``1 - w + w E`` of a window for each of three ``w`` and of ``LIES``.

    :param suspect: whether an outcome is that of the suspect, as [outcome].
    :param roles: below ``ROLES``, as [outcome].
    """
    shown = np.eye(ROLES)[roles]    # as [outcome, role]
    said = np.cumsum(shown * ~suspect[:, np.newaxis], axis=0) + _FIRST
    said = np.concatenate((_FIRST[np.newaxis], said[:-1]))    # before each outcome
    expected = said[np.arange(len(roles)), roles] / said.sum(axis=1)
    lies = LIES[:, :1] * LIES[:, 1:][:, roles] + (1 - LIES[:, :1]) * expected
    evidence = np.log(np.where(suspect, lies, expected)).sum(axis=1) - _most_likely(shown)
    return np.logaddexp(np.log(1 - _WEIGHTS), np.log(_WEIGHTS) + evidence).ravel()


def _most_likely(shown: Floats) -> float:
    """Return the log of the largest likelihood with one change at most."""
    before = np.concatenate((np.zeros((1, ROLES)), np.cumsum(shown, axis=0)))
    return float((_log_likelihood(before) + _log_likelihood(before[-1] - before)).max())


def _log_likelihood(counts: Floats) -> Floats:
    """Return the log of the largest likelihood of counts, which are as [..., role]."""
    return np.asarray(_x_log_x(counts).sum(axis=-1) - _x_log_x(counts.sum(axis=-1)))


def _x_log_x(number: Floats) -> Floats:
    return np.asarray(number * np.log(np.maximum(number, 1.0)))


class Contradiction:
    """
    The evidence that one source contradicts another one.

    :param delta: the probability with which it is ever found without reason.
    :ivar threshold: ``log(1 / delta)``, in nats.
    :ivar windows: by pair, the factors of the window that may get more outcomes. The evidence of a
        window that is taken out stays.
    """

    def __init__(self, delta: float) -> None:
        self.threshold = -float(np.log(delta))
        self._total = np.zeros(len(_WEIGHTS) * len(LIES))    # log of the product over all windows
        self.windows: dict[tuple[int, int], Floats] = {}

    @property
    def evidence(self) -> float:
        """Return the logarithm of the capital, in nats."""
        return float(np.logaddexp.reduce(self._total) - np.log(len(self._total)))

    @property
    def found(self) -> bool:
        """Whether the suspect contradicts the reference at this moment."""
        return self.evidence >= self.threshold

    def update(self, pair: tuple[int, int], suspect: Bools, roles: Indices) -> None:
        """Weigh the window of a pair, which is as ``log_factors`` has it, in place of before."""
        factors = log_factors(suspect, roles)
        self._total += factors - self.windows.get(pair, 0.0)
        self.windows[pair] = factors
