# SPDX-License-Identifier: Apache-2.0

"""
The parts of delta: of each round and stream of MNM, and each kind of decision in a round.

The sum over all that may ever be wrong is at most the delta of the exploration, however many
rounds, streams, states and pairs there will be.
"""

from __future__ import annotations

from collections.abc import Mapping
import math

EVEN_PARTS = 10    # of states and pairs there are hardly ever fewer

SHARES: Mapping[str, float] = {
    'addition': 1 / 3, 'deletion': 1 / 6, 'restart': 1 / 48, 'pooled': 1 / 48, 'blocked': 1 / 24,
    'reach': 1 / 12, 'transitions': 1 / 6, 'proofs': 1 / 6}
"""The parts of a round's delta by kind of decision; their sum is 1."""


def round_delta(delta: float, round_number: int) -> float:
    """
    Return ``delta_r = 3 delta / (4 pi^2 r^2)``; all rounds together use ``delta / 8``.

    The checking phase of a round has it, and each stream of the round as printed.

    Source: Gajane et al. 2019.
    """
    return 3 * delta / (4 * math.pi ** 2 * round_number ** 2)


def stream_delta(budget: str, delta: float, round_number: int, stream: int) -> float:
    """
    Return the delta of stream number ``stream`` (1, 2, ...) of a round.

    Any stream may finish first, and be wrong. With ``summed`` the first round has ``4 / 5`` of
    ``delta``, and round ``r > 1`` has ``3 / (40 r (r - 1))``; of that the first stream has
    ``7 / 8``, and stream ``p > 1`` has ``1 / (8 p (p - 1))``. All streams of all rounds together
    use ``7 delta / 8``, however many there are, which leaves the checks of all rounds theirs
    (``round_delta``). So the first stream has ``7 delta / 10``: hardly any exploration needs
    another one, which is for changes while it runs, or another round. As ``printed`` each stream
    has ``delta_r``.
    """
    if budget == 'printed':
        return round_delta(delta, round_number)
    part = 4 / 5 if round_number == 1 else 3 / (40 * round_number * (round_number - 1))
    return part * delta * (7 / 8 if stream == 1 else 1 / (8 * stream * (stream - 1)))


def share(number: int, even: int = 1) -> float:
    """
    Return the part of thing number 1, 2, ...; all parts together are 1.

    They fall with the power 3/2 of the number: where hundreds of states or pairs have a part each,
    that of the last one is much more than ``1 / (number (number + 1))``.

    :param even: so many of the first get nearly as much as the first one.
    """
    return math.sqrt((1 + even) / (number + even)) - math.sqrt((1 + even) / (number + even + 1))
