# SPDX-License-Identifier: Apache-2.0

"""How likely so many failures are, for tests of what may fail with a known probability."""

from __future__ import annotations

import math


def binomial_tail(n: int, p: float, k: int) -> float:
    """Return ``P(Bin(n, p) >= k)``."""
    return math.fsum(math.comb(n, j) * p ** j * (1 - p) ** (n - j) for j in range(k, n + 1))
