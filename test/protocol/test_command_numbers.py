# SPDX-License-Identifier: Apache-2.0

"""Numbers of commands grow."""

from __future__ import annotations

from mnm_ros.protocol import exchange
from mnm_ros.protocol.exchange import CommandNumbers, SequenceNumbers
import pytest

HOUR = 3600 * 10**9


def test_they_grow_over_starts_however_the_clock_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each start begins with what the last one has kept, and may give more than it reserves."""
    kept, last = [0], 0
    for clock in (50 * HOUR, 50 * HOUR + 1, 47 * HOUR, 46 * HOUR, 0, 51 * HOUR, 52 * HOUR):
        monkeypatch.setattr(exchange.time, 'time_ns', lambda clock=clock: clock)
        numbers = CommandNumbers(kept[-1], kept.append)
        for sender in range(2):    # which count on from there
            first = numbers.first()
            assert last < first < kept[-1] and first >= clock
            last = first + (5_000_000 if sender else 10)
            numbers.use(last)
            assert last < kept[-1]
    assert len(kept) < 30    # hardly any order has to wait


def test_nothing_is_kept_twice() -> None:
    kept: list[int] = []
    numbers = CommandNumbers(keep=kept.append)
    first = numbers.first()
    for number in range(first, first + 1000):
        numbers.use(number)
    assert len(kept) == 1


def test_a_sender_uses_no_number_that_is_not_below_the_bound_kept() -> None:
    kept: list[int] = []
    numbers = CommandNumbers(keep=kept.append)
    senders = [SequenceNumbers(numbers.first(), numbers) for _ in range(2)]
    senders[0].last += 3_000_000    # as after so many commands
    for sender in senders * 2:
        before = sender.last
        assert before < sender.next() == sender.last < kept[-1]
    assert len(kept) == 3 and kept == sorted(kept)
