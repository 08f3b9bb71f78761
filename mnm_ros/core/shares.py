# SPDX-License-Identifier: Apache-2.0

"""How an error probability is shared out among things of which nobody knows how many will come."""

from __future__ import annotations

import math

MANY = 10    # of states and pairs there are hardly ever fewer


def share(number: int, even: int = 1) -> float:
    """
    Return the part of thing number 1, 2, ...; all parts together are 1.

    They fall with the power 3/2 of the number: where hundreds of states or pairs have a part each,
    that of the last one is much more than ``1 / (number (number + 1))``.

    :param even: so many of the first get nearly as much as the first one.
    """
    return math.sqrt((1 + even) / (number + even)) - math.sqrt((1 + even) / (number + even + 1))
