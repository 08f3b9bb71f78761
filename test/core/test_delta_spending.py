# SPDX-License-Identifier: Apache-2.0

import math

from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
import pytest
from tiers import strength

LAST = strength(100_000, 1_000_000)


@pytest.mark.parametrize('even', [1, EVEN_PARTS])
def test_all_shares_together_are_the_whole_and_no_more(even: int) -> None:
    """What is left after ``n`` falls like ``1/sqrt(n)``."""
    total = 0.0
    for number in range(1, LAST + 1):
        total += share(number, even)
        if number in (1, 10, 1000, LAST):
            left = math.sqrt((1 + even) / (number + 1 + even))
            assert 1 - total == pytest.approx(left, rel=1e-6)
    assert total < 1


def test_shares_fall_and_late_ones_are_not_small() -> None:
    for even, first, last in ((1, 0.18, 1 / 9000), (EVEN_PARTS, 0.04, 1 / 4000)):
        shares = [share(number, even) for number in range(1, 331)]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > first and shares[-1] > last
