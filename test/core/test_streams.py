# SPDX-License-Identifier: Apache-2.0

"""The schedule of the streams, as printed and with a larger exponent."""

from functools import lru_cache
import math

from mnm_ros.core.mnm.schedule import ALONE, DoublingSchedule, new_schedule, StreamSchedule
import pytest
from tiers import strength

QUANTA = 12_000


@pytest.mark.parametrize('exponent', [2, 3, 4])
def test_stream_p_starts_at_quantum_p_minus_1_to_the_exponent_plus_1(exponent: int) -> None:
    schedule = StreamSchedule(exponent)
    starts = [q for q in range(1, QUANTA + 1)
              if schedule.next() == len(schedule.activations) - 1
              and schedule.activations[-1] == 1]
    assert starts == [(p - 1) ** exponent + 1 for p in range(1, len(starts) + 1)]
    assert len(starts) == math.ceil(round(QUANTA ** (1 / exponent), 9))


def test_after_q_quanta_there_are_ceil_sqrt_q_streams_of_equal_age_at_squares() -> None:
    schedule = StreamSchedule(2)
    for q in range(1, QUANTA + 1):
        schedule.next()
        assert len(schedule.activations) == math.isqrt(q - 1) + 1
        if math.isqrt(q) ** 2 == q:
            assert schedule.activations == [math.isqrt(q)] * math.isqrt(q)


def test_each_activation_follows_the_printed_rule() -> None:
    schedule = StreamSchedule(2)
    activations: list[int] = []
    last: list[int] = []
    for q in range(1, QUANTA + 1):
        chosen = schedule.next()
        if math.isqrt(q - 1) ** 2 == q - 1:
            activations.append(0)
            last.append(0)
        if len(set(activations)) == 1:
            assert last[chosen] == min(last)
        else:
            assert activations[chosen] == min(activations)
        activations[chosen] += 1
        last[chosen] = q
    assert activations == schedule.activations


def test_the_first_quanta_written_out() -> None:
    schedule = StreamSchedule(2)
    assert [schedule.next() for _ in range(12)] == [0, 1, 0, 1, 2, 2, 0, 1, 2, 3, 3, 3]


@pytest.mark.parametrize('exponent', [1, 0, -2, float('nan')])
def test_an_exponent_that_would_starve_the_streams_is_refused(exponent: float) -> None:
    with pytest.raises(ValueError, match='stream_exponent'):
        StreamSchedule(exponent)


@lru_cache(maxsize=None)
def doubling(quanta: int) -> tuple[list[int], list[int]]:
    """Return which stream had each quantum, and how many streams there were."""
    schedule, chosen, streams = DoublingSchedule(), [], []
    for _ in range(quanta):
        chosen.append(schedule.next())
        streams.append(len(schedule.activations))
    return chosen, streams


def test_a_stream_starts_whenever_the_quanta_have_doubled() -> None:
    chosen, streams = doubling(20 * ALONE)
    starts = [chosen.index(p) + 1 for p in range(max(chosen) + 1)]
    assert starts == [1] + [ALONE * 2 ** k for k in range(5)]
    assert all(count == 2 + int(math.log2(q / ALONE))
               for q, count in enumerate(streams, 1) if q >= ALONE)


def test_there_is_no_catching_up_streams_share_what_comes_after_their_start() -> None:
    chosen, streams = doubling(20 * ALONE)
    for q, count in enumerate(streams):
        window = chosen[q:q + count]
        if len(window) == count == streams[min(q + count, len(streams)) - 1]:
            assert sorted(window) == list(range(count))


@pytest.mark.parametrize('change', strength(
    [1, 1000, 1001, 15_999], [1, 300, 999, 1000, 1001, 1999, 5000, 15_999]))
@pytest.mark.parametrize('needed', strength([1, 3000], [1, 100, 3000]))
def test_after_a_change_a_clean_stream_has_its_quanta_in_a_bounded_multiple(
        change: int, needed: int) -> None:
    chosen, streams = doubling(100 * ALONE)
    clean = streams[change - 1]    # the index of the first one that starts later
    start = chosen.index(clean) + 1
    assert change < start <= max(ALONE, 2 * change)
    turns = [q for q, stream in enumerate(chosen, 1) if stream == clean]
    end = turns[needed - 1]
    assert end < start + needed * streams[end - 1]
    assert streams[end - 1] == 2 + int(math.log2(end / ALONE))


def test_the_schedules_by_name() -> None:
    assert isinstance(new_schedule('printed', 2.0), StreamSchedule)
    assert isinstance(new_schedule('doubling', 2.0), DoublingSchedule)
