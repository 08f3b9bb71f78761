# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The schedule of the streams, as printed and with a larger exponent."""

import math

from mnm_ros.core.streams import StreamSchedule
import pytest

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
