# SPDX-License-Identifier: Apache-2.0

"""How much is taken of what others ask for as often as they like."""

from __future__ import annotations

from mnm_ros.nodes.common.allowance import Allowance, AT_ONCE, EACH_SECOND, SHARE, TOO_MANY
import pytest


class Clock:
    """Stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def allowance(clock: Clock) -> Allowance:
    return Allowance(clock, clock)


def taken(allowance: Allowance, clock: Clock, entry: str, rate: float, seconds: float) -> int:
    """Return how many calls are taken of so many a second."""
    found = 0
    for _ in range(round(rate * seconds)):
        clock.now += 1 / rate
        found += allowance.takes(entry)
    return found


def test_of_a_flood_one_call_in_two_seconds_is_taken_until_it_ends(
        allowance: Allowance, clock: Clock) -> None:
    found = taken(allowance, clock, 'save', 500.0, 10.0)
    assert AT_ONCE + 4 <= found <= AT_ONCE + 6
    assert taken(allowance, clock, 'look', 1.0, 1.0) == 1    # each entry has its own
    assert allowance.refused['save'] == 5000 - found
    clock.now += 2.0
    assert allowance.takes('save')
    assert taken(allowance, clock, 'explore', EACH_SECOND - 0.1, 100.0) == 490


def test_more_is_taken_of_an_entry_that_needs_more(allowance: Allowance, clock: Clock) -> None:
    work = allowance.limited('work', lambda said: True, lambda said: False, times=20)
    assert sum(map(work, range(1000))) == 20 * AT_ONCE    # at once
    assert not work(0) and allowance.refused == {'work': 1}
    clock.now += 10.0
    assert sum(map(work, range(1000))) == 20 * EACH_SECOND * 10.0 - 1
    assert allowance.takes('save')


def test_a_stop_is_always_taken(allowance: Allowance) -> None:
    stop = allowance.limited('explore', str.upper, lambda said: TOO_MANY,
                             lambda said: said == 'stop')
    assert {stop('stop') for _ in range(1000)} == {'STOP'}
    assert stop('go') == TOO_MANY


def test_slow_calls_take_no_more_than_their_share_of_the_time(
        allowance: Allowance, clock: Clock) -> None:
    def work(said: str) -> bool:
        clock.now += 0.5
        return True

    calls = [allowance.limited(name, work, lambda said: False) for name in ('save', 'load')]
    begun, busy = clock.now, 0.0
    while clock.now < begun + 300.0:
        clock.now += 0.3
        busy += 0.5 * sum(call('') for call in calls)
    assert 0.8 * SHARE < busy / 300.0 < 1.1 * SHARE


def test_calls_that_wait_for_other_processes_are_not_slow(clock: Clock) -> None:
    """Issue: on a busy machine a single call was refused, as those before it had taken seconds."""
    def work(said: str) -> bool:
        clock.now += 3.0
        return True

    call = Allowance(clock, lambda: 0.0).limited('save', work, lambda said: False)
    assert all(call('') for _ in range(20))
